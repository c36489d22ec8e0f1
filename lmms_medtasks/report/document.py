"""What a report is made of, whatever it is about and however it is written: sections of tables and figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from lmms_medtasks.statistics.confidence import fill_in_level

EMPTY = "–"
"""What an empty cell shows: nothing was there to measure. It is never 0."""

_WIDEST, _NARROWEST, _BETWEEN, _LOOKED_AT = 150, 18, 3, 40
"""Letters: on a line of a page, in a column of texts, between columns. Rows that a table's width is guessed from."""

MARKS = {
    "‖": "No interval: there are fewer than five images (items, cases), in all or in one of the groups "
    "that are averaged.",
    "°": "No interval: all images give the same value, which tells nothing of how others would vary.",
    "*": "No interval: the number can't be computed once one of the images is left out.",
    "¶": "No interval: the denominator of this ratio may be 0.",
    "∂": "Over fewer groups than the paper's average: some have no question here.",
}


@dataclass(frozen=True, slots=True)  # a table of scores has millions
class Cell:
    """A value, None if there is none; numbers may have an interval, or a standard deviation over seeds.

    ``mark`` is a key of :data:`MARKS` or of its table's own marks, or "". ``href``: where a page links it to, or "".
    ``n``: of an estimate how many questions it is over. ``stderr_clustered``: of a mean with an interval Miller's
    clustered standard error, for files. ``reason``: why a number has no interval, for files. ``detectable``: of a
    difference, the smallest that would have been shown, see :class:`lmms_medtasks.report.views.TableSpec`; for files.
    ``tier``: of a ranked number 1 where nobody is better beyond chance, 2 for the next group, 3 for the others; a page
    tints it. 0: not ranked.
    """

    value: str | int | float | None
    low: float | None = None
    high: float | None = None
    mark: str = ""
    sd: float | None = None
    href: str = ""
    reason: str | None = None
    detectable: float | None = None
    tier: int = 0
    stderr_clustered: float | None = None
    n: int | None = None


Value = str | int | float | None
MORE = ("low", "high", "stderr_clustered", "sd", "reason", "detectable")
"""What of a cell stands beside its value in files and data frames, a column each where any cell has it."""


@dataclass(frozen=True)
class FrameColumn:
    """A column of a frame: its name, and how its numbers are written; ``unit`` ("%", "points") stands in its head.

    ``fewer``: the least number is the best, and comes first where a page sorts by the column. ``long``: a screen leaves
    it to the files. ``letters``: a screen cuts its texts to so many; 0: they are wrapped. ``key``: what charts call it
    where two columns have one name; the name if "".
    """

    name: str
    kind: Literal["text", "number"] = "number"
    digits: int = 0
    signed: bool = False
    unit: str = ""
    fewer: bool = False
    long: bool = False
    letters: int = 0
    key: str = ""

    @property
    def head(self) -> str:
        return f"{self.name} ({self.unit})" if self.unit else self.name

    def text(self, cell: Cell) -> str:
        """The cell for people: ``52.3 [50.1, 54.4]``, ``52.3 ± 0.4``."""
        return " ".join(filter(None, self.parts(cell)))

    def parts(self, cell: Cell) -> tuple[str, str]:
        """Its value and its interval, "" without one: writers may put the interval on a line of its own."""
        if isinstance(cell.value, str):
            return cell.value + cell.mark, ""
        if cell.value is None or math.isnan(cell.value):
            return EMPTY, ""
        deviation = "" if cell.sd is None else f" ± {cell.sd:,.{self.digits}f}"
        if cell.low is None or cell.high is None:
            return f"{self._number(cell.value)}{deviation}{cell.mark}", ""
        interval = f"[{self._number(cell.low)}, {self._number(cell.high)}]"
        return self._number(cell.value), f"{interval}{deviation}{cell.mark}"

    def _number(self, value: float) -> str:
        text = f"{value:{'+' if self.signed else ''},.{self.digits}f}"
        # A number that is rounded to nothing has no sign.
        return text.lstrip("+-") if not text.strip("+-0.,") else text


Kind = Literal["run", "counts", "average", "reference"]
PUBLISHED: tuple[Kind, ...] = ("average", "reference")


