"""Attacks on a board in public: each gave its submitter a place in the ranking, and none does any more."""

import json
import re
from dataclasses import replace

import pytest

from lmms_medtasks.board import rules, side_by_side
from lmms_medtasks.board.collect import collect_entries
from lmms_medtasks.board.site.write_site import SiteOptions, build_site
from lmms_medtasks.board.trust import pins
from lmms_medtasks.board.trust.rules_of_trust import TrustRules
from tests.board.trust.submissions import HONEST, PERFECT, TASK, codes, ranked

MINI = {f"m{number}": "AAA" for number in range(12)}


def test_mini_data_that_is_called_full_is_seen_by_its_digest_whatever_the_majority(submissions):
    submissions.pack("Ada/h.json")
    for name in ("x", "y", "z"):
        submissions.pack(f"{name}.json", MINI, f"evil/{name}", date="20270101_000000", metadata={"data_digest": "m1n1"})
    board = submissions.board(TrustRules(submissions.pins()))
    assert ranked(board) == ["honest/model"]
    assert {"other_data", "other_questions"} <= codes(board, "evil/x")
    assert not board.references[TASK].unverified


def test_the_digest_of_the_data_may_be_copied_and_the_questions_still_tell(submissions):
    submissions.pack("h.json")
    submissions.pack("e.json", MINI, "evil/m")
    board = submissions.board(TrustRules(submissions.pins()))
    assert ranked(board) == ["honest/model"] and codes(board, "evil/m") == {"other_questions"}


@pytest.mark.parametrize(
    "trials",
    [
        {**PERFECT, "zz": "AAA"},
        {name: "AAA" for name in list(HONEST)[1:]},
        {**{name: "AAA" for name in list(HONEST)[1:]}, "zz": "AAA"},
    ],
    ids=["invented", "missing", "exchanged"],
)
def test_other_questions_are_apart_and_the_honest_entry_stays(submissions, trials):
    submissions.pack("h.json")
    submissions.pack("e.json", trials, "evil/m")
    submissions.pack("f.json", trials, "evil/puppet")
    board = submissions.board(TrustRules(submissions.pins()))
    assert ranked(board) == ["honest/model"]
    (reason,) = [each.reason for each in board.problems if each.model == "evil/m"]
    assert f"{len(trials)} questions are not the 12 pinned ones" in reason
    assert not submissions.board().of(ranked=True)  # without pins nobody can say who is right


def test_the_best_of_several_replies_is_told_by_their_number(submissions):
    submissions.pack("h.json")
    best = {name: "A" if "A" in trials else trials[0] for name, trials in HONEST.items()}
    submissions.pack("e.json", best, "evil/m")
    submissions.pack("f.json", {**HONEST, "q00": "A"}, "evil/n")
    board = submissions.board(TrustRules(submissions.pins()))
    assert ranked(board) == ["honest/model"]
    said = {each.model: each.reason for each in board.problems if each.code == "other_questions"}
    assert said["evil/m"].startswith("Replies to each question: 1, and 3 of the pinned run")
    assert said["evil/n"].startswith("Replies to each question: not as many for all, and 3 of the pinned run")


def test_questions_that_belong_to_no_measure_any_more_are_seen(submissions):
    """Hard questions taken out of a measure raise its mean, and nothing else in the pack contradicts that."""

    def easy(entry):
        answers = entry["answers"]
        right = [answers["accuracy.score"]["values"][code - 1] == 1.0 for code in answers["accuracy.score"]["codes"]]
        for name in ("accuracy.score", "accuracy.asked"):
            answers[name]["codes"] = [
                code if kept else 0 for code, kept in zip(answers[name]["codes"], right, strict=True)
            ]

    submissions.pack("h.json")
    submissions.pack("e.json", name="evil/m", edit=easy)
    board = submissions.board(TrustRules(submissions.pins()))
    assert ranked(board) == ["honest/model"]
    (reason,) = [each.reason for each in board.problems if each.model == "evil/m"]
    assert re.fullmatch(r"Of its questions 4 \(\w+\) belong to accuracy, and of the pinned ones 12 \(\w+\)\.", reason)


