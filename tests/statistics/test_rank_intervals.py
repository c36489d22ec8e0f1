"""Ranks that chance leaves open: hand-worked, against plain enumeration, and how often equal models are told apart."""

import itertools
import tracemalloc

import numpy as np
import pytest

from lmms_medtasks.statistics import rank_intervals as module
from lmms_medtasks.statistics.confidence import use_level
from lmms_medtasks.statistics.rank_intervals import rank_intervals
from lmms_medtasks.statistics.sign_flip import sign_flip


def no_better_p(sums):
    """Of any number of images, of which ranks are made of ten at least."""
    return module._compare_pairs(sums)[0]


def test_of_two_models_p_is_twice_the_one_sided_sign_flip_p():
    """The larger of both ordered pairs' statistics is the absolute one: the two-sided test."""
    sums = np.array([[3, 0], [2, 0], [1, 0], [0, 1], [2, 1], [1, 1], [4, 0], [1, 0]], dtype=float)
    p = no_better_p(sums)
    assert p[0, 1] == pytest.approx(sign_flip(sums[:, 0] - sums[:, 1]))
    assert p[1, 0] > 0.9 and p[0, 0] == p[1, 1] == 1


def test_the_first_step_is_the_largest_statistic_of_all_pairs():
    """Against the definition, coded without any thrift, over all 2**7 assignments."""
    sums = np.random.default_rng(0).integers(0, 4, (7, 3)).astype(float)
    pairs = list(itertools.permutations(range(3), 2))

    def statistics(signs):
        differences = [signs * (sums[:, a] - sums[:, b]) for a, b in pairs]
        return [each.sum() / np.sqrt((each**2).sum()) for each in differences]

    seen = statistics(np.ones(7))
    best = int(np.argmax(seen))
    largest = [max(statistics(np.array(signs))) for signs in itertools.product((1, -1), repeat=7)]
    assert no_better_p(sums)[pairs[best]] == pytest.approx(np.mean([each >= seen[best] - 1e-9 for each in largest]))


def test_a_model_that_is_better_on_every_image_has_rank_1_alone():
    # 10 images: 2 of 1024 assignments reach as far as the data, for the two pairs of the first model alike.
    sums = np.column_stack([np.full(10, 3.0), np.tile([1.0, 0.0], 5), np.tile([0.0, 1.0], 5)])
    found = rank_intervals(sums)
    assert found.low.tolist() == [1, 2, 2]
    assert found.high.tolist() == [1, 3, 3]


def test_with_fewer_than_ten_images_nothing_is_ranked():
    assert rank_intervals(np.column_stack([np.ones(9), np.zeros(9)])) is None
    assert rank_intervals(np.column_stack([np.ones(10), np.zeros(10)])).low.tolist() == [1, 2]


@pytest.mark.parametrize("sums", [np.zeros((12, 3)), np.ones((30, 3)), np.tile([[0.0, 1.0, 0.5]], (1, 1))])
def test_models_that_are_alike_and_a_single_image_are_told_apart_by_nothing(sums):
    assert (no_better_p(sums) > 0.05).all()


def test_one_model_has_nothing_to_be_told_from():
    found = rank_intervals(np.ones((10, 1)))
    assert (found.low.tolist(), found.high.tolist()) == ([1], [1])


def test_the_order_of_models_does_not_matter():
    sums = np.random.default_rng(4).integers(0, 3, (30, 6)).astype(float)
    order = [3, 1, 5, 0, 2, 4]
    assert no_better_p(sums[:, order]) == pytest.approx(no_better_p(sums)[np.ix_(order, order)])


@pytest.mark.parametrize(("images", "models"), [(10, 5), (20, 8)])
def test_equal_models_are_told_apart_in_at_most_5_percent(images, models):
    """300 data sets; 5 % are 15 of them, and more than 24 come with a probability of 1 %."""
    rng = np.random.default_rng(7)
    apart = 0
    for _ in range(300):
        skill = rng.beta(2, 1, (images, 1))
        found = rank_intervals(rng.binomial(3, np.broadcast_to(skill, (images, models))).astype(float))
        apart += (found.p <= 0.05).any()
    assert apart <= 24


