"""Five discordant questions of a suite, chosen by rule from the models' scores.

The rules use neither texts nor images nor the suite: only who is right on the headline's questions, and if each
question was asked twice (clean and degraded) also on the first ones. Equal scores give equal questions.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lmms_medtasks.board.entries import LeaderboardEntry
from lmms_medtasks.board.site.board_tables import BoardStandings, TaskMeasure
from lmms_medtasks.board.site.question_scores import shares_of

MOST = 5
_ALMOST = 1e-6
_MAJORITY = 0.5


@dataclass(frozen=True)
class DiscordantQuestion:
    """A chosen question. ``heading``: the rule in words. ``said``: who is right, a sentence."""

    id: str
    heading: str
    said: str


_Rule = tuple[str, np.ndarray]
"""Its heading, and (n,) floats: the question with the most is taken; NaN where the rule does not hold."""


def discordant_questions(
    standings: BoardStandings, head: TaskMeasure, first: TaskMeasure | None = None, names: tuple[str, str] = ("", "")
) -> list[DiscordantQuestion]:
    """At most five questions of a headline's task; ``first``: task and measure of their first form.

    ``names``: of the two conditions ("clean", "severe"), if there are two.
    """
    entries = [entry for entry in standings.board.of(task=head[0], ranked=True) if head[1] in entry.metrics]
    if not entries:
        return []
    scores = _Scores(standings, head, first, entries)
    if first and not len(scores.ids):
        # No question was asked twice.
        scores = _Scores(standings, head, None, entries)
    chosen: list[DiscordantQuestion] = []
    used: set[int] = set()
    images: set[str] = set()
    rules = scores.rules(names)
    # Each rule once, then again in the same order while there is room; the last one tells least.
    for heading, strength in (*rules[:-1] * MOST, *rules[-1:]):
        row = scores.strongest(strength, used, images)
        if row is None or len(chosen) == MOST:
            continue
        used.add(row)
        images.add(str(scores.clusters[row]))
        chosen.append(scores.telling(row, heading, names))
    return chosen


class _Scores:
    """Who is right: (models, questions) booleans, the best model first, over the questions scored for every model.

    ``first``: of the same questions as they were asked first, None if they were asked once.
    """

    def __init__(
        self,
        standings: BoardStandings,
        head: TaskMeasure,
        first: TaskMeasure | None,
        entries: Sequence[LeaderboardEntry],
    ) -> None:
        self._first = first
        placed = standings.of(*head)
        sign = -1 if entries[0].scale(head[1]).higher_is_better else 1
        means = {key: standing.mean.estimate or 0.0 for key, standing in placed.items()}
        entries = sorted(entries, key=lambda entry: (sign * means[entry.model.key], standings.title(entry)))
        before: dict[str, LeaderboardEntry] = {}
        if first:
            found = standings.board.of(task=first[0], ranked=True)
            before = {entry.model.key: entry for entry in found if first[1] in entry.metrics}
            entries = [entry for entry in entries if entry.model.key in before]
        ids = _common_ids(entries)
        pairs = _column_of_questions(entries[0], "pair", ids) if entries else ids
        values = [_answer_shares(entry, head[1], ids) for entry in entries]
        earlier = [_answer_shares(before[entry.model.key], first[1], pairs) for entry in entries] if first else []
        every = [*values, *earlier]
        whole = ~np.isnan(np.array(every).reshape(len(every), len(ids))).any(axis=0)
        self.ids, self.pairs = ids[whole], pairs[whole]
        self.clusters = _column_of_questions(entries[0], "cluster", self.ids) if entries else ids
        self.values = np.array(values).reshape(len(entries), len(ids))[:, whole]
        self.right, self.wrong = self.values >= 1 - _ALMOST, self.values <= _ALMOST
        self._partly = bool((~self.right & ~self.wrong).any())
        start = np.array(earlier).reshape(len(earlier), len(ids))[:, whole] if earlier else self.values
        self.was_right, self.was_wrong = start >= 1 - _ALMOST, start <= _ALMOST

    def rules(self, names: tuple[str, str]) -> list[_Rule]:
        """All rules, the most telling ones first, and last the one that fills up."""
        if not self.values.size:
            return []
        right, wrong, many = self.right, self.wrong, len(self.right)
        others = right[1:].mean(axis=0) if many > 1 else np.zeros(len(self.ids))
        most = "most others are correct" if many > 2 else "the other is correct"
        share = self.values.mean(axis=0)
        # Rounded, so that a third and two thirds are equally disputed.
        disputed = np.round(0.5 - np.abs(share - 0.5), 4)
        first, last = names
        when = f" when {last}" if self._first else ""
        alone = right.sum(axis=0) == 1
        plain = [
            (f"The best is wrong, {most}", _masked_strength(wrong[0] & (others > _MAJORITY), others)),
            ("The models disagree most", _masked_strength((disputed > 0) & (many > 1), disputed)),
            ("Only the best is correct", _masked_strength(right[0] & alone & (many > 1), 1 - others)),
            (f"{'Nobody is correct' if many > 1 else 'Wrong'}{when}", _masked_strength(wrong.all(axis=0), 1.0)),
            ("Only one is correct, and not the best", _masked_strength(wrong[0] & alone & (many > 2), 1.0)),
            (f"{'All are correct' if many > 1 else 'Correct'}{when}", _masked_strength(right.all(axis=0), 1.0)),
        ]
        if self._first is None:
            return plain
        lost, won = self.was_right & wrong, self.was_wrong & right
        never = wrong.all(axis=0) & self.was_wrong.all(axis=0)
        return [
            (f"Correct when {first}, wrong when {last}", _masked_strength(lost[0], lost.sum(axis=0))),
            plain[0],
            (f"Wrong when {first}, correct when {last}", _masked_strength(won[0], won.sum(axis=0))),
            (f"Nobody is correct, {first} or {last}", _masked_strength(never, 1.0)),
            *plain[1:],
        ]

    def strongest(self, strength: np.ndarray, used: set[int], images: set[str]) -> int | None:
        """The unused question with the most strength; of equals one of an unused image, then by id."""
        rows = [row for row in np.flatnonzero(~np.isnan(strength)).tolist() if row not in used]
        return min(rows, key=lambda row: (-strength[row], self.clusters[row] in images, row), default=None)

    def telling(self, row: int, heading: str, names: tuple[str, str]) -> DiscordantQuestion:
        many = len(self.right)
        counts = [(names[1], self.right[:, row])]
        if self._first:
            counts.insert(0, (names[0], self.was_right[:, row]))
        partly = " in all trials" if self._partly else ""
        models = "model" if many == 1 else "models"
        said = "; ".join(
            f"{f'{name}: ' if self._first else ''}{int(found.sum())} of {many} {models} correct{partly}"
            for name, found in counts
        )
        return DiscordantQuestion(str(self.ids[row]), heading, f"{said[:1].upper()}{said[1:]}.")


def _masked_strength(mask: np.ndarray | np.bool_, strength: np.ndarray | float) -> np.ndarray:
    return np.where(mask, strength, np.nan)


def _common_ids(entries: Sequence[LeaderboardEntry]) -> np.ndarray:
    distinct = {entry.questions.digest: entry.questions.ids for entry in entries}
    return functools.reduce(np.intersect1d, distinct.values()) if distinct else np.array([], dtype=str)


def _answer_shares(entry: LeaderboardEntry, metric: str, ids: np.ndarray) -> np.ndarray:
    """(n,) floats: the answer to each question from 0 (worst) to 1, NaN without a score."""
    share, own = shares_of(entry.scores(metric), entry.scale(metric)), entry.questions.ids
    places = np.minimum(np.searchsorted(own, ids), len(own) - 1)
    return np.where(own[places] == ids, share[places], np.nan).astype(np.float32)


def _column_of_questions(entry: LeaderboardEntry, name: str, ids: np.ndarray) -> np.ndarray:
    """(n,) strings: a column of these questions, all of which the entry has."""
    values = np.array(entry.questions.table.column(name).to_pylist()).astype(str)
    return values[np.searchsorted(entry.questions.ids, ids)]