def test_a_majority_moves_neither_the_prompt_nor_the_judge_of_a_pinned_task(submissions, runs, tmp_path):
    rows, judge = {"o1": 60.0, "o2": 80.0}, {**runs.JUDGE, "name": "openai:friend"}
    for number, name in enumerate(("honest", "x", "y")):
        own = runs.JUDGE if name == "honest" else judge
        prompt = "9409" if name == "honest" else "0ther"
        submissions.pack(f"{name}.json", name=name, metadata={"digests": {"package": "c0de", "prompt": prompt}})
        runs.write(
            submissions.folder / f"run-{number}", {"med_cmr_open": runs.judged_rows(rows, own["name"])}, model=name,
            metadata={"judge": own},
        )  # fmt: skip
    path = tmp_path / "pins.yml"
    run = runs.write(
        tmp_path / "keeper-open", {"med_cmr_open": runs.judged_rows(rows)}, metadata={"judge": runs.JUDGE}, model="k"
    )
    pins.write_pins(collect_entries([run]).entries, path)
    trust = TrustRules(pins.QuestionPins({**submissions.pins().found, **pins.read_pins(path).found}))
    before, after = submissions.board(), submissions.board(trust)
    assert ranked(before) == ["x", "x", "y", "y"]  # what most have
    assert ranked(after) == ["honest", "honest"]
    assert {"other_prompt", "other_judge"} <= codes(after, "x")


def test_a_name_is_its_owners_and_a_later_date_is_nothing(submissions):
    submissions.pack("Ada/h.json")
    submissions.pack("eve/e.json", PERFECT, date="20270101_000000")
    submissions.pack("eve/new.json", PERFECT, "evil/new")
    board = submissions.board(submissions.owned())
    (entry,) = board.entries
    assert entry.interval("accuracy").estimate < 1 and board.owned
    assert codes(board, "honest/model") == {"not_the_owner"} and codes(board, "evil/new") == {"no_owner"}


def test_two_entries_of_one_model_are_both_apart_whoever_is_later(submissions):
    for trust in (None, submissions.owned()):
        for number, trials in enumerate((HONEST, PERFECT)):
            submissions.pack(f"Ada/{number}.json", trials, date=f"202{number}0101_000000")
        submissions.pack("Ben/b.json", name="other/model")
        board = submissions.board(trust)
        assert ranked(board) == ["other/model"] and codes(board, "honest/model") == {"several_entries"}


def test_a_copy_of_an_entry_is_left_out_and_the_entry_stays(submissions):
    submissions.pack("a.json")
    submissions.pack("b.json", date="20270101_000000")
    board = submissions.board()
    assert ranked(board) == ["honest/model"] and "duplicate" in {each.code for each in board.problems}
    assert len(board.entries) == 1 and not board.bad


def test_answers_are_compared_only_where_all_else_is_alike(submissions, monkeypatch):
    """Of many models on many questions that takes as long as a reading of them."""
    compared, answers = [], side_by_side._answers_digest
    monkeypatch.setattr(
        side_by_side, "_answers_digest", lambda entry: (compared.append(entry.source.results.name), answers(entry))[1]
    )
    for name in ("a", "b", "c"):
        other = {"name": "other/model", "trials": PERFECT} if name == "c" else {}
        submissions.pack(f"{name}.json", **other)
    assert len(submissions.board().entries) == 2 and sorted(compared) == ["a.json", "b.json"]


@pytest.mark.parametrize(
    "name", ["Honest/Model", "honest/mode1", "honest/m0del", "h0nest / model", "honest_model", "/mnt/x/honest/model"]
)
def test_a_name_that_looks_like_anothers_is_not_ranked(submissions, name):
    submissions.pack("Ada/h.json")
    submissions.pack("Ada/e.json", PERFECT, name)
    assert codes(submissions.board(), name) & {"look_alike", "several_entries"}
    board = submissions.board(submissions.owned())
    assert ranked(board) == ["honest/model"]
    (reason,) = [each.reason for each in board.refused]
    assert "It looks like 'honest/model'" in reason


@pytest.mark.parametrize(
    "name", ["honest/m\u043edel", "honest/mode\u0307l", "\u3164", "honest/\uff4dodel", "honest/model\u00a0"]
)
def test_a_name_of_other_letters_is_not_ranked(submissions, name):
    def renamed(entry):
        entry["model"]["name"] = name

    submissions.pack("h.json")
    path = submissions.pack("e.json", PERFECT, "evil/m", edit=renamed)
    board = submissions.board()
    assert "evil/m" not in ranked(board) and name not in ranked(board)
    assert [each for each in board.problems if each.source == str(path) and each.code in ("bad_name", "bad_pack")]


