"""What ends a judging early, and that everything paid for is kept: failures, ceilings, Ctrl-C, a kill, a full disk."""

import os
import signal
import time

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.judges import cache, settings
from lmms_medtasks.judges.judging import JudgeSession
from lmms_medtasks.judges.protocol import judgement_key


@pytest.mark.parametrize("retries", [0, 12])
def test_a_judge_that_fails_often(judge_all, judge_server, sample, retries):
    judge_server.fail = 0.3
    asked = sample.asked(100)
    found, counts, _ = judge_all(asked, retries=retries)
    missing = [verdict for verdict in found.values() if verdict.status == "missing"]
    if retries:
        assert len(missing) <= 8  # two unreadable replies in a row: 0.06 squared, a few in a thousand
    else:
        assert 10 <= len(missing) <= 45
    assert counts.missing == len(missing) == sum(counts.reasons.values())
    assert all(verdict.reason for verdict in missing)
    judge_server.fail = 0
    judge_server.reset()
    repaired, counts, _ = judge_all(asked)
    assert counts.missing == 0
    assert len(judge_server.requests) == len(missing)
    assert {key: each for key, each in found.items() if each.status == "judged"}.items() <= repaired.items()


def test_ceiling_on_requests(judge_all, judge_server, items):
    _, counts, said = judge_all(items, max_requests=4)
    assert len(judge_server.requests) == 4
    assert (counts.judged, counts.missing) == (4, 6)
    assert counts.reasons == {"ceiling on requests: MEDTASKS_JUDGE_MAX_REQUESTS allows 4 here": 6}
    assert said[0].endswith(", at most 4 requests.")
    assert "\n  missing 6: ceiling on requests" in counts.sentence()


def test_ceiling_on_cost(judge_all, judge_server, items):
    _, counts, said = judge_all(items, price="1000,1000", max_cost=2.5, max_tokens=100)
    assert 0 < counts.judged < 10
    assert counts.spent.cost <= 2.5
    assert counts.spent.cost == pytest.approx((counts.spent.input_tokens + counts.spent.output_tokens) / 1000)
    assert "at most 2.5 USD" in said[0] and " USD)" in said[0]
    assert set(counts.reasons) == {"ceiling on cost: MEDTASKS_JUDGE_MAX_COST allows 2.5 USD here"}


@pytest.mark.parametrize("kind", ["prose", "out_of_range", "refusal"])
def test_a_judge_without_a_valid_verdict_is_asked_twenty_times(judge_all, judge_server, stub_judge, sample, kind):
    """It is told what came back, what it has cost, and how to go on; two requests for each judgement."""
    judge_server.rule = lambda request: stub_judge.KINDS[kind]
    found, counts, said = judge_all(sample.asked(60), price="1,1")
    assert 40 <= len(judge_server.requests) <= 40 + 2 * 3  # 4 in flight while none was valid
    assert counts.missing == 60
    (reason,) = [each for each in counts.reasons if each.startswith("stopped")]
    assert reason.startswith("stopped: 20 judgements in a row without a valid verdict") and counts.reasons[reason] >= 36
    told = said[-1]
    assert f"{counts.spent}" in told and " USD" in told and "--keep-going" in told
    assert stub_judge.KINDS[kind].text[:40] in told and "20 × " in told


def test_nothing_of_a_reply_is_told_under_terms(judge_server, settings_for, sample, stub_judge):
    judge_server.rule = lambda request: stub_judge.Answer(text="a secret mass")
    said = []
    with JudgeSession(settings_for(judge_server, "local:m"), [sample.PRIVATE]) as judge:
        _, counts = judge.judge(sample.PRIVATE, sample.asked(30), say=said.append)
    assert "20 × no verdict" in said[-1] and "secret" not in "".join(said) + "".join(counts.reasons)


def test_keep_going(judge_all, judge_server, stub_judge, sample):
    judge_server.rule = lambda request: stub_judge.KINDS["prose"]
    _, counts, said = judge_all(sample.asked(30), keep_going=1)
    assert len(judge_server.requests) == 60 and counts.reasons == {"no verdict": 30} and len(said) == 1


def test_a_valid_verdict_starts_the_count_again(judge_all, judge_server, stub_judge, sample):
    """One text of ten is judged: the judge is poor, not hopeless."""
    judge_server.rule = lambda request: None if "5?" in str(request) else stub_judge.KINDS["prose"]
    _, counts, _ = judge_all(sample.asked(60), concurrency=1)
    assert counts.judged == 6 and counts.missing == 54


