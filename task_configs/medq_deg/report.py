"""MedQ-Deg: tables and figures of its report, beside the published rows. Nothing here can move a number.

Chapters: ``report_published.py`` (the paper's tables), ``report_groups.py`` (capabilities, degradations and so on),
``report_calibration.py`` (confidence and calibration), ``report_models.py`` (several models).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lmms_medtasks.report.document import Flag, Frame
from lmms_medtasks.report.shared_sections import Comparison, benefit_table, rotation_view, rows_without_image
from lmms_medtasks.report.suite_report import Report
from lmms_medtasks.report.views import Column, Source, Table, View, rows_by
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.suites.common_metrics import outcome_count, parse_rate
from lmms_medtasks.suites.estimates import Count, Mean
from lmms_medtasks.suites.image_benefit import LostBenefit, floor_of
from lmms_medtasks.suites.outcomes import OUTCOMES
from lmms_medtasks.task_configs.medq_deg import report_calibration, report_finding, report_models
from lmms_medtasks.task_configs.medq_deg.measures import ACCURACY, DEGRADED, FALL, LEVELS, NO_IMAGE, ROTATED
from lmms_medtasks.task_configs.medq_deg.report_groups import (
    CAPABILITIES,
    CATEGORIES,
    DEGRADATIONS,
    HEAT,
    INTERVALS,
    MODALITIES,
    MODALITY_CHART,
    heatmap,
)
from lmms_medtasks.task_configs.medq_deg.report_published import TABLE_2, TABLE_3, TABLE_6
from lmms_medtasks.task_configs.medq_deg.task_sets import (
    SEVERITY,
    asks_otherwise,
    counts_by_level,
    degraded_levels,
    level_rows,
    levels,
    setup_of,
    task_sets,
)

PAPER_TRIALS = 10


# --- Levels and replies -----------------------------------------------------------------------------------------------


def _image_count(rows: Samples) -> int:
    return len(set(rows.column("cluster")))


def _requests(rows: Samples) -> int:
    return sum(map(len, rows.column("trials")))


def _unscored(rows: Samples) -> int:
    return len(rows) - len(rows.scored("accuracy"))


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
        }
    ),
    (
        Column("questions", unit="count"),
        Column("images", unit="count"),
        Column("accuracy", digits=2),
        Column("minus L0", unit="points", digits=2),
    ),
    (
        "Accuracy is the mean over trials of each question, then over questions (equation 2). Minus L0: all questions "
        "of both levels, as in Table 6.",
        INTERVALS,
    ),
)

IDENTICAL = Mean(measure="identical")
REPLIES = Table(
    "replies",
    "Requests and replies",
    ("level",),
    rows_by("severity", labels=lambda level: (f"L{level}",)),
    (
        Column("requests", Count(function=_requests), "count"),
        Column("questions without a reply", Count(function=_unscored), "count"),
        *(Column(name, outcome_count(name), "count") for name in OUTCOMES),
        Column("parse rate", Count(function=parse_rate)),
        Column("identical trials", IDENTICAL, bare=True),
    ),
    (
        "Unreadable (words without one answer), cut (off before an answer), empty and refused replies count as "
        "incorrect, as in the paper; failed requests count as nothing and are left out.",
        "Identical trials: share of the questions whose replies are the same to the letter.",
    ),
    folded=True,
)


# --- What a reader must know ------------------------------------------------------------------------------------------

_SUSPICIOUS = 0.95
_FAMILIES = {
    "simulated": (
        "Degradations are this package's own, rendered on the fly; the paper's numbers are on its release's images."
    ),
    "release": "The release's own degraded images were used, as in the paper.",
}


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
    alone = degraded - len(source.rows.where({"severity": 0}).paired(source.rows.where(DEGRADED), ("pair",)).second)
    if 0 in asked and alone:
        yield Flag(
            "warning",
            f"{alone:,} of {degraded:,} degraded questions could not be joined to their clean form: "
            "paired drops leave them out.",
        )
    for level in asked:
        share = source.interval(IDENTICAL, {"severity": level}).estimate
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


# --- The image --------------------------------------------------------------------------------------------------------


def lost_benefit(sources: Sequence[Source]) -> Frame | None:
    """The drop to each level beside what the clean image was worth; None without ``medq_deg_noimage`` or without L0."""
    source = sources[0]
    floor = {} if asks_otherwise(source) else _floor(source)
    if not floor:
        return None
    clean = {"severity": 0}
    comparisons = [
        Comparison(
            (f"L{level}, {SEVERITY[level]}",),
            LostBenefit(floor=floor, first=clean, second={"severity": level}, pair=("pair",)),
            {},
        )
        for level in degraded_levels(source)
    ]
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


def _floor(source: Source) -> dict[tuple[str], float]:
    """The scores without images by the ``pair`` of the source's clean questions, which have the same ids there."""
    by_id = floor_of(rows_without_image(source, {"condition": NO_IMAGE}), "accuracy")
    clean = source.rows.where({"severity": 0})
    ids = zip(clean.column("id"), clean.column("pair"), strict=True)
    return {(pair,): by_id[name,] for name, pair in ids if (name,) in by_id}


# --- The sections -----------------------------------------------------------------------------------------------------


def _not_rotated(sources: Sequence[Source]) -> bool:
    return setup_of(sources[0]).variant != ROTATED


def _as_released(sources: Sequence[Source]) -> bool:
    return not asks_otherwise(sources[0])


REPORT = Report(
    headline=report_finding.HEADLINE,
    sources=task_sets,
    views=(
        View("levels", "From clean to severe", (LEVELS_TABLE,), (report_finding.FALL_CHART,), shown=_not_rotated),
        View(
            "degradations",
            "Where it fails: degradation by capability",
            (HEAT, DEGRADATIONS),
            (heatmap(2), heatmap(1, folded=True)),
        ),
        replace(report_calibration.RELIABILITY_VIEW, shown=_as_released),
        View("benefit", "Above what language alone gets", (lost_benefit,)),
        rotation_view({"condition": ROTATED}, INTERVALS),
        View(
            "groups",
            "Capabilities, categories, modalities",
            (CAPABILITIES, CATEGORIES, MODALITIES),
            (MODALITY_CHART,),
            shown=_not_rotated,
            folded=True,
        ),
        replace(report_calibration.CALIBRATION_VIEW, shown=_as_released),
        View(
            "published",
            "Beside the published models",
            (TABLE_6, TABLE_2, TABLE_3),
            folded=True,
            summary="The paper's tables with a row of this run",
        ),
        View("replies", "Requests and replies", (REPLIES,)),
    ),
    compared=(
        View("overview", "The models together", (report_models.OVERVIEW,), (report_finding.FALL_CHART_OF_MODELS,)),
        View("published", "Beside the published models", (TABLE_6, TABLE_2, TABLE_3)),
        report_models.RANKS,
        report_models.INTER_MODEL,
    ),
    caveats=caveats,
    compared_caveats=report_models.caveats,
    tests=lambda source: {
        f"L{level}": frozenset(rows.column("pair")) for (level,), rows in source.rows.by(["severity"]).items()
    },
)
