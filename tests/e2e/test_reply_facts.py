"""Why replies ended, marks of thoughts and longer limits, through the real harness and its runners."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from lmms_medtasks.contribute.validate import validate_folder
from lmms_medtasks.suites import paper
from tests.stub_server import Answer

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
TASK = "med_cmr_mcq"
LONG = "The film shows a large effusion on the left side, and the mediastinum is shifted to the right. " * 2


def server(stub, *more, task=TASK, limit=6):
    given = f"model=tiny,base_url={stub.url},retries=0"
    return ("--model", "medtasks_server", "--model_args", given, "--tasks", task, "--limit", str(limit), *more)


class HookLog:
    """What scoring hooks of the harness's tasks are handed, noted by each process of a run in one file."""

    def __init__(self, folder):
        self.path = folder / "handed.jsonl"
        (folder / "sitecustomize.py").write_text(NOTING.format(path=str(self.path)), "utf-8")
        self.variables = {"PYTHONPATH": str(folder)}

    def seen(self):
        """Of each reply: text, why it ended, limit, tags. Once."""
        lines = self.path.read_text("utf-8").splitlines()
        self.path.unlink()
        return [each for line in lines for each in json.loads(line)]


NOTING = """
import json
from lmms_eval.api.task import ConfigurableTask

original = ConfigurableTask.process_results

def process_results(self, doc, results, *more, **named):
    texts = [each for given in results for each in (given if isinstance(given, list) else [given])]
    told = [[str(each), each.ended, each.limit, each.tags] for each in texts]
    with open({path!r}, "a") as log:
        log.write(json.dumps(told) + "\\n")
    return original(self, doc, results, *more, **named)

ConfigurableTask.process_results = process_results
"""


@pytest.fixture
def hook_log(tmp_path):
    folder = tmp_path / "noting"
    folder.mkdir()
    return HookLog(folder)


def answers(texts):
    """A rule: each question's reply by its place; probes get the ordinary one."""
    coming = iter(texts)
    return lambda body: None if isinstance(body["messages"][0]["content"], str) else next(coming)


@pytest.mark.parametrize("launcher", [("-m", "lmms_eval"), "torchrun"], ids=["one process", "two"])
def test_hooks_get_why_a_reply_ended_from_a_server(harness, stub, hook_log, launcher):
    stub.rule = lambda body: Answer(text="<think>Well, the", finish="length")
    done = harness(*server(stub), launcher=launcher, **hook_log.variables)
    assert hook_log.seen() == [["<think>Well, the", "length", 1024, []]] * 6
    assert done.printed.count("replies were cut at 1,024 new tokens") == 1


def test_a_local_model_that_is_cut_is_known_to_be(harness, tiny_internvl, tiny_gemma3, hook_log):
    """internvl_hf counts the tokens; of gemma3's replies its tokenizer does."""
    for model, folder in (("internvl_hf", tiny_internvl), ("gemma3", tiny_gemma3)):
        run = ("--model", model, "--model_args", f"pretrained={folder},device_map=cpu", "--device", "cpu")
        options = ("--tasks", TASK, "--limit", "3", "--gen_kwargs", "max_new_tokens=5,temperature=0,do_sample=False")
        done = harness(*run, *options, **hook_log.variables)
        found = hook_log.seen()
        assert [each[1:] for each in found] == [["length", 5, []]] * 3
        assert all(len(text) == 5 for text, *_ in found)
        assert done.run.tasks[TASK]["cut_replies,trials"] == 3
        assert [row["questions"]["trials"] for row in done.samples(TASK)] == [["cut"]] * 3


def test_own_tags_reach_the_hooks_from_the_command_line_and_bad_ones_end_the_run_first(harness, stub, hook_log):
    stub.rule = lambda body: Answer(text=f"<ponder>{LONG}</ponder> B")
    tags = '[["<ponder>", "</ponder>"]]'
    done = harness(*server(stub, "--reasoning_tags", tags, limit=2), **hook_log.variables)
    assert [each[3] for each in hook_log.seen()] == [[["<ponder>", "</ponder>"]]] * 2
    config = done.run.content["configs"][TASK]
    assert config["metadata"]["reasoning_tags"] == [["<ponder>", "</ponder>"]]
    assert "not known" not in done.printed
    # Without them: the mark is unknown, and said so.
    done = harness(*server(stub, limit=2), launcher="torchrun", **hook_log.variables)
    assert [each[3] for each in hook_log.seen()] == [[]] * 2
    assert (
        done.printed.count("2 replies begin with the mark <ponder>") == 1
        and f"--reasoning_tags '{tags}'" in done.printed
    )
    assert done.run.content["configs"][TASK]["metadata"]["unknown_marks"] == {"<ponder>": 2}
    stub.requests.clear()
    stub.probes.clear()
    done = harness(*server(stub, "--reasoning_tags", '["<ponder>"]', limit=2), status=2)
    assert "--reasoning_tags: '<ponder>' is no pair of marks" in done.printed
    assert not stub.requests and not stub.probes


def test_what_the_harness_would_strip_reaches_the_hooks_as_it_was_sent(harness, stub, hook_log):
    stub.rule = lambda body: Answer(text="<think>A</think><analysis>C</analysis> B")
    done = harness(*server(stub, limit=2), **hook_log.variables)
    assert [each[0] for each in hook_log.seen()] == ["<think>A</think><analysis>C</analysis> B"] * 2
    assert done.run.content["configs"][TASK]["reasoning_tags"] == "none"


