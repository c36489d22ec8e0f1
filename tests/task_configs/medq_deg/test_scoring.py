"""The metrics over levels, worked by hand, and what the sample log keeps of them."""

import json
import pickle

import pytest
from lmms_eval.utils import handle_non_serializable, load_yaml_config

from lmms_medtasks.harness.plugin import task_folder
from lmms_medtasks.task_configs.medq_deg import scoring


def document(number, severity, degradation="", capability="Counting", answer="A"):
    return {
        "id": f"q{number}/{degradation}/L{severity}" if severity else f"q{number}", "question_id": f"q{number}",
        "image_id": f"i{number}", "question": "?", "options": ["w", "x", "y", "z"], "answer": answer,
        "modality": "CT", "degradation": degradation, "severity": severity, "capability": capability,
    }  # fmt: skip


def values(scored, metric):
    return [row[metric] for row in scored]


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
    return [scoring.process_results(doc, list(replies)) for doc, replies in rows]


def test_drops_are_positive_where_accuracy_fell(scored):
    # L0 1, L1 1/2, L2 0.
    assert scoring.drop_l1(values(scored, "drop_l1")) == 0.5
    assert scoring.drop_l2(values(scored, "drop_l2")) == 1.0


def test_macros_are_means_of_group_means_over_l1_and_l2(scored):
    # Imaging Perception (Counting): (1 + 0) / 2; Clinical Understanding: (0 + 0) / 2; four are empty: mean 1/4.
    assert scoring.capability_macro(values(scored, "capability_macro")) == 0.25
    # noise (1 + 0) / 2, artifacts 0, three empty: 1/4.
    assert scoring.category_macro(values(scored, "category_macro")) == 0.25


def test_unmapped_capabilities_are_counted_not_guessed():
    rows = [scoring.process_results(document(1, 0, capability="Palm reading"), ["A"])]
    rows += [scoring.process_results(document(1, 1, "bubble", "Palm reading"), ["A"])]
    assert scoring.unmapped_capabilities(values(rows, "unmapped_capabilities")) == 1
    assert scoring.capability_macro(values(rows, "capability_macro")) is None


def test_one_level_alone_has_no_drop():
    rows = [scoring.process_results(document(1, 1, "bubble"), ["A", "A", "A"])]
    assert scoring.drop_l1(values(rows, "drop_l1")) is None
    assert scoring.drop_l2(values(rows, "drop_l2")) is None


def calibrated():
    """K = 4, T = 10. Unanimous and right at L0; at L2 five of ten right and five for B."""
    rows = [(document(1, 0), "A" * 10), (document(2, 0), "A" * 10)]
    rows += [(document(1, 2, "bubble"), "AAAAABBBBB"), (document(2, 2, "bubble"), "B" * 10)]
    return [scoring.process_results_calib(doc, list(replies)) for doc, replies in rows]


def test_calibration_by_level():
    rows = calibrated()

    def metric(name):
        return getattr(scoring, name)(values(rows, name))

    # C = 1 - H / log 4: 1 for a unanimous vote; H = log 2 for five and five, so C = 1/2. L2: C 0.75, accuracy 0.25.
    assert metric("confidence_l0") == 1.0
    assert metric("shift_l0") == 0.0
    assert metric("confidence_l2") == pytest.approx(0.75)
    assert metric("shift_l2") == pytest.approx(0.5)
    # Majority shares 0.5 (a tie, right with 1/2) and 1.0 (wrong): errors |0.5 - 0.5| / 2 + |1 - 0| / 2 = 0.5.
    assert metric("ece_share_10_l2") == pytest.approx(0.5)
    assert metric("ece_share_10_l0") == 0.0
    # Accuracy fell, the shift rose: equation 5 holds, in every resample.
    assert metric("dke_intra") == 1.0
    assert metric("dke_intra_probability") == 1.0
    # No question at L1.
    assert metric("confidence_l1") is None
    assert metric("aurc_share_l1") is None


def test_every_metric_of_the_yaml_has_its_value_in_every_row():
    for task, hook in (
        ("medq_deg", scoring.process_results),
        ("medq_deg_release", scoring.process_results),
        ("medq_deg_calib", scoring.process_results_calib),
    ):
        config = load_yaml_config(str(task_folder() / "medq_deg" / f"{task}.yaml"))
        names = {metric["metric"] for metric in config["metric_list"]}
        for severity in (0, 1, 2):
            assert set(hook(document(1, severity, "bubble" if severity else ""), ["A"])) == names


def test_the_log_has_a_record_once_and_ranks_can_exchange_it(scored):
    row = scored[2]
    logged = json.loads(json.dumps(row, default=handle_non_serializable))
    assert logged["accuracy_l1"]["id"] == "q1/gaussian_noise/L1"
    assert logged["accuracy_l0"] == logged["accuracy_l2"] == {}
    assert logged["drop_l1"] == logged["category_macro"] == "see accuracy_l*"
    assert json.dumps(logged).count('"trials": ["A", "A", "A"]') == 1
    assert pickle.loads(pickle.dumps(row))["drop_l1"].record == row["accuracy_l1"]
