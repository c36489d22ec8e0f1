"""MedQ-Deg by groups of questions: capabilities, categories of degradations, degradations, modalities."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from lmms_medtasks.report.charts import Chart
from lmms_medtasks.report.views import Column, Row, Source, Table, rows_by
from lmms_medtasks.samples.runs import printable
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.suites.estimates import Estimate, Macro, Mean
from lmms_medtasks.task_configs.medq_deg import taxonomy
from lmms_medtasks.task_configs.medq_deg.measures import ACCURACY, DEGRADED, GROUPS, LEVELS, MACROS, pairs
from lmms_medtasks.task_configs.medq_deg.task_sets import SEVERITY, degraded_levels, levels

INTERVALS = f"In brackets: {LEVEL} interval over images; of a change between the same images."
PAIRED = (
    "L0 is the clean form of the same questions, each counted as often as it has degraded forms; a drop is positive "
    "where accuracy fell. Questions without a clean form here are left out of both."
)

_SIGNED = (-1.0, 1.0)
MEAN, CLEAN_MEAN, CHANGE = Mean(), Mean(measure="before"), Mean(measure="change", bounds=_SIGNED)
"""Accuracy of a group of questions; of pairs their clean forms' accuracy, and its change."""

CLEAN_MACROS = {tag: Macro(measure="before", groups=groups, skip_empty=True) for tag, groups in GROUPS.items()}
CHANGE_MACROS = {
    tag: Macro(measure="change", groups=groups, skip_empty=True, bounds=_SIGNED) for tag, groups in GROUPS.items()
}
_AGAINST_CLEAN = (
    Column("questions", MEAN, "n", within=DEGRADED),
    Column("accuracy", MEAN, within=DEGRADED),
    Column("accuracy at L0", CLEAN_MEAN, over=pairs),
    Column("drop", CHANGE, "drop", over=pairs),
)


# --- Capabilities and categories --------------------------------------------------------------------------------------


def _averaged(key: str, title: str, tag: str, head: str, titles: Mapping[str, str]) -> Table:
    """A row for each of the paper's groups, and their average."""
    means: tuple[Estimate, ...] = (MACROS[tag], MACROS[tag], CLEAN_MACROS[tag], CHANGE_MACROS[tag])
    average = dict(zip((column.name for column in _AGAINST_CLEAN), means, strict=True))

    def rows(sources: Sequence[Source]) -> Iterator[Row]:
        if len(sources[0].rows.where(DEGRADED)):
            yield from (Row((said,), {tag: name}) for name, said in titles.items())
            yield Row(("Average over these",), kind="counts", estimates=average)

    def notes(sources: Sequence[Source]) -> tuple[str, ...]:
        outside = len(sources[0].rows.where({**DEGRADED, tag: None}))
        more = (f"{outside:,} questions are of no {head} of the paper's and in no row.",) if outside else ()
        return (*more, PAIRED, INTERVALS)

    def with_levels(sources: Sequence[Source]) -> str:
        return f"{title}, {' and '.join(f'L{level}' for level in degraded_levels(sources[0]))}"

    return Table(key, with_levels, (head,), rows, _AGAINST_CLEAN, notes)


CAPABILITIES = _averaged(
    "capabilities",
    "Accuracy by capability",
    "mid",
    "capability",
    {mid: f"{mid} ({taxonomy.short_of(mid)})" for mid in taxonomy.mids()},
)
_CATEGORIES = {key: taxonomy.category(key).title for key in taxonomy.categories()}
CATEGORIES = _averaged("categories", "Accuracy by category of degradations", "category", "category", _CATEGORIES)


# --- Degradations -----------------------------------------------------------------------------------------------------


def _degraded_by(*tags: str, labels: Callable[..., tuple[str, ...]]) -> Callable[[Sequence[Source]], list[Row]]:
    """A row for each combination of tags, the severity among them, that degraded questions have, by their labels."""
    every = rows_by(*tags, labels=labels)
    return lambda sources: sorted((row for row in every(sources) if row.where["severity"]), key=lambda row: row.labels)


DEGRADATIONS = Table(
    "degradations",
    "Accuracy by degradation",
    ("category", "degradation", "level"),
    _degraded_by(
        "degradation",
        "severity",
        labels=lambda name, level: (_CATEGORIES[taxonomy.category_of(name)] if name else "", str(name), f"L{level}"),
    ),
    _AGAINST_CLEAN,
    (PAIRED, INTERVALS),
    long=True,
    folded=True,
)
HEAT = Table(
    "heatmap",
    "Accuracy by degradation and capability",
    ("level", "degradation", "capability"),
    _degraded_by(
        "severity", "degradation", "mid", labels=lambda level, name, mid: (f"L{level}", str(name), mid or "(unmapped)")
    ),
    _AGAINST_CLEAN,
    (PAIRED, INTERVALS),
    long=True,
    folded=True,
)


def heatmap(level: int, *, folded: bool = False) -> Chart:
    """The change from the clean questions by degradation and capability at a level; a row's end is the accuracy."""
    heads = {mid: mid.partition(" ")[0] for mid in taxonomy.mids()}

    def rows(sources: Sequence[Source]) -> list[Row]:
        scored = sources[0].rows.where({"severity": level}).scored("accuracy")
        return [
            Row((str(name).replace("_", " "),), {"severity": level, "degradation": name})
            for (name,) in scored.by(["degradation"])
        ]

    return Chart(
        "heat",
        f"heatmap_l{level}",
        f"Where it fails: degradation by capability, L{level} ({SEVERITY[level]})",
        "Change in points from the same questions clean; the stronger the colour, the more is lost. Sorted by the "
        "share still correct. Italic, fainter: fewer than five questions. A dot: none. Columns: "
        f"{', '.join(taxonomy.mids())}.",
        Table(
            "heatmap",
            "Change by degradation and capability",
            ("degradation",),
            rows,
            (
                *(Column(head, CHANGE, "points", 1, {"mid": mid}, over=pairs) for mid, head in heads.items()),
                Column("correct (%)", MEAN, bare=True),
            ),
        ),
        tuple(heads.values()),
        total="correct (%)",
        sort="rising",
        shown=lambda sources: {0, level} <= set(levels(sources[0])),
        folded=folded,
    )


# --- Modalities -------------------------------------------------------------------------------------------------------


def _modality_columns(sources: Sequence[Source]) -> tuple[Column, ...]:
    asked = levels(sources[0])
    counts = (Column(f"n L{level}", ACCURACY[level], "n") for level in asked)
    return (*counts, *(Column(f"L{level}", ACCURACY[level]) for level in asked))


MODALITIES = Table(
    "modalities",
    "Accuracy by modality",
    ("modality",),
    rows_by("modality", labels=lambda name: (printable(name),)),
    _modality_columns,
    (INTERVALS,),
)
MODALITY_CHART = Chart(
    "ranges",
    "modalities",
    "Accuracy by modality",
    "Share correct in percent, lowest first.",
    replace(MODALITIES, columns=tuple(Column(f"{SEVERITY[level]} (L{level})", ACCURACY[level]) for level in LEVELS)),
    (),
    sort="rising",
)
