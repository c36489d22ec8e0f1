"""Which metrics of others have a score for each question, and which aggregations are not called for it."""

import json

import numpy as np
import pytest

from lmms_medtasks.harness.paired_scores import LOGGED, ONE_BY_ONE, TOTALS, is_share, scores


def mean(values):
    return sum(values) / len(values)


def percent(values):
    return 100 * mean([each["score"] for each in values])


def by_answer(values):
    return _right(values) / len(values)


def _right(values):
    return sum(each["said"] == each["wanted"] for each in values)


def of_a_subset(values):
    own = [each["score"] for each in values if each["subset"] == "x"]
    return mean(own) if own else 0.0


def writing(values):
    with open("submission.json", "w") as file:
        json.dump(values, file)
    return by_answer(values)


def writing_elsewhere(values):
    return writing(values)


def with_arguments(values, args):
    return by_answer(values)


def of_pairs(values):
    assert len(values) % 2 == 0
    return by_answer(values)


SCORED = [{"score": score} for score in (1, 0, 1, 1)]
ANSWERS = [{"said": said, "wanted": "A"} for said in "ABAA"]
SUBSETS = [{"score": score, "subset": subset} for score, subset in ((1, "x"), (0, "x"), (1, "y"), (1, "y"))]


@pytest.mark.parametrize(
    ("values", "aggregation", "reported", "found", "how"),
    [
        ([1, 0, True, 1.0], mean, 0.75, [1, 0, 1, 1], LOGGED),
        ([[1], [0]], mean, 0.5, [1, 0], LOGGED),
        (SCORED, percent, 75.0, [100, 0, 100, 100], LOGGED),
        (ANSWERS, by_answer, 0.75, [1, 0, 1, 1], ONE_BY_ONE),
        # Logged under this metric is every question, and the metric is of some.
        (SUBSETS, of_a_subset, 0.5, None, TOTALS),
        (ANSWERS, writing, 0.75, None, TOTALS),
        (ANSWERS, writing_elsewhere, 0.75, None, TOTALS),
        (ANSWERS, with_arguments, 0.75, None, TOTALS),
        (ANSWERS, of_pairs, 0.75, None, TOTALS),
        (ANSWERS, by_answer, None, None, TOTALS),
        (ANSWERS, by_answer, float("nan"), None, TOTALS),
        ([], mean, 0.0, None, TOTALS),
    ],
)
def test_a_score_a_question_is_one_only_if_the_mean_is_what_is_reported(
    tmp_path, monkeypatch, values, aggregation, reported, found, how
):
    monkeypatch.chdir(tmp_path)
    assert scores(values, aggregation, reported) == (found, how, None)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("values", "share", "top"),
    [
        ([True, False, np.True_], False, 1.0),
        ([{"score": True}, {"score": False}], False, 1.0),
        ([1.0, 0.0, 1.0], False, None),
        ([1.0, 0.0, 1.0], True, 1.0),
    ],
)
def test_the_best_score_is_what_is_stated_and_not_read_off_the_scores(values, share, top):
    def average(rows):
        return mean([each["score"] if isinstance(each, dict) else each for each in rows])

    assert scores(values, average, average(values), share=share).top == top
    in_percent = scores(values, average, 100 * average(values), share=share)
    assert in_percent.top == (None if top is None else 100 * top)


def test_a_share_is_a_metric_that_the_harness_computes():
    class Config:
        process_results = None

    assert is_share("exact_match", Config) and not is_share("score", Config)
    Config.process_results = mean
    assert not is_share("exact_match", Config)
