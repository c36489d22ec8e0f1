"""Failures of a model by rule: never what it got right, worst first against a naive sort, spread over what there is."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.board.site.failures import SHOWN, Failure, SuiteVerdicts, chosen
from tests.board.made_up_entries import ERRORS, MadeUpEntry, made_up_entry, right_and_wrong

SUITE = "made_up"


def found_ids(entries: list[MadeUpEntry], model: str) -> list[str]:
    key = next(entry.model.key for entry in entries if entry.model.name == model)
    return [each.id for each in SuiteVerdicts(SUITE, entries).failures(key)]


def test_what_most_others_got_right_comes_first() -> None:
    # Of q00 to q03 "m" has only q02 right; of the other two models 0, 2, 2 and 1 are right.
    entries = [
        made_up_entry("m", right_and_wrong("0010")),
        made_up_entry("a", right_and_wrong("0111")),
        made_up_entry("b", right_and_wrong("0110")),
    ]
    found = SuiteVerdicts(SUITE, entries).failures(entries[0].model.key)
    # Tenths of two other models: 10 * 2 // 2, 10 * 1 // 2, 0.
    assert [(each.id, each.right, each.others, each.step) for each in found] == [
        ("q01", 2, 2, 10), ("q03", 1, 2, 5), ("q00", 0, 2, 0),
    ]  # fmt: skip


def test_half_of_the_best_score_is_no_failure_and_no_model_that_got_it_right() -> None:
    entries = [made_up_entry("m", right_and_wrong("h0-0")), made_up_entry("a", right_and_wrong("1h1-"))]
    found = SuiteVerdicts(SUITE, entries).failures(entries[0].model.key)
    assert [(each.id, each.right, each.others) for each in found] == [("q01", 0, 1), ("q03", 0, 0)]


def test_many_errors_are_a_failure_and_none_are_not() -> None:
    entry = made_up_entry("m", {ERRORS: {"few": 0.1, "half": 0.5, "many": 0.9}})
    assert found_ids([entry], "m") == ["many"]


def test_a_single_model_has_failures_that_nobody_else_was_asked() -> None:
    entry = made_up_entry("m", right_and_wrong("010"))
    (first, second) = SuiteVerdicts(SUITE, [entry]).failures(entry.model.key)
    assert (first.id, second.id, first.others, first.right, first.step) == ("q00", "q02", 0, 0, 0)


def test_without_entries_or_of_another_model_there_are_none() -> None:
    assert SuiteVerdicts(SUITE, []).failures("m") == []
    assert SuiteVerdicts(SUITE, [made_up_entry("m", right_and_wrong("00"))]).failures("nobody") == []


def test_of_questions_that_as_many_got_right_those_come_first_whose_clean_form_the_model_got_right() -> None:
    pairs, images = {"d0": "c0", "d1": "c1"}, {"c0": "0", "d0": "0", "c1": "1", "d1": "1"}
    scores = {"c0": 0.0, "c1": 1.0, "d0": 0.0, "d1": 0.0}
    entry = made_up_entry("m", scores, pairs=pairs, clusters=images)
    found = SuiteVerdicts(SUITE, [entry]).failures(entry.model.key)
    assert [(each.id, each.lost) for each in found] == [("d1", True), ("c0", False), ("d0", False)]


def test_what_most_others_got_right_goes_before_what_was_lost_from_the_clean_form() -> None:
    pairs, images = {"b": "a"}, {"a": "0", "b": "0", "c": "1"}
    own = made_up_entry("m", {"a": 1.0, "b": 0.0, "c": 0.0}, pairs=pairs, clusters=images)
    other = made_up_entry("n", {"a": 1.0, "b": 0.0, "c": 1.0}, pairs=pairs, clusters=images)
    found = SuiteVerdicts(SUITE, [own, other]).failures(own.model.key)
    assert [(each.id, each.lost, each.step) for each in found] == [("c", False, 10), ("b", True, 0)]


def test_a_clean_form_of_the_same_id_on_another_picture_is_not_its_clean_form() -> None:
    pairs, images = {"d": "c"}, {"c": "another", "d": "own"}
    entry = made_up_entry("m", {"c": 1.0, "d": 0.0}, pairs=pairs, clusters=images)
    (found,) = SuiteVerdicts(SUITE, [entry]).failures(entry.model.key)
    assert (found.id, found.lost) == ("d", False)


def test_of_models_that_were_asked_other_questions_those_of_the_largest_set_count() -> None:
    most = made_up_entry("most", {"a": 0.0, "b": 1.0, "c": 1.0})
    few = made_up_entry("few", {"b": 0.0, "z": 0.0})
    assert found_ids([most, few], "most") == ["a"] and found_ids([most, few], "few") == ["b"]


def test_what_two_tasks_ask_alike_counts_once_with_the_first_task() -> None:
    images = {"q00": "0", "q01": "1"}
    first = made_up_entry("m", right_and_wrong("0"), task="made_up_a", clusters=images)
    second = made_up_entry("m", right_and_wrong("00"), task="made_up_b", clusters=images)
    found = SuiteVerdicts(SUITE, [first, second]).failures(first.model.key)
    assert [(each.task, each.id) for each in found] == [("made_up_a", "q00"), ("made_up_b", "q01")]


def test_tags_of_a_failure_are_those_that_group_the_questions() -> None:
    names = [f"q{number:02}" for number in range(41)]
    tags = {"modality": ["CT", "MRI"] * 20 + [None], "same": ["x"] * 41, "name": names}
    entry = made_up_entry("m", dict.fromkeys(names, 0.0), tags=tags)
    found = SuiteVerdicts(SUITE, [entry]).failures(entry.model.key)
    # One value says nothing, and 41 values name questions.
    assert [each.tags for each in found] == [*[{"modality": "CT"}, {"modality": "MRI"}] * 20, {}]


@given(
    st.integers(2, 12).flatmap(
        lambda count: st.lists(st.text("01h-", min_size=count, max_size=count), min_size=1, max_size=5)
    )
)
def test_failures_are_those_of_a_plain_definition_in_its_order(models: list[str]) -> None:
    entries = [made_up_entry(f"m{number}", right_and_wrong(letters)) for number, letters in enumerate(models)]
    own, others = models[0], models[1:]
    expected = []
    for number, letter in enumerate(own):
        if letter == "0":
            said = [other[number] for other in others if other[number] != "-"]
            step = math.floor(10 * said.count("1") / len(said)) if said else 0
            expected.append((-step, f"q{number:02}"))
    assert found_ids(entries, "m0") == [id for _, id in sorted(expected)]


def failure(id: str, right: int, *, suite: str = "s", cluster: str = "", lost: bool = False, **tags: str) -> Failure:
    return Failure(suite, "t", id, cluster or id, id, 10, right, lost, tags)


def test_failures_are_spread_over_tags_and_a_picture_is_taken_once() -> None:
    found = [
        failure("1", 9, kind="x"), failure("2", 9, kind="x"), failure("3", 9, kind="y"),
        failure("4", 9, cluster="1", kind="z"), failure("5", 8, lost=True, kind="z"),
    ]  # fmt: skip
    assert [each.id for each in chosen({"s": found})] == ["1", "3", "2", "5"]


def test_a_benchmark_has_its_share_of_the_places_and_the_clean_form_counts() -> None:
    many = [failure(f"a{number}", 10, suite="a") for number in range(20)]
    few = [failure("b1", 5, suite="b"), failure("b2", 5, suite="b", lost=True)]
    found = chosen({"a": many, "b": few})
    assert len(found) == SHOWN
    assert [each.id for each in found if each.suite == "b"] == ["b2", "b1"]


@pytest.mark.parametrize(("suites", "most"), [(2, 8), (3, 5), (5, 3)])
def test_no_benchmark_has_more_than_half_as_much_again_as_its_share(suites: int, most: int) -> None:
    """The first has the worst failures: of 10 places 1.5 x 10 / suites, rounded up, are its own: 7.5, 5, 3."""
    found = chosen({
        f"s{suite}": [failure(f"{suite}-{number}", 10 - suite, suite=f"s{suite}") for number in range(20)]
        for suite in range(suites)
    })  # fmt: skip
    assert Counter(each.suite for each in found)["s0"] == most and len(found) == SHOWN


def test_who_has_failures_in_one_benchmark_alone_has_ten_of_it() -> None:
    own = [failure(f"q{number:02}", 3) for number in range(20)]
    assert [each.id for each in chosen({"s": own, "empty": []})] == [f"q{number:02}" for number in range(10)]
    assert chosen({}) == chosen({"s": []}) == []


FAILURES = st.lists(
    st.builds(
        lambda right, image, lost, kind: (right, image, lost, kind),
        st.integers(0, 10), st.integers(0, 6), st.booleans(), st.sampled_from("xyz"),
    ),
    max_size=15,
)  # fmt: skip


@given(FAILURES, FAILURES, st.randoms(use_true_random=False))
def test_the_chosen_ones_do_not_depend_on_the_order_and_the_worst_is_among_them(
    first: list[tuple[int, int, bool, str]], second: list[tuple[int, int, bool, str]], random: object
) -> None:
    made = {
        suite: [
            failure(f"{suite}{number:02}", right, suite=suite, cluster=f"{suite} {image}", lost=lost, kind=kind)
            for number, (right, image, lost, kind) in enumerate(rows)
        ]
        for suite, rows in (("a", first), ("b", second))
    }
    found = chosen(made)
    shuffled = {suite: list(own) for suite, own in made.items()}
    for own in shuffled.values():
        random.shuffle(own)  # type: ignore[attr-defined]
    assert found == chosen(shuffled)
    every = [each for own in made.values() for each in own]
    pictures = {each.cluster for each in every}
    assert len(found) == len({each.cluster for each in found}) == min(SHOWN, len(pictures))
    assert not every or found[0].step == max(each.step for each in every)
