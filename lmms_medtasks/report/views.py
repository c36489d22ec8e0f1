"""Tables that a benchmark declares: a cell is the column's estimate over what row and column restrict to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from lmms_medtasks.report import document
from lmms_medtasks.report.cells import NONE, negate_estimate, number_cell, percent_cell
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.published import PublishedRowsSpec
from lmms_medtasks.samples.result_files import ResultFile
from lmms_medtasks.samples.table import QuestionTable, Where
from lmms_medtasks.statistics import confidence
from lmms_medtasks.statistics.intervals import IntervalEstimate
from lmms_medtasks.statistics.power import TestCriterion, detectable_with_error
from lmms_medtasks.suites.estimates import EMPTY, Count, Estimate

_WHOLE = 100.0
"""The largest difference that a scale of percent allows."""
Transform = Callable[[QuestionTable], QuestionTable]
"""Makes another table of a source's rows."""


@dataclass(frozen=True)
class ModelResults:
    """One model under one condition, with its questions: what a part of a report is about.

    Attributes:
        name: for people, unique within the report. rows: its questions, each once.
        every: the rows of all sources. resamples: number of bootstrap resamples; 0: none, and no intervals.
        asked: the runs that the rows are from, each with its tasks. condition: "" as released.
        runs_of_model: all runs of the same model with the same arguments by their numbers, these ones among them.
    """

    name: str
    rows: QuestionTable
    every: QuestionTable
    resamples: int
    asked: tuple[tuple[ResultFile, tuple[str, ...]], ...] = ()
    condition: str = ""
    runs_of_model: Mapping[int, ResultFile] = field(default_factory=dict)
    _known: dict[Any, tuple[Estimate, Mapping[str, IntervalEstimate]]] = field(
        default_factory=dict, compare=False, repr=False
    )
    _derived: dict[Any, ModelResults] = field(default_factory=dict, compare=False, repr=False)

    @property
    def run(self) -> ResultFile:
        return self.asked[0][0]

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(task for _, tasks in self.asked for task in tasks)

    def intervals(self, estimate: Estimate, where: Where | None = None) -> Mapping[str, IntervalEstimate]:
        """All statistics of an estimate over the rows that ``where`` restricts to; computed once."""
        # By identity: an estimate may hold functions and mappings, which have no hash of their own. The estimate is
        # kept beside its numbers, so that no other one can get its identity.
        key = id(estimate), tuple(sorted((where or {}).items(), key=str))
        if key not in self._known:
            self._known[key] = estimate, estimate.of(self.rows.where(where or {}), self.resamples > 0)
        return self._known[key][1]

    def derived(self, transform: Transform) -> ModelResults:
        """The results with a table made of these rows, such as one of pairs; made once."""
        if transform not in self._derived:
            rows = transform(self.rows)
            self._derived[transform] = replace(self, rows=rows, _known={}, _derived={})
        return self._derived[transform]

    def interval(self, estimate: Estimate, where: Where | None = None, statistic: str = "") -> IntervalEstimate:
        """One statistic of an estimate, the main one by default."""
        return self.intervals(estimate, where).get(statistic or estimate.main, EMPTY)


CellFunction = Callable[[ModelResults, "RowSpec", QuestionTable], Cell]
"""Makes a cell of the source, the row, and the questions that row and column restrict to."""


@dataclass(frozen=True)
class RowSpec:
    """A row: its labels (texts, or cells where a label has a mark), and the questions that it is about.

    ``estimates``: by a column's key, what stands in place of the column's own estimate; None leaves the cell empty.
    ``estimates_only``: columns without an entry there are empty too, as in a row for guessing, which is no model's.
    ``source``: whose row it is, where a table has rows of several sources.
    """

    labels: tuple[str | Cell | None, ...]
    where: Where = field(default_factory=dict)
    kind: document.Kind = "run"
    estimates: Mapping[str, Estimate | CellFunction | None] = field(default_factory=dict)
    source: ModelResults | None = None
    estimates_only: bool = False


