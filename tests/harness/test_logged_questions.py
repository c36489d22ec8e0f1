"""The replies of a sample log's rows: as they were sent, with why each ended and the run's own marks of thoughts."""

from pathlib import Path

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import logged_questions
from lmms_medtasks.record import Judgement, Record
from lmms_medtasks.samples.result_files import Run

TASK = "task"


def run(metadata=None, **options):
    content = {"results": {}, "configs": {TASK: {"metadata": metadata}}, "config": {"resolved_cli_args": options}}
    return Run(Path("x_results.json"), content)


def record(trials=1, notes=()):
    return Record("q", "i", ("A",) * trials, "A", {}, replies=notes)


def sent(row, found=None, of=None, tags=()):
    return logged_questions.replies(of or run(), TASK, row, found or record(), "line 1", tags)


@pytest.mark.parametrize(
    ("row", "texts"),
    [
        ({"filtered_resps": ["B"], "resps": ["<think>A</think>B"]}, ["<think>A</think>B"]),
        ({"filtered_resps": "B", "resps": [["<think>A</think>B"]]}, ["<think>A</think>B"]),
        ({"filtered_resps": ["B"]}, ["B"]),
        # A filter of the task's own made this of the reply.
        ({"filtered_resps": ["B"], "resps": ["It is B."]}, ["B"]),
        ({"filtered_resps": ["B"], "resps": ["<think>A</think>B", "C"]}, ["B"]),
    ],
)
def test_a_reply_is_taken_as_it_was_sent(row, texts):
    assert sent(row) == texts


def test_a_reply_knows_why_it_ended_and_the_marks_of_thoughts():
    notes = ({"ended": "length", "limit": 8, "rule": "letter"},)
    first, second = sent({"filtered_resps": ["A", "B"]}, record(2, notes), tags=(("<p>", "</p>"),))
    assert (first.ended, first.limit, first.tags) == ("length", 8, (("<p>", "</p>"),))
    assert (second.ended, second.limit) == ("", None)


def test_tags_of_the_user_s_own():
    own = [["<p>", "</p>"], ["<think>", "</think>"]]
    assert logged_questions.tags_of(run({"changed_by_options": {"reasoning_tags": own}}), TASK) == (("<p>", "</p>"),)
    assert logged_questions.tags_of(run({"reasoning_tags": own}), TASK) == (("<p>", "</p>"),)
    assert logged_questions.tags_of(run(reasoning_tags='[["<p>", "</p>"]]'), TASK) == (("<p>", "</p>"),)
    assert logged_questions.tags_of(run(reasoning_tags="none"), TASK) == ()
    assert logged_questions.tags_of(run(), TASK) == ()
    row = {"filtered_resps": ["B"], "resps": ["<p>A</p>B"]}
    assert sent(row, of=run(reasoning_tags='[["<p>", "</p>"]]')) == ["<p>A</p>B"]
    with pytest.raises(UserError, match="x_results.json, the run's --reasoning_tags: 7 is no pair"):
        logged_questions.tags_of(run({"changed_by_options": {"reasoning_tags": [7]}}), TASK)


def test_replies_that_are_not_there(tmp_path, monkeypatch):
    monkeypatch.setenv("MEDTASKS_HOME", str(tmp_path))
    with pytest.raises(UserError, match="the log holds no replies"):
        sent({"filtered_resps": []})
    judgement = Judgement({"name": "none", "protocol": "p"}, "withheld", ((),), ("digest",))
    with pytest.raises(UserError, match="1 of 1 of question 'q' are not on this machine"):
        sent({"filtered_resps": []}, Record("q", "i", ("ok",), None, {}, judgement=judgement))
    with pytest.raises(UserError, match="has 1 replies, its record says what was read of 2"):
        sent({"filtered_resps": ["A"]}, record(2))
