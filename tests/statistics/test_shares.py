"""Shares with intervals: Wilson's where it applies, else the bootstrap over clusters."""

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from lmms_medtasks.statistics.shares import share, wilson


def records(scores, images=None):
    return [
        {"image_id": str(images[n] if images else n), **({} if score is None else {"score": score})}
        for n, score in enumerate(scores)
    ]


@pytest.mark.parametrize(("successes", "n"), [(0, 1), (0, 30), (8, 10), (177, 203), (203, 203)])
def test_wilson_as_statsmodels_has_it(successes, n):
    assert wilson(successes, n) == pytest.approx(proportion_confint(successes, n, method="wilson"), abs=1e-12)


def test_wilson_by_hand():
    # 8 of 10: z = 1.96, centre (8 + z²/2) / (10 + z²) = 9.9207 / 13.8415 = 0.71674, half width
    # z / 13.8415 * sqrt(8 * 2 / 10 + z² / 4) = 0.14160 * sqrt(1.6 + 0.96036) = 0.22657
    assert wilson(8, 10) == pytest.approx((0.71674 - 0.22657, 0.71674 + 0.22657), abs=2e-4)


def test_one_answer_a_cluster_is_wilson():
    found = share(records([1.0, 0.0, 1.0, None]))
    assert (found.estimate, found.n, found.unscored, found.method) == (pytest.approx(2 / 3), 3, 1, "wilson")


@pytest.mark.parametrize(("scores", "images"), [([1.0, 1 / 3, 0.0], None), ([1.0, 0.0, 1.0], [1, 1, 2])])
def test_anything_else_is_bootstrap(scores, images):
    found = share(records(scores, images), resamples=200)
    assert found.method == "bootstrap" and found.low <= found.estimate <= found.high


def test_the_order_of_records_changes_nothing():
    scores = [1.0, 2 / 3, 0.0, 1 / 3, 1.0]
    rows = records(scores, [1, 1, 2, 3, 3])
    assert share(rows, resamples=100) == share(rows[::-1], resamples=100)


@pytest.mark.parametrize("scores", [[], [None, None]])
def test_nothing_to_measure(scores):
    found = share(records(scores))
    assert (found.estimate, found.low, found.high, found.n, found.unscored) == (None, None, None, 0, len(scores))
    assert not np.isnan(found.unscored)
