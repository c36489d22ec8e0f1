"""What questions are filtered by: digits and bits of the scores against a plain definition, tags, beginnings."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.board.site.question_index import beginning, coded, digit, digits, tags, verdicts
from tests.board.made_up_entries import made_up_entry

NAN = float("nan")


def test_the_index_says_what_any_model_was_and_all_together() -> None:
    scores = [np.array([1, 1, 0, 0.5, NAN]), np.array([1, 0, 0, NAN, NAN])]
    anyone, together = verdicts(scores, 5)
    # Bits: right 1, wrong 2, between 4, missing 8; none right 1, all right 2, models differ 4.
    assert anyone == "132c8" and together == "24110"
    assert [digits(each, np.arange(5)) for each in scores] == ["9905-", "900--"]


@given(st.integers(1, 6).flatmap(
    lambda count: st.lists(
        st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0, NAN]), min_size=count, max_size=count), min_size=1, max_size=4
    )
))  # fmt: skip
def test_the_bits_are_those_of_a_plain_definition(models: list[list[float]]) -> None:
    anyone, together = verdicts(map(np.array, models), len(models[0]))
    for place, scores in enumerate(zip(*models, strict=True)):
        had = [each for each in scores if not math.isnan(each)]
        any_bits = (
            1 * (1.0 in had) + 2 * (0.0 in had) + 4 * any(0 < each < 1 for each in had) + 8 * (len(had) < len(scores))
        )
        all_bits = (1 * (1.0 not in had) + 2 * (set(had) == {1.0}) + 4 * (len(set(had)) > 1)) if had else 0
        assert (int(anyone[place], 16), int(together[place], 16)) == (any_bits, all_bits)


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
    assert digit(value) == character


@given(st.lists(st.floats(0, 1), min_size=2))
def test_a_better_score_has_no_lower_digit(values: list[float]) -> None:
    found = [digit(each) for each in sorted(values)]
    assert found == sorted(found) and digits(np.array(values), np.arange(len(values))) == "".join(map(digit, values))


def test_tags_that_divide_the_questions_are_those_of_the_entry_with_most_and_blank_where_it_has_none() -> None:
    few = made_up_entry("a", {"q2": 1.0}, tags={"modality": ["XR"]})
    most = made_up_entry(
        "b", {"q1": 1.0, "q3": 0.0, "q4": 1.0}, tags={"modality": ["CT", "MRI", None], "same": ["x"] * 3}
    )
    found = tags([few, most], np.array(["q1", "q2", "q3", "q4"]), np.arange(4))
    # q2 is no question of the larger entry, and q4 has no value.
    assert found == {"modality": {"values": ["", "CT", "MRI"], "words": ["", "CT", "MRI"], "codes": [1, 0, 2, 0]}}


def test_forty_values_are_groups_and_more_name_questions() -> None:
    def of(values: int) -> object:
        names = [f"q{number:02}" for number in range(values)]
        return tags(
            [made_up_entry("m", dict.fromkeys(names, 1.0), tags={"name": names})],
            np.array(names),
            np.arange(len(names)),
        )

    assert len(of(40)["name"]["values"]) == 41 and of(41) == {}  # type: ignore[index]


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ("Look at the image.\nWhat is seen?\nA. x\nB. y", "What is seen?"),
        ("What is it?\nAnd where?\n", "And where?"),
        ("\n  Say what is seen.\nNow.", "Say what is seen."),
        ("", ""),
        ("x" * 121, "x" * 119 + "…"),
        ("x" * 120, "x" * 120),
    ],
)
def test_a_text_begins_with_its_last_question(text: str, head: str) -> None:
    assert beginning(text) == head


@given(st.lists(st.sampled_from("abc")))
def test_texts_are_coded_without_loss_each_once(texts: list[str]) -> None:
    found = coded(texts)
    assert [found["values"][code] for code in found["codes"]] == texts
    assert found["values"] == list(dict.fromkeys(texts))
