"""Variance components, worked by hand and against planted values."""

from __future__ import annotations

import numpy as np
import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import generator
from lmms_medtasks.statistics.intervals import FEW, mean_interval
from lmms_medtasks.statistics.variance_components import crossed_mean, nested_components


def test_two_images_with_two_trials_each_by_hand():
    # Means 2 and 6 of 4. Between: 2 * (2² + 2²) = 16 with 1 degree of freedom; within: 4 * 1 = 4 with 2, so 2.
    # Image: (16 - 2) / 2 = 7. Of the mean: 7 / 2 and 2 / 4.
    image, trial = nested_components([1, 3, 5, 7], {"image": ["a", "a", "b", "b"]}, "trial")
    assert (image.name, image.units, image.variance, image.of_mean) == ("image", 2, 7.0, 3.5)
    assert (trial.name, trial.units, trial.variance, trial.of_mean) == ("trial", 4, 2.0, 0.5)


def test_groups_of_different_sizes_by_hand():
    # Image a: 1, 3 (mean 2); image b: 6 (mean 6); mean of all 10/3.
    # Within: 2 with 1 degree of freedom: 2. Between: 2 (2 - 10/3)² + (6 - 10/3)² = 32/3, expected
    # 2 * 1 + variance * (3 - (4 + 1) / 3): (32/3 - 2) / (4/3) = 6.5.
    image, trial = nested_components([1, 3, 6], {"image": ["a", "a", "b"]}, "trial")
    assert trial.variance == pytest.approx(2) and image.variance == pytest.approx(6.5)
    # Scores weigh alike: image a has 2/3 of the weight.
    assert image.of_mean == pytest.approx(6.5 * (4 / 9 + 1 / 9))


def test_questions_weigh_alike_whatever_the_number_of_their_trials():
    levels = {"image": ["a", "a", "b"], "question": [1, 1, 1]}
    image, trial = nested_components([1, 3, 6], levels, "trial", "question")
    assert image.name == "image and question"
    # Each question has half of the weight, the trials of the first a quarter each.
    assert image.of_mean == pytest.approx(6.5 * 0.5) and trial.of_mean == pytest.approx(2 * (2 / 16 + 1 / 4))


def test_levels_that_can_not_be_told_apart_are_one():
    parts = nested_components([1, 2, 4], {"image": ["a", "a", "b"], "question": ["x", "y", "z"]}, "reply", "question")
    assert [part.name for part in parts] == ["image", "question and reply"]


@pytest.mark.parametrize("values", [[1.0, 1.0, 1.0, 1.0], [0.0]], ids=["all answers equal", "one score"])
def test_no_variation_is_zero_and_one_unit_is_nothing(values):
    images = ["a", "a", "b", "b"][: len(values)]
    parts = nested_components(values, {"image": images}, "trial")
    assert [part.variance for part in parts] == ([0.0, 0.0] if len(values) > 1 else [None])


def test_one_image_leaves_its_own_component_empty():
    image, trial = nested_components([1, 3], {"image": ["a", "a"]}, "trial")
    assert image.variance is None is image.of_mean and trial.variance == 2


def test_bad_input_is_named():
    with pytest.raises(UserError, match="'image' names 1 units for 2"):
        nested_components([1, 2], {"image": ["a"]}, "trial")
    with pytest.raises(UserError, match="no level 'case'"):
        nested_components([1], {"image": ["a"]}, "trial", "case")
    assert nested_components([], {"image": []}, "trial") == ()


def test_planted_components_are_recovered_where_sizes_differ():
    rng = generator("variance components")
    planted = {"image": 4.0, "question": 2.0, "trial": 1.0}
    found = []
    for _ in range(200):
        values, images, questions = [], [], []
        for image in range(30):
            of_image = 2 * rng.standard_normal()
            for question in range(rng.integers(1, 5)):
                of_question = 2**0.5 * rng.standard_normal()
                for _ in range(rng.integers(1, 4)):
                    values.append(of_image + of_question + rng.standard_normal())
                    images.append(image)
                    questions.append(question)
        found.append(
            [part.variance for part in nested_components(values, {"image": images, "question": questions}, "trial")]
        )
    # Unbiased: the mean of 200 estimates, whose own standard error is about 0.1.
    assert np.mean(found, axis=0) == pytest.approx(list(planted.values()), abs=0.3)


