"""Numbers of an analysis as cells of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from lmms_medtasks.report.document import Cell, Frame, FrameColumn, FrameRow, Value
from lmms_medtasks.statistics.intervals import ALIKE, FEW, FEW_IN_GROUP, MISSING, ZERO, IntervalEstimate
from lmms_medtasks.statistics.significance import SMALL, format_p_value

NONE = Cell(None)
_MARKS = {FEW: "‖", FEW_IN_GROUP: "‖", ALIKE: "°", MISSING: "*", ZERO: "¶"}


def percent_cell(interval: IntervalEstimate | None, *, bare: bool = False) -> Cell:
    """A share or a change of one, in percent or points; ``bare`` leaves the interval out."""
    return scaled_cell(interval, 100.0, bare)


def number_cell(interval: IntervalEstimate | None) -> Cell:
    """A number as it is, with its interval."""
    return scaled_cell(interval, 1.0, False)


def percent_of(share: float | None) -> Cell:
    """A share without an interval, in percent."""
    return Cell(None if share is None else 100 * share)


def negate_estimate(interval: IntervalEstimate | None) -> IntervalEstimate | None:
    """A change with its sign turned and its ends swapped: a drop, positive where accuracy fell."""
    if interval is None or interval.estimate is None:
        return interval
    low, high = (None if end is None else 0.0 - end for end in (interval.high, interval.low))
    return replace(interval, estimate=0.0 - interval.estimate, low=low, high=high)


def scaled_cell(interval: IntervalEstimate | None, factor: float, bare: bool = False) -> Cell:
    """A number times ``factor`` with its interval, or with the mark of the reason why it has none."""
    if interval is None or interval.estimate is None:
        return NONE
    estimate = factor * interval.estimate
    if bare:
        return Cell(estimate, n=interval.n)
    if interval.low is None or interval.high is None:
        return Cell(estimate, mark=_MARKS.get(interval.reason, ""), reason=interval.reason or None, n=interval.n)
    clustered = interval.clustered_error
    stderr = None if clustered is None else factor * clustered
    return Cell(estimate, factor * interval.low, factor * interval.high, stderr_clustered=stderr, n=interval.n)


def make_frame(
    key: str,
    title: str,
    columns: Sequence[FrameColumn],
    rows: Iterable[FrameRow | Sequence[Cell | IntervalEstimate | Value]],
    notes: tuple[str, ...] = (),
    *,
    marks: Mapping[str, str] | None = None,
    long: bool = False,
    folded: bool = False,
) -> Frame | None:
    """A frame of rows of numbers; None without rows. ``marks``, ``long``, ``folded``: see :class:`Frame`.

    A number of a row is written as its column says: in one of percent or points it is a share (0 to 1), else
    it stands as it is; an interval likewise, with its ends. A cell (of :func:`p_value_cell`, say) stays as it is.
    """
    made = tuple(
        row if isinstance(row, FrameRow)
        else FrameRow(tuple(cell_of(column, value) for column, value in zip(columns, row, strict=True)))
        for row in rows
    )  # fmt: skip
    return Frame(key, title, tuple(columns), made, notes, (), marks or {}, long, folded) if made else None


def cell_of(column: FrameColumn, value: Cell | IntervalEstimate | Value) -> Cell:
    """A value as the cell of a column, see :func:`make_frame`."""
    if isinstance(value, Cell):
        return value
    factor = 100.0 if column.unit in ("%", "points") else 1.0
    if isinstance(value, IntervalEstimate):
        return scaled_cell(value, factor)
    if isinstance(value, str) or value is None:
        return Cell(value)
    return Cell(value if factor == 1 else factor * value)


def label_column(name: str) -> FrameColumn:
    return FrameColumn(name, "text")


def count_column(name: str) -> FrameColumn:
    return FrameColumn(name)


def percent_column(name: str, digits: int = 1) -> FrameColumn:
    return FrameColumn(name, digits=digits, unit="%")


def p_value_cell(p: float | None) -> Cell:
    """A p value, for a column of :func:`p_value`: written as :func:`format_p_value` does, one of 0.0001 and above a
    number."""
    return Cell(format_p_value(p) if p is not None and p < SMALL else p)


def points_column(name: str, digits: int = 1) -> FrameColumn:
    return FrameColumn(name, digits=digits, signed=True, unit="points")


def decimal_column(name: str, *, signed: bool = False) -> FrameColumn:
    return FrameColumn(name, digits=3, signed=signed)


def p_value(name: str) -> FrameColumn:
    return FrameColumn(name, digits=4)
