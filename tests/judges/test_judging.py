"""Many judgements: what is asked, what is not, and what is told of it."""

import dataclasses
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.judges import cache, settings
from lmms_medtasks.judges.handed_verdicts import key_of
from lmms_medtasks.judges.judging import NO_JUDGE, Judge
from lmms_medtasks.judges.protocol import Verdict


def documents(count):
    return [{"id": f"q{n}", "question": f"What is seen in {n}?", "answer": "effusion"} for n in range(count)]


@pytest.fixture
def items(sample):
    """Twenty items: a quarter exact, a quarter empty, the others to be judged."""
    answers = ["Effusion", "", "an effusion, left", "nothing"]
    return [(sample.item(each, answers[n % 4]), 0) for n, each in enumerate(documents(20))]


@pytest.fixture
def judge_all(judge_server, settings_for, protocol):
    """Call as judge_all(items, **settings): the verdicts, the counts, what was said."""

    def call(items, judge="openai:stub-judge", **values):
        said = []
        with Judge(settings_for(judge_server, judge, **values), [protocol]) as judge:
            return *judge.judge(protocol, items, say=said.append), said

    return call


def test_all_kinds(judge_all, judge_server, protocol, items):
    found, counts, said = judge_all(items)
    assert (counts.exact, counts.cached, counts.judged, counts.missing) == (10, 0, 10, 0)
    assert len(judge_server.requests) == counts.spent.requests == 10
    verdicts = [found[key_of(protocol, *each)] for each in items]
    assert [verdict.labels["correctness"] for verdict in verdicts] == ["5", "1", "5", "1"] * 5
    assert [verdict.status for verdict in verdicts] == ["exact", "exact", "judged", "judged"] * 5
    assert [verdict.reason for verdict in verdicts[:3]] == ["exact match", "empty answer", ""]
    (line,) = said
    start, end = line.split(" (about ")
    assert start == (
        f"Judging judge_sample:PROTOCOL with openai:stub-judge at {judge_server.url}: 20 judgements, 10 settled by "
        "rule, 0 known from before, 10 to ask"
    )
    assert end.endswith(" tokens), 16 at a time.")
    assert abs(int(end.split()[0]) - counts.spent.input_tokens) <= 10  # the stub counts as we estimate


def test_the_second_run_asks_nothing(judge_all, judge_server, items):
    first, _, _ = judge_all(items)
    judge_server.reset()
    second, counts, said = judge_all(items)
    assert second == first
    assert (counts.cached, counts.judged, counts.spent.requests) == (10, 0, 0)
    assert judge_server.requests == []
    assert said[0].endswith("10 known from before, 0 to ask.")


def test_another_judge_is_asked_anew(judge_all, judge_server, items):
    judge_all(items)
    judge_server.reset()
    assert judge_all(items, judge="openai:other")[1].judged == 10
    assert judge_all(items, temperature=0.5)[1].judged == 10
    assert len(judge_server.requests) == 20


@pytest.fixture
def asked(sample):
    """Ten items for a judge."""
    return [(sample.item(each, "an effusion"), 0) for each in documents(10)]


def models_of(found):
    return {verdict.model for verdict in found.values() if verdict.status == "judged"}


def test_two_ports_and_two_paths_share_no_verdict(protocol, asked, judge_server, other_server):
    first = judge_server.url
    for url in (first, other_server.url, first.replace("/v1", "/team/v1")):
        with Judge(settings.read({"LLM_JUDGE_URL": url}, "local:m"), [protocol]) as judge:
            assert judge.judge(protocol, asked, say=lambda text: None)[1].judged == 10
    assert (len(judge_server.requests), len(other_server.requests)) == (20, 10)


