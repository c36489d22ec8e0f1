"""MedQ-Deg's chapter on groups of questions: capabilities, categories of degradations, modalities, degradations."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lmms_medtasks.report.cells import negated, percent
from lmms_medtasks.report.charts import Chart
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.findings import is_told_apart
from lmms_medtasks.report.published import discrepancies
from lmms_medtasks.report.views import CellFunction, Column, Row, Source, Table
from lmms_medtasks.samples.runs import printable
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.short_texts import listed
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.statistics.intervals import Interval
from lmms_medtasks.suites.estimates import Contrast, Custom, Draw, Estimate, Macro, MacroContrast, Mean
from lmms_medtasks.task_configs.medq_deg import taxonomy
from lmms_medtasks.task_configs.medq_deg.measures import ACCURACY, DEGRADED, GROUPS, LEVELS, MACROS, pairs
from lmms_medtasks.task_configs.medq_deg.task_sets import SEVERITY, degraded_levels, level_names, levels

INTERVALS = f"In brackets: {LEVEL} interval over images; of a change between the same images."
PAIRED = (
    "L0 is the clean form of the same questions, each counted as often as it has degraded forms; a drop is positive "
    "where accuracy fell."
)
UNPAIRED = (
    "L0 is all clean questions of the group, since the degraded ones could not be joined to their clean forms; a drop "
    "is positive where accuracy fell."
)

SIGNED = (-1.0, 1.0)
"""The range of a change."""

MEAN, CLEAN_MEAN, CHANGE = Mean(), Mean(measure="before"), Mean(measure="change", bounds=SIGNED)
"""Accuracy of a group of questions; of pairs their clean forms' accuracy, and its change."""

CLEAN_MACROS = {tag: Macro(measure="before", groups=groups, skip_empty=True) for tag, groups in GROUPS.items()}
CHANGE_MACROS = {
    tag: Macro(measure="change", groups=groups, skip_empty=True, bounds=SIGNED) for tag, groups in GROUPS.items()
}


# --- Degraded questions and their clean forms -------------------------------------------------------------------------


def _with_clean_form(rows: Samples) -> Samples:
    clean, degraded = (rows.where(each) for each in ({"severity": 0}, DEGRADED))
    return clean.paired(degraded, ("pair",)).second


def joined(source: Source) -> int:
    """How many degraded questions could be joined to their clean form, with or without a score."""
    return len(source.derived(_with_clean_form).rows)


def _comparable(source: Source, tag: str) -> bool:
    """Whether groups can be compared with L0.

    A question's capability is the same at all levels: without pairs its two groups can still be compared as a whole. A
    clean question is of no category of degradations.
    """
    return 0 in levels(source) and (tag == "mid" or joined(source) > 0)


_SIDES = Contrast(first={"severity": 0}, second=DEGRADED)
"""All clean and all degraded questions of a capability."""


def _unpaired_macro(rows: Samples) -> Draw | None:
    """Macro means of the clean and of the degraded questions over the capabilities that both have, drawn together."""
    sides = [({**each, "severity": 0}, {**each, **DEGRADED}) for each in GROUPS["mid"]]
    used = [both for both in sides if all(len(rows.where(each).scored("accuracy")) for each in both)]
    first, second = (tuple(both[place] for both in used) for place in (0, 1))
    return MacroContrast(first=first, second=second).draw(rows) if used else None


_UNPAIRED_MACRO = Custom(main="change", function=_unpaired_macro)


def against_clean(source: Source, tag: str, name: str | None, statistic: str) -> Interval | None:
    """A group's accuracy at L0 (``first``) or its ``change`` from there; ``name`` None: the macro mean over groups.

    None where there is nothing to compare with.
    """
    if not _comparable(source, tag):
        return None
    if not joined(source):
        estimate: Estimate = _SIDES if name else _UNPAIRED_MACRO
        return source.interval(estimate, {tag: name} if name else {}, statistic)
    first = statistic == "first"
    if name is None:
        return source.derived(pairs).interval((CLEAN_MACROS if first else CHANGE_MACROS)[tag])
    return source.derived(pairs).interval(CLEAN_MEAN if first else CHANGE, {tag: name})


def _clean_cell(tag: str, statistic: str) -> CellFunction:
    """Cells of the tables of capabilities and categories: accuracy at L0, or the drop."""

    def cell(source: Source, row: Row, rows: Samples) -> Cell:
        found = against_clean(source, tag, row.where.get(tag), statistic)
        return percent(found if statistic == "first" else negated(found))

    return cell


