"""Halves of the images: written-out splits, and p values and correlations against all orders of the models."""

from __future__ import annotations

import itertools
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, rankdata, spearmanr

from lmms_medtasks.seeding import generator
from lmms_medtasks.statistics.image_halves import compare_halves, half_means, halves, image_sums, mean_of_known, nothing
from lmms_medtasks.statistics.sums import scored

NUMBERS = st.lists(st.integers(0, 4).map(float), min_size=5, max_size=5)


def test_halves_are_those_written_out() -> None:
    # Three models on three images; halves of one image and of two. Accuracy, and shift, of each on each image:
    accuracy = np.array([[1, 0.5, 0.5], [0.5, 0.5, 0], [0, 0.25, 0.5]])
    shift = np.array([[-0.5, 0, 0.25], [0.25, 0.5, 0.5], [0.75, 0.5, 0]])
    sums = np.stack([np.ones((3, 3)), accuracy, shift], axis=2)
    half = halves(3, 400, generator("test", "halves"))
    assert half.shape == (800, 3)
    assert set(half[:400].sum(axis=1)) == {1} and np.array_equal(half[400:], 1 - half[:400])
    first, second = half_means(sums, half)[..., 0], half_means(sums, 1 - half)[..., 1]
    expected = []
    for own in range(3):
        others = [image for image in range(3) if image != own]
        for one, other in (([own], others), (others, [own])):
            a, s = accuracy[:, one].mean(axis=1), shift[:, other].mean(axis=1)
            pairs = [(i, j) for i, j in itertools.permutations(range(3), 2) if a[i] < a[j]]
            expected.append(np.mean([s[i] > s[j] for i, j in pairs]))
    found = compare_halves(first, second, 3, "opposite", generator("test", "p"))
    assert found.share == pytest.approx(np.mean(expected), abs=0.03)


def test_p_is_twice_the_mean_over_all_orders() -> None:
    # Five models in opposite order in both splits: 1 of 120 orders is as far. In the same order: all of them are.
    ordered = np.arange(5.0)
    rng = generator("test", "p")
    opposite = compare_halves(np.array([ordered] * 2), np.array([-ordered] * 2), 9, "opposite", rng)
    assert (opposite.p, opposite.spearman, opposite.kendall, opposite.share) == (pytest.approx(2 / 120), -1, -1, 1)
    same = compare_halves(np.array([ordered] * 2), np.array([ordered] * 2), 9, "opposite", rng)
    assert (same.p, same.spearman, same.share) == (1, 1, 0)
    mixed = compare_halves(np.array([ordered] * 2), np.array([ordered, -ordered]), 9, "opposite", rng)
    assert mixed.p == 1  # 2 x (1 + 1/120) / 2, at most 1


def test_unrelated_share_leaves_out_ties() -> None:
    # Of the three pairs of second numbers one is tied: a pair taken at random is opposite in (2/3) / 2.
    numbers = np.array([[1.0, 2.0, 3.0]]), np.array([[0.0, 0.0, 1.0]])
    found = compare_halves(*numbers, 9, "opposite", generator("test", "p"))
    assert found.unrelated_share == pytest.approx(1 / 3)


@pytest.mark.parametrize("images", [2, 3, 8])
def test_two_halves_share_no_image_and_have_them_all(images: int) -> None:
    found = halves(images, 50, generator("test", "halves"))
    assert np.array_equal(found[:50] + found[50:], np.ones((50, images)))
    assert set(found[:50].sum(axis=1)) == {images // 2}
    assert np.array_equal(found.sum(axis=0), np.full(images, 50))


def test_sums_of_images_are_by_model_and_a_model_without_a_row_in_a_half_has_no_mean() -> None:
    groups = {"a": scored(["x", "x", "y"], [1.0, 0.0, 1.0]), "b": scored(["y"], [0.5])}
    sums = image_sums(groups)
    # Images x and y: numbers of rows, and sums of the scores.
    assert sums[..., :2].tolist() == [[[2, 1], [1, 1]], [[0, 0], [1, 0.5]]]
    found = half_means(sums, np.array([[1.0, 0.0], [0.0, 1.0]]))[..., 0]
    np.testing.assert_array_equal(found, [[0.5, np.nan], [1.0, 0.5]])
    assert (mean_of_known(found), mean_of_known(np.array([np.nan]))) == (pytest.approx(2 / 3), None)
    assert image_sums({}).shape[0] == 0


@settings(max_examples=40)
@given(NUMBERS, NUMBERS, st.sampled_from(["opposite", "same"]))
def test_p_is_the_share_of_all_orders_that_are_as_far(
    one: list[float], other: list[float], direction: Literal["opposite", "same"]
) -> None:
    found = compare_halves(np.array([one]), np.array([other]), 9, direction, generator("test", "p"))
    if len(set(one)) == 1 or len(set(other)) == 1:
        assert (found.p, found.spearman, found.kendall) == (None, None, None)
        assert found.untested == "a number is the same for all models"
        return
    sign = -1 if direction == "opposite" else 1
    seen = sign * np.dot(rankdata(one) - 3, rankdata(other) - 3)
    as_far = [sign * np.dot(rankdata(one) - 3, np.array(order) - 3) >= seen - 1e-9
              for order in itertools.permutations(rankdata(other))]  # fmt: skip
    assert found.p == pytest.approx(min(1.0, 2 * np.mean(as_far)))
    assert found.spearman == pytest.approx(spearmanr(one, other).statistic)
    assert found.kendall == pytest.approx(kendalltau(one, other).statistic)


def test_splits_with_a_model_without_a_number_are_left_out() -> None:
    first = np.array([np.arange(5.0), [np.nan, 1, 2, 3, 4]])
    found = compare_halves(first, np.array([-np.arange(5.0)] * 2), 9, "opposite", generator("test", "p"))
    assert (found.splits, found.p) == (1, pytest.approx(2 / 120))
    lost = compare_halves(first[1:], first[1:], 9, "opposite", generator("test", "p"))
    assert (lost.splits, lost.p) == (0, None) and "no reply in one half" in lost.untested


@pytest.mark.parametrize(
    ("models", "images", "said"), [(4, 9, "4 models"), (5, 1, "one image"), (5, 0, "no questions")]
)
def test_too_few_models_or_images_have_no_test(models: int, images: int, said: str) -> None:
    numbers = np.array([np.arange(float(models))])
    found = compare_halves(numbers, -numbers, images, "opposite", generator("test", "p"))
    assert found.p is None and said in found.untested and found.models == models
    assert nothing("why").untested == "why" and nothing("why").p is None
