"""Rank consistency by hand, and swaps that are beyond chance."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.statistics.dunning_kruger import equation_6
from lmms_medtasks.statistics.ranks import RankSwap, find_significant_swaps, rank_consistency
from lmms_medtasks.statistics.sums import make_sum_group

# Few distinct figures, so that there are ties.
FIGURES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=9)


def by_model(figures):
    return {f"m{number}": value / 7 for number, value in enumerate(figures)}


def test_rounding_breaks_no_tie():
    figures = {"x": 0.1 + 0.2, "y": 0.3}
    assert figures["x"] != figures["y"]
    found = equation_6(figures, {"x": 0.1, "y": 0.2})
    assert (found.pairs, found.spearman) == (0, None)
    assert [each.first for each in rank_consistency(figures, figures).ranks] == [1.5, 1.5]


@settings(max_examples=50, deadline=None)
@given(FIGURES, st.randoms())
def test_the_order_of_models_does_not_matter(rows, random):
    one, other = (by_model(figures) for figures in np.array(rows).T)
    shuffled = list(one)
    random.shuffle(shuffled)
    again = {name: one[name] for name in shuffled}
    assert equation_6(again, other) == equation_6(one, other)
    assert rank_consistency(again, other) == rank_consistency(one, other)


def test_rank_consistency_by_hand():
    simulated = {"GPT-5": 0.64, "GPT-4.1": 0.6, "Gemini": 0.59, "VL2": 0.4, "new": 0.5, "failed": None}
    real = {"GPT-5": 0.61, "GPT-4.1": 0.5, "Gemini": 0.55, "VL2": 0.5, "old": 0.3, "failed": 0.2}
    found = rank_consistency(simulated, real)
    assert [(each.model, each.first, each.second) for each in found.ranks] == [
        ("GPT-5", 1, 1),
        ("GPT-4.1", 2, 3.5),
        ("Gemini", 3, 2),
        ("VL2", 4, 3.5),
    ]
    assert found.swaps == (RankSwap("GPT-4.1", "Gemini"),)
    # 4 concordant, 1 discordant, 1 tied in the second: 3 / sqrt(6 * 5).
    assert found.kendall == pytest.approx(3 / 30**0.5)


def test_sets_without_a_common_model():
    found = rank_consistency({"x": 0.1}, {"y": 0.2})
    assert (found.ranks, found.kendall) == ((), None)
    assert find_significant_swaps({"x": make_sum_group(["a", "b"], [1, 0])}, {}) == (0, None, "fewer than two models")


def test_the_same_set_is_ranked_alike():
    figures = {"x": 0.1, "y": 0.2, "z": 0.2, "w": 0.5}
    found = rank_consistency(figures, figures)
    assert (found.kendall, found.swaps) == (pytest.approx(1), ())


def made_up(chances, *, images=60, trials=3, seed="ranks", name="i"):
    """Scores of models on images: each right in a share of the trials, with its chance."""
    rng = seeded_generator("test", seed, name)
    labels = [f"{name}{number}" for number in range(images)]
    return {
        f"m{number:02d}": make_sum_group(labels, rng.binomial(trials, chance, images) / trials)
        for number, chance in enumerate(chances)
    }


SPREAD = (0.1, 0.3, 0.5, 0.7, 0.9, 0.95)


def test_one_order_in_two_sets():
    first, second = made_up(SPREAD[:5], images=300), made_up(SPREAD[:5], images=300, name="other")
    assert find_significant_swaps(first, second) == (600, (), "")


def test_a_reversed_order_is_all_swaps():
    first, second = made_up(SPREAD[:5], images=300), made_up(SPREAD[4::-1], images=300, name="other")
    _, found, _ = find_significant_swaps(first, second)
    assert len(found) == 10
    assert RankSwap("m04", "m00") in found and RankSwap("m00", "m04") not in found


def test_swaps_by_chance_are_none_beyond_chance():
    # Eight models that are all alike: about half of the 28 pairs are swapped, and no swap is beyond chance.
    first, second = made_up([0.5] * 8), made_up([0.5] * 8, name="other")
    scores = [{name: float(each.columns.mean()) for name, each in groups.items()} for groups in (first, second)]
    assert len(rank_consistency(*scores).swaps) > 5
    assert find_significant_swaps(first, second)[1:] == ((), "")


def test_no_swap_is_tested_on_few_images():
    first, second = made_up(SPREAD, images=9), made_up(SPREAD[::-1], images=9)
    _, found, why = find_significant_swaps(first, second)
    assert found is None and "9 images" in why


def test_a_difference_that_is_the_same_on_every_image():
    # 20 images: a sign test has p = 2^-20 in each set.
    labels = [f"i{number}" for number in range(20)]
    ones, noughts = make_sum_group(labels, np.ones(20)), make_sum_group(labels, np.zeros(20))
    found = find_significant_swaps({"x": ones, "y": noughts}, {"x": noughts, "y": ones})
    assert found == (20, (RankSwap("x", "y"),), "")
    assert find_significant_swaps({"x": ones, "y": ones}, {"x": ones, "y": ones}) == (20, (), "")
