"""MedQ-Deg's report and its first screen. Nothing here can move a number.

``report_published.py`` has task sets, groups of questions and the paper's tables, ``report_paper.py`` the paper's
tests.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lmms_medtasks.report.about import run_extent
from lmms_medtasks.report.cells import count_column, decimal_column, label_column, make_frame
from lmms_medtasks.report.charts import Chart
from lmms_medtasks.report.default_report import outcome_table
from lmms_medtasks.report.document import Cell, Frame, ReportNotice
from lmms_medtasks.report.findings import Change, FindingChart, Number, chance_of_options, is_lost
from lmms_medtasks.report.headlines import BoardColumn, Headline
from lmms_medtasks.report.published import published_span
from lmms_medtasks.report.shared_sections import ImageBenefitRow, benefit_table, rotation_view, rows_without_image
from lmms_medtasks.report.suite_report import SuiteReportSpec
from lmms_medtasks.report.views import (
    ColumnSpec,
    ModelResults,
    RowSpec,
    SectionSpec,
    TableSpec,
    rows_by,
    rows_of_sources,
)
from lmms_medtasks.samples.runs import model_name
from lmms_medtasks.short_texts import join_with_and
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.statistics.reliability import reliability_bins
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.suites.image_benefit import LostBenefit, floor_of
from lmms_medtasks.task_configs.medq_deg import measures, report_paper
from lmms_medtasks.task_configs.medq_deg import report_published as published

PAPER_TRIALS = 10


# --- Levels -----------------------------------------------------------------------------------------------------------
LEVELS_TABLE = TableSpec(
    "levels",
    "Accuracy by level",
    ("level",),
    published.level_rows({**dict.fromkeys(("questions", "accuracy"), measures.ACCURACY), "minus L0": measures.FALL}),
    (ColumnSpec("questions", unit="n"), ColumnSpec("accuracy", digits=2), ColumnSpec("minus L0", None, "points", 2)),
    (
        "Accuracy is the mean over trials of each question, then over questions (equation 2). Minus L0: all questions "
        "of both levels, as in Table 6.",
        published.INTERVALS,
    ),
)
REPLIES = replace(
    outcome_table(), labels=("level",), rows=rows_by("severity", labels=lambda level: (f"L{level}",)), folded=False
)
_IDENTICAL = Mean(measure="identical")


# --- What a reader must know ------------------------------------------------------------------------------------------
_SUSPICIOUS = 0.95
_FAMILIES = {
    "simulated": "Degradations are this package's own, rendered on the fly; the paper's numbers are on its release's "
    "images.",
    "release": "The release's own degraded images were used, as in the paper.",
}


def comparison_notices(source: ModelResults) -> Iterator[ReportNotice]:
    """Missing levels, questions without their clean form, trials that tell little, the origin of the images."""
    setup, asked = published.setup_of(source), published.requested_levels(source)
    if published.asks_otherwise(source):
        text = f"Asked with {setup.variant}, clean questions alone: nothing in the paper compares with it."
        yield ReportNotice("note", text)
        return
    missing = [f"L{level}" for level in measures.LEVELS if level not in asked]
    if missing:
        lacking = " Without L0 there are no drops." if "L0" in missing else ""
        yield ReportNotice("warning", f"Levels missing: {', '.join(missing)}.{lacking} What needs them is left empty.")
    degraded = len(source.rows.where(measures.DEGRADED))
    pairs = source.rows.where({"severity": 0}).paired(source.rows.where(measures.DEGRADED), ("pair",))
    unpaired = degraded - len(pairs.second)
    if 0 in asked and unpaired:
        yield ReportNotice(
            "warning",
            f"{unpaired:,} of {degraded:,} degraded questions could not be joined to their clean form: "
            "paired drops leave them out.",
        )
    for level in asked:
        share = source.interval(_IDENTICAL, {"severity": level}).estimate
        if share is not None and share >= _SUSPICIOUS:
            yield ReportNotice(
                "warning",
                f"L{level}: all trials gave the same reply on {share:.1%} of the questions. Either the "
                "model has no doubt, or its trials were no independent draws; confidence means nothing then.",
            )
    fewer = sum(len(trials) < setup.trials for trials in source.rows.column("trials"))
    if fewer:
        text = f"{fewer:,} questions have fewer trials than T: C of few votes is higher by chance."
        yield ReportNotice("warning", text)
    if setup.trials == 1:
        text = "T = 1: one reply is always unanimous, so there is no confidence to speak of (C is 1)."
        yield ReportNotice("warning", text)
    elif setup.trials < PAPER_TRIALS:
        yield ReportNotice(
            "note",
            f"T = {setup.trials}: with so few votes C takes few values, and a guess looks confident. The paper uses "
            f"T = {PAPER_TRIALS} (task medq_deg_calib).",
        )
    yield ReportNotice("note", _FAMILIES[setup.family])


# --- The image --------------------------------------------------------------------------------------------------------
def lost_benefit(sources: Sequence[ModelResults]) -> Frame | None:
    """The drop to each level and the clean image's benefit; None without ``medq_deg_noimage`` or without L0."""
    source = sources[0]
    floor = {} if published.asks_otherwise(source) else _scores_without_image(source)
    if not floor:
        return None
    comparisons = []
    for level in published.degraded_levels(source):
        lost = LostBenefit(floor=floor, first={"severity": 0}, second={"severity": level}, pair=("pair",))
        comparisons.append(ImageBenefitRow((f"L{level}, {published.SEVERITY[level]}",), lost, {}))
    return benefit_table(
        "What is lost of the image's benefit",
        ("level",),
        ("L0", "the level"),
        source,
        comparisons,
        "image",
        (
            "Each degraded question beside its clean form and the same question without an image (medq_deg_noimage): "
            "levels differ in the image alone, so there is one floor for all. Questions that lack one are left out.",
        ),
    )


