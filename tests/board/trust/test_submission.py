"""A submission held against the board as it is: whose files it touches, what becomes of its entries and of others."""

import os
import shutil
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from lmms_medtasks.board import rules
from lmms_medtasks.board.collect import collect_entries
from lmms_medtasks.board.submission import check_submission
from lmms_medtasks.board.trust import pins
from lmms_medtasks.board.trust.limits import load_limits
from lmms_medtasks.board.trust.rules_of_trust import TrustRules
from lmms_medtasks.errors import UserError
from lmms_medtasks.report.markdown import render_markdown
from lmms_medtasks.report.terminal import screen_text
from tests.board.trust.submissions import HONEST, PERFECT, TASK, Submissions, ranked

VERSIONS = ("1.0", "1.3")


@pytest.fixture
def both(submissions, runs):
    """The base's entries, a copy that a submission changes, and the base's trust."""
    submissions.pack("Ada/h.json")
    submissions.pack("ben/o.json", PERFECT, "other/model")
    head = submissions.folder.parent / "head"
    shutil.copytree(submissions.folder, head)
    changed = Submissions(head, runs)
    changed.made = 10
    return submissions.folder, changed, submissions.owned(**{"new/model": ["Cy"]})


def checked(both, account="Cy"):
    base, changed, trust = both
    return check_submission(base, changed.folder, account, rules.read_board_rules(), trust, 20)


def test_a_new_entry_is_told_its_rank(both):
    both[1].pack("cy/n.json", {**HONEST, "q01": "AAA"}, "new/model")
    found = checked(both)
    assert not found.wrong and [(what, str(file)) for what, file in found.files] == [("added", "cy/n.json")]
    (place,) = found.places
    assert (place.model, place.task, place.level, place.measure) == ("new/model", TASK, "scores only", "accuracy")
    assert place.score.startswith("80.6 % [") and place.rank.startswith("rank 2 [") and place.rank.endswith("of 3")
    shown = " ".join(screen_text(found.document()).split())
    assert f"{TASK} accuracy {place.score} {place.rank}" in shown and "\\" not in shown


@pytest.mark.parametrize("judge", ["lexical", "openai:judge"])
def test_a_score_of_the_judge_that_compares_words_is_marked(tmp_path, runs, judge):
    rows = runs.judged_rows({f"q{number:02}": 60.0 for number in range(12)}, judge)
    folder = tmp_path / "head" / "cy" / "run"
    runs.write(folder, {"med_cmr_open": rows}, metadata={"judge": {**runs.JUDGE, "name": judge}})
    found = check_submission(tmp_path / "base", tmp_path / "head", "cy", rules.read_board_rules(), TrustRules(), 20)
    assert found.places and {place.by_words for place in found.places} == {judge == "lexical"}


def test_who_changes_or_removes_files_of_others_is_refused(both):
    both[1].pack("Ada/h.json", PERFECT)
    (both[1].folder / "ben" / "o.json").unlink()
    found = checked(both)
    assert len(found.wrong) == 2 and all("not in the folder of Cy" in text for text in found.wrong)
    assert not any("Put it into" in text for text in found.wrong)  # it lies where it belongs


def test_an_owner_replaces_and_removes_his_entry(both):
    both[1].pack("Ada/h.json", PERFECT)
    assert not checked(both, "ada").wrong
    shutil.rmtree(both[1].folder / "Ada")
    found = checked(both, "ada")
    assert not found.wrong and [(what, str(file)) for what, file in found.files] == [("removed", "Ada/h.json")]


@pytest.mark.parametrize("name", ["other/model", "0ther/model", "unlisted/model"])
def test_another_name_or_one_like_it_is_refused_and_the_others_stay(both, name):
    both[1].pack("cy/n.json", name=name)
    found = checked(both)
    assert len(found.wrong) == 1 and not found.places and "cy/n.json" in found.wrong[0]


