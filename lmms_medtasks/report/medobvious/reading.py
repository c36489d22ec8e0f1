"""From the files of runs to MedObvious's records: which tasks belong together, and what each asked."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lmms_medtasks.errors import UserError, unknown
from lmms_medtasks.samples.result_files import Run
from lmms_medtasks.samples.runs import (
    is_of_suite,
    printable,
    required,
    samples,
    score_of,
    settings_of,
    tasks_of,
    trials_of,
)
from lmms_medtasks.statistics.triage import FORMATS

Record = Mapping[str, Any]

TITLE = "MedObvious"
AS_RELEASED = ""
NO_IMAGE = "no image"
NEUTRAL = "neutral wording"
_REQUIRED = ("id", "item", "tier", "task_type", "kind", "negative", "grid", "trials")


@dataclass(frozen=True)
class Source:
    """What one run asked in one way: as released (""), without the image, or in another wording.

    ``records`` are those of all its ``tasks``, each question once; ``repeated`` counts questions that several tasks
    asked, of which the first task's replies stand.
    """

    run: Run
    tasks: tuple[str, ...]
    variant: str
    records: tuple[Record, ...]
    repeated: int


def is_ours(run: Run, task: str) -> bool:
    """Whether the task is one of MedObvious's: by its name, or by the data that it reads."""
    return is_of_suite(run, task, "medobvious")


def sources(runs: Sequence[Run]) -> list[Source]:
    """What was asked, by run and way of asking. Raises UserError when a log can't be read."""
    found = []
    for run in runs:
        ways: dict[str, list[str]] = {}
        for task in tasks_of(run, is_ours):
            ways.setdefault(_variant(run, task), []).append(task)
        found += [_source(run, tasks, way) for way, tasks in ways.items()]
    return found


def _variant(run: Run, task: str) -> str:
    settings = settings_of(run, task)
    said = [NO_IMAGE] if settings.get("no_image") else []
    wording = settings.get("wording")
    said += [NEUTRAL if wording == "neutral" else printable(str(wording))] if wording else []
    # A task of somebody else's with another prompt is a way of its own.
    own = str(settings.get("prompt", "")).startswith("medobvious/")
    return ", ".join([*said, *([] if own else [printable(task)])])


def _source(run: Run, tasks: Sequence[str], variant: str) -> Source:
    records: dict[str, Record] = {}
    rows = 0
    for task in tasks:
        for sample, where in samples(run, task):
            rows += 1
            record = _slim(sample.record, where)
            records.setdefault(record["id"], record)
    return Source(run, tuple(tasks), variant, tuple(records.values()), rows - len(records))


def _slim(record: Record, where: str) -> Record:
    """What the numbers need. Clusters are items: their questions are about the same few grids."""
    required(record, _REQUIRED, where, TITLE)
    if record["task_type"] not in FORMATS:
        raise unknown("task_type", printable(str(record["task_type"])), FORMATS, where)
    if not re.fullmatch(r"[1-9]x[1-9]", str(record["grid"])) or record["negative"] not in (0, 1):
        raise UserError(
            f"{where}: grid is {record['grid']!r}, negative {record['negative']!r}; wanted 2x2 ..., 0 or 1."
        )
    trials, score = trials_of(record, where), score_of(record, where)
    slim = {
        "id": str(record["id"]),
        "item": sys.intern(printable(str(record["item"]))),
        "image_id": sys.intern(printable(str(record["item"]))),
        "tier": record["tier"],
        "task_type": sys.intern(record["task_type"]),
        "kind": sys.intern(printable(str(record["kind"]))),
        "negative": record["negative"],
        "grid": sys.intern(str(record["grid"])),
        "answer_position": sys.intern(str(record.get("answer_position") or "")),
        "trials": trials,
        "failed": trials.count("failed"),
    }
    return slim if score is None else {**slim, "score": score}
