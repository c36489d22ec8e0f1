"""Where a model is strong and where it is weak: groups of questions by tag, against the other models or its own mean.

Looked at are the groups of each benchmark's headline measure that have questions about enough clusters. A group's
difference is tested, and all groups of a model are corrected for together (Holm): among many groups the most extreme
ones are extreme by chance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.site.bullets import LEAST_FIELD
from lmms_medtasks.board.site.guessing import guessing, is_told_from_guessing
from lmms_medtasks.board.site.ranking import common_scores
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.statistics import confidence
from lmms_medtasks.statistics.intervals import Interval, intervals, mean_interval
from lmms_medtasks.statistics.sign_flip import sign_flip
from lmms_medtasks.statistics.significance import adjust
from lmms_medtasks.statistics.sums import Difference, mean_statistic, range_of, scored
from lmms_medtasks.suites.suite import Measure

LEAST_CLUSTERS = 5
"""Clusters (images) of a group from which on it is looked at: those that an interval takes."""
MOST_VALUES = 40
"""Values of a tag from which on it names questions and does not group them."""
SHOWN = 3
_LEVELS = 12
"""Halvings by which a p value is found from intervals."""
_NO_CHANCE, _SURE, _TESTED = 1.9, 5.0, 6
"""A group's summed differences over the root of their squares: below the first it is not told apart, whatever the other
groups. From the second on, and for all but the six most extreme groups between, the p value is Hoeffding's bound, which
that of the sign-flip test never exceeds: the test takes milliseconds."""
_TINY = 1e-12


@dataclass(frozen=True)
class Group:
    """A model on a group of questions; numbers are in the measure's own unit.

    Attributes:
        task, tag, value: whose questions. questions, clusters: how many.
        mean: the model's. reference: the median of the other models, or the model's mean over the other questions.
        others: models that the median is of; 0: the reference is the model's own mean.
        better: how much better than the reference, as a share of the scale; less than 0 is worse.
        p: of no difference; ``adjusted``: corrected over all groups of the model.
    """

    task: str
    tag: str
    value: Any
    questions: int
    clusters: int
    mean: float
    reference: float
    others: int
    better: float
    p: float
    adjusted: float = 1.0

    @property
    def told_apart(self) -> bool:
        """Whether it differs beyond chance, after the correction."""
        return self.adjusted < confidence.alpha()


@dataclass(frozen=True)
class Extremes:
    """The strongest and the weakest groups of a model, what differs beyond chance first; of ``looked`` groups."""

    strongest: tuple[Group, ...] = ()
    weakest: tuple[Group, ...] = ()
    looked: int = 0


def extremes(
    groups: Sequence[Group],
    questions_of: Callable[[Group], frozenset[str]],
    is_strength: Callable[[Group, float], bool] = lambda group, level: True,
) -> Extremes:
    """The extremes of a model's groups of all benchmarks.

    Where some are held against other models, those that are not are left out: the two differences do not compare. A
    group that shares most of its questions with a more extreme one is left out too: it says the same again.
    ``questions_of``: the ids of a group's questions. ``is_strength``: whether a group may be called strong, which one
    that guessing explains may not; by an interval of a level at which those of all groups hold together.
    """
    against_others = [each for each in groups if each.others]
    chosen = against_others or list(groups)
    corrected = adjust([each.p for each in chosen])
    found = [replace(each, adjusted=p) for each, p in zip(chosen, corrected, strict=True)]

    def place(group: Group) -> tuple[bool, float, str, str, str]:
        return not group.told_apart, -abs(group.better), group.task, group.tag, str(group.value)

    def first(sign: int) -> tuple[Group, ...]:
        kept: list[tuple[Group, frozenset[str]]] = []
        for group in sorted((each for each in found if sign * each.better > 0), key=place):
            if len(kept) == SHOWN:
                break
            if sign > 0 and not is_strength(group, 1 - confidence.alpha() / len(found)):
                continue
            own = questions_of(group)
            if not any(group.task == other.task and _mostly(own, ids) for other, ids in kept):
                kept.append((group, own))
        return tuple(group for group, _ in kept)

    return Extremes(first(1), first(-1), len(found))


def _mostly(one: frozenset[str], other: frozenset[str]) -> bool:
    return 2 * len(one & other) > min(len(one), len(other))


def questions(group: Group, entry: Entry, metric: str) -> frozenset[str]:
    """The ids of a group's questions that the model has a score for."""
    return frozenset(_rows(group, entry, metric).column("id").tolist())