@pytest.mark.parametrize(("first", "second"), [("m-1", "m-2"), ("m-1", None), (None, "m-1")])
def test_another_model_midway_ends_the_judging(judge_all, judge_server, asked, first, second):
    """What is judged until then is kept, and the next run puts none of it beside the other model's verdicts."""
    judge_server.answers_as = lambda request: first if len(judge_server.requests) <= 4 else second
    found, counts, _ = judge_all(asked, concurrency=1)
    assert (counts.judged, counts.missing, models_of(found)) == (4, 6, {first or ""})
    assert len(judge_server.requests) == 5
    (reason,) = counts.reasons
    assert reason.startswith("another model: openai:stub-judge is answer")
    judge_server.reset()
    judge_server.answers_as = lambda request: second
    found, counts, said = judge_all(asked, concurrency=1)
    assert (counts.cached, counts.judged, counts.missing, models_of(found)) == (0, 10, 0, {second or ""})
    assert len(judge_server.requests) == 10 and len(said) == 2
    judge_server.reset()
    assert judge_all(asked)[1].cached == 10 and judge_server.requests == []


def test_a_model_that_goes_on_is_not_asked_twice(judge_all, judge_server, asked):
    """The first question tells that the kept verdicts are of the model that answers today."""
    judge_server.answers_as = lambda request: "m-1"
    judge_all(asked[:4])
    judge_server.reset()
    found, counts, _ = judge_all(asked)
    assert (counts.cached, counts.judged, len(judge_server.requests), models_of(found)) == (4, 6, 6, {"m-1"})


def test_all_tasks_of_a_run_are_judged_by_one_model(judge_server, settings_for, protocol, asked):
    with Judge(settings_for(judge_server), [protocol]) as judge:
        judge.judge(protocol, asked[:5], say=lambda text: None)
        judge_server.answers_as = lambda request: "moved"
        found, counts = judge.judge(protocol, asked[5:], say=lambda text: None)
        assert (counts.judged, counts.missing) == (0, 5)
        assert "answered by moved" in judge.other_model and "answered by stub-judge" in judge.other_model


@pytest.mark.parametrize("said", [None, "", 7, ["m"]])
def test_a_server_that_names_no_model(judge_all, judge_server, asked, said):
    """Not named is a value of its own, which is never the model asked for."""
    judge_server.answers_as = lambda request: said
    assert models_of(judge_all(asked)[0]) == {""}


def test_a_models_name_is_short_and_without_our_key(judge_all, judge_server, asked, key):
    judge_server.answers_as = lambda request: f"m {key}\n\x1b[31m" + "x" * 1000
    (name,) = models_of(judge_all(asked)[0])
    assert name.startswith("m [key] [31mxx") and len(name) == 200


def test_the_same_item_is_asked_once(judge_all, judge_server, sample, items):
    item = sample.item(documents(1)[0], "an effusion")
    found, counts, _ = judge_all([(item, 0)] * 7 + [(dataclasses.replace(item, id="other"), 0)])
    assert (len(found), counts.judged, counts.same, len(judge_server.requests)) == (1, 1, 7, 1)


def test_trials_are_judgements_of_their_own(judge_all, judge_server, sample):
    item = sample.item(documents(1)[0], "an effusion")
    found, counts, _ = judge_all([(item, trial) for trial in range(3)])
    assert (len(found), counts.judged, len(judge_server.requests)) == (3, 3, 3)


@pytest.mark.parametrize("temperature", [0, 0.7])
def test_it_is_said_where_trials_are_asked_once(judge_server, settings_for, protocol, items, temperature):
    thrice, said = dataclasses.replace(protocol, trials=3), []
    with Judge(settings_for(judge_server, temperature=temperature), [thrice]) as judge:
        judge.judge(thrice, items, say=said.append)
    assert ("its 3 judgements would be the same request" in said[0]) == (temperature == 0)


def test_as_many_at_once_as_allowed(judge_all, judge_server, sample):
    judge_server.latency = 0.05
    asked = [(sample.item(each, "an effusion"), 0) for each in documents(24)]
    judge_all(asked, concurrency=6)
    assert judge_server.most == 6


