"""A chart as it is declared beside its table: which of five kinds, and what of the table stands where."""

from __future__ import annotations

import functools
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from lmms_medtasks.errors import UserError, unknown_name_error
from lmms_medtasks.report import document
from lmms_medtasks.report.charts.planes import Guide
from lmms_medtasks.report.charts.svg import Axis, axis_of
from lmms_medtasks.report.document import PUBLISHED, Cell
from lmms_medtasks.report.views import ModelResults, TableSpec
from lmms_medtasks.samples.table import QuestionTable

Kind = Literal["ranges", "points", "plane", "heat", "bullets"]
Sort = Literal["", "falling", "rising"]
Names = Literal["legend", "points", "ends"]
Scale = Literal["", "fitted"]
KINDS: tuple[str, ...] = get_args(Kind)
Made = Callable[[Sequence[ModelResults]], document.Frame | None]


@dataclass(frozen=True)
class Mark:
    """A number of a chart: a row of its frame.

    Attributes:
        row, column: labels of the table's row, and head of its column. series: what tells it from others of its place.
        panel: title of its plot. kind: whose it is. group: of a published row. y: the number. x: where it stands
            across; without a value at the place ``column``. n: questions, None where the table does not say it.
        size: a number that its area stands for. href: where its row's name leads to.
    """

    row: str
    column: str
    series: str
    panel: str
    kind: document.Kind
    y: Cell
    x: Cell = Cell(None)
    n: int | None = None
    group: str = ""
    size: float | None = None
    total: float | None = None
    unit: str = ""
    signed: bool = False
    digits: int = 1
    href: str = ""

    @property
    def number(self) -> float | None:
        return None if self.y.value is None else float(self.y.value)

    @property
    def value(self) -> float:
        return float(self.y.value)  # type: ignore[arg-type]

    @property
    def is_published(self) -> bool:
        return self.kind in PUBLISHED

    @property
    def rank(self) -> float | None:
        """What its row is ranked by, of the row's last mark: its total, or its number."""
        return self.total if self.total is not None else self.number

    def as_record(self, chart: ChartSpec) -> dict[str, Any]:
        """The mark as a row of a data frame: ``name`` its row in the chart, ``place`` what it is of there."""
        name, place = (self.column, self.row) if chart.turned else (self.row, self.column)
        series = self.series if chart.turned or chart.kind == "plane" else self.column
        return {
            "panel": self.panel, "name": name, "place": place, "series": series, "whose": self.kind,
            "x": self.x.value, "x low": self.x.low, "x high": self.x.high, "value": self.y.value, "low": self.y.low,
            "high": self.y.high, "unit": self.unit, "n": self.n,
        }  # fmt: skip