def filters(group: Group, entry: Entry, metric: str) -> list[tuple[str, Any]]:
    """The tags, with their values, that leave a group's questions: its own, and those that the metric is restricted to.

    Where a metric is about some of a task's questions only (closed ones, those of one set), a group is fewer than all
    with its tag. Added is what all questions of the metric have in common, while it leaves others out.
    """
    own, asked = _rows(group, entry, metric).rows, entry.scored(metric).rows
    codes = entry.questions.codes(group.tag)
    kept, found = codes == codes[own[0]], [group.tag]
    common = _common(entry, asked) if kept.sum() > len(own) else {}
    while common and kept.sum() > len(own):
        left = {name: kept & (each == each[own[0]]) for name, each in common.items()}
        name = min(left, key=lambda each: int(left[each].sum()))
        if left[name].sum() == kept.sum():
            break
        kept = left[name]
        found.append(name)
    return [(name, entry.questions.tag(name)[int(own[0])].as_py()) for name in found]


def _common(entry: Entry, asked: np.ndarray) -> dict[str, np.ndarray]:
    """The tags that group questions and that all of ``asked`` have alike: of each (n,) codes of all questions."""
    codes = ((name, entry.questions.codes(name)) for name in sorted(entry.questions.tags))
    alike = ((name, each) for name, each in codes if (each[asked] == each[asked[0]]).all())
    return {name: each for name, each in alike if len(np.unique(each)) <= MOST_VALUES}


def interval(group: Group, entry: Entry, metric: str, level: float | None = None) -> Interval:
    """A group's mean over all questions that the model has a score for, with its interval."""
    shown, rows = entry.scale(metric), _rows(group, entry, metric)
    return mean_interval(rows.column("cluster").tolist(), _scores(rows, shown), bounds=shown.range, level=level)


def beats_guessing(group: Group, entry: Entry, metric: str, level: float | None = None) -> bool:
    """Whether the interval of this level is above what guessing gets on the questions; also where that is not known."""
    chance = guessing(entry, metric, _rows(group, entry, metric))
    better = entry.scale(metric).higher_is_better
    return chance is None or is_told_from_guessing(interval(group, entry, metric, level), chance, better)


def _rows(group: Group, entry: Entry, metric: str) -> Samples:
    return entry.scored(metric).where({group.tag: group.value})


def of_task(entries: Sequence[Entry], metric: str) -> dict[str, list[Group]]:
    """The groups of each model, by its key, on one task; ``entries``: the task's ranked ones that have the metric.

    From four models on a group is held against the median of the others, on the questions that all have a score for;
    the test is that of the difference from the model (or the two models) that this median is of. With fewer it is held
    against the rest of the model's own questions.
    """
    if len(entries) >= LEAST_FIELD:
        return _against_others(entries, metric)
    return {entry.model.key: list(_against_itself(entry, metric)) for entry in entries}


def _against_others(entries: Sequence[Entry], metric: str) -> dict[str, list[Group]]:
    shown = entries[0].scale(metric)
    rows, found_scores = common_scores(entries, metric)
    scores = np.stack(found_scores, axis=1)
    clusters = np.unique(rows.column("cluster").astype(str), return_inverse=True)[1]
    groups = list(_groups(entries[0], rows))
    found: list[list[Group]] = [[] for _ in entries]
    z = np.zeros((len(entries), len(groups)))
    for place, (tag, value, chosen) in enumerate(groups):
        own, sums = np.unique(clusters[chosen]), _sums(scores, clusters, chosen)
        means = sums.sum(axis=0) / len(chosen)
        for number, entry in enumerate(entries):
            middle = _middle(means, number)
            differences = _differences(sums, number, middle)
            z[number, place] = abs(differences.sum()) / max(float(np.sqrt((differences**2).sum())), _TINY)
            numbers = len(chosen), len(own), float(means[number]), float(means[middle].mean()), len(entries) - 1
            found[number].append(_group(entry.task, tag, value, numbers, 1.0, shown))
    p = np.where(z < _NO_CHANCE, 1.0, np.minimum(1.0, 2 * np.exp(-(z**2) / 2)))
    unsure = np.where((z >= _NO_CHANCE) & (z < _SURE), z, 0.0)
    tested = (unsure > 0) & (np.argsort(np.argsort(-unsure, axis=1, kind="stable"), axis=1) < _TESTED)
    for place in np.flatnonzero(tested.any(axis=0)).tolist():
        sums = _sums(scores, clusters, groups[place][2])
        for number in np.flatnonzero(tested[:, place]).tolist():
            differences = _differences(sums, number, _middle(sums.sum(axis=0) / len(groups[place][2]), number))
            p[number, place] = sign_flip(differences) or 0.0
    return {
        entry.model.key: [replace(each, p=float(one)) for each, one in zip(own_groups, own_p, strict=True)]
        for entry, own_groups, own_p in zip(entries, found, p, strict=True)
    }