def _scores_without_image(source: ModelResults) -> dict[str, float]:
    """The scores without images by the ``pair`` of the source's clean questions, which have the same ids there."""
    by_id = floor_of(rows_without_image(source, {"condition": measures.NO_IMAGE}), "accuracy")
    clean = source.rows.where({"severity": 0})
    ids = zip(clean.column("id"), clean.column("pair"), strict=True)
    return {pair: by_id[name] for name, pair in ids if name in by_id}


# --- The first screen, and the chart of levels ------------------------------------------------------------------------
TITLES = {0: "clean images (L0)", 1: "mild degradation (L1)", 2: "severe degradation (L2)"}
_SHORT = {f"L{level}": f"{word} (L{level})" for level, word in published.SEVERITY.items()}
WORDS = {0: "on clean images", 1: "under mild degradation", 2: "under severe degradation"}
_FEWEST = 20
"""A degradation with fewer questions is not called the worst. Our choice."""
_NAMED = 2
"""Degradations that are named."""
_CHANGE = Mean(measure="change")


def _headline_numbers(source: ModelResults) -> Iterator[Number]:
    """Accuracy by level; nothing for clean questions under another condition."""
    if published.asks_otherwise(source):
        return
    chance = chance_of_options(source.rows)
    for level in measures.LEVELS:
        printed = published_span(measures.SUITE, f"medq_deg_l{level}", "accuracy")
        yield Number(TITLES[level], WORDS[level], measures.ACCURACY[level], chance=chance, published=printed)


def _headline_changes(source: ModelResults) -> Iterator[Change]:
    asked = [level for level in measures.LEVELS if source.interval(measures.ACCURACY[level]).n]
    if asked[-1] and 0 in asked:
        change = source.interval(measures.FALL[asked[-1]])
        names = join_with_and(worst_group(source, asked[-1])) if is_lost(change) else ""
        yield Change(change, f"under {TITLES[asked[-1]]}", names and f"under {names}")


