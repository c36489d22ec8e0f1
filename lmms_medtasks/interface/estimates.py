"""Estimates with intervals, of arrays and of data frames: the numbers of reports, boards and comparisons.

Clusters are what is independent: images, patients, items. Without them each value is a cluster of its own. With fewer
than five clusters there is no interval, and the result says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from lmms_medtasks.errors import UserError, unknown_name_error
from lmms_medtasks.interface.columns import (
    check_length,
    check_range,
    is_missing,
    to_labels,
    to_list,
    to_numbers,
)
from lmms_medtasks.interface.question_rows import pair_scores, read_values
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.statistics.confidence import DEFAULT, parse_confidence_level, use_level
from lmms_medtasks.statistics.intervals import IntervalEstimate, estimate_mean
from lmms_medtasks.statistics.sums import value_range

Bounds = tuple[float, float]

_SAME = 1e-9
"""Scores that differ by no more count as equal."""

BETA = "beta distribution with the variance over clusters (Korn and Graubard 1998)"
MOVER = "variance estimates recovery over clusters (Zou and Donner 2008)"
STUDENT = "Student's t with the jackknife over clusters"
"""Methods of intervals."""
_SIGNS = "p: permutation test over clusters, by sign flips"


@dataclass(frozen=True, repr=False)
class EstimateResult:
    """An estimate with its interval; it prints as ``0.667 [0.354, 0.887] (30 questions in 10 clusters)``.

    Attributes:
        value: The estimate; None where there is nothing to estimate from.
        low, high: The interval's ends; None where there is no interval, and ``reason`` says why.
        n: Values that were used; missing ones are not among them.
        clusters: Independent clusters that these are of.
        left_out: Values that were missing.
        level: Nominal coverage of the interval.
        standard_error: By the jackknife over clusters; None without an interval.
        method: How interval and p value are made.
        reason: Why there is no interval, or no value; "" where there is one.
        unit: What a value is of.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    clusters: int
    left_out: int
    level: float
    standard_error: float | None
    method: str
    reason: str = ""
    unit: str = "questions"

    @property
    def interval(self) -> tuple[float, float] | None:
        """``(low, high)``; None where there is no interval."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    def to_dict(self) -> dict[str, object]:
        """The attributes by name: a row of a data frame."""
        return asdict(self)

    def __float__(self) -> float:
        return float("nan") if self.value is None else float(self.value)

    def __repr__(self) -> str:
        counts = f"{self.n:,} {self.unit}" + ("" if self.clusters == self.n else f" in {self.clusters:,} clusters")
        missing = f", {self.left_out:,} without a value" if self.left_out else ""
        why = f"; {'' if self.value is None else 'no interval: '}{self.reason}" if self.reason else ""
        return f"{self._format_number('')} ({counts}{missing}{why})"

    def _format_number(self, sign: str) -> str:
        """The number and its interval; ``sign``: "+" if numbers show their sign."""
        if self.value is None:
            return "no value"
        shown = f"{self.value:{sign}.3f}"
        return shown if self.interval is None else f"{shown} [{self.low:{sign}.3f}, {self.high:{sign}.3f}]"


@dataclass(frozen=True, repr=False, kw_only=True)
class DifferenceResult(EstimateResult):
    """A paired difference, the second less the first; it prints as ``+0.100 [+0.020, +0.184], p = 0.017 (…)``.

    Attributes:
        first, second: The two means over the same questions.
        p: Two-sided, of the permutation test over clusters; None without a pair.
        wins, ties, losses: Questions on which the second is higher, equal, lower.
    """

    first: float | None
    second: float | None
    p: float | None
    wins: int
    ties: int
    losses: int

    def _format_number(self, sign: str) -> str:
        p_value = "" if self.p is None else ", p < 0.001" if self.p < 0.001 else f", p = {self.p:.3f}"
        return super()._format_number("+") + p_value


def accuracy(
    correct: Any, *, clusters: Any = None, column: str | None = None, level: float = DEFAULT
) -> EstimateResult:
    """The share of right answers with its interval.

    Args:
        correct: (n,) array, list, tensor or Series of truth values, 0 and 1, or shares from 0 to 1 (of several trials
            of a question). Missing values (None, NaN: a request that failed) are left out and counted. Or a data frame,
            also one of :func:`read_runs`, of which each question counts once; or what :func:`evaluate` gave.
        clusters: (n,) labels of what is independent (images, patients); of a data frame the name of a column. Default:
            the column ``cluster`` where there is one, else each value is a cluster.
        column: Of a data frame, the column with the values; ``score`` by default. A question counts with the mean of
            its trials.
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
    return mean(correct, clusters=clusters, column=column, bounds=(0.0, 1.0), level=level)


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
    scores, cluster_labels = read_values(values, clusters, column)
    if bounds is not None:
        bounds = check_range(scores, bounds, "a value is outside of bounds")
    parse_confidence_level(level, "level")
    known = value_range(scores[~np.isnan(scores)], bounds)
    method = STUDENT if known is None else MOVER if known[0] < 0 < known[1] else BETA
    interval = estimate_mean(cluster_labels, scores, bounds=bounds, level=level)
    return _make_result(interval, int(np.isnan(scores).sum()), method)


