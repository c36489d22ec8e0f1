"""What the first page says in words: the finding, a sentence a suite, and what limits the board."""

from __future__ import annotations

from lmms_medtasks.board.boards import Board
from lmms_medtasks.board.model_names import short_names
from lmms_medtasks.board.site import suite_words
from lmms_medtasks.board.site.board_tables import Standings
from lmms_medtasks.board.site.finding_words import HeadlineFinding, nobody
from lmms_medtasks.board.site.leaderboard_table import Leaderboard, SuiteColumn


def headline(standings: Standings, found: Leaderboard) -> str:
    """The board's finding: that on the first suite with a rank."""
    for head in found.heads:
        finding = _finding(standings, head)
        if any(each.rank == 1 for each in standings.of(head.task, head.measure).values()):
            return f"{head.title}: {finding.sentence(2)}"
    return "No model has a rank yet." if standings.board.entries else "There is no entry."


def card(standings: Standings, suite: str, found: Leaderboard) -> str:
    """A suite in a sentence or two: who is best, who is not told apart, and the best published model."""
    head = next((each for each in found.heads if each.suite == suite), None)
    if head is None:
        said = nobody(standings.board.of(suite=suite))
        return f"{said[:1].upper()}{said[1:]}."
    said = _finding(standings, head).sentence(2)
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


def _finding(standings: Standings, head: SuiteColumn) -> HeadlineFinding:
    names = short_names(standings.titles.values())
    return HeadlineFinding(suite_words.about(head.suite), standings, (head.task, head.measure), names)


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
