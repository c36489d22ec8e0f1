"""Which metrics of others have a score for each question."""

import numpy as np
import pytest

from lmms_medtasks.harness.degraded_pairing import LOGGED, TOTALS, find_best_score, find_question_scores
from lmms_medtasks.harness.scoring import ScoringHook
from lmms_medtasks.suites import registry

SCORED = [{"score": score} for score in (1, 0, 1, 1)]
ANSWERS = [{"said": said, "wanted": "A"} for said in "ABAA"]
SUBSETS = [{"score": score, "subset": subset} for score, subset in ((1, "x"), (0, "x"), (1, "y"), (1, "y"))]


@pytest.mark.parametrize(
    ("values", "reported", "found", "how"),
    [
        ([1, 0, True, 1.0], 0.75, [1, 0, 1, 1], LOGGED),
        ([[1], [0]], 0.5, [1, 0], LOGGED),
        (SCORED, 75.0, [100, 0, 100, 100], LOGGED),
        # Logged under this metric is every question, and the metric is of some.
        (SUBSETS, 0.5, None, TOTALS),
        (ANSWERS, 0.75, None, TOTALS),
        (SCORED, None, None, TOTALS),
        (SCORED, float("nan"), None, TOTALS),
        (SCORED, "0.75", None, TOTALS),
        ([], 0.0, None, TOTALS),
    ],
)
def test_a_score_a_question_is_one_only_if_the_mean_is_what_is_reported(values, reported, found, how):
    assert find_question_scores(values, reported) == (found, how, None)


@pytest.mark.parametrize(
    ("values", "best", "top"),
    [
        ([True, False, np.True_], None, 1.0),
        ([{"score": True}, {"score": False}], None, 1.0),
        ([1.0, 0.0, 1.0], None, None),
        ([1.0, 0.0, 1.0], 1.0, 1.0),
    ],
)
def test_the_best_score_is_what_is_stated_and_not_read_off_the_scores(values, best, top):
    mean = np.mean([each["score"] if isinstance(each, dict) else each for each in values])
    assert find_question_scores(values, mean, best).top == top
    in_percent = find_question_scores(values, 100 * mean, best)
    assert in_percent.top == (None if top is None else 100 * top)


def test_the_best_score_is_known_of_metrics_that_the_harness_computes_or_a_benchmark_declares():
    class Config:
        process_results = None

    assert find_best_score("exact_match", Config) == 1.0 and find_best_score("score", Config) is None
    Config.process_results = len
    assert find_best_score("exact_match", Config) is None
    Config.process_results = ScoringHook(registry.get("medq_deg"), "all", len)
    assert find_best_score("accuracy", Config) == 1.0
    assert find_best_score("drop_l2", Config) is None and find_best_score("questions", Config) is None
