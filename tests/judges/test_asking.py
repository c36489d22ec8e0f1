"""One judgement: the probe of its server, repetitions, one more try for a broken reply, and when to stop asking."""

from __future__ import annotations

import os
import signal
import time

import pytest

from lmms_medtasks.judges import settings
from lmms_medtasks.judges.asking import JudgeClient, RequestSender
from lmms_medtasks.judges.budget import JudgeBudget
from lmms_medtasks.judges.judging import JudgeSession
from lmms_medtasks.judges.settings import default_settings
from lmms_medtasks.judges.transport import ChatTransport, RequestPause


@pytest.fixture
def ask(judge_server, settings_for, sample, protocol):
    """Call as ask(answers...): judges one item, the requests answered in this order (None: a good verdict)."""
    used = []

    def call(*answers, name="q", protocol=protocol, **values):
        answers = list(answers)
        judge_server.rule = lambda request: answers.pop(0) if answers else None
        settings = settings_for(judge_server, **values)
        if not used:
            transport = ChatTransport(settings)
            used.append(
                (JudgeClient(RequestSender(settings, transport, JudgeBudget(settings), RequestPause())), transport)
            )
        item = sample.item({"id": name, "question": f"What is {name}?", "answer": "effusion"}, "an effusion")
        return used[0][0].request_verdict(protocol, item, name)

    call.asker = lambda: used[0][0]
    yield call
    for _, transport in used:
        transport.close()


def test_at_once(ask, judge_server):
    found = ask()
    assert (found.status, found.labels, found.reply) == ("judged", {"correctness": "5"}, '{"correctness": 5}')
    assert len(judge_server.requests) == 1
    assert "response_format" not in judge_server.requests[0]


def test_by_schema(ask, sample, judge_server):
    found = ask(protocol=sample.BY_SCHEMA)
    assert (found.status, found.labels) == ("judged", {"correctness": "5"})
    schema = judge_server.requests[0]["response_format"]["json_schema"]["schema"]
    assert schema["required"] == ["reasons", "correctness"]


@pytest.mark.parametrize("kinds", [("429", "500"), ("hang_up", "truncated_body", "malformed_body"), ("500",) * 5])
def test_what_passes_is_tried_again(ask, stub_judge, judge_server, kinds):
    assert ask(*(stub_judge.KINDS[kind] for kind in kinds)).labels == {"correctness": "5"}
    assert len(judge_server.requests) == len(kinds) + 1


def test_it_is_not_tried_for_ever(ask, stub_judge, judge_server):
    found = ask(*[stub_judge.KINDS["500"]] * 50, retries=3)
    assert found.status == "missing"
    assert found.reason.startswith("request failed: status 500") and found.reason.endswith("(4 attempts)")
    assert len(judge_server.requests) == 4


def test_being_asked_to_wait_counts_a_third(ask, stub_judge, judge_server):
    found = ask(*[stub_judge.Answer(429, "slow down", after="0.001")] * 50, retries=2)
    assert found.status == "missing"
    assert len(judge_server.requests) == 7  # the seventh brings it to 7/3, above 2


@pytest.mark.parametrize(
    "kind",
    ["null", "prose", "refusal", "refusal_field", "filtered", "length", "half", "out_of_range", "not_asked", "true"],
)
def test_what_cannot_be_read_is_asked_once_more(ask, stub_judge, judge_server, kind):
    assert ask(stub_judge.KINDS[kind], name="a").labels == {"correctness": "5"}
    assert len(judge_server.requests) == 2
    judge_server.reset()
    found = ask(stub_judge.KINDS[kind], stub_judge.KINDS[kind], name="b")
    assert (found.status, found.labels) == ("missing", {})
    assert len(judge_server.requests) == 2


def test_it_is_told_what_was_wrong(ask, stub_judge, judge_server):
    ask(stub_judge.KINDS["out_of_range"])
    first, second = (request["messages"] for request in judge_server.requests)
    assert [message["role"] for message in second] == ["user", "assistant", "user"]
    assert second[:1] == first
    assert second[1]["content"] == '{"correctness": 7}'
    assert "label not allowed: correctness is '7', allowed: 1, 2, 3, 4, 5. Judge the same" in second[2]["content"]


def test_after_no_words_turns_still_alternate(ask, stub_judge, judge_server):
    ask(stub_judge.KINDS["null"])
    (only,) = judge_server.requests[1]["messages"]
    assert only["role"] == "user" and "empty reply" in only["content"]


def test_an_unreadable_reply_stays_where_the_second_try_failed(ask, stub_judge):
    found = ask(stub_judge.KINDS["prose"], *[stub_judge.KINDS["500"]] * 9, retries=1)
    assert found.reply == stub_judge.KINDS["prose"].text
    assert found.reason.startswith("no verdict: ") and "; asked again: request failed: status 500" in found.reason


def test_an_error_never_turns_the_schema_off(ask, stub_judge, sample, judge_server):
    """One way of asking a run: a spurious 400 costs one judgement, not the way of all that follow."""
    found = ask(stub_judge.Answer(400, "too long"), name="a", protocol=sample.BY_SCHEMA)
    assert found.reason.startswith("request failed: status 400")
    assert ask(name="b", protocol=sample.BY_SCHEMA).status == "judged"
    assert ["response_format" in request for request in judge_server.requests] == [True, True]


