"""Judging inside a run of the real harness."""

import os
import signal
import time
import types

import lmms_eval.evaluator  # noqa: F401 (it removes the handlers of others when it is imported)
import pytest
from loguru import logger

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import judging_stage as stage
from lmms_medtasks.judges import withheld

THINKING = '[["<think>", "</think>"]]'


REPLIES = ["effusion", "", "an effusion", "cat", "<think>cat</think>an effusion!", "<think>cut off effusion"]


def test_a_run(harness, judge_server, stub_judge):
    args = types.SimpleNamespace(reasoning_tags=THINKING, process_with_media=False)
    run, logs = harness(REPLIES, ["judge_open"], cli_args=args)
    found = run.tasks["judge_open"]
    # exact 5, empty 1, "an effusion" 5, "cat" 1, after thinking 5, cut off 1; two failed
    assert found["correctness,trials"] == pytest.approx((5 + 1 + 5 + 1 + 5 + 1) / 6)
    assert (found["coverage,trials"], found["complete,trials"], found["missing_judgements,trials"]) == (1.0, 1.0, 0)
    assert len(judge_server.requests) == 3  # none from process_results
    asked = [stub_judge.fields_of(request["messages"][0]["content"])["answer"] for request in judge_server.requests]
    assert sorted(asked) == ["an effusion", "an effusion!", "cat"]
    assert [row["questions"]["trials"] for row in logs["judge_open"]] == [
        ["ok"], ["empty"], ["ok"], ["ok"], ["ok"], ["cut"], ["failed"], ["failed"]
    ]  # fmt: skip
    assert "NaN" not in run.path.read_text()


def test_who_judged_stands_in_the_results(harness, key, judge_server):
    """The model as asked in the metadata, and the one that answered with each verdict that a server gave."""
    judge_server.answers_as = lambda request: "stub-judge-2024"
    run, logs = harness(REPLIES, ["judge_open"])
    judge = run.content["configs"]["judge_open"]["metadata"]["judge"]
    assert (judge["name"], judge["endpoint"], judge["is_paper_judge"]) == ("openai:stub-judge", judge_server.url, False)
    assert judge["settings"] == {"temperature": 0.0, "max_tokens": 1024, "reply": "free"}
    (protocol,) = judge["protocols"]
    assert (protocol["version"], protocol["paper_judge"]) == (1, "DeepSeek-V3.2-Exp")
    assert logs["judge_open"][0]["questions"]["judgement"]["judge"] == protocol
    given = [each for row in logs["judge_open"] for each in sum(row["questions"]["judgement"]["verdicts"], [])]
    models = {(each["status"], each["model"]) for each in given}
    assert models == {("judged", "stub-judge-2024"), ("exact", None)}
    written = "".join(path.read_text("utf-8") for path in run.path.parent.iterdir())
    assert key not in written


def test_two_tasks_share_what_was_judged(harness, judge_server):
    run, _ = harness(REPLIES, ["judge_group"])
    assert len(judge_server.requests) == 3
    assert run.tasks["judge_open"]["correctness,trials"] == run.tasks["judge_more"]["correctness,trials"]
    assert run.tasks["judge_group"]["correctness,trials"] == run.tasks["judge_open"]["correctness,trials"]


def test_the_second_run_asks_nothing(harness, judge_server):
    first, _ = harness(REPLIES, ["judge_open"])
    judge_server.reset()
    second, _ = harness(REPLIES, ["judge_open"])
    assert judge_server.requests == []
    assert second.tasks == first.tasks


def test_without_a_judge_the_run_completes(harness, judge_server):
    said: list[str] = []
    sink = logger.add(said.append, level="WARNING", format="{message}")
    run, logs = harness(REPLIES, ["judge_group"], judge="")
    logger.remove(sink)
    # Once for all tasks.
    (left,) = [line for line in said if "still to judge" in line]
    assert "MEDTASKS_JUDGE" in left and "judge_open" in left and "judge_more" in left
    found = run.tasks["judge_open"]
    assert found["correctness,trials"] is None  # only rules had a say
    errors = {key: value for key, value in found.items() if key.startswith("correctness_stderr")}
    assert errors and set(errors.values()) == {"N/A"}
    assert found["coverage,trials"] == pytest.approx(3 / 6)
    assert found["complete,trials"] == 0.0
    assert found["bound_worst,trials"] == pytest.approx((5 + 1 + 1 + 3 * 1) / 6)
    assert found["bound_best,trials"] == pytest.approx((5 + 1 + 1 + 3 * 5) / 6)
    reasons = {row["questions"]["judgement"]["verdicts"][0][0]["reason"] for row in logs["judge_open"][2:5]}
    assert reasons == {"no judge: name one in MEDTASKS_JUDGE=provider:model and run lmms-medtasks judge RUN"}
    assert judge_server.requests == []


