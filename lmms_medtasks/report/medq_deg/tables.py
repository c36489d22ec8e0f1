"""A run's own tables: levels, capabilities, categories, modalities, degradations, and how the replies could be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lmms_medtasks.report.cells import NONE, count, fall, label, negated, percent, percent_of, points, share
from lmms_medtasks.report.document import Cell, Row, Table
from lmms_medtasks.report.medq_deg.analysis import Analysis, Breakdown, Grouped
from lmms_medtasks.task_configs.medq_deg import reference, taxonomy

_INTERVALS = "In brackets: 95 % interval by bootstrap over images, the same images drawn for both sides of a change."
_PAIRED = (
    "L0 is the clean form of the same questions, each counted as often as it has degraded forms; a drop is positive "
    "where accuracy fell."
)
_UNPAIRED = (
    "L0 is all clean questions of the group, since the degraded ones could not be joined to their clean forms; a drop "
    "is positive where accuracy fell."
)


def levels(analysis: Analysis) -> Table:
    """Accuracy at each level and its change from L0, whole sets and paired by question."""
    rows = []
    for number, level in analysis.levels.items():
        fall = analysis.falls.get(number)
        cells = (
            Cell(f"L{number}"),
            Cell(level.questions),
            Cell(level.images),
            percent(level.accuracy.mean),
            percent(fall.whole.change) if fall else NONE,
            percent(fall.paired.change) if fall else NONE,
            Cell(fall.paired.after.n) if fall else NONE,
        )
        rows.append(Row(cells))
    columns = (
        label("level"),
        count("questions"),
        count("images"),
        share("accuracy", 2),
        points("minus L0", 2),
        points("minus L0, paired", 2),
        count("pairs"),
    )
    notes = (
        "Accuracy is the mean over trials of each question, then over questions (equation 2).",
        "minus L0: all questions of both levels, as in Table 6. Paired: each degraded question against its clean form.",
        _INTERVALS,
    )
    return Table("levels", "Accuracy by level", columns, tuple(rows), notes)


def capabilities(breakdown: Breakdown) -> Table:
    """Table 2 of this run with counts and intervals."""
    printed = {mid: 0 for mid in breakdown.names}
    for capability in taxonomy.capabilities():
        printed[capability.mid] += capability.count
    titles = {mid: f"{mid} ({taxonomy.short_of(mid)})" for mid in breakdown.names}
    title = f"Accuracy by capability, {level_names(breakdown.levels)}"
    return _breakdown("capabilities", title, "capability", breakdown, titles, printed, _odd_counts(printed))


def categories(breakdown: Breakdown) -> Table:
    """Table 3 of this run with counts and intervals."""
    found = {key: taxonomy.category(key) for key in breakdown.names}
    titles = {key: category.title for key, category in found.items()}
    printed = {key: category.count for key, category in found.items()}
    title = f"Accuracy by category of degradations, {level_names(breakdown.levels)}"
    return _breakdown("categories", title, "category", breakdown, titles, printed)


def level_names(levels: Sequence[int]) -> str:
    """``L1 and L2``."""
    return " and ".join(f"L{level}" for level in levels)


def _odd_counts(printed: Mapping[str, int]) -> tuple[str, ...]:
    """What is known of Table 4's counts that do not fit its own ratios and total."""
    odd = [each for each in reference.discrepancies() if each.table == 4]
    excess = sum(each.recomputed - each.printed for each in odd if each.column == "sum of counts")
    mids = {taxonomy.mid_of_name(each.row) for each in odd if each.column == "ratio_in_mid"}
    return tuple(
        f"Pairs in the paper: the counts that Table 4 prints for {mid} sum to {count:,}; its own ratios and total fit "
        f"{count - excess:,.0f}."
        for mid, count in printed.items()
        if mid in mids
    )


def _breakdown(
    key: str,
    title: str,
    head: str,
    found: Breakdown,
    titles: Mapping[str, str],
    printed: Mapping[str, int],
    more_notes: tuple[str, ...] = (),
) -> Table:
    rows = []
    for name in found.names:
        group = found.groups.get(name)
        rows.append(Row((Cell(titles[name]), Cell(printed[name]), *_group(group))))
    average, change = found.average, found.average_change
    cells = (percent(change.before) if change else NONE, percent(negated(change.change)) if change else NONE)
    total = Cell(sum(average.n.values()))
    rows.append(Row((Cell("Average over these"), NONE, total, percent(average.mean), *cells), "counts"))
    columns = (
        label(head),
        count("pairs in the paper"),
        count("questions"),
        share("accuracy"),
        share("accuracy at L0"),
        fall("drop"),
    )
    return Table(key, title, columns, tuple(rows), (*_breakdown_notes(found, titles, head), *more_notes, _INTERVALS))


