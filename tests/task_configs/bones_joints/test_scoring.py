"""Records and metrics: multiple choice, and judged answers from verdicts written by hand."""

from __future__ import annotations

import pytest

from lmms_medtasks.judges import bones_joints as protocols
from lmms_medtasks.judges import records
from lmms_medtasks.judges.judging import settled
from lmms_medtasks.judges.protocol import Verdict
from lmms_medtasks.judges.table import TABLE, key_of
from lmms_medtasks.statistics import coverage
from lmms_medtasks.task_configs.bones_joints import choice, judged, reference
from lmms_medtasks.task_configs.bones_joints.forms import sites

DOC = {"id": "t3-1", "image_id": "i", "task": "t3", "case_id": "c", "image_case": "c", "site": "knee",
       "image_site": "knee", "disease": "gout", "disease_listed": "unlisted", "modality": "", "report": "long",
       "image_count": 1, "figures": 0, "data": "mini", "question": "?",
       "options": list("vwxyz"), "answer": "B"}  # fmt: skip
OPEN = {**DOC, "id": "t4-1", "task": "t4", "options": [], "answer": "gout"}
FAILED = "[LMMS_EVAL_REQUEST_FAILED after 5 retries]"


@pytest.fixture(autouse=True)
def clean():
    yield
    TABLE.clear()


def test_choice():
    right, wrong, unread, failed = (choice.process_results(DOC, [reply]) for reply in ("B", "C", "hm", FAILED))
    assert [each["accuracy"].get("score") for each in (right, wrong, unread, failed)] == [1, 0, 0, None]
    assert "report" not in right["accuracy"] and right["accuracy"]["case_id"] == "c"
    assert right["accuracy_knee"]["score"] == 1 and right["accuracy_hip"] == {} == failed["accuracy_knee"]
    values = [each["accuracy_low"] for each in (right, wrong, unread, failed)]
    # All of one image: a bootstrap, in which nothing varies.
    assert choice.accuracy_low(values) is None
    spread = [{**value, "image_id": str(n)} for n, value in enumerate(values)]
    # 1 of 3, Wilson: 0.0615 to 0.7923
    assert choice.accuracy_low(spread) == pytest.approx(0.0615, abs=1e-4)
    assert choice.accuracy_high(spread) == pytest.approx(0.7923, abs=1e-4)
    assert choice.accuracy_low([]) is None and choice.accuracy_high([{"image_id": "x"}]) is None


def verdicts(protocol, doc, reply, labels, steps=()):
    item = protocol.item(doc, reply)
    found = {}
    for trial, label in enumerate(labels):
        said = {"verdict": label, **({"steps_found": steps[trial]} if steps else {})}
        verdict = Verdict("judged", said) if label else Verdict("missing", reason="no verdict")
        found[key_of(protocol, item, trial)] = verdict
    TABLE.put(found)


def settle(protocol, doc):
    """What the stage has for an answer without a word."""
    item = protocol.item(doc, "")
    TABLE.put({key_of(protocol, item, trial): settled(protocol, item) for trial in range(3)})


def test_the_mean_of_three_with_unclear_as_none():
    verdicts(protocols.ANSWER, OPEN, "gout", ["Correct", "Unclear", "Incorrect"])
    found = judged.process_results(OPEN, ["gout"])
    assert found["accuracy"]["score"] == pytest.approx(1 / 3)
    assert found["unclear_rate"]["score"] == pytest.approx(1 / 3) and found["unanimous"]["score"] == 0
    assert found["coverage"]["judged"] == 3 and "report" not in found["accuracy"]
    assert found["accuracy_knee"]["score"] == found["accuracy"]["score"] and found["accuracy_hip"] == {}
    assert set(f"accuracy_{site}" for site in sites()) <= set(found)


def test_a_missing_judgement_is_no_zero():
    verdicts(protocols.ANSWER, OPEN, "gout", ["Correct", "Correct", None])
    found = judged.process_results(OPEN, ["gout"])
    assert found["accuracy"]["score"] == 1 and found["accuracy"]["status"] == "partial"
    assert coverage.bound_worst([found["bound_worst"]]) == pytest.approx(2 / 3)
    assert coverage.coverage([found["coverage"]]) == pytest.approx(2 / 3)


