"""MedQ-Deg: tables and figures of its report, beside the published rows. Nothing here can move a number.

Chapters: ``report_calibration.py`` (confidence and calibration), ``report_models.py`` (several models).
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from lmms_medtasks.report.about import extent, own_cell
from lmms_medtasks.report.cells import NONE, negated, percent
from lmms_medtasks.report.document import Cell, Flag, Kind
from lmms_medtasks.report.drawing import DASHES, FAINT, INK, MARKERS, SERIES
from lmms_medtasks.report.plots import Drawing
from lmms_medtasks.report.suite_report import PublishedScores, Report
from lmms_medtasks.report.views import CellFunction, Column, Published, Row, Source, Table, View
from lmms_medtasks.samples.record import UNREAD
from lmms_medtasks.samples.runs import model_name, printable
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.statistics.bootstrap import Figure, Interval
from lmms_medtasks.statistics.bootstrap import part as group
from lmms_medtasks.statistics.macro import mean_of_means
from lmms_medtasks.suites.estimates import Contrast, Count, Custom, Draw, Estimate, Macro, Mean
from lmms_medtasks.suites.replies import failed_requests, outcome_count, parse_rate
from lmms_medtasks.suites.suite import Suite
from lmms_medtasks.task_configs.medq_deg import report_calibration, report_models, taxonomy
from lmms_medtasks.task_configs.medq_deg.measures import ACCURACY, DEGRADED, FALL, GROUPS, LEVELS, MACROS, pairs
from lmms_medtasks.task_configs.medq_deg.task_sets import (
    degraded_levels,
    level_names,
    level_rows,
    levels,
    setup_of,
    task_sets,
)

REFERENCE = Path(__file__).parent / "reference"
PAPER = "Liu et al., arXiv:2603.07769v1,"
PUBLISHED_GROUPS = {"commercial": "commercial", "open_source": "open-source general", "medical": "medical-specialized",
                    "all": "all groups"}  # fmt: skip
PAPER_LEVELS = (1, 2)
PAPER_TRIALS = 10
SEVERITY = {0: "clean", 1: "mild", 2: "severe"}
INTERVALS = "In brackets: 95 % interval by bootstrap over images, the same images drawn for both sides of a change."
PAIRED = (
    "L0 is the clean form of the same questions, each counted as often as it has degraded forms; a drop is positive "
    "where accuracy fell."
)
UNPAIRED = (
    "L0 is all clean questions of the group, since the degraded ones could not be joined to their clean forms; a drop "
    "is positive where accuracy fell."
)
ONE_LEVEL = "‡"

MEAN, CLEAN_MEAN, CHANGE = Mean(), Mean(measure="before"), Mean(measure="change")
"""Accuracy of a group of questions; of pairs their clean forms' accuracy, and its change."""

PAIRED_FALL = {level: Mean({"severity": level}, measure="change") for level in PAPER_LEVELS}
CLEAN_MACROS = {tag: Macro(measure="before", groups=groups, skip_empty=True) for tag, groups in GROUPS.items()}
CHANGE_MACROS = {tag: Macro(measure="change", groups=groups, skip_empty=True) for tag, groups in GROUPS.items()}


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


def _unpaired_macro(rows: Samples, tag: str) -> Draw | None:
    """Macro means of the clean and of the degraded questions over the groups that both have, drawn together."""
    clean, degraded = (rows.where(each).scored("accuracy") for each in ({"severity": 0}, DEGRADED))
    sides = [(clean.where(each), degraded.where(each)) for each in GROUPS[tag]]
    used = [both for both in sides if all(map(len, both))]
    if not used:
        return None
    parts = {}
    for place, name in enumerate(("first", "second")):
        chosen = [both[place] for both in used]
        clusters = np.concatenate([each.column("cluster") for each in chosen])
        scores = np.concatenate([each.column("accuracy.score") for each in chosen])
        cells = np.repeat(np.arange(len(used)), [len(each) for each in chosen])
        parts[name] = group(clusters.tolist(), scores, cells=cells, cell_count=len(used))
    change = Figure(lambda one, other: mean_of_means(other) - mean_of_means(one), ("first", "second"))
    return Draw(parts, {"first": Figure(mean_of_means, ("first",)), "change": change})


_UNPAIRED_MACROS = {tag: Custom(main="change", function=functools.partial(_unpaired_macro, tag=tag)) for tag in GROUPS}


def _against_clean(source: Source, tag: str, name: str | None, statistic: str) -> Interval | None:
    """A group's accuracy at L0 (``first``) or its ``change`` from there; ``name`` None: the macro mean over groups.

    None where there is nothing to compare with.
    """
    if not _comparable(source, tag):
        return None
    if not joined(source):
        estimate: Estimate = _SIDES if name else _UNPAIRED_MACROS[tag]
        return source.interval(estimate, {tag: name} if name else {}, statistic)
    first = statistic == "first"
    if name is None:
        return source.derived(pairs).interval((CLEAN_MACROS if first else CHANGE_MACROS)[tag])
    return source.derived(pairs).interval(CLEAN_MEAN if first else CHANGE, {tag: name})