@dataclass(frozen=True)
class ChartSpec:
    """A chart over the rows of a table. Rows of kind "run" are ours, "counts" what guessing gets, others published.

    A table with rows of one source is filled for each of several. A chart none of whose own rows has a number is none.

    Attributes:
        kind: ``ranges``: a row a row, from the first column to the last. ``points``: a row a row, a mark a column.
            ``plane``: a column against another one, or over places, a column each. ``heat``: numbers on colours.
            ``bullets``: a number a row on its scale.
        key, title, about: of the figure. ``about`` may be made from the sources.
        table: declared, made from the sources, or the key of one that :meth:`of` is given. numbers: the key of the
            table below the figure; its own by default.
        columns: names of columns of numbers, () for all; of a plane also panel -> names.
        x: of a plane the column across, of numbers or of texts.
        name, series, panel, group: columns of texts: a row's name (the first by default), what tells marks apart, what
            each panel is of, and groups of published rows.
        size, total: columns of numbers: what a mark's area stands for, what stands at a row's end.
        heads: what stands in place of a name of a column or a text.
        where: own rows that are drawn, by a column of texts. rest: of what is drawn of a column what is left
            to this number.
        printed: so many published rows, evenly spaced by rank; 0 draws all.
        sort: own rows by their total or last number, "falling" or "rising".
        turned: whether columns are the chart's rows.
        joined: whether a line joins the marks of a series. names: where a plane has them. steps: whether series
            are steps, from a ring to a disc.
        axis: titles of the axes. scale: "fitted" to the numbers.
        ends: of the scale of bullets; of percent 0 and 100, else around the numbers.
        diagonal: whether a line says where both numbers are equal. guide: from the rows of a source to another line.
        worst: whether the series that falls most has the colour of harm.
        shown: whether these sources have it. folded: a page shows its title only, as long as there are others.

    Raises UserError, with the line of the declaration, for a kind or a column that is not there.
    """

    kind: Kind
    key: str
    title: str
    about: str | Callable[[Sequence[ModelResults]], str]
    table: TableSpec | Made | str
    columns: Sequence[str] | Mapping[str, Sequence[str]]
    x: str = ""
    name: str = ""
    series: str = ""
    panel: str = ""
    group: str = ""
    size: str = ""
    total: str = ""
    heads: Mapping[str, str] = field(default_factory=dict)
    where: Mapping[str, str] = field(default_factory=dict)
    rest: Mapping[str, float] = field(default_factory=dict)
    printed: int = 0
    sort: Sort = ""
    turned: bool = False
    joined: bool = False
    names: Names = "legend"
    steps: bool = False
    axis: Sequence[str] = ()
    scale: Scale = ""
    ends: tuple[float, float] | None = None
    diagonal: bool = False
    guide: Callable[[QuestionTable], Guide] | None = None
    worst: bool = False
    shown: Callable[[Sequence[ModelResults]], bool] = lambda sources: True
    folded: bool = False
    numbers: str = ""
    declared: str = field(init=False, default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "declared", _calling_line())
        for what, got, allowed in (
            ("kind of chart", self.kind, Kind),
            ("sort", self.sort, Sort),
            ("names", self.names, Names),
            ("scale", self.scale, Scale),
        ):
            if got not in get_args(allowed):
                raise unknown_name_error(what, got, filter(None, get_args(allowed)), self.declared)
        if self.kind == "bullets" and len(self.columns) != 1:
            raise UserError(f"{self.declared}: a chart of bullets has one column; got {len(self.columns)}.")
        if isinstance(self.table, TableSpec) and not callable(self.table.columns):
            self.marks_of(
                document.Frame(self.table.key, "", self.table.heads(self.table.columns), ())
            )  # for its errors

    def chosen(self, marks: Sequence[Mark]) -> dict[str, list[Mark]]:
        """The published rows that are drawn, the best first where not all are."""
        rows: dict[str, list[Mark]] = {}
        for mark in marks:
            if mark.kind == "reference":
                rows.setdefault(mark.row, []).append(mark)
        if not self.printed:
            return rows
        ranks = {name: own[-1].rank for name, own in rows.items()}
        ranked = sorted((name for name in rows if ranks[name] is not None), key=lambda name: -(ranks[name] or 0.0))
        step = (len(ranked) - 1) / max(self.printed - 1, 1)
        places = dict.fromkeys(round(number * step) for number in range(min(self.printed, len(ranked))))
        return {ranked[place]: rows[ranked[place]] for place in places}

    def marks(self, sources: Sequence[ModelResults]) -> list[Mark]:
        """What is drawn of these sources."""
        if isinstance(self.table, TableSpec):
            rows = self.table.rows_of(sources)
            apart = len(sources) > 1 and not any(row.source for row in rows)
            if apart:
                of_sources = ((source, row) for source in sources for row in self.table.rows_of([source]))
                rows = [
                    replace(row, source=each) for each, row in of_sources if row.kind == "run" or each is sources[0]
                ]
            return self.marks_of(self.table.charted(rows, sources), apart=apart)
        made = self.table(sources) if callable(self.table) else None
        return self.marks_of(made) if made else []

    def marks_of(self, table: document.Frame, *, apart: bool = False) -> list[Mark]:
        """The marks of a table; ``apart``: of rows that it has for each of several sources."""
        place = functools.partial(self._place, table)
        place_of_number = functools.partial(self._place, table, kind="number")
        numbers = [each.key or each.name for each in table.columns if each.kind == "number"]
        panels = dict(self.columns) if isinstance(self.columns, Mapping) else {"": self.columns or numbers}
        texts = {each: place(each) for each in (self.name, self.series, self.panel, self.group, *self.where) if each}
        over = place(self.x) if self.x else None
        size, total = (place_of_number(name) if name else None for name in (self.size, self.total))
        places = {column: place_of_number(column) for columns in panels.values() for column in columns}
        found, times = [], Counter[tuple[str, ...]]()
        for row in table.rows:
            if row.kind == "run" and any(_cell_text(row, texts[name]) != text for name, text in self.where.items()):
                continue
            name = _cell_text(row, texts.get(self.name, 0))
            # Beside a mark stands the short name, its tooltip has the whole.
            name = name if self.names == "points" else self.heads.get(name, name)
            group = _cell_text(row, texts[self.group]).removeprefix("published, ") if self.group else ""
            for panel, columns in panels.items():
                title = _cell_text(row, texts[self.panel]) if self.panel else panel
                for column in columns:
                    at = places[column]
                    own = table.columns[at]
                    head = self.heads.get(column, own.name)
                    x = Cell(None) if over is None or table.columns[over].kind == "text" else row.cells[over]
                    across = _cell_text(row, over) if over is not None and table.columns[over].kind == "text" else head
                    said = head if self.x and len(columns) > 1 else ""
                    of = said or name
                    if self.series:
                        of = _cell_text(row, texts[self.series])
                    elif (apart and row.source) or (self.x and self.joined and not said):
                        of = row.source
                    times[same := (name, across, panel, row.kind)] += 1
                    # Another row of one name is drawn too: else it would replace the first.
                    again = f" ({times[same]})" if times[same] > 1 and row.kind != "counts" else ""
                    found.append(Mark(
                        name + again * (self.kind != "plane"), self.heads.get(across, across), self.heads.get(of, of),
                        self.heads.get(title, title), row.kind, self._cell(column, row.cells[at]),
                        self._cell(self.x, x), row.cells[at].n, group,
                        _cell_number(row, size), _cell_number(row, total),
                        own.unit, own.signed, own.digits, row.cells[texts.get(self.name, 0)].href,
                    ))  # fmt: skip
        return self._sorted(found) if self.sort else found

    def _sorted(self, marks: Sequence[Mark]) -> list[Mark]:
        """Marks with own rows by the rank of their last one, those without one last."""
        own = rows_of(self, (mark for mark in marks if mark.kind == "run"))
        sign = -1 if self.sort == "falling" else 1
        rows = sorted(own.values(), key=lambda row: (row[-1].rank is None, sign * (row[-1].rank or 0.0)))
        return [*(each for row in rows for each in row), *(mark for mark in marks if mark.kind != "run")]

    def _place(self, table: document.Frame, name: str, kind: str = "") -> int:
        """Where a column stands, by its name; of a ``kind`` ("number", "text"; "": any)."""
        names = [column.key or column.name for column in table.columns]
        own = [said for said, each in zip(names, table.columns, strict=True) if kind in ("", each.kind)]
        if name not in own:
            what = f"{kind} column" if name in names else "column"
            raise unknown_name_error(f"{what} of table {table.key!r}", name, own, self.declared)
        return names.index(name)

    def _cell(self, column: str, cell: Cell) -> Cell:
        """A cell as it is drawn: of ``rest`` what is left, with its interval turned."""
        if not isinstance(cell.value, int | float) or not math.isfinite(cell.value):
            return Cell(None, mark=cell.mark)
        if column not in self.rest:
            return cell
        best = self.rest[column]
        low, high = (None if end is None else best - end for end in (cell.high, cell.low))
        return Cell(best - cell.value, low, high, cell.mark)


