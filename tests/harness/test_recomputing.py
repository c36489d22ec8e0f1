"""A run's scores are computed again from its replies, and a score that does not follow from them is found."""

import json

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness.recomputing import differences
from lmms_medtasks.harness.rescoring import Definitions
from lmms_medtasks.record import KEY
from lmms_medtasks.samples import result_files

CHOICE, JUDGED = "medobvious_t1", "med_cmr_open"


@pytest.fixture(scope="module")
def definitions():
    return Definitions()


def log_of(task, definitions, folder, reply):
    """A run of a task as the harness would log it, on the mini data; nothing is judged."""
    loaded = definitions.manager.load_task_or_group(task)[task]
    rows = []
    for number, document in enumerate(loaded.eval_docs_no_media):
        replies = [reply(number)] * 2
        rows.append(
            {"doc_id": number, "filtered_resps": replies, **definitions.of(task)["process_results"](document, replies)}
        )
    content = {"results": {task: {}}, "configs": {task: {"metadata": dict(loaded.config.metadata)}}}
    path = folder / "20260101_000000_results.json"
    path.write_text(json.dumps(content, default=str), "utf-8")
    return result_files.read(path), rows


def written(run, task, rows):
    run.samples_file(task).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return run


def test_letters_are_read_again(definitions, tmp_path, monkeypatch):
    monkeypatch.setenv("MEDTASKS_DATA", "mini")
    run, rows = log_of(CHOICE, definitions, tmp_path, lambda number: "The answer is B." if number % 2 else "nothing")
    assert not list(differences(written(run, CHOICE, rows), CHOICE, definitions))
    forged = json.loads(json.dumps(rows))
    forged[0][KEY]["trials"] = [forged[0][KEY]["expected"]] * 2
    forged[0][KEY]["measures"]["accuracy"]["score"] = 1.0
    (said,) = differences(written(run, CHOICE, forged), CHOICE, definitions)
    assert "line 1" in said and "trials, measures do not follow" in said
    (said,) = differences(written(run, CHOICE, rows[1:]), CHOICE, definitions)
    assert f"1 of {len(rows)} questions are not in the log" in said
    rows[0]["filtered_resps"] = []
    with pytest.raises(UserError, match="holds no replies"):
        list(differences(written(run, CHOICE, rows), CHOICE, definitions))
    run.content["configs"][CHOICE]["metadata"]["data_digest"] = "other"
    with pytest.raises(UserError, match="read data of digest other"):
        list(differences(run, CHOICE, definitions))


def test_of_judged_answers_the_recorded_verdicts_count_and_what_was_shown_is_checked(
    definitions, tmp_path, monkeypatch
):
    monkeypatch.setenv("MEDTASKS_DATA", "mini")
    run, rows = log_of(JUDGED, definitions, tmp_path, lambda number: f"Reasoning: seen. Answer: finding {number}")
    assert not list(differences(written(run, JUDGED, rows), JUDGED, definitions))
    shown = next(item for item in rows[0][KEY]["judgement"]["items"] if item)
    shown["answer" if "answer" in shown else next(iter(shown))] = "what the reference says"
    (said,) = differences(written(run, JUDGED, rows), JUDGED, definitions)
    assert "what the judge was shown" in said
