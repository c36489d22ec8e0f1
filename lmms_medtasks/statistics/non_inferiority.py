"""Has a mean dropped by more than a margin, or by less: two one-sided tests on paired differences by cluster.

The unit of independence is the cluster (an image with all its questions). The drop is the mean over questions.

*Worse*: the null hypothesis "the drop is at most the margin" is tested against "it is more", by flipping the signs of
each cluster's drop less the margin (:mod:`lmms_medtasks.statistics.sign_flip`). At margin 0 this is exact where the two
runs are equally able. At another margin it takes the drops to be spread evenly around the margin;
``benchmarks/simulations/gate.py`` measures what it keeps where they are not.

*Not worse* (non-inferiority): the null hypothesis "the drop is at least the margin" is tested against "it is less".
Where two runs are alike few questions change, and a test that knows only the changes seen (a t test, flipped signs)
would take "none of 60 has changed" for a proof. This test adds a cluster on which everything is lost, and weights all
clusters at random (Gaffke 2005; Learned-Miller and Thomas 2020). With one question a cluster of which some are lost it
is the exact binomial test. That it errs no more often than it says on any distribution on a bounded scale is Gaffke's
conjecture: no exception is known, a proof neither.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lmms_medtasks.errors import UserError
from lmms_medtasks.statistics.sign_flip import sign_flip

_NODES = np.linspace(0.0, 12.0, 240)
_STEPS = 5000
_TINY = 1e-12


@dataclass(frozen=True)
class MarginTest:
    """The drop over ``n`` questions of ``clusters`` clusters, against a margin; all in the unit of the scores.

    ``worse_p``: of "the drop is at most the margin". ``not_worse_p``: of "the drop is at least the margin"; None where
    it can't be tested.
    """

    drop: float
    margin: float
    n: int
    clusters: int
    worse_p: float
    not_worse_p: float | None


def check_margin(margin: float, where: str) -> float:
    """``margin`` as it is. Raises UserError naming ``where`` unless it is a number from 0 to 1."""
    number = isinstance(margin, int | float) and not isinstance(margin, bool)
    if not number or not 0 <= margin <= 1:
        raise UserError(
            f"{where}: margin is {margin!r}; expected a number from 0 to 1, the share of the measure's range that a "
            "model may lose: 0.02 are two percentage points of a share."
        )
    return margin


def margin_test(sums: np.ndarray, counts: np.ndarray, margin: float, width: float | None = 1.0) -> MarginTest | None:
    """Test the drops of k clusters against ``margin``; None without a question.

    ``sums``: (k,) floats, each cluster's summed drops, positive where the score has fallen. ``counts``: (k,) its
    questions. ``width``: the length of the scale, so that a question's drop is from ``-width`` to ``width``; None where
    the sums are such to first order only: then nothing is known that shows "not worse".
    """
    drops, questions = np.asarray(sums, dtype=float), np.asarray(counts, dtype=float)
    total = float(questions.sum())
    if not total:
        return None
    return MarginTest(
        drop=float(drops.sum()) / total,
        margin=margin,
        n=int(total),
        clusters=len(drops),
        worse_p=sign_flip(drops - margin * questions, "greater") or 0.0,
        not_worse_p=None if width is None else not_worse_p(drops, questions, margin, width),
    )


def not_worse_p(drops: np.ndarray, questions: np.ndarray, margin: float, width: float = 1.0) -> float:
    """p value of "the drop is at least ``margin``"; see :func:`margin_test` for the rest.

    >>> round(not_worse_p(np.zeros(149), np.ones(149), 0.02), 4)  # no drop in 149: 0.98 ** 149
    0.0493
    """
    lost = (width - margin) * float(questions.max())
    return _positive_sum_p(np.append(drops - margin * questions, lost))


def largest_drop(drops: np.ndarray, questions: np.ndarray, width: float = 1.0, *, alpha: float) -> float:
    """The one-sided upper limit of the drop: the smallest margin that :func:`not_worse_p` rejects at ``alpha``."""
    from scipy.optimize import brentq

    def excess_p(margin: float) -> float:
        return not_worse_p(drops, questions, margin, width) - alpha

    if excess_p(width) >= 0:
        return width
    limit: float = brentq(excess_p, -width, width, xtol=1e-5 * width)
    return limit


def _positive_sum_p(weights: np.ndarray) -> float:
    """P(sum of weights times independent standard exponentials > 0); ties of no weight count as above.

    The inverse Laplace transform along the line through its saddle point, where the integrand does not turn: exact but
    for the numerical integral, in the tails too.
    """
    from scipy.optimize import brentq

    if weights.min() >= -_TINY:
        return 1.0
    if weights.max() <= _TINY:
        return 0.0
    # Clusters that are alike are one, many times; very many that differ are rounded up, which can only make p larger.
    scaled = np.round(weights / np.abs(weights).max(), 12)
    distinct, times = np.unique(scaled, return_counts=True)
    if len(distinct) > _STEPS:
        distinct, times = np.unique(np.ceil(scaled * _STEPS) / _STEPS, return_counts=True)
    top = 1 / distinct[-1]

    def saddle_slope(point: float) -> float:
        return float((times * distinct / (1 - point * distinct)).sum()) - 1 / point

    saddle = brentq(saddle_slope, 1e-9 * top / len(weights), top * (1 - 1e-9))
    bend = float((times * (distinct / (1 - saddle * distinct)) ** 2).sum()) + saddle**-2
    line = saddle + 1j * np.sinh(_NODES) / np.sqrt(bend)
    logs = -(times * np.log1p(-line[:, None] * distinct)).sum(axis=1) - np.log(line)
    values = np.exp(logs).real * np.cosh(_NODES) / np.sqrt(bend)
    integral = (values.sum() - (values[0] + values[-1]) / 2) * (_NODES[1] - _NODES[0])
    return float(min(1.0, max(0.0, integral / np.pi)))