def rows_of(chart: ChartSpec, marks: Iterable[Mark]) -> dict[str, list[Mark]]:
    """Marks by the row of the chart that they stand in."""
    rows: dict[str, list[Mark]] = {}
    for mark in marks:
        rows.setdefault(mark.column if chart.turned else mark.row, []).append(mark)
    return rows


def own_rows(chart: ChartSpec, marks: Sequence[Mark]) -> dict[str, list[Mark]]:
    """The rows that are ours and have a number."""
    rows = rows_of(chart, (mark for mark in marks if mark.kind == "run"))
    return {name: row for name, row in rows.items() if any(mark.number is not None for mark in row)}


def axis_around(marks: Sequence[Mark], title: str = "", most: int = 5) -> Axis:
    """An axis with round ticks around the numbers of marks and their intervals; of changes with 0."""
    zero = [0.0] if any(mark.signed for mark in marks) else []
    ends = (end for mark in marks for end in (mark.number, mark.y.low, mark.y.high))
    return axis_of([*zero, *ends], title, most=most)


def _cell_text(row: document.FrameRow, place: int) -> str:
    value = row.cells[place].value
    return "" if value is None else str(value)


def _cell_number(row: document.FrameRow, place: int | None) -> float | None:
    value = None if place is None else row.cells[place].value
    return value if isinstance(value, int | float) else None


def _calling_line() -> str:
    frame: Any = sys._getframe(2)
    while frame and ("dataclasses" in frame.f_code.co_filename or frame.f_code.co_filename in ("<string>", __file__)):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}, line {frame.f_lineno}" if frame else ""
