"""The change of a statistic of all rows, by resampling: hand-worked, and against a naive bootstrap."""

import math

import numpy as np
import pytest
from scipy.stats import norm, t

from lmms_medtasks.seeding import generator
from lmms_medtasks.statistics.intervals import ALIKE, FEW, mean_interval
from lmms_medtasks.statistics.paired_resampling import UNDEFINED, resampled_change


def macro_f1(rows):
    """Of rows of a right and a given answer; answers that are right nowhere count too."""
    found = []
    for label in sorted({right for right, _ in rows}):
        hits = sum(right == given == label for right, given in rows)
        found.append(2 * hits / (sum(right == label for right, _ in rows) + sum(given == label for _, given in rows)))
    return sum(found) / len(found)


def rows_of(right, given):
    return list(zip(right, given, strict=True))


def test_a_macro_f1_by_hand():
    """Right AABB. Clean AABB: 1. Degraded ABAB: F1 of A and of B is 2 * 1 / (2 + 2), so 0.5.

    Rows 2 and 3 differ. Of the 4 ways to swap these two, none and both give a change of 0.5; one alone gives ABBB
    against AAAB, both (2/3 + 4/5) / 2, a change of 0. So p = 2 / 4.
    """
    found = resampled_change(macro_f1, rows_of("AABB", "AABB"), rows_of("AABB", "ABAB"), list("wxyz"))
    assert (found.first, found.second) == (1.0, 0.5)
    assert (found.p, found.permutations) == (0.5, 16)
    assert (found.low, found.high, found.reason, found.units, found.rows) == (None, None, FEW, 4, 4)


@pytest.fixture(scope="module")
def data():
    """90 rows of 30 units of 1 to 5 rows; the second condition is right less often, alike within a unit."""
    rng = np.random.default_rng(5)
    units = [f"u{each}" for each in np.sort(rng.integers(0, 30, 90))]
    right = rng.choice(list("AABC"), 90)
    hard = dict(zip(sorted(set(units)), rng.random(90), strict=False))
    first = [(r, r if rng.random() < 0.8 else "A") for r in right]
    second = [(r, r if rng.random() > hard[unit] else "B") for r, unit in zip(right, units, strict=True)]
    return first, second, units


def test_the_interval_and_p_value_are_those_of_a_naive_bootstrap(data):
    """The same definition, written down with lists and another generator: ends agree as 2,000 resamples let them."""
    first, second, units = data
    found = resampled_change(macro_f1, first, second, units, resamples=2000)
    members = {unit: [row for row, own in enumerate(units) if own == unit] for unit in units}
    rng = np.random.default_rng(1)
    changes, far = [], 1
    for _ in range(2000):
        rows = [row for unit in rng.choice(list(members), len(members)) for row in members[unit]]
        changes.append(macro_f1([second[row] for row in rows]) - macro_f1([first[row] for row in rows]))
        swapped = {unit: rng.random() < 0.5 for unit in members}
        one = [second[row] if swapped[unit] else first[row] for row, unit in enumerate(units)]
        two = [first[row] if swapped[unit] else second[row] for row, unit in enumerate(units)]
        far += abs(macro_f1(two) - macro_f1(one)) >= abs(found.second - found.first) - 1e-12
    count = len(members)
    tail = norm.cdf(math.sqrt(count / (count - 1)) * t.ppf(0.025, count - 1))
    low, high = np.quantile(changes, [tail, 1 - tail])
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.02)
    assert found.p == pytest.approx(far / 2001, abs=0.02)
    assert (found.resamples, found.permutations, found.units) == (2000, 2001, count)


def test_of_a_mean_it_is_near_the_interval_of_means(data):
    first, second, units = data
    scores = [[float(right == given) for right, given in rows] for rows in (first, second)]
    found = resampled_change(lambda rows: sum(rows) / len(rows), *scores, units)
    known = mean_interval(units, np.subtract(scores[1], scores[0]), bounds=(-1, 1))
    assert (found.low, found.high) == pytest.approx((known.low, known.high), abs=0.03)


def test_the_same_units_are_drawn_of_both_and_whole(data):
    first, second, units = data
    seen = []
    members = {unit: units.count(unit) for unit in units}

    def kept(rows):
        seen.append([row for row, _ in rows])
        return float(len(rows))

    tagged = [(unit, row) for row, unit in enumerate(units)]
    found = resampled_change(kept, tagged, tagged, units, resamples=200, seed=3)
    assert (found.low, found.high, found.reason, found.p) == (None, None, ALIKE, 1.0)
    drawn = seen[-400:]
    assert drawn[::2] == drawn[1::2]
    assert all(rows.count(unit) % members[unit] == 0 for rows in drawn for unit in set(rows))
    first_unit = (
        list(dict.fromkeys(units))[generator("paired resampling", 3).integers(0, 30, 30)[0]]
        if len(set(units)) == 30
        else drawn[0][0]
    )
    assert drawn[0][0] == first_unit


def test_resamples_without_a_value_are_left_out_or_too_many():
    def needs_first(rows):
        return sum(rows) / len(rows) if 0 in rows else None

    rows = list(range(12))
    found = resampled_change(needs_first, rows, [each + 0 for each in rows], [str(each) for each in rows])
    assert (found.low, found.reason) == (None, UNDEFINED) and found.resamples < 950
    assert resampled_change(lambda rows: None, rows, rows, [str(each) for each in rows]) is None