@dataclass(frozen=True)
class ColumnSpec:
    """A column of numbers.

    Attributes:
        head: what stands above it. key: names it where two columns have one head; the head by default.
        of: the estimate of its cells, or a function that makes them; None: each row says it, or leaves it empty.
        unit: "%" and "points" are shares times 100, "drop" is a change in points with its sign turned, "n" is how many
            questions the estimate is over, "count" a number that is counted, "" a number as it is, "text" a text.
        within: a further restriction. statistic: which of the estimate's; its main one by default.
        bare: without the interval. signed: with a plus sign; points always are.
        mark: from the questions that a run's cell is about to its mark, as a sign.
        over: makes the table, of the rows of the source, that row and column restrict.
    """

    head: str
    of: Estimate | CellFunction | None = None
    unit: str = "%"
    digits: int = 1
    within: Where = field(default_factory=dict)
    statistic: str = ""
    bare: bool = False
    key: str = ""
    mark: Callable[[QuestionTable], str] | None = None
    signed: bool = False
    over: Transform | None = None

    @property
    def name(self) -> str:
        return self.key or self.head

    def column(self) -> document.FrameColumn:
        """How its cells are written."""
        if self.unit == "text":
            return document.FrameColumn(self.head, "text", key=self.key)
        if self.unit in ("n", "count"):
            return document.FrameColumn(self.head, key=self.key)
        signed, unit = self.signed or self.unit == "points", "points" if self.unit == "drop" else self.unit
        return document.FrameColumn(self.head, digits=self.digits, signed=signed, unit=unit, key=self.key)

    def difference(self, source: ModelResults, row: RowSpec) -> IntervalEstimate | None:
        """The difference of a row; None if the column has none, or its cell is made by a function."""
        of = row.estimates.get(self.name, None if row.estimates_only else self.of)
        where = _intersect_restrictions(row.where, self.within)
        if self.unit not in ("points", "drop") or not isinstance(of, Estimate) or where is None:
            return None
        return self._table(source).interval(of, where, self.statistic)

    def _table(self, source: ModelResults) -> ModelResults:
        return source.derived(self.over) if self.over else source

    def cell(self, source: ModelResults, row: RowSpec, *, with_interval: bool = False) -> Cell:
        """The cell of a row; ``with_interval`` also where the table leaves it out."""
        of = row.estimates.get(self.name, None if row.estimates_only else self.of)
        where = _intersect_restrictions(row.where, self.within)
        if of is None or where is None:
            return NONE
        table = self._table(source)
        if not isinstance(of, Estimate):
            return of(source, row, table.rows.where(where))
        estimate = table.interval(of, where, self.statistic)
        if self.unit == "n":
            return Cell(estimate.n)
        if isinstance(of, Count):
            counted = estimate.estimate
            return Cell(100 * counted if counted is not None and self.unit in ("%", "points") else counted)
        if self.unit in ("%", "points", "drop"):
            shown = negate_estimate(estimate) if self.unit == "drop" else estimate
            cell = percent_cell(shown, bare=self.bare and not with_interval)
        else:
            cell = number_cell(estimate)
        if self.mark and row.kind == "run" and cell.value is not None:
            return replace(cell, mark=self.mark(table.rows.where(where).where(of.where)) + cell.mark)
        return cell


def _intersect_restrictions(one: Where, other: Where) -> Where | None:
    """Both restrictions together; None if no row can fulfil both."""
    merged = dict(one)
    for name, value in other.items():
        if name in merged and merged[name] != value:
            first, second = (allowed if isinstance(allowed, tuple) else (allowed,) for allowed in (merged[name], value))
            common = tuple(allowed for allowed in first if allowed in second)
            if not common:
                return None
            value = common if len(common) > 1 else common[0]
        merged[name] = value
    return merged


Rows = Sequence[RowSpec] | Callable[[Sequence[ModelResults]], Sequence[RowSpec] | Iterator[RowSpec]]
Notes = tuple[str, ...] | Callable[[Sequence[ModelResults]], tuple[str, ...]]


