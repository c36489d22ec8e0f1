"""Variance components, worked by hand and against planted values."""

from __future__ import annotations

import numpy as np
import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import generator
from lmms_medtasks.statistics.variance_components import nested_components


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
