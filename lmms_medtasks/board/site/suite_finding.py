"""The sentence that a suite's page begins with: who is best, what it loses, who is not told apart from whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from lmms_medtasks.board.boards import Board
from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.site import changes
from lmms_medtasks.board.site.board_tables import Standings
from lmms_medtasks.board.site.finding_words import NAMED, better, guessing_text, mean_text, not_told_apart
from lmms_medtasks.board.site.guessing import against, guessing
from lmms_medtasks.board.site.number_marks import UNREAD
from lmms_medtasks.board.site.ranking import Standing
from lmms_medtasks.board.site.suite_chart import SuiteChart, TaskMeasure
from lmms_medtasks.board.site.suite_words import About
from lmms_medtasks.report.findings import BELOW, NO_BETTER
from lmms_medtasks.short_texts import interval_text, listed_or_counted

_SEVERAL = 3
"""Models from which on it is said that all of them lose."""
_SAME = 0.05
"""Points below which a difference is none: it would be shown as 0.0."""


def finding(
    about: About, board: Board, standings: Standings, head: TaskMeasure | None, drawn: SuiteChart | None
) -> str:
    """A suite's finding as a sentence."""
    found = standings.of(*head) if head else {}
    measured = {key: each for key, each in found.items() if each.mean.estimate is not None}
    if head is None or not measured:
        return f"{about.title}: {_nobody(board.of(suite=about.name))}"
    shown = board.scale(*head)
    sign = -1 if shown.higher_is_better else 1
    ordered = sorted(
        measured, key=lambda key: (sign * (measured[key].mean.estimate or 0.0), standings.titles[key].lower())
    )
    best = next((key for key in ordered if measured[key].rank == 1), ordered[0])
    said = f"{about.title}: {standings.titles[best]} {mean_text(measured[best].mean, shown)} {about.phrase_of(*head)}"
    said += standings.judged_by(best, *head)
    said += f", {UNREAD}" if standings.is_hard_to_read(best, *head) else ""
    said += _loss(about, head, drawn, standings, best)
    clauses = [_guessers(board, head, measured, ordered, standings)]
    alone = clauses[0].startswith("the other")
    clauses.insert(0, _others(head, best, measured, ordered, standings, alone))
    clauses.insert(1, _all_lose(drawn, head, standings, measured))
    return "; ".join([said, *filter(None, clauses)]) + "."


def _nobody(entries: Sequence[Entry]) -> str:
    """Why nobody is ranked."""
    codes = Counter(each.code.replace("_", " ") for entry in entries for each in entry.problems if each.level != "flag")
    why = ", ".join(f"{code} ({count})" for code, count in codes.most_common(NAMED))
    count = f"{len(entries)} entries are" if len(entries) != 1 else "the only entry is"
    return f"no model is ranked yet; {count} not ranked{f': {why}' if why else ''}."


def _loss(about: About, head: TaskMeasure, drawn: SuiteChart | None, standings: Standings, best: str) -> str:
    """``, 23.2 points [20.4, 26.0] less than on clean images``, of the best model; and whether that could be chance."""
    title = standings.titles[best]
    row = next((each for each in drawn.rows if each.name == title), None) if drawn else None
    if drawn is None or row is None or row.change is None or not _is_change(drawn, head):
        return ""
    words = about.phrase_of(*drawn.series[0].of)
    if abs(row.change) < _SAME:
        return f", as much as {words}"
    unit = "points" if drawn.series[0].measure.unit == "%" else drawn.series[0].measure.unit
    fewer = row.change < 0
    ends = _ends(drawn, standings, best)
    interval = doubt = ""
    if ends is not None:
        low, high = ends if fewer else (-ends[1], -ends[0])
        interval = interval_text(low, high)
        doubt = ", which could be chance" if low <= 0 <= high else ""
    return f", {abs(row.change):.1f} {unit}{interval} {'less' if fewer else 'more'} than {words}{doubt}"


def _ends(drawn: SuiteChart, standings: Standings, best: str) -> tuple[float, float] | None:
    """The interval's ends of what the best model loses from the first series to the last, as shown; None without."""
    (first_task, good), (last_task, bad) = drawn.series[0].of, drawn.series[-1].of
    ranked = {entry.task: entry for entry in standings.board.entries if entry.model.key == best and entry.ranked}
    found = changes.loss(ranked[first_task], good, ranked[last_task], bad) if standings.resamples else None
    if found is None or found.low is None or found.high is None:
        return None
    factor = drawn.series[-1].measure.factor
    return factor * found.low, factor * found.high


