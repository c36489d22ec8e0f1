"""Raters as numbers by answer: means, majorities and single judgings, worked by hand and against plain definitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.agreement.judged_answers import TOTAL, Answer, AnswerKey, Judged
from lmms_medtasks.agreement.raters import (
    Side,
    has_verdicts,
    judgings,
    majority_of_judge,
    mean_of,
    of_judge,
    of_rater,
    with_totals,
)
from lmms_medtasks.judges.protocol import Dimension, Protocol

LABELS = {str(number): float(number) for number in range(1, 6)}


def key(number: int) -> AnswerKey:
    return AnswerKey("m", f"q{number}", 1)


def answer(number: int, scores: Sequence[float | None], judge: str = "j", settled: bool = False) -> Answer:
    measures = {"correctness": tuple(scores), "clarity": tuple(scores), TOTAL: tuple(scores)}
    return Answer(key(number), judge, "t", "r", f"image {number}", "ok", {}, {}, "", settled, measures)


def judged(*answers: Answer, trials: int = 3, with_total: bool = True) -> Judged:
    protocol = Protocol(
        name="p", prompt="p.txt", version=1,
        dimensions=(Dimension("correctness", LABELS), Dimension("clarity", LABELS)), fields=("question",),
        paper_judge="", item=lambda doc, reply: None,  # type: ignore[arg-type, return-value]
        trials=trials, total=(lambda numbers: sum(numbers.values())) if with_total else None,
    )  # fmt: skip
    return Judged(protocol, answers, {})


def by_number(numbers: Mapping[AnswerKey, float]) -> dict[str, float]:
    return {each.id: value for each, value in numbers.items()}


def test_the_mean_of_people_is_over_those_who_rated_the_answer() -> None:
    one = Side("one", {key(1): 1.0, key(2): 4.0}, labels=True)
    other = Side("other", {key(2): 5.0, key(3): 2.0}, labels=True)
    found = mean_of([one, other])
    assert by_number(found.numbers) == {"q1": 1.0, "q2": 4.5, "q3": 2.0}
    assert (found.name, found.labels) == ("mean of 2 people", False)
    assert mean_of([one]) is one


def test_of_people_who_rated_other_answers_the_numbers_are_labels_still() -> None:
    apart = [Side("one", {key(1): 1.0}, labels=True), Side("other", {key(2): 5.0}, labels=True)]
    assert mean_of(apart).labels
    assert not mean_of([Side("one", {key(1): 1.5}, labels=False), apart[1]]).labels


def test_a_total_stands_where_all_dimensions_were_rated() -> None:
    people = {"ann": {key(1): {"correctness": 2.0, "clarity": 3.0}, key(2): {"correctness": 4.0}}}
    found = with_totals(people, judged())
    assert by_number(of_rater(found["ann"], TOTAL)) == {"q1": 5.0}
    assert by_number(of_rater(found["ann"], "correctness")) == {"q1": 2.0, "q2": 4.0}
    assert with_totals(people, judged(with_total=False)) == people


def test_a_judges_number_is_the_mean_of_the_judgings_that_were_had() -> None:
    found = judged(
        answer(1, (1, None, 4)), answer(2, (None, None, None)), answer(3, (5, 5, 5), settled=True),
        answer(4, (2, 2, 2), judge="another"),
    )  # fmt: skip
    assert by_number(of_judge(found, "j", "correctness", settled=True).numbers) == {"q1": 2.5, "q3": 5.0}
    assert by_number(of_judge(found, "j", "correctness", settled=False).numbers) == {"q1": 2.5}
    assert not of_judge(found, "j", "correctness", settled=True).labels
    single = judged(answer(1, (4,)), trials=1)
    assert of_judge(single, "j", "correctness", settled=True).labels
    assert not of_judge(single, "j", TOTAL, settled=True).labels


@pytest.mark.parametrize(("judge", "settled", "there"), [("j", True, True), ("j", False, False), ("none", True, False)])
def test_a_judge_that_gave_no_verdict_has_none(judge: str, settled: bool, there: bool) -> None:
    found = judged(answer(1, (5, 5, 5), settled=True), answer(2, (None,) * 3, judge="none"))
    assert has_verdicts(found, judge, settled) is there


@given(st.lists(st.sampled_from([1.0, 2.0, 3.0, None]), min_size=1, max_size=7))
def test_a_majority_is_what_more_than_half_gave(scores: list[float | None]) -> None:
    found = majority_of_judge(judged(answer(1, scores), trials=len(scores) + 1), "j", "correctness", settled=True)
    had = [each for each in scores if each is not None]
    expected = [label for label, count in Counter(had).items() if count > len(had) / 2]
    assert found is not None and list(found.numbers.values()) == expected and found.labels


def test_one_judging_and_a_total_have_no_majority() -> None:
    assert majority_of_judge(judged(answer(1, (4,)), trials=1), "j", "correctness", settled=True) is None
    assert majority_of_judge(judged(answer(1, (4, 4, 4))), "j", TOTAL, settled=True) is None
    settled = judged(answer(1, (5, 5, 5), settled=True))
    assert majority_of_judge(settled, "j", "correctness", settled=False).numbers == {}  # type: ignore[union-attr]


def test_each_judging_is_a_rater_of_its_own_without_what_a_rule_settled() -> None:
    found = judgings(
        judged(
            answer(1, (1, None, 4)), answer(2, (2, 3)), answer(3, (5, 5, 5), settled=True), answer(4, (1, 1, 1), "k")
        ),
        "j",
        "correctness",
    )
    assert [each.name for each in found] == ["j, judging 1", "j, judging 2", "j, judging 3"]
    assert [by_number(each.numbers) for each in found] == [{"q1": 1, "q2": 2}, {"q2": 3}, {"q1": 4}]
    assert judgings(judged(answer(1, (4,)), trials=1), "j", "correctness") == []
    assert judgings(judged(), "j", "correctness") == []


@given(st.lists(st.dictionaries(st.integers(1, 5), st.floats(1, 5), max_size=5), min_size=2, max_size=4))
def test_the_mean_is_a_plain_mean_whoever_comes_first(ratings: list[dict[int, float]]) -> None:
    sides = [
        Side(f"r{n}", {key(number): value for number, value in own.items()}, True) for n, own in enumerate(ratings)
    ]
    found = by_number(mean_of(sides).numbers)
    for number in {each for own in ratings for each in own}:
        assert found[f"q{number}"] == pytest.approx(fmean(own[number] for own in ratings if number in own))
    assert found == by_number(mean_of(sides[::-1]).numbers)