def test_a_link_and_an_empty_submission_are_refused(both):
    assert checked(both).wrong == ("No pack and no run is added, changed or removed.",)
    (both[1].folder / "cy").mkdir()
    os.symlink("/dev/zero", both[1].folder / "cy" / "z.json")
    assert any("z.json" in text for text in checked(both).wrong)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: os.symlink("../Ada", path), "cy/x: a link to a folder"),
        (lambda path: os.symlink("/etc/passwd", path), "cy/x: a link that leads out of the folder"),
        (os.mkfifo, "cy/x: no regular file"),
    ],
    ids=["folder", "file", "pipe"],
)
def test_what_is_not_read_is_refused_beside_an_entry_that_holds(both, make, said):
    """Nothing of it has a digest or a name that is looked at: the check said that the submission holds."""
    both[1].pack("cy/n.json", {**HONEST, "q01": "AAA"}, "new/model")
    make(both[1].folder / "cy" / "x")
    (wrong,) = checked(both).wrong
    assert wrong.startswith(said)
    (both[0] / "cy").mkdir()
    make(both[0] / "cy" / "x")  # what the board has is nobody's fault
    assert not checked(both).wrong


def test_an_entry_that_becomes_a_link_is_not_removed_but_refused(both):
    (both[1].folder / "ben" / "o.json").unlink()
    os.symlink("/dev/zero", both[1].folder / "ben" / "o.json")
    found = checked(both, "ben")
    assert [(what, str(file)) for what, file in found.files] == [("removed", "ben/o.json")]
    assert found.wrong == ("ben/o.json: a link that leads out of the folder. Put the file itself there.",)


def test_a_second_entry_of_ones_own_must_not_take_the_first_out_of_the_ranking(both):
    both[1].pack("Ada/again.json", PERFECT)
    (said,) = checked(both, "Ada").wrong
    assert "honest/model on medq_deg_l1 is ranked now and would not be any more" in said


@pytest.mark.parametrize("name", ["a", "z"])
def test_a_copy_of_an_entry_that_is_there_is_refused_whichever_of_the_two_would_stand(both, name):
    both[1].pack(f"ben/{name}/o.json", PERFECT, "other/model")
    (said,) = checked(both, "ben").wrong
    assert ("It is no entry any more" if name == "a" else "ben/z/o.json: The same replies as in ben/o.json") in said


@pytest.fixture
def old(submissions, runs):
    """The base with an entry of an old version, a copy of it, and trust that pins the old and the installed one."""
    submissions.pack("Ada/h.json", versions={TASK: 1.0})
    head = submissions.folder.parent / "head"
    shutil.copytree(submissions.folder, head)
    changed = Submissions(head, runs)
    changed.made = 10
    trust = submissions.owned(**{"new/model": ["Cy"]})
    (pin,) = trust.pins.found.values()
    return (
        submissions.folder,
        changed,
        replace(trust, pins=pins.QuestionPins({(TASK, each, "full"): pin for each in VERSIONS})),
    )


def test_the_first_entry_of_a_new_version_pushes_nobody_out_and_moves_the_ranking(old):
    base, changed, trust = old
    changed.pack("cy/n.json", name="new/model")
    found = checked(old)
    assert not found.wrong and found.places[0].rank == "rank 1 of 1"
    assert ranked(collect_entries([base], trust=trust)) == ["honest/model"]
    said = f"{TASK}: from version 1.0, full data to version 1.3, full data; 1 entry is ranked by the first now."
    assert found.moves == (said,)
    assert said in " ".join(screen_text(found.document()).split()) and "### Rankings that move" in render_markdown(
        found.document()
    )


