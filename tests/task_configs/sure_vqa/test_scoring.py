"""SURE-VQA's metrics on answers with known verdicts, worked by hand."""

import json

import pytest

from lmms_medtasks.judges.protocol import Verdict
from lmms_medtasks.judges.table import TABLE, key_of
from lmms_medtasks.statistics import coverage
from lmms_medtasks.statistics.shared import Shared
from lmms_medtasks.task_configs.sure_vqa import scoring

FAILED = "[LMMS_EVAL_REQUEST_FAILED after 5 retries] Error"


def doc(number, kind="closed", side="iid", answer="yes", choices="yes | no", suite="sure_slake", image=None, **more):
    return {
        "id": f"test/{number}", "image_id": image or f"image {number}", "data": "mini", "question": f"SECRET {number}?",
        "options": [], "answer": answer, "answer_type": kind, "choices": choices if kind != "open" else "", "set": side,
        "suite": suite, "shift": "a shift", "modality": "CT", **more,
    }  # fmt: skip


def judged(document, reply, label):
    """Have a judge say ``label`` of this reply."""
    protocol = scoring.protocol_of(document)
    item = protocol.item(document, reply)
    TABLE.put({key_of(protocol, item, 0): Verdict("judged", {protocol.dimensions[0].name: label}, reply="as it said")})


def settled(document, reply):
    """As the stage does before it asks a judge."""
    protocol = scoring.protocol_of(document)
    item = protocol.item(document, reply)
    found = item and protocol.settle(item)
    if found:
        TABLE.put({key_of(protocol, item, 0): Verdict("exact", found[0], reason=found[1])})


def run(asked, hook=scoring.process_results):
    """Metric -> value, over (document, reply) pairs."""
    values: dict[str, list] = {}
    for document, reply in asked:
        if reply != FAILED:
            settled(document, reply)
        for name, value in hook(document, [reply]).items():
            values.setdefault(name, []).append(value)
    aggregated = {"questions": scoring.questions, "failed_requests": scoring.failed_requests}
    kinds = (*scoring.KINDS, *(f"{kind}_{side}" for kind in scoring.KINDS for side in scoring.SIDES))
    return {
        name: aggregated.get(name, coverage.judged_mean if name in kinds else getattr(scoring, name, None))(each)
        for name, each in values.items()
    }


def test_closed_answers_of_yes_and_no_need_no_judge():
    # i.i.d.: yes/yes, no/yes, yes/yes, no/no -> 3 of 4; OoD: 1 of 2. RR = 0.5 / 0.75
    asked = [(doc(1), "Yes."), (doc(2), "no"), (doc(3), "YES"), (doc(4, answer="No"), "no")]
    asked += [(doc(5, side="ood"), "yes"), (doc(6, side="ood"), "No")]
    found = run(asked)
    assert found["closed_iid"] == 0.75
    assert found["closed_ood"] == 0.5
    assert found["closed_rr"] == pytest.approx(0.5 / 0.75)
    assert found["closed_judged"] == 1.0
    assert found["closed_iid_worst"] == found["closed_iid_best"] == 0.75
    assert found["closed_iid_exact_match"] == 0.75
    assert found["open_iid"] is found["open_rr"] is found["open_judged"] is found["open_iid_worst"] is None
    assert found["questions"] == 6


def test_multilabel_answers_may_be_half_right():
    options = {"kind": "multilabel", "choices": "edema | a mass | both | none", "suite": "sure_mimic"}
    pairs = [("edema", "edema", 1), ("edema", "a mass", 0), ("edema", "both", 0.5), ("a mass", "none", 0.5),
             ("both", "edema", 0.5), ("both", "none", 0), ("none", "both", 0), ("none", "a mass", 0.5),
             ("none", "None.", 1), ("both", "both", 1)]  # fmt: skip
    asked = [(doc(n, answer=right, **options), reply) for n, (right, reply, _) in enumerate(pairs)]
    assert run(asked)["closed_iid"] == pytest.approx(sum(score for *_, score in pairs) / len(pairs))