@pytest.mark.parametrize("name", ["", "   ", "x" * 201, "x" * 2**21])
def test_a_name_that_is_empty_or_too_long_is_refused(submissions, name):
    submissions.pack("h.json")
    submissions.pack("e.json", PERFECT, "evil/m", edit=lambda entry: entry["model"].update(name=name))
    board = submissions.board()
    assert ranked(board) == ["honest/model"]
    (problem,) = board.refused
    assert problem.code == "bad_pack" and len(problem.reason) < 400


def test_with_pins_a_task_without_one_is_not_ranked(submissions, runs):
    """It was ranked, and the check said so: rank 1 of 1 on questions that only its submitter had seen."""
    runs.write(submissions.folder / "Ada", {"med_cmr_mcq": runs.choice_rows(HONEST)}, model="honest/model")
    empty = replace(submissions.unpinned(), pins=pins.QuestionPins({}))
    for trust in (submissions.owned(), empty):
        board = submissions.board(trust)
        assert not ranked(board) and codes(board, "honest/model") == {"no_pin"}
        assert not board.references["med_cmr_mcq"].unverified
    (reason,) = (each.reason for each in board.problems)
    assert reason == ("No pin for this task: the keeper adds one with lmms-medtasks leaderboard pin RUN -o pins.yml.")
    assert ranked(submissions.board(submissions.unpinned())) == ["honest/model"]


def test_a_board_without_pins_says_what_is_unverified(submissions):
    submissions.pack("h.json")
    board = submissions.board()
    assert board.references[TASK].unverified == ("questions and data",) and not board.owned


def test_a_link_to_anothers_file_takes_it_out_of_nothing(submissions):
    """Read first, the link stood for the file: in a folder of somebody who does not own the name."""
    submissions.pack("zoe/h.json")
    (submissions.folder / "ada").mkdir()
    (submissions.folder / "ada" / "h.json").symlink_to("../zoe/h.json")
    board = submissions.board(submissions.owned(**{"honest/model": ["zoe"]}))
    assert ranked(board) == ["honest/model"] and not board.refused


def test_words_of_a_strangers_log_stand_on_no_page(submissions, runs, tmp_path):
    rows = [{**row, "input": "DEFACED"} for row in runs.choice_rows(HONEST)]
    path = runs.write(submissions.folder / "Ada" / "run", {TASK: rows}, model="honest/model")
    content = json.loads(path.read_text("utf-8"))
    content["configs"][TASK]["dataset_kwargs"] = {"data_files": {"test": "medtasks://medq_deg/clean"}}
    path.write_text(json.dumps(content), "utf-8")

    def said(trust):
        site = tmp_path / f"site-{trust is None}"
        options = SiteOptions(resamples=0, reports=False, roots=(submissions.folder,))
        build_site(collect_entries([submissions.folder], trust=trust), site, options)
        return [path.name for path in site.rglob("*.[hj]*") if path.is_file() and "DEFACED" in path.read_text("utf-8")]

    assert said(None) and not said(submissions.owned())


def test_who_fails_on_chosen_questions_takes_them_out_of_nobodys_ranks(submissions):
    """Ranks are over the questions that all have a score for: 1 % of failures each, on other questions, moved them."""
    submissions.pack("Ada/h.json")
    submissions.pack("ben/o.json", {**PERFECT, "q03": "!!!"}, "other/model")
    chosen = rules.read_board_rules()
    chosen = replace(chosen, thresholds={**chosen.thresholds, "failure_rate": 0.5})
    own, public = (
        collect_entries([submissions.folder], rules=chosen, trust=each) for each in (None, submissions.owned())
    )
    assert ranked(own) == ["honest/model", "other/model"] and ranked(public) == ["honest/model"]
    assert "failed_requests" in codes(public, "other/model")


def test_who_lacks_chosen_judgements_takes_them_out_of_nobodys_ranks(submissions, runs):
    """As above: each entry without one chosen judgement of 20, and with many of them no common question is left."""
    judge = f"board: {{med_cmr_open: {{judge: '{runs.JUDGE['name']}'}}}}"
    own = submissions.folder.parent / "rules.yml"
    own.write_text(judge)
    for account, name, missing in (("Ada", "honest/model", ()), ("ben", "other/model", ("o3",))):
        totals = {f"o{number}": None if f"o{number}" in missing else 60.0 for number in range(20)}
        runs.write_judged(submissions.folder / account, totals, model=name)
    found = (collect_entries([submissions.folder], rules=own, trust=each) for each in (None, submissions.unpinned()))
    alone, public = found
    assert ranked(alone) == ["honest/model", "other/model"]  # 95 % of the judgements
    assert ranked(public) == ["honest/model"] and codes(public, "other/model") == {"low_coverage"}


