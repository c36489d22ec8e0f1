"""Relative robustness by hand, its interval against draws, and what images that both tests have do to it."""

import doctest

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.samples.table import Samples
from lmms_medtasks.seeding import generator
from lmms_medtasks.statistics.intervals import FEW
from lmms_medtasks.statistics.sums import scored
from lmms_medtasks.suites.estimates import Contrast
from lmms_medtasks.task_configs.sure_vqa import robustness as under_test
from lmms_medtasks.task_configs.sure_vqa.resampled_tests import resampled
from lmms_medtasks.task_configs.sure_vqa.robustness import Sides, differences, relative_robustness

RR = Contrast(main="ratio", first={"set": "iid"}, second={"set": "ood"}, ratio=True)


def test_examples_in_docstrings():
    assert doctest.testmod(under_test).failed == 0


@pytest.mark.parametrize(
    ("iid", "ood", "expected"),
    [
        (0.8, 0.6, 0.75),
        (2.0, 2.5, 1.25),
        (0.5, 0.0, 0.0),
        (0.0, 0.5, None),
        (0.0, 0.0, None),
        (None, 0.5, None),
        (0.5, None, None),
    ],
)
def test_relative_robustness_has_a_defined_answer(iid, ood, expected):
    assert relative_robustness(iid, ood) == (expected if expected is None else pytest.approx(expected))


@given(st.floats(0.01, 5), st.floats(0, 5))
def test_it_is_the_papers_formula(iid, ood):
    assert relative_robustness(iid, ood) == pytest.approx(1 - (iid - ood) / iid, abs=1e-9)


def sides(iid_images, iid, ood_images, ood):
    return Sides(scored(iid_images, iid), scored(ood_images, ood))


def table(iid_images, iid, ood_images, ood):
    """The questions of both tests, an image and a score each."""
    tests = {"iid": zip(iid_images, iid, strict=True), "ood": zip(ood_images, ood, strict=True)}
    return Samples.of_rows(
        {"set": side, "cluster": image, "accuracy.score": float(score), "accuracy.asked": True}
        for side, questions in tests.items()
        for image, score in questions
    )


def draws(rows, resamples):
    groups, statistics = RR.draw(rows)
    return resampled(groups, statistics["ratio"], resamples)


def robustness(*tests):
    """Both means ("first", "second"), their "ratio" and "change", with intervals."""
    return RR.of(table(*tests))


def test_worked_by_hand():
    # i.i.d.: images a (1, 1), b (1, 0), c (1): 4/5. OoD: images c (0), d (1, 0): 1/3. RR = (1/3) / (4/5) = 5/12.
    found = robustness(["a", "a", "b", "b", "c"], [1, 1, 1, 0, 1], ["c", "d", "d"], [0, 1, 0])
    iid, ood, ratio = (found[name] for name in ("first", "second", "ratio"))
    assert iid.estimate == pytest.approx(0.8)
    assert ood.estimate == pytest.approx(1 / 3)
    assert ratio.estimate == pytest.approx(5 / 12)
    assert found["change"].estimate == pytest.approx(1 / 3 - 0.8)
    assert (iid.n, ood.n, ratio.n) == (5, 3, 8)
    assert (iid.clusters, ood.clusters, ratio.clusters) == (3, 2, 4)  # image c is in both tests
    assert (ratio.low, ratio.reason) == (None, FEW)


def test_interval_is_that_of_draws_where_these_hold():
    """100 images a test, so that the bootstrap has converged: the same ends within a fifth of the width."""
    rng = generator("test", "robust")
    tests = table(range(100), rng.random(100) < 0.7, range(100, 200), rng.random(100) < 0.5)
    low, high = np.quantile(draws(tests, 2000), [0.025, 0.975])
    found = RR.of(tests)["ratio"]
    assert (found.low, found.high) == pytest.approx((low, high), abs=(high - low) / 5)


def test_shared_images_pair_the_two_tests():
    # The OoD test is the i.i.d. one, each score halved: what images share does not move RR.
    scores = generator("test", "shared").random(60)
    names = [f"{number % 20}" for number in range(60)]
    joint = robustness(names, scores, names, scores / 2)["ratio"]
    apart = robustness(names, scores, [f"other {name}" for name in names], scores / 2)["ratio"]
    assert (joint.clusters, apart.clusters) == (20, 40)
    assert joint.high - joint.low < 0.25 * (apart.high - apart.low)


@pytest.mark.parametrize(
    ("iid", "ood"),
    [(([], []), (["a"], [1])), ((["a"], [1]), ([], [])), ((["a", "b"], [0, 0]), (["c"], [1]))],
)
def test_without_a_value_there_is_none(iid, ood):
    found = robustness(*iid, *ood)["ratio"]
    assert (found.estimate, found.low, found.high) == (None, None, None)


def test_draws_of_all_models_are_of_the_same_images():
    """Models over the same images: each one's own draw of one seed has the same of them as any other's."""
    scores = generator("test", "models").random(40)
    names = [f"{number}" for number in range(40)]
    twice = (
        table(names[:20], scores[:20], names[20:], scores[20:]),
        table(names[:20], scores[:20] * 2, names[20:], scores[20:]),
    )
    one, other = (draws(each, 100) for each in twice)
    assert len(one) == 100
    assert one / 2 == pytest.approx(other)


def test_differences_between_models_are_paired():
    scores = (generator("test", "pairs").random(40) + 0.5) / 1.5
    names = [f"{number}" for number in range(40)]
    robust = sides(names[:20], scores[:20], names[20:], scores[20:])
    fragile = sides(names[:20], scores[:20], names[20:], scores[20:] / 2)
    found = differences({"robust": robust, "fragile": fragile, "again": robust})
    assert [(each.first, each.second) for each in found] == [
        ("robust", "fragile"),
        ("robust", "again"),
        ("fragile", "again"),
    ]
    first, same, _ = (each.difference for each in found)
    # Half of the same ratio is missing: the difference is half of it.
    assert first.estimate == pytest.approx(scores[20:].mean() / scores[:20].mean() / 2)
    assert first.low > 0.3
    assert same.estimate == 0 and same.high - same.low < (first.high - first.low) / 2


def test_differences_know_the_scale_of_the_scores():
    """One star is the least of five, and no share of 1; five stars throughout are no lack of variation."""
    names = [f"{number}" for number in range(24)]
    worst = sides(names[:12], [1.0] * 12, names[12:], [1.0] * 12)
    best = sides(names[:12], [5.0] * 12, names[12:], [5.0, 3.0, 4.0] * 4)
    (stars,) = differences({"best": best, "worst": worst}, bounds=(1.0, 5.0))
    (unknown,) = differences({"best": best, "worst": worst})
    assert stars.difference.estimate == pytest.approx(-0.2)
    assert stars.difference.low < -0.2 < stars.difference.high
    assert unknown.difference.low is None
    (alike,) = differences({"worst": worst, "again": worst}, bounds=(1.0, 5.0))
    # Up to 1.8 stars where 12 of 12 have the least: the ratio may be 1.8 times as large, or 1 / 1.8.
    assert alike.difference.low < -0.5 and alike.difference.high > 0.5
