"""MedQ-Deg: tables and figures of its report, beside the published rows. Nothing here can move a number.

Chapters: ``report_published.py`` (the paper's tables), ``report_groups.py`` (capabilities, degradations and so on),
``report_calibration.py`` (confidence and calibration), ``report_models.py`` (several models).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from lmms_medtasks.report.about import extent
from lmms_medtasks.report.cells import NONE
from lmms_medtasks.report.document import Cell, Flag, Frame
from lmms_medtasks.report.suite_report import Report
from lmms_medtasks.report.views import CellFunction, Column, Row, Source, Table, View
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.suites.common_metrics import outcome_count, parse_rate
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.suites.outcomes import OUTCOMES, outcomes
from lmms_medtasks.suites.suite import Suite
from lmms_medtasks.task_configs.medq_deg import report_calibration, report_finding, report_image, report_models
from lmms_medtasks.task_configs.medq_deg.measures import ACCURACY, DEGRADED, FALL, LEVELS, ROTATED, pairs
from lmms_medtasks.task_configs.medq_deg.report_groups import (
    DEGRADATIONS,
    HEAT,
    INTERVALS,
    MODALITIES,
    MODALITY_CHART,
    capabilities,
    categories,
    heatmap,
    joined,
    most_lost,
)
from lmms_medtasks.task_configs.medq_deg.report_published import (
    PAPER_LEVELS,
    TABLE_2,
    TABLE_3,
    TABLE_6,
)
from lmms_medtasks.task_configs.medq_deg.report_variance import VARIANCE
from lmms_medtasks.task_configs.medq_deg.task_sets import (
    asks_otherwise,
    counts_by_level,
    degraded_levels,
    level_rows,
    levels,
    setup_of,
    task_sets,
)

PAPER_TRIALS = 10
PAIRED_FALL = {level: Mean({"severity": level}, measure="change", bounds=(-1.0, 1.0)) for level in PAPER_LEVELS}


# --- Levels -----------------------------------------------------------------------------------------------------------


def _image_count(rows: Samples) -> int:
    return len(set(rows.column("cluster")))


def _pair_count(level: int) -> CellFunction:
    def cell(source: Source, row: Row, rows: Samples) -> Cell:
        return Cell(source.derived(pairs).interval(PAIRED_FALL[level]).n) if 0 in levels(source) else NONE

    return cell


LEVELS_TABLE = Table(
    "levels",
    "Accuracy by level",
    ("level",),
    level_rows(
        {
            "questions": counts_by_level(len),
            "images": counts_by_level(_image_count),
            "accuracy": ACCURACY,
            "minus L0": FALL,
            "minus L0, paired": PAIRED_FALL,
            "pairs": {level: _pair_count(level) for level in PAPER_LEVELS},
        }
    ),
    (
        Column("questions", unit="count"),
        Column("images", unit="count"),
        Column("accuracy", digits=2),
        Column("minus L0", unit="points", digits=2),
        Column("minus L0, paired", unit="points", digits=2, over=pairs),
        Column("pairs", unit="count"),
    ),
    (
        "Accuracy is the mean over trials of each question, then over questions (equation 2).",
        "minus L0: all questions of both levels, as in Table 6. Paired: each degraded question against its clean form.",
        INTERVALS,
    ),
)


# --- Replies ----------------------------------------------------------------------------------------------------------


def _requests(rows: Samples) -> int:
    return sum(map(len, rows.column("trials")))


def _unscored(rows: Samples) -> int:
    return len(rows) - len(rows.scored("accuracy"))


IDENTICAL = {level: Mean({"severity": level}, measure="identical") for level in LEVELS}
REPLIES = Table(
    "replies",
    "Requests and replies",
    ("level",),
    level_rows(
        {
            "requests": counts_by_level(_requests),
            "questions without a reply": counts_by_level(_unscored),
            **{name: counts_by_level(outcome_count(name).function) for name in OUTCOMES},
            "parse rate": counts_by_level(parse_rate),
            "identical trials": IDENTICAL,
        }
    ),
    (
        *(Column(name, unit="count") for name in ("requests", "questions without a reply", *OUTCOMES)),
        Column("parse rate"),
        Column("identical trials", bare=True),
    ),
    (
        "Unreadable (words without one answer), cut (off before an answer), empty and refused replies count as "
        "incorrect, as in the paper; failed requests count as nothing and are left out.",
        "Identical trials: share of the questions whose replies are the same to the letter.",
    ),
    folded=True,
)  # fmt: skip


# --- What a reader must know ------------------------------------------------------------------------------------------

_SUSPICIOUS = 0.95
_FAMILIES = {
    "simulated": (
        "Degradations are this package's own, rendered on the fly; the paper's numbers are on its release's images."
    ),
    "release": "The release's own degraded images were used, as in the paper.",
}
_IMAGES = {"simulated": "degraded on the fly", "release": "the release's own"}


def caveats(source: Source) -> Iterator[Flag]:
    """Levels that are missing, questions without their clean form, trials that say little, whose images these are."""
    setup, asked = setup_of(source), levels(source)
    if asks_otherwise(source):
        yield Flag("note", f"Asked with {setup.variant}, clean questions alone: nothing in the paper compares with it.")
        return
    missing = [f"L{level}" for level in LEVELS if level not in asked]
    if missing:
        lacking = " Without L0 there are no drops." if "L0" in missing else ""
        yield Flag("warning", f"Levels missing: {', '.join(missing)}.{lacking} What needs them is left empty.")
    degraded = len(source.rows.where(DEGRADED))
    alone = degraded - joined(source)
    if 0 in asked and alone:
        yield Flag(
            "warning",
            f"{alone:,} of {degraded:,} degraded questions could not be joined to their clean form: "
            "paired drops leave them out.",
        )
    for level in asked:
        share = source.interval(IDENTICAL[level]).estimate
        if share is not None and share >= _SUSPICIOUS:
            yield Flag(
                "warning",
                f"L{level}: all trials gave the same reply on {share:.1%} of the questions. Either the "
                "model has no doubt, or its trials were no independent draws; confidence means nothing then.",
            )
    fewer = sum(len(trials) < setup.trials for trials in source.rows.column("trials"))
    if fewer:
        yield Flag("warning", f"{fewer:,} questions have fewer trials than T: C of few votes is higher by chance.")
    if setup.trials == 1:
        yield Flag("warning", "T = 1: one reply is always unanimous, so there is no confidence to speak of (C is 1).")
    elif setup.trials < PAPER_TRIALS:
        yield Flag(
            "note",
            f"T = {setup.trials}: with so few votes C takes few values, and a guess looks confident. The paper uses "
            f"T = {PAPER_TRIALS} (task medq_deg_calib).",
        )
    yield Flag("note", _FAMILIES[setup.family])


def facts(suite: Suite, source: Source) -> tuple[tuple[str, str], ...]:
    """Whose images they are, and T."""
    setup = setup_of(source)
    return ("Images", _IMAGES[setup.family]), ("Trials (T)", str(setup.trials))


def _has_degraded(sources: Sequence[Source]) -> bool:
    return bool(degraded_levels(sources[0]))


def _of_degraded(table: Table) -> Callable[[Sequence[Source]], Frame | None]:
    """A table of sources with degraded questions."""
    return lambda sources: table.filled(sources) if _has_degraded(sources) else None


def _not_rotated(sources: Sequence[Source]) -> bool:
    return setup_of(sources[0]).variant != ROTATED


def _as_released(sources: Sequence[Source]) -> bool:
    return not asks_otherwise(sources[0])


def _replies_said(sources: Sequence[Source]) -> str:
    """How many requests, and how many failed."""
    rows = sources[0].rows
    failed, unscored = outcomes(rows)["failed"], _unscored(rows)
    return f"{_requests(rows):,} requests, {failed:,} failed; {unscored:,} questions without a reply"


REPORT = Report(
    headline=report_finding.HEADLINE,
    sources=task_sets,
    facts=facts,
    label=lambda source: source.condition,
    extent=lambda source: extent(source.run, source.tasks),
    views=(
        View("levels", "From clean to severe", (LEVELS_TABLE,), (report_finding.FALL_CHART,), shown=_not_rotated),
        View(
            "degradations",
            "Where it fails: degradation by capability",
            (HEAT, DEGRADATIONS),
            (heatmap(2), heatmap(1, folded=True)),
            shown=_has_degraded,
        ),
        replace(report_calibration.RELIABILITY_VIEW, shown=_as_released),
        report_image.BENEFIT,
        report_image.ROTATIONS,
        View(
            "groups",
            "Capabilities, categories, modalities",
            (_of_degraded(capabilities()), _of_degraded(categories()), MODALITIES),
            (MODALITY_CHART,),
            shown=_not_rotated,
            folded=True,
            summary=most_lost,
        ),
        replace(report_calibration.CALIBRATION_VIEW, shown=_as_released),
        View(
            "published",
            "Beside the published models",
            (TABLE_6, _of_degraded(TABLE_2), _of_degraded(TABLE_3)),
            shown=_not_rotated,
            folded=True,
            summary="The paper's tables with a row of this run",
        ),
        VARIANCE,
        View("replies", "Requests and replies", (REPLIES,), summary=_replies_said),
    ),
    compared=(
        View(
            "overview",
            "The models together",
            (report_models.OVERVIEW,),
            (report_finding.FALL_CHART_OF_MODELS,),
        ),
        View("published", "Beside the published models", (TABLE_6, TABLE_2, TABLE_3)),
    ),
    more=report_models.sections,
    caveats=caveats,
    compared_caveats=report_models.caveats,
    tests=lambda source: {
        f"L{level}": frozenset(rows.column("pair")) for (level,), rows in source.rows.by(["severity"]).items()
    },
)