@pytest.mark.parametrize("retries", [0, 12])
def test_a_judge_that_fails_often(judge_all, judge_server, sample, retries):
    judge_server.fail = 0.3
    asked = [(sample.item(each, "an effusion"), 0) for each in documents(100)]
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
    asked = [(sample.item(each, "an effusion"), 0) for each in documents(60)]
    found, counts, said = judge_all(asked, price="1,1")
    assert 40 <= len(judge_server.requests) <= 40 + 2 * 3  # 4 in flight while none was valid
    assert counts.missing == 60
    (reason,) = [each for each in counts.reasons if each.startswith("stopped")]
    assert reason.startswith("stopped: 20 judgements in a row without a valid verdict") and counts.reasons[reason] >= 36
    told = said[-1]
    assert f"{counts.spent}" in told and " USD" in told and "--keep-going" in told
    assert stub_judge.KINDS[kind].text[:40] in told and "20 × " in told


def test_nothing_of_a_reply_is_told_under_terms(judge_server, settings_for, sample, stub_judge):
    judge_server.rule = lambda request: stub_judge.Answer(text="a secret mass")
    asked = [(sample.item(each, "an effusion"), 0) for each in documents(30)]
    said = []
    with Judge(settings_for(judge_server, "local:m"), [sample.PRIVATE]) as judge:
        _, counts = judge.judge(sample.PRIVATE, asked, say=said.append)
    assert "20 × no verdict" in said[-1] and "secret" not in "".join(said) + "".join(counts.reasons)


def test_keep_going(judge_all, judge_server, stub_judge, sample):
    judge_server.rule = lambda request: stub_judge.KINDS["prose"]
    asked = [(sample.item(each, "an effusion"), 0) for each in documents(30)]
    _, counts, said = judge_all(asked, keep_going=1)
    assert len(judge_server.requests) == 60 and counts.reasons == {"no verdict": 30} and len(said) == 1


def test_a_valid_verdict_starts_the_count_again(judge_all, judge_server, stub_judge, sample):
    """One text of ten is judged: the judge is poor, not hopeless."""
    judge_server.rule = lambda request: None if "5?" in str(request) else stub_judge.KINDS["prose"]
    asked = [(sample.item(each, "an effusion"), 0) for each in documents(60)]
    _, counts, _ = judge_all(asked, concurrency=1)
    assert counts.judged == 6 and counts.missing == 54


def test_texts_that_are_refused_end_nothing(judge_all, judge_server, stub_judge, sample):
    """A 400 for one text in three (too long, say), and a gateway's 403: all others are judged."""
    statuses = {"0": 400, "3": 413, "6": 403, "9": 422}

    def rule(request):
        number = str(request["messages"]).split("seen in ")[1].split("?")[0]
        status = statuses.get(number[-1]) if len(number) > 1 else None
        return stub_judge.Answer(status, "this text") if status else None

    judge_server.rule = rule
    asked = [(sample.item(each, "an effusion"), 0) for each in documents(60)]
    _, counts, _ = judge_all(asked, concurrency=2)
    assert (counts.judged, counts.missing) == (40, 20)


def test_no_judge(judge_all, judge_server, items):
    found, counts, said = judge_all(items, judge="none")
    assert (counts.exact, counts.judged, counts.missing) == (10, 0, 10)
    assert counts.reasons == {NO_JUDGE: 10}
    assert "lmms-medtasks judge RUN" in NO_JUDGE
    assert judge_server.requests == [] and said == []
    assert not cache.path().exists()


def test_lexical(judge_all, judge_server, items):
    found, counts, _ = judge_all(items, judge="lexical")
    assert (counts.exact, counts.judged, counts.missing) == (10, 10, 0)
    assert {each.reason for each in found.values() if each.status == "judged"} == {"lexical: not a language model"}
    assert judge_server.requests == []


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

    monkeypatch.setattr(cache.VerdictCache, "find", broken)
    _, counts, _ = judge_all(items)
    assert (counts.exact, counts.missing) == (10, 10)
    assert counts.reasons == {"no cache: Can't use the verdicts: disk I/O error": 10}
    assert judge_server.requests == []  # it may hold what would be asked again