def difference(
    first: Any,
    second: Any,
    *,
    clusters: Any = None,
    column: str | None = None,
    on: str | Sequence[str] = "id",
    bounds: Bounds | None = None,
    level: float = DEFAULT,
) -> DifferenceResult:
    """The paired difference of two models (or settings) on the same questions: the second less the first.

    Args:
        first, second: (n,) scores of the same questions in the same order; a question without a score in one of them is
            left out. Or two data frames of :func:`read_runs`, or two runs of :func:`evaluate`.
        clusters: (n,) labels of what is independent; of data frames the name of a column of ``first``.
        column: Of data frames, the column with the scores; ``score`` by default.
        on: Of data frames, the column in which the rows of a pair agree: ``id``, or ``pair`` for other forms of a
            question, such as the levels of a degradation. One of the two frames may have several forms of a question;
            each is then a pair. Where both have, several columns: ``["pair", "degradation"]``.
        bounds: The range that a score can be in, as for :func:`mean`.
        level: Nominal coverage of the interval.

    Returns:
        The difference with its interval, and the p value of the permutation test over clusters. Interval and test are
        made differently: where they disagree about 0, the test decides.

    Raises:
        UserError: As :func:`mean`; lengths that differ; data frames without a question in common, or in which an id
            stands twice, or in both of which another key does; then it says which columns pair them.

    Source:
        Zou and Donner (2008) for the interval; Fisher and Pitman's permutation test, which is McNemar's exact test for
        right and wrong with one question a cluster.

    Example:
        >>> difference([0, 0, 1, 0, 1, 0, 0, 1], [1, 0, 1, 1, 1, 0, 1, 1])
        +0.375 [-0.029, +0.722], p = 0.250 (8 questions)
    """
    from lmms_medtasks.suites.contributions import paired_change
    from lmms_medtasks.suites.estimates import Mean

    parse_confidence_level(level, "level")
    first_scores, second_scores, cluster_labels = pair_scores(first, second, clusters, column, on)
    if bounds is not None:
        for scores in (first_scores, second_scores):
            bounds = check_range(scores, bounds, "a score is outside of bounds")
    used = np.flatnonzero(~(np.isnan(first_scores) | np.isnan(second_scores)))
    tables = [_score_table(scores, cluster_labels, used) for scores in (first_scores, second_scores)]
    known = value_range(np.concatenate([first_scores[used], second_scores[used]]), bounds)
    method = STUDENT if known is None else MOVER
    with use_level(level):
        change = paired_change(lambda: tables[0], lambda: tables[1], Mean(measure="score", bounds=known))
    gains = np.where(np.abs(second_scores - first_scores) > _SAME, np.sign(second_scores - first_scores), 0)[used]
    results: dict[str, Any] = _make_result(
        change.interval, len(first_scores) - len(used), f"{method}; {_SIGNS}"
    ).to_dict()
    # The interval counts a row for each model; here a pair is one question.
    results |= {"n": len(used), "clusters": len({cluster_labels[row] for row in used})}
    results |= {name: int((gains == sign).sum()) for name, sign in (("wins", 1), ("ties", 0), ("losses", -1))}
    return DifferenceResult(**results, first=change.first, second=change.second, p=change.p)