@pytest.mark.parametrize(("name", "wanted"), [("PROTOCOL", "schema"), ("BY_SCHEMA", "free")])
def test_the_user_says_how_it_is_asked(ask, sample, judge_server, name, wanted):
    assert ask(protocol=getattr(sample, name), reply=wanted).status == "judged"
    (request,) = judge_server.requests
    assert ("response_format" in request) == (wanted == "schema")
    assert ('"reasons"' in request["messages"][0]["content"]) == (wanted == "schema")


@pytest.mark.parametrize("status", [302, 401, 402, 403, 404, 405, 410, 415, 451])
def test_a_judge_that_is_gone_is_asked_no_more(ask, stub_judge, judge_server, status):
    first = ask(stub_judge.Answer(status), name="a")
    assert first.reason.endswith("(the judge was asked no more)")
    assert ask(name="b").reason == first.reason == ask.asker().stop_reason
    assert len(judge_server.requests) == 1


def test_a_wait_beyond_reason(ask, stub_judge, judge_server):
    longest = default_settings()["longest_wait"]
    found = ask(stub_judge.Answer(429, "come back tomorrow", after=str(longest + 1)))
    assert f"it asks to wait {longest + 1:.0f} s" in found.reason
    assert len(judge_server.requests) == 1


@pytest.mark.parametrize(("retries", "enough"), [(0, 20), (1, 10), (5, 4), (30, 4)])
def test_a_dead_endpoint_is_noticed(ask, stub_judge, judge_server, retries, enough):
    """After twenty requests without a reply, of at least four judgements with all their attempts."""
    dead = [stub_judge.KINDS["500"]] * 200
    found = [ask(*dead, name=str(number), retries=retries, concurrency=3) for number in range(enough + 2)]
    reasons = [each.reason.partition(":")[0] for each in found]
    assert reasons == ["request failed"] * enough + ["stopped"] * 2
    assert len(judge_server.requests) == enough * (retries + 1)


def test_more_are_lost_before_a_judge_that_did_judge_is_given_up(ask, stub_judge):
    """As many as are in flight: an overloaded server loses several at one time."""
    assert ask(name="first", retries=5, concurrency=7).status == "judged"
    dead = [stub_judge.KINDS["500"]] * 200
    found = [ask(*dead, name=str(number)) for number in range(8)]
    assert [each.reason.partition(":")[0] for each in found] == ["request failed"] * 7 + ["stopped"]


def test_one_success_starts_the_count_again(ask, stub_judge):
    dead = [stub_judge.KINDS["500"]] * 2
    for number in range(4):
        assert ask(*dead, name=f"a{number}", retries=1, concurrency=2).status == "missing"
        assert ask(name=f"b{number}").status == "judged"
    assert ask.asker().stop_reason == ""


def test_ceilings(ask, judge_server):
    assert ask(name="a", max_requests=1).status == "judged"
    found = ask(name="b")
    assert found.reason == "ceiling on requests: MEDTASKS_JUDGE_MAX_REQUESTS allows 1 here"
    assert len(judge_server.requests) == 1


def test_a_judge_that_repeats_our_key(ask, stub_judge, key):
    """Neither words nor reasons keep it, also where a reason shows a part of a reply only."""
    found = ask(stub_judge.Answer(text=f'Your key: {key}\n{{"correctness": 4}}'))
    assert (found.labels, found.reply) == ({"correctness": "4"}, 'Your key: ***\n{"correctness": 4}')
    said = stub_judge.Answer(text="-" * 100 + key)  # a reason shows 117 characters
    found = ask(said, said)
    assert found.status == "missing"
    assert key[:12] not in found.reason + found.reply


@pytest.mark.parametrize("key", ["4", '"', "correctness", "EMPTY"])
def test_a_key_that_stands_in_every_verdict_spoils_none(ask, stub_judge, key):
    found = ask(stub_judge.Answer(text='{"correctness": 4}'), key=key)
    assert found.labels == {"correctness": "4"} and found.reply == '{"correctness": 4}'


@pytest.fixture
def judged(judge_server, settings_for, sample):
    """Call as judged(number): so many answers judged by schema; the verdicts, the counts, what was said."""

    def call(number=5, protocol=sample.BY_SCHEMA, **values):
        said = []
        wanted = [
            (sample.item({"id": f"q{n}", "question": f"{n}?", "answer": "effusion"}, "an effusion"), 0)
            for n in range(number)
        ]
        with JudgeSession(settings_for(judge_server, **values), [protocol]) as judge:
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
    quick = {**settings.default_settings(), "told_wait": 0.2, "longest_wait": 1.0}
    for module in ("asking", "question_pool", "transport"):
        monkeypatch.setattr(f"lmms_medtasks.judges.{module}.default_settings", lambda: quick)
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
    with JudgeSession(settings_for(judge_server), [sample.BY_SCHEMA, sample.PROTOCOL]) as judge:
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
    with JudgeSession(settings_for(judge_server), [sample.PROTOCOL, sample.BY_SCHEMA]) as judge:
        judge.judge(sample.PROTOCOL, wanted, say=lambda text: None)
        assert judge.other_model and len(judge_server.requests) == 2
        verdicts, counts = judge.judge(sample.BY_SCHEMA, wanted, say=lambda text: None)
    assert judge_server.probes == [] and counts.spent.requests == 0
    assert all(each.reason.startswith("another model") for each in verdicts.values())