def test_no_entry_says_who_judges_on_a_board_in_public(submissions, runs, tmp_path):
    """The first entry's judge was the ranking's, and `check` then kept it from those who came later."""
    squatter = {**runs.JUDGE, "name": "openai:friend"}
    for account, name, judge in (("Ada", "honest/model", runs.JUDGE), ("ben", "other/model", squatter)):
        rows = runs.judged_rows(
            {f"o{number}": 60.0 + number for number in range(12)}, judge["name"], endpoint="http://h:1/v1", answered="m"
        )
        runs.write(submissions.folder / account, {"med_cmr_open": rows}, model=name, metadata={"judge": judge})
    board = submissions.board(submissions.unpinned())
    assert not ranked(board) and board.references["med_cmr_open"].judge is None
    assert {"no_board_judge"} == codes(board, "honest/model") == codes(board, "other/model")
    own = tmp_path / "rules.yml"
    own.write_text(f"board: {{'med_cmr_*': {{judge: '{runs.JUDGE['name']}'}}}}")
    board = collect_entries([submissions.folder], rules=own, trust=submissions.unpinned())
    assert ranked(board) == ["honest/model"] and codes(board, "other/model") == {"other_judge"}


def test_a_name_has_one_row_whatever_runner_and_arguments_it_says(submissions):
    """Twenty rows of one name, by twenty runners' names, made every rank interval 1 to 22."""
    submissions.pack("Ada/h.json")
    for number in range(3):
        trials = {**HONEST, f"q{number:02}": "BBB"}
        said = {"harness_model": f"runner{number}", "arguments": f"seed={number}"}
        submissions.pack(
            f"ben/{number}.json", trials, "other/model", lambda entry, said=said: entry["model"].update(said)
        )
    assert len(ranked(submissions.board())) == 4  # a board of one's own runs
    trust = submissions.owned()
    board = submissions.board(trust)
    assert ranked(board) == ["honest/model"] and codes(board, "other/model") == {"several_entries"}
    more = replace(trust, owners=replace(trust.owners, rows={"other/model": 3}))
    board = submissions.board(more)
    assert ranked(board) == ["honest/model", *["other/model"] * 3]
    assert not [each for each in board.problems if each.code == "same_answers"]
    submissions.pack("ben/0.json", trials, "other/model", lambda entry: entry["model"].update(arguments="again"))
    said = {each.reason for each in submissions.board(more).problems if each.code == "same_answers"}
    assert said == {"The same answers, question by question, as another entry of its own name."}


def with_changes_of_nothing(entry):
    scores = entry["answers"]["accuracy.score"]
    scores["values"] = [-0.0 if value == 0 else value for value in scores["values"]]
    for name in ("accuracy.judged", "judgement"):
        entry["answers"][name] = {"values": [], "codes": [0] * len(scores["codes"])}


def test_the_answers_of_another_are_ranked_with_a_remark(submissions):
    submissions.pack("Ada/h.json")
    submissions.pack("ben/o.json", name="other/model")
    board = collect_entries([submissions.folder], trust=submissions.owned(), by_measure=True)
    assert ranked(board) == ["honest/model", "other/model"]
    assert [each.code for each in board.problems].count("same_answers") == 2
    said = {each.model: each.reason for each in board.problems if each.code == "same_answers"}
    # Neither a column of no value nor a zero with a sign hides anything.
    submissions.pack("ben/o.json", name="other/model", edit=with_changes_of_nothing)
    assert "same_answers" in {each.code for each in submissions.board(submissions.owned()).problems}
    assert said["other/model"] == "The same answers, question by question, as honest/model." and len(said) == 2
    submissions.pack("ben/o.json", {**HONEST, "q00": "AAB"}, "other/model")
    assert not [each for each in submissions.board(submissions.owned()).problems if each.code == "same_answers"]


