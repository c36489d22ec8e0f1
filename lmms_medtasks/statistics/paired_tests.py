"""Is one of two better over many pairs: sign test and Wilcoxon's signed-rank test, as Med-CMR compares base models with
their medically fine-tuned forms (Figure 4b, 4c).

A pair may be a question, a dimension or a task that both were scored on. Both tests take pairs as independent:
questions on one image are not, nor are dimensions of one model quite, so read p values near a threshold with care.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lmms_medtasks.statistics.sign_flip import sign_flip

_SAME = 1e-12


@dataclass(frozen=True)
class PairedTest:
    """Two tests of "no difference" on n differences (second less first), two-sided.

    Attributes:
        n: pairs. up, down: pairs in which the second has more, less. The rest are the same and are in neither test.
        sign_p: sign test: probability of a split at least as uneven as up to down, had each the chance of one half.
        wilcoxon_p: of Wilcoxon's signed ranks: the share of all assignments of signs to the ranks that reach as far
            (:mod:`.sign_flip`), with or without ties; up to 2,000 differences, beyond by the normal distribution.
        effect: matched-pairs rank-biserial correlation, (ranks up - ranks down) / all ranks, from -1 to 1.

    Where no pair differs, the last three are None.
    """

    n: int
    up: int
    down: int
    sign_p: float | None
    wilcoxon_p: float | None
    effect: float | None


def paired_tests(differences: Iterable[float]) -> PairedTest:
    """The tests on ``differences``; those within 1e-12 of 0 count as none. Raises ValueError for NaN or infinity.

    >>> found = paired_tests([-0.12, -0.08, -0.1, -0.02, 0.01])
    >>> found.up, found.down, found.sign_p, found.wilcoxon_p
    (1, 4, 0.375, 0.125)
    """
    import numpy as np
    from scipy import stats

    values = np.array(list(differences), dtype=float)
    if not np.isfinite(values).all():
        raise ValueError("A difference is NaN or infinite: leave pairs without a value out, and say how many.")
    n = len(values)
    # Rounded, so that equal differences of decimal scores are equal sizes, whatever their last bits.
    values = np.round(values[np.abs(values) > _SAME], 12)
    up, down = int((values > 0).sum()), int((values < 0).sum())
    if not up + down:
        return PairedTest(n, 0, 0, None, None, None)
    ranks = stats.rankdata(np.abs(values))
    above, below = float(ranks[values > 0].sum()), float(ranks[values < 0].sum())
    return PairedTest(
        n=n,
        up=up,
        down=down,
        sign_p=float(stats.binomtest(up, up + down, 0.5).pvalue),
        wilcoxon_p=sign_flip(np.sign(values) * ranks),
        effect=(above - below) / (above + below),
    )