def test_steps_of_a_chain():
    doc = {**OPEN, "id": "t5-1", "task": "t5", "answer": "a fall\na gap\npain\na fracture"}
    verdicts(protocols.REASONING, doc, "x", ["Correct", "Correct", "Incorrect"], ["1, 2", "1", ""])
    found = judged.process_results_chain(doc, ["x"])
    # (2/4 + 1/4 + 0) / 3
    assert found["steps_found"]["score"] == pytest.approx(0.25)
    assert found["accuracy"]["verdicts"][0][0]["labels"]["steps_found"] == "1, 2"


def test_contradictions():
    doc = {**OPEN, "id": "t8-1", "task": "t8", "image_site": "hip", "image_case": "d", "answer": "hip, knee"}
    verdicts(protocols.INCONSISTENCY, doc, "x", [protocols.NAMED, protocols.WENT_ON, protocols.OTHERWISE])
    found = judged.process_results_contradiction(doc, ["x"])
    assert found["accuracy"]["score"] == pytest.approx(2 / 3)
    shares = [found[name]["score"] for name in ("went_on", "missed", "objected_otherwise")]
    assert shares == pytest.approx([1 / 3, 0, 1 / 3])
    # The pairing stands in the record.
    record = found["accuracy"]
    assert [record[name] for name in ("case_id", "image_case", "site", "image_site")] == ["c", "d", "knee", "hip"]


def test_an_empty_answer_is_wrong_and_a_failed_request_is_nothing():
    settle(protocols.ANSWER, OPEN)
    empty, failed = (judged.process_results(OPEN, [reply]) for reply in ("", FAILED))
    assert empty["accuracy"]["score"] == 0 and empty["accuracy"]["status"] == "exact"
    assert empty["unanimous"]["score"] == 1 and empty["unclear_rate"]["score"] == 0
    assert "score" not in failed["accuracy"] and "score" not in failed["unclear_rate"]
    assert failed["failed_requests"] == {"failed": 1, "trials": 1}


def test_without_a_judge_there_is_no_accuracy():
    settle(protocols.ANSWER, OPEN)
    empty, answered = (judged.process_results(OPEN, [reply]) for reply in ("", "gout"))
    for metric in ("accuracy", "unclear_rate", "accuracy_knee"):
        assert judged.judged_mean([empty[metric], answered[metric]]) is None, metric
    assert judged.accuracy_low([empty["accuracy_low"], answered["accuracy_low"]]) is None
    assert judged.judged_mean([]) is None and judged.accuracy_high([]) is None
    assert judged.judged_mean([empty["accuracy"]]) == 0  # a rule's answer is one where nothing is missing


@pytest.mark.parametrize(
    ("hook", "doc"),
    [(judged.process_results, OPEN), (judged.process_results_chain, {**OPEN, "task": "t5"}),
     (judged.process_results_contradiction, {**OPEN, "task": "t8"})],
)  # fmt: skip
def test_a_record_can_be_scored_again(hook, doc):
    found = hook(doc, ["gout"])
    assert hook.metrics_of(found["accuracy"]) == found
    assert records.protocol_of(found["accuracy"]).trials == 3


def test_the_published_numbers():
    found = {(each.model, each.task): each.accuracy for each in reference.results()}
    assert found["GPT-4o", "t1"] == 86.8 and found["GPT-4o", "t8"] == 8.8 and found["MedGPT", "t4"] == 83.3
    assert len(found) == 11 and {each.imaging for each in reference.results()} == {"images", "reports"}
    assert reference.findings()["people"]["kappa"] == 0.95 and len(reference.discrepancies()) == 5


def test_what_the_published_numbers_can_be_shares_of():
    def shares(printed, n):
        return [k for k in range(n + 1) if abs(100 * k / n - printed) <= 0.05 + 1e-9]

    assert shares(53.3, 203) == shares(53.3, 609) == [] and shares(53.3, 30) == [16]
    assert shares(8.8, 203) == [] and shares(35.0, 203) == [71] and shares(86.8, 129) == [112]