def _clean_cell(tag: str, statistic: str) -> CellFunction:
    """Cells of the tables of capabilities and categories: accuracy at L0, or the drop."""

    def cell(source: Source, row: Row, rows: Samples) -> Cell:
        found = _against_clean(source, tag, row.where.get(tag), statistic)
        return percent(found if statistic == "first" else negated(found))

    return cell


def _missing(source: Source, tag: str) -> list[str]:
    """The groups without an answered question."""
    return [each[tag] for each in GROUPS[tag] if not source.interval(MEAN, {**DEGRADED, **each}).n]


# --- Beside the published models --------------------------------------------------------------------------------------


@functools.cache
def discrepancies() -> tuple[Mapping[str, Any], ...]:
    """Every printed number of Tables 2 to 6 that the paper's other numbers do not give (``discrepancies.yml``)."""
    return tuple(yaml.safe_load((REFERENCE / "discrepancies.yml").read_text("utf-8"))["discrepancies"])


def _source_notes(table: int) -> tuple[str, ...]:
    """Where the published rows are from, and which of their numbers the table's others do not give."""
    odd = [
        f"{each['row']}, {each['column']}: {each['printed']:g} printed, {each['recomputed']:g} computed"
        + (" (rounding may explain it)" if each["within_rounding"] else "")
        for each in discrepancies()
        if each["table"] == table
    ]
    source = f"Rows marked published: {PAPER} Table {table}, as printed; these models were not run here."
    return (source, *([f"Printed otherwise than its row gives: {'; '.join(odd)}."] if odd else []))


def _label(row: Mapping[str, str]) -> tuple[str, ...]:
    return row["model"], f"published, {PUBLISHED_GROUPS[row['group']]}"


def _kind(row: Mapping[str, str]) -> Kind:
    return "average" if row.get("row") == "average" else "reference"


def _own_rows(sources: Sequence[Source], *, by_groups: bool = True) -> Iterator[Row]:
    """A row for each source, with what sets it apart from the published ones."""
    for source in sources:
        name = source.name if len(sources) > 1 else model_name(source.run.content)
        asked = degraded_levels(source) if by_groups else PAPER_LEVELS
        apart = () if asked in (PAPER_LEVELS, ()) else (f"{level_names(asked)} only",)
        own = own_cell(source.run, source.tasks, *apart, mark=ONE_LEVEL if apart else "")
        yield Row((name, own), source=source)


def _accuracy_at(level: int) -> CellFunction:
    return lambda source, row, rows: percent(source.interval(ACCURACY[level]), bare=True)


def _fall_to(level: int) -> CellFunction:
    return lambda source, row, rows: percent(source.interval(FALL[level]), bare=True)


TABLE_6 = Table(
    "table6",
    "Table 6: accuracy across levels",
    ("model", "source"),
    functools.partial(_own_rows, by_groups=False),
    (
        *(Column(f"L{level}", _accuracy_at(level), "", 2) for level in LEVELS),
        *(Column(f"L{level}-L0", _fall_to(level), "", 2) for level in PAPER_LEVELS),
    ),
    ("Percent; differences in points.",),
    Published(
        REFERENCE / "table6.csv",
        {name: name for name in ("L0", "L1", "L2", "L1-L0", "L2-L0")},
        _label,
        _source_notes(6),
    ),
)


def _bare(tag: str, name: str | None, drop: bool) -> CellFunction:
    """Cells of Tables 2 and 3: accuracy over L1 and L2, or the drop; ``name`` None: the macro mean over groups."""

    def cell(source: Source, row: Row, rows: Samples) -> Cell:
        if not degraded_levels(source):
            return NONE
        if drop:
            found = negated(_against_clean(source, tag, name, "change"))
        else:
            found = source.interval(MEAN, {**DEGRADED, tag: name}) if name else source.interval(MACROS[tag])
        made = percent(found, bare=True)
        return Cell(made.value, mark="†") if name is None and _missing(source, tag) else made

    return cell


def _over(title: str, sources: Sequence[Source]) -> str:
    """The title with the levels: those of the runs if they have the same, and the published ones' if others."""
    asked = {found for each in sources if (found := degraded_levels(each))}
    if len(asked) == 1 and (only := asked.pop()) != PAPER_LEVELS:
        return f"{title}, {level_names(only)} (published: {level_names(PAPER_LEVELS)})"
    return f"{title}, {level_names(PAPER_LEVELS)}"