@dataclass(frozen=True)
class TableSpec:
    """A table.

    Below one with differences that are estimates (columns in points) stands the smallest true difference that these
    data would have shown with 80 % probability: two-sided at alpha over the number of its differences, from their
    standard errors over clusters.

    Attributes:
        key: names its CSV file. labels: the heads of the columns of texts before the declared ones.
        title, rows, columns, notes: given, or made from the sources. marks: what marks of its own mean.
        long: a terminal leaves it to the files. folded: a page shows its title only until it is opened.
    """

    key: str
    title: str | Callable[[Sequence[ModelResults]], str]
    labels: tuple[str, ...]
    rows: Rows
    columns: tuple[ColumnSpec, ...] | Callable[[Sequence[ModelResults]], tuple[ColumnSpec, ...]]
    notes: Notes = ()
    published: PublishedRowsSpec | None = None
    marks: Mapping[str, str] = field(default_factory=dict)
    long: bool = False
    folded: bool = False

    def columns_of(self, sources: Sequence[ModelResults]) -> tuple[ColumnSpec, ...]:
        return self.columns(sources) if callable(self.columns) else self.columns

    def rows_of(self, sources: Sequence[ModelResults]) -> list[RowSpec]:
        return list(self.rows(sources) if callable(self.rows) else self.rows)

    def filled(self, sources: Sequence[ModelResults]) -> document.Frame | None:
        """The table with its numbers; None without rows."""
        rows, columns = self.rows_of(sources), self.columns_of(sources)
        if not rows:
            return None
        filled = [[column.cell(row.source or sources[0], row) for column in columns] for row in rows]
        note = _add_detectable(filled, rows, columns, sources)
        made = [
            document.FrameRow((*map(_label_cell, row.labels), *cells), row.kind)
            for row, cells in zip(rows, filled, strict=True)
        ]
        table = self._table(tuple(made), columns, sources)
        return replace(table, notes=(*table.notes, note)) if note else table

    def printed(self) -> document.Frame:
        return self._table((), self.columns_of(()), ())

    def printed_rows(self, columns: Sequence[ColumnSpec]) -> tuple[document.FrameRow, ...]:
        """Its published rows, the averages first."""
        return self.published.filled([column.name for column in columns]) if self.published else ()

    def heads(self, columns: Sequence[ColumnSpec]) -> tuple[document.FrameColumn, ...]:
        return (*(document.FrameColumn(name, "text") for name in self.labels), *(column.column() for column in columns))

    def charted(self, rows: Sequence[RowSpec], sources: Sequence[ModelResults]) -> document.Frame:
        """These rows with all intervals, also those that the table leaves out, and the published ones: for a chart."""
        columns, made = self.columns_of(sources), []
        for row in rows:
            source = row.source or sources[0]
            cells = (column.cell(source, row, with_interval=True) for column in columns)
            made.append(document.FrameRow((*map(_label_cell, row.labels), *cells), row.kind, source.name))
        return document.Frame(self.key, "", self.heads(columns), (*made, *self.printed_rows(columns)))

    def _table(
        self, rows: tuple[document.FrameRow, ...], columns: Sequence[ColumnSpec], sources: Sequence[ModelResults]
    ) -> document.Frame:
        return document.Frame(
            key=self.key,
            title=self.title(sources) if callable(self.title) else self.title,
            columns=self.heads(columns),
            rows=(*rows, *self.printed_rows(columns)),
            notes=self.notes(sources) if callable(self.notes) else self.notes,
            published_notes=self.published.notes if self.published else (),
            marks=self.marks,
            long=self.long,
            folded=self.folded,
        )


def _add_detectable(
    filled: Sequence[list[Cell]],
    rows: Sequence[RowSpec],
    columns: Sequence[ColumnSpec],
    sources: Sequence[ModelResults],
) -> str:
    """Add the detectable difference to each cell of a difference; return the note on them, "" without any."""
    places = [(row, place) for row in range(len(rows)) for place in range(len(columns))]
    differences = [columns[place].difference(rows[row].source or sources[0], rows[row]) for row, place in places]
    criterion = TestCriterion(
        comparisons=max(1, sum(1 for difference in differences if difference and difference.standard_error))
    )
    known = []
    for (row, place), each in zip(places, differences, strict=True):
        least = detectable_with_error(each.standard_error, each.clusters, criterion) if each else None
        if least is not None:
            known.append(100 * least)
            if least <= 1:
                filled[row][place] = replace(filled[row][place], detectable=100 * least)
    return _detectable_note(known)


