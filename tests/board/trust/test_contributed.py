"""Attacks on rankings of contributed tasks, of which an entry itself says by whom and on which scale it is judged."""

import json
from dataclasses import replace

import pytest

from lmms_medtasks.board import installed, packing, rules
from lmms_medtasks.board.collect import collect_entries
from lmms_medtasks.board.trust import pins
from lmms_medtasks.judges import registry as protocols
from lmms_medtasks.suites import registry
from tests.board.trust.submissions import SIGNED, codes, ranked, signed_again
from tests.contributed_runs import write_run

OPEN, COUNT = "their_open", 12
JUDGE = {"name": "lexical", "protocols": [{"protocol": "open_answer", "version": 1, "digest": "d16e57"}]}


def judged(folder, runs, model):
    """A run of an open task of which every answer got half of what there is."""
    asked = [
        ({"id": f"q{number:02}", "image_id": f"i{number}", "data": "full", "question": "?", "answer": "a"}, ["b"])
        for number in range(COUNT)
    ]
    metadata = {"digests": runs.DIGESTS, "package_version": "1.0", "data_digest": "da7a", "judge": JUDGE}
    path = write_run(folder, {OPEN: {"template": "open", "asked": asked, "metadata": metadata}}, model)
    content = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**content, "results": {OPEN: {"score,trials": 0.5}}}), "utf-8")
    log = path.with_name(f"20260101_000000_samples_{OPEN}.jsonl")
    rows = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    for row in rows:
        record = row["questions"]
        record["measures"]["score"] = {"score": 0.5, "low": 0.5, "high": 0.5, "judged": 1, "requested": 1}
        record["judgement"]["verdicts"][0][0]["status"] = "judged"
        record["judgement"]["judge"]["name"] = "lexical"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


@pytest.fixture
def held(submissions, runs, monkeypatch):
    """An honest entry of a task of which the keepers have the folder, and a function: another's pack after an edit ->
    the board of both, with pins and without."""
    monkeypatch.setattr(registry, "_GIVEN", {})
    own = submissions.folder.parent / "their_benchmark"
    own.mkdir()
    (own / f"{OPEN}.yaml").write_text(f"task: {OPEN}\n", "utf-8")
    registry.add_suite_folders([own])
    judged(submissions.folder / "Ada", runs, "honest/model")
    judged(submissions.folder.parent / "x", runs, "other/model")
    pinned = submissions.folder.parent / "their_pins.yml"
    pins.write_pins(collect_entries([submissions.folder]).entries, pinned)
    content = packing.make_submission(collect_entries([submissions.folder.parent / "x"]).entries, SIGNED)
    demanded = rules.with_own({"board": {OPEN: {"judge": "lexical"}}}, "")

    def boards(edit):
        edit(content["entries"][0])
        packing.write_submission(signed_again(content), submissions.folder / "Ben" / "o.json")
        for each in (pins.read_pins(pinned), pins.NONE):
            trust = replace(submissions.owned(), pins=each)
            yield collect_entries([submissions.folder], rules=demanded, trust=trust, by_measure=True)

    return boards


def scored(entry, value):
    for field in ("score", "low", "high"):
        entry["answers"][f"score.{field}"] = {"values": [value], "codes": [1] * COUNT}


def test_an_honest_pack_of_a_contributed_task_is_ranked(held):
    for board in held(lambda entry: None):
        assert ranked(board) == ["honest/model", "other/model"]
        assert {entry.metrics for entry in board.entries} == {("score",)}


def test_who_says_that_another_protocol_scored_its_answers_is_not_ranked(held):
    """Stars go up to 5, shares to 1: five of one was the first place."""

    def with_stars(entry):
        entry["settings"]["protocol"] = "sure_open"
        scored(entry, 5.0)

    pinned, unpinned = held(with_stars)
    assert ranked(pinned) == ["honest/model"] and codes(pinned, "other/model") == {"other_questions"}
    assert not ranked(unpinned)  # nobody can say who is right
    (reason,) = [each.reason for each in unpinned.problems if (each.model, each.level) == ("other/model", "unranked")]
    assert "another template, protocol of a judge, or parts of its own" in reason


@pytest.mark.parametrize(
    ("judge", "code"),
    [
        ({"name": "openai:mine at http://h:1/v1, answered by m", "prompts": {}, "settings": ""}, "other_judge"),
        ({"name": "lexical", "prompts": {}, "settings": ""}, "other_judge_prompt"),
        (None, "no_judge"),
    ],
)
def test_no_entry_says_who_judges_a_contributed_task(held, judge, code):
    def edit(entry):
        entry["judge"] = judge and {**judge, "is_paper_judge": False}
        scored(entry, 1.0)

    board, _ = held(edit)
    assert ranked(board) == ["honest/model"] and codes(board, "other/model") == {code}


def test_a_score_of_a_contributed_task_that_no_judgement_gave_is_refused(held):
    def edit(entry):
        scored(entry, 1.0)
        for name in ("judgement", "score.judged", "score.requested"):
            entry["answers"].pop(name)

    for board in held(edit):
        assert ranked(board) == ["honest/model"]
        assert "has a score of score that no judgement gave" in board.refused[0].reason


def test_a_task_of_the_keepers_with_a_rubric_of_its_own_is_judged_by_it(tmp_path):
    """The file was looked for in the working folder: every entry of such a task was refused as one that can't be
    checked."""
    scores = {"place": {0: "another", 1: "the right one"}}
    said = {"name": "their_rubric", "version": 1, "prompt": "prompt.txt", "scores": scores, "exact_match": True}
    (tmp_path / "rubric.yml").write_text(json.dumps(said), "utf-8")
    (tmp_path / "prompt.txt").write_text("{{scale}} {{question}} {{reference}} {{answer}}", "utf-8")
    protocols.forget_custom_protocols()
    task = installed.Installed("their", "1.0", {}, protocols=("rubric.yml",), folder=tmp_path)
    assert [each.name for each in task.judge_protocols] == ["their_rubric"] == [*task.judge_prompts]
    assert task.settles_words
    protocols.forget_custom_protocols()
