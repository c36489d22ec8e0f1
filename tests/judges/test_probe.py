"""Whether a server replies by schema is found out before the first question, and never changes in the middle."""

import pytest

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
