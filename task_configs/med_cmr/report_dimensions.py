"""What the chapters of Med-CMR's report share: rows by dimension and by tag, and how tables are named."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.views import Column, Row, Source, Table
from lmms_medtasks.samples.runs import printable
from lmms_medtasks.samples.table import Where
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.suites.estimates import Estimate
from lmms_medtasks.task_configs.med_cmr.dimensions import dimensions
from lmms_medtasks.task_configs.med_cmr.measures import BY_DIMENSION, SIDES
from lmms_medtasks.task_configs.med_cmr.report_models import asked

TITLES = {each.short: f"{each.name} ({each.short})" for each in dimensions()}
INTERVALS = f"In brackets: {LEVEL} interval over images."
SIDE_NOTE = "Mean over the dimensions of a side, each weighing alike; the overall row is over all questions."
IMAGE = {True: "", False: ", no image"}
"""Ends of titles: as released, and without the image."""
KEY = {True: "", False: "_noimage"}
"""Ends of tables' keys."""


def rows_by_side(
    sources: Sequence[Source], where: Where, measure: str, of_side: Callable[[str], Mapping[str, Estimate]]
) -> Iterator[Row]:
    """For each side the mean over its dimensions (marked where one has no score), and its dimensions."""
    for side, names in SIDES.items():
        own_rows = (sources[0].rows.where({**where, **BY_DIMENSION[name]}).scored(measure) for name in names)
        mark = "" if all(map(len, own_rows)) else "∂"
        within = {**where, "dimension": names}
        label = Cell(f"Mean of the {side} dimensions", mark=mark)
        yield Row((label,), within, "counts", of_side(side))
        for name in names:
            yield Row((TITLES[name],), {**where, **BY_DIMENSION[name]})


def _breakdown_rows(where: Where, tag: str) -> Callable[[Sequence[Source]], Iterator[Row]]:
    """A row for each text that the release has there."""

    def rows(sources: Sequence[Source]) -> Iterator[Row]:
        values: dict[str, list[Any]] = {}
        for value in sources[0].rows.where(where).values(tag):
            values.setdefault(printable(str(value or "not recorded")), []).append(value)
        for text in sorted(values):
            yield Row((text,), {**where, tag: tuple(values[text])})

    return rows


def breakdown(
    form: str, tag: str, title: str, columns: tuple[Column, ...], notes: Callable[[Sequence[Source]], tuple[str, ...]]
) -> Table:
    """A table of the questions of a form, a row for each value of a tag."""
    name = tag.replace("_", " ")
    # Subtypes are many: a terminal leaves them to the files, the page shows them folded.
    long = tag == "subtype"
    rows = _breakdown_rows(asked(form), tag)
    return Table(f"{form}_{tag}", f"{title} by {name}", (name,), rows, columns, notes, long=long, folded=long)
