"""A report as an object: tables as data frames, figures as objects, and the texts that are written of it."""

from __future__ import annotations

import functools
import html
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING

from lmms_medtasks.errors import UserError, check_count
from lmms_medtasks.report.document import Frame, ReportChapter
from lmms_medtasks.report.first_screen import ReportDocument
from lmms_medtasks.report.report_options import RESAMPLES, ReportOptions
from lmms_medtasks.report.reported_suites import build_report
from lmms_medtasks.samples.runs import RunPaths, list_run_paths
from lmms_medtasks.statistics.confidence import DEFAULT, current_level, use_level
from lmms_medtasks.writing import write_text_atomically

if TYPE_CHECKING:
    from pandas import DataFrame

_HEIGHT = 640
_WIDTH = 760
"""Of a chart by itself, in pixels; on a page it is as wide as its place."""


@dataclass(frozen=True)
class SvgChart:
    """A chart of a report as SVG. A notebook shows it; for a plot of your own take the numbers of the tables.

    Attributes:
        title: What it shows.
    """

    title: str
    _element: str = field(repr=False)
    _kind: str = field(default="", repr=False)
    _records: tuple[dict[str, object], ...] = field(default=(), repr=False)

    @property
    def svg(self) -> str:
        """The chart as an SVG document that needs no style sheet, in the colours of a light page, on white."""
        from lmms_medtasks.report.report_page import chart_styles

        head, rest = self._element.split(">", 1)
        head = head.replace('width="100%"', f'width="{_WIDTH}"', 1)
        return f'{head} style="background: #ffffff"><style>{chart_styles()}</style>{rest}'

    @property
    def frame(self) -> DataFrame:
        """What is drawn, a mark a row: where it stands, whose it is, its number, interval and number of questions."""
        import pandas as pd

        return pd.DataFrame(list(self._records))

    @property
    def vega_lite(self) -> dict[str, object]:
        """The chart as a Vega-Lite specification with its data; ``altair.Chart.from_dict`` and others read it."""
        from lmms_medtasks.report.charts.vega import vega_lite_specification

        return vega_lite_specification(self._kind, self.title, self._records)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the chart to a file ``*.svg``, and return its path. Raises UserError for another ending."""
        target = Path(path).expanduser()
        if target.suffix != ".svg":
            raise UserError(f"This chart is saved to a file *.svg, not to {target}. Its numbers are in the tables.")
        write_text_atomically(target, self.svg)
        return target

    def _repr_svg_(self) -> str:
        return self.svg


class RunReport:
    """The report of runs, as ``lmms-medtasks report`` writes it. A notebook shows it as its page.

    ``print`` shows its first screen, as the command does.

    Attributes:
        document: What the report is made of.
        confidence: The probability with which its intervals hold the true numbers.
    """

    def __init__(self, document: ReportDocument) -> None:
        self.document = document
        self.confidence = current_level()

    @property
    def title(self) -> str:
        """The report's title."""
        return self.document.title

    @functools.cached_property
    def tables(self) -> Mapping[str, DataFrame]:
        """Name -> table, numbers as they were computed.

        Columns are named as in the report; an interval stands in the columns ``NAME low`` and ``NAME high``, why there
        is none in ``NAME reason``. ``row`` says whose a row is: "run", "counts", "average", "reference". The title and
        the notes of a table are in its ``attrs``.
        """
        return {name: _as_data_frame(table) for name, table, _ in _named_tables(self.document)}

    @functools.cached_property
    def figures(self) -> Mapping[str, SvgChart]:
        """Name -> :class:`SvgChart`. {} where the report was made without figures."""
        several = len(self.document.parts) > 1
        return {
            f"{part.key}-{figure.key}" if several else figure.key: SvgChart(
                figure.title, figure.svg, figure.kind, figure.marks
            )
            for part in self.document.parts
            for section in part.sections
            for figure in section.figures
        }

    @property
    def warnings(self) -> list[str]:
        """What limits what the numbers may be used for, a sentence each."""
        flags = [flag.text for part in self.document.parts for flag in part.flags if flag.kind == "warning"]
        return [*self.document.unread, *flags]

    @property
    def html(self) -> str:
        """The report as one HTML page that needs nothing else."""
        from lmms_medtasks.report.report_page import render_html

        with use_level(self.confidence):
            return render_html(self.document)

    @property
    def markdown(self) -> str:
        """The report as Markdown, without figures."""
        from lmms_medtasks.report.markdown import render_markdown

        return render_markdown(self.document)

    def save(self, path: str | os.PathLike[str]) -> list[Path]:
        """Write the report, and return the files.

        ``path``: a file ``*.html`` or ``*.md``, or a folder for report.html, report.md and a CSV file a table.
        Raises UserError where another file is named, or a file stands where the folder is to be.
        """
        target = Path(path).expanduser()
        one_file = {".html": "html", ".md": "markdown"}.get(target.suffix)
        if one_file and not target.is_dir():
            write_text_atomically(target, getattr(self, one_file))
            return [target]
        if target.is_file() or target.suffix in (".csv", ".pdf", ".txt", ".json", ".xlsx"):
            raise UserError(f"A report is saved to a folder, or to a file *.html or *.md, not to {target}.")
        from lmms_medtasks.report.csv_writer import render_csv

        texts = {"report.md": self.markdown, "report.html": self.html}
        with use_level(self.confidence):
            texts |= {
                f"{name}.csv": render_csv(table, part.origin) for name, table, part in _named_tables(self.document)
            }
        for name, text in texts.items():
            write_text_atomically(target / name, text)
        return [target / name for name in texts]

    def __str__(self) -> str:
        from lmms_medtasks.report.terminal import first_screen_lines, screen_text

        first = self.document.first
        if first is None:
            return screen_text(self.document)
        unread = [f"! Left out: {text}" for text in self.document.unread]
        return "\n".join([*unread, *(line.plain for line in first_screen_lines(first, self.title))])

    def __repr__(self) -> str:
        tables = sum(1 for _ in self.document.tables())
        figures = sum(len(section.figures) for part in self.document.parts for section in part.sections)
        counts = ((tables, "table"), (figures, "figure"), (len(self.warnings), "warning"))
        said = ", ".join(f"{count} {what}{'' if count == 1 else 's'}" for count, what in counts)
        return f"{type(self).__name__}({self.title!r}: {said})"

    def _repr_html_(self) -> str:
        # A frame of its own: the page's styles must not reach the notebook.
        page = html.escape(self.html)
        return f'<iframe srcdoc="{page}" width="100%" height="{_HEIGHT}" style="border: 1px solid #b4bac2"></iframe>'