# --- Judges -----------------------------------------------------------------------------------------------------------


def test_two_judges_of_two_images_by_hand():
    # Judge 1 gives 1 and 3, judge 2 gives 3 and 5: means 2 and 4 of 3, no interaction.
    found = crossed_mean(np.array([[1.0, 3.0], [3.0, 5.0]]), ["a", "b"])
    assert (found.mean, found.by_judge) == (3.0, (2.0, 4.0))
    # Images: means 2 and 4 of 3; 2 / 1 / 2² * (1 + 1) = 1. Judges: variance of 2 and 4 is 2; 2 / 2 = 1.
    assert (found.of_images, found.judge_variance, found.of_judges, found.interaction) == (1.0, 2.0, 1.0, 0.0)
    assert (found.low, found.high, found.reason) == (None, None, FEW)


def test_the_interval_joins_that_of_the_images_and_that_of_the_judges():
    # Judge 2 gives 20 more on every image: means 25 and 45 of 35, variance 200, of the mean 100; t is 12.7062.
    scores = np.array([[10.0, 30.0], [20.0, 40.0], [30.0, 50.0], [40.0, 60.0], [25.0, 45.0]])
    found = crossed_mean(scores, [*"abcde"])
    own = mean_interval([*"abcde"], scores.mean(axis=1))
    # Images: means 20, 30, 40, 50, 35 of 35, whose variance 125 is of 5; t with 4 degrees of freedom is 2.7764.
    assert own.high == pytest.approx(35 + 2.776445 * 5)
    assert (found.of_images, found.of_judges) == pytest.approx((25, 100))
    assert (found.low, found.high) == pytest.approx(tuple(35 + side * (13.882226**2 + 127.06205**2) ** 0.5
                                                          for side in (-1, 1)))  # fmt: skip


def test_the_interval_does_not_leave_the_scale():
    """Two judges who differ by 60 of 100 points say nothing of a third: t with one degree of freedom is 12.7."""
    scores = np.array([[80.0, 20.0], [90.0, 30.0], [70.0, 10.0], [80.0, 20.0], [75.0, 25.0], [85.0, 15.0]])
    found = crossed_mean(scores, [*"abcdef"], bounds=(0.0, 100.0))
    assert (found.low, found.high) == (0.0, 100.0)
    assert crossed_mean(scores / 100, [*"abcdef"]).high == 1.0
    assert crossed_mean(scores, [*"abcdef"]).high > 100


def test_judges_who_agree_add_nothing():
    scores = np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 1.0], [1.0, 1.0], [0.0, 0.0], [1.0, 1.0]])
    found = crossed_mean(scores, [*"abcdef"])
    assert found.of_judges == 0.0 == found.interaction
    own = mean_interval([*"abcdef"], scores[:, 0])
    assert (found.low, found.high) == pytest.approx((own.low, own.high)) and 0 < own.low < own.high < 1


def test_interaction_is_no_shift_of_the_judges():
    # Judge 2 is one point up on one image and one down on the other: the means are equal.
    found = crossed_mean(np.array([[1.0, 2.0], [3.0, 2.0]]), ["a", "b"])
    assert found.judge_variance == pytest.approx(-found.interaction) and found.of_judges == 0.0


def test_one_image_or_one_judge_has_no_interval():
    assert crossed_mean(np.ones((3, 1)), ["a", "b", "c"]).low is None
    assert crossed_mean(np.ones((3, 2)), ["a", "a", "a"]).low is None
    with pytest.raises(UserError, match=r"shape \(2, 2\)"):
        crossed_mean(np.array([[1.0, np.nan], [1.0, 1.0]]), ["a", "b"])
