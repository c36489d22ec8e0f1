"""Power of a paired test over images: by hand, against published tables, and against simulated tests."""

import math

import numpy as np
import pytest
import scipy.integrate
import scipy.stats

from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.statistics.intervals import ALIKE, FEW
from lmms_medtasks.statistics.power import (
    BEYOND,
    ChangeVariances,
    TestCriterion,
    compute_power,
    detectable_difference,
    estimate_variances,
    images_needed,
    standard_errors_needed,
)


def labels(count, questions=1):
    return [str(number // questions) for number in range(count * questions)]


def test_many_images_ask_for_two_normal_quantiles():
    assert standard_errors_needed(100_000) == pytest.approx(1.95996 + 0.84162, abs=1e-3)
    assert standard_errors_needed(100_000, TestCriterion(sides=1)) == pytest.approx(1.64485 + 0.84162, abs=1e-3)
    assert standard_errors_needed(100_000, TestCriterion(comparisons=5)) == pytest.approx(2.57583 + 0.84162, abs=1e-3)


def test_few_images_ask_for_more():
    assert standard_errors_needed(5) > standard_errors_needed(10) > standard_errors_needed(100) > 2.8


def integrated_power(difference, clusters, criterion):
    """The power by its definition: T = (Z + d) / sqrt(V / f), integrated over V, a chi-squared of f degrees."""
    freedom = clusters - 1
    critical = scipy.stats.t.isf(criterion.level / criterion.sides, freedom)

    def found(square):
        scale = critical * math.sqrt(square / freedom)
        below = scipy.stats.norm.cdf(-scale - difference) if criterion.sides == 2 else 0.0
        return (scipy.stats.norm.sf(scale - difference) + below) * scipy.stats.chi2.pdf(square, freedom)

    ends = scipy.stats.chi2.ppf([1e-13, 1 - 1e-13], freedom)
    return scipy.integrate.quad(found, *ends, limit=300, epsabs=1e-12)[0]


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("clusters", [5, 6, 25, 667])
@pytest.mark.parametrize(("alpha", "power", "comparisons"), [(0.05, 0.8, 20), (0.001, 0.9, 3)])
def test_the_difference_needed_has_the_power_asked_for(alpha, power, comparisons, clusters, sides):
    """scipy's noncentral t has no value at scattered points of its lower tail: there the power was taken for 1."""
    criterion = TestCriterion(alpha, power, comparisons, sides)
    needed = standard_errors_needed(clusters, criterion)
    assert integrated_power(needed, clusters, criterion) == pytest.approx(power, abs=1e-6)


@pytest.mark.parametrize(("effect", "images"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_number_of_pairs_is_that_of_the_tables(effect, images):
    """Cohen's d of a paired t-test, two-sided 0.05, power 0.8: 199, 34 and 15 pairs (G*Power 3.1).

    So many trials have no step.
    """
    assert images_needed(effect, ChangeVariances(1.0, 0.0, 0.0), trials=10**9) == images


def test_smallest_difference_by_hand():
    """Ten images of one question: s / sqrt(10) times what nine degrees of freedom ask for, and one answer of ten."""
    changes = [1, 0, 0, 0, -1, 0, 1, 0, 0, 1]
    found = detectable_difference(labels(10), changes)
    assert found.standard_error == pytest.approx(np.std(changes, ddof=1) / math.sqrt(10))
    assert found.difference == pytest.approx(standard_errors_needed(10) * found.standard_error + 1 / 10)
    assert (found.clusters, found.reason) == (10, "")
    assert compute_power(found.difference - 0.1, found.standard_error, 10) == pytest.approx(0.8)
    assert (
        detectable_difference(labels(10), np.array(changes) * math.pi).difference < math.pi * found.difference
    )  # no steps


def test_copies_of_a_question_show_no_smaller_difference():
    changes = [1, 0, 0, 0, -1, 0, 1, 0, 0, 1]
    once, copied = (
        detectable_difference(labels(10), changes),
        detectable_difference(labels(10, 3), np.repeat(changes, 3)),
    )
    assert copied.difference == pytest.approx(once.difference)
    assert copied.clusters == 10


def test_what_can_not_be_told_has_its_reason():
    few, alike = detectable_difference(labels(4), [1, 0, 1, 0]), detectable_difference(labels(9), [0] * 9)
    assert (few.difference, few.reason) == (None, FEW)
    assert (alike.difference, alike.reason) == (None, ALIKE)
    # Five images ask for 3.8 standard errors, more than a share can change by.
    beyond = detectable_difference(labels(5), [1, -1, 0, 1, -1], largest=1)
    assert (beyond.difference, beyond.reason) == (None, BEYOND)
    assert detectable_difference(labels(5), [1, -1, 0, 1, -1]).difference > 1


def test_power_without_a_difference_is_the_level():
    assert compute_power(0, 1, 12) == pytest.approx(0.05)
    assert compute_power(0, 1, 12, TestCriterion(comparisons=5, sides=1)) == pytest.approx(0.01)
    assert compute_power(50, 1, 12) == 1


def test_parts_of_the_variance_by_hand():
    """Five images of two questions: mean squares between 1.5 and within 0.5, so 0.5 and 0.5; trials take 0.2 / 4."""
    changes = np.array([[2, 1], [0, 1], [1, 0], [-1, 0], [0, 1]]) * 1.0
    means = changes.mean(1)
    between, within = 2 * means.var(ddof=1), 0.5
    found = estimate_variances(labels(5, 2), changes.ravel(), np.full(10, 0.2), trials=4)
    assert found == ChangeVariances(pytest.approx((between - within) / 2), pytest.approx(within - 0.05), 0.2)
    # Put together again it is the variance of the mean that the images have.
    assert found.of_mean(5, 2, 4) == pytest.approx(means.var(ddof=1) / 5)


def test_trials_that_can_not_be_told_apart_are_said():
    found = estimate_variances(labels(6), [1, 0, 0, 1, 0, -1])
    assert (found.questions, found.trials, found.trials_known) == (0, 0, False)
    assert found.images == pytest.approx(np.var([1, 0, 0, 1, 0, -1], ddof=1))


def test_planted_parts_are_found():
    rng = seeded_generator("test", "parts")
    images, questions, trials = 4000, 3, 5
    own = 0.3 * rng.standard_normal((images, 1, 1)) + 0.4 * rng.standard_normal((images, questions, 1))
    replies = own + 0.5 * rng.standard_normal((images, questions, trials))
    found = estimate_variances(
        labels(images, questions), replies.mean(2).ravel(), replies.var(2, ddof=1).ravel(), trials=trials
    )
    assert (found.images, found.questions, found.trials) == pytest.approx((0.09, 0.16, 0.25), rel=0.08)


def test_trials_gain_until_questions_and_images_are_left():
    varied = ChangeVariances(0.02, 0.05, 0.2)
    needed = [images_needed(0.05, varied, questions=2, trials=trials) for trials in (1, 3, 10, 1000)]
    assert needed == sorted(needed, reverse=True)
    assert needed[-1] == pytest.approx(
        images_needed(0.05, ChangeVariances(0.02, 0.05, 0.0), questions=2, trials=1000), abs=1
    )
    assert images_needed(1e-9, varied) is None


def test_the_test_has_the_power_that_is_stated():
    """2,000 data sets of 20 images with that difference: a paired t-test finds 80 % (standard error 0.9 %)."""
    rng, spread, images = seeded_generator("test", "power"), 0.4, 20
    difference = standard_errors_needed(images) * spread / math.sqrt(images)
    data = difference + spread * rng.standard_normal((2000, images))
    assert (scipy.stats.ttest_1samp(data, 0, axis=1).pvalue < 0.05).mean() == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize(
    "options", [{"alpha": 0}, {"alpha": 1.5}, {"power": 0.01}, {"power": 1}, {"comparisons": 0}, {"sides": 3}]
)
def test_numbers_out_of_range_are_refused(options):
    with pytest.raises(UserError, match=next(iter(options))):
        TestCriterion(**options)


@pytest.mark.parametrize(
    ("difference", "questions", "trials", "said"),
    [(0, 1, 1, "difference"), (-0.1, 1, 1, "difference"), (0.1, 0, 1, "questions 0"), (0.1, 1, 0, "trials is 0")],
)
def test_a_plan_for_nothing_is_refused(difference, questions, trials, said):
    with pytest.raises(UserError, match=said):
        images_needed(difference, ChangeVariances(1, 0, 0), questions=questions, trials=trials)


def test_a_plan_from_four_images_is_refused():
    with pytest.raises(UserError, match="4 images"):
        estimate_variances(labels(4), [1, 0, 1, 0])