def _board_columns() -> Iterator[BoardColumn]:
    """Three trials first, as in the paper (Table 6); the calibration task has ten."""
    yield BoardColumn("medq_deg", "accuracy_l2", WORDS[2], before=("", "accuracy_l0"))
    yield BoardColumn("medq_deg_l2", "accuracy", WORDS[2], before=("medq_deg_l0", "accuracy"))
    yield BoardColumn("medq_deg_calib", "accuracy_l2", WORDS[2], before=("", "accuracy_l0"))
    yield BoardColumn("medq_deg*", "*")
    for level, words in WORDS.items():
        yield BoardColumn("medq_deg*", f"accuracy_l{level}", words, heads=False)
        yield BoardColumn(f"medq_deg*_l{level}", "accuracy", words, heads=False)


def _fall_sketch(source: ModelResults) -> FindingChart | None:
    """The fall: a line through the levels, grey for the paper's models; None for one level."""
    if sum(source.interval(measures.ACCURACY[level]).n > 0 for level in measures.LEVELS) == 1:
        return None
    printed = len(_SKETCH.chosen(_SKETCH.marks([source])))
    return FindingChart(_SKETCH.small(source), f"correct (%); grey: {printed} published models, on the paper's data")


def worst_group(source: ModelResults, level: int) -> list[str]:
    """The degradations of a level with the largest losses from the clean questions: ``bubble (by 33.3 points)``."""
    pairs = source.derived(measures.clean_degraded_pairs).rows.where({"severity": level})
    losses = []
    for (name,), rows in pairs.by(["degradation"]).items():
        change = _CHANGE.of(rows, with_intervals=False)["mean"].estimate
        if name and change is not None and change < 0 and len(rows) >= _FEWEST:
            losses.append((change, str(name)))
    return [f"{name.replace('_', ' ')} (by {-100 * change:.1f} points)" for change, name in sorted(losses)[:_NAMED]]


HEADLINE = Headline(
    _headline_numbers,
    "questions about medical images",
    tuple(_board_columns()),
    changes=_headline_changes,
    sketch=_fall_sketch,
)


def _row_names(sources: Sequence[ModelResults]) -> list[str]:
    """The models' names, with the condition if a model has several results."""
    models = [model_name(source.run.content) for source in sources]
    return [model if models.count(model) == 1 else source.name for source, model in zip(sources, models, strict=True)]


def _is_drawn(sources: Sequence[ModelResults]) -> bool:
    if any(map(published.asks_otherwise, sources)):
        return False
    # A level whose requests all failed has no number, and is not in the chart.
    return sum(any(source.interval(mean).n for source in sources) for mean in measures.ACCURACY.values()) > 1


def _fall_rows(sources: Sequence[ModelResults]) -> Iterator[RowSpec]:
    for source, name in zip(sources, _row_names(sources), strict=True):
        yield RowSpec((name,), source=source)
    chance = Cell(None if (share := chance_of_options(sources[0].rows)) is None else 100 * share)
    guess = dict.fromkeys(_SHORT, lambda source, row, rows: chance)
    yield RowSpec(("uniform guessing",), kind="counts", estimates=guess, estimates_only=True)


PRINTED = 9
"""Published models that are drawn, evenly spaced by rank; the table has them all."""
FALL_CHART = Chart(
    "ranges",
    "fall",
    "From clean to degraded images, beside published models",
    f"Share correct in percent. Published: {PRINTED} of the paper's models, evenly spaced by rank, on the paper's "
    "data.",
    TableSpec(
        "levels",
        "From clean to degraded images",
        ("model",),
        _fall_rows,
        tuple(
            ColumnSpec(_SHORT[key], measures.ACCURACY[level], key=key)
            for level, key in zip(measures.LEVELS, _SHORT, strict=True)
        ),
        published=published.TABLE_6.published and replace(published.TABLE_6.published, labels=("model",)),
    ),
    tuple(_SHORT),
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
    heads={key: head.partition(" ")[0] for key, head in _SHORT.items()},
)


# --- Levels of confidence, and several models -------------------------------------------------------------------------
def _reliability_bins_table(sources: Sequence[ModelResults]) -> Frame | None:
    columns = (
        label_column("level"),
        *map(decimal_column, ("above", "up to")),
        count_column("questions"),
        *map(decimal_column, ("mean confidence", "share correct")),
    )
    rows = [
        (f"L{level}", part.low, part.high, part.n, part.confidence, part.correctness)
        for level in published.requested_levels(sources[0])
        for part in reliability_bins(measures.count_votes_checked(sources[0].rows.where({"severity": level})))
        if part.n
    ]
    return make_frame("reliability_bins", "Bins of the reliability diagram", columns, rows, long=True, folded=True)