def missing(source: Source, tag: str) -> list[str]:
    """The groups without an answered question."""
    return [each[tag] for each in GROUPS[tag] if not source.interval(MEAN, {**DEGRADED, **each}).n]


# --- Capabilities and categories --------------------------------------------------------------------------------------


def _group_rows(tag: str, titles: Mapping[str, str], printed: Mapping[str, int]) -> list[Row]:
    own = [
        Row((titles[name],), {tag: name}, estimates={"pairs in the paper": _constant(printed[name])}) for name in titles
    ]
    average = {"pairs in the paper": None, "questions": MACROS[tag], "accuracy": MACROS[tag]}
    return [*own, Row(("Average over these",), kind="counts", estimates=average)]


def _constant(value: int) -> CellFunction:
    return lambda source, row, rows: Cell(value)


def _group_notes(
    tag: str, head: str, titles: Mapping[str, str], more: tuple[str, ...], sources: Sequence[Source]
) -> tuple[str, ...]:
    source, notes = sources[0], []
    absent = missing(source, tag)
    if absent:
        notes.append(f"No question here: {', '.join(titles[name] for name in absent)}. The average leaves them out.")
    outside = source.rows.where({**DEGRADED, tag: None})
    if len(outside):
        names = outside.column("capability") if tag == "mid" else ["(none)"] * len(outside)
        counts = sorted(Counter(map(printable, names)).items())
        said = ", ".join(f"{name or '(no name)'} ({number:,})" for name, number in counts)
        notes.append(f"{len(outside):,} questions are of no {head} of the paper's and in no row: {said}.")
    if not _comparable(source, tag):
        notes.append("No drops: there are no clean forms of these questions here to compare with.")
    else:
        notes.append(PAIRED if joined(source) else UNPAIRED)
    return (*notes, *more, INTERVALS)


def _odd_counts(printed: Mapping[str, int]) -> tuple[str, ...]:
    """What is known of Table 4's counts that do not fit its own ratios and total."""
    odd = [each for each in discrepancies(Path(__file__).parent) if each["table"] == 4]
    excess = sum(each["recomputed"] - each["printed"] for each in odd if each["column"] == "sum of counts")
    mids = {taxonomy.mid_of_name(each["row"]) for each in odd if each["column"] == "ratio_in_mid"}
    return tuple(
        f"Pairs in the paper: the counts that Table 4 prints for {mid} sum to {count:,}; its own ratios and total fit "
        f"{count - excess:,.0f}."
        for mid, count in printed.items()
        if mid in mids
    )


def _breakdown(
    key: str, title: str, tag: str, titles: Mapping[str, str], printed: Mapping[str, int], *more: str
) -> Table:
    return Table(
        key,
        lambda sources: f"{title}, {level_names(degraded_levels(sources[0]))}",
        ("capability" if tag == "mid" else "category",),
        _group_rows(tag, titles, printed),
        (
            Column("pairs in the paper", unit="count"),
            Column("questions", MEAN, "n", within=DEGRADED),
            Column("accuracy", MEAN, within=DEGRADED),
            Column("accuracy at L0", _clean_cell(tag, "first")),
            Column("drop", _clean_cell(tag, "change"), "drop"),
        ),
        functools.partial(_group_notes, tag, "capability" if tag == "mid" else "category", titles, more),
    )


def capabilities() -> Table:
    printed = dict.fromkeys(taxonomy.mids(), 0)
    for capability in taxonomy.capabilities():
        printed[capability.mid] += capability.count
    titles = {mid: f"{mid} ({taxonomy.short_of(mid)})" for mid in printed}
    return _breakdown("capabilities", "Accuracy by capability", "mid", titles, printed, *_odd_counts(printed))


def categories() -> Table:
    found = {key: taxonomy.category(key) for key in taxonomy.categories()}
    titles = {key: each.title for key, each in found.items()}
    printed = {key: each.count for key, each in found.items()}
    return _breakdown("categories", "Accuracy by category of degradations", "category", titles, printed)


def most_lost(sources: Sequence[Source]) -> str:
    """The capability and the category that lose most, beyond chance where there are intervals; "" without a loss."""
    if not degraded_levels(sources[0]):
        return ""
    said = []
    categories_by_key = {key: taxonomy.category(key).title for key in taxonomy.categories()}
    for tag, titles in (("mid", {mid: mid for mid in taxonomy.mids()}), ("category", categories_by_key)):
        changes = {name: against_clean(sources[0], tag, name, "change") for name in titles}
        known = [
            (each.estimate, titles[name])
            for name, each in changes.items()
            if each and each.estimate is not None and (is_told_apart(each) or each.low is None)
        ]
        if known and min(known)[0] < 0:
            change, title = min(known)
            said.append(f"{title} (by {-100 * change:.1f} points)")
    return f"Most is lost in {listed(said)}" if said else ""


