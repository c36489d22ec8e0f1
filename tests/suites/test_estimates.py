"""Estimates against hand-worked values, plain definitions and the interval rule that they stand on."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.record import QuestionRecord, ScoreValue
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.statistics.intervals import FEW_IN_GROUP, estimate_mean
from lmms_medtasks.suites.estimates import (
    Contrast,
    Count,
    Custom,
    Macro,
    MacroContrast,
    Mean,
    Units,
)


def record(name, score, *, cluster="", measure="accuracy", pair="", **tags):
    value = ScoreValue(None if score is None else float(score))
    return QuestionRecord(name, cluster or name, ("A",), "A", {measure: value}, tags, pair=pair)


def table(*records):
    return QuestionTable.of_records(records)


def test_mean_is_over_questions_with_a_score():
    rows = table(record("a", 1), record("b", 0), record("c", None), record("d", 1, kind="x"))
    assert Mean().value(rows) == pytest.approx(2 / 3)
    assert Mean({"kind": "x"}).value(rows) == 1
    assert Mean({"kind": "y"}).value(rows) is None
    assert Mean(measure="other").value(rows) is None
    found = Mean().of(rows)["mean"]
    assert (found.n, found.clusters) == (3, 3)


def test_the_harness_number_is_the_reports_estimate():
    rows = table(*(record(f"q{n}", n % 3 / 2, cluster=f"i{n // 2}", half=n % 2) for n in range(22)))
    for estimate in (
        Mean(),
        Macro(by="half"),
        Contrast(first={"half": 0}, second={"half": 1}, ratio=True),
    ):
        with_intervals = estimate.of(rows)
        assert estimate.value(rows) == with_intervals[estimate.main].estimate
        assert with_intervals[estimate.main].low is not None


def test_interval_is_that_of_the_rule_over_clusters():
    rows = table(*(record(f"q{n}", n % 2, cluster=f"i{n // 2}") for n in range(12)))
    expected = estimate_mean([f"i{n // 2}" for n in range(12)], [n % 2 for n in range(12)])
    assert expected.low is not None
    assert Mean().of(rows)["mean"] == expected


def test_bounds_of_the_scores_shape_the_interval():
    rows = table(*(record(f"q{n}", 1, measure="stars") for n in range(10)))
    unknown = Mean(measure="stars").of(rows)["mean"]
    known = Mean(measure="stars", bounds=(1.0, 5.0)).of(rows)["mean"]
    assert (unknown.high, known.low) == (1, 1)
    assert known.high > 1.5


def test_a_change_of_scores_that_only_rose_may_still_be_a_loss():
    rows = table(*(record(f"q{n}", n < 3, measure="change") for n in range(20)))
    found = Mean(measure="change", bounds=(-1.0, 1.0)).of(rows)["mean"]
    assert found.low < 0 < found.high


def test_macro_interval_is_that_of_draws_where_these_hold():
    """60 images, so that the bootstrap has converged: the same ends within a fifth of the width."""
    rng = seeded_generator("test", "macro")
    scores, names = rng.random(120), ("CU", "IP", "AR")
    rows = table(*(record(f"{n:03d}", scores[n], cluster=f"{n // 2:02d}", g=names[n % 3]) for n in range(120)))
    draws = []
    for chosen in rng.integers(0, 60, (2000, 60)):
        drawn = np.concatenate([2 * chosen, 2 * chosen + 1])
        draws.append(np.mean([scores[drawn[drawn % 3 == part]].mean() for part in range(3)]))
    low, high = np.quantile(draws, [0.025, 0.975])
    found = Macro(by="g").of(rows)["mean"]
    assert (found.low, found.high) == pytest.approx((low, high), abs=(high - low) / 5)
    assert (found.n, found.clusters) == (120, 60)


def test_a_group_on_few_images_leaves_no_interval():
    rows = table(*(record(str(n), n % 2, g="x") for n in range(9)), record("y", 0, g="y"))
    found = Macro(by="g").of(rows)["mean"]
    assert (found.low, found.high, found.reason) == (None, None, FEW_IN_GROUP)


def test_macro_contrast_by_hand():
    # Means of means: before (1 + 0) / 2, after (0.5 + 0.75) / 2. Without y there is no change.
    rows = table(
        record("a", 1, g="x", level=0), record("b", 0, g="y", level=0), record("c", 0.5, g="x", level=1),
        record("d", 1, g="y", level=1), record("e", 0.5, g="y", level=1),
    )  # fmt: skip
    first, second = (tuple({"g": name, "level": level} for name in "xy") for level in (0, 1))
    found = MacroContrast(first=first, second=second).of(rows, False)
    assert {name: each.estimate for name, each in found.items()} == {"first": 0.5, "second": 0.625, "change": 0.125}
    assert MacroContrast(first=first, second=second).of(rows.where({"g": "x"}), False) == {}
    assert MacroContrast(first=first, second=first).value(rows) == 0


def test_macro_mean_by_hand():
    # Group x: 1, 0 and 1 (2/3), group y: 0 (0): plain mean 1/3, while the mean over questions is 1/2.
    rows = table(record("a", 1, g="x"), record("b", 0, g="x"), record("c", 1, g="x"), record("d", 0, g="y"))
    assert Macro(by="g").value(rows) == pytest.approx(1 / 3)
    assert Mean().value(rows) == 1 / 2
    named = ({"g": "x"}, {"g": "y"}, {"g": "z"})
    assert Macro(groups=named).value(rows) is None
    assert Macro(groups=named, skip_empty=True).value(rows) == pytest.approx(1 / 3)
    # Groups may overlap: x counts in both.
    assert Macro(groups=({"g": "x"}, {"g": ("x", "y")})).value(rows) == pytest.approx((2 / 3 + 1 / 2) / 2)


def test_contrast_of_pairs_by_hand():
    # Pairs: (1, 0), (1, 1); the third has no partner, the fourth no score. Change -1/2, ratio 1/2.
    rows = table(
        record("a", 1, level=0), record("b", 1, level=0), record("c", 0, level=0),
        record("a'", 0, level=1, pair="a"), record("b'", 1, level=1, pair="b"),
        record("c'", None, level=1, pair="c"), record("d'", 1, level=1, pair="d"),
    )  # fmt: skip
    paired = Contrast(first={"level": 0}, second={"level": 1}, pair=("pair",), ratio=True).of(rows, False)
    assert {name: each.estimate for name, each in paired.items()} == {
        "first": 1, "second": 1 / 2, "change": -1 / 2, "ratio": 1 / 2,
    }  # fmt: skip
    assert (paired["second"].n, paired["change"].n) == (2, 4)
    whole = Contrast(first={"level": 0}, second={"level": 1}).of(rows, False)
    assert (whole["first"].estimate, whole["second"].estimate) == pytest.approx((2 / 3, 2 / 3))


def test_a_ratio_to_nothing_has_no_value():
    rows = table(record("a", 0, level=0), record("b", 1, level=1))
    found = Contrast(main="ratio", first={"level": 0}, second={"level": 1})
    assert found.value(rows) is None


def test_pairs_that_are_all_alike_leave_a_change_open():
    """Both sides have the same scores: the change is 0, and of 8 images up to 0.3 may have changed either way."""
    rows = [
        record(f"{level}{n}", n % 2, cluster=f"i{n}", level=level, pair=str(n)) for n in range(8) for level in (0, 1)
    ]
    found = Contrast(first={"level": 0}, second={"level": 1}, pair=("pair",)).of(table(*rows))["change"]
    alone = estimate_mean([str(n) for n in range(8)], [0] * 8)
    assert (found.estimate, found.low, found.high) == pytest.approx((0, -alone.high, alone.high))


def test_units_leave_out_what_has_no_value():
    estimate = Units(units=lambda rows: [("i1", 1.0), ("i2", None), ("i3", 0.0)])
    rows = table(record("a", 1))
    assert (estimate.value(rows), estimate.without_value(rows)) == (1 / 2, 1)


def test_counts_have_no_interval_and_keep_their_type():
    rows = table(record("a", 1), record("b", None))
    found = Count().of(rows)["count"]
    assert (found.estimate, found.low, found.n) == (2, None, 2)
    assert isinstance(Count().value(rows), int)


def test_what_is_known_has_no_interval():
    found = Mean(exact=True).of(table(record("a", 1), record("b", 0)))["mean"]
    assert (found.estimate, found.low, found.high) == (1 / 2, None, None)


def test_nothing_to_estimate():
    assert Custom().of(table(record("a", 1))) == {}
    assert Custom().value(table(record("a", 1))) is None
    assert Macro(by="nothing").value(table()) is None


@given(
    st.lists(st.tuples(st.integers(0, 8).map(lambda n: n / 8), st.integers(0, 3)), min_size=1, max_size=20),
    st.randoms(use_true_random=False),
)
def test_no_estimate_depends_on_the_order_of_questions(scores, random):
    records = [record(f"q{n}", score, cluster=f"i{image}", g=image) for n, (score, image) in enumerate(scores)]
    shuffled = random.sample(records, len(records))
    for estimate in (Mean(), Macro(by="g"), Contrast(first={"g": 0}, second={"g": (1, 2, 3)}, ratio=True)):
        one, other = estimate.of(table(*records)), estimate.of(table(*shuffled))
        assert one == other
    assert math.isclose(Mean().value(table(*records)), np.mean([score for score, _ in scores]), abs_tol=1e-12)
