"""What a reply becomes, the metrics over levels worked by hand, and what the sample log keeps of them."""

import json
import pickle
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lmms_eval.utils import handle_non_serializable
from PIL import Image

from lmms_medtasks import degradations
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import hooks
from lmms_medtasks.harness.scoring import aggregate
from lmms_medtasks.record import ScoreValue
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.task_configs.medq_deg import measures

FAILURE = "[LMMS_EVAL_REQUEST_FAILED after 5 retries] boom"


def document(number, severity, degradation="", capability="Counting", answer="A", options=("w", "x", "y", "z")):
    return {
        "id": f"q{number}/{degradation}/L{severity}" if severity else f"q{number}", "question_id": f"q{number}",
        "image_id": f"i{number}", "question": "?", "options": list(options), "answer": answer, "data": "mini",
        "modality": "CT", "degradation": degradation, "severity": severity, "capability": capability,
    }  # fmt: skip


def read(*replies, **changes):
    """The record of a question with the options left, right, both; B is right."""
    return measures.choice_question_record(
        document(1, 0, answer="B", options=("left", "right", "both"), **changes), list(replies)
    )


def metric(rows, name):
    return aggregate([row[name] for row in rows])


# --- A question -------------------------------------------------------------------------------------------------------


def test_score_is_the_mean_over_trials():
    # B right, C wrong, unreadable wrong: 1/3.
    found = read("B", "The answer is C", "hard to say")
    assert found.measures["accuracy"].score == pytest.approx(1 / 3)
    assert found.trials == ("B", "C", "unreadable")
    assert [each.get("rule", "") for each in found.replies] == ["single_letter", "statement", ""]


def test_the_same_replies_are_read_by_the_papers_rule_too():
    # By the rule: B right; T of "The", no option, wrong; A of "At", an option, wrong; "I" no option, wrong.
    replies = ("B", "The answer is B", "At first sight C, but the answer is B.", "I think B")
    found = read(*replies)
    assert found.measures["accuracy"].score == 1
    assert found.measures["accuracy_paper_rule"].score == 0.25
    assert found.details["paper_rule"] == ["B", "unreadable", "A", "unreadable"]
    assert read("Both sides are seen").measures["accuracy_paper_rule"].score == 1  # B, by chance the right one


def test_failed_requests_are_no_wrong_answers():
    found = read("B", FAILURE, "B")
    assert found.measures["accuracy"].score == 1.0
    assert found.trials == ("B", "failed", "B")


def test_all_failed_is_no_score():
    found = read("[LMMS_EVAL_BUDGET_EXCEEDED]", FAILURE)
    assert found.measures == {"accuracy": ScoreValue(None), "accuracy_paper_rule": ScoreValue(None)}


def test_identical_trials_need_two_replies():
    assert read("B", "B", "B").measures["identical"].score == 1
    assert read("B", "b", "B").measures["identical"].score == 0
    assert read("B", "B", FAILURE).measures["identical"].score == 1
    assert "identical" not in read("B").measures


def test_record_carries_ids_and_tags_but_no_question():
    found = measures.choice_question_record(document(1, 1, "gaussian_noise"), ["A"])
    assert (found.id, found.pair, found.cluster, found.expected) == ("q1/gaussian_noise/L1", "q1", "i1", "A")
    assert found.tags == {
        "data": "mini", "source": None, "modality": "CT", "severity": 1, "capability": "Counting",
        "mid": "Imaging Perception", "degradation": "gaussian_noise", "category": "noise", "option_count": 4,
    }  # fmt: skip
    assert set(found.tags) == set(measures.SUITE.tags) - {"rotation"}
    assert "?" not in json.dumps(found.to_json()).replace('"?"', "?")


def test_clean_question_is_of_no_degradation():
    assert {
        measures.choice_question_record(document(1, 0), ["A"]).tags[name] for name in ("degradation", "category")
    } == {None}


def test_question_id_falls_back_to_the_id():
    doc = document(1, 0)
    del doc["question_id"]
    assert measures.choice_question_record(doc, ["A"]).pair == "q1"