def _sums(scores: np.ndarray, clusters: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """(clusters of these questions, models) summed scores."""
    codes = np.unique(clusters[chosen], return_inverse=True)[1]
    return np.stack([np.bincount(codes, weights=each) for each in scores[chosen].T], axis=1)


def _middle(means: np.ndarray, number: int) -> np.ndarray:
    """The model that the median of the means of all but ``number`` is of, or the two."""
    order = np.argsort(means, kind="stable")
    others = order[order != number]
    return others[(len(others) - 1) // 2 : len(others) // 2 + 1]


def _differences(sums: np.ndarray, number: int, middle: np.ndarray) -> np.ndarray:
    found: np.ndarray = sums[:, number] - sums[:, middle].mean(axis=1)
    return found


def _against_itself(entry: Entry, metric: str) -> Iterator[Group]:
    shown, rows = entry.scale(metric), entry.scored(metric)
    if not len(rows):
        return
    scores, every = _scores(rows, shown), rows.column("cluster").astype(str)
    for tag, value, chosen in _groups(entry, rows):
        rest = np.setdiff1d(np.arange(len(rows)), chosen, assume_unique=True)
        if len(np.unique(every[rest])) < LEAST_CLUSTERS:
            continue
        p = _p_of_rest(every, scores, chosen, rest, shown)
        count = len(np.unique(every[chosen]))
        numbers = len(chosen), count, float(scores[chosen].mean()), float(scores[rest].mean()), 0
        yield _group(entry.task, tag, value, numbers, p, shown)


def _p_of_rest(clusters: np.ndarray, scores: np.ndarray, chosen: np.ndarray, rest: np.ndarray, shown: Measure) -> float:
    """The smallest level, but for a few per cent of it, at which the difference's interval leaves 0 out; at most 1."""
    groups = {name: scored(clusters[rows].tolist(), scores[rows]) for name, rows in (("in", chosen), ("out", rest))}
    bounds = range_of(scores, shown.range)
    difference = Difference(mean_statistic("in", bounds), mean_statistic("out", bounds))

    def leaves_out(level: float) -> bool:
        found = intervals(groups, {"": difference}, level=1 - level)[""]
        return found.low is not None and found.high is not None and not found.low <= 0 <= found.high

    if not leaves_out(confidence.alpha()):
        return 1.0
    above, below = np.log(confidence.alpha()), np.log(1e-9)
    for _ in range(_LEVELS):
        middle = (above + below) / 2
        above, below = (middle, below) if leaves_out(float(np.exp(middle))) else (above, middle)
    return float(np.exp(above))


def _group(
    task: str, tag: str, value: Any, numbers: tuple[int, int, float, float, int], p: float, shown: Measure
) -> Group:
    """``numbers``: questions, clusters, mean, reference, others."""
    _, _, mean, reference, _ = numbers
    sign = 1 if shown.higher_is_better else -1
    return Group(task, tag, value, *numbers, better=sign * (mean - reference) / (shown.high - shown.low), p=p)


def _scores(rows: Samples, shown: Measure) -> np.ndarray:
    return np.asarray(rows.column(f"{shown.name}.score"), dtype=float)


def _groups(entry: Entry, rows: Samples) -> Iterator[tuple[str, Any, np.ndarray]]:
    """The groups of these rows: tag, value, numbers of its rows. The same questions are one group, whatever the tag."""
    clusters = rows.column("cluster").astype(str)
    known: set[bytes] = set()
    for tag in sorted(entry.questions.tags):
        column = entry.questions.tag(tag)
        codes = entry.questions.codes(tag)[rows.rows]
        present = np.unique(codes)
        if not 1 < len(present) <= MOST_VALUES:
            continue
        for code in present[present > 0].tolist():
            chosen = np.flatnonzero(codes == code)
            key = chosen.tobytes()
            if key not in known and len(np.unique(clusters[chosen])) >= LEAST_CLUSTERS:
                known.add(key)
                yield tag, column.dictionary[code - 1].as_py(), chosen