def _groups_table(number: int, title: str, tag: str, heads: Mapping[str, str]) -> Table:
    columns, printed = [], {}
    for name, head in {None: "Avg.", **heads}.items():
        drop = "drop" if name is None else f"{head} drop"
        columns += [
            Column(head, _bare(tag, name, drop=False), "", 1),
            Column(drop, _bare(tag, name, drop=True), "", 1),
        ]
        printed |= {name or "average": head, f"{name or 'average'} drop": drop}
    return Table(
        f"table{number}",
        functools.partial(_over, f"Table {number}: {title}"),
        ("model", "source"),
        _own_rows,
        tuple(columns),
        ("Percent; a drop is in points, positive where accuracy fell. A run's own tables have counts and intervals.",),
        Published(REFERENCE / f"table{number}.csv", printed, _label, _source_notes(number), _kind),
        {ONE_LEVEL: "Of one degraded level only; the published numbers are over L1 and L2."},
    )


TABLE_2 = _groups_table(2, "capabilities", "mid", {mid: taxonomy.short_of(mid) for mid in taxonomy.mids()})
TABLE_3 = _groups_table(
    3, "categories of degradations", "category", {key: key.replace("_", " & ") for key in taxonomy.categories()}
)


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
            "questions": {level: Count({"severity": level}) for level in LEVELS},
            "images": {level: Count({"severity": level}, function=_image_count) for level in LEVELS},
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
    missing = _missing(source, tag)
    if missing:
        notes.append(f"No question here: {', '.join(titles[name] for name in missing)}. The average leaves them out.")
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
    odd = [each for each in discrepancies() if each["table"] == 4]
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


def _capabilities() -> Table:
    printed = dict.fromkeys(taxonomy.mids(), 0)
    for capability in taxonomy.capabilities():
        printed[capability.mid] += capability.count
    titles = {mid: f"{mid} ({taxonomy.short_of(mid)})" for mid in printed}
    return _breakdown("capabilities", "Accuracy by capability", "mid", titles, printed, *_odd_counts(printed))


def _categories() -> Table:
    found = {key: taxonomy.category(key) for key in taxonomy.categories()}
    titles = {key: each.title for key, each in found.items()}
    printed = {key: each.count for key, each in found.items()}
    return _breakdown("categories", "Accuracy by category of degradations", "category", titles, printed)


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
    """The paper's eighteen in the order of Table 5, each at each level."""
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


def _draw_radar(figure: Any, sources: Sequence[Source]) -> None:
    """Accuracy by modality, a line a level; a modality without questions is a gap."""
    source, names = sources[0], taxonomy.modalities()
    angles = np.linspace(0, 2 * np.pi, len(names), endpoint=False)
    axes: Any = figure.subplots(subplot_kw={"projection": "polar"})
    axes.set_theta_offset(np.pi / 2)
    axes.set_theta_direction(-1)
    for level in levels(source):
        means = [_estimate(source.interval(ACCURACY[level], {"modality": name})) for name in names]
        axes.plot([*angles, angles[0]], [*means, means[0]], color=SERIES[level], marker=MARKERS[level],
                  linestyle=DASHES[level], markersize=4, label=f"L{level}")  # fmt: skip
    empty = set(names) - set(source.rows.column("modality"))
    axes.set_xticks(angles, [f"{name}\n(no question)" if name in empty else name for name in names])
    axes.tick_params(axis="x", pad=4)
    # The name beside the rim, not across it.
    for tick, angle in zip(axes.get_xticklabels(), angles, strict=True):
        side = np.sin(angle)
        tick.set_horizontalalignment("center" if abs(side) < 0.1 else "left" if side > 0 else "right")
    axes.set_ylim(0, 1)
    axes.set_yticks([0.25, 0.5, 0.75, 1], ["25", "50", "75", "100 %"], fontsize=7)
    axes.spines["polar"].set_color(FAINT)
    axes.grid(color=FAINT)
    figure.legend(loc="outside lower center", ncols=3)


RADAR = Drawing(
    "radar",
    "Accuracy by modality",
    "Percent of the scale at the rim. Where a modality has no question the line has a gap.",
    "modalities",
    _draw_radar,
    (5.6, 4.2),
)


