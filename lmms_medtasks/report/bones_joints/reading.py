"""From the files of runs to Bones and Joints' records: which tasks are of one model, and how each was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lmms_medtasks.errors import UserError, unknown
from lmms_medtasks.judges import bones_joints as protocols
from lmms_medtasks.judges.records import protocol_of
from lmms_medtasks.report import judged
from lmms_medtasks.report.asked import model_of, together
from lmms_medtasks.samples.result_files import Run
from lmms_medtasks.samples.runs import (
    is_of_suite,
    model_name,
    printable,
    required,
    samples,
    score_of,
    settings_of,
    tasks_of,
    trials_of,
)
from lmms_medtasks.task_configs.bones_joints import judged as scoring
from lmms_medtasks.task_configs.bones_joints.forms import Task, forms

Record = Mapping[str, Any]
Condition = Literal["text", "images", "reports", "no image", "swapped", "released"]
CONDITIONS: tuple[Condition, ...] = ("text", "images", "reports", "no image", "swapped", "released")
MAIN: tuple[Condition, ...] = ("text", "images")
"""The conditions that the paper's tasks have for a model that sees images."""

TITLE = "Bones and Joints"
_SUITE = "bones_joints"
_REQUIRED = ("id", "image_id", "case_id", "task", "site", "disease", "trials")
_LONGEST = 600  # characters of a text that is shown as an example


@dataclass(frozen=True)
class Asked:
    """The records of one task under one condition."""

    run: Run
    name: str
    task: Task
    condition: Condition
    records: tuple[Record, ...]
    judging: judged.Judging | None = None

    @property
    def label(self) -> str:
        """``IV, reports``; a task as the paper has it by its numeral alone."""
        return self.task.numeral if self.condition in MAIN else f"{self.task.numeral}, {self.condition}"


@dataclass(frozen=True)
class Source:
    """Everything that one model was asked: each task once under each condition."""

    model: str
    asked: tuple[Asked, ...]

    def of(self, task: str, *conditions: Condition) -> Asked | None:
        """The task under the first of these conditions that it was asked under."""
        found = {each.condition: each for each in self.asked if each.task.key == task}
        return next((found[condition] for condition in conditions if condition in found), None)


def is_ours(run: Run, task: str) -> bool:
    """Whether the task is one of Bones and Joints': by its name, or by the data that it reads."""
    return is_of_suite(run, task, _SUITE)


def sources(runs: Sequence[Run]) -> list[Source]:
    """What was asked, by model.

    Tasks of several runs are one source where the harness's model, its arguments and the kind of data are the same and
    no task is there twice under a condition; a run with one that is begins another. Raises UserError when a log can't
    be read.
    """
    every = ((model_of(run, name), _asked(run, name)) for run in runs for name in tasks_of(run, is_ours))
    return [Source(model_name(group[0].run.content), tuple(sorted(group, key=_place))) for _, group in together(every)]


def _place(asked: Asked) -> tuple[int, int]:
    return list(forms()).index(asked.task.key), CONDITIONS.index(asked.condition)


def _asked(run: Run, name: str) -> Asked:
    records: list[Record] = []
    judging: judged.Judging | None = None
    key, swapped = "", False
    for sample, where in samples(run, name):
        record = sample.record
        required(record, _REQUIRED, where, TITLE)
        if record["task"] not in forms():
            raise UserError(str(unknown("task", printable(str(record["task"])), forms(), where)))
        if key and record["task"] != key:
            raise UserError(f"{where}: a record of {record['task']} in a log of {key}.")
        key = record["task"]
        swapped = swapped or (
            key == "t3" and bool(record.get("image_case")) and record["image_case"] != record["case_id"]
        )
        if "verdicts" in record:
            judging = judging or judged.Judging(protocol_of(record))
            judging.add(record)
            records.append({**_tags(record, where), **_open(record, where)})
        else:
            records.append({**_tags(record, where), **_choice(record, where)})
    return Asked(run, name, forms()[key], _condition(run, name, forms()[key], swapped), tuple(records), judging)


def _condition(run: Run, name: str, task: Task, swapped: bool) -> Condition:
    settings = settings_of(run, name)
    if settings.get("report"):
        return "reports"
    if not task.images:
        return "text"
    if settings.get("no_image"):
        return "no image"
    files = str((run.content["configs"][name].get("dataset_kwargs") or {}).get("data_files", ""))
    return "released" if files.find("bones_joints/t8") >= 0 else "swapped" if swapped else "images"


def _tags(record: Record, where: str) -> dict[str, Any]:
    names = ("id", "image_id", "case_id", "site", "disease", "disease_listed", "image_case", "image_site")
    trials = trials_of(record, where)
    return {
        **{name: printable(str(record.get(name) or "")) for name in names},
        "trials": trials,
        "failed": trials.count("failed"),
    }


def _choice(record: Record, where: str) -> dict[str, Any]:
    required(record, ("answer", "option_count"), where, TITLE)
    score = score_of(record, where)
    return {"answer": str(record["answer"]), **({} if score is None else {"score": score})}


def _open(record: Record, where: str) -> dict[str, Any]:
    value = judged.values(record, where)[scoring.MEASURE]
    return {
        **({"score": value["score"]} if "score" in value else {}),
        "value": value,
        "labels": tuple(scoring.labels_of(record)),
        "unanimous": scoring.unanimous(record).get("score"),
        "steps": scoring.steps_found(record).get("score") if protocol_of(record).checklist else None,
        "example": _example(record),
    }


def _example(record: Record) -> dict[str, str]:
    """The texts of an answer to Task VIII that are shown side by side; {} of others."""
    if record["judge"]["protocol"] != protocols.INCONSISTENCY.name or not record["items"] or not record["items"][0]:
        return {}
    item = record["items"][0]
    return {name: _short(item[name]) for name in ("question", "text_site", "image_site", "answer")}


def _short(text: str) -> str:
    """One line, so long that an example can be read."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
