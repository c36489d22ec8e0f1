"""What is lost of the image's benefit, worked by hand."""

from __future__ import annotations

import pytest

from lmms_medtasks.record import MeasureValue, Record
from lmms_medtasks.samples.table import Samples, row_of
from lmms_medtasks.suites.image_benefit import LostBenefit, floor_of

LEVELS = {"first": {"severity": 0}, "second": {"severity": 2}, "pair": ("pair",)}
TESTS = {"first": {"set": "iid"}, "second": {"set": "ood"}}


def record(name, score, image="", pair="", **tags):
    measures = {"accuracy": MeasureValue(score)}
    return Record(name, image or name, ("A",), "A", measures, tags, pair or name)


def table(*records):
    return Samples.of_rows(row_of(each) for each in records)


def by_hand():
    """Clean 1, 1, 1, 0; severe 1, 0, 1, 0; without the image 1, 0, 0, 0, of four questions about four images."""
    rows = []
    for place, (clean, severe) in enumerate(zip((1, 1, 1, 0), (1, 0, 1, 0), strict=True)):
        rows.append(record(f"q{place}", clean, severity=0))
        rows.append(record(f"q{place}/blur/L2", severe, f"q{place}", f"q{place}", severity=2))
    return table(*rows), {("q0",): 1.0, ("q1",): 0.0, ("q2",): 0.0, ("q3",): 0.0}


def test_of_degraded_images_it_is_the_drop_over_what_is_above_the_floor():
    rows, floor = by_hand()
    found = LostBenefit(floor=floor, **LEVELS).of(rows)
    # 3/4 clean, 2/4 severe, 1/4 without: benefit 2/4, drop 1/4; (3/4 - 2/4) / (3/4 - 1/4) = 1/2.
    values = {name: each.estimate for name, each in found.items()}
    assert values == pytest.approx(
        {"first": 0.75, "second": 0.5, "floor": 0.25, "second_floor": 0.25, "benefit": 0.5, "second_benefit": 0.25,
         "drop": 0.25, "lost": 0.5}
    )  # fmt: skip
    assert found["lost"].clusters == 4 and found["lost"].low is not None


def test_two_sets_of_questions_have_a_floor_each():
    # i.i.d. 1, 1 with and 1, 0 without: benefit 1/2. OoD 1, 0 with and 1, 0 without: no benefit. All of it is lost.
    scores = {"iid": (1, 1), "ood": (1, 0)}
    asked = [(side, place, score) for side, own in scores.items() for place, score in enumerate(own)]
    rows = table(*(record(f"{side}{place}", score, set=side) for side, place, score in asked))
    floor = {("iid0",): 1.0, ("iid1",): 0.0, ("ood0",): 1.0, ("ood1",): 0.0}
    found = LostBenefit(floor=floor, **TESTS).of(rows, resamples=0)
    assert (found["benefit"].estimate, found["second_benefit"].estimate, found["lost"].estimate) == (0.5, 0.0, 1.0)
    assert found["drop"].estimate == 0.5


def test_questions_that_were_not_asked_without_their_image_are_left_out():
    rows, floor = by_hand()
    found = LostBenefit(floor={(name,): floor[name,] for name in ("q1", "q2")}, **LEVELS).of(rows, resamples=0)
    # q1 and q2: clean 1, 1; severe 0, 1; without 0, 0.
    assert (found["first"].estimate, found["lost"].estimate, found["second"].n) == (1.0, 0.5, 2)
    assert LostBenefit(floor={}, **LEVELS).of(rows) == {}


def test_no_benefit_has_no_share_that_is_lost():
    rows, _ = by_hand()
    found = LostBenefit(floor={("q0",): 1.0, ("q1",): 1.0, ("q2",): 1.0, ("q3",): 0.0}, **LEVELS).of(rows, resamples=0)
    assert found["benefit"].estimate == 0 and found["lost"].estimate is None


def test_a_floor_of_several_replies_is_their_mean():
    rows = table(record("a/r0", 1, pair="a"), record("a/r1", 0, pair="a"), record("b", None), record("c", 1))
    assert floor_of(rows, "accuracy") == {("a",): 0.5, ("c",): 1.0}
