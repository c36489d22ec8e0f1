"""The table of what is lost of the image's benefit: drops relative to what language alone gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lmms_medtasks.report.cells import count, frame, label, number, percent, share
from lmms_medtasks.report.document import Frame, FrameColumn
from lmms_medtasks.report.views import Source
from lmms_medtasks.samples.table import Samples, Where
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.statistics.intervals import Interval
from lmms_medtasks.suites.image_benefit import LostBenefit

_FLOOR, _BENEFIT, _DROP = "same, no image", "image's benefit", "drop"
_CHANGES = (_BENEFIT, _DROP)


@dataclass(frozen=True)
class Comparison:
    """A row: its labels, what is compared, over which questions, and how its scores are shown.

    ``unit``: "%" for shares, "" for scores on a scale of their own.
    """

    labels: tuple[str, ...]
    estimate: LostBenefit
    where: Where
    unit: str = "%"


def rows_without_image(source: Source, where: Where) -> Samples:
    """What the model of ``source`` was asked without images: ``where`` restricts the rows of all its runs to that."""
    runs = tuple(source.runs_of_model) or tuple(dict.fromkeys(source.rows.column("run")))
    return source.every.where({**where, "run": runs})


def benefit_table(
    title: str,
    heads: Sequence[str],
    names: tuple[str, str],
    source: Source,
    comparisons: Sequence[Comparison],
    unit_of_independence: str,
    notes: Sequence[str] = (),
) -> Frame | None:
    """The table; None without a comparison that has questions asked with and without their image.

    ``heads``: of the labels. ``names``: of the two conditions. ``unit_of_independence``: of the intervals.
    """
    rows: list[Sequence[Any]] = []
    reasons = []
    for each in comparisons:
        found = source.intervals(each.estimate, each.where)
        if not found:
            continue
        why = _why_empty(found["benefit"])
        if why:
            reasons.append(f"Empty: {', '.join(each.labels)}: {why}.")
        shown = percent if each.unit == "%" else number
        means = (shown(found[name]) for name in ("first", "floor", "benefit", "second", "drop"))
        rows.append((*each.labels, found["second"].n, *means, None if why else found["lost"]))
    first, second = names
    columns = (
        *map(label, heads),
        count("questions"),
        *(FrameColumn(name, digits=2, signed=name in _CHANGES) for name in (first, _FLOOR, _BENEFIT, second, _DROP)),
        share("of the benefit lost"),
    )
    every = (
        f"The image's benefit: {first} less the same questions without their image. Of the benefit lost: 1 less the "
        f"benefit of {second} over that of {first}; above 100 % the image does harm there, below 0 it gains.",
        f"In brackets: {LEVEL} interval over {unit_of_independence}s. Scores of shares are in percent.",
        *notes,
        *reasons,
    )
    return frame("benefit_lost", title, columns, rows, every)


def _why_empty(benefit: Interval) -> str:
    """Why there is no share of this benefit, "" where there is one: its interval must lie above 0."""
    if benefit.estimate is None:
        return "no question was asked both with and without its image"
    if benefit.low is None:
        return "without an interval nothing says whether the model is beyond its no-image floor"
    if benefit.low > 0:
        return ""
    return "the model is not beyond its no-image floor: the interval of the image's benefit does not lie above 0"