def _is_change(drawn: SuiteChart, head: TaskMeasure) -> bool:
    return drawn.kind == "change" and len(drawn.series) > 1 and drawn.series[-1].of == head


def _all_lose(
    drawn: SuiteChart | None, head: TaskMeasure, standings: Standings, measured: Mapping[str, Standing]
) -> str:
    """How many models lose beyond chance, and how much; without intervals how many lose, if all do."""
    if drawn is None or not _is_change(drawn, head):
        return ""
    changed = {each.name: -each.change for each in drawn.rows if each.change is not None}
    if len(changed) < _SEVERAL:
        return ""
    ends = {standings.titles[key]: _ends(drawn, standings, key) for key in measured if standings.titles[key] in changed}
    known = any(each is not None for each in ends.values())
    lost = [
        each for name, each in changed.items()
        if each >= _SAME and (not known or ((own := ends.get(name)) is not None and own[0] > 0))
    ]  # fmt: skip
    if len(lost) < (_SEVERAL if known else len(changed)):
        return ""
    least, most = f"{min(lost):.1f}", f"{max(lost):.1f}"
    who = f"all {len(lost)}" if len(lost) == len(changed) else f"{len(lost)} of {len(changed)}"
    beyond = " beyond chance" if known else ""
    return f"{who} lose{beyond}, by {least if least == most else f'{least} to {most}'} points"


def _others(
    head: TaskMeasure,
    best: str,
    measured: Mapping[str, Standing],
    ordered: Sequence[str],
    standings: Standings,
    alone: bool,
) -> str:
    """Who is not told apart from the best; ``alone``: that all others are no better than guessing is said anyway."""
    if len(measured) == 1:
        return "the only model that is ranked"
    if measured[best].rank is None:
        return f"no ranks: {measured[best].reason}"
    untold = standings.alike(*head, best)
    equal = [key for key in ordered if key != best and measured[key].rank == measured[best].rank]
    first, alike = ([standings.titles[key] for key in ordered if key in each] for each in (equal, {*untold} - {*equal}))
    said = [f"shares the first place with {listed_or_counted(first, NAMED, 'others')}"] if first else []
    said += [not_told_apart(alike)] if alike else []
    if said:
        return "; ".join(said)
    if measured[best].low is None or alone:
        return ""
    return better([standings.titles[key] for key in ordered if key != best])


def _guessers(
    board: Board, head: TaskMeasure, measured: Mapping[str, Standing], ordered: Sequence[str], standings: Standings
) -> str:
    """Who is no better than guessing, where it is known what that gets."""
    entries = {entry.model.key: entry for entry in board.of(task=head[0], ranked=True) if head[1] in entry.metrics}
    chance = guessing(entries[ordered[0]], head[1])
    if chance is None:
        return ""
    shown = board.scale(*head)
    # Of a model whose replies could not be read nothing is said.
    words = {
        key: "" if standings.is_hard_to_read(key, *head)
        else against(measured[key].mean, chance, shown.higher_is_better)
        for key in ordered
    }  # fmt: skip
    weak = [key for key in ordered if words[key]]
    if not weak:
        return ""
    kinds = [kind for kind in (NO_BETTER, BELOW) if kind in words.values()]
    if len(weak) == len(ordered) and kinds != [BELOW]:
        return _none_better(len(weak), guessing_text(NO_BETTER, chance, shown))
    said = []
    for kind in kinds:
        own = [key for key in weak if words[key] == kind]
        if len(own) == len(ordered):
            who = "" if len(own) == 1 else f"{'both' if len(own) == 2 else f'all {len(own)}'} are "
        elif len(own) == len(ordered) - 1 and ordered[0] not in own:
            who = f"the other, {standings.titles[own[0]]}, is " if len(own) == 1 else f"the other {len(own)} are "
        else:
            who = listed_or_counted([standings.titles[key] for key in own], NAMED, f"of {len(ordered)}")
            who += " is " if len(own) == 1 else " are "
        said.append(f"{who}{guessing_text(kind, chance, shown) if kind == kinds[0] else kind}")
    return "; ".join(said)


def _none_better(count: int, level: str) -> str:
    """``level``: ``no better than guessing (25.0 %)``."""
    if count == 1:
        return level
    return f"{'neither' if count == 2 else f'none of the {count}'} is {level.removeprefix('no ')}"
