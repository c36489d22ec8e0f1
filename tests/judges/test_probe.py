"""Whether a server replies by schema is found out before the first question, and never changes in the middle."""

import os
import signal
import time

import pytest

from lmms_medtasks.judges import defaults
from lmms_medtasks.judges.judging import Judge


@pytest.fixture
def judged(judge_server, settings_for, sample):
    """Call as judged(number): so many answers judged by schema; the verdicts, the counts, what was said."""

    def call(number=5, protocol=sample.BY_SCHEMA, **values):
        said = []
        wanted = [
            (sample.item({"id": f"q{n}", "question": f"{n}?", "answer": "effusion"}, "an effusion"), 0)
            for n in range(number)
        ]
        with Judge(settings_for(judge_server, **values), [protocol]) as judge:
            verdicts, counts = judge.judge(protocol, wanted, say=said.append)
        return list(verdicts.values()), counts, "\n".join(said)

    return call


def by_schema(requests):
    return ["response_format" in request for request in requests]


def test_one_request_before_the_first_question(judged, judge_server):
    verdicts, counts, _ = judged()
    assert [each.status for each in verdicts] == ["judged"] * 5
    assert by_schema(judge_server.probes) == [True]
    assert by_schema(judge_server.requests) == [True] * 5
    assert counts.spent.requests == 6
    assert "effusion" not in str(judge_server.probes)


def test_what_is_known_costs_none(judged, judge_server):
    judged()
    judge_server.reset()
    assert judged()[1].cached == 5
    assert judge_server.probes == judge_server.requests == []


@pytest.mark.parametrize("status", [400, 422, 500])
def test_a_server_without_schema_is_asked_nothing(judged, judge_server, stub_judge, status):
    refuse = stub_judge.Answer(status, "response_format is not supported")
    judge_server.rule = lambda request: refuse if "response_format" in request else None
    verdicts, _, said = judged()
    assert judge_server.requests == []
    assert by_schema(judge_server.probes) == [True, False, True]
    for text in (said, verdicts[0].reason):
        assert "MEDTASKS_JUDGE_REPLY=free" in text and "response_format is not supported" in text
    assert {each.status for each in verdicts} == {"missing"}
    assert [each.status for each in judged(reply="free")[0]] == ["judged"] * 5


def test_a_server_that_heeds_no_schema(judged, judge_server, stub_judge):
    judge_server.rule = lambda request: stub_judge.Answer(text="Fine, I would say four.")
    verdicts, _, said = judged()
    assert (len(judge_server.probes), judge_server.requests) == (1, [])
    assert "its reply is not of the schema: no verdict" in said and "no schema: " in verdicts[0].reason


@pytest.mark.parametrize("status", [400, 500, 429])
def test_one_spurious_error_is_not_its_word(judged, judge_server, stub_judge, status):
    answers = [stub_judge.Answer(status, "now and then")]
    judge_server.rule = lambda request: answers.pop() if answers else None
    assert [each.status for each in judged()[0]] == ["judged"] * 5
    assert by_schema(judge_server.requests) == [True] * 5


def test_a_reply_that_is_cut_off_tells_nothing(judged, judge_server, stub_judge):
    answers = [stub_judge.Answer(text='{"reasons": "well', finish="length")]
    judge_server.rule = lambda request: answers.pop() if answers else None
    assert [each.status for each in judged()[0]] == ["judged"] * 5


@pytest.mark.parametrize(
    ("answer", "probes"), [((401, "wrong key"), 1), ((400, "Model Not Exist"), 2), ((503, "loading"), 6)]
)
def test_a_server_that_takes_no_request_is_asked_nothing(judged, judge_server, stub_judge, answer, probes):
    """DeepSeek answers an unknown model with 400: two requests tell that it is not the schema."""
    judge_server.rule = lambda request: stub_judge.Answer(*answer)
    verdicts, counts, _ = judged(number=30)
    assert judge_server.requests == [] and len(judge_server.probes) == counts.spent.requests == probes
    assert {each.status for each in verdicts} == {"missing"}
    assert all(answer[1] in each.reason and "MEDTASKS_JUDGE_REPLY" not in each.reason for each in verdicts)