def cohen_kappa(
    first: Any,
    second: Any,
    *,
    clusters: Any = None,
    weights: Literal["linear", "quadratic"] | None = None,
    level: float = DEFAULT,
) -> EstimateResult:
    """Cohen's kappa of two raters, people or models, with its interval.

    Args:
        first, second: (n,) ratings of the same items, numbers or texts. Items that one did not rate are left out.
        clusters, level: As for :func:`accuracy`.
        weights: None: each disagreement weighs the same. "linear", "quadratic": by the distance of the ratings, which
            then are numbers.

    Raises:
        UserError: Lengths that differ, weights of texts, another number of labels than ratings.

    Source:
        Cohen (1960, 1968). The value is that of ``sklearn.metrics.cohen_kappa_score``, given all values of the scale
        as its ``labels`` where weights are used.

    Example:
        >>> cohen_kappa(["yes", "no", "yes", "no"], ["yes", "no", "no", "no"]).value
        0.5
    """
    from lmms_medtasks.statistics.agreement import measure_agreement

    names = {None: "kappa", "linear": "kappa_linear", "quadratic": "kappa_quadratic"}
    if not isinstance(weights, str | None) or weights not in names:
        raise unknown_name_error("weights", weights, [name for name in names if name])
    parse_confidence_level(level, "level")
    (first_ratings, second_ratings), cluster_labels = _code_ratings(
        (first, second), clusters, ordered=weights is not None
    )
    measure = measure_agreement(first_ratings, second_ratings, cluster_labels, names=[names[weights]], level=level)[
        names[weights]
    ]
    return _make_result(measure.interval, len(cluster_labels) - measure.interval.n, STUDENT, measure.reason, "items")


def krippendorff_alpha(
    ratings: Any,
    *,
    measurement: Literal["nominal", "ordinal", "interval"],
    clusters: Any = None,
    level: float = DEFAULT,
) -> EstimateResult:
    """Krippendorff's alpha of any number of raters, ratings missing or not, with its interval.

    Args:
        ratings: (raters, items) numbers or texts, None or NaN where a rater gave none: an array, or a list of columns.
            Items with fewer than two ratings are left out.
        measurement: What ratings are: names ("nominal"), ranks ("ordinal") or numbers ("interval").
        clusters, level: As for :func:`accuracy`; a label an item.

    Raises:
        UserError: Rows of different lengths, texts that are to be ordinal or interval, an unknown measurement.

    Source:
        Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", section D.

    Example:
        >>> krippendorff_alpha([[1, 2, 3, 3], [1, 2, 3, 3]], measurement="nominal").value
        1.0
    """
    from lmms_medtasks.statistics.agreement import ALPHA_LEVELS, measure_alpha

    if not isinstance(measurement, str) or measurement not in ALPHA_LEVELS:
        raise unknown_name_error("measurement", measurement, ALPHA_LEVELS)
    parse_confidence_level(level, "level")
    coded, cluster_labels = _code_ratings(ratings, clusters, ordered=measurement != "nominal")
    measure = measure_alpha(coded, cluster_labels, measurement, coverage=level)
    return _make_result(measure.interval, len(cluster_labels) - measure.interval.n, STUDENT, measure.reason, "items")


def _make_result(
    interval: IntervalEstimate, left_out: int, method: str, reason: str = "", unit: str = "questions"
) -> EstimateResult:
    """The result of an interval of ``interval.n`` values; ``reason``: why it has no value."""
    why = reason or interval.reason or ("no question has a score" if interval.estimate is None else "")
    return EstimateResult(
        interval.estimate, interval.low, interval.high, interval.n, interval.clusters, left_out, interval.level,
        interval.standard_error,
        # The statistics say "images", which are the clusters of the benchmarks.
        method, why.replace("images", "clusters"), unit,
    )  # fmt: skip


def _score_table(scores: np.ndarray, clusters: Sequence[str], used: np.ndarray) -> QuestionTable:
    return QuestionTable.of_rows(
        {"id": f"{row:012d}", "cluster": clusters[row], "score.score": scores[row], "score.asked": True}
        for row in used.tolist()
    )


def _code_ratings(given: Iterable[Any], clusters: Any, *, ordered: bool) -> tuple[np.ndarray, list[str]]:
    """(raters, items) ratings, texts coded as numbers, missing ones as NaN; and the cluster of each item."""
    if not isinstance(given, Iterable) or getattr(given, "ndim", 2) != 2:
        raise UserError(f"Ratings must be a column for each rater: a list of columns, or an array, got {given!r:.40}.")
    rows = [to_list(row, "ratings of a rater") for row in given]
    for row in rows[1:]:
        check_length(rows[0], row, "ratings")
    texts = sorted({rating for row in rows for rating in row if isinstance(rating, str)})
    if texts and ordered:
        raise UserError(f"The rating {texts[0]!r} is a text, which has no distance from others. Give numbers.")
    if texts and any(not isinstance(rating, str) and not is_missing(rating) for row in rows for rating in row):
        raise UserError("Ratings must be all numbers or all texts, got both.")
    if texts:
        rows = [[texts.index(rating) if isinstance(rating, str) else None for rating in row] for row in rows]
    items = len(rows[0]) if rows else 0
    coded = np.array([to_numbers(row, "ratings") for row in rows]).reshape(len(rows), items)
    return coded, to_labels(clusters, "clusters", items)
