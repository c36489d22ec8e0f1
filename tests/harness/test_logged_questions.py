"""What a sample log was made of: its replies as they were sent; and whether its scores follow from them."""

import json
from pathlib import Path

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import logged_questions
from lmms_medtasks.harness.logged_questions import iter_recomputed_differences
from lmms_medtasks.harness.rescoring import TaskDefinitions
from lmms_medtasks.record import KEY, QuestionJudgement, QuestionRecord
from lmms_medtasks.samples import result_files
from lmms_medtasks.samples.result_files import ResultFile

TASK = "task"


def run(metadata=None, **options):
    content = {"results": {}, "configs": {TASK: {"metadata": metadata}}, "config": {"resolved_cli_args": options}}
    return ResultFile(Path("x_results.json"), content)


def record(trials=1, notes=()):
    return QuestionRecord("q", "i", ("A",) * trials, "A", {}, replies=notes)


def sent(row, found=None, of=None, tags=()):
    return logged_questions.read_sent_replies(of or run(), TASK, row, found or record(), "line 1", tags)


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
    assert logged_questions.read_reasoning_tags(run({"changed_by_options": {"reasoning_tags": own}}), TASK) == (
        ("<p>", "</p>"),
    )
    assert logged_questions.read_reasoning_tags(run({"reasoning_tags": own}), TASK) == (("<p>", "</p>"),)
    assert logged_questions.read_reasoning_tags(run(reasoning_tags='[["<p>", "</p>"]]'), TASK) == (("<p>", "</p>"),)
    assert logged_questions.read_reasoning_tags(run(reasoning_tags="none"), TASK) == ()
    assert logged_questions.read_reasoning_tags(run(), TASK) == ()
    row = {"filtered_resps": ["B"], "resps": ["<p>A</p>B"]}
    assert sent(row, of=run(reasoning_tags='[["<p>", "</p>"]]')) == ["<p>A</p>B"]
    with pytest.raises(UserError, match="x_results.json, the run's --reasoning_tags: 7 is no pair"):
        logged_questions.read_reasoning_tags(run({"changed_by_options": {"reasoning_tags": [7]}}), TASK)


def test_replies_that_are_not_there(tmp_path, monkeypatch):
    monkeypatch.setenv("MEDTASKS_HOME", str(tmp_path))
    with pytest.raises(UserError, match="the log holds no replies"):
        sent({"filtered_resps": []})
    judgement = QuestionJudgement({"name": "none", "protocol": "p"}, "withheld", ((),), ("digest",))
    with pytest.raises(UserError, match="1 of 1 of question 'q' are not on this machine"):
        sent({"filtered_resps": []}, QuestionRecord("q", "i", ("ok",), None, {}, judgement=judgement))
    with pytest.raises(UserError, match="has 1 replies, its record says what was read of 2"):
        sent({"filtered_resps": ["A"]}, record(2))


CHOICE, JUDGED = "medobvious_t1", "med_cmr_open"


@pytest.fixture(scope="module")
def definitions():
    return TaskDefinitions()


def log_of(task, definitions, folder, reply):
    """A run of a task as the harness would log it, on the mini data; nothing is judged."""
    loaded = definitions.manager.load_task_or_group(task)[task]
    rows = []
    for number, document in enumerate(loaded.eval_docs_no_media):
        replies = [reply(number)] * 2
        rows.append(
            {
                "doc_id": number,
                "filtered_resps": replies,
                **definitions.get_definition(task)["process_results"](document, replies),
            }
        )
    content = {"results": {task: {}}, "configs": {task: {"metadata": dict(loaded.config.metadata)}}}
    path = folder / "20260101_000000_results.json"
    path.write_text(json.dumps(content, default=str), "utf-8")
    return result_files.read_result_file(path), rows


def written(run, task, rows):
    run.samples_file(task).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return run


def test_letters_are_read_again(definitions, tmp_path, monkeypatch):
    monkeypatch.setenv("MEDTASKS_DATA", "mini")
    run, rows = log_of(CHOICE, definitions, tmp_path, lambda number: "The answer is B." if number % 2 else "nothing")
    assert not list(iter_recomputed_differences(written(run, CHOICE, rows), CHOICE, definitions))
    forged = json.loads(json.dumps(rows))
    forged[0][KEY]["trials"] = [forged[0][KEY]["expected"]] * 2
    forged[0][KEY]["measures"]["accuracy"]["score"] = 1.0
    (said,) = iter_recomputed_differences(written(run, CHOICE, forged), CHOICE, definitions)
    assert "line 1" in said and "trials, measures do not follow" in said
    (said,) = iter_recomputed_differences(written(run, CHOICE, rows[1:]), CHOICE, definitions)
    assert f"1 of {len(rows)} questions are not in the log" in said
    rows[0]["filtered_resps"] = []
    with pytest.raises(UserError, match="holds no replies"):
        list(iter_recomputed_differences(written(run, CHOICE, rows), CHOICE, definitions))
    run.content["configs"][CHOICE]["metadata"]["data_digest"] = "other"
    with pytest.raises(UserError, match="read data of digest other"):
        list(iter_recomputed_differences(run, CHOICE, definitions))


def test_of_judged_answers_the_recorded_verdicts_count_and_what_was_shown_is_checked(
    definitions, tmp_path, monkeypatch
):
    monkeypatch.setenv("MEDTASKS_DATA", "mini")
    run, rows = log_of(JUDGED, definitions, tmp_path, lambda number: f"Reasoning: seen. Answer: finding {number}")
    assert not list(iter_recomputed_differences(written(run, JUDGED, rows), JUDGED, definitions))
    shown = next(item for item in rows[0][KEY]["judgement"]["items"] if item)
    shown["answer" if "answer" in shown else next(iter(shown))] = "what the reference says"
    (said,) = iter_recomputed_differences(written(run, JUDGED, rows), JUDGED, definitions)
    assert "what the judge was shown" in said
