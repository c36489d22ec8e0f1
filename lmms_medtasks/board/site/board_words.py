"""What the first page says in words: the finding, a sentence a suite, and what limits the board."""

from __future__ import annotations

from collections.abc import Mapping

from lmms_medtasks.board.boards import Board
from lmms_medtasks.board.model_names import short_names
from lmms_medtasks.board.site.board_tables import Standings
from lmms_medtasks.board.site.finding_words import better, guessing_text, mean_text, not_told_apart
from lmms_medtasks.board.site.guessing import against
from lmms_medtasks.board.site.leaderboard_table import Leaderboard, SuiteColumn
from lmms_medtasks.board.site.number_marks import UNREAD
from lmms_medtasks.board.site.ranking import Standing
from lmms_medtasks.board.site.scatter import Drawn
from lmms_medtasks.short_texts import interval_text, listed


def headline(standings: Standings, found: Leaderboard, drawn: Drawn | None) -> str:
    """The board's finding: the best model, its number, what it loses, and who is not told apart from it."""
    names = short_names(standings.titles.values())
    if drawn and drawn.best.key:
        task, measure = drawn.bad
        own = standings.of(task, measure)
        best = drawn.best
        if (best.loss.low or 0.0) > 0 and _leaders(own, standings) == [best.key]:
            digits, unit = drawn.shown.digits, drawn.shown.unit
            lead = drawn.said.lead.format(
                model=names[best.name],
                good=f"{best.good.value:.{digits}f} {unit}",
                bad=f"{best.bad.value:.{digits}f} {unit}",
                interval=interval_text(best.bad.low, best.bad.high, digits).strip(),
            ).strip()  # fmt: skip
            return f"{lead}{_relation(drawn.bad, [best.key], own, standings, names, drawn)}."
    for head in found.heads:
        of = head.task, head.measure
        own = standings.of(*of)
        if keys := _leaders(own, standings):
            who = listed([names[standings.titles[key]] for key in keys])
            verb = "is the best measured model" if len(keys) == 1 else "share the first place"
            number = f"{mean_text(own[keys[0]].mean, head.shown)}{standings.judged_by(keys[0], *of)}"
            number += _guessing(own, keys, head, standings)
            said = f"{who} {verb} on {head.title}, {head.words}: {number}"
            return f"{said}{_untold_loss(drawn, keys, head)}{_relation(of, keys, own, standings, names)}."
    return "No model has a rank yet." if standings.board.entries else "There is no entry."


def _untold_loss(drawn: Drawn | None, leaders: list[str], head: SuiteColumn) -> str:
    """Where the loss of the one that leads alone could be chance: that it could."""
    if drawn is None or [drawn.best.key] != leaders or drawn.suite != head.suite or drawn.best.loss.low is None:
        return ""
    change = f"{'gain' if drawn.best.y < 0 else 'loss'} of {abs(drawn.best.y):.{drawn.shown.digits}f}"
    return f"; its {change} points is not told apart from zero"


def finding(standings: Standings, suite: str, found: Leaderboard) -> str:
    """A suite in a sentence or two: who is best, who is not told apart, and the best published model."""
    head = next((each for each in found.heads if each.suite == suite), None)
    if head is None:
        return "No model is ranked."
    of = head.task, head.measure
    own = standings.of(*of)
    keys = _leaders(own, standings)
    said = "No model has a rank."
    if keys:
        names = short_names(standings.titles.values())
        who = listed([names[standings.titles[key]] for key in keys])
        said = f"{head.words[:1].upper()}{head.words[1:]}: {who} {mean_text(own[keys[0]].mean, head.shown)}"
        said += standings.judged_by(keys[0], *of)
        said += f"{_guessing(own, keys, head, standings)}{_relation(of, keys, own, standings, names)}."
    column = found.heads.index(head)
    printed = [row for row in (*found.published, *found.folded) if row.scores[column].sort is not None]
    unit = " %" if head.shown.unit == "%" else ""
    numbers = []
    for human, called in ((False, "best published model "), (True, "people (published): ")):
        rows = [row for row in printed if row.human is human]
        if rows:
            best = max(rows, key=lambda row: row.scores[column].sort or 0.0)
            numbers.append(f"{called}{best.name}, {best.scores[column].number}{unit}")
    if numbers:
        said += f" {numbers[0][:1].upper()}{'; '.join(numbers)[1:]}."
    return said


def _leaders(own: Mapping[str, Standing], standings: Standings) -> list[str]:
    """The models with the first rank; several where they are tied."""
    return sorted((key for key, each in own.items() if each.rank == 1), key=lambda key: standings.titles[key])


def _guessing(own: Mapping[str, Standing], leaders: list[str], head: SuiteColumn, standings: Standings) -> str:
    """Where the best one could be guessing: that it could; where its replies were not read, that."""
    mean = own[leaders[0]].mean
    if standings.is_hard_to_read(leaders[0], head.task, head.measure):
        return f", {UNREAD}"
    if head.chance is None:
        return ""
    chance = head.chance / head.shown.factor
    words = against(mean, chance, head.shown.higher_is_better)
    return f", {guessing_text(words, chance, head.shown)}" if words else ""


def _relation(
    of: tuple[str, str],
    leaders: list[str],
    own: Mapping[str, Standing],
    standings: Standings,
    names: Mapping[str, str],
    drawn: Drawn | None = None,
) -> str:
    """How the best one stands to the others on a task and measure, as the end of a sentence."""
    others = [key for key, each in own.items() if key not in leaders and each.rank is not None]
    if not others:
        return "; it is the only one ranked" if len(leaders) == 1 else ""
    untold = {key for leader in leaders for key in standings.alike(*of, leader)}
    alike = [names[standings.titles[key]] for key in others if key in untold]
    if alike:
        return f"; {not_told_apart(alike, 'it' if len(leaders) == 1 else 'them')}"
    if own[leaders[0]].low is None:
        return ""
    known = drawn is not None and drawn.chance is not None and len(drawn.measured) == len(own)
    if drawn and known and not any(map(drawn.beats_guessing, drawn.measured[1:])):
        return "; no other model measured on it beats guessing"
    return f"; {better([names[standings.titles[key]] for key in others])}"


def warnings(board: Board) -> list[tuple[str, str]]:
    """What a reader must know before the numbers, a line each: the word that stands out, and what it means."""
    said = []
    ranked = [entry for entry in board.entries if entry.ranked]
    mini = [entry for entry in ranked if entry.variant == "mini"]
    if mini:
        count = (
            "All ranked entries are" if len(mini) == len(ranked) else f"{len(mini)} of {len(ranked)} ranked entries are"
        )
        said.append(
            (
                "Practice data.",
                f"{count} on drawn phantoms (mini data). They do not compare with the published rows (real data).",
            )
        )
    if refused := board.refused_count:
        what = "run or task" if refused == 1 else "runs or tasks"
        said.append(("Refused.", f"{refused} {what} refused."))
    open_tasks = sum(bool(each.unverified) for each in board.references.values())
    if open_tasks or (board.entries and not board.owned):
        parts = []
        if open_tasks:
            parts.append(f"Questions, data or judge of {open_tasks} of {len(board.references)} tasks are not pinned.")
        if not board.owned:
            parts.append("A model's name is whatever its submitter wrote.")
        said.append(("Unverified.", " ".join(parts)))
    return said
