"""The swap test of relative robustness: by hand, against a naive enumeration, and its false findings."""

import itertools

import numpy as np
import pytest

from lmms_medtasks.seeding import generator
from lmms_medtasks.statistics.paired_robustness import swap_test

EVERY = ["a", "a", "b", "b", "c", "c", "d", "d"]
OOD = [False, True] * 4


def influence_error(first, second, codes, ood):
    """The standard error of the difference, image by image, by the definition of each ratio's influence."""
    pulls = np.zeros((2, codes.max() + 1))
    for row, scores in enumerate((first, second)):
        iid, other = scores[~ood].mean(), scores[ood].mean()
        for image in range(codes.max() + 1):
            own = codes == image
            upper = (scores[own & ood] - other).sum() / ood.sum()
            lower = (scores[own & ~ood] - iid).sum() / (~ood).sum()
            pulls[row, image] = (upper - other / iid * lower) / iid
    return np.sqrt(((pulls[0] - pulls[1]) ** 2).sum())


def test_all_swaps_against_a_naive_count():
    rng = generator("swap", "naive")
    images = np.array([f"i{n % 7}" for n in range(40)])
    codes = np.unique(images, return_inverse=True)[1]
    ood = np.arange(40) % 3 == 0
    first, second = (rng.integers(1, 6, 40).astype(float) for _ in range(2))

    def value(one, other):
        difference = one[ood].mean() / one[~ood].mean() - other[ood].mean() / other[~ood].mean()
        return difference / influence_error(one, other, codes, ood)

    seen, far = abs(value(first, second)), 0
    for flips in itertools.product((False, True), repeat=7):
        swapped = np.array(flips)[codes]
        far += abs(value(np.where(swapped, second, first), np.where(swapped, first, second))) >= seen - 1e-9
    found = swap_test(images, ood, first, second)
    assert (found.p, found.exact) == (pytest.approx(far / 2**7), True)
    expected = first[ood].mean() / first[~ood].mean() - second[ood].mean() / second[~ood].mean()
    assert found.difference == pytest.approx(expected)
    assert (found.images, found.differing) == (7, 6)  # the sums of one image are alike


def test_the_order_of_methods_turns_the_sign_alone():
    first, second = [1, 1, 1, 0, 1, 1, 0, 1], [1, 0, 1, 0, 1, 0, 1, 0]
    there, back = swap_test(EVERY, OOD, first, second), swap_test(EVERY, OOD, second, first)
    assert there.difference == pytest.approx(-back.difference) and there.p == back.p


def test_one_image_proves_nothing():
    found = swap_test(["a"] * 4, [False, True] * 2, [1, 1, 1, 1], [1, 0, 1, 0])
    assert (found.difference, found.p, found.images) == (1.0, 1.0, 1)


def test_no_difference_and_no_value():
    alike = swap_test(EVERY, OOD, [1] * 8, [1] * 8)
    assert (alike.difference, alike.p, alike.differing) == (0.0, 1.0, 0)
    nothing = swap_test(EVERY, OOD, [0, 1] * 4, [1] * 8)  # the first is right nowhere in distribution
    assert (nothing.difference, nothing.p) == (None, None)
    assert swap_test([], [], [], []).difference is None
    assert swap_test(["a", "b"], [False, False], [1, 0], [1, 1]).difference is None


def _scores(rng, chances, ood, hard):
    return (rng.random(len(ood)) < np.where(ood, chances[1], chances[0]) * (1 - hard) + hard * 0.5).astype(float)


def test_false_findings_of_equal_methods_are_as_claimed():
    found = []
    images = [f"i{n // 4}" for n in range(120)]
    ood = np.arange(120) % 4 > 1
    for number in range(200):
        rng = generator("swap null", number)
        hard = np.repeat(rng.random(30) < 0.3, 4)
        first, second = (_scores(rng, (0.8, 0.6), ood, hard) for _ in range(2))
        found.append(swap_test(images, ood, first, second, swaps=399).p)
    assert sum(p is not None and p <= 0.05 for p in found) / 200 <= 0.085


def test_a_large_difference_is_found():
    rng = generator("swap", "power")
    images, ood = [f"i{n // 4}" for n in range(400)], np.arange(400) % 4 > 1
    hard = np.zeros(400)
    found = swap_test(images, ood, _scores(rng, (0.8, 0.8), ood, hard), _scores(rng, (0.8, 0.4), ood, hard))
    assert found.difference > 0.3 and found.p == 1 / 10_000