def test_ctrl_c_while_judging_keeps_the_replies(harness, judge_server):
    """What was judged until then counts, the rest is missing, and no task after it is judged."""

    def rule(request):
        if len(judge_server.requests) == 2:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1.5)  # it is noticed within a second

    judge_server.rule = rule
    replies = ["effusion", "", "cat", "dog", "an effusion", "cow", "bird", "fish"]
    run, logs = harness(replies, ["judge_group"], CONCURRENCY=1)
    assert len(judge_server.requests) == 2
    for task in ("judge_open", "judge_more"):
        found = [row["questions"]["judgement"]["verdicts"][0][0] for row in logs[task]]
        assert [each["status"] for each in found].count("judged") == 2
        reasons = [each["reason"] for each in found if each["status"] == "missing"]
        assert reasons == ["stopped: the run was interrupted"] * 4
        assert run.tasks[task]["missing_judgements,trials"] == 4


def test_a_judge_that_always_fails_loses_no_run(harness, judge_server, stub_judge):
    judge_server.rule, lines = lambda request: stub_judge.KINDS["500"], []
    said = logger.add(lines.append, format="{message}")
    run, logs = harness(["cat", "dog", "cow"], ["judge_group"], RETRIES=0)
    logger.remove(said)
    assert sum(line.count("\n  missing ") for line in lines) == 1, lines  # for all tasks together
    found = run.tasks["judge_open"]
    assert found["correctness,trials"] is None
    assert run.tasks["judge_group"]["correctness,trials"] is None
    assert (found["coverage,trials"], found["missing_judgements,trials"]) == (0.0, 3)
    assert (found["bound_worst,trials"], found["bound_best,trials"]) == (1.0, 5.0)
    assert logs["judge_open"][0]["questions"]["judgement"]["verdicts"][0][0]["reason"].startswith(
        "request failed: status 500"
    )


def test_who_answered_and_how_it_was_served_stand_with_each_verdict(harness, judge_server):
    """From the server's reply, and from the cache when the same answers are judged again."""
    judge_server.answers_as, judge_server.system_fingerprint = lambda request: "stub-2026", "fp_1"
    for asked in (2, 0):
        judge_server.reset()
        _, logs = harness(REPLIES, ["judge_open"])
        judgements = [row["questions"]["judgement"] for row in logs["judge_open"]]
        given = [each for judgement in judgements for verdicts in judgement["verdicts"] for each in verdicts]
        judged = [each for each in given if each["status"] == "judged"]
        assert {(each["model"], each["system_fingerprint"]) for each in judged} == {("stub-2026", "fp_1")}
        assert not any("system_fingerprint" in each for each in given if each["status"] == "exact")
        assert bool(judge_server.requests) == bool(asked)


def test_lexical_numbers_say_so(harness):
    run, logs = harness(REPLIES, ["judge_open"], judge="lexical")
    assert run.tasks["judge_open"]["alias"] == "judge_open (lexical judge, no LLM)"
    judge = run.content["configs"]["judge_open"]["metadata"]["judge"]
    assert judge["name"] == "lexical" and "not a language model" in judge["note"]
    record = logs["judge_open"][2]["questions"]["judgement"]
    assert "not a language model" in record["judge"]["note"]
    assert record["verdicts"][0][0]["reason"] == "lexical: not a language model"


def test_under_terms_no_text_is_logged(harness, judge_server):
    run, logs = harness(["an effusion", "a secret mass"], ["judge_private"], judge="local:m")
    assert len(judge_server.requests) == 2
    written = "".join(path.read_text("utf-8") for path in run.path.parent.iterdir())
    for secret in ("effusion", "secret", "What is in"):
        assert secret not in written
    row = logs["judge_private"][1]
    assert row["questions"]["judgement"]["items"] == "withheld" and row["correctness"]["score"] == 1.0
    assert withheld.find_withheld_reply(row["questions"]["judgement"]["replies"][0]) == "a secret mass"
    assert row["questions"]["id"] == "q1" and row["doc_id"] == 1