def test_open_answers_get_stars_and_what_is_missing_has_bounds():
    # i.i.d.: an exact match (5), judged 3, not judged: mean (5 + 3) / 2, bounds (5 + 3 + 1) / 3 and (5 + 3 + 5) / 3.
    # OoD: judged 2: RR = 2 / 4.
    first, second, third = (doc(n, "open", answer="left lung") for n in (1, 2, 3))
    other = doc(4, "open", "ood", answer="right")
    judged(second, "the lung", "3")
    judged(other, "wrong", "2")
    found = run([(first, "Left  Lung."), (second, "the lung"), (third, "a lung of some sort"), (other, "wrong")])
    assert found["open_iid"] == 4.0
    assert found["open_ood"] == 2.0
    assert found["open_rr"] == 0.5
    assert found["open_judged"] == 0.75
    assert found["open_iid_worst"] == pytest.approx(3.0)
    assert found["open_iid_best"] == pytest.approx(13 / 3)
    # tokens: {left, lung}, {lung} and {lung, of, some, sort} against {left, lung}: recall 1, 1/2, 1/2
    assert found["open_iid_recall"] == pytest.approx(2 / 3)
    assert found["open_iid_exact_match"] == pytest.approx(1 / 3)


def test_without_any_judge_exact_matches_are_no_mean():
    asked = [(doc(11, "open", answer="left"), "left"), (doc(12, "open", answer="left"), "never judged")]
    found = run(asked)
    assert found["open_iid"] is None
    assert found["open_rr"] is None
    assert (found["open_iid_worst"], found["open_iid_best"]) == (3.0, 5.0)


def test_no_performance_to_lose_has_no_robustness():
    found = run([(doc(21), "no"), (doc(22, side="ood"), "yes")])
    assert (found["closed_iid"], found["closed_ood"], found["closed_rr"]) == (0.0, 1.0, None)


def test_failed_requests_are_counted_and_have_no_score():
    found = run([(doc(31), FAILED), (doc(32), "yes"), (doc(33, side="ood"), FAILED)])
    assert found["failed_requests"] == 2
    assert found["closed_iid"] == 1.0
    assert found["closed_ood"] is None
    assert found["closed_rr"] is None
    assert found["closed_judged"] == 1.0
    assert run([(doc(34), FAILED)])["closed_iid"] is None


def test_an_answer_without_a_word_is_wrong():
    found = run(
        [(doc(41), ""), (doc(42, "open", answer="left"), "  "), (doc(43, "open", answer="left"), "<think>left")]
    )
    assert found["closed_iid"] == 0.0
    assert found["open_iid"] == 1.0


def test_images_in_both_tests_are_counted():
    asked = [
        (doc(51, image="a"), "yes"),
        (doc(52, side="ood", image="a"), "yes"),
        (doc(53, side="ood", image="b"), "no"),
    ]
    assert run(asked)["shared_images"] == 1


def test_one_test_alone():
    found = run([(doc(61), "yes"), (doc(62), "no")], scoring.process_results_one)
    assert found["closed"] == 0.5
    assert found["closed_exact_match"] == 0.5
    assert "closed_rr" not in found


def test_every_metric_of_the_yamls_has_values_and_an_aggregation():
    from lmms_eval.utils import load_yaml_config

    from lmms_medtasks.harness.plugin import task_folder

    for path in sorted((task_folder() / "sure_vqa").glob("*.yaml")):
        config = load_yaml_config(str(path))
        if "task" in config and "metric_list" in config:
            made = config["process_results"](doc(71, side="ood"), ["yes"])
            assert set(made) == {metric["metric"] for metric in config["metric_list"]}, path.name
            assert all(callable(metric["aggregation"]) for metric in config["metric_list"])


def test_a_record_can_be_scored_again_from_the_log():
    document = doc(81, "open", answer="left")
    judged(document, "to the left", "4")
    made = scoring.process_results(document, ["to the left"])
    logged = json.loads(json.dumps(made["questions"]))
    again = scoring.process_results.metrics_of(logged)
    assert again["open_iid"] == made["open_iid"]
    assert scoring._values([Shared(logged, "questions")], "open", "iid")[0]["score"] == 4.0


def test_a_record_of_credentialed_data_holds_ids_and_scores_only(tmp_path, monkeypatch):
    monkeypatch.setenv("MEDTASKS_HOME", str(tmp_path))
    document = doc(91, "open", suite="sure_mimic", answer="SECRET reference", gender="F", age=33, ethnicity="ASIAN")
    judged(document, "SECRET answer", "2")
    made = scoring.process_results(document, ["SECRET answer"])
    text = json.dumps({name: value for name, value in made.items() if not isinstance(value, Shared)})
    assert "SECRET" not in text
    assert "ASIAN" not in text
    assert not {"gender", "age", "ethnicity", "answer", "question", "modality"} & set(made["questions"])
    assert made["open_iid"]["score"] == 2.0


def test_an_empty_list_has_no_score():
    for name in (*scoring.PAIRED, *scoring.ALONE):
        assert getattr(scoring, name)([]) in (None, 0), name
