"""Judgements of open answers, and what is computed from them."""

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.judges import records, withheld
from lmms_medtasks.judges.protocol import JudgeVerdict, ScoreDimension, judgement_key
from lmms_medtasks.judges.records import TABLE
from lmms_medtasks.parsing.reply import SentReply
from lmms_medtasks.record import QuestionJudgement, ScoreValue
from lmms_medtasks.suites.judged_measures import measure_value

DOC = {
    "id": "q1", "image_id": "i1", "data": "mini", "question": "What?", "options": [], "answer": "effusion",
    "modality": "CT",
}  # fmt: skip
FAILED = "[LMMS_EVAL_REQUEST_FAILED after 5 retries] boom"


def judged(sample, replies, verdicts=(), protocol=None):
    """What is read of these replies, and their judgement; ``verdicts``: reply -> verdict of the stage."""
    protocol = protocol or sample.PROTOCOL
    TABLE.set_judge(protocol, {"name": "openai:m", "protocol": protocol.name})
    for reply, verdict in dict(verdicts).items():
        TABLE.put(
            {judgement_key(protocol, sample.item(DOC, reply), trial): verdict for trial in range(protocol.trials)}
        )
    return records.make_judgement(DOC, replies, protocol)


def good(label):
    return JudgeVerdict("judged", {"correctness": label}, reply="said", model="m-1")


def test_a_judgement(sample):
    trials, found = judged(sample, [" an effusion "], {"an effusion": good("4")})
    verdict = {"status": "judged", "labels": {"correctness": "4"}, "reason": "", "reply": "said", "model": "m-1"}
    assert trials == ("ok",)
    assert found == QuestionJudgement(
        judge={"name": "openai:m", "protocol": "judge_sample:PROTOCOL"},
        items=({"question": "What?", "reference": "effusion", "answer": "an effusion"},),
        verdicts=((verdict,),),
    )


def test_what_became_of_each_reply(sample):
    trials, found = judged(sample, ["x", "", "<think>x</think>", "<think>hm", FAILED, None])
    assert trials == ("ok", "empty", "empty", "cut", "failed", "failed")
    assert [item is None for item in found.items] == [False, False, False, False, True, True]
    assert [len(each) for each in found.verdicts] == [1, 1, 1, 1, 0, 0]


THOUGHTS = "It may be an effusion, as the angle is blunt. " * 3


@pytest.mark.parametrize(
    ("reply", "read", "shown"),
    [
        (f"<unused94>thought\n{THOUGHTS}", "cut", ""),
        (f"<unused94>thought\n{THOUGHTS}<unused95>no effusion", "ok", "no effusion"),
        (f"<ponder>{THOUGHTS}", "unreadable", ""),
        (f"<ponder>{THOUGHTS}</ponder>no effusion", "ok", "no effusion"),
        (SentReply(THOUGHTS, ended="error"), "failed", None),
        ("no effusion<|im_end|>\nUser: And now?", "ok", "no effusion"),
    ],
)
def test_thoughts_are_never_shown_to_a_judge(sample, reply, read, shown):
    trials, found = judged(sample, [reply])
    assert trials == (read,)
    assert [item and item["answer"] for item in found.items] == [shown]


def test_no_verdict_is_missing_and_no_request_is_made(sample):
    _, found = judged(sample, ["never judged"])
    assert found.verdicts == (
        ({"status": "missing", "labels": {}, "reason": "not judged", "reply": "", "model": None},),
    )
    assert records.verdict_scores(found, "correctness") == [None]


def test_without_a_stage_there_is_no_judge(sample):
    TABLE.clear()
    _, found = records.make_judgement(DOC, ["x"], sample.PROTOCOL)
    assert found.judge == {"name": "none", "protocol": "judge_sample:PROTOCOL"}


def test_values(sample):
    _, found = judged(sample, ["a", "b"], {"a": good("4"), "b": good("1")})
    assert records.verdict_scores(found, "correctness") == [4.0, 1.0]
    assert found.status == "judged"
    assert measure_value(found, "correctness") == ScoreValue(2.5, 2.5, 2.5, judged=2, requested=2)


def test_a_missing_one_has_bounds(sample):
    _, found = judged(sample, ["a", "b"], {"a": good("4")})
    # low: (4 + 1) / 2, high: (4 + 5) / 2
    assert (found.status, measure_value(found, "correctness")) == ("partial", ScoreValue(4.0, 2.5, 4.5, 1, 2))
    _, found = judged(sample, ["c"])
    assert (found.status, measure_value(found, "correctness")) == ("missing", ScoreValue(None, 1.0, 5.0, 0, 1))


def test_a_failed_request_is_no_answer(sample):
    _, found = judged(sample, [FAILED])
    assert (found.status, measure_value(found, "correctness")) == ("failed", ScoreValue(judged=0, requested=0))


def test_settled_by_rule(sample):
    exact = JudgeVerdict("exact", {"correctness": "5"}, "exact match")
    assert judged(sample, ["effusion"], {"effusion": exact})[1].status == "exact"
    assert judged(sample, ["effusion", "a"], {"effusion": exact, "a": good("1")})[1].status == "judged"


def test_a_measure_of_all_dimensions(sample):
    _, found = judged(sample, ["a", "b"], {"a": good("4")})

    def total(numbers):
        return 100 * (numbers["correctness"] - 1) / 4

    assert records.verdict_scores(found, total) == [75.0, None]
    value = measure_value(found, total)
    assert (value.score, value.low, value.high) == (75.0, 37.5, 87.5)
    assert records.score_bounds(sample.PROTOCOL, total) == (0.0, 100.0)


def test_an_unknown_dimension(sample):
    with pytest.raises(UserError, match="Unknown dimension 'style'"):
        records.verdict_scores(judged(sample, ["a"], {"a": good("4")})[1], "style")


def test_under_terms_a_record_holds_no_text(sample):
    verdict = JudgeVerdict("missing", reason="no verdict: 'the effusion of Mr X'", reply="the effusion of Mr X")
    _, found = judged(sample, ["an effusion", ""], {"an effusion": verdict}, sample.PRIVATE)
    assert found.items == "withheld"
    assert found.verdicts[0] == (
        {"status": "missing", "labels": {}, "reason": "no verdict", "reply": "", "model": None},
    )
    assert "effusion" not in str(found) and "What?" not in str(found)
    assert [withheld.find_withheld_reply(digest) for digest in found.replies] == ["an effusion", ""]
    assert withheld.find_withheld_reply("0" * 64) is None
    assert withheld.withheld_replies_path().stat().st_mode & 0o077 == 0


def test_only_one_judge_in_the_table(sample):
    judged(sample, ["a"], {"a": good("4")})
    TABLE.set_judge(sample.PROTOCOL, {"name": "openai:other", "protocol": sample.PROTOCOL.name})
    assert records.make_judgement(DOC, ["a"], sample.PROTOCOL)[1].verdicts[0][0]["status"] == "missing"


def test_labels_not_numbers(sample):
    """Labels are names; what counts is the number that they stand for."""
    kinds = ScoreDimension("kind", {"Correct": 1.0, "Incorrect": 0.0, "Unclear": 0.5})
    assert (kinds.worst, kinds.best) == (0.0, 1.0)