@dataclass(frozen=True)
class FrameRow:
    """A row of a frame; ``kind`` says whose it is: this run's, counts of questions, published averages, or a published
    model's. ``source``: the name of the source that it is of, for charts of several.
    """

    cells: tuple[Cell, ...]
    kind: Kind = "run"
    source: str = ""


@dataclass(frozen=True)
class Frame:
    """A result: a table with its numbers, which writers write, charts draw and notebooks read.

    A benchmark declares a :class:`lmms_medtasks.report.views.TableSpec`, which estimates fill, or makes a frame with
    :func:`lmms_medtasks.report.cells.make_frame`.

    Attributes:
        key: names its CSV file. notes: stand below it. published_notes: stand there too if it has published rows.
        marks: what marks of its own mean, beside :data:`MARKS`.
        long: a terminal leaves it to the files. folded: the page shows its title only until it is opened.
    """

    key: str
    title: str
    columns: tuple[FrameColumn, ...]
    rows: tuple[FrameRow, ...]
    notes: tuple[str, ...] = ()
    published_notes: tuple[str, ...] = ()
    marks: Mapping[str, str] = field(default_factory=dict)
    long: bool = False
    folded: bool = False

    def __post_init__(self) -> None:
        for name in ("notes", "published_notes"):
            object.__setattr__(self, name, tuple(map(fill_in_level, getattr(self, name))))

    def fields(self) -> Iterator[tuple[FrameColumn, str, list[Value]]]:
        """What files and data frames are made of, column by column: the values of all rows, "" as the name.

        Behind them what of :data:`MORE` any of the cells has, by its name.
        """
        for place, column in enumerate(self.columns):
            cells = [row.cells[place] for row in self.rows]
            yield column, "", [cell.value for cell in cells]
            for name in MORE:
                more = [getattr(cell, name) for cell in cells]
                if any(each is not None for each in more):
                    yield column, name, more

    def tidy(self) -> list[dict[str, Value]]:
        """A record for each number: its row (from 1), the row's kind and texts, its column, and what is known of it.

        Plain records, since a screen needs no library for frames: ``pandas.DataFrame(table.tidy())`` and
        ``pyarrow.Table.from_pylist(table.tidy())`` both read them.
        """
        heads = [place for place, column in enumerate(self.columns) if column.kind == "text"]
        return [
            {
                "table": self.key, "row": number, "kind": row.kind,
                **{self.columns[place].name: row.cells[place].value for place in heads},
                "column": column.head, "value": cell.value, **{name: getattr(cell, name) for name in MORE},
                "n": cell.n, "mark": cell.mark,
            }
            for number, row in enumerate(self.rows, start=1)
            for column, cell in zip(self.columns, row.cells, strict=True)
            if column.kind == "number"
        ]  # fmt: skip

    def without(self, *kinds: Kind) -> Frame:
        return replace(self, rows=tuple(row for row in self.rows if row.kind not in kinds))

    @property
    def squeeze(self) -> Literal["", "below", "broken"]:
        """Where intervals stand for which a line of a page is too short: below their numbers, or broken there too.

        As far as its first rows tell.
        """
        line = below = 0
        for place, column in enumerate(self.columns):
            parts = [column.parts(row.cells[place]) for row in self.rows[:_LOOKED_AT]]
            texts = [" ".join(each) for each in parts]
            # Texts are broken between words, numbers are not.
            is_text = column.kind == "text"
            words = max(map(len, [*column.head.split(), *(" ".join(texts).split() if is_text else ())]), default=0)
            numbers = [] if is_text else texts
            line += _BETWEEN + max(words, _NARROWEST if is_text else 0, *map(len, numbers))
            below += _BETWEEN + max(words, 0, *(0 if is_text else len(part) for each in parts for part in each))
        return "" if line <= _WIDEST else "below" if below <= _WIDEST else "broken"

    @property
    def all_notes(self) -> tuple[str, ...]:
        """The notes, and what the marks in the cells mean."""
        published = self.published_notes if any(row.kind in PUBLISHED for row in self.rows) else ()
        return (*published, *self.notes, *(f"{mark} {text}" for mark, text in self.meanings.items()))

    @property
    def meanings(self) -> Mapping[str, str]:
        """What the marks in the cells mean; one that is not known as a whole is several signs."""
        known = {**MARKS, **self.marks}
        used = {cell.mark for row in self.rows for cell in row.cells}
        signs = {sign for mark in used for sign in ((mark,) if mark in known else mark)}
        return {mark: text for mark, text in known.items() if mark in signs}


