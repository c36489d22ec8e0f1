"""Agreement of raters, people or models, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from lmms_medtasks.errors import UserError, unknown
from lmms_medtasks.interface.columns import check_length, is_missing, labels, listed, numbers
from lmms_medtasks.interface.estimate_result import STUDENT, EstimateResult, of_interval
from lmms_medtasks.statistics.confidence import DEFAULT, checked


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
        Cohen (1960, 1968). The value is that of ``sklearn.metrics.cohen_kappa_score``.

    Example:
        >>> cohen_kappa(["yes", "no", "yes", "no"], ["yes", "no", "no", "no"]).value
        0.5
    """
    from lmms_medtasks.statistics.agreement import agreement

    names = {None: "kappa", "linear": "kappa_linear", "quadratic": "kappa_quadratic"}
    if weights not in names:
        raise unknown("weights", weights, [name for name in names if name])
    checked(level, "level")
    one, other = listed(first, "ratings"), listed(second, "ratings")
    check_length(one, other, "ratings")
    coded = _coded([one, other], ordered=weights is not None)
    own = labels(clusters, "clusters", len(one))
    found = agreement(coded[0], coded[1], own, names=[names[weights]], level=level)[names[weights]]
    left_out = len(one) - found.interval.n
    return of_interval(found.interval, left_out, STUDENT, found.reason, "items")


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
    from lmms_medtasks.statistics.agreement import ALPHA_LEVELS, alpha_of

    if measurement not in ALPHA_LEVELS:
        raise unknown("measurement", measurement, ALPHA_LEVELS)
    checked(level, "level")
    rows = [listed(each, "ratings of a rater") for each in ratings]
    for each in rows[1:]:
        check_length(rows[0], each, "ratings")
    coded = _coded(rows, ordered=measurement != "nominal")
    items = len(rows[0]) if rows else 0
    own = labels(clusters, "clusters", items)
    found = alpha_of(np.array(coded).reshape(len(rows), items), own, measurement, coverage=level)
    return of_interval(found.interval, items - found.interval.n, STUDENT, found.reason, "items")


def _coded(rows: Sequence[Sequence[Any]], *, ordered: bool) -> list[np.ndarray]:
    """Ratings as numbers: themselves, or texts numbered alike in all rows; NaN where one is missing."""
    texts = sorted({each for row in rows for each in row if isinstance(each, str)})
    if not texts:
        return [numbers(row, "ratings") for row in rows]
    if ordered:
        raise UserError(f"The rating {texts[0]!r} is a text, which has no distance from others. Give numbers.")
    if any(not isinstance(each, str) and not is_missing(each) for row in rows for each in row):
        raise UserError("Ratings must be all numbers or all texts, got both.")
    codes = {text: float(number) for number, text in enumerate(texts)}
    return [np.array([codes.get(each, np.nan) if isinstance(each, str) else np.nan for each in row]) for row in rows]