def report(
    runs: RunPaths,
    *,
    figures: bool = True,
    resamples: int = RESAMPLES,
    pairs: Iterable[tuple[str, str]] = (),
    parameters: Mapping[str, float] | None = None,
    confidence: float = DEFAULT,
    include_path: RunPaths = (),
) -> RunReport:
    """The report of runs: what ``lmms-medtasks report`` prints, as an object.

    Args:
        runs: A folder with result files somewhere below, a ``*_results.json``, several of these, or what
            :func:`evaluate` gave.
        figures: Whether figures are drawn.
        resamples: Draws at most, where models are compared by drawing; 0: no intervals and no tests there.
        pairs: Two models each that are to be compared, a base and the one that was made from it, by the names that the
            report gives them.
        parameters: Number of parameters by model.
        confidence: The probability with which an interval holds the true number, 0.5 to 0.9999; 1 less it is the level
            of the tests.
        include_path: Folders of benchmarks that are not installed and declare measures of their own.

    Returns:
        A :class:`~lmms_medtasks.report.run_report.RunReport`: ``tables`` (data frames by name), ``figures`` (charts as
        SVG by name), ``html``, ``markdown``, ``warnings``, ``save(path)``. A notebook shows the page.

    Raises:
        UserError: A confidence that is none, a path that is not there or holds no run, a run without a task of a
            benchmark or on degraded pictures, only sample logs that are missing, cut off or of another version. Where
            some can be read, the report is of those, and its first ``warnings`` name the others.

    Example:
        >>> made = report("runs/")  # doctest: +SKIP
        >>> list(made.tables), list(made.figures)  # doctest: +SKIP
    """
    from lmms_medtasks.suites import registry

    registry.add_suite_folders(list_run_paths(include_path))
    check_count(resamples, "resamples")
    sizes = parameters.values() if isinstance(parameters, Mapping) else [1] if parameters is None else [0]
    if not all(isinstance(size, Real) and 0 < size < math.inf for size in sizes):
        raise UserError(f"parameters must be a number above 0 by model, such as {{'A': 7e9}}, got {parameters!r:.80}.")
    given = list(pairs) if isinstance(pairs, Iterable) else [pairs]
    if not all(isinstance(pair, list | tuple) and list(map(type, pair)) == [str, str] for pair in given):
        raise UserError(f"pairs must be pairs of models' names, such as [('base', 'tuned')], got {given!r:.80}.")
    options = ReportOptions(resamples=resamples, drawn=figures, pairs=tuple(given), parameters=dict(parameters or {}))
    with use_level(confidence):
        return RunReport(build_report(list_run_paths(runs), options))


def _named_tables(document: ReportDocument) -> Iterable[tuple[str, Frame, ReportChapter]]:
    several = len(document.parts) > 1
    return [(f"{part.key}-{table.key}" if several else table.key, table, part) for part, table in document.tables()]


def _as_data_frame(table: Frame) -> DataFrame:
    import pandas as pd

    columns = [pd.Series(values, name=f"{column.head} {name}".strip()) for column, name, values in table.fields()]
    frame = pd.concat([*columns, pd.Series([row.kind for row in table.rows], name="row")], axis="columns")
    frame.attrs = {"title": table.title, "notes": list(table.all_notes)}
    return frame
