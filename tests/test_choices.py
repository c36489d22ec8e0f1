"""The record of a multiple-choice question, and what is counted of its replies."""

import pytest

from lmms_medtasks import choices

DOC = {"id": "q", "image_id": "i", "data": "mini", "question": "?", "options": ["left", "right"], "answer": "B",
       "image": None, "images": [], "site": "knee", "report": "long"}  # fmt: skip
FAILED = "[LMMS_EVAL_REQUEST_FAILED after 5 retries] 500"


def test_a_record_has_ids_and_tags_but_no_long_texts():
    record = choices.record_of(DOC, ["B"], {"report"})
    assert {key: record[key] for key in ("id", "site", "answer", "option_count", "trials", "score")} == {
        "id": "q", "site": "knee", "answer": "B", "option_count": 2, "trials": ["B"], "score": 1.0,
    }  # fmt: skip
    assert not {"question", "options", "image", "images", "report"} & set(record)


@pytest.mark.parametrize(
    ("replies", "score"),
    [
        (["A"], 0.0),
        (["I see nothing."], 0.0),
        (["B", "A", FAILED], 0.5),  # the failed one counts for nothing: 1 of 2
    ],
)
def test_the_score_is_over_the_replies_that_came(replies, score):
    assert choices.record_of(DOC, replies)["score"] == score


def test_without_a_reply_there_is_no_score():
    record = choices.record_of(DOC, [FAILED])
    assert "score" not in record
    assert choices.outcomes(record)["failed_requests"] == {"failed": 1, "trials": 1}
    assert choices.outcomes(record)["parse_rate"] == {"parsed": 0, "replies": 0}


def test_every_outcome_is_counted_once():
    found = choices.outcomes({"trials": ["A", "unreadable", "refused", "ambiguous", "failed"]})
    assert found["parse_rate"] == {"parsed": 1, "replies": 4}
    assert choices.count([found["refused"], found["ambiguous"]]) == 2