def _detectable_note(known: Sequence[float]) -> str:
    """The sentence below a table on the differences, in points, that would have been found; "" without any."""
    if not known:
        return ""
    shown = [each for each in known if each <= _WHOLE]
    corrected = "" if len(known) == 1 else f", corrected for the {len(known)} differences of the table"
    test = f"by a two-sided test over images (items, cases) at {confidence.current_alpha():g}"
    criterion = f"with 80 % probability {test}{corrected} (each in the CSV file)"
    if not shown:
        none = f"no true difference that the scale allows would have been found {criterion}."
        return f"What these data can show: {none}"
    beyond = len(known) - len(shown)
    ends = list(dict.fromkeys(f"{end:.1f}" for end in (min(shown), max(shown))))
    said = f"a true difference of {' to '.join(ends)} points would have been found {criterion}."
    few = f" For {beyond} of the {len(known)} none that the scale allows would have been found." if beyond else ""
    return f"What these data can show: {said} A smaller one may be there unseen.{few}"


def _label_cell(label: str | Cell | None) -> Cell:
    return label if isinstance(label, Cell) else Cell(label)


def rows_by(
    *tags: str,
    labels: Callable[..., tuple[str, ...]] = lambda *values: tuple(map(str, values)),
) -> Callable[[Sequence[ModelResults]], list[RowSpec]]:
    """A row for each group of the first source that agrees in ``tags``."""
    return lambda sources: [
        RowSpec(labels(*values), dict(zip(tags, values, strict=True))) for values in sources[0].rows.by(tags)
    ]


def rows_of_sources(
    labels: Callable[[ModelResults], tuple[str, ...]], *more: RowSpec
) -> Callable[[Sequence[ModelResults]], list[RowSpec]]:
    """A row for each source, and after those ``more``, of the first source."""
    return lambda sources: [*(RowSpec(labels(source), source=source) for source in sources), *more]


def row_count(source: ModelResults, row: RowSpec, rows: QuestionTable) -> Cell:
    return Cell(len(rows))


class FigureSpec(Protocol):
    """A declared figure, such as a :class:`lmms_medtasks.report.charts.Chart`."""

    def figure(self, sources: Sequence[ModelResults]) -> document.ReportFigure | None:
        """The figure of these sources, None where they have none."""


@dataclass(frozen=True)
class SectionSpec:
    """A section of a report: tables, and figures drawn from them.

    ``shown``: whether these sources have it. ``paragraphs``: made from the sources. A table may also be a
    function that makes a document's table, for analyses across models that are no estimates of a row.
    ``folded``: a page shows its title and ``summary`` only until it is opened; so it
    does for a section without figures, as long as the part has others.
    """

    key: str
    title: str
    tables: tuple[TableSpec | Callable[[Sequence[ModelResults]], document.Frame | None], ...]
    figures: tuple[FigureSpec, ...] = ()
    shown: Callable[[Sequence[ModelResults]], bool] = lambda sources: True
    paragraphs: Callable[[Sequence[ModelResults]], tuple[str, ...]] = lambda sources: ()
    folded: bool = False
    summary: str = ""

    def section(self, sources: Sequence[ModelResults], drawn: bool) -> document.ReportSection | None:
        """The section; None where it has no table, or is not shown."""
        if not self.shown(sources):
            return None
        made = (table.filled(sources) if isinstance(table, TableSpec) else table(sources) for table in self.tables)
        tables = tuple(each for each in made if each is not None)
        if not tables:
            return None
        figures = (figure.figure(sources) for figure in self.figures) if drawn else ()
        return document.ReportSection(
            key=self.key,
            title=self.title,
            paragraphs=self.paragraphs(sources),
            tables=tables,
            figures=tuple(figure for figure in figures if figure is not None),
            folded=self.folded,
            summary=self.summary,
        )