def test_what_nobody_foresaw_is_counted_and_costs_no_run(judge_all, items, monkeypatch):
    from lmms_medtasks.judges import asking

    def broken(*args, **kwargs):
        raise ZeroDivisionError("sk-test-0123456789abcdef")

    monkeypatch.setattr(asking.verdicts, "read", broken)
    found, counts, _ = judge_all(items)
    assert counts.reasons == {"unforeseen": 10}
    assert {each.reason for each in found.values() if each.status == "missing"} == {
        "unforeseen: ZeroDivisionError: [key]"
    }


def test_a_rule_off_the_scale(judge_all, protocol, judge_server, settings_for, items):
    for labels in ({"correctness": "6"}, {}, {"correctness": "5", "style": "5"}):
        wrong = dataclasses.replace(protocol, settle=lambda item, labels=labels: (labels, "my rule"))
        with Judge(settings_for(judge_server), [wrong]) as judge, pytest.raises(UserError, match="its rule 'my rule'"):
            judge.judge(wrong, items, say=print)


def interrupt():
    """Ctrl-C."""
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_ends_it_and_keeps_what_is_paid_for(judge_server, settings_for, protocol, sample, stub_judge):
    """Requests in flight are waited for, others that wait for the endpoint are not; all that was answered is kept."""
    asked = [(sample.item(each, "an effusion"), 0) for each in documents(40)]

    def rule(request):
        number = len(judge_server.requests)
        if number == 9:
            interrupt()
            time.sleep(1.5)  # it is noticed within a second
        return stub_judge.Answer(429, "busy", after="600") if number > 9 else None

    judge_server.rule, said = rule, []
    with Judge(settings_for(judge_server, concurrency=4), [protocol]) as judge:
        begun = time.monotonic()
        found, counts = judge.judge(protocol, asked, say=said.append)
        assert judge.interrupted and time.monotonic() - begun < 20
        answered = sum(judge_server.answered.values())
        assert counts.judged == answered == 9
        assert set(counts.reasons) == {"stopped: the run was interrupted"} and len(found) == 40
        assert any("in flight are waited for" in line for line in said)
    with Judge(settings_for(judge_server), [protocol]) as again:
        assert len(again._known(protocol, {key_of(protocol, *each): each for each in asked})[0]) == answered


def test_after_ctrl_c_replies_that_held_no_verdict_are_there_with_their_text(
    judge_server, settings_for, protocol, asked, stub_judge
):
    def rule(request):
        if len(judge_server.requests) == 3:
            interrupt()
            time.sleep(1.5)
        return stub_judge.KINDS["prose"]

    judge_server.rule = rule
    with Judge(settings_for(judge_server, concurrency=1), [protocol]) as judge:
        found, _ = judge.judge(protocol, asked, say=lambda text: None)
    assert [each.reply for each in found.values() if each.reply] == [stub_judge.KINDS["prose"].text] * 2


def test_a_second_ctrl_c_ends_it_at_once(judge_server, settings_for, protocol, asked, stub_judge, monkeypatch):
    import threading

    def rule(request):
        interrupt()
        threading.Timer(1.5, interrupt).start()  # the first is noticed within a second
        return stub_judge.Answer(sleep=8.0)

    judge_server.rule = rule
    with Judge(settings_for(judge_server, concurrency=1), [protocol]) as judge:
        begun = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            judge.judge(protocol, asked, say=lambda text: None)
        assert time.monotonic() - begun < 7