@dataclass(frozen=True)
class ReportFigure:
    """A drawing as an SVG element, and the key of the table that has its numbers.

    ``folded``: a page shows its title only until it is opened. ``kind``, ``marks``: which of the kinds of
    :mod:`lmms_medtasks.report.charts` it is, and what is drawn in it, a mark a record.
    """

    key: str
    title: str
    about: str
    svg: str
    table: str
    folded: bool = False
    kind: str = ""
    marks: tuple[dict[str, Any], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "about", fill_in_level(self.about))


@dataclass(frozen=True)
class ReportSection:
    """A section of a part: paragraphs, items of a list, figures, tables.

    ``folded``: a page shows its title only until it is opened, see :attr:`ReportChapter.open_sections`. ``summary``:
    stands beside the title of a folded one, made of the titles of its figures and tables if "".
    """

    key: str
    title: str
    paragraphs: tuple[str, ...] = ()
    tables: tuple[Frame, ...] = ()
    figures: tuple[ReportFigure, ...] = ()
    folded: bool = False
    summary: str = ""
    items: tuple[str, ...] = ()

    @property
    def contents(self) -> str:
        """Its summary, else the titles of what is in it, without the section's own."""
        titles = (*(figure.title for figure in self.figures), *(table.title for table in self.tables))
        return self.summary or "; ".join(title for title in dict.fromkeys(titles) if title != self.title)

    @property
    def charts(self) -> tuple[tuple[ReportFigure, tuple[Frame, ...]], ...]:
        """The figures that are shown at once, each with the table of its numbers; of several with one table the last.

        Where all are folded, all are shown.
        """
        shown = [figure for figure in self.figures if not figure.folded] or list(self.figures)
        last = {figure.table: figure for figure in shown}
        tables = ((table for table in self.tables if last.get(table.key) is figure) for figure in shown)
        return tuple(zip(shown, map(tuple, tables), strict=True))

    @property
    def rest(self) -> tuple[tuple[ReportFigure, ...], tuple[Frame, ...]]:
        """The figures and the tables that are in none of ``charts``."""
        drawn = [figure.key for figure, _ in self.charts]
        under = [table.key for _, tables in self.charts for table in tables]
        figures = tuple(figure for figure in self.figures if figure.key not in drawn)
        return figures, tuple(table for table in self.tables if table.key not in under)


@dataclass(frozen=True)
class ReportNotice:
    """Something the reader must know before the numbers: "warning" limits what they may be used for."""

    kind: Literal["warning", "note"]
    text: str


@dataclass(frozen=True)
class ReportChapter:
    """The report of one task set of one run, or the comparison of several.

    ``origin``: what the columns of each CSV say of the run that its rows are from, a name and a text each.
    ``suite``: the benchmark's title, "" of what is about none; ``name``: the title without it.
    """

    key: str
    title: str
    facts: tuple[tuple[str, str], ...]
    flags: tuple[ReportNotice, ...]
    sections: tuple[ReportSection, ...]
    origin: tuple[tuple[str, str], ...] = ()
    suite: str = ""
    name: str = ""

    def with_tables(self, change: Callable[[Frame], Frame]) -> ReportChapter:
        """The part with each table changed, without those that then have no row."""
        tables = [[changed for table in section.tables if (changed := change(table)).rows] for section in self.sections]
        pairs = zip(self.sections, map(tuple, tables), strict=True)
        return replace(self, sections=tuple(replace(section, tables=changed) for section, changed in pairs))

    def without(self, *kinds: Kind) -> ReportChapter:
        """The part without the rows of these kinds, and without tables that have no other ones."""
        return self.with_tables(lambda table: table.without(*kinds))

    @property
    def open_sections(self) -> tuple[ReportSection, ...]:
        """The sections that a page shows at once: those with figures that are not folded; without such ones the first.

        A reader comes for the charts; the page has the other sections below them, a line each.
        """
        drawn = tuple(section for section in self.sections if section.figures and not section.folded)
        return drawn or self.sections[:1]

    @property
    def folded_sections(self) -> tuple[ReportSection, ...]:
        shown = {open_section.key for open_section in self.open_sections}
        return tuple(section for section in self.sections if section.key not in shown)
