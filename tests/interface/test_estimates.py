"""Estimates of arrays and data frames are those of the package's statistics, and agree with other libraries."""

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn import metrics

import lmms_medtasks as mt
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.statistics.agreement import measure_alpha
from lmms_medtasks.statistics.intervals import estimate_mean
from lmms_medtasks.statistics.sign_flip import sign_flip
from lmms_medtasks.suites.estimates import Contrast

RNG = np.random.default_rng(3)
RIGHT = RNG.integers(0, 2, 60)
OTHER = np.where(RNG.random(60) < 0.7, RIGHT, 1 - RIGHT)
PATIENT = np.arange(60) // 4


def test_accuracy_is_the_mean_with_the_interval_of_the_reports():
    found = mt.accuracy(RIGHT, clusters=PATIENT)
    expected = estimate_mean([str(each) for each in PATIENT], RIGHT.astype(float))
    assert (found.value, found.low, found.high) == (expected.estimate, expected.low, expected.high)
    assert (found.n, found.clusters, found.left_out, found.level) == (60, 15, 0, 0.95)
    assert found.value == metrics.accuracy_score(np.ones(60), RIGHT) and float(found) == found.value
    assert found.interval == (found.low, found.high) and "Korn and Graubard" in found.method
    assert found.to_dict()["low"] == found.low and list(found.to_dict())[:3] == ["value", "low", "high"]
    narrower = mt.accuracy(RIGHT, clusters=PATIENT, level=0.5)
    assert found.low < narrower.low < narrower.high < found.high


@pytest.mark.parametrize("made", [list, np.array, torch.tensor, pd.Series, lambda v: pd.Series(v, dtype="boolean"),
                                  lambda v: np.array(v, bool), lambda v: np.array(v, object)])  # fmt: skip
def test_any_kind_of_column_gives_the_same(made):
    assert mt.accuracy(made(RIGHT.tolist()), clusters=list(map(str, PATIENT))) == mt.accuracy(RIGHT, clusters=PATIENT)


def test_missing_values_are_left_out_and_counted():
    values = pd.Series([1, 0, None, 1, float("nan"), 1, 1, 1], dtype="float")
    found = mt.accuracy(values)
    assert (found.n, found.left_out, found.value) == (6, 2, 5 / 6)
    assert "2 without a value" in repr(found)
    assert mt.accuracy(pd.Series([True, pd.NA], dtype="boolean")).left_out == 1


def test_what_it_prints():
    assert repr(mt.accuracy(np.array([1, 0, 1]))) == "0.667 (3 questions; no interval: fewer than 5 clusters)"
    assert repr(mt.accuracy([1, 0, 1, 1, 1, 0, 1, 1, 0, 1])) == "0.700 [0.378, 0.916] (10 questions)"
    found = mt.accuracy(RIGHT, clusters=PATIENT)
    assert repr(found) == f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}] (60 questions in 15 clusters)"
    assert repr(mt.accuracy([])) == "no value (0 questions; no question has a score)"


def test_a_mean_knows_its_bounds():
    stars = np.array([4, 5, 3, 4, 5, 2, 4, 5.0])
    bounded, free = mt.mean(stars, bounds=np.array([1, 5])), mt.mean(stars)
    assert bounded.value == free.value == stars.mean() and bounded.high < 5 and "Student" in free.method
    assert "Zou" in mt.mean([-1, 0, 1, 1, 0, 1]).method


def test_a_difference_is_that_of_compare():
    """Of the estimate that reports take for a paired change, and of the test over images."""
    found = mt.difference(RIGHT, OTHER, clusters=PATIENT)
    sides = (("first", RIGHT), ("second", OTHER))
    rows = QuestionTable.of_rows(
        {"id": f"{row:03d}", "cluster": str(PATIENT[row]), "side": side, "accuracy.score": float(right),
         "accuracy.asked": True}
        for side, scores in sides for row, right in enumerate(scores)
    )  # fmt: skip
    expected = Contrast(first={"side": "first"}, second={"side": "second"}, pair=("id",)).of(rows)["change"]
    assert (found.value, found.low, found.high) == (expected.estimate, expected.low, expected.high)
    apart = OTHER * 1.0 - RIGHT
    assert found.p == sign_flip(np.bincount(np.unique(PATIENT, return_inverse=True)[1], apart))
    assert (found.wins, found.losses) == (int((apart > 0).sum()), int((apart < 0).sum()))
    assert found.value == pytest.approx(OTHER.mean() - RIGHT.mean()) and (found.n, found.clusters) == (60, 15)
    assert repr(found).startswith(f"{found.value:+.3f} [") and "p = " in repr(found)
    narrower = mt.difference(RIGHT, OTHER, clusters=PATIENT, level=0.5)
    assert found.low < narrower.low < narrower.high < found.high and narrower.level == 0.5
    flipped = mt.difference(OTHER, RIGHT, clusters=PATIENT)
    assert flipped.value == -found.value and flipped.p == found.p


