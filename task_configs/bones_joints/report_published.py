"""Bones and Joints: the numbers that the paper's text quotes, with the rows of these runs above them."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from lmms_medtasks.report.about import own
from lmms_medtasks.report.cells import NONE
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.judged_tables import MEANINGS
from lmms_medtasks.report.suite_report import PublishedScores, extent
from lmms_medtasks.report.views import CellFunction, Column, Published, Row, Source, Table
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.task_configs.bones_joints.forms import forms
from lmms_medtasks.task_configs.bones_joints.measures import AS_PUBLISHED, RELEASED, REPORTS
from lmms_medtasks.task_configs.bones_joints.report_groups import find_group, task_groups

REFERENCE = Path(__file__).resolve().parent / "reference"
IMAGING = {"images": AS_PUBLISHED, "reports": REPORTS}
"""What stood for a case's imaging in Tasks IV to VII, and the condition under which we ask so."""
READ_REPORTS = "§"
"""Marks a published number of a language model, which read reports where we ask with images (``board.yml``)."""

_PLACE = "in the paper"
_SOURCE = (
    "Rows marked published: Wang et al., The Illusion of Clinical Reasoning, the numbers that the text quotes; these "
    "models were not run here. Open answers were judged by GPT-4o, Task VIII by people."
)


def quoted_numbers() -> list[dict[str, str]]:
    """The rows of ``results.csv``: a number each, with its model, task, kind of imaging and place in the text."""
    with (REFERENCE / "results.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def reference_notes(name: str) -> Mapping[str, Any]:
    """``findings.yml``: what the text says of several models; ``discrepancies.yml``: what the numbers do not fit."""
    found: Mapping[str, Any] = yaml.safe_load((REFERENCE / name).read_text("utf-8"))
    return found


class QuotedNumbers(Published):
    """The paper's numbers, a row for each model and kind of imaging."""

    def rows(self) -> list[dict[str, str]]:
        """The numbers by task, and under "in the paper" where they stand."""
        found: dict[tuple[str, str], dict[str, str]] = {}
        places: dict[tuple[str, str], dict[str, list[str]]] = {}
        for quoted in quoted_numbers():
            key, task = (quoted["model"], quoted["imaging"]), forms()[quoted["task"]]
            kind = f"{quoted['kind']}{', medical' if quoted['medical'] == 'yes' else ''}"
            named = {"model": quoted["model"], "kind": kind, "imaging": quoted["imaging"]}
            found.setdefault(key, named)[task.numeral] = quoted["accuracy"]
            places.setdefault(key, {}).setdefault(quoted["where"].partition(":")[0], []).append(task.numeral)
        for key, own_places in places.items():
            found[key][_PLACE] = "; ".join(f"{', '.join(tasks)}: {place}" for place, tasks in own_places.items())
        return list(found.values())

    def value(self, row: Mapping[str, str], column: str) -> float | str | None:
        """A number of a row; of the last column its text."""
        text = row.get(column, "")
        return text if column == _PLACE else float(text) if text else None


def _label(row: Mapping[str, str]) -> tuple[str, ...]:
    return row["model"], f"published, {row['kind']}", row["imaging"]


def _range(found: Mapping[str, Any]) -> str:
    tasks = ", ".join(forms()[task].numeral for task in found["tasks"])
    ends = " ".join(f"{word} {found[word]:g} %" for word in ("from", "to", "below", "above") if word in found)
    return f"The paper on {found['models']}, Task {tasks}: {ends}."


QUOTED = QuotedNumbers(
    REFERENCE / "results.csv",
    {},
    _label,
    (
        _SOURCE,
        *map(_range, reference_notes("findings.yml")["ranges"]),
        *(f"{each['what']}: {each['note']}." for each in reference_notes("discrepancies.yml")["discrepancies"]),
    ),
)


def _rows(sources: Sequence[Source]) -> Iterator[Row]:
    """A row for each source and kind of imaging that it was asked with."""
    for source in sources:
        groups = task_groups(source)
        for imaging, condition in IMAGING.items():
            with_images = [each for each in groups if each.task.images and each.condition == condition]
            if with_images or (condition == AS_PUBLISHED and not find_group(groups, "t4", REPORTS)):
                yield Row((source.name, str(own(extent(source)).value), imaging), source=source)


def _accuracy(task: str) -> CellFunction:
    def cell(source: Source, row: Row, rows: Samples) -> Cell:
        condition = IMAGING[str(row.labels[2])] if forms()[task].images else AS_PUBLISHED
        group = find_group(task_groups(source), task, condition)
        return group.accuracy(source, bare=True) if group else NONE

    return cell


PUBLISHED_TABLE = Table(
    "main",
    "Beside the paper",
    ("model", "source", "imaging in IV to VII"),
    _rows,
    (
        *(Column(task.numeral, _accuracy(key)) for key, task in forms().items()),
        Column(_PLACE, unit="text"),
    ),
    ("Without intervals; the tables of each run have them.",),
    QUOTED,
    MEANINGS,
)


def published_scores(task: str) -> Iterator[PublishedScores]:
    """The quoted numbers of a task of ours."""
    number, _, rest = task.removeprefix("bones_joints_").partition("_")
    if any(rest.endswith(end) for end in ("_noimage", "_swapped")) or rest == RELEASED:
        return
    imaging = "reports" if rest.endswith("_report") else "images"
    for quoted in quoted_numbers():
        # Tasks I to III are the same for a model that was given reports in the others.
        other = quoted["imaging"] != imaging and number not in ("t1", "t2", "t3")
        if quoted["task"] == number and not (other and imaging == "reports"):
            cells = {"accuracy": Cell(float(quoted["accuracy"]), mark=READ_REPORTS if other else "")}
            paper = "Wang et al., The Illusion of Clinical Reasoning,"
            source = f"published, text{'; a language model that read reports' if other else ''}"
            yield PublishedScores(paper, quoted["model"], source, cells)