def test_under_terms_a_public_judge_is_refused_before_the_model_runs(harness, judge_server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_URL", "http://93.184.216.34/v1")
    with pytest.raises(UserError, match="PhysioNet Credentialed Health Data License"):
        harness(REPLIES, ["judge_private"])
    assert judge_server.requests == []


@pytest.mark.parametrize(("judge", "match"), [("gpt-4o", "names no provider"), ("azure:gpt-4o", "Unknown provider")])
def test_mistakes_end_it_before_the_model_runs(harness, judge, match):
    with pytest.raises(UserError, match=match):
        harness(REPLIES, ["judge_open"], judge=judge)


def test_processes_get_their_part(harness, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "4")
    own = lambda: None  # noqa: E731
    task = types.SimpleNamespace(
        config=types.SimpleNamespace(
            task="t", metadata={}, lmms_eval_specific_kwargs={"default": {"judge": "judge_sample:PROTOCOL"}}
        ),
        apply_filters=own,
    )
    monkeypatch.setenv("MEDTASKS_JUDGE", "openai:m")
    monkeypatch.setenv("MEDTASKS_JUDGE_MAX_REQUESTS", "10")
    with stage.JudgingStage([task]) as found:
        assert (found._judge.settings.concurrency, found._judge.settings.max_requests) == (4, 3)
        assert "judge" in task.config.metadata
    assert task.apply_filters is own


def test_processes_of_one_machine_share_one_budget(harness, monkeypatch):
    """They agree on its name by torch.distributed; requests in flight are still a part for each."""
    import torch.distributed as distributed

    monkeypatch.setattr(distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(distributed, "broadcast_object_list", lambda names, src: names.__setitem__(0, "run"))
    monkeypatch.setenv("MEDTASKS_JUDGE", "openai:m")
    monkeypatch.setenv("MEDTASKS_JUDGE_MAX_REQUESTS", "10")
    monkeypatch.setenv("WORLD_SIZE", "4")
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    budgets = []
    for rank in range(4):
        monkeypatch.setenv("RANK", str(rank))
        config = {"default": {"judge": "judge_sample:PROTOCOL"}}
        task = types.SimpleNamespace(
            config=types.SimpleNamespace(task="t", metadata={}, lmms_eval_specific_kwargs=config),
            apply_filters=lambda: None,
        )
        with stage.JudgingStage([task]) as found:
            budgets.append(found._judge.budget)
            assert (found._judge.settings.max_requests, found._judge.settings.concurrency) == (5, 4)
    assert [[each.reserve_request(1) for _ in range(6)].count(None) for each in budgets] == [5, 0, 5, 0]


def test_check(sample, monkeypatch):
    stage.check_judge_use([{"task": "t"}, {"lmms_eval_specific_kwargs": {"default": {"prompt": "x"}}}])
    config = {"lmms_eval_specific_kwargs": {"default": {"judge": ["judge_sample:PROTOCOL", "judge_sample:PRIVATE"]}}}
    assert [each.name for each in stage.task_protocols(config)] == ["judge_sample:PROTOCOL", "judge_sample:PRIVATE"]
    stage.check_judge_use([config])
    monkeypatch.setenv("MEDTASKS_JUDGE", "openai:m")
    with pytest.raises(UserError, match="OPENAI_API_KEY is not set"):
        stage.check_judge_use([config])
    monkeypatch.setenv("MEDTASKS_JUDGE", "local:m")
    monkeypatch.setenv("LLM_JUDGE_URL", "http://203.0.113.1/v1")
    own = {"judge": "judge_sample:PROTOCOL", "terms": "Ours alone."}
    with pytest.raises(UserError, match="local:m may not judge .* terms of its data: Ours alone."):
        stage.check_judge_use([{"lmms_eval_specific_kwargs": {"default": own}}])


@pytest.mark.parametrize(("temperature", "asked"), [("0", 1), ("0.7", 3)])
def test_trials_at_temperature_0_are_asked_once(harness, sample, judge_server, monkeypatch, temperature, asked):
    """Three requests without a byte of difference would be paid for three times; one is logged."""
    import dataclasses

    thrice = dataclasses.replace(sample.PROTOCOL, trials=3)
    monkeypatch.setattr(sample, "PROTOCOL", thrice)
    run, logs = harness(["an effusion", "cat"], ["judge_open"], TEMPERATURE=temperature)
    assert len(judge_server.requests) == 2 * asked
    verdicts = [row["questions"]["judgement"]["verdicts"][0] for row in logs["judge_open"][:2]]
    assert [len(each) for each in verdicts] == [asked, asked]
    assert run.tasks["judge_open"]["coverage,trials"] == 1.0