def test_who_is_not_ranked_moves_no_ranking_to_the_version_of_his_entry(old):
    """The ranking was of a new version as soon as an entry was of it, ranked or not: it took everybody's rank."""
    _, changed, trust = old
    for number, trials in enumerate((HONEST, PERFECT)):
        changed.pack(f"cy/{number}.json", trials, "new/model")
    board = collect_entries([changed.folder], trust=trust)
    assert ranked(board) == ["honest/model"] and board.references[TASK].version == "1.0"
    found = checked(old)
    assert not found.wrong and not found.moves and (found.ranked, found.results) == (0, 2)
    # Where nobody is ranked by any version, the ranking is of the installed one.
    shutil.rmtree(changed.folder / "Ada")
    board = collect_entries([changed.folder], trust=trust)
    assert not ranked(board) and board.references[TASK].version == "1.3"


def test_each_row_of_a_name_is_counted(both):
    base, changed, trust = both
    for said, trials in (("a=1", HONEST), ("a=2", PERFECT)):
        changed.pack(
            f"cy/{said}.json", trials, "new/model", lambda entry, said=said: entry["model"].update(arguments=said)
        )
    two = replace(trust, owners=replace(trust.owners, rows={"new/model": 2}))
    found = checked((base, changed, two))
    assert (found.ranked, found.results) == (2, 2) and "ranked: 2 of 2 results" in render_markdown(found.document())


def test_a_name_has_no_more_entries_than_a_page_can_be_asked_to_show(both):
    most = load_limits()["rows"]
    for number in range(most + 1):
        trials = {**HONEST, f"q{number:02}": "BBB"}
        both[1].pack(f"cy/{number}.json", trials, "new/model")
    (said,) = checked(both).wrong
    assert said == f"new/model on {TASK}: {most + 1} entries; at most {most} of a name are taken. Remove some."


def test_the_command_goes_by_the_files_it_is_given(both, tmp_path):
    from lmms_medtasks.cli.app import build_app

    both[1].pack("cy/n.json", name="new/model")
    folder = both[0].parent
    options = ["--base", both[0], "--account", "Cy", "--pins", folder / "pins.yml", "--owners", folder / "owners.yml"]
    arguments = ["leaderboard", "check", both[1].folder, *options, "-o", tmp_path / "s.md", "--resamples", 0]
    result = CliRunner().invoke(build_app(), list(map(str, arguments)))
    assert result.exit_code == 0 and "Submission: holds" in (tmp_path / "s.md").read_text("utf-8")
    result = CliRunner().invoke(build_app(), [str(each) if each != "Cy" else "Eve" for each in arguments])
    assert result.exit_code == 1 and "Submission: refused" in result.stdout


def test_a_folder_of_entries_that_is_a_link_is_refused(both, tmp_path):
    (tmp_path / "link").symlink_to("/")
    with pytest.raises(UserError, match="is a link in this submission"):
        check_submission(both[0], tmp_path / "link", "Cy", rules.read_board_rules(), both[2], 20)


@pytest.mark.parametrize("name", ["cy/.gitattributes", "cy/page.html", "cy/page.jsonl", "ben/page.html", "README"])
def test_a_file_that_is_no_submission_is_refused(both, name):
    both[1].pack("cy/n.json", {**HONEST, "q01": "AAA"}, "new/model")
    (both[1].folder / name).write_text("x")
    assert any(name in text and "neither a pack nor a file of a run" in text for text in checked(both).wrong)
    (both[1].folder / "cy" / "broken.json").write_text('{"a": 1,\n  "b" 2}')
    assert "cy/broken.json, line 2, column 7: no JSON: Expecting ':' delimiter." in checked(both).wrong


def test_a_file_of_another_kind_that_the_base_has_is_left_alone_by_all(both):
    (both[0] / "README").write_text("x")
    assert any("README: not in the folder of Cy" in text for text in checked(both).wrong)
    (both[1].folder / "README").write_text("x")
    both[1].pack("cy/n.json", {**HONEST, "q01": "AAA"}, "new/model")
    assert not checked(both).wrong