RELIABILITY_CHART = Chart(
    "plane",
    "reliability",
    "Reliability: share correct by confidence",
    "A point is a bin of equal width, its area the number of questions. On the dashed line confidence (the majority's "
    "share of the votes) equals the share correct; below it the model is too sure.",
    _reliability_bins_table,
    ("share correct",),
    x="mean confidence",
    series="level",
    size="questions",
    heads=_SHORT,
    joined=True,
    steps=True,
    diagonal=True,
    axis=("confidence", "share correct"),
    numbers="reliability_bins",
)


OVERVIEW = TableSpec(
    "models",
    "Accuracy by level and calibration",
    ("model and task set",),
    rows_of_sources(lambda source: (source.name,)),
    (
        *(ColumnSpec(f"L{level}", measures.ACCURACY[level]) for level in measures.LEVELS),
        *(ColumnSpec(f"L{level}-L0", measures.FALL[level], "points") for level in (1, 2)),
        *(
            ColumnSpec(f"agreement less accuracy, L{level}", measures.AGREEMENT[level], "", 3, signed=True)
            for level in (0, 2)
        ),
        ColumnSpec("data", lambda source, row, rows: Cell(run_extent(source.run, source.tasks)), "text"),
    ),
    (
        f"Each run on the questions that it was asked, which need not be the same. In brackets: {LEVEL} intervals.",
        "Agreement less accuracy: of pairs of trials that agree, see Confidence and calibration; 0 is calibrated "
        "whatever T.",
    ),
)


# --- The sections -----------------------------------------------------------------------------------------------------
def _not_rotated(sources: Sequence[ModelResults]) -> bool:
    return published.setup_of(sources[0]).variant != measures.ROTATED


_PAPER_TABLES = (published.TABLE_6, published.TABLE_2, published.TABLE_3)
_PUBLISHED = SectionSpec("published", "Beside the published models", _PAPER_TABLES)
REPORT = SuiteReportSpec(
    is_whole=True,
    headline=HEADLINE,
    sources=published.task_sets,
    views=(
        SectionSpec("levels", "From clean to severe", (LEVELS_TABLE,), (FALL_CHART,), shown=_not_rotated),
        SectionSpec(
            "degradations",
            "Where it fails: degradation by capability",
            (published.HEAT, published.DEGRADATIONS),
            (published.degradation_heatmap(2), published.degradation_heatmap(1, folded=True)),
        ),
        SectionSpec(
            "reliability",
            "Does it know when it is wrong?",
            (_reliability_bins_table,),
            (RELIABILITY_CHART,),
            shown=lambda sources: not published.asks_otherwise(sources[0]),
        ),
        SectionSpec("benefit", "Above what language alone gets", (lost_benefit,)),
        rotation_view({"condition": measures.ROTATED}, published.INTERVALS),
        SectionSpec(
            "groups",
            "Capabilities, categories, modalities",
            (published.CAPABILITIES, published.CATEGORIES, published.MODALITIES),
            (published.MODALITY_CHART,),
            shown=_not_rotated,
            folded=True,
        ),
        report_paper.CALIBRATION_VIEW,
        replace(_PUBLISHED, folded=True, summary="The paper's tables with a row of this run"),
        SectionSpec("replies", "Requests and replies", (REPLIES,)),
    ),
    compared=(
        SectionSpec("overview", "The models together", (OVERVIEW,), (FALL_CHART_OF_MODELS,)),
        _PUBLISHED,
        report_paper.RANKS,
        report_paper.INTER_MODEL,
    ),
    caveats=comparison_notices,
    compared_caveats=report_paper.compared_caveats,
    tests=lambda source: {
        f"L{level}": frozenset(rows.column("pair")) for (level,), rows in source.rows.by(["severity"]).items()
    },
)