KILLED = """
import sys
sys.path.insert(0, sys.argv[1])
import judge_sample
from lmms_medtasks.judges import cache, settings
from lmms_medtasks.judges.judging import Judge
cache.CLAIM_SECONDS = 1.0
asked = [(judge_sample.item({"id": str(n), "question": f"What is {n}?", "answer": "effusion"}, "an effusion"), 0)
         for n in range(200)]
with Judge(settings.read(), [judge_sample.PROTOCOL]) as judge:
    found, counts = judge.judge(judge_sample.PROTOCOL, asked, say=print)
print(counts.sentence())
"""


def test_kill_9_and_again(judge_server, key):
    """What was answered before the kill is not asked again; only what was in flight may be."""
    judge_server.latency = 0.02
    chosen = {"MEDTASKS_JUDGE": "openai:m", "MEDTASKS_JUDGE_CONCURRENCY": "4"}
    environment = {**os.environ, **chosen, "OPENAI_API_KEY": key, "OPENAI_API_URL": judge_server.url}
    command = [sys.executable, "-c", KILLED, str(Path(__file__).parent)]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while sum(judge_server.answered.values()) < 60 and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    time.sleep(0.1)  # what is in flight
    answered = sum(judge_server.answered.values())
    assert 60 <= answered < 200
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=60)
    assert "0 missing" in done.stdout
    again = sum(judge_server.answered.values()) - 200
    assert len(judge_server.answered) == 200
    assert 0 <= again <= 4  # those that were on their way back when it was killed
    known = int(done.stdout.split(" known from before")[0].split()[-1])
    assert known == answered - again


def test_missing_verdicts_have_no_labels(judge_all, judge_server, stub_judge, items):
    judge_server.rule = lambda request: stub_judge.KINDS["out_of_range"]
    found, counts, _ = judge_all(items)
    missing = [each for each in found.values() if each.status == "missing"]
    assert len(missing) == 10 and all(each.labels == {} for each in missing)
    assert {each.reply for each in missing} == {'{"correctness": 7}'}
    assert counts.reasons == {"label not allowed": 10}
    assert found[next(iter(found))] == Verdict("exact", {"correctness": "5"}, "exact match")


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


def test_the_sentence_is_no_list_without_end():
    from lmms_medtasks.judges.judging import Counts

    counts = Counts(missing=12, reasons={f"request failed: {number}": 1 for number in range(12)})
    lines = counts.sentence().splitlines()
    assert len(lines) == 8
    assert lines[-1] == "  missing 6: 6 other reasons, see the sample log"


CLAIMS = """
import sys, time
sys.path.insert(0, sys.argv[1])
import judge_sample
from lmms_medtasks.judges import settings
from lmms_medtasks.judges.judging import Judge
asked = [(judge_sample.item({"id": str(n), "question": f"What is {n}?", "answer": "effusion"}, "an effusion"), 0)
         for n in range(60)]
with Judge(settings.read(), [judge_sample.PROTOCOL]) as judge:
    print("ready", flush=True)
    sys.stdin.readline()
    found, counts = judge.judge(judge_sample.PROTOCOL, asked, say=lambda text: None)
print(counts.cached, counts.judged, counts.missing, counts.spent.requests)
"""


def test_two_commands_at_one_time_ask_each_question_once(judge_server, key):
    judge_server.latency = 0.03
    chosen = {"MEDTASKS_JUDGE": "openai:m", "MEDTASKS_JUDGE_CONCURRENCY": "4"}
    environment = {**os.environ, **chosen, "OPENAI_API_KEY": key, "OPENAI_API_URL": judge_server.url}
    command = [sys.executable, "-c", CLAIMS, str(Path(__file__).parent)]
    started = [subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
               for _ in range(2)]  # fmt: skip
    assert [each.stdout.readline() for each in started] == ["ready\n"] * 2
    for each in started:
        each.stdin.write("go\n")
        each.stdin.flush()
    counts = [tuple(map(int, each.communicate(timeout=60)[0].split())) for each in started]
    assert len(judge_server.requests) == sum(requests for *_, requests in counts) == 60
    for cached, judged, missing, requests in counts:
        assert (cached + judged, missing) == (60, 0) and judged == requests > 0