# --- Modalities and degradations --------------------------------------------------------------------------------------


def _modality_rows(sources: Sequence[Source]) -> list[Row]:
    """All seven modalities of the paper, and any other that the records name."""
    others = sorted(set(sources[0].rows.column("modality")) - set(taxonomy.modalities()))
    return [Row((printable(name),), {"modality": name}) for name in (*taxonomy.modalities(), *others)]


def _modality_columns(sources: Sequence[Source]) -> tuple[Column, ...]:
    asked = levels(sources[0])
    counts = (Column(f"n L{level}", ACCURACY[level], "n") for level in asked)
    return (*counts, *(Column(f"L{level}", ACCURACY[level]) for level in asked))


MODALITIES = Table("modalities", "Accuracy by modality", ("modality",), _modality_rows, _modality_columns, (INTERVALS,))
_ORDER: Mapping[Any, int] = {each.name: number for number, each in enumerate(taxonomy.degradation_types())}
_MIDS: Mapping[Any, int] = {mid: number for number, mid in enumerate(taxonomy.mids())}
_AGAINST_CLEAN = (
    Column("questions", MEAN, "n"),
    Column("accuracy", MEAN),
    Column("accuracy at L0", CLEAN_MEAN, over=pairs),
    Column("drop", CHANGE, "drop", over=pairs),
)


def _degradation_rows(sources: Sequence[Source]) -> Iterator[Row]:
    """The paper's degradations in the order of Table 5, each at each level."""
    for each in taxonomy.degradation_types():
        for level in degraded_levels(sources[0]):
            title = taxonomy.category(each.category).title
            yield Row((title, each.name, f"L{level}"), {"degradation": each.name, "severity": level})


def _heat_rows(sources: Sequence[Source]) -> Iterator[Row]:
    """Degradation by capability and level, a row for each that has questions."""

    def place(values: tuple[Any, ...]) -> tuple[int, ...]:
        level, degradation, mid = values
        return level, _ORDER.get(degradation, 99), _MIDS.get(mid, 99)

    tags = ("severity", "degradation", "mid")
    for values in sources[0].rows.where(DEGRADED).by(tags, place):
        level, degradation, mid = values
        yield Row((f"L{level}", str(degradation), mid or "(unmapped)"), dict(zip(tags, values, strict=True)))


DEGRADATIONS = Table(
    "degradations",
    "Accuracy by degradation",
    ("category", "degradation", "level"),
    _degradation_rows,
    _AGAINST_CLEAN,
    (PAIRED, INTERVALS),
    long=True,
    folded=True,
)
HEAT = Table(
    "heatmap",
    "Accuracy by degradation and capability",
    ("level", "degradation", "capability"),
    _heat_rows,
    _AGAINST_CLEAN,
    (PAIRED, INTERVALS),
    long=True,
    folded=True,
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


def _worst_rows(level: int) -> Callable[[Sequence[Source]], list[Row]]:
    """The degradations that have questions at this level."""
    wheres = {each.name: {"severity": level, "degradation": each.name} for each in taxonomy.degradation_types()}
    return lambda sources: [
        Row((name.replace("_", " "),), where)
        for name, where in wheres.items()
        if len(sources[0].rows.where(where).scored("accuracy"))
    ]


def heatmap(level: int, *, folded: bool = False) -> Chart:
    """The change from the clean questions by degradation and capability at a level; a row's end is the accuracy."""
    heads = {mid: mid.partition(" ")[0] for mid in taxonomy.mids()}
    return Chart(
        "heat",
        f"heatmap_l{level}",
        f"Where it fails: degradation by capability, L{level} ({SEVERITY[level]})",
        "Change in points from the same questions clean; darker is worse. Sorted by the share still correct. Italic, "
        f"paler: fewer than five questions. A dot: none. Columns: {', '.join(taxonomy.mids())}.",
        Table(
            "heatmap",
            "Change by degradation and capability",
            ("degradation",),
            _worst_rows(level),
            (
                *(Column(head, CHANGE, "points", 1, {"mid": mid}, over=pairs) for mid, head in heads.items()),
                Column("correct (%)", MEAN, bare=True),
            ),
        ),
        tuple(heads.values()),
        total="correct (%)",
        sort="rising",
        shown=lambda sources: level in levels(sources[0]) and 0 in levels(sources[0]),
        folded=folded,
    )
