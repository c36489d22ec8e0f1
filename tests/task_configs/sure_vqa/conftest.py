"""Runs of SURE-VQA written by hand, in the form that the harness writes them."""

from __future__ import annotations

import pytest

from lmms_medtasks.record import QuestionJudgement, QuestionRecord, ScoreValue
from lmms_medtasks.report.report_options import ReportOptions
from lmms_medtasks.samples import runs
from lmms_medtasks.suites.suite_rows import suite_table
from lmms_medtasks.task_configs.sure_vqa.measures import SUITE, TEXT, record_with_judged_score
from lmms_medtasks.task_configs.sure_vqa.report import results_by_shift
from tests.made_up_runs import write_files

# id: image, set, answer type. Image b is in both tests.
QUESTIONS = {
    "c1": ("a", "iid", "closed"),
    "c2": ("b", "iid", "closed"),
    "c3": ("b", "iid", "multilabel"),
    "o1": ("a", "iid", "open"),
    "o2": ("b", "iid", "open"),
    "c4": ("b", "ood", "closed"),
    "c5": ("c", "ood", "closed"),
    "o3": ("c", "ood", "open"),
}
# Labels; "?" is a missing judgement, "!" a failed request, "_" an empty reply (the worst label, by rule).
LABELS = {"c1": "1", "c2": "1", "c3": "0.5", "o1": "5", "o2": "4", "c4": "1", "c5": "0", "o3": "3"}
_WORST = {"closed": "0", "multilabel": "0", "open": "1"}


def record(question, label, questions, judge, text):
    image, side, kind = questions[question]
    dimension = "stars" if kind == "open" else "correct"
    verdict = {"status": "judged", "labels": {dimension: label}, "reason": "", "reply": ""}
    if label == "?":
        verdict = {"status": "missing", "labels": {}, "reason": "no verdict: SECRET", "reply": "SECRET"}
    elif label == "_":
        verdict.update(status="exact", labels={dimension: _WORST[kind]}, reason="no answer")
    described = {"name": judge, "protocol": f"sure_{kind}", "version": 1, "is_paper_judge": "gemma" in judge}
    items = ({"question": "SECRET", "reference": "SECRET", "answer": "SECRET"},)
    scored = text is not None and label != "!"
    made = QuestionRecord(
        id=question,
        cluster=image,
        trials=({"!": "failed", "_": "empty"}.get(label, "ok"),),
        expected=None,
        measures=dict.fromkeys(TEXT, ScoreValue(text)) if scored else {},
        tags={"data": "full", "set": side, "answer_type": kind},
        judgement=QuestionJudgement(described, items, (() if label == "!" else (verdict,),)),
    )
    return record_with_judged_score(made).to_json()


@pytest.fixture
def sources_of():
    """The sources of the runs in these folders."""

    def of_folders(*folders, resamples=0):
        found = runs.find_result_files(folders)
        return results_by_shift(SUITE, found, suite_table(SUITE, found), ReportOptions(resamples=resamples))

    return of_folders


@pytest.fixture
def write_sure_run(tmp_path):
    """Writes a run and gives its folder; see :func:`_write` for what can be chosen."""

    def write(name="run", **chosen):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        _write(folder, **chosen)
        return folder

    return write


def joined(own, more):
    found = dict(own)
    for name, value in more.items():
        found[name] = {**found[name], **value} if isinstance(value, dict) else value
    return found


def _write(
    folder,
    *,
    labels=LABELS,
    questions=QUESTIONS,
    tasks=("sure_slake_modality",),
    more=None,
    model="some_runner",
    checkpoint="some_model",
    judge="openai:google/gemma-2-9b-it",
    data="full",
    text=0.25,
    date="20260101_000000",
):
    """``more``: fields of the records, by question; what is a mapping is joined to the record's own."""
    rows = {
        task: [
            {
                "questions": joined(record(question, label, questions, judge, text), (more or {}).get(question, {})),
                "filtered_resps": ["SECRET"],
            }
            for question, label in labels.items()
        ]
        for task in tasks
    }
    configs = {
        task: {
            "dataset_kwargs": {"data_files": {"test": f"medtasks://sure_{task.split('_')[1]}/test"}},
            "metadata": {"data": data},
            "lmms_eval_specific_kwargs": {"default": {"no_image": True} if "_noimage" in task else {}},
        }
        for task in rows
    }
    config = {"model": model, "model_args": f"pretrained={checkpoint}" if checkpoint else "", "limit": None}
    write_files(folder, rows, configs, date=date, config=config)
