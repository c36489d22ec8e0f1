"""Attacks by the rows of a pack: images, tags and numbers that somebody made up."""

import json

import pytest

from lmms_medtasks.board import recount
from lmms_medtasks.board.entries import QuestionCounts
from lmms_medtasks.board.trust import limits, pins
from lmms_medtasks.board.trust.rules_of_trust import TrustRules
from tests.board.made_up_entries import ERRORS, made_up_entry
from tests.board.trust.submissions import HONEST, TASK, Submissions, codes, ranked


@pytest.fixture
def shared(submissions, runs):
    """An empty folder of submissions of 12 questions on 11 images."""
    return Submissions(submissions.folder, runs, images=11)


def column(name, values):
    """What gives a column of the questions these values, in turn."""
    codes = [1 + row % len(values) for row in range(len(HONEST))]
    return lambda columns: columns.update({name: {"values": list(values), "codes": codes}})


EDITS = {
    "all one image": column("cluster", ["one"]),
    "an image each": column("cluster", [f"image {row}" for row in range(len(HONEST))]),
    "all one pair": column("pair", ["one"]),
    "another level": column("severity", [2]),
    "two kinds": column("modality", ["CT", "MRI"]),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_invented_images_and_tags_are_not_ranked_beside_what_is_pinned_or_another_entry(shared, edit):
    """An image of each question makes intervals narrow, one of all makes every difference chance."""
    shared.pack("Ada/h.json")
    shared.pack_asked("Ben/o.json", edit)
    for trust, left in ((shared.owned(), ["honest/model"]), (TrustRules(), [])):
        board = shared.board(trust)
        assert ranked(board) == left and codes(board, "other/model") == {"other_questions"}
        (said,) = [each.reason for each in board.problems if each.model == "other/model" and each.level != "flag"]
        assert "other images, correct answers or tags" in said


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_invented_images_and_tags_under_the_digest_of_others_are_refused(shared, edit):
    shared.pack("h.json")
    shared.pack_asked("o.json", edit, renewed=False)
    board = shared.board()
    assert ranked(board) == ["honest/model"] and "ids, images or tags were changed" in board.refused[0].reason


def test_invented_images_of_the_first_entry_are_not_seen_where_nothing_is_pinned(shared):
    """Nobody knows better there: the board says that its questions are unverified."""
    shared.pack_asked("o.json", EDITS["an image each"])
    board = shared.board()
    assert ranked(board) == ["other/model"] and board.references[TASK].unverified == ("questions and data",)


def test_no_result_file_says_which_metrics_an_entry_has(submissions, runs):
    """A low number was left out of it, and the entry had none of that metric."""
    path = runs.write(submissions.folder / "run", {TASK: runs.choice_rows(HONEST)}, model="run/model")
    whole = submissions.board().entries[0].metrics
    content = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**content, "results": {TASK: {"alias": TASK}}}), "utf-8")
    (entry,) = submissions.board().entries
    assert entry.metrics == whole == ("accuracy",)


def test_replies_of_a_task_that_is_not_known_here_count_in_the_limit_of_a_pack(submissions, monkeypatch):
    few = {**limits.load_limits(), "replies": 50}
    monkeypatch.setattr("lmms_medtasks.board.trust.limits.load_limits", lambda: few)
    content = submissions.content()
    content["entries"] = [{**content["entries"][0], "task": f"task_{number}"} for number in range(2)]
    submissions.write("e.json", content)
    assert "72 replies in all; at most 50 are read" in submissions.board().refused[0].reason


def test_numbers_of_a_pack_are_those_of_its_rows(submissions):
    submissions.pack("h.json", {**HONEST, "q00": "A-!"})
    (entry,) = submissions.board().entries
    assert entry.counts == QuestionCounts(
        12, 12, 12, replies=35, parsed=34, empty=0, requests=36, failed=1, wanted=0, judged=0
    )
    assert entry.metrics == ("accuracy",) and not entry.reported
    assert pins.trials_of(entry) == 3


@pytest.mark.parametrize(("low", "high", "said"), [(0.75, 0.25, 0), (0.25, 0.75, 1)])
def test_bounds_where_fewer_is_better(low, high, said):
    """The worst is the larger number there. Half of its judgements are missing."""
    numbers = {"low": low, "high": high, "judged": 1, "requested": 2}
    columns = {f"errors.{name}": [value] for name, value in numbers.items()}
    entry = made_up_entry("m", {ERRORS: {"q": 0.5}}, columns={"judgement": ["partial"], **columns})
    assert ["bounds of errors" in each for each in recount.entry_contradictions(entry)] == [True] * said
