"""What is lost of the benefit of the image, worked by hand."""

import pytest

from lmms_medtasks.record import QuestionRecord, ScoreValue
from lmms_medtasks.samples.table import QuestionTable, record_to_row
from lmms_medtasks.statistics.intervals import FEW, ZERO
from lmms_medtasks.suites.image_benefit import LostBenefit, floor_of

LEVELS = {"first": {"severity": 0}, "second": {"severity": 2}, "pair": ("pair",)}
TESTS = {"first": {"set": "iid"}, "second": {"set": "ood"}}


def scored_record(name, score, image="", pair="", **tags):
    measures = {"accuracy": ScoreValue(score)}
    return QuestionRecord(name, image or name, ("A",), "A", measures, tags, pair or name)


def rows_of(*records):
    return QuestionTable.of_rows(record_to_row(each) for each in records)


def by_hand():
    """Clean 1, 1, 1, 0; severe 1, 0, 1, 0; without the image 1, 0, 0, 0, of four questions about four images."""
    rows = []
    for place, (clean, severe) in enumerate(zip((1, 1, 1, 0), (1, 0, 1, 0), strict=True)):
        rows.append(scored_record(f"q{place}", clean, severity=0))
        rows.append(scored_record(f"q{place}/blur/L2", severe, f"q{place}", f"q{place}", severity=2))
    return rows_of(*rows), {"q0": 1.0, "q1": 0.0, "q2": 0.0, "q3": 0.0}


def test_of_degraded_images_it_is_the_drop_over_what_is_above_the_floor():
    rows, floor = by_hand()
    found = LostBenefit(floor=floor, **LEVELS).of(rows)
    # 3/4 clean, 2/4 severe, 1/4 without: benefit 2/4, drop 1/4; (3/4 - 2/4) / (3/4 - 1/4) = 1/2.
    values = {name: each.estimate for name, each in found.items()}
    assert values == pytest.approx(
        {"first": 0.75, "second": 0.5, "floor": 0.25, "second_floor": 0.25, "benefit": 0.5, "second_benefit": 0.25,
         "drop": 0.25, "lost": 0.5}
    )  # fmt: skip
    assert (found["lost"].clusters, found["lost"].low, found["lost"].reason) == (4, None, FEW)


def many(clean, severe, without):
    """Questions about an image each."""
    rows = []
    for place, (one, other) in enumerate(zip(clean, severe, strict=True)):
        rows.append(scored_record(f"q{place}", one, severity=0))
        rows.append(scored_record(f"q{place}/blur/L2", other, f"q{place}", f"q{place}", severity=2))
    return rows_of(*rows), {f"q{place}": score for place, score in enumerate(without)}


def test_what_is_lost_has_the_interval_of_a_ratio():
    # 20 images: 16 right clean, 10 severe, 4 without. Benefit 12/20, drop 6/20.
    rows, floor = many([1.0] * 16 + [0.0] * 4, [1.0] * 10 + [0.0] * 10, [1.0] * 4 + [0.0] * 16)
    found = LostBenefit(floor=floor, **LEVELS).of(rows)
    lost = found["lost"]
    assert lost.estimate == pytest.approx(0.5) and 0.1 < lost.low < 0.5 < lost.high < 0.9
    assert found["benefit"].low > 0


def test_a_gain_under_degradation_has_an_interval_below_zero():
    # 20 images: 12 right clean, 20 severe, 2 without. Benefit 1/2, drop -2/5: of the benefit -80 % is lost.
    rows, floor = many([1.0] * 12 + [0.0] * 8, [1.0] * 20, [1.0] * 2 + [0.0] * 18)
    lost = LostBenefit(floor=floor, **LEVELS).of(rows)["lost"]
    assert lost.estimate == pytest.approx(-0.8) and lost.low < -0.8 < lost.high < 0


def test_a_drop_of_nothing_may_be_a_gain():
    # Of 20 images two got worse and two got better: none of the benefit is lost, and either is possible.
    rows, floor = many([1.0] * 14 + [0.0] * 6, [0.0] * 2 + [1.0] * 14 + [0.0] * 4, [0.0] * 20)
    lost = LostBenefit(floor=floor, **LEVELS).of(rows)["lost"]
    assert lost.estimate == pytest.approx(0, abs=1e-12) and lost.low < -0.1 and lost.high > 0.1


def test_where_the_benefit_may_be_nothing_the_share_has_no_interval():
    rows, floor = many([1.0] * 10 + [0.0] * 10, [1.0] * 8 + [0.0] * 12, [0.0] * 2 + [1.0] * 9 + [0.0] * 9)
    found = LostBenefit(floor=floor, **LEVELS).of(rows)
    assert found["benefit"].low < 0
    assert (found["lost"].low, found["lost"].reason) == (None, ZERO)


def test_two_sets_of_questions_have_a_floor_each():
    # i.i.d. 1, 1 with and 1, 0 without: benefit 1/2. OoD 1, 0 with and 1, 0 without: no benefit. All of it is lost.
    scores = {"iid": (1, 1), "ood": (1, 0)}
    asked = [(side, place, score) for side, own in scores.items() for place, score in enumerate(own)]
    rows = rows_of(*(scored_record(f"{side}{place}", score, set=side) for side, place, score in asked))
    floor = {"iid0": 1.0, "iid1": 0.0, "ood0": 1.0, "ood1": 0.0}
    found = LostBenefit(floor=floor, **TESTS).of(rows, with_intervals=False)
    assert (found["benefit"].estimate, found["second_benefit"].estimate, found["lost"].estimate) == (0.5, 0.0, 1.0)
    assert found["drop"].estimate == 0.5


def test_questions_that_were_not_asked_without_their_image_are_left_out():
    rows, floor = by_hand()
    found = LostBenefit(floor={name: floor[name] for name in ("q1", "q2")}, **LEVELS).of(rows, with_intervals=False)
    # q1 and q2: clean 1, 1; severe 0, 1; without 0, 0.
    assert (found["first"].estimate, found["lost"].estimate, found["second"].n) == (1.0, 0.5, 2)
    assert LostBenefit(floor={}, **LEVELS).of(rows) == {}


def test_no_benefit_has_no_share_that_is_lost():
    rows, _ = by_hand()
    found = LostBenefit(floor={"q0": 1.0, "q1": 1.0, "q2": 1.0, "q3": 0.0}, **LEVELS).of(rows, with_intervals=False)
    assert found["benefit"].estimate == 0 and found["lost"].estimate is None


def test_a_floor_of_several_replies_is_their_mean():
    rows = rows_of(
        scored_record("a/r0", 1, pair="a"),
        scored_record("a/r1", 0, pair="a"),
        scored_record("b", None),
        scored_record("c", 1),
    )
    assert floor_of(rows, "accuracy") == {"a": 0.5, "c": 1.0}