def test_degradation_by_the_name_of_the_authors_site_has_the_papers_name():
    assert (
        measures.choice_question_record(document(1, 1, "downsample_artifact"), ["A"]).tags["degradation"]
        == "low_resolution"
    )
    with pytest.raises(UserError, match="gausian"):
        measures.choice_question_record(document(1, 1, "gausian_noise"), ["A"])


def test_scoring_in_threads_gives_the_same():
    expected, results = read("B", "C", "B"), []
    workers = [threading.Thread(target=lambda: results.append(read("B", "C", "B"))) for _ in range(16)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert results == [expected] * 16


def test_applied_parameters_travel_with_the_record():
    hooks.RENDERED.reset(["q1"])
    pixels = np.random.default_rng(0).integers(0, 256, (40, 40), dtype=np.uint8)
    doc = {**document(1, 0), "degradation": "object_rotation", "severity": 1, "modality": "X-ray",
           "image": Image.fromarray(pixels)}  # fmt: skip
    assert measures.choice_question_record(doc, ["B"]).details["degradation_parameters"] == []
    shown = np.asarray(hooks.doc_to_visual(doc)[0])
    [parameters] = measures.choice_question_record(doc, ["B"]).details["degradation_parameters"]
    kept = degradations.parameters_from_json("object_rotation", json.loads(json.dumps(parameters)), modality="X-ray")
    again = degradations.apply_parameters(doc["image"], "object_rotation", kept, modality="X-ray")
    assert (np.asarray(again) == shown[..., 0]).all()


@given(st.lists(st.sampled_from(["A", "B", "(C)", "none of them", "<think>so", FAILURE]), min_size=1, max_size=6))
def test_scores_are_those_of_the_votes(replies):
    found = read(*replies)
    table = measures.count_votes_checked(QuestionTable.of_records([found]))
    assert table.replies[0] + table.failed[0] == len(replies)
    score = found.measures["accuracy"].score
    assert (score is None and np.isnan(table.scores[0])) or table.scores[0] == score


# --- Metrics ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def scored():
    """Two questions at three levels. Right trials of three: L0 3, 3; L1 3, 0; L2 0, 0."""
    rows = [
        (document(1, 0), "AAA"),
        (document(2, 0, capability="Disease Diagnosis"), "AAA"),
        (document(1, 1, "gaussian_noise"), "AAA"),
        (document(2, 1, "sparse_view", "Disease Diagnosis"), "BBB"),
        (document(1, 2, "gaussian_noise"), "BCD"),
        (document(2, 2, "sparse_view", "Disease Diagnosis"), "BBB"),
    ]
    return [measures.process_results(doc, list(replies)) for doc, replies in rows]


def test_accuracy_by_level(scored):
    assert [metric(scored, f"accuracy_l{level}") for level in range(3)] == [1, 0.5, 0]
    assert metric(scored, "questions") == 6


def test_drops_are_positive_where_accuracy_fell(scored):
    # L0 1, L1 1/2, L2 0.
    assert metric(scored, "drop_l1") == 0.5
    assert metric(scored, "drop_l2") == 1.0


def test_macros_are_means_of_group_means_over_l1_and_l2(scored):
    # Imaging Perception (Counting): (1 + 0) / 2; Clinical Understanding: (0 + 0) / 2; four are empty: mean 1/4.
    assert metric(scored, "capability_macro") == 0.25
    # noise (1 + 0) / 2, artifacts 0, three empty: 1/4.
    assert metric(scored, "category_macro") == 0.25


def test_unmapped_capabilities_are_counted_not_guessed():
    rows = [measures.process_results(document(1, 0, capability="Palm reading"), ["A"])]
    rows += [measures.process_results(document(1, 1, "bubble", "Palm reading"), ["A"])]
    assert metric(rows, "unmapped_capabilities") == 1
    assert metric(rows, "capability_macro") is None


def test_one_level_alone_has_no_drop():
    rows = [measures.process_results(document(1, 1, "bubble"), ["A", "A", "A"])]
    assert metric(rows, "drop_l1") is None
    assert metric(rows, "drop_l2") is None
    assert (metric(rows, "accuracy_l0"), metric(rows, "accuracy_l1")) == (None, 1)


def test_task_of_one_level():
    rows = [measures.process_results_level(document(1, 1, "bubble"), replies)
            for replies in (["A", "B", "?"], ["A", FAILURE, "A"])]  # fmt: skip
    assert metric(rows, "accuracy") == pytest.approx((1 / 3 + 1) / 2)
    assert metric(rows, "parse_rate") == 4 / 5
    assert metric(rows, "failed_requests") == 1
    assert metric(rows, "identical_trials") == 0.5


def calibrated():
    """K = 4, T = 10. Unanimous and right at L0; at L2 five of ten right and five for B."""
    rows = [(document(1, 0), "A" * 10), (document(2, 0), "A" * 10)]
    rows += [(document(1, 2, "bubble"), "AAAAABBBBB"), (document(2, 2, "bubble"), "B" * 10)]
    return [measures.process_results_calib(doc, list(replies)) for doc, replies in rows]


def test_calibration_by_level():
    rows = calibrated()
    # C = 1 - H / log 4: 1 for a unanimous vote; H = log 2 for five and five, so C = 1/2. L2: C 0.75, accuracy 0.25.
    assert metric(rows, "confidence_l0") == 1.0
    assert metric(rows, "shift_l0") == 0.0
    assert metric(rows, "confidence_l2") == pytest.approx(0.75)
    assert metric(rows, "shift_l2") == metric(rows, "shift_size_l2") == pytest.approx(0.5)
    # Majority shares 0.5 (a tie, right with 1/2) and 1.0 (wrong): errors |0.5 - 0.5| / 2 + |1 - 0| / 2 = 0.5.
    assert metric(rows, "ece_share_10_l2") == pytest.approx(0.5)
    assert metric(rows, "ece_share_10_l0") == 0.0
    # Agreement: 1 of a unanimous vote, (5 x 4 + 5 x 4) / 90 of five and five. L2: (1 + 4/9) / 2 less 0.25.
    assert metric(rows, "agreement_l0") == 1.0
    assert metric(rows, "agreement_l2") == pytest.approx(13 / 18)
    assert metric(rows, "agreement_shift_l2") == pytest.approx(13 / 18 - 0.25)
    # Changes of accuracy and shift: -0.5 and 0 (C 1 to 0.5), -1 and 1. Equation 5 holds. Of the four exchanges of two
    # images it holds in two: as it is, and with the first exchanged (-0.5 and 1). Only the data are as far out.
    assert metric(rows, "dke_intra") == 1.0
    assert metric(rows, "dke_intra_null") == pytest.approx(0.5, abs=0.04)
    assert metric(rows, "dke_intra_p") == pytest.approx(0.25, abs=0.04)
    # No question at L1.
    assert metric(rows, "confidence_l1") is None
    assert metric(rows, "aurc_share_l1") is None


def test_the_size_of_a_shift_has_no_sign():
    # Two of four for the right answer each: C 1/4 (three outcomes: 2, 1, 1 of four), accuracy 1/2.
    rows = [measures.process_results_calib(document(number, 2, "bubble"), list("AABC")) for number in range(6)]
    assert metric(rows, "shift_l2") == pytest.approx(-0.25)
    assert metric(rows, "shift_size_l2") == pytest.approx(0.25)


def test_the_log_has_a_record_once_and_ranks_can_exchange_it(scored):
    row = scored[2]
    logged = json.loads(json.dumps(row, default=handle_non_serializable))
    assert logged["questions"]["id"] == "q1/gaussian_noise/L1"
    assert logged["accuracy_l0"] == logged["accuracy_l2"] == logged["drop_l1"] == logged["category_macro"] == {}
    assert logged["accuracy_l1"] == {"score": 1.0, "cluster": "i1"}
    assert json.dumps(logged).count('"trials": ["A", "A", "A"]') == 1
    assert pickle.loads(pickle.dumps(row))["drop_l1"].record == row["questions"].record


def test_condition_tells_ways_of_asking_apart():
    told = {task: measures.asking_condition(task, {}) for task in
            ("medq_deg", "medq_deg_calib", "medq_deg_l0", "medq_deg_l2", "medq_deg_release_l1")}  # fmt: skip
    assert told["medq_deg"] == ""
    assert told["medq_deg_l0"] == told["medq_deg_l2"]
    assert len(set(told.values())) == 4
