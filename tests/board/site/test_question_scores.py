"""Scores of questions: from worst to best on any scale, in the direction of the measure, and as texts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.board.site.question_scores import (
    score_character,
    score_characters,
    score_mark,
    score_verdicts,
    scores_of,
)
from lmms_medtasks.suites.suite import Measure
from tests.board.made_up_entries import ACCURACY, ERRORS, STARS, made_up_entry, of_every_kind

NAN = float("nan")
IDS = np.array(["a", "b", "c", "d"])


def test_a_score_stands_between_the_worst_and_the_best_of_its_scale() -> None:
    # 4 stars of 1 to 5: (4 - 1) / (5 - 1) = 0.75; 0 and 9 stars are beyond the scale.
    found = scores_of(made_up_entry("m", {STARS: {"a": 4.0, "b": 1.0, "c": 9.0, "d": 0.0}}), IDS)
    assert found.normal.tolist() == [0.75, 0.0, 1.0, 0.0]
    assert found.distinct[found.places].tolist() == [4.0, 1.0, 9.0, 0.0]


def test_of_errors_the_fewest_are_the_best() -> None:
    found = scores_of(made_up_entry("m", {ERRORS: {"a": 0.0, "b": 0.25, "c": 1.0}}), IDS)
    # 1 - 0.25 = 0.75
    assert found.normal[:3].tolist() == [1.0, 0.75, 0.0]
    assert [found.text(row) for row in range(4)] == ["0.0%", "25.0%", "100.0%", None]


def test_a_question_without_a_score_or_that_was_not_asked_has_none() -> None:
    found = scores_of(made_up_entry("m", {"b": None, "c": 1.0}), IDS)
    assert (
        np.isnan(found.distinct[found.places]).tolist() == np.isnan(found.normal).tolist() == [True, True, False, True]
    )
    assert [found.text(row) for row in range(4)] == [None, None, "100.0%", None]


def test_each_question_has_the_first_main_measure_with_a_value_for_it() -> None:
    entry = made_up_entry("m", {ACCURACY: {"a": 1 / 3, "b": None, "d": 0.0}, STARS: {"a": 5.0, "b": 2.0, "c": 3.5}})
    found = scores_of(entry, IDS)
    assert [found.text(row) for row in range(4)] == ["33.3%", "2.0 stars", "3.5 stars", "0.0%"]
    assert found.measure[found.places].tolist() == [0, 1, 1, 0]
    # 2 stars: (2 - 1) / 4; 3.5 stars: 2.5 / 4
    assert found.normal.tolist() == pytest.approx([1 / 3, 0.25, 0.625, 0.0])


@given(st.lists(st.floats(-20, 20), min_size=2, max_size=6, unique=True), st.booleans())
def test_a_better_score_is_never_lower_from_worst_to_best(values: list[float], higher: bool) -> None:
    measure = Measure("own", low=-10.0, high=10.0, unit="points", higher_is_better=higher)
    ids = np.array([f"q{number}" for number in range(len(values))])
    found = scores_of(made_up_entry("m", {measure: dict(zip(ids.tolist(), values, strict=True))}), ids).normal
    best_first = found[np.argsort(values)[:: -1 if higher else 1]]
    assert (np.diff(best_first) <= 0).all() and (found >= 0).all() and (found <= 1).all()


@pytest.mark.parametrize(("normal", "sign"), [(1.0, "✓"), (0.0, "✗"), (0.999, "~"), (0.001, "~"), (float("nan"), "")])
def test_only_the_best_and_the_worst_score_are_marked_right_and_wrong(normal: float, sign: str) -> None:
    assert score_mark(normal) == sign


def test_a_question_has_scores_of_means_alone() -> None:
    entry = of_every_kind("m", "10", "0-")
    found = scores_of(entry, entry.questions.ids)
    assert [each.name for each in found.units] == ["accuracy"] and len(entry.main_metrics) == 8
    assert [found.text(row) for row in range(4)] == ["100.0%", "0.0%", "0.0%", None]


def test_the_index_says_what_any_model_was_and_all_together() -> None:
    scores = [np.array([1, 1, 0, 0.5, NAN]), np.array([1, 0, 0, NAN, NAN])]
    # Bits: right 1, wrong 2, between 4, missing 8, models differ 16.
    assert score_verdicts(scores, 5) == "1j2c8"
    assert [score_characters(each, np.arange(5)) for each in scores] == ["9905-", "900--"]


@given(st.integers(1, 6).flatmap(
    lambda count: st.lists(
        st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0, NAN]), min_size=count, max_size=count), min_size=1, max_size=4
    )
))  # fmt: skip
def test_the_bits_are_those_of_a_plain_definition(models: list[list[float]]) -> None:
    found = score_verdicts(map(np.array, models), len(models[0]))
    for place, scores in enumerate(zip(*models, strict=True)):
        had = [each for each in scores if not math.isnan(each)]
        any_bits = (
            1 * (1.0 in had) + 2 * (0.0 in had) + 4 * any(0 < each < 1 for each in had) + 8 * (len(had) < len(scores))
        )
        assert int(found[place], 32) == any_bits + 16 * (len(set(had)) > 1)


@pytest.mark.parametrize(
    ("value", "character"),
    [
        (0.0, "0"),
        (1.0, "9"),
        (1e-9, "1"),
        (0.124, "1"),
        (0.125, "2"),
        (0.5, "5"),
        (0.999999, "8"),
        (NAN, "-"),
        (-1.0, "0"),
    ],
)  # between worst and best eight steps of an eighth
def test_only_the_worst_and_the_best_have_the_digits_of_both_ends(value: float, character: str) -> None:
    assert score_character(value) == character


@given(st.lists(st.floats(0, 1), min_size=2))
def test_a_better_score_has_no_lower_digit(values: list[float]) -> None:
    found = [score_character(each) for each in sorted(values)]
    assert found == sorted(found) and score_characters(np.array(values), np.arange(len(values))) == "".join(
        map(score_character, values)
    )
