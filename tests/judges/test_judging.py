"""Many judgements: what is asked, what was judged before, and what is told of it."""

import dataclasses
import subprocess
import time

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.judges import cache, settings
from lmms_medtasks.judges.judging import NO_JUDGE, JudgeSession
from lmms_medtasks.judges.protocol import JudgeVerdict, judgement_key


def test_all_kinds(judge_all, judge_server, protocol, items):
    found, counts, said = judge_all(items)
    assert (counts.exact, counts.cached, counts.judged, counts.missing) == (10, 0, 10, 0)
    assert len(judge_server.requests) == counts.spent.requests == 10
    verdicts = [found[judgement_key(protocol, *each)] for each in items]
    assert [verdict.labels["correctness"] for verdict in verdicts] == ["5", "1", "5", "1"] * 5
    assert [verdict.status for verdict in verdicts] == ["exact", "exact", "judged", "judged"] * 5
    assert [verdict.reason for verdict in verdicts[:3]] == ["exact match", "empty answer", ""]
    (line,) = said
    start, end = line.split(" (about ")
    assert start == (
        f"Judging judge_sample:PROTOCOL with openai:stub-judge at {judge_server.url}: 20 judgements, 10 scored by "
        "rule, 0 judged before, 10 to ask"
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
    assert said[0].endswith("10 judged before, 0 to ask.")


def test_another_judge_is_asked_anew(judge_all, judge_server, items):
    judge_all(items)
    judge_server.reset()
    assert judge_all(items, judge="openai:other")[1].judged == 10
    assert judge_all(items, temperature=0.5)[1].judged == 10
    assert len(judge_server.requests) == 20


def models_of(found):
    return {verdict.model for verdict in found.values() if verdict.status == "judged"}


def test_two_ports_and_two_paths_share_no_verdict(protocol, asked, judge_server, other_server):
    first = judge_server.url
    for url in (first, other_server.url, first.replace("/v1", "/team/v1")):
        with JudgeSession(settings.read_judge_settings({"LLM_JUDGE_URL": url}, "local:m"), [protocol]) as judge:
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
    with JudgeSession(settings_for(judge_server), [protocol]) as judge:
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
    assert name.startswith("m *** [31mxx") and len(name) == 200


def test_the_same_item_is_asked_once(judge_all, judge_server, sample, items):
    item = sample.item(sample.documents(1)[0], "an effusion")
    found, counts, _ = judge_all([(item, 0)] * 7 + [(dataclasses.replace(item, id="other"), 0)])
    assert (len(found), counts.judged, counts.same, len(judge_server.requests)) == (1, 1, 7, 1)


def test_trials_are_judgements_of_their_own(judge_all, judge_server, sample):
    item = sample.item(sample.documents(1)[0], "an effusion")
    found, counts, _ = judge_all([(item, trial) for trial in range(3)])
    assert (len(found), counts.judged, len(judge_server.requests)) == (3, 3, 3)


@pytest.mark.parametrize("temperature", [0, 0.7])
def test_it_is_said_where_trials_are_asked_once(judge_server, settings_for, protocol, items, temperature):
    thrice, said = dataclasses.replace(protocol, trials=3), []
    with JudgeSession(settings_for(judge_server, temperature=temperature), [thrice]) as judge:
        judge.judge(thrice, items, say=said.append)
    assert ("its 3 judgements would be the same request" in said[0]) == (temperature == 0)


def test_as_many_at_once_as_allowed(judge_all, judge_server, sample):
    judge_server.latency = 0.05
    asked = sample.asked(24)
    judge_all(asked, concurrency=6)
    assert judge_server.most == 6


def test_no_judge(judge_all, judge_server, items, sample, settings_for):
    found, counts, said = judge_all(items, judge="none")
    assert (counts.exact, counts.judged, counts.missing) == (10, 0, 10)
    assert counts.reasons == {NO_JUDGE: 10}
    with JudgeSession(settings_for(judge_server, "none"), [sample.PRIVATE]) as judge:
        private = judge.judge(sample.PRIVATE, items, say=said.append)[1]
    assert private.reasons == {"no judge": 10} and private.why_missing() == counts.why_missing() == ""
    assert "lmms-medtasks judge RUN" in NO_JUDGE
    assert judge_server.requests == [] and said == []
    assert not cache.verdict_cache_path().exists()


def test_lexical(judge_all, judge_server, items):
    found, counts, _ = judge_all(items, judge="lexical")
    assert (counts.exact, counts.judged, counts.missing) == (10, 10, 0)
    assert {each.reason for each in found.values() if each.status == "judged"} == {"lexical: not a language model"}
    assert judge_server.requests == []


def test_a_rule_off_the_scale(judge_all, protocol, judge_server, settings_for, items):
    for labels in ({"correctness": "6"}, {}, {"correctness": "5", "style": "5"}):
        wrong = dataclasses.replace(protocol, settle=lambda item, labels=labels: (labels, "my rule"))
        with (
            JudgeSession(settings_for(judge_server), [wrong]) as judge,
            pytest.raises(UserError, match="its rule 'my rule'"),
        ):
            judge.judge(wrong, items, say=print)


def test_missing_verdicts_have_no_labels(judge_all, judge_server, stub_judge, items):
    judge_server.rule = lambda request: stub_judge.KINDS["out_of_range"]
    found, counts, _ = judge_all(items)
    missing = [each for each in found.values() if each.status == "missing"]
    assert len(missing) == 10 and all(each.labels == {} for each in missing)
    assert {each.reply for each in missing} == {'{"correctness": 7}'}
    assert counts.reasons == {"label not allowed": 10}
    assert found[next(iter(found))] == JudgeVerdict("exact", {"correctness": "5"}, "exact match")


def test_the_sentence_is_no_list_without_end():
    from lmms_medtasks.judges.judging import JudgingCounts

    counts = JudgingCounts(missing=12, reasons={f"request failed: {number}": 1 for number in range(12)})
    lines = counts.sentence().splitlines()
    assert len(lines) == 8
    assert lines[-1] == "  missing 6: 6 other reasons, see the sample log"


CLAIMS = """
with JudgeSession(settings.read_judge_settings(), [PROTOCOL]) as judge:
    print("ready", flush=True)
    sys.stdin.readline()
    found, counts = judge.judge(PROTOCOL, asked(60), say=lambda text: None)
print(counts.cached, counts.judged, counts.missing, counts.spent.requests)
"""


def test_two_commands_at_one_time_ask_each_question_once(judge_server, command):
    judge_server.latency = 0.03
    started = [command(CLAIMS, stdin=subprocess.PIPE) for _ in range(2)]
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
    chosen = settings.read_judge_settings(
        {"OPENAI_API_KEY": "k", "OPENAI_API_URL": judge_server.url}, "openai:stub-judge"
    )
    name = cache.verdict_cache_key(chosen, protocol, *asked[0])
    other = cache.VerdictCache(cache.verdict_cache_path())
    assert other.claim(name)
    other._closed.set()  # killed: it renews nothing and ends nothing
    begun = time.monotonic()
    _, counts, _ = judge_all(asked)
    assert counts.judged == 10 and 1.0 < time.monotonic() - begun < 10
    other._closed.clear()
    other.close()


def test_how_far_it_is_is_told_without_a_terminal(judge_all, judge_server, asked, monkeypatch, stub_judge):
    """Done, missing, rate, what it has cost, time left; at most one line in each span."""
    from lmms_medtasks.judges import question_pool
    from lmms_medtasks.judges.settings import default_settings as real

    monkeypatch.setattr(question_pool, "default_settings", lambda: {**real(), "progress_seconds": 0.25})
    judge_server.latency = 0.2
    judge_server.rule = lambda request: stub_judge.KINDS["out_of_range"] if "in 3?" in str(request) else None
    _, counts, said = judge_all(asked, concurrency=2, price="1,1")
    lines = [line for line in said if line.startswith("Judging judge_sample:PROTOCOL: ")]
    assert 2 <= len(lines) <= 8
    assert " of 10 done, 1 missing, " in lines[-1]
    for part in (" a second", " requests, ", " tokens, ", " USD", " s left"):
        assert part in lines[-1]