def test_a_difference_refuses_series_in_another_order():
    first = pd.Series([0.0, 1.0, 1.0], index=list("abc"))
    with pytest.raises(mt.UserError, match="same labels in another order"):
        mt.difference(first, first[::-1])
    others = pd.Series([1.0, 1.0, 0.0], index=list("xyz"))
    assert mt.difference(first, others).n == 3  # other labels: by place


def test_a_difference_leaves_out_questions_without_both_scores():
    found = mt.difference([1, None, 0, 1, 0, 1, 1], [1, 1, float("nan"), 1, 1, 1, 0])
    assert (found.n, found.left_out, found.wins, found.losses) == (5, 2, 1, 1)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_kappa_is_scikit_learns(weights):
    first, second = RNG.integers(1, 5, 40), RNG.integers(1, 5, 40)
    found = mt.cohen_kappa(first, second, weights=weights, clusters=np.arange(40) // 2)
    assert found.value == pytest.approx(metrics.cohen_kappa_score(first, second, weights=weights), abs=1e-12)
    assert found.low < found.value < found.high and (found.n, found.clusters) == (40, 20)


def test_ratings_may_be_texts_and_missing():
    first, second = ["yes", "no", None, "yes", "no", "no"], ["yes", "no", "no", "no", "no", "yes"]
    used = [row for row in range(6) if row != 2]
    expected = metrics.cohen_kappa_score([first[row] for row in used], [second[row] for row in used])
    found = mt.cohen_kappa(first, second)
    assert found.value == pytest.approx(expected) and (found.n, found.left_out) == (5, 1) and "items" in repr(found)
    codes = np.array([[1, 0, np.nan, 1, 0, 0], [1, 0, 0, 0, 0, 1]])
    alpha = mt.krippendorff_alpha([first, second], measurement="nominal")
    assert alpha.value == measure_alpha(codes, list("012345"), "nominal").value
    assert "same" in mt.cohen_kappa([1, 1], [1, 1]).reason or mt.cohen_kappa([1, 1], [1, 1]).value is None


FRAME = pd.DataFrame({"right": RIGHT, "patient": PATIENT, "id": [f"q{row}" for row in range(60)]})


def test_columns_of_a_data_frame_are_named():
    assert mt.accuracy(FRAME, column="right", clusters="patient") == mt.accuracy(RIGHT, clusters=PATIENT)
    assert mt.accuracy(FRAME.rename(columns={"right": "score", "patient": "cluster"})).clusters == 15
    shuffled = FRAME.assign(right=OTHER).sample(frac=1, random_state=1)
    found = mt.difference(FRAME, shuffled, column="right", clusters="patient")
    assert found == mt.difference(RIGHT, OTHER, clusters=PATIENT)


def test_a_question_is_paired_with_each_of_its_forms():
    plain = FRAME.assign(score=RIGHT, pair=FRAME.id)
    forms = pd.concat([plain.assign(id=plain.id + form, score=scores) for form, scores in (("/a", OTHER), ("/b", 0))])
    found = mt.difference(plain, forms, on="pair", clusters="patient")
    expected = mt.difference(np.tile(RIGHT, 2), [*OTHER, *60 * [0]], clusters=np.tile(PATIENT, 2))
    assert (found.value, found.n, found.clusters) == (pytest.approx(expected.value), 120, 15)
    assert (found.low, found.p, found.losses) == (pytest.approx(expected.low), expected.p, expected.losses)
    assert mt.difference(forms, plain, on="pair", clusters="patient").value == -found.value
    keyless = [each.assign(pair=[None, 7, *each.pair[2:]]) for each in (plain, plain)]
    assert mt.difference(*keyless, on="pair").n == 59
    with pytest.raises(mt.UserError, match="The pair 'q0' stands twice in both data frames.*name a column that tells"):
        mt.difference(forms, forms, on="pair")
    with pytest.raises(mt.UserError, match="give on='pair'"):
        mt.difference(plain, forms)


def test_forms_of_both_data_frames_are_paired_by_a_tag_that_the_message_names():
    """Two levels of a degradation: three forms of each question at each, the same three."""
    levels = [
        pd.concat(
            FRAME.assign(id=FRAME.id + f"/{kind}/{level}", pair=FRAME.id, kind=kind, modality="CT", score=scores)
            for kind, scores in (("blur", RIGHT), ("noise", OTHER if level else RIGHT))
        )
        for level in range(2)
    ]
    with pytest.raises(mt.UserError, match="They differ in 'kind': give on=.'pair', 'kind'."):
        mt.difference(*levels, on="pair")
    found = mt.difference(levels[0], levels[1][::-1], on=["pair", "kind"], clusters="patient")
    expected = mt.difference(np.tile(RIGHT, 2), [*RIGHT, *OTHER], clusters=np.tile(PATIENT, 2))
    assert (found.value, found.n, found.p) == (pytest.approx(expected.value), 120, expected.p)
    assert (found.wins, found.losses) == (expected.wins, expected.losses)


def test_a_question_is_in_one_pair_whatever_its_trials():
    """With its trials' mean, in columns that differ by trial; `score` is of all trials already."""
    trials = pd.concat(
        FRAME.assign(trial=trial, correct=scores, score=(RIGHT + OTHER) / 2)
        for trial, scores in enumerate((RIGHT, [None, *OTHER[1:]]))
    )
    trials["correct"] = trials.correct.astype(float)
    means = [float(RIGHT[0]), *(RIGHT + OTHER)[1:] / 2]
    assert mt.accuracy(trials, column="correct").n == 60  # not its replies
    assert mt.accuracy(trials, clusters="patient") == mt.accuracy((RIGHT + OTHER) / 2, clusters=PATIENT)
    assert mt.difference(trials, trials[trials.trial == 0], column="correct").value == pytest.approx(
        RIGHT.mean() - np.mean(means)
    )
    with pytest.raises(mt.UserError, match="number 0 is 'yes'"):
        mt.accuracy(trials.assign(score=np.where(trials.trial == 0, "yes", "no")))


@pytest.mark.parametrize(("call", "said"), [
    (lambda: mt.accuracy([1, 2]), "number 1 is 2, expected 0 to 1"),
    (lambda: mt.accuracy(["yes", "no"]), "number 0 is 'yes'"),
    (lambda: mt.accuracy([1, float("inf")]), "number 1 is inf"),
    (lambda: mt.accuracy(1), "got int"),
    (lambda: mt.accuracy(np.zeros((2, 2))), r"shape \(2, 2\)"),
    (lambda: mt.accuracy([1, 0], clusters=["a"]), "1 clusters for 2 values"),
    (lambda: mt.accuracy([1, 0], clusters=["a", None]), "number 1 has none"),
    (lambda: mt.accuracy([1, 0], column="x"), "data frame"),
    (lambda: mt.accuracy([1, 0], level=95), "level is 95: expected a number from 0.5 to 0.9999.* say 0.95"),
    (lambda: mt.difference([1, 0], [0, 1], level="high"), "level is 'high'"),
    (lambda: mt.accuracy(FRAME), "Unknown column 'score'"),
    (lambda: mt.accuracy(FRAME, column=np.zeros(2)), "name of a column, got ndarray"),
    (lambda: mt.cohen_kappa([1, 0], [0, 1], weights=[]), r"Unknown weights \[\]"),
    (lambda: mt.krippendorff_alpha([[1, 0], [0, 1]], measurement=np.zeros(2)), "Unknown measurement"),
    (lambda: mt.accuracy(FRAME, column="rigth"), "Did you mean 'right'"),
    (lambda: mt.accuracy(FRAME, column="right", clusters=PATIENT), "name of a column, got ndarray"),
    (lambda: mt.mean([1, 9], bounds=(1, 5)), "number 1 is 9"),
    (lambda: mt.mean([1, 2], bounds=(5, 1)), r"got \(5, 1\)"),
    (lambda: mt.difference([1, 2], [2, 2], bounds=(0, np.inf)), r"got \(0, inf\)"),
    (lambda: mt.difference([1, 0], [1]), "2 and 1"),
    (lambda: mt.difference(FRAME, [1]), "two data frames"),
    (lambda: mt.difference(FRAME, FRAME, column="right", on="key"), "Unknown column 'key'"),
    (lambda: mt.difference(FRAME, FRAME, column="right", on=[]), "on must name"),
    (lambda: mt.difference(FRAME, FRAME, column="right", on=None), "columns of on must be a list"),
    (lambda: mt.difference(FRAME, FRAME, column="right", on="patient"), "stands twice"),
    (lambda: mt.difference(FRAME[:3], FRAME[3:], column="right"), "no id in common"),
    (lambda: mt.difference(FRAME, pd.concat([FRAME, FRAME]), column="right"), "id 'q0' stands twice in a data frame"),
    (lambda: mt.mean([1, 2], bounds=3), "highest value that there can be, .0, 1., got 3"),
    (lambda: mt.krippendorff_alpha(None, measurement="nominal"), "column for each rater.*got None"),
    (lambda: mt.cohen_kappa(["a"], ["b"], weights="linear"), "'a' is a text"),
    (lambda: mt.cohen_kappa([1], [1], weights="cubic"), "cubic"),
    (lambda: mt.cohen_kappa(["a"], [1]), "got both"),
    (lambda: mt.krippendorff_alpha([[1, 2], [1]], measurement="nominal"), "2 and 1"),
    (lambda: mt.krippendorff_alpha([[1]], measurement="ratio"), "ratio"),
])  # fmt: skip
def test_a_mistake_is_named(call, said):
    with pytest.raises(mt.UserError, match=said):
        call()