def _draw_heatmap(level: int, figure: Any, sources: Sequence[Source]) -> None:
    """Accuracy by degradation and capability; cells without a question are crossed out."""
    source, rows, mids = sources[0], taxonomy.degradation_types(), taxonomy.mids()
    values = np.array(
        [
            [_estimate(source.interval(MEAN, {"severity": level, "degradation": row.name, "mid": mid})) for mid in mids]
            for row in rows
        ]
    )
    axes = figure.subplots()
    picture = axes.imshow(values, vmin=0, vmax=1, cmap="cividis", aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        if np.isnan(value):
            axes.text(column, row, "×", ha="center", va="center", color=FAINT)
        else:
            ink = "#ffffff" if value < 0.55 else "#000000"
            axes.text(column, row, f"{100 * value:.0f}", ha="center", va="center", color=ink, fontsize=8)
    axes.set_xticks(range(len(mids)), [taxonomy.short_of(mid) for mid in mids])
    axes.set_yticks(range(len(rows)), [row.name for row in rows])
    for start in (number for number in range(1, len(rows)) if rows[number].category != rows[number - 1].category):
        axes.axhline(start - 0.5, color=INK, linewidth=1.2)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    figure.colorbar(picture, ax=axes, shrink=0.6, label="accuracy")


def _heatmap(level: int) -> Drawing:
    return Drawing(
        f"heatmap_l{level}",
        f"Accuracy by degradation and capability, L{level} ({SEVERITY[level]})",
        "Percent; × has no question. Few questions stand behind some cells: their number is in the table.",
        "heatmap",
        functools.partial(_draw_heatmap, level),
        (6.4, 5.6),
        lambda sources: level in levels(sources[0]),
    )


def _estimate(interval: Interval) -> float:
    return np.nan if interval.estimate is None else interval.estimate


# --- Replies ----------------------------------------------------------------------------------------------------------


def _requests(rows: Samples) -> int:
    return sum(map(len, rows.column("trials")))


def _unscored(rows: Samples) -> int:
    return len(rows) - len(rows.scored("accuracy"))


def _count_by_level(function: Any) -> dict[int, Count]:
    return {level: Count({"severity": level}, function=function) for level in LEVELS}


IDENTICAL = {level: Mean({"severity": level}, measure="identical") for level in LEVELS}
REPLIES = Table(
    "replies",
    "Requests and replies",
    ("level",),
    level_rows(
        {
            "requests": _count_by_level(_requests),
            "failed": _count_by_level(failed_requests),
            "questions without a reply": _count_by_level(_unscored),
            "unreadable replies": _count_by_level(outcome_count(*UNREAD).function),
            "parse rate": _count_by_level(parse_rate),
            "identical trials": IDENTICAL,
        }
    ),
    (
        *(Column(name, unit="count") for name in
          ("requests", "failed", "questions without a reply", "unreadable replies")),
        Column("parse rate"),
        Column("identical trials", bare=True),
    ),
    (
        "Unreadable replies count as incorrect, as in the paper; failed requests count as nothing and are left out.",
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
            f"T = {setup.trials}: calibration from so few votes is coarse (C takes few values, and guessing looks "
            f"confident); the paper uses T = {PAPER_TRIALS} (task medq_deg_calib).",
        )
    yield Flag("note", _FAMILIES[setup.family])


def facts(suite: Suite, source: Source) -> tuple[tuple[str, str], ...]:
    """Whose images they are, and T."""
    setup = setup_of(source)
    return ("Images", _IMAGES[setup.family]), ("Trials (T)", str(setup.trials))


def published_scores(task: str) -> Iterator[PublishedScores]:
    """Table 6, for the task of all levels."""
    published = TABLE_6.published
    for row in published.rows() if task == "medq_deg" and published else ():
        cells = {f"accuracy_l{level}": Cell(float(row[f"L{level}"])) for level in LEVELS}
        yield PublishedScores(PAPER, row["model"], "published, Table 6", cells)


def _has_degraded(sources: Sequence[Source]) -> bool:
    return bool(degraded_levels(sources[0]))


REPORT = Report(
    sources=task_sets,
    facts=facts,
    label=lambda source: source.condition,
    extent=lambda source: extent(source.run, source.tasks),
    views=(
        View("levels", "Accuracy by level", (LEVELS_TABLE, TABLE_6)),
        View("capabilities", "Capabilities", (_capabilities(), TABLE_2), shown=_has_degraded),
        View("categories", "Categories of degradations", (_categories(), TABLE_3), shown=_has_degraded),
        View("modalities", "Modalities", (MODALITIES,), (RADAR,)),
        View(
            "degradations",
            "Degradations",
            (DEGRADATIONS, HEAT),
            tuple(map(_heatmap, PAPER_LEVELS)),
            shown=_has_degraded,
        ),
        report_calibration.VIEW,
        View("replies", "Requests and replies", (REPLIES,)),
    ),
    compared=(
        View("overview", "The models together", (report_models.OVERVIEW,)),
        View("published", "Beside the published models", (TABLE_6, TABLE_2, TABLE_3)),
    ),
    more=report_models.sections,
    caveats=caveats,
    compared_caveats=report_models.caveats,
    published_scores=published_scores,
    tests=lambda source: {
        f"L{level}": frozenset(rows.column("pair")) for (level,), rows in source.rows.by(["severity"]).items()
    },
)
