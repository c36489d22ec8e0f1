"""Runs of Med-CMR written by hand, in the form that the harness writes them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lmms_medtasks.data.rotated_options import rotate_question_options
from lmms_medtasks.harness.scoring import metric_values
from lmms_medtasks.record import QuestionJudgement, QuestionRecord, ScoreValue
from lmms_medtasks.report.report_options import ReportOptions
from lmms_medtasks.samples import runs
from lmms_medtasks.suites.suite_rows import suite_table
from lmms_medtasks.task_configs.med_cmr import measures
from lmms_medtasks.task_configs.med_cmr.report_published import model_rows
from tests.made_up_runs import write_files

TAGS = {"subtype": "nodule", "question_type": "Counting", "modality": "CT", "organ_system": "Chest"}
# question: image, dimension, right letter of four
OPTIONS = ["a cyst", "a stone", "a scar", "nothing"]
QUESTIONS = {"q1": ("a", "SOD", "A"), "q2": ("b", "SOD", "B"), "q3": ("c", "FDD", "A"), "q4": ("a", "CR", "D")}
JUDGE = {
    "name": "openai:gpt-4o",
    "endpoint": "https://api.example.org/v1",
    "protocol": "med_cmr_open",
    "prompt": "med_cmr_open.txt",
    "version": 1,
    "digest": "0123456789ab",
    "settings": {"temperature": 0.0, "max_tokens": 1024, "reply": "schema"},
    "is_paper_judge": False,
}
SCORES = ("consistency", "coherence", "visual_accuracy", "ground_truth_correctness")


FAILED = "[LMMS_EVAL_REQUEST_FAILED after 5 retries]"
REPLIES = {"failed": FAILED, "unreadable": "no idea", "empty": " "}


def choice(question, letter, tags):
    """A record; ``letter`` is what the model chose, or a status."""
    image, dimension, answer = QUESTIONS[question]
    doc = {"id": question, "image_id": image, "dimension": dimension, "answer": answer, "data": "full"}
    return measures.choice_record({**doc, "options": OPTIONS, **TAGS, **tags}, [REPLIES.get(letter, letter)])


def turned(question, letters):
    """The records of a question's four rotations; a letter each, "-" is a failed request."""
    image, dimension, answer = QUESTIONS[question]
    found = []
    for rotation, letter in enumerate(letters):
        options, right = rotate_question_options(OPTIONS, answer, rotation)
        doc = {"id": f"{question}/r{rotation}", "question_id": question, "rotation": rotation, "answer": right}
        doc |= {"image_id": image, "dimension": dimension, "data": "full", "options": options, **TAGS}
        found.append(measures.choice_record(doc, [FAILED if letter == "-" else letter]))
    return found


def answered(question, scores, judge, tags):
    """An open record; ``scores`` are its four, "?" is a missing verdict, "" a failed request, "empty" a rule's.

    The final answer to q1 has the reference's words.
    """
    image, dimension, _ = QUESTIONS[question]
    verdict = {"status": "judged", "labels": dict(zip(SCORES, scores, strict=False)), "reason": "", "reply": "{}"}
    if scores == "?":
        verdict = {"status": "missing", "labels": {}, "reason": "no verdict: <script>", "reply": "prose"}
    if scores == "empty":
        verdict = {"status": "exact", "labels": dict.fromkeys(SCORES, "0"), "reason": "empty", "reply": ""}
    item = {"question": "?", "visual_description": "", "reference": "a cyst", "reasoning": "r", "answer": "A scar."}
    record = QuestionRecord(
        id=question,
        cluster=image,
        trials=("failed" if not scores else "empty" if scores == "empty" else "ok",),
        expected=None,
        measures={"exact_match": ScoreValue(float(question == "q1") if scores else None)},
        tags={
            **{"dimension": dimension, "data": "full", "form": "open"},
            **TAGS,
            **tags,
            "parts": {"": "failed", "empty": "empty"}.get(scores, "both"),
        },
        judgement=QuestionJudgement(dict(judge), (item if scores else None,), ((verdict,) if scores else (),)),
    )
    return measures.record_with_verdicts(record)


@pytest.fixture
def write_cmr(tmp_path):
    """Writes a run with some of ``mcq``, ``mcq_noimage``, ``circular``, ``open`` and ``open_noimage`` (question to
    what the model gave) and gives its folder."""

    def write(
        name: str = "run",
        *,
        model: str = "some_model",
        judge: Mapping[str, Any] = JUDGE,
        tags: Mapping[str, Any] = {},  # noqa: B006 - never changed
        metadata: Mapping[str, Any] = {},  # noqa: B006
        rename: Mapping[str, str] = {},  # noqa: B006
        **given: Mapping[str, str],
    ) -> Path:
        tasks: dict[str, list[QuestionRecord]] = {}
        for form, replies in given.items():
            if form == "circular":
                records = [record for question, letters in replies.items() for record in turned(question, letters)]
                tasks["med_cmr_mcq_circular"] = records
            elif form.startswith("open"):
                tasks[f"med_cmr_{form}"] = [answered(*each, judge, tags) for each in replies.items()]
            else:
                tasks[f"med_cmr_{form}"] = [choice(*each, tags) for each in replies.items()]
        folder = tmp_path / name
        folder.mkdir()
        _write(folder, {rename.get(task, task): found for task, found in tasks.items()}, model, metadata)
        return folder

    return write


def _write(folder, tasks, model, metadata):
    config = {
        "metadata": {"data": "full", **metadata},
        "dataset_kwargs": {"data_files": {"test": "medtasks://med_cmr/x"}},
    }
    lines = {
        task: [{**metric_values(measures.SUITE, row.tags["form"], row), "filtered_resps": ["x"]} for row in rows]
        for task, rows in tasks.items()
    }
    configs = {
        task: {**config, "lmms_eval_specific_kwargs": {"default": {"no_image": task.endswith("_noimage")}}}
        for task in tasks
    }
    results = dict.fromkeys(tasks, {"accuracy,trials": 0.5, "exact_match,trials": 0.25})
    write_files(folder, lines, configs, results=results, config={"model": "hf", "model_args": f"pretrained={model}"})


@pytest.fixture
def read_models():
    """Reads run folders as the report does, without intervals: the models by name."""

    def read(*folders):
        found = runs.find_result_files(folders)
        table = suite_table(measures.SUITE, found)
        return {each.name: each for each in model_rows(measures.SUITE, found, table, ReportOptions(resamples=0))}

    return read
