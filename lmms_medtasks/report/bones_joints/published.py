"""The paper's numbers, with the rows of these runs above them."""

from __future__ import annotations

from collections.abc import Mapping

from lmms_medtasks.report.about import own
from lmms_medtasks.report.asked import extent
from lmms_medtasks.report.bones_joints.analysis import Analysis
from lmms_medtasks.report.bones_joints.reading import Condition
from lmms_medtasks.report.bones_joints.tables import MEANINGS, cell
from lmms_medtasks.report.cells import NONE, label, share
from lmms_medtasks.report.document import Cell, Row, Table
from lmms_medtasks.report.marks import meanings
from lmms_medtasks.task_configs.bones_joints import reference
from lmms_medtasks.task_configs.bones_joints.forms import forms

_SOURCE = (
    "Rows marked published: Wang et al., The Illusion of Clinical Reasoning, the numbers that the text quotes; these "
    "models were not run here. Open answers were judged by GPT-4o, Task VIII by people."
)
_ROWS: Mapping[str, Condition] = {"images": "images", "reports": "reports"}


def table(analyses: Mapping[str, Analysis]) -> Table:
    """The eight tasks, a row a model and kind of imaging."""
    rows = [row for name, each in analyses.items() for row in _own(name, each)]
    printed: dict[tuple[str, str], dict[str, float]] = {}
    kinds: dict[str, str] = {}
    places: dict[tuple[str, str], dict[str, list[str]]] = {}
    for found in reference.results():
        printed.setdefault((found.model, found.imaging), {})[found.task] = found.accuracy
        kinds[found.model] = f"{found.kind}{', medical' if found.medical else ''}"
        sections = places.setdefault((found.model, found.imaging), {})
        sections.setdefault(found.where.partition(":")[0], []).append(forms()[found.task].numeral)
    for (model, imaging), numbers in printed.items():
        cells = (Cell(numbers.get(task)) for task in forms())
        where = "; ".join(f"{', '.join(tasks)}: {place}" for place, tasks in places[model, imaging].items())
        first = (Cell(model), Cell(f"published, {kinds[model]}"), Cell(imaging))
        rows.append(Row((*first, *cells, Cell(where)), "reference"))
    columns = (
        label("model"),
        label("source"),
        label("imaging in IV to VII"),
        *(share(f.numeral) for f in forms().values()),
        label("in the paper"),
    )
    notes = ("Without intervals; the tables of each run have them.",)
    odd = tuple(f"{each['what']}: {each['note']}." for each in reference.discrepancies())
    said = tuple(_range(each) for each in reference.findings()["ranges"])
    return Table(
        "main", "Beside the paper", columns, tuple(rows), notes, (_SOURCE, *said, *odd), meanings(rows, MEANINGS)
    )


def _own(name: str, analysis: Analysis) -> list[Row]:
    rows = []
    for imaging, condition in _ROWS.items():
        there = [analysis.of(task, condition) for task in forms()]
        if any(there) or (condition == "images" and not analysis.of("t4", "reports")):
            cells = []
            for task in forms():
                found = analysis.of(task, "text", condition)
                cells.append(cell(found.overall, found.asked.judging, bare=True) if found else NONE)
            rows.append(Row((Cell(name), own(extent(analysis.source.asked)), Cell(imaging), *cells, NONE)))
    return rows


def _range(found: Mapping[str, object]) -> str:
    tasks = ", ".join(forms()[task].numeral for task in found["tasks"])  # type: ignore[attr-defined]
    ends = " ".join(f"{word} {found[word]:g} %" for word in ("from", "to", "below", "above") if word in found)
    return f"The paper on {found['models']}, Task {tasks}: {ends}."
