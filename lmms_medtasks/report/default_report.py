"""The report of a benchmark whose folder has no ``report.py``: tables by what its records have.

Every number is an estimate that the benchmark declares, or the mean of one of its main measures over a part of the
questions. Published rows come from ``reference/published.csv`` of the folder.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from lmms_medtasks.report import judged_tables, printed_metrics
from lmms_medtasks.report.about import own
from lmms_medtasks.report.default_tables import DeclaredTables
from lmms_medtasks.report.document import Flag
from lmms_medtasks.report.published import Published, read_rows
from lmms_medtasks.report.rotated_options import rotation_view
from lmms_medtasks.report.suite_report import Report, extent, question_ids
from lmms_medtasks.report.views import Row, Source, Table, View
from lmms_medtasks.samples.runs import printable
from lmms_medtasks.suites import judged_measures
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.suites.suite import Suite

_MOST_OPTIONS = 26


def default_report(suite: Suite, folder: Path | None) -> Report:
    """The report of ``suite``. ``folder``: the benchmark's, None where it is not known.

    Raises UserError, with file and line, for published rows that can't be read.
    """
    declared = DeclaredTables(suite)
    beside = View("published", "Beside published models", tuple(_beside(declared, folder) if folder else ()))
    return Report(
        views=(
            View("results", "Results", (declared.results(),)),
            beside,
            View("shift", "I.i.d. and out of distribution", (declared.shift(),)),
            View("levels", "Degradation", (declared.levels(),)),
            View("benefit", "Above what language alone gets", (declared.benefit,)),
            rotation_view({"rotation": tuple(range(_MOST_OPTIONS))}, declared.intervals[0]),
            View("tags", "By tag", (declared.tags(),)),
            View("judgements", "Judgements", (declared.judgements(), *judged_tables.judging_tables(_judgings)[1:])),
            View("replies", "Replies", (declared.outcomes(),)),
        ),
        compared=(
            View("models", "The runs together", (declared.models(),)),
            beside,
            View("differences", "Runs against each other, question by question", (declared.differences(),)),
            View("ways", "Asked otherwise", (declared.ways(),)),
        ),
        caveats=functools.partial(_caveats, suite),
        tests=lambda source: {task: question_ids(source.rows.where({"task": task})) for task in source.tasks},
    )


def _caveats(suite: Suite, source: Source) -> Iterator[Flag]:
    """Who judged, whether judgements are missing, and which numbers could not be made again."""
    import json

    yield from printed_metrics.caveats(suite, source)

    names = {json.loads(each)["name"] for each in source.rows.column("judge") if each}
    if names:
        yield Flag("note", f"Judged by {', '.join(sorted(map(printable, names)))}.")
    for task, judging in _judgings(source).items():
        yield from (Flag("warning", f"{task}: {text}") for text in judged_tables.constant_verdict(judging))
    for measure in suite.measures:
        obtained, requested = judged_measures.judgement_counts(source.rows, measure.name)
        if requested and obtained / requested < judged_measures.COMPLETE:
            said = "no mean" if np.isnan(_mean(source, measure.name)) else "the mean is over those"
            yield Flag(
                "warning",
                f"{requested - obtained:,} of {requested:,} judgements are missing: {said}. Fill the gaps without the "
                "model: lmms-medtasks judge RUN",
            )


def _judgings(source: Source) -> dict[str, judged_tables.Judging]:
    return judged_tables.judgings(source.rows, ["task"], str)


def _mean(source: Source, measure: str) -> float:
    value = Mean(measure=measure).value(source.rows)
    return np.nan if value is None else value


def _beside(declared: DeclaredTables, folder: Path) -> Iterator[Table]:
    """A table for each task that has published rows."""
    found = read_rows(folder, declared.suite.estimates)
    columns = tuple(declared.column(each) for each in declared.suite.metrics if found and each.name in found[0].numbers)
    for task in dict.fromkeys(row.texts["task"] for row in found):
        yield Table(
            f"published-{task}",
            task,
            ("model", "source"),
            functools.partial(_rows_of, task),
            columns,
            declared.intervals,
            Published(folder, {"task": task}),
        )


def _rows_of(task: str, sources: Sequence[Source]) -> list[Row]:
    asked = (each for each in sources if task in each.tasks)
    return [Row((each.name, str(own(extent(each)).value)), {"task": task}, source=each) for each in asked]
