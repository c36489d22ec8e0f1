"""The record of a question: what is written is read back, and what is no record is refused with its place."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks import record as form
from lmms_medtasks.errors import UserError
from lmms_medtasks.record import (
    QuestionJudgement,
    QuestionRecord,
    ScoreValue,
    record_from_earlier_json,
    record_from_json,
)

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)
COUNTS = st.integers(0, 9)
VALUES = st.builds(
    ScoreValue, st.none() | NUMBERS, st.none() | NUMBERS, st.none() | NUMBERS, st.none() | COUNTS, st.none() | COUNTS
)
TAGS = st.dictionaries(st.text(max_size=5), st.none() | st.text(max_size=5) | st.integers() | st.booleans(), max_size=3)


@given(
    st.builds(
        QuestionRecord, id=st.text(), cluster=st.text(), trials=st.lists(st.text(), min_size=1).map(tuple),
        expected=st.none() | st.text(), measures=st.dictionaries(st.text(max_size=5), VALUES, max_size=3), tags=TAGS,
        pair=st.text(max_size=3),
    )
)  # fmt: skip
def test_what_is_written_is_read_back(record):
    assert record_from_json(json.loads(json.dumps(record.to_json())), "here") == record


def verdict(status):
    return {"status": status, "labels": {}, "reason": "", "reply": ""}


@pytest.mark.parametrize(
    ("statuses", "together"),
    [
        ([["exact"], ["exact"]], "exact"),
        ([["judged", "exact"]], "judged"),
        ([["judged"], ["missing"]], "partial"),
        ([["missing", "missing"]], "missing"),
        ([[], []], "failed"),
        ([["exact", "missing"]], "partial"),
    ],
)
def test_status_of_a_questions_judgements(statuses, together):
    verdicts = tuple(tuple(map(verdict, each)) for each in statuses)
    judgement = QuestionJudgement({"name": "none", "protocol": "p"}, (None,) * len(verdicts), verdicts)
    assert judgement.status == together
    record = QuestionRecord("q", "i", ("ok",), None, {}, judgement=judgement)
    assert record_from_json(json.loads(json.dumps(record.to_json())), "here").judgement == judgement


GOOD = QuestionRecord("q", "i", ("A",), "A", {"accuracy": ScoreValue(1.0)}).to_json()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([], "[]"),
        ({**GOOD, "version": 1}, "version 1"),
        ({key: value for key, value in GOOD.items() if key != "version"}, "version None"),
        ({**GOOD, "version": form.VERSION + 1}, f"version {form.VERSION + 1}"),
        ({**GOOD, "trials": []}, "trials is []"),
        ({**GOOD, "trials": "AB"}, "trials is 'AB'"),
        ({**GOOD, "trials": [1]}, "trials is [1]"),
        ({**GOOD, "id": 7}, "id is 7"),
        ({**GOOD, "cluster": None}, "cluster is None"),
        ({**GOOD, "measures": [1]}, "measures is [1]"),
        ({**GOOD, "measures": {"accuracy": {"score": float("nan")}}}, "score of the measure 'accuracy' is nan"),
        ({**GOOD, "measures": {"accuracy": {"score": True}}}, "is True"),
        ({**GOOD, "measures": {"accuracy": {"points": 1}}}, "'points'"),
        ({**GOOD, "tags": {"tier": [1]}}, "the tag 'tier' is [1]"),
        (
            {
                **GOOD,
                "judgement": {
                    "judge": {"name": "j", "protocol": "p"},
                    "items": [],
                    "verdicts": [[{"status": "guessed"}]],
                },
            },
            "guessed",
        ),
        ({**GOOD, "judgement": {"judge": {}, "items": [], "verdicts": []}}, "names no judge"),
    ],
)
def test_what_is_no_record_is_refused_with_its_place(content, said):
    with pytest.raises(UserError) as error:
        record_from_json(content, "run/x_samples_t.jsonl, line 7")
    assert "run/x_samples_t.jsonl, line 7" in str(error.value)
    assert said in str(error.value)


def test_a_record_of_the_version_before_is_only_read_to_be_read_again():
    earlier = {**GOOD, "version": form.EARLIER, "trials": ["A", "truncated"]}
    assert record_from_earlier_json(earlier, "here").trials == ("A", form.CUT)
    assert record_from_earlier_json(GOOD, "here") == record_from_json(GOOD, "here")
    with pytest.raises(UserError, match="here: the record is of version 3.*lmms-medtasks reread RUN --output FOLDER"):
        record_from_json(earlier, "here")
    with pytest.raises(UserError, match=r"version 2, .*\. Run the task again"):
        record_from_earlier_json({**earlier, "version": 2}, "here")


@pytest.mark.parametrize(
    ("items", "expected", "answer"),
    [
        ((None, {"reference": "left lung"}), None, "left lung"),
        (({"reference": "left lung"},), "A", "A"),
        ("withheld", None, None),
        ((None,), None, None),
    ],
)
def test_the_right_answer_of_a_judged_question_is_what_its_judge_compares_with(items, expected, answer):
    record = QuestionRecord("q1", "image", ("ok",), expected, {}, judgement=QuestionJudgement({"name": "j"}, items, ()))
    assert record.right_answer == answer