def test_a_version_that_is_installed_and_not_pinned_is_said_to_be_so(submissions):
    trust = submissions.owned()
    old = {(task, "1.0", data): pin for (task, _, data), pin in trust.pins.found.items()}
    submissions.pack("Ada/h.json")
    board = submissions.board(replace(trust, pins=pins.QuestionPins(old)))
    (reason,) = [each.reason for each in board.problems if each.code == "other_version"]
    assert (
        "the ranking is of version 1.0. It is the version that is installed here: the board's keepers pin it" in reason
    )


def test_a_judge_named_in_short_is_of_any_endpoint_and_no_majority_chooses_one(submissions, runs, tmp_path):
    own = tmp_path / "rules.yml"
    own.write_text("board: {med_cmr_open: {judge: 'openai:judge'}}")
    rows = {f"q{number}": 60.0 + number for number in range(12)}
    runs.write_judged(submissions.folder / "Ada", rows, model="honest/model")
    for name in ("x", "y"):
        runs.write_judged(submissions.folder / "ben" / name, rows, model=f"evil/{name}", url="http://evil:1/v1")
    trust = submissions.unpinned(**{"evil/x": ["ben"], "evil/y": ["ben"]})
    assert ranked(collect_entries([submissions.folder], rules=own)) == ["evil/x", "evil/y"]
    board = collect_entries([submissions.folder], rules=own, trust=trust)
    assert ranked(board) == ["evil/x", "evil/y", "honest/model"]
    own.write_text("board: {med_cmr_open: {judge: 'openai:judge at http://h:1/v1, answered by m-1'}}")
    assert ranked(collect_entries([submissions.folder], rules=own, trust=trust)) == ["honest/model"]


def test_who_is_set_apart_changes_nothing_that_is_said_of_the_questions(submissions, runs, tmp_path):
    """An invented question stood in the browser, and its tags were the filters there; the word that data are
    credentialed kept back the texts of everybody's questions."""
    path = runs.write(
        submissions.folder / "Ada", {TASK: runs.choice_rows(HONEST)}, model="honest/model", metadata={"data": "mini"}
    )
    content = json.loads(path.read_text("utf-8"))
    content["configs"][TASK]["dataset_kwargs"] = {"data_files": {"test": "medtasks://medq_deg/clean"}}
    path.write_text(json.dumps(content), "utf-8")
    (entry,) = submissions.board().entries
    pins.write_pins([entry], tmp_path / "own.yml")
    trust = submissions.owned()
    trust = replace(
        trust,
        pins=pins.read_pins(tmp_path / "own.yml"),
        levels={entry.source.digest: "run by the board"},
    )

    def said(name):
        options = SiteOptions(resamples=0, reports=False, roots=(submissions.folder,))
        build_site(submissions.board(trust), tmp_path / name, options)
        (index,) = (tmp_path / name / "questions" / "medq_deg").glob("*/index.js")
        withheld = re.search('"withheld":"([^"]*)"', (index.parents[1] / "index.js").read_text("utf-8"))[1]
        read = json.loads(index.read_text("utf-8").removeprefix("medtasks.task(").removesuffix(");\n"))
        return withheld, read["ids"], read["tags"]

    alone = said("alone")
    assert alone[0] == "" and len(alone[1]) == 12
    more = {**PERFECT, **{f"buy {number}": "AAA" for number in range(12)}}
    submissions.pack("Ben/more.json", more, "other/model", metadata={"data": "mini"})
    submissions.pack(
        "Ben/o.json", PERFECT, "other/model", lambda entry: entry.update(credentialed=True), metadata={"data": "mini"}
    )
    board = submissions.board(trust)
    assert ranked(board) == ["honest/model", "other/model"] and codes(board, "other/model") == {"other_questions"}
    assert said("beside") == alone


def test_no_entry_says_which_harness_a_ranking_is_of(submissions):
    """Of two that as many have the later text in order stood above the ranking, and in a remark beside the other."""
    submissions.pack("Ada/h.json")
    submissions.pack("Ben/o.json", {**HONEST, "q01": "BBB"}, "other/model", harness="9, visit evil.example")
    trust = submissions.owned()
    own = {key: replace(pin, harness="") for key, pin in trust.pins.found.items()}  # of an earlier release
    for found, harness in ((trust.pins, "0.7.3"), (pins.QuestionPins(own), ""), (pins.NONE, "")):
        board = submissions.board(replace(trust, pins=found))
        assert ranked(board) == ["honest/model", "other/model"] and board.references[TASK].harness == harness
        remarks = [each.model for each in board.problems if each.code == "other_harness"]
        assert remarks == (["other/model"] if harness else [])