def test_a_submission_that_holds_says_how_much_of_it_is_ranked(both, runs):
    both[1].pack("cy/n.json", {**HONEST, "q01": "AAA"}, "new/model")
    assert render_markdown(checked(both).document()).startswith("## Submission: holds; ranked: 1 of 1 results\n")
    both[1].pack("cy/n.json", {"m1": "AAA"}, "new/model")
    found = checked(both)
    assert (
        screen_text(found.document()).splitlines()[0] == "Submission: holds; ranked: 0 of 1 results" and not found.wrong
    )


def test_reasons_name_files_as_the_submission_has_them(both):
    for number in range(2):
        both[1].pack(f"cy/{number}.json", {**HONEST, f"q0{number}": "BBB"}, "new/model")
    reasons = [each.reason for each in checked(both).apart]
    assert any("other scores of it are in cy/1.json." in reason for reason in reasons)
    both[1].pack("cy/b.json").write_text("{}")
    found = checked(both)
    assert not any(str(both[1].folder) in reason for reason in (*found.wrong, *reasons)) and found.wrong


def judged(runs, folder, account, judge, missing=()):
    rows = {f"o{number}": None if number in missing else 50.0 + number for number in range(12)}
    metadata = {"judge": {**runs.JUDGE, "name": judge}}
    name = {"Ada": "honest/model", "ben": "other/model"}.get(account, f"new/{account}")
    said = runs.judged_rows(rows, judge, endpoint="http://h:1/v1", answered="m")
    runs.write(folder / account, {"med_cmr_open": said}, model=name, metadata=metadata)


def test_a_judge_of_ones_own_pushes_nobody_out_where_names_have_no_owners(tmp_path, runs):
    base, head = tmp_path / "base", tmp_path / "head"
    judged(runs, base, "Ada", runs.JUDGE["name"])
    shutil.copytree(base, head)
    for name in ("x", "y"):
        judged(runs, head / "cy", name, "openai:friend")
    (said,) = check_submission(base, head, "cy", rules.read_board_rules(), TrustRules(), 20).wrong
    assert said.startswith("honest/model on med_cmr_open is ranked now and would not be any more. Judged by openai:")


def test_who_leaves_no_question_with_a_score_of_all_is_refused(tmp_path, runs, both):
    """With a threshold of the keepers' own that lets entries lack judgements."""
    base, head, own = tmp_path / "open", tmp_path / "open-head", tmp_path / "rules.yml"
    own.write_text(f"thresholds: {{public_coverage: 0.5}}\nboard: {{med_cmr_open: {{judge: '{runs.JUDGE['name']}'}}}}")
    trust = replace(both[2], pins=pins.NONE)
    judged(runs, base, "Ada", runs.JUDGE["name"])
    shutil.copytree(base, head)
    judged(runs, head, "ben", runs.JUDGE["name"], missing=range(3))
    (said,) = check_submission(base, head, "ben", rules.read_board_rules(own), trust, 20).wrong
    assert "honest/model on med_cmr_open is ranked now" in said
    assert "no ranks by total: only 9 images with a score of every model, 10 are needed." in said


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"data_digest": "ffff"}, "Other bytes of the full data than the ranking's"),
        (
            {"digests": {"package": "c0de", "prompt": "9409", "degradations": "d1"}},
            "Another degradations of lmms-medtasks 1.0 than",
        ),
    ],
)
def test_data_of_ones_own_push_nobody_out_where_nothing_is_pinned(both, metadata, said):
    """What most entries have, and of two that as many have the later one in order, is the ranking's."""
    base, changed, trust = both
    for number, name in enumerate("xyz"):
        changed.pack(f"cy/{name}.json", {**HONEST, f"q0{number}": "BBB"}, f"new/{name}", metadata=metadata)
    accounts = {**trust.owners.accounts, **{f"new/{name}": ("cy",) for name in "xyz"}}
    trust = replace(trust, pins=pins.NONE, owners=replace(trust.owners, accounts=accounts))
    wrong = checked((base, changed, trust)).wrong
    assert len(wrong) == 2 and all("is ranked now and would not be any more" in each and said in each for each in wrong)
