"""Strongest and weakest groups: hand-worked numbers, p values against the test itself, Holm against its definition."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from lmms_medtasks.board.site import strengths
from lmms_medtasks.board.site.strengths import LEAST_CLUSTERS, MOST_VALUES, SHOWN, Group, extremes
from tests.board.made_up_entries import ACCURACY, ERRORS, STARS, MadeUpEntry, made_up_entry, right_and_wrong

CT, MRI = ["CT"] * 8, ["MRI"] * 8


def models(*letters: str, tags: Sequence[str] = (*CT, *MRI), images: int | None = None) -> list[MadeUpEntry]:
    """Models on questions with a modality each; ``images`` that the questions are spread over, each its own if None."""
    found = []
    for number, own in enumerate(letters):
        scores = right_and_wrong(own)
        clusters = {id: f"image {place % images if images else place}" for place, id in enumerate(scores)}
        found.append(made_up_entry(f"m{number}", scores, clusters=clusters, tags={"modality": list(tags)}))
    return found


def groups_of(entries: Sequence[MadeUpEntry], metric: str = "accuracy", model: int = 0) -> dict[object, Group]:
    found = strengths.of_task(entries, metric)[entries[model].model.key]
    return {group.value: group for group in found}


def test_from_four_models_on_a_group_is_held_against_the_median_of_the_others() -> None:
    entries = models(
        "11111111" "00000000",
        "11110000" "11110000",  # 4 and 4 of 8
        "11000000" "11111100",  # 2 and 6
        "11111100" "11000000",  # 6 and 2
    )  # fmt: skip
    found = groups_of(entries)
    # CT: 1 against the middle one of 2, 4 and 6 of 8; MRI: 0 against the same.
    assert [(each.mean, each.reference, each.better, each.others) for each in (found["CT"], found["MRI"])] == [
        (1.0, 0.5, 0.5, 3), (0.0, 0.5, -0.5, 3),
    ]  # fmt: skip
    assert {(each.questions, each.clusters) for each in found.values()} == {(8, 8)}
    # Four questions differ, all one way: McNemar's exact test is 2 x 1/16.
    assert [found["CT"].p, found["MRI"].p] == pytest.approx([2 / 16] * 2)


def test_a_groups_filters_leave_its_questions_alone_where_the_measure_is_about_some_of_them() -> None:
    ids = [f"q{number:02}" for number in range(24)]
    closed = {id: float(place % 2) for place, id in enumerate(ids[:12])}
    tags = {
        "modality": ["CT", "MRI"] * 12,
        "set": ["iid"] * 16 + ["ood"] * 8,  # leaves out fewer than the form
        "organ": ["lung", "head"] * 6 + ["skin"] * 12,  # of the group, not of the metric
        "form": ["closed"] * 12 + ["open"] * 12,
        "data": ["mini"] * 24,
    }
    entry = made_up_entry("a", {ACCURACY: closed, STARS: dict.fromkeys(ids[12:], 3.0)}, tags=tags)
    (group,) = (each for each in groups_of([entry]).values() if each.value == "CT")
    chosen = strengths.filters(group, entry, "accuracy")
    assert chosen == [("modality", "CT"), ("form", "closed")] and group.questions == 6
    passed = [place for place in range(24) if all(tags[name][place] == value for name, value in chosen)]
    assert {ids[place] for place in passed} == strengths.questions(group, entry, "accuracy")


def test_of_an_even_number_of_others_the_median_is_of_the_two_in_the_middle() -> None:
    letters = ["1" * right + "0" * (8 - right) + "0" * 8 for right in (8, 0, 2, 5, 7)]
    # (2 + 5) / 2 of 8 questions.
    assert groups_of(models(*letters))["CT"].reference == pytest.approx(3.5 / 8)


def test_the_direction_and_the_scale_are_the_measures() -> None:
    """Errors of 0.25 against 0.75 are half of the scale better; 4 stars against 3 a quarter of it."""
    names = [f"q{number:02}" for number in range(16)]

    def entries(measure: object, own: float, other: float) -> list[MadeUpEntry]:
        return [
            made_up_entry(
                f"m{n}", {measure: dict.fromkeys(names, own if n == 0 else other)}, tags={"modality": [*CT, *MRI]}  # type: ignore[dict-item]
            )
            for n in range(4)
        ]  # fmt: skip

    assert groups_of(entries(ERRORS, 0.25, 0.75), "errors")["CT"].better == pytest.approx(0.5)
    assert groups_of(entries(STARS, 4.0, 3.0), "stars")["CT"].better == pytest.approx(0.25)


def test_with_three_models_a_group_is_held_against_the_models_other_questions() -> None:
    entries = models("1111111011000000", "1" * 16, "0" * 16)
    found = groups_of(entries)
    # 7 of 8 against 2 of 8.
    assert [(each.mean, each.reference, each.better, each.others) for each in (found["CT"], found["MRI"])] == [
        (0.875, 0.25, 0.625, 0), (0.25, 0.875, -0.625, 0),
    ]  # fmt: skip
    assert found["CT"].p == pytest.approx(found["MRI"].p) and found["CT"].p < 0.05
    assert {each.p for each in groups_of(entries, model=1).values()} == {1.0}


def test_of_a_single_model_without_a_question_there_is_no_group() -> None:
    assert groups_of(models("-" * 16)) == {} == groups_of(models("", tags=()))
    assert groups_of(models("1" * 16, tags=["CT"] * 16)) == {}


def test_a_group_of_few_pictures_is_not_looked_at() -> None:
    tags = ["CT"] * 12 + ["MRI"] * LEAST_CLUSTERS + ["XR"] * (LEAST_CLUSTERS - 1)
    assert set(groups_of(models("1" * len(tags), tags=tags))) == {"CT", "MRI"}
    # Eight questions of each about four pictures.
    assert groups_of(models("1" * 16, images=4)) == {}


def test_without_a_field_the_other_questions_must_be_about_enough_pictures_too() -> None:
    tags = ["CT"] * 12 + ["MRI"] * (LEAST_CLUSTERS - 1)
    assert groups_of(models("1" * len(tags), tags=tags)) == {}


def test_values_that_name_questions_and_questions_without_a_value_are_no_groups() -> None:
    many = [f"value {number}" for number in range(MOST_VALUES + 1) for _ in range(LEAST_CLUSTERS)]
    assert groups_of(models("1" * len(many), tags=many)) == {}
    some = [*CT, *MRI[:5], *[None] * 5]
    assert set(groups_of(models("1" * len(some), tags=some))) == {"CT", "MRI"}  # type: ignore[arg-type]


def test_the_same_questions_are_one_group_whatever_tag_names_them() -> None:
    tags = {"modality": [*CT, *MRI], "device": ["scanner"] * 8 + ["magnet"] * 8}
    entry = made_up_entry("m", right_and_wrong("1" * 8 + "0" * 8), tags=tags)
    found = strengths.of_task([entry], "accuracy")[entry.model.key]
    assert [(each.tag, each.value) for each in found] == [("device", "scanner"), ("device", "magnet")]


def test_questions_without_a_score_of_some_model_do_not_count_against_the_field() -> None:
    entries = models("11111110" + "0" * 8, *["-0011111" + "0" * 8] * 3)
    found = groups_of(entries)["CT"]
    # The first question is left out: 6 of 7 against 5 of 7.
    assert (found.questions, found.mean, found.reference) == (7, pytest.approx(6 / 7), pytest.approx(5 / 7))
    assert len(strengths.questions(found, entries[0], "accuracy")) == 8


def test_a_groups_interval_is_of_its_own_questions() -> None:
    (entry,) = models("1111111011000000")
    found = strengths.interval(groups_of([entry])["CT"], entry, "accuracy")
    assert (found.estimate, found.n, found.clusters) == (0.875, 8, 8)
    assert found.low is not None and found.high is not None and 0 < found.low < 0.875 < found.high < 1


@given(st.lists(st.text("01", min_size=16, max_size=16), min_size=4, max_size=6))
def test_the_p_value_is_that_of_the_exact_test_or_above_it(letters: list[str]) -> None:
    """McNemar's test from the letters against the median of an odd number of others: the first model of that mean."""
    letters = letters[: len(letters) // 2 * 2]
    entries = models(*letters)
    for number, own in enumerate(letters):
        for value, group in groups_of(entries, model=number).items():
            part = slice(0, 8) if value == "CT" else slice(8, 16)
            others = [each for place, each in enumerate(letters) if place != number]
            middle = sorted(others, key=lambda each: each[part].count("1"))[len(others) // 2]
            assert group.reference == pytest.approx(middle[part].count("1") / 8)
            plus = sum(one > two for one, two in zip(own[part], middle[part], strict=True))
            minus = sum(one < two for one, two in zip(own[part], middle[part], strict=True))
            exact = binomtest(plus, plus + minus).pvalue if plus + minus else 1.0
            assert exact - 1e-9 <= group.p <= 1 and (group.p == pytest.approx(exact) or group.p == 1.0)
            # Only what no correction could tell apart has no value of its own.
            assert group.p < 1 or exact > 0.05


def group(value: str, better: float, p: float, others: int = 0, task: str = "t") -> Group:
    return Group(task, "tag", value, 9, 9, 0.5 + better, 0.5, others, better, p)


def distinct(each: Group) -> frozenset[str]:
    return frozenset({each.value})


def holm(p: Sequence[float]) -> list[float]:
    """By definition: of the ordered values the largest up to each place, times how many are not smaller; at most 1."""
    order = sorted(range(len(p)), key=lambda place: p[place])
    found = [0.0] * len(p)
    for rank, place in enumerate(order):
        found[place] = min(1.0, max((len(p) - below) * p[order[below]] for below in range(rank + 1)))
    return found


@given(st.lists(st.floats(0, 1), min_size=1, max_size=SHOWN))
def test_p_values_are_corrected_as_holm_defines_it(values: list[float]) -> None:
    groups = [group(f"{place}", 0.1 + place / 100, p) for place, p in enumerate(values)]
    found = {each.value: each for each in extremes(groups, distinct).strongest}
    assert len(found) == len(values)
    corrected = [found[str(place)].adjusted for place in range(len(values))]
    assert corrected == pytest.approx(holm(values))
    assert all(raw <= own <= 1 for raw, own in zip(values, corrected, strict=True))
    for one, other in itertools.combinations(range(len(values)), 2):
        if values[one] < values[other]:
            assert corrected[one] <= corrected[other]
    assert [each.told_apart for each in found.values()] == [each.adjusted < 0.05 for each in found.values()]


def test_p_values_are_corrected_for_all_groups_that_were_looked_at() -> None:
    groups = [group(str(number), 0.01, 0.04) for number in range(30)]
    found = extremes([*groups, group("real", 0.2, 1e-6)], distinct)
    assert [each.value for each in found.strongest if each.told_apart] == ["real"]
    assert len(found.strongest) == SHOWN and found.looked == 31


def test_what_is_told_apart_comes_before_what_is_further_out_by_chance() -> None:
    groups = [group("chance", 0.4, 0.5), group("sure", 0.1, 1e-6), group("worse", -0.2, 1e-6), group("even", 0.0, 1.0)]
    found = extremes(groups, distinct)
    assert [each.value for each in found.strongest] == ["sure", "chance"]
    assert [each.value for each in found.weakest] == ["worse"] and found.looked == 4


def test_a_group_that_says_the_same_again_is_left_out_of_its_own_task() -> None:
    ids = {
        "whole": frozenset("abcdef"),
        "part": frozenset("abcx"),
        "half": frozenset("abyz"),
        "other": frozenset("uvw"),
    }
    groups = [group("whole", 0.3, 1e-6), group("part", 0.29, 1e-6), group("half", 0.2, 1e-6), group("other", 0.1, 1.0)]
    # "part" shares 3 of its 4 questions with "whole", "half" 2 of 4: not more than half.
    assert [each.value for each in extremes(groups, lambda each: ids[each.value]).strongest] == [
        "whole", "half", "other",
    ]  # fmt: skip
    twice = [group("whole", 0.3, 1e-6), group("part", 0.29, 1e-6, task="u")]
    assert len(extremes(twice, lambda each: ids[each.value]).strongest) == 2


def test_groups_against_others_and_against_the_own_mean_are_not_mixed() -> None:
    found = extremes([group("own", 0.5, 1e-9), group("field", 0.1, 1e-9, 5)], lambda each: frozenset())
    assert [each.value for each in found.strongest] == ["field"] and found.looked == 1


def test_without_groups_there_is_nothing() -> None:
    found = extremes([], distinct)
    assert (found.strongest, found.weakest, found.looked) == ((), (), 0)


def test_alike_models_are_told_apart_about_as_seldom_as_the_level_says() -> None:
    """Four models that are equally good on 10 groups of 40 questions: hardly any group is told apart."""
    rng = np.random.default_rng(11)
    tags = [f"group {number % 10}" for number in range(400)]
    told = looked = 0
    for _ in range(10):
        letters = ["".join(rng.choice(["0", "1"], 400)) for _ in range(4)]
        for found in strengths.of_task(models(*letters, tags=tags), "accuracy").values():
            corrected = extremes(found, distinct)
            told += any(each.told_apart for each in (*corrected.strongest, *corrected.weakest))
            looked += 1
    # 5 % of 40 models are 2; seven or more would be a chance of 1 in 300.
    assert looked == 40 and told <= 6


def test_a_group_that_guessing_explains_is_no_strength() -> None:
    # Of two options 6 of 8 are right, whose interval holds a half; of four 16 of 20.
    letters = "1" * 6 + "0" * 2 + "1" * 16 + "0" * 4 + "0" * 30
    tags = ["yes or no"] * 8 + ["of four"] * 20 + ["hard"] * 30
    options = [2] * 8 + [4] * 50
    entry = made_up_entry("m", right_and_wrong(letters), tags={"kind": tags, "option_count": options})
    found = strengths.of_task([entry], "accuracy")[entry.model.key]
    chosen = extremes(found, distinct, lambda *each: strengths.beats_guessing(each[0], entry, "accuracy", each[1]))
    assert [each.value for each in chosen.strongest] == ["of four"]
    assert "yes or no" in [each.value for each in extremes(found, distinct).strongest]
