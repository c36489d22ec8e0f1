"""SURE-VQA's metrics on answers with known verdicts, worked by hand."""

import doctest
import json

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness.scoring import aggregate
from lmms_medtasks.judges import records
from lmms_medtasks.judges.protocol import JudgeVerdict, judgement_key
from lmms_medtasks.judges.records import TABLE
from lmms_medtasks.record import record_from_json
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.statistics.intervals import FEW
from lmms_medtasks.suites.estimates import Contrast
from lmms_medtasks.task_configs.sure_vqa import measures

FAILED = "[LMMS_EVAL_REQUEST_FAILED after 5 retries] Error"


def doc(number, kind="closed", side="iid", answer="yes", choices="yes | no", suite="sure_slake", image=None, **more):
    return {
        "id": f"test/{number}", "image_id": image or f"image {number}", "data": "mini", "question": f"SECRET {number}?",
        "options": [], "answer": answer, "answer_type": kind, "choices": choices if kind != "open" else "", "set": side,
        "suite": suite, "shift": "a shift", "modality": "CT", **more,
    }  # fmt: skip


def judged(document, reply, label):
    """Have a judge say ``label`` of this reply."""
    protocol = measures.question_protocol(document)
    (item,) = records.make_judged_items(document, [reply], protocol)
    TABLE.put(
        {
            judgement_key(protocol, item, 0): JudgeVerdict(
                "judged", {protocol.dimensions[0].name: label}, reply="as it said"
            )
        }
    )


def settled(document, reply):
    """As the stage does before it asks a judge."""
    protocol = measures.question_protocol(document)
    (item,) = records.make_judged_items(document, [reply], protocol)
    found = item and protocol.settle(item)
    if found:
        TABLE.put({judgement_key(protocol, item, 0): JudgeVerdict("exact", found[0], reason=found[1])})


def run(asked, hook=measures.process_results):
    """Metric -> value, over (document, reply) pairs."""
    values: dict[str, list] = {}
    for document, reply in asked:
        if reply != FAILED:
            settled(document, reply)
        for name, value in hook(document, [reply]).items():
            values.setdefault(name, []).append(value)
    return {name: aggregate(each) for name, each in values.items()}


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
    found = run([(doc(61), "yes"), (doc(62), "no")], measures.process_results_one)
    assert found["closed"] == 0.5
    assert found["closed_exact_match"] == 0.5
    assert "closed_rr" not in found


def test_a_record_can_be_scored_again_from_the_log():
    document = doc(81, "open", answer="left")
    judged(document, "to the left", "4")
    made = measures.process_results(document, ["to the left"])
    logged = record_from_json(json.loads(json.dumps(made["questions"])), "here")
    again = measures.process_results.metrics_of(logged)
    assert again == made
    assert again["open_iid"]["score"] == 4.0
    assert aggregate([again["open_iid"]]) == 4.0


def test_measures_are_made_anew_from_the_verdicts():
    document = doc(82, "open", answer="left")
    judged(document, "to the left", "4")
    made = measures.process_results_one(document, ["to the left"])["questions"]
    content = json.loads(json.dumps(made))
    content["judgement"]["verdicts"][0][0]["labels"] = {"stars": "2"}
    logged = record_from_json(content, "here")
    again = measures.process_results_one.metrics_of(logged)
    assert again["open"]["score"] == 2.0
    assert again["questions"]["measures"]["open"]["score"] == 2.0
    assert again["questions"]["measures"]["recall"] == made["measures"]["recall"]


def test_a_record_of_credentialed_data_holds_ids_and_scores_only(tmp_path, monkeypatch):
    monkeypatch.setenv("MEDTASKS_HOME", str(tmp_path))
    document = doc(91, "open", suite="sure_mimic", answer="SECRET reference", gender="F", age=33, ethnicity="ASIAN")
    judged(document, "SECRET answer", "2")
    made = measures.process_results(document, ["SECRET answer"])
    text = json.dumps(made)
    assert "SECRET" not in text
    assert "ASIAN" not in text
    assert set(made["questions"]["tags"]) == {"data", "suite", "shift", "set", "answer_type"}
    assert made["questions"]["judgement"]["items"] == "withheld"
    assert made["open_iid"]["score"] == 2.0