def test_texts_that_are_refused_end_nothing(judge_all, judge_server, stub_judge, sample):
    """A 400 for one text in three (too long, say), and a gateway's 403: all others are judged."""
    statuses = {"0": 400, "3": 413, "6": 403, "9": 422}

    def rule(request):
        number = str(request["messages"]).split("seen in ")[1].split("?")[0]
        status = statuses.get(number[-1]) if len(number) > 1 else None
        return stub_judge.Answer(status, "this text") if status else None

    judge_server.rule = rule
    _, counts, _ = judge_all(sample.asked(60), concurrency=2)
    assert (counts.judged, counts.missing) == (40, 20)


def test_after_a_verdict_that_cannot_be_kept_nothing_is_asked(judge_all, judge_server, items, monkeypatch):
    """Those in flight still count; of none is it said that it is kept."""

    def full(self, *args):
        raise UserError("database or disk is full.")

    monkeypatch.setattr(cache.VerdictCache, "keep", full)
    found, counts, said = judge_all(items, concurrency=2)
    asked = len(judge_server.requests)
    assert 1 <= asked <= 3
    assert (counts.judged, counts.unkept, counts.missing) == (asked, asked, 10 - asked)
    assert counts.reasons == {"not kept: database or disk is full. (the judge was asked no more)": 10 - asked}
    assert f"{asked} verdicts could not be kept" in said[-1] and "is kept" not in said[-1]


def test_a_claim_that_cannot_be_written_costs_no_request(judge_all, judge_server, items, monkeypatch):
    def full(self, key):
        raise UserError("database or disk is full.")

    monkeypatch.setattr(cache.VerdictCache, "claim", full)
    _, counts, _ = judge_all(items)
    assert judge_server.requests == [] and counts.missing == 10


def test_a_cache_that_fails_after_the_model_ran_costs_no_run(judge_all, judge_server, items, monkeypatch):
    def broken(self, keys):
        if list(keys) != [""]:  # what the cache asks itself at its start
            raise UserError("Can't use the verdicts: disk I/O error")
        return {}

    monkeypatch.setattr(cache.VerdictCache, "find_verdicts", broken)
    _, counts, _ = judge_all(items)
    assert (counts.exact, counts.missing) == (10, 10)
    assert counts.reasons == {"no cache: Can't use the verdicts: disk I/O error": 10}
    assert judge_server.requests == []  # it may hold what would be asked again


def test_what_nobody_foresaw_is_counted_and_costs_no_run(judge_all, items, monkeypatch):
    from lmms_medtasks.judges import asking

    def broken(*args, **kwargs):
        raise ZeroDivisionError("sk-test-0123456789abcdef")

    monkeypatch.setattr(asking.verdicts, "parse_verdict", broken)
    found, counts, _ = judge_all(items)
    assert counts.reasons == {"unforeseen": 10}
    assert {each.reason for each in found.values() if each.status == "missing"} == {
        "unforeseen: ZeroDivisionError: ***"
    }


def interrupt():
    """Ctrl-C."""
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_ends_it_and_keeps_what_is_paid_for(judge_server, settings_for, protocol, sample, stub_judge):
    """Requests in flight are waited for, others that wait for the endpoint are not; all that was answered is kept."""
    asked = sample.asked(40)

    def rule(request):
        number = len(judge_server.requests)
        if number == 9:
            interrupt()
            time.sleep(1.5)  # it is noticed within a second
        return stub_judge.Answer(429, "busy", after="600") if number > 9 else None

    judge_server.rule, said = rule, []
    with JudgeSession(settings_for(judge_server, concurrency=4), [protocol]) as judge:
        begun = time.monotonic()
        found, counts = judge.judge(protocol, asked, say=said.append)
        assert judge.interrupted and time.monotonic() - begun < 20
        answered = sum(judge_server.answered.values())
        assert counts.judged == answered == 9
        assert set(counts.reasons) == {"stopped: the run was interrupted"} and len(found) == 40
        assert any("in flight are waited for" in line for line in said)
    with JudgeSession(settings_for(judge_server), [protocol]) as again:
        requests = {judgement_key(protocol, *each): each for each in asked}
        assert len(again._find_cached(again._pool, protocol, requests)[0]) == answered


def test_after_ctrl_c_replies_that_held_no_verdict_are_there_with_their_text(
    judge_server, settings_for, protocol, asked, stub_judge
):
    def rule(request):
        if len(judge_server.requests) == 3:
            interrupt()
            time.sleep(1.5)
        return stub_judge.KINDS["prose"]

    judge_server.rule = rule
    with JudgeSession(settings_for(judge_server, concurrency=1), [protocol]) as judge:
        found, _ = judge.judge(protocol, asked, say=lambda text: None)
    assert [each.reply for each in found.values() if each.reply] == [stub_judge.KINDS["prose"].text] * 2


