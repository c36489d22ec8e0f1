"""The questions that show best where a model fails: a fixed rule, so that nobody picks them.

A failure is a question that the model got wrong (less than half of the best score). First come those that most other
ranked models got right (more than half), in steps of a tenth of the models; then those whose clean form the model
itself got right; then those whose tags are not among the chosen ones yet. No benchmark has more than half as much again
as its share of the places while others have a failure left, and a picture is taken once.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.site import suite_words
from lmms_medtasks.board.site.question_scores import scores_of
from lmms_medtasks.board.site.strengths import MOST_VALUES

SHOWN = 10
_CANDIDATES = 300
"""Questions of a model and benchmark that are looked at for tags."""
_STEPS = 10
_WRONG, _RIGHT, _BETWEEN, _NONE = 0, 1, 2, 3


@dataclass(frozen=True)
class Failure:
    """A question that a model got wrong.

    Attributes:
        suite, task, id: which. cluster: its picture. pair: the id of its clean form, its own where it is that.
        others, right: other ranked models with a score for it, and how many of them got it right.
        lost: the model got the clean form right. tags: what it is grouped by, tag -> value.
    """

    suite: str
    task: str
    id: str
    cluster: str
    pair: str
    others: int
    right: int
    lost: bool
    tags: Mapping[str, Any]

    @property
    def step(self) -> int:
        """Tenths of the other models that got it right."""
        return _STEPS * self.right // self.others if self.others else 0

    @functools.cached_property
    def groups(self) -> list[tuple[str, Any]]:
        """The task and the tags."""
        return [("task", self.task), *self.tags.items()]


class SuiteVerdicts:
    """Which questions of a suite each model got right: a row a question, a column a model, one byte each."""

    def __init__(self, suite: str, entries: Sequence[Entry]) -> None:
        """``entries``: the suite's ranked ones. What several tasks ask alike counts in the first of them."""
        self._suite = suite
        self._models = list(dict.fromkeys(entry.model.key for entry in entries))
        # By id and picture: data sets of one benchmark may number their questions alike.
        self._rows: dict[tuple[str, str], int] = {}
        self._tables: list[tuple[str, Entry, np.ndarray, np.ndarray]] = []
        self._tags: dict[str, tuple[str, ...]] = {}
        blocks = []
        for task in suite_words.about(suite).tasks(entries):
            own = [entry for entry in entries if entry.task == task]
            most = max(own, key=lambda entry: len(entry.questions))
            names = list(zip(most.questions.values("id"), most.questions.values("cluster"), strict=True))
            new = np.array([place for place, name in enumerate(names) if name not in self._rows], int)
            start = len(self._rows)
            self._rows |= {names[place]: start + row for row, place in enumerate(new.tolist())}
            block = np.full((len(new), len(self._models)), _NONE, dtype=np.int8)
            for entry in own:
                block[:, self._models.index(entry.model.key)] = _verdicts(entry, most.questions.ids)[new]
            blocks.append(block)
            self._tags[task] = _grouping(most)
            self._tables.append((task, most, new, np.arange(start, start + len(new))))
        self._verdicts = np.concatenate(blocks) if blocks else np.zeros((0, len(self._models)), dtype=np.int8)
        self._right = (self._verdicts == _RIGHT).sum(axis=1)
        self._known = (self._verdicts != _NONE).sum(axis=1)

    def failures(self, model: str) -> list[Failure]:
        """What a model got wrong: what most others got right first, then what it got right on the clean picture."""
        if model not in self._models:
            return []
        own = self._verdicts[:, self._models.index(model)]
        found = []
        for task, most, places, rows in self._tables:
            wrong = np.flatnonzero(own[rows] == _WRONG)
            others = self._known[rows[wrong]] - 1
            step = _STEPS * self._right[rows[wrong]] // np.maximum(others, 1)
            pairs, pictures = most.questions.values("pair"), most.questions.values("cluster")
            clean = [self._rows.get((pairs[place], pictures[place]), -1) for place in places[wrong].tolist()]
            lost = np.array([row >= 0 and own[row] == _RIGHT for row in clean], dtype=bool)
            best = np.lexsort((np.arange(len(wrong)), ~lost, -step))[:_CANDIDATES]
            found += [
                self._failure(task, most, int(places[wrong[each]]), int(rows[wrong[each]]), bool(lost[each]))
                for each in best.tolist()
            ]
        return found

    def _failure(self, task: str, most: Entry, place: int, row: int, lost: bool) -> Failure:
        asked = most.questions
        named = ((name, asked.values(name)[place]) for name in self._tags[task])
        tags = {name: value for name, value in named if value is not None}
        names = {name: str(asked.values(name)[place]) for name in ("id", "cluster", "pair")}
        return Failure(
            self._suite, task, **names, others=int(self._known[row]) - 1, right=int(self._right[row]), lost=lost,
            tags=tags,
        )  # fmt: skip


def _grouping(entry: Entry) -> tuple[str, ...]:
    """The tags that make groups of the questions."""
    asked = entry.questions
    return tuple(name for name in asked.tags if 1 < len(asked.tag(name).dictionary) <= MOST_VALUES)


def _verdicts(entry: Entry, ids: np.ndarray) -> np.ndarray:
    """(n,) verdicts of an entry on the questions ``ids``, sorted; what it was asked beyond them is left out."""
    own = entry.questions.ids
    whole = ids if own is ids or np.isin(own, ids).all() else np.union1d(ids, own)
    normal = scores_of(entry, whole).normal
    if len(whole) != len(ids):
        normal = normal[np.searchsorted(whole, ids)]
    found = np.where(normal < 0.5, _WRONG, np.where(normal > 0.5, _RIGHT, _BETWEEN))
    return np.where(np.isnan(normal), _NONE, found).astype(np.int8)


def chosen(failures: Mapping[str, Sequence[Failure]], most: int = SHOWN) -> list[Failure]:
    """At most ``most`` of a model's failures, the first that were chosen first; ``failures``: by suite."""
    left = {suite: list(found) for suite, found in failures.items()}
    seen: dict[str, Counter[tuple[str, Any]]] = {suite: Counter() for suite in left}
    taken: list[Failure] = []
    share = -(-3 * most // (2 * max(len(left), 1)))
    while len(taken) < most and any(left.values()):
        best = {
            suite: min(found, key=lambda each: _place(each, seen[each.suite])) for suite, found in left.items() if found
        }
        count = Counter(each.suite for each in taken)
        # A benchmark that has its share of the places waits until the others have none left.
        suite = min(best, key=lambda each: (count[each] >= share, -best[each].step, count[each]))
        taken.append(best[suite])
        seen[suite].update(best[suite].groups)
        left[suite] = [each for each in left[suite] if each.cluster != best[suite].cluster]
    return taken


def _place(failure: Failure, seen: Counter[tuple[str, Any]]) -> tuple[int, bool, int, str, str]:
    repeated = sum(seen[each] for each in failure.groups)
    return -failure.step, not failure.lost, repeated, failure.task, failure.id
