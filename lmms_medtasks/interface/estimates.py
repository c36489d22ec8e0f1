"""Estimates with intervals, of arrays and of data frames: the numbers of reports, boards and comparisons.

Clusters are what is independent: images, patients, items. Without them each value is a cluster of its own. With fewer
than five clusters there is no interval, and the result says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lmms_medtasks.errors import UserError
from lmms_medtasks.interface.columns import check_length, check_range, column_of, is_frame, labels, numbers
from lmms_medtasks.interface.estimate_result import (
    BETA,
    MOVER,
    STUDENT,
    DifferenceResult,
    EstimateResult,
    fields_of,
    of_interval,
)
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.statistics import confidence
from lmms_medtasks.statistics.confidence import DEFAULT
from lmms_medtasks.statistics.intervals import mean_interval
from lmms_medtasks.statistics.sums import range_of

if TYPE_CHECKING:
    from pandas import DataFrame

Bounds = tuple[float, float]

_SAME = 1e-9
"""Scores that differ by no more are the same."""
_SIGNS = "p: permutation test over clusters, by sign flips"


def accuracy(
    correct: Any, *, clusters: Any = None, column: str | None = None, level: float = DEFAULT
) -> EstimateResult:
    """The share of right answers with its interval.

    Args:
        correct: (n,) array, list, tensor or Series of truth values, 0 and 1, or shares from 0 to 1 (of several trials
            of a question). Missing values (None, NaN: a request that failed) are left out and counted. Or a data frame,
            also one of :func:`read_runs`, of which each question counts once.
        clusters: (n,) labels of what is independent (images, patients); of a data frame the name of a column. Default:
            the column ``cluster`` where there is one, else each value is a cluster.
        column: Of a data frame, the column with the values; ``score`` by default.
        level: Nominal coverage of the interval.

    Raises:
        UserError: A value outside [0, 1] or that is no number, another number of labels than values, a column that
            there is none of, a data frame with questions of several runs or tasks.

    Source:
        Korn and Graubard (1998), with the changes that docs/intervals_and_tests.md states and measures.

    Example:
        >>> import numpy as np
        >>> accuracy(np.array([1, 0, 1]))
        0.667 (3 questions; no interval: fewer than 5 clusters)
        >>> accuracy([1, 1, 0, 1, 0, 1, 1, 1], clusters=list("aabbccdd"))
        0.750 (8 questions in 4 clusters; no interval: fewer than 5 clusters)
        >>> accuracy([1, 0, 1, 1, 1, 0, 1, 1, 0, 1])
        0.700 [0.378, 0.916] (10 questions)
    """
    values, own = _values(correct, clusters, column)
    check_range(values, (0.0, 1.0), "accuracy takes values from 0 (wrong) to 1 (right)")
    return _mean(values, own, None, level)


def mean(
    values: Any,
    *,
    clusters: Any = None,
    column: str | None = None,
    bounds: Bounds | None = None,
    level: float = DEFAULT,
) -> EstimateResult:
    """The mean of scores with its interval.

    Args:
        values: (n,) numbers, or a data frame, as for :func:`accuracy`.
        clusters, column, level: As for :func:`accuracy`.
        bounds: The range that a score can be in, such as (1, 5) for stars. Default: (0, 1), or (-1, 1) where values are
            negative, if all values are within; other values have no known range, and Student's interval.

    Raises:
        UserError: As :func:`accuracy`; a value outside ``bounds``.

    Example:
        >>> mean([4, 5, 3, 4, 5, 2, 4, 5], bounds=(1, 5))
        4.000 [3.111, 4.610] (8 questions)
    """
    found, own = _values(values, clusters, column)
    if bounds is not None:
        check_range(found, bounds, "a value is outside of bounds")
    return _mean(found, own, bounds, level)


def difference(
    first: Any,
    second: Any,
    *,
    clusters: Any = None,
    column: str | None = None,
    on: str = "id",
    bounds: Bounds | None = None,
    level: float = DEFAULT,
) -> DifferenceResult:
    """The paired difference of two models (or settings) on the same questions: the second less the first.

    Args:
        first, second: (n,) scores of the same questions in the same order; a question without a score in one of them is
            left out. Or two data frames of :func:`read_runs`.
        clusters: (n,) labels of what is independent; of data frames the name of a column of ``first``.
        column: Of data frames, the column with the scores; ``score`` by default.
        on: Of data frames, the column in which the rows of a pair agree: ``id``, or ``pair`` for other forms of a
            question, such as the levels of a degradation.
        bounds: The range that a score can be in, as for :func:`mean`.
        level: Nominal coverage of the interval.

    Returns:
        The difference with its interval, and the p value of the permutation test over clusters.

    Raises:
        UserError: As :func:`mean`; lengths that differ; data frames without a question in common, or in which an id
            stands twice.

    Source:
        Zou and Donner (2008) for the interval; Fisher and Pitman's permutation test, which is McNemar's exact test for
        right and wrong with one question a cluster.

    Example:
        >>> difference([0, 0, 1, 0, 1, 0, 0, 1], [1, 0, 1, 1, 1, 0, 1, 1])
        +0.375 [-0.029, +0.722], p = 0.250 (8 questions)
    """
    from lmms_medtasks.suites.contributions import paired_change
    from lmms_medtasks.suites.estimates import Mean

    confidence.checked(level, "level")
    one, other, own = _paired(first, second, clusters, column, on)
    if bounds is not None:
        for each in (one, other):
            check_range(each, bounds, "a score is outside of bounds")
    used = np.flatnonzero(~(np.isnan(one) | np.isnan(other)))
    tables = [_table(each, own, used) for each in (one, other)]
    known = range_of(np.concatenate([one[used], other[used]]), bounds)
    with confidence.at(level):
        found = paired_change(lambda: tables[0], lambda: tables[1], Mean(measure="score", bounds=known))
    gains = np.where(np.abs(other - one) > _SAME, np.sign(other - one), 0)[used]
    told = fields_of(found.interval, len(one) - len(used), f"{STUDENT if known is None else MOVER}; {_SIGNS}")
    # The draw has a row for each of the two: what is paired are questions.
    told |= {"n": len(used), "clusters": len({own[row] for row in used})}
    wins, ties, losses = (int((gains == sign).sum()) for sign in (1, 0, -1))
    return DifferenceResult(
        **told, first=found.first, second=found.second, p=found.p, wins=wins, ties=ties, losses=losses
    )


def _table(scores: np.ndarray, clusters: Sequence[str], used: np.ndarray) -> Samples:
    return Samples.of_rows(
        {"id": f"{row:012d}", "cluster": clusters[row], "score.score": scores[row], "score.asked": True}
        for row in used.tolist()
    )


def _mean(values: np.ndarray, own: Sequence[str], bounds: Bounds | None, level: float) -> EstimateResult:
    confidence.checked(level, "level")
    known = range_of(values[~np.isnan(values)], bounds)
    method = STUDENT if known is None else MOVER if known[0] < 0 < known[1] else BETA
    found = mean_interval(own, values, bounds=bounds, level=level)
    return of_interval(found, int(np.isnan(values).sum()), method)


def _values(values: Any, clusters: Any, column: str | None) -> tuple[np.ndarray, list[str]]:
    """(n,) floats and the cluster of each, of arrays or of a data frame."""
    if not is_frame(values):
        if column is not None:
            raise UserError("`column` names a column of a data frame; the values are given as they are.")
        found = numbers(values, "values")
        return found, labels(clusters, "clusters", len(found))
    rows = question_rows(values, column or "score")
    own = column_of(rows, clusters, "clusters") if clusters is not None else rows.get("cluster")
    return numbers(column_of(rows, column or "score", "column"), "values"), labels(own, "clusters", len(rows))


def question_rows(frame: DataFrame, column: str) -> DataFrame:
    """Of a data frame of :func:`read_runs` a row a question, where ``column`` is a question's score; else as it is.

    Raises UserError where it has questions of several runs or tasks.
    """
    if not {"run", "task", "id", "trial"} <= set(frame.columns):
        return frame
    for name in ("run", "task"):
        several = list(dict.fromkeys(frame[name]))
        if len(several) > 1:
            raise UserError(
                f"The data frame has questions of {len(several)} {name}s ({', '.join(map(str, several[:3]))}"
                f"{', …' if len(several) > 3 else ''}). Choose one, frame[frame.{name} == {several[0]!r}], or take "
                f"each: {{name: mt.accuracy(rows) for name, rows in frame.groupby({name!r})}}."
            )
    return frame.drop_duplicates("id") if column == "score" or column.startswith("score.") else frame


def _paired(
    first: Any, second: Any, clusters: Any, column: str | None, on: str
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    if is_frame(first) != is_frame(second):
        raise UserError("Give two columns of scores, or two data frames.")
    if not is_frame(first):
        one, other = numbers(first, "first scores"), numbers(second, "second scores")
        check_length(one, other, "scores")
        return one, other, labels(clusters, "clusters", len(one))
    name = column or "score"
    sides = []
    for frame in (first, second):
        column_of(frame, on, "on")
        side = question_rows(frame, name).set_index(on)
        if side.index.has_duplicates:
            twice = side.index[side.index.duplicated()][0]
            raise UserError(f"The {on} {twice!r} stands twice in a data frame: it is not known which row is meant.")
        sides.append(side)
    shared = sides[0].index.intersection(sides[1].index).sort_values()
    if not len(shared):
        raise UserError(f"The two data frames have no {on} in common: they are not of the same questions.")
    rows = [each.loc[shared].reset_index() for each in sides]
    one, other = (numbers(column_of(each, name, "column"), "scores") for each in rows)
    own = column_of(rows[0], clusters, "clusters") if clusters is not None else rows[0].get("cluster")
    return one, other, labels(own, "clusters", len(shared))