def _breakdown_notes(found: Breakdown, titles: Mapping[str, str], head: str) -> tuple[str, ...]:
    notes = []
    if found.average.missing:
        missing = ", ".join(titles[name] for name in found.average.missing)
        notes.append(f"No question here: {missing}. The average leaves them out.")
    if found.unmapped:
        named = ", ".join(f"{name or '(no name)'} ({number:,})" for name, number in sorted(found.unmapped.items()))
        total = sum(found.unmapped.values())
        notes.append(f"{total:,} questions are of no {head} of the paper's and in no row: {named}.")
    if found.average_change is None:
        notes.append("No drops: there are no clean forms of these questions here to compare with.")
    elif found.paired:
        notes.append(_PAIRED)
    else:
        notes.append(_UNPAIRED)
    return tuple(notes)


def _group(group: Grouped | None) -> tuple[Cell, ...]:
    """Questions, accuracy, accuracy at L0, drop."""
    if group is None:
        return Cell(0), NONE, NONE, NONE
    change = group.change
    before = (percent(change.before), percent(negated(change.change))) if change else (NONE, NONE)
    return (Cell(group.accuracy.mean.n), percent(group.accuracy.mean), *before)


def modalities(analysis: Analysis) -> Table:
    """Accuracy by modality and level; all seven modalities of the paper, and any other that the records name."""
    named = {key[0] for groups in analysis.modalities.values() for key in groups}
    names = [*taxonomy.modalities(), *sorted(named - set(taxonomy.modalities()))]
    rows = []
    for name in names:
        groups = [analysis.modalities[level].get((name,)) for level in analysis.levels]
        counts = [Cell(group.mean.n if group else 0) for group in groups]
        rows.append(Row((Cell(name), *counts, *(percent(group.mean) if group else NONE for group in groups))))
    heads = [f"L{level}" for level in analysis.levels]
    columns = (label("modality"), *(count(f"n {head}") for head in heads), *(share(head) for head in heads))
    return Table("modalities", "Accuracy by modality", columns, tuple(rows), (_INTERVALS,))


def degradations(analysis: Analysis) -> Table:
    """Accuracy and drop by degradation and level, the paper's eighteen in the order of Table 5."""
    rows = [
        Row(
            (
                Cell(taxonomy.category(each.category).title),
                Cell(each.name),
                Cell(f"L{level}"),
                *_group(groups.get((each.name,))),
            )
        )
        for each in taxonomy.degradation_types()
        for level, groups in analysis.degradations.items()
    ]
    columns = (
        label("category"),
        label("degradation"),
        label("level"),
        count("questions"),
        share("accuracy"),
        share("accuracy at L0"),
        fall("drop"),
    )
    notes = (_PAIRED, _INTERVALS)
    return Table("degradations", "Accuracy by degradation", columns, tuple(rows), notes, long=True, folded=True)


def heat(analysis: Analysis) -> Table:
    """Degradation by capability and level, one row a cell that has questions: the heatmaps' numbers."""
    order: dict[Any, int] = {each.name: number for number, each in enumerate(taxonomy.degradation_types())}
    mids: dict[Any, int] = {mid: number for number, mid in enumerate(taxonomy.mids())}
    rows = [
        Row((Cell(f"L{level}"), Cell(str(key[0])), Cell(str(key[1] or "(unmapped)")), *_group(group)))
        for level, groups in analysis.heat.items()
        for key, group in sorted(groups.items(), key=lambda item: (order.get(item[0][0], 99), mids.get(item[0][1], 99)))
    ]
    columns = (
        label("level"),
        label("degradation"),
        label("capability"),
        count("questions"),
        share("accuracy"),
        share("accuracy at L0"),
        fall("drop"),
    )
    notes = (_PAIRED, _INTERVALS)
    title = "Accuracy by degradation and capability"
    return Table("heatmap", title, columns, tuple(rows), notes, long=True, folded=True)


def replies(analysis: Analysis) -> Table:
    """What became of the requests at each level."""
    rows = [
        Row(
            (
                Cell(f"L{number}"),
                Cell(level.replies + level.failed),
                Cell(level.failed),
                Cell(level.accuracy.unscored),
                Cell(level.unreadable),
                percent_of(level.parse_rate),
                percent_of(level.identical),
            )
        )
        for number, level in analysis.levels.items()
    ]
    columns = (
        label("level"),
        count("requests"),
        count("failed"),
        count("questions without a reply"),
        count("unreadable replies"),
        share("parse rate"),
        share("identical trials"),
    )
    notes = (
        "Unreadable replies count as incorrect, as in the paper; failed requests count as nothing and are left out.",
        "Identical trials: share of the questions whose replies are the same to the letter.",
    )
    return Table("replies", "Requests and replies", columns, tuple(rows), notes, folded=True)