def test_without_questions_there_is_no_score():
    for metric in measures.METRICS:
        assert metric.estimate.value(QuestionTable.of_rows([])) in (None, 0), metric.name


def test_standard_errors_are_of_judged_scores_only():
    """The harness prints one where a value has a score and a cluster; token-matching metrics had none."""
    document = doc(101, image="a")
    settled(document, "yes")
    made = measures.process_results(document, ["yes"])
    assert {name for name, value in made.items() if "score" in value} == {"closed_iid"}
    assert made["closed_iid"]["cluster"] == "a"


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("sure_slake_modality", "slake_modality"),
        ("sure_mimic_age_ood", "mimic_age"),
        ("sure_ovqa_body_part_iid_noimage", "ovqa_body_part"),
        ("sure_ovqa_body_part_noimage_iid", "ovqa_body_part"),
        ("sure_slake_corrupted_low", "slake_corrupted_low"),
        ("sure_slake_modality_corrupted_high", "slake_modality_corrupted_high"),
        ("sure_ovqa_multimodal", "ovqa_multimodal"),
    ],
)
def test_the_shift_is_in_the_tasks_name(task, expected):
    assert measures.shift_of(task) == expected


def test_a_task_whose_name_does_not_say_its_shift_is_refused():
    with pytest.raises(UserError, match="'my_task' does not say its shift. Call it sure_DATASET_SHIFT"):
        measures.task_tags("my_task", {})


def test_examples_in_docstrings():
    assert doctest.testmod(measures).failed == 0


# --- Relative robustness ----------------------------------------------------------------------------------------------

RR = Contrast(main="ratio", first={"set": "iid"}, second={"set": "ood"})


def table(iid_images, iid, ood_images, ood):
    """The questions of both tests, an image and a score each."""
    tests = {"iid": zip(iid_images, iid, strict=True), "ood": zip(ood_images, ood, strict=True)}
    return QuestionTable.of_rows(
        {"set": side, "cluster": image, "accuracy.score": float(score), "accuracy.asked": True}
        for side, questions in tests.items()
        for image, score in questions
    )


def robustness(*tests):
    """Both means ("first", "second"), their "ratio" and "change", with intervals."""
    return RR.of(table(*tests))


def test_worked_by_hand():
    # i.i.d.: images a (1, 1), b (1, 0), c (1): 4/5. OoD: images c (0), d (1, 0): 1/3. RR = (1/3) / (4/5) = 5/12.
    found = robustness(["a", "a", "b", "b", "c"], [1, 1, 1, 0, 1], ["c", "d", "d"], [0, 1, 0])
    iid, ood, ratio = (found[name] for name in ("first", "second", "ratio"))
    assert iid.estimate == pytest.approx(0.8)
    assert ood.estimate == pytest.approx(1 / 3)
    assert ratio.estimate == pytest.approx(5 / 12)
    assert found["change"].estimate == pytest.approx(1 / 3 - 0.8)
    assert (iid.n, ood.n, ratio.n) == (5, 3, 8)
    assert (iid.clusters, ood.clusters, ratio.clusters) == (3, 2, 4)  # image c is in both tests
    assert (ratio.low, ratio.reason) == (None, FEW)


def test_shared_images_pair_the_two_tests():
    # The OoD test is the i.i.d. one, each score halved: what images share does not move RR.
    scores = seeded_generator("test", "shared").random(60)
    names = [f"{number % 20}" for number in range(60)]
    joint = robustness(names, scores, names, scores / 2)["ratio"]
    apart = robustness(names, scores, [f"other {name}" for name in names], scores / 2)["ratio"]
    assert (joint.clusters, apart.clusters) == (20, 40)
    assert joint.high - joint.low < 0.25 * (apart.high - apart.low)


@pytest.mark.parametrize(
    ("iid", "ood"),
    [(([], []), (["a"], [1])), ((["a"], [1]), ([], [])), ((["a", "b"], [0, 0]), (["c"], [1]))],
)
def test_without_a_value_there_is_none(iid, ood):
    found = robustness(*iid, *ood)["ratio"]
    assert (found.estimate, found.low, found.high) == (None, None, None)