def test_a_second_ctrl_c_ends_it_at_once(judge_server, settings_for, protocol, asked, stub_judge, monkeypatch):
    import threading

    seconds = []

    def rule(request):
        time.sleep(0.5)  # until the judge waits for replies
        interrupt()
        seconds.append(threading.Timer(1.5, interrupt))  # the first is noticed within a second
        seconds[-1].start()
        return stub_judge.Answer(sleep=8.0)

    judge_server.rule = rule
    with JudgeSession(settings_for(judge_server, concurrency=1), [protocol]) as judge:
        begun = time.monotonic()
        try:
            with pytest.raises(KeyboardInterrupt):
                judge.judge(protocol, asked, say=lambda text: None)
        finally:
            for each in seconds:
                each.cancel()  # one that comes later would end the whole run of the tests
        assert time.monotonic() - begun < 7


KILLED = """
cache.CLAIM_SECONDS = 1.0
with JudgeSession(settings.read_judge_settings(), [PROTOCOL]) as judge:
    found, counts = judge.judge(PROTOCOL, asked(200), say=print)
print(counts.sentence())
"""


def test_kill_9_and_again(judge_server, command):
    """What was answered before the kill is not asked again; only what was in flight may be."""
    judge_server.latency = 0.02
    process = command(KILLED)
    deadline = time.monotonic() + 60
    while sum(judge_server.answered.values()) < 60 and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    time.sleep(0.1)  # what is in flight
    answered = sum(judge_server.answered.values())
    assert 60 <= answered < 200
    said = command(KILLED).communicate(timeout=60)[0]
    assert "0 still to judge" in said
    again = sum(judge_server.answered.values()) - 200
    assert len(judge_server.answered) == 200
    assert 0 <= again <= 4  # those that were on their way back when it was killed
    known = int(said.split(" judged before")[0].split()[-1])
    assert known == answered - again


def test_a_wrong_key(judge_all, judge_server, items, key):
    judge_server.key = "another"
    _, counts, said = judge_all(items, concurrency=1)
    assert len(judge_server.requests) == 1
    (reason,) = counts.reasons
    assert "status 401" in reason and key not in reason + "".join(said)


def test_a_wrong_url(judge_all, judge_server, items):
    judge_server.url = judge_server.url.replace("/v1", "/v2")
    _, counts, _ = judge_all(items, concurrency=1)
    (reason,) = counts.reasons
    assert "status 404" in reason and counts.missing == 10


def test_a_verdict_that_is_kept_counts_as_kept_though_its_claim_cannot_be_ended(
    judge_all, judge_server, asked, monkeypatch
):
    """The disk got full between the two: asking ends, and what is said of the verdict stays true."""

    def release(self, key):
        raise UserError("disk full")

    with monkeypatch.context() as full:
        full.setattr(cache.VerdictCache, "release", release)
        _, counts, said = judge_all(asked, concurrency=1)
    assert (counts.judged, counts.unkept, counts.missing) == (1, 0, 9)
    assert "disk full" in said[-1] and "What is judged is kept" in said[-1]
    judge_server.reset()
    assert judge_all(asked, concurrency=1)[1].cached == 1


def test_what_ends_the_asking_ends_its_waiting_too(judge_all, judge_server, asked, stub_judge):
    """One request is told to wait for ten minutes, another that the money is used up: nobody waits for the former."""
    seen = []

    def rule(request):
        seen.append(1)
        if len(seen) == 2:
            return stub_judge.Answer(429, "busy", after="600")
        return stub_judge.Answer(402, "no money", sleep=1.0) if len(seen) == 3 else None

    judge_server.rule = rule
    begun = time.monotonic()
    _, counts, said = judge_all(asked, concurrency=2)
    assert time.monotonic() - begun < 20
    assert counts.judged == 1 and counts.missing == 9
    assert all("no money" in reason for reason in counts.reasons) and "no money" in said[-1]


FULL = """
import resource, signal
with JudgeSession(settings.read_judge_settings(), [PROTOCOL]) as judge:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (120_000, 120_000))  # no file may grow beyond it
    found, counts = judge.judge(PROTOCOL, asked(300), say=print)
print(counts.judged, counts.unkept, counts.missing, counts.spent.requests)
"""


def test_a_disk_that_is_full_midway(command, protocol, sample):
    """A file that can grow no more: what is said to be kept is kept, and hardly anything is asked after that."""
    said = command(FULL).communicate(timeout=60)[0]
    judged, unkept, missing, requests = map(int, said.splitlines()[-1].split())
    assert judged + missing == 300 and missing > 200 and requests == judged >= 4
    assert unkept <= 4
    assert "not kept: " in said or "no cache: " in said
    assert ("What is judged is kept" in said) == (unkept == 0)
    requested = {judgement_key(protocol, *each): each for each in sample.asked(300)}
    with JudgeSession(settings.read_judge_settings(command.environment), [protocol]) as again:
        kept, _ = again._find_cached(again._pool, protocol, requested)
    assert len(kept) == judged - unkept