def test_a_cache_of_the_harness_knows_no_ending_and_gives_the_reply(harness, stub, hook_log, tmp_path):
    cache = ("--use_cache", str(tmp_path / "cache"))
    stub.rule = lambda body: Answer(text="B", finish="length")
    for ended in ("length", ""):
        harness(*server(stub, *cache, limit=2), MEDTASKS_JOURNAL="off", **hook_log.variables)
        assert hook_log.seen() == [["B", ended, 1024, []]] * 2


def test_trials_and_degraded_tasks_say_it_too(harness, stub, hook_log):
    """MedQ-Deg asks three times; a server that ends one of them at the limit is believed."""

    def ends(body):
        if isinstance(body["messages"][0]["content"], str):
            return None
        ends = ("stop", "length", "stop")
        each = [{"index": n, "message": {"content": "B"}, "finish_reason": end} for n, end in enumerate(ends)]
        return Answer(body=json.dumps({"choices": each, "model": "tiny"}).encode())

    stub.rule = ends
    tasks = "medq_deg_l0,medq_deg_l0@gaussian_noise.2"
    harness(*server(stub, task=tasks, limit=2), **hook_log.variables)
    assert [each[1] for each in hook_log.seen()] == ["stop", "length", "stop"] * 4


def test_what_broke_off_is_counted_as_failed_and_asked_again_by_the_same_command(harness, stub, hook_log):
    stub.rule = answers([Answer(text="B")] * 2 + [Answer(text="It is B, sinc", finish="error")])
    done = harness(*server(stub, "--gen_kwargs", "temperature=0", limit=3))
    assert done.run.tasks[TASK]["failed_requests,trials"] == 1
    assert f"requests of {TASK} failed" in done.printed and "The same command asks only those again" in done.printed
    stub.rule = lambda body: Answer(text="B")
    stub.requests.clear()
    again = harness(*server(stub, "--gen_kwargs", "temperature=0", limit=3), **hook_log.variables)
    assert len(stub.requests) == 1 and again.run.tasks[TASK]["failed_requests,trials"] == 0
    assert sorted(each[1] for each in hook_log.seen()) == ["stop"] * 3


@pytest.mark.parametrize(("room", "limit"), [(None, 4096), (5000, 2952)])
def test_thinking_gets_longer_replies_within_the_server_s_room(harness, stub, room, limit):
    stub.room = room
    done = harness(*server(stub, task=f"{TASK},medq_deg_l0,medobvious_t1", limit=2), **{paper.VARIABLE: "thinking"})
    # Three suites: the authors' scripts of one limit replies, so it keeps ours.
    assert {body["max_tokens"] for body in stub.requests} == {limit, 512}
    config = done.run.content["configs"][TASK]
    assert config["metadata"]["settings"] == {"name": "thinking", "changes": {"max_new_tokens": limit}}
    assert config["generation_kwargs"]["max_new_tokens"] == limit
    assert config["task_alias"] == f"{TASK} (thinking settings) (mini data)"
    assert "settings" not in done.run.content["configs"]["medobvious_t1"]["task_alias"]
    assert done.printed.count("replies have up to 2,952 new tokens, not 4,096") == (room is not None)


def test_a_server_without_end_ends_the_run_quickly(harness, stub):
    stub.rule = lambda body: None if isinstance(body["messages"][0]["content"], str) else Answer(text="A" * 10_000_000)
    done = harness(*server(stub, limit=25), status=2)
    assert "20 questions in a row got no reply" in done.printed
    assert "larger than 4 MB" in done.printed


def test_a_contributed_task_has_tags_of_its_own_and_longer_replies_for_models_that_think(
    harness, stub, hook_log, tmp_path
):
    folder = tmp_path / "tasks" / "chest_side"
    shutil.copytree(EXAMPLES / "chest_side", folder)
    yaml = folder / "chest_side.yaml"
    yaml.write_text(f'{yaml.read_text("utf-8")}\nreasoning_tags: [["<weigh>", "</weigh>"]]\n', "utf-8")
    assert not validate_folder(folder, static_only=True).errors
    stub.rule = lambda body: Answer(text=f"<weigh>{LONG}</weigh> B")
    more = ("--include_path", str(folder.parent), "--reasoning_tags", '[["<ponder>", "</ponder>"]]')
    done = harness(
        *server(stub, *more, task="chest_side", limit=2), **hook_log.variables, **{paper.VARIABLE: paper.THINKING}
    )
    tags = [["<weigh>", "</weigh>"], ["<ponder>", "</ponder>"]]
    assert [each[1:] for each in hook_log.seen()] == [["stop", 4096, tags]] * 2
    config = done.run.content["configs"]["chest_side"]
    assert config["metadata"]["reasoning_tags"] == tags
    assert config["metadata"]["settings"] == {"name": "thinking", "changes": {"max_new_tokens": 4096}}
    yaml.write_text(yaml.read_text("utf-8").replace('[["<weigh>", "</weigh>"]]', '["<weigh>"]'), "utf-8")
    assert any("reasoning_tags" in str(each) for each in validate_folder(folder, static_only=True).errors)
