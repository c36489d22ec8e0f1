"""Records of judged answers, and what is computed from them."""

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.judges import records, withheld
from lmms_medtasks.judges.protocol import Dimension, Verdict
from lmms_medtasks.judges.table import TABLE, key_of

DOC = {
    "id": "q1", "image_id": "i1", "data": "mini", "question": "What?", "options": [], "answer": "effusion",
    "modality": "CT",
}  # fmt: skip
FAILED = "[LMMS_EVAL_REQUEST_FAILED after 5 retries] boom"


def judged(sample, replies, verdicts=(), protocol=None):
    """The record of these replies; ``verdicts``: reply -> verdict of the stage."""
    protocol = protocol or sample.PROTOCOL
    TABLE.set_judge(protocol, {"name": "openai:m", "protocol": protocol.name})
    for reply, verdict in dict(verdicts).items():
        TABLE.put({key_of(protocol, sample.item(DOC, reply), trial): verdict for trial in range(protocol.trials)})
    return records.judged_record(DOC, replies, protocol)


def good(label):
    return Verdict("judged", {"correctness": label}, reply="said", model="m-1")


def test_a_record(sample):
    found = judged(sample, [" an effusion "], {"an effusion": good("4")})
    assert found == {
        "id": "q1",
        "image_id": "i1",
        "data": "mini",
        "answer": "effusion",
        "modality": "CT",
        "trials": ["ok"],
        "judge": {"name": "openai:m", "protocol": "judge_sample:PROTOCOL"},
        "items": [{"question": "What?", "reference": "effusion", "answer": "an effusion"}],
        "verdicts": [
            [{"status": "judged", "labels": {"correctness": "4"}, "reason": "", "reply": "said", "model": "m-1"}]
        ],
    }


def test_what_came_of_each_reply(sample):
    found = judged(sample, ["x", "", "<think>hm", FAILED, None])
    assert found["trials"] == ["ok", "empty", "truncated", "failed", "failed"]
    assert [item is None for item in found["items"]] == [False, False, False, True, True]
    assert [len(each) for each in found["verdicts"]] == [1, 1, 1, 0, 0]


def test_no_verdict_is_missing_and_no_request_is_made(sample):
    found = judged(sample, ["never judged"])
    assert found["verdicts"] == [
        [{"status": "missing", "labels": {}, "reason": "not judged", "reply": "", "model": None}]
    ]
    assert records.scores(found, "correctness") == [None]


def test_without_a_stage_there_is_no_judge(sample):
    TABLE.clear()
    found = records.judged_record(DOC, ["x"], sample.PROTOCOL)
    assert found["judge"] == {"name": "none", "protocol": "judge_sample:PROTOCOL"}


def test_values(sample):
    found = judged(sample, ["a", "b"], {"a": good("4"), "b": good("1")})
    assert records.scores(found, "correctness") == [4.0, 1.0]
    assert records.value(found, "correctness") == {
        "id": "q1", "image_id": "i1", "status": "judged", "judged": 2, "wanted": 2,
        "score": 2.5, "low": 2.5, "high": 2.5,
    }  # fmt: skip


def test_a_missing_one_has_bounds(sample):
    found = records.value(judged(sample, ["a", "b"], {"a": good("4")}), "correctness")
    # low: (4 + 1) / 2, high: (4 + 5) / 2
    assert (found["status"], found["score"], found["low"], found["high"]) == ("partial", 4.0, 2.5, 4.5)
    assert (found["judged"], found["wanted"]) == (1, 2)
    found = records.value(judged(sample, ["c"]), "correctness")
    assert "score" not in found
    assert (found["status"], found["low"], found["high"]) == ("missing", 1.0, 5.0)


def test_a_failed_request_is_no_answer(sample):
    found = records.value(judged(sample, [FAILED]), "correctness")
    assert found == {"id": "q1", "image_id": "i1", "status": "failed", "judged": 0, "wanted": 0}


def test_settled_by_rule(sample):
    exact = Verdict("exact", {"correctness": "5"}, "exact match")
    assert records.value(judged(sample, ["effusion"], {"effusion": exact}), "correctness")["status"] == "exact"
    found = judged(sample, ["effusion", "a"], {"effusion": exact, "a": good("1")})
    assert records.value(found, "correctness")["status"] == "judged"


def test_a_measure_of_all_dimensions(sample):
    found = judged(sample, ["a", "b"], {"a": good("4")})

    def total(numbers):
        return 100 * (numbers["correctness"] - 1) / 4

    value = records.value(found, total)
    assert records.scores(found, total) == [75.0, None]
    assert (value["score"], value["low"], value["high"]) == (75.0, 37.5, 87.5)
    assert records.bounds(sample.PROTOCOL, total) == (0.0, 100.0)


def test_an_unknown_dimension(sample):
    with pytest.raises(UserError, match="Unknown dimension 'style'"):
        records.scores(judged(sample, ["a"], {"a": good("4")}), "style")


def test_scored_again_nothing_old_is_left(sample):
    first = records.scored(judged(sample, ["a"], {"a": good("4")}), "correctness")
    assert first["score"] == 4.0 and first["trials"] == ["ok"]
    lost = {**first, "verdicts": [[{"status": "missing", "labels": {}, "reason": "x", "reply": ""}]]}
    assert "score" not in records.scored(lost, "correctness")


def test_tallies_have_no_score(sample):
    found = records.tally(judged(sample, ["a"], {"a": good("4")}), "correctness")
    assert found == {"status": "judged", "judged": 1, "wanted": 1, "low": 4.0, "high": 4.0}


def test_under_terms_a_record_holds_no_text(sample):
    verdict = Verdict("missing", reason="no verdict: 'the effusion of Mr X'", reply="the effusion of Mr X")
    found = judged(sample, ["an effusion", ""], {"an effusion": verdict}, sample.PRIVATE)
    assert set(found) == {"id", "image_id", "data", "modality", "trials", "judge", "items", "verdicts", "replies"}
    assert found["items"] == "withheld"
    assert found["verdicts"][0] == [
        {"status": "missing", "labels": {}, "reason": "no verdict", "reply": "", "model": None}
    ]
    assert "effusion" not in str(found) and "What?" not in str(found)
    assert [withheld.recall(digest) for digest in found["replies"]] == ["an effusion", ""]
    assert withheld.recall("0" * 64) is None
    assert withheld.path().stat().st_mode & 0o077 == 0


def test_only_one_judge_in_the_table(sample):
    judged(sample, ["a"], {"a": good("4")})
    TABLE.set_judge(sample.PROTOCOL, {"name": "openai:other", "protocol": sample.PROTOCOL.name})
    assert records.judged_record(DOC, ["a"], sample.PROTOCOL)["verdicts"][0][0]["status"] == "missing"


def test_labels_not_numbers(sample):
    """Labels are names; what counts is the number that they stand for."""
    kinds = Dimension("kind", {"Correct": 1.0, "Incorrect": 0.0, "Unclear": 0.5})
    assert (kinds.worst, kinds.best) == (0.0, 1.0)
