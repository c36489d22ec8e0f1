"""Metrics of MedObvious, worked by hand, and what uniform guessing must get."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.statistics import triage

POSITIVE, NEGATIVE = triage.FORMATS, ("detection_mcq", "detection_open", "visual_referring")


def record(task_type, trial, *, negative=0, place="top-left", item="i1", grid="2x2"):
    right = {0: "yes", 1: "no"}[negative] if task_type == triage.VISUAL else "none" if negative else place
    found = {
        "id": f"{item}/{task_type}/{negative}", "item": item, "task_type": task_type, "negative": negative,
        "answer_position": "none" if negative else place, "trials": [trial], "grid": grid,
    }  # fmt: skip
    return found if trial == "failed" else {**found, "score": float(trial == right)}


def side(*trials, negative=0, **settings):
    formats = NEGATIVE if negative else POSITIVE
    return [record(name, trial, negative=negative, **settings) for name, trial in zip(formats, trials, strict=True)]


def test_false_alarms_are_claims_on_negatives():
    assert triage.false_alarm(record("detection_open", "top-left", negative=1)) == 1
    assert triage.false_alarm(record("visual_referring", "yes", negative=1)) == 1
    assert triage.false_alarm(record("visual_referring", "no", negative=1)) == 0
    for silent in ("none", "ambiguous", "refused", "unreadable", "truncated"):
        assert triage.false_alarm(record("detection_open", silent, negative=1)) == 0
    assert triage.false_alarm(record("detection_open", "top-left")) is None
    assert triage.false_alarm(record("detection_open", "failed", negative=1)) is None


def test_abstentions_name_no_outlier_on_positives():
    for silent in ("none", "refused", "unreadable", "truncated"):
        assert triage.abstention(record("detection_open", silent)) == 1
    assert triage.abstention(record("visual_referring", "no")) == 1
    for other in ("top-left", "bottom-right", "ambiguous"):
        assert triage.abstention(record("detection_open", other)) == 0
    assert triage.abstention(record("detection_open", "none", negative=1)) is None
    assert triage.abstention(record("detection_open", "failed")) is None


def test_paper_average_by_hand():
    # Positives all right but visual (4 of 5), negatives all wrong but visual (1 of 3). Columns: det_mcq 1/2, det_open
    # 1/2, referring 1 and 1, visual (0 + 1) / 2, positive 4/5, negative 1/3: sum 0.5 + 0.5 + 1 + 1 + 0.5 + 0.8 + 1/3.
    records = side("top-left", "top-left", "top-left", "top-left", "no") + side(
        "top-left", "top-left", "no", negative=1
    )
    assert triage.paper_average(records) == pytest.approx((4.3 + 1 / 3) / 7)
    # The overall accuracy is another number: 5 of 8.
    assert triage.accuracy(records) == 5 / 8


def test_paper_average_needs_all_columns():
    assert triage.paper_average(side("top-left", "top-left", "top-left", "top-left", "yes")) is None
    assert triage.paper_average([]) is None


def test_format_gap_is_over_pairs():
    # Item 1: MCQ right, open wrong (gap 1); item 2: both right (0); item 3's open request failed: no pair.
    records = [
        record("detection_mcq", "top-left"), record("detection_open", "none"),
        record("detection_mcq", "top-left", item="i2"), record("detection_open", "top-left", item="i2"),
        record("detection_mcq", "top-left", item="i3"), record("detection_open", "failed", item="i3"),
    ]  # fmt: skip
    assert triage.format_gap(records, "detection") == 0.5
    assert triage.format_gap(records, "referring") is None


AGREEING = [
    ("top-left", "top-left", "top-left", "top-left", "yes"),  # right
    (
        "bottom-left",
        "bottom-left",
        "bottom-left",
        "bottom-left",
        "no",
    ),  # wrong, but of one mind: it is not the top-left
    ("none", "none", "none", "none", "no"),  # sees nothing, anywhere
]
DISAGREEING = [
    ("top-left", "top-left", "top-left", "top-left", "no"),
    ("bottom-left", "bottom-left", "bottom-left", "bottom-left", "yes"),
    ("top-left", "none", "top-left", "top-left", "yes"),
    ("top-left", "top-left", "top-left", "ambiguous", "yes"),
    ("none", "none", "none", "none", "yes"),
]


@pytest.mark.parametrize("trials", AGREEING)
def test_answers_that_agree_on_a_positive(trials):
    assert triage.consistency(side(*trials), negative=0) == 1


@pytest.mark.parametrize("trials", DISAGREEING)
def test_answers_that_disagree_on_a_positive(trials):
    assert triage.consistency(side(*trials), negative=0) == 0


@pytest.mark.parametrize(
    ("trials", "agrees"),
    [
        (("none", "none", "no"), True),
        (("top-left", "top-left", "yes"), True),  # false alarms of one mind
        (("top-left", "top-left", "no"), False),
        (("none", "none", "yes"), False),
        (("top-left", "top-right", "yes"), False),
        (("none", "unreadable", "no"), False),
    ],
)
def test_negatives(trials, agrees):
    assert triage.consistency(side(*trials, negative=1), negative=1) == agrees


def test_an_item_is_consistent_if_both_its_sides_are():
    good, bad = ("none", "none", "no"), ("none", "none", "yes")
    records = side(*AGREEING[0]) + side(*good, negative=1)
    records += side(*AGREEING[0], item="i2") + side(*bad, negative=1, item="i2")
    assert triage.consistency(records) == 0.5
    assert (triage.consistency(records, 0), triage.consistency(records, 1)) == (1, 0.5)


def test_what_cannot_be_said_is_left_out():
    failed = side("top-left", "failed", "top-left", "top-left", "yes")
    assert triage.consistency(failed) is None
    assert triage.consistency([record("detection_mcq", "top-left")]) is None
    assert triage.consistency(side(*AGREEING[0], place="")) is None  # the box is nobody knows where
    assert triage.consistency([]) is None


@given(st.permutations(side(*AGREEING[1]) + side("none", "none", "no", negative=1)))
def test_order_does_not_matter(records):
    assert triage.consistency(records) == 1
    assert triage.format_gap(records, "detection") == -0.0


@pytest.mark.parametrize(
    ("grid", "positive", "negative", "overall"),
    [
        # 2x2: four questions of five answers each and one of two; 3x3: of ten.
        ("2x2", (4 / 5 + 1 / 2) / 5, (2 / 5 + 1 / 2) / 3, (6 / 5 + 2 / 2) / 8),
        ("3x3", (4 / 10 + 1 / 2) / 5, (2 / 10 + 1 / 2) / 3, (6 / 10 + 2 / 2) / 8),
    ],
)
def test_expected_accuracy_of_one_item(grid, positive, negative, overall):
    documents = side(*AGREEING[0], grid=grid) + side("none", "none", "no", negative=1, grid=grid)
    assert triage.expected_accuracy(documents) == pytest.approx((positive, negative, overall))


def test_expected_accuracy_of_the_benchmark():
    # 190 items of 2x2 (T1, T2, T4, T5: 55 + 60 + 40 + 35) and 45 of 3x3.
    items = [("2x2", number) for number in range(190)] + [("3x3", number) for number in range(45)]
    documents = [each for grid, number in items for each in side(*AGREEING[0], grid=grid, item=f"{grid}-{number}")]
    documents += [
        each
        for grid, number in items
        for each in side("none", "none", "no", negative=1, grid=grid, item=f"{grid}-{number}")
    ]
    expected = triage.expected_accuracy(documents)
    assert len(documents) == 1880
    assert expected.positive == pytest.approx((190 * 0.26 + 45 * 0.18) / 235)
    assert expected.negative == pytest.approx((190 * 0.3 + 45 * 0.7 / 3) / 235)
    assert expected.overall == pytest.approx((1175 * expected.positive + 705 * expected.negative) / 1880)


def test_expected_accuracy_is_that_of_all_guesses():
    """Enumerated: of all equally likely answers to each question of an item, the share that is right."""
    places = ("top-left", "top-right", "bottom-left", "bottom-right", "none")
    asked = [(name, 0) for name in POSITIVE] + [(name, 1) for name in NEGATIVE]
    scores = []
    for name, sign in asked:
        answers = ("yes", "no") if name == triage.VISUAL else places
        scores.append([record(name, answer, negative=sign)["score"] for answer in answers])
    means = [math.fsum(each) / len(each) for each in scores]
    documents = [record(name, "none", negative=sign) for name, sign in asked]
    assert triage.expected_accuracy(documents).overall == pytest.approx(sum(means) / 8)
    assert list(itertools.chain(*scores)).count(1.0) == 8


def test_expected_accuracy_of_nothing():
    assert triage.expected_accuracy([]) == (None, None, None)