def test_a_question_that_another_command_gave_up_is_asked(judge_all, judge_server, protocol, asked, monkeypatch):
    """A claim ends with its process: at once where it is closed, after a while where it was killed."""
    monkeypatch.setattr(cache, "CLAIM_SECONDS", 1.5)
    chosen = settings.read({"OPENAI_API_KEY": "k", "OPENAI_API_URL": judge_server.url}, "openai:stub-judge")
    name = cache.key_of(chosen, protocol, *asked[0])
    other = cache.VerdictCache(cache.path())
    assert other.claim(name)
    other._closed.set()  # killed: it renews nothing and ends nothing
    begun = time.monotonic()
    _, counts, _ = judge_all(asked)
    assert counts.judged == 10 and 1.0 < time.monotonic() - begun < 10
    other._closed.clear()
    other.close()


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


def test_how_far_it_is_is_told_without_a_terminal(judge_all, judge_server, asked, monkeypatch, stub_judge):
    """Done, missing, rate, what it has cost, time left; at most one line in each span."""
    from lmms_medtasks.judges import progress_lines
    from lmms_medtasks.judges.defaults import defaults as real

    monkeypatch.setattr(progress_lines, "defaults", lambda: {**real(), "progress_seconds": 0.25})
    judge_server.latency = 0.2
    judge_server.rule = lambda request: stub_judge.KINDS["out_of_range"] if "in 3?" in str(request) else None
    _, counts, said = judge_all(asked, concurrency=2, price="1,1")
    lines = [line for line in said if line.startswith("Judging judge_sample:PROTOCOL: ")]
    assert 2 <= len(lines) <= 8
    assert " of 10 done, 1 missing, " in lines[-1]
    for part in (" a second", " requests, ", " tokens, ", " USD", " s left"):
        assert part in lines[-1]


FULL = """
import resource, signal, sys
sys.path.insert(0, sys.argv[1])
import judge_sample
from lmms_medtasks.judges import cache, settings
from lmms_medtasks.judges.judging import Judge
asked = [(judge_sample.item({"id": str(n), "question": f"What is {n}?", "answer": "effusion"}, "an effusion"), 0)
         for n in range(300)]
with Judge(settings.read(), [judge_sample.PROTOCOL]) as judge:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (120_000, 120_000))  # no file may grow beyond it
    found, counts = judge.judge(judge_sample.PROTOCOL, asked, say=print)
print(counts.judged, counts.unkept, counts.missing, counts.spent.requests)
"""


def test_a_disk_that_is_full_midway(judge_server, key, protocol, sample):
    """A file that can grow no more: what is said to be kept is kept, and hardly anything is asked after that."""
    chosen = {"MEDTASKS_JUDGE": "openai:m", "MEDTASKS_JUDGE_CONCURRENCY": "4"}
    environment = {**os.environ, **chosen, "OPENAI_API_KEY": key, "OPENAI_API_URL": judge_server.url}
    command = [sys.executable, "-c", FULL, str(Path(__file__).parent)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=60)
    judged, unkept, missing, requests = map(int, done.stdout.splitlines()[-1].split())
    assert judged + missing == 300 and missing > 200 and requests == judged >= 4
    assert unkept <= 4
    assert "not kept: " in done.stdout or "no cache: " in done.stdout
    assert ("What is judged is kept" in done.stdout) == (unkept == 0)
    documents = [{"id": str(n), "question": f"What is {n}?", "answer": "effusion"} for n in range(300)]
    asked = [(sample.item(each, "an effusion"), 0) for each in documents]
    with Judge(settings.read(environment), [protocol]) as again:
        kept, _ = again._known(protocol, {key_of(protocol, *each): each for each in asked})
    assert len(kept) == judged - unkept