def test_models_that_differ_do_not_make_equal_ones_differ():
    """Two far better models beside four equal ones: the four are told apart from each other in at most 5 %."""
    rng = np.random.default_rng(8)
    wrong = 0
    for _ in range(200):
        shares = np.array([0.95, 0.95, 0.4, 0.4, 0.4, 0.4])
        found = rank_intervals(rng.binomial(3, np.broadcast_to(shares, (30, 6))).astype(float))
        wrong += (found.p[2:, 2:] <= 0.05).any()
        assert (found.high[:2] <= 2).all()
    assert wrong <= 17


def _scores(images, models, seed=1):
    """Models of different skill, with whole points, so that pairs tie."""
    rng = np.random.default_rng(seed)
    shares = rng.beta(2, 1, (images, 1)) * np.linspace(0.4, 1, models)
    return rng.binomial(3, shares).astype(float)


@pytest.mark.parametrize("images", [11, 40])
def test_the_size_of_blocks_changes_no_bit(images, monkeypatch):
    whole = rank_intervals(_scores(images, 6))
    monkeypatch.setattr(module, "BLOCK", 70)
    monkeypatch.setattr(module, "_SIGNS_AT_ONCE", 32)
    blocks = rank_intervals(_scores(images, 6))
    assert blocks.p.tobytes() == whole.p.tobytes()
    assert blocks.difference_low.tobytes() == whole.difference_low.tobytes()


def test_memory_does_not_grow_with_pairs_times_signs():
    """60 models are 3,540 pairs; all their statistics at once would be 116 MB, and several copies of that."""
    sums = _scores(1500, 60)
    tracemalloc.start()
    rank_intervals(sums)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6


def test_better_is_what_p_says_and_gives_the_ranks():
    found = rank_intervals(_scores(40, 6))
    assert (found.better == (found.p <= 0.05)).all() and found.better.any()
    assert (found.low == 1 + found.better.sum(axis=0)).all()


def test_differences_are_of_questions_and_of_one_pair_mirrored():
    sums, sizes = _scores(40, 4), np.full(40, 3)
    found = rank_intervals(sums, sizes=sizes)
    means = sums.sum(axis=0) / sizes.sum()
    assert found.difference == pytest.approx(means[:, None] - means[None, :])
    assert found.difference_low == pytest.approx(-found.difference_high.T)
    assert (np.diag(found.difference_low) == 0).all() and (np.diag(found.difference_high) == 0).all()


def test_the_interval_of_two_models_ends_where_the_test_begins_to_reject():
    """Sign flips of the differences less what they are held to be, which is what the interval turns around."""
    sums = _scores(200, 2, seed=3)
    found = rank_intervals(sums)
    for end in (found.difference_low[1, 0], found.difference_high[1, 0]):
        own = sums[:, 1] - sums[:, 0] - end
        assert abs(own.sum()) / np.sqrt((own**2).sum()) == pytest.approx(1.96, abs=0.06)


def test_an_interval_without_0_is_of_a_pair_that_is_told_apart():
    """The reverse need not hold: later steps tell more pairs apart than the first, which the intervals are of."""
    for seed in range(20):
        found = rank_intervals(_scores(30, 5, seed))
        assert found.better[found.difference_low > 0].all()


def test_true_differences_lie_in_their_intervals_together_in_95_percent():
    """100 data sets with images of unequal size; 5 % are 5 of them, and more than 11 come with a probability of 1 %."""
    rng = np.random.default_rng(9)
    missed = 0
    for _ in range(100):
        sizes = rng.integers(1, 7, 40)
        shares = np.clip(np.linspace(0.45, 0.85, 6) + rng.normal(0, 0.12, (40, 1)), 0, 1)
        true = (shares * sizes[:, None]).sum(axis=0) / sizes.sum()
        found = rank_intervals(rng.binomial(sizes[:, None], shares).astype(float), sizes=sizes)
        differences = true[:, None] - true[None, :]
        missed += ((differences < found.difference_low) | (differences > found.difference_high)).any()
    assert missed <= 11


def test_too_few_clusters_for_an_end_give_intervals_without_one():
    """Of 10 images that all differ alike no difference is rejected at a level below 2 in 1024."""
    with use_level(0.999):
        found = rank_intervals(np.column_stack([np.ones(10), np.zeros(10)]))
    assert found.difference_low[0, 1] == -np.inf and found.difference_high[0, 1] == np.inf