@pytest.mark.parametrize("values", [{"max_requests": 0}, {"reply": "free"}])
def test_no_probe_where_none_is_needed_or_allowed(judged, judge_server, values):
    judged(**values)
    assert judge_server.probes == []


def test_the_two_ways_never_share_a_verdict(judged, judge_server):
    judged()
    assert judged(reply="free")[1].cached == 0
    assert judged()[1].cached == judged(reply="free")[1].cached == 5


def test_cached_tokens_are_shown(judged, judge_server):
    judge_server.cached = 40
    counts = judged()[1]
    assert counts.spent.cached_tokens == 6 * 40
    assert "(240 cached)" in counts.sentence()


@pytest.mark.parametrize(("status", "answers"), [(429, 3), (503, 7)])
def test_a_wait_that_the_server_asks_for_is_kept_and_costs_a_third(judged, judge_server, stub_judge, status, answers):
    """A server that asks for patience is busy: the probe waits as a question does, and finds out after all."""
    refused = [stub_judge.Answer(status, "busy", after="0.3")] * answers
    judge_server.rule = lambda request: refused.pop() if refused else None
    begun = time.monotonic()
    verdicts, _, _ = judged()
    assert [each.status for each in verdicts] == ["judged"] * 5
    assert time.monotonic() - begun >= 0.3 * answers and len(judge_server.probes) == answers + 1


def test_a_long_wait_of_the_probe_is_told_and_a_longer_one_ends_it(judged, judge_server, stub_judge, monkeypatch):
    quick = {**defaults.defaults(), "told_wait": 0.2, "longest_wait": 1.0}
    for module in ("probe", "progress_lines"):
        monkeypatch.setattr(f"lmms_medtasks.judges.{module}.defaults", lambda: quick)
    answers = [stub_judge.Answer(429, "later", after=seconds) for seconds in ("86400", "0.5")]
    judge_server.rule = lambda request: answers.pop()
    verdicts, _, said = judged()
    assert said.count("nothing is sent until") == 1
    assert len(judge_server.probes) == 2 and judge_server.requests == []
    assert all("asks to wait 86400 s" in each.reason for each in verdicts)


def test_ctrl_c_in_the_probe_ends_the_judging_not_the_run(judge_server, settings_for, sample, stub_judge):
    def rule(request):
        os.kill(os.getpid(), signal.SIGINT)
        return stub_judge.Answer(sleep=2.0)

    judge_server.rule = rule
    wanted = [(sample.item({"id": "q", "question": "?", "answer": "effusion"}, "an effusion"), 0)]
    with Judge(settings_for(judge_server), [sample.BY_SCHEMA, sample.PROTOCOL]) as judge:
        for protocol in (sample.BY_SCHEMA, sample.PROTOCOL):  # by the second one nothing is asked either
            (verdict,) = judge.judge(protocol, wanted, say=lambda text: None)[0].values()
            assert (verdict.status, verdict.reason) == ("missing", "stopped: the run was interrupted")
        assert judge.interrupted
    assert len(judge_server.probes) == 1 and judge_server.requests == []


def test_a_judge_that_is_asked_no_more_gets_no_probe(judge_server, settings_for, sample):
    """The first protocol is answered by two models, which ends the judging: the next one sends nothing at all."""
    names = iter(["one", "other"])
    judge_server.answers_as = lambda request: next(names, "other")
    wanted = [(sample.item({"id": "q", "question": f"{n}?", "answer": "effusion"}, "it"), 0) for n in range(2)]
    with Judge(settings_for(judge_server), [sample.PROTOCOL, sample.BY_SCHEMA]) as judge:
        judge.judge(sample.PROTOCOL, wanted, say=lambda text: None)
        assert judge.other_model and len(judge_server.requests) == 2
        verdicts, counts = judge.judge(sample.BY_SCHEMA, wanted, say=lambda text: None)
    assert judge_server.probes == [] and counts.spent.requests == 0
    assert all(each.reason.startswith("another model") for each in verdicts.values())
