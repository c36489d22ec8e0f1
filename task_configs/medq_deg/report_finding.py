"""MedQ-Deg on the first screen of a report: accuracy by level, and what severe degradation costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lmms_medtasks.report.charts import Chart
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.findings import Change, Number, Sketch, chance_of_options, is_lost
from lmms_medtasks.report.headlines import BoardColumn, Headline
from lmms_medtasks.report.published import span
from lmms_medtasks.report.views import Column, Row, Source, Table
from lmms_medtasks.samples.runs import model_name
from lmms_medtasks.short_texts import listed
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.task_configs.medq_deg.measures import ACCURACY, FALL, LEVELS, SUITE, pairs
from lmms_medtasks.task_configs.medq_deg.report_published import TABLE_6
from lmms_medtasks.task_configs.medq_deg.task_sets import asks_otherwise, levels

TITLES = {0: "clean images (L0)", 1: "mild degradation (L1)", 2: "severe degradation (L2)"}
_SHORT = {0: "clean (L0)", 1: "mild (L1)", 2: "severe (L2)"}
WORDS = {0: "on clean images", 1: "under mild degradation", 2: "under severe degradation"}
_FEWEST = 20
"""Questions under a degradation below which it is not called the worst. Our choice."""
_NAMED = 2
"""Degradations that are named."""
_CHANGE = Mean(measure="change")


def _numbers(source: Source) -> Iterator[Number]:
    """Accuracy by level; none of clean questions that were asked otherwise."""
    if asks_otherwise(source):
        return
    chance = chance_of_options(source.rows)
    for level in LEVELS:
        printed = span(SUITE, f"medq_deg_l{level}", "accuracy")
        yield Number(TITLES[level], WORDS[level], ACCURACY[level], chance=chance, published=printed)


def _changes(source: Source) -> Iterator[Change]:
    """From clean images to the most severe ones that were asked."""
    asked = [level for level in LEVELS if source.interval(ACCURACY[level]).n]
    if asked[-1] and 0 in asked:
        change = source.interval(FALL[asked[-1]])
        names = listed(worst(source, asked[-1])) if is_lost(change) else ""
        yield Change(change, f"under {TITLES[asked[-1]]}", names and f"under {names}")


def _columns() -> Iterator[BoardColumn]:
    """Of three trials first, as the paper's accuracies are (Table 6); those of calibration are of ten."""
    for task in ("medq_deg", "medq_deg_l2", "medq_deg_calib"):
        own = ("accuracy", "medq_deg_l0", "accuracy") if task == "medq_deg_l2" else ("accuracy_l2", "", "accuracy_l0")
        yield BoardColumn(task, own[0], WORDS[2], before=own[1:])
    yield BoardColumn("medq_deg*", "*")
    for level, words in WORDS.items():
        yield BoardColumn("medq_deg*", f"accuracy_l{level}", words, heads=False)
        yield BoardColumn(f"medq_deg*_l{level}", "accuracy", words, heads=False)


def _sketch(source: Source) -> Sketch | None:
    """The fall: a line through the levels, those of the paper's models grey; None of one level."""
    if sum(source.interval(ACCURACY[level]).n > 0 for level in LEVELS) == 1:
        return None
    printed = len(_SKETCH.published_names([source]))
    return Sketch(_SKETCH.small(source), f"correct (%); grey: {printed} published models, on the paper's data")


def worst(source: Source, level: int) -> list[str]:
    """The degradations of a level that cost most, against the same questions clean: ``bubble (by 33.3 points)``."""
    found = []
    for (name,), rows in source.derived(pairs).rows.where({"severity": level}).by(["degradation"]).items():
        change = _CHANGE.of(rows, with_intervals=False)["mean"].estimate
        if name and change is not None and change < 0 and len(rows) >= _FEWEST:
            found.append((change, str(name)))
    return [f"{name.replace('_', ' ')} (by {-100 * change:.1f} points)" for change, name in sorted(found)[:_NAMED]]


HEADLINE = Headline(_numbers, "questions about degraded images", tuple(_columns()), changes=_changes, sketch=_sketch)


def _row_names(sources: Sequence[Source]) -> list[str]:
    """The models' names; of a model with several sources how each was asked stands behind it."""
    models = [model_name(source.run.content) for source in sources]
    return [model if models.count(model) == 1 else source.name for source, model in zip(sources, models, strict=True)]


def _is_drawn(sources: Sequence[Source]) -> bool:
    if any(map(asks_otherwise, sources)):
        return False
    # A level whose requests all failed has no number, and no place in the chart.
    return len({level for source in sources for level in levels(source) if source.interval(ACCURACY[level]).n}) > 1


def _fall_rows(sources: Sequence[Source]) -> Iterator[Row]:
    for source, name in zip(sources, _row_names(sources), strict=True):
        yield Row((name,), source=source)
    chance = Cell(None if (share := chance_of_options(sources[0].rows)) is None else 100 * share)
    guess = dict.fromkeys((f"L{level}" for level in LEVELS), lambda source, row, rows: chance)
    yield Row(("uniform guessing",), kind="counts", estimates=guess)


PRINTED = 9
"""Published models that are drawn, evenly spaced by rank; the table has them all."""
FALL_CHART = Chart(
    "ranges",
    "fall",
    "From clean to degraded images, beside published models",
    f"Share correct in percent. Published: {PRINTED} of the paper's models, evenly spaced by rank, on the paper's "
    "data.",
    Table(
        "levels",
        "From clean to degraded images",
        ("model",),
        _fall_rows,
        tuple(Column(_SHORT[level], ACCURACY[level], key=f"L{level}") for level in LEVELS),
        published=TABLE_6.published and replace(TABLE_6.published, labels=("model",)),
    ),
    tuple(f"L{level}" for level in LEVELS),
    printed=PRINTED,
    sort="falling",
    shown=_is_drawn,
)
FALL_CHART_OF_MODELS = replace(FALL_CHART, numbers="models")
_SKETCH = replace(
    FALL_CHART,
    kind="plane",
    joined=True,
    scale="fitted",
    printed=0,
    heads={f"L{level}": said.partition(" ")[0] for level, said in _SHORT.items()},
)
