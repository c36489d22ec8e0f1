"""Wilson's interval of a share."""

import pytest
from statsmodels.stats.proportion import proportion_confint

from lmms_medtasks.statistics.shares import wilson


@pytest.mark.parametrize(("successes", "n"), [(0, 1), (0, 30), (8, 10), (177, 203), (203, 203)])
def test_wilson_as_statsmodels_has_it(successes, n):
    assert wilson(successes, n) == pytest.approx(proportion_confint(successes, n, method="wilson"), abs=1e-12)


def test_wilson_by_hand():
    # 8 of 10: z = 1.96, centre (8 + z²/2) / (10 + z²) = 9.9207 / 13.8415 = 0.71674, half width
    # z / 13.8415 * sqrt(8 * 2 / 10 + z² / 4) = 0.14160 * sqrt(1.6 + 0.96036) = 0.22657
    assert wilson(8, 10) == pytest.approx((0.71674 - 0.22657, 0.71674 + 0.22657), abs=2e-4)
