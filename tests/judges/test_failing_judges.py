"""What a judge costs whose server fails in one way for every request; all of them: ``failing_judges.py``."""

import importlib

import pytest

ANSWERS = 60
AT_ONCE = ["status 302", "status 401", "status 404", "status 405", "status 410", "status 429, quota used up",
           "status 429, Retry-After a day"]  # fmt: skip
REFUSED = ["status 400, unknown model (DeepSeek)", "status 413", "status 422"]
UNREADABLE = ["status 200, prose", "status 200, a refusal", "status 200, content null", "status 200, off the scale"]
NO_REPLY = ["status 408", "status 500", "status 502, a page", "status 200, a page", "status 200, an error's body",
            "the connection is reset", "nobody listens"]  # fmt: skip


@pytest.fixture
def judged(sample, stub_judge):
    """Call as judged(name of the failure): requests, counts, what was said."""
    failing = importlib.import_module("failing_judges")
    return lambda name, **values: failing.judged(stub_judge, sample, name, ANSWERS, **values)


@pytest.mark.parametrize("name", AT_ONCE)
def test_what_is_refused_for_all_texts_costs_one_request(judged, name):
    requests, counts, said = judged(name)
    assert (requests, counts.judged, counts.missing) == (1, 0, ANSWERS)
    assert "is asked no more: " in said[-1] and "1 requests" in said[-1]


@pytest.mark.parametrize("name", REFUSED)
def test_what_may_be_about_one_text_costs_twenty_judgements(judged, name):
    requests, counts, said = judged(name)
    assert 20 <= requests <= 2 * (20 + 3) and counts.missing == ANSWERS
    assert "20 judgements in a row without a valid verdict" in said[-1] and "--keep-going" in said[-1]


@pytest.mark.parametrize("name", UNREADABLE)
def test_replies_without_a_verdict_cost_twenty_judgements(judged, name):
    requests, counts, _ = judged(name)
    assert 40 <= requests <= 2 * (20 + 3) and counts.missing == ANSWERS


@pytest.mark.parametrize("name", NO_REPLY)
def test_no_reply_costs_four_judgements_with_all_their_attempts(judged, name):
    requests, counts, said = judged(name)
    assert 24 <= requests <= 48 and counts.missing == ANSWERS
    assert "4 judgements in a row without any reply" in said[-1]


def test_an_hours_wait_is_told_and_made_once(judged, monkeypatch):
    """The first request is answered with the wait, those after it with the next, which is too long in all."""
    failing = importlib.import_module("failing_judges")
    monkeypatch.setattr(failing, "SPEED", 1000.0)
    requests, counts, said = judged("status 429, Retry-After an hour")
    assert requests <= 5 and counts.missing == ANSWERS
    (wait,) = [line for line in said if line.startswith("The judge's server asks to wait")]
    assert "nothing is sent until" in wait and "Ctrl-C" in wait


def test_keep_going(judged):
    requests, counts, _ = judged("status 413", keep_going=1)
    assert requests == counts.missing == ANSWERS


@pytest.mark.parametrize("name", ["status 401", "status 400, unknown model (DeepSeek)", "status 500"])
def test_by_schema_the_probe_tells_and_no_question_is_asked(judged, name):
    """With what came back, what it has cost, and how to go on."""
    requests, counts, said = judged(name, reply="schema")
    assert requests == 0 and counts.missing == ANSWERS and counts.spent.requests <= 7
    assert "is asked no more: request failed: status" in said[-1] and f"So far: {counts.spent}" in said[-1]
    assert "lmms-medtasks judge RUN" in said[-1]
