"""How well confidence tells right from wrong answers, with intervals."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from lmms_medtasks.errors import UserError
from lmms_medtasks.interface.columns import check_length, check_range, labels, numbers
from lmms_medtasks.interface.estimate_result import BETA, STUDENT, EstimateResult, of_interval
from lmms_medtasks.statistics.confidence import DEFAULT, checked
from lmms_medtasks.statistics.intervals import intervals, mean_interval
from lmms_medtasks.statistics.sums import Statistic, group


def ece(
    confidence: Any,
    correct: Any,
    *,
    clusters: Any = None,
    bins: int = 10,
    binning: Literal["width", "mass"] = "width",
    level: float = DEFAULT,
) -> EstimateResult:
    """Expected calibration error: how far confidence is from the share of right answers, over bins of confidence.

    Args:
        confidence: (n,) numbers from 0 to 1. correct: (n,) truth values or shares from 0 to 1.
        clusters, level: As for :func:`accuracy`.
        bins: Number of bins, closed on the right. binning: of equal width, or with equally many answers ("mass").

    Raises:
        UserError: As :func:`accuracy`; lengths that differ; a number of bins below 1.

    Source:
        Naeini et al. (2015); Guo et al. (2017), equation 3. Biased upwards in small samples.

    Example:
        >>> round(ece([0.9, 0.8, 0.9, 0.6, 0.7], [1, 1, 0, 1, 0]).value, 3)
        0.42
    """
    from lmms_medtasks.statistics import reliability

    if (
        isinstance(bins, bool)
        or not isinstance(bins, (int, np.integer))
        or bins < 1
        or binning not in ("width", "mass")
    ):
        raise UserError(f"ece takes 1 bin or more, of equal 'width' or 'mass', got {bins!r} and {binning!r}.")
    checked(level, "level")
    certain, right, own, left_out = _calibrated(confidence, correct, clusters)
    edges = reliability.Binning(binning, int(bins)).edges(certain)
    places = np.searchsorted(edges[1:-1], certain, side="left")
    rows = group(own, certain, right, cells=places, cell_count=len(edges) - 1)
    statistic = Statistic(reliability.ece, ("",), (0.0, 1.0), mean=False)
    return of_interval(intervals({"": rows}, {"": statistic}, level=level)[""], left_out, STUDENT)


def brier(confidence: Any, correct: Any, *, clusters: Any = None, level: float = DEFAULT) -> EstimateResult:
    """Brier score: the mean squared distance of confidence from whether the answer is right, from 0 (best) to 1.

    Args:
        confidence: (n,) numbers from 0 to 1. correct: (n,) truth values, 0 or 1.
        clusters, level: As for :func:`accuracy`.

    Raises:
        UserError: As :func:`ece`.

    Source:
        Brier (1950), the binary form, halved.

    Example:
        >>> round(brier([0.9, 0.8, 0.9, 0.6, 0.7], [1, 1, 0, 1, 0]).value, 3)
        0.302
    """
    checked(level, "level")
    certain, right, own, left_out = _calibrated(confidence, correct, clusters)
    if not np.isin(right, (0.0, 1.0)).all():
        raise UserError("brier takes answers that are right (1) or wrong (0), not shares.")
    found = mean_interval(own, (certain - right) ** 2, bounds=(0.0, 1.0), level=level)
    return of_interval(found, left_out, BETA)


def _calibrated(confidence: Any, correct: Any, clusters: Any) -> tuple[np.ndarray, np.ndarray, list[str], int]:
    certain, right = numbers(confidence, "confidences"), numbers(correct, "answers")
    check_length(certain, right, "confidences and answers")
    for each, what in ((certain, "a confidence"), (right, "an answer")):
        check_range(each, (0.0, 1.0), f"{what} is outside of 0 to 1")
    own = labels(clusters, "clusters", len(certain))
    used = ~(np.isnan(certain) | np.isnan(right))
    kept = [label for label, use in zip(own, used, strict=True) if use]
    return certain[used], right[used], kept, int((~used).sum())
