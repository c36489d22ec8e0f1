"""One bar over all requests of a run, fed by the bars of its runner."""

import sys
import types

import pytest
from loguru import logger
from tqdm import tqdm

from lmms_medtasks.harness import asking_progress, calls


@pytest.fixture
def told():
    """The lines of the log."""
    lines = []
    sink = logger.add(lambda line: lines.append(line.strip()), level="INFO", format="{message}")
    yield lines
    logger.remove(sink)


@pytest.fixture
def runner(monkeypatch):
    """Make a model whose module has a bar, as the harness's runners have: runner(generate_until, rank)."""

    def make(generate_until, rank=0):
        module = types.ModuleType("told_runner")
        module.tqdm = tqdm
        monkeypatch.setitem(sys.modules, "told_runner", module)
        return type("Model", (), {"__module__": "told_runner", "generate_until": generate_until, "rank": rank})()

    return make


def requests(**counts):
    return [types.SimpleNamespace(task_name=task) for task, count in counts.items() for _ in range(count)]


def bars_of(lm):
    return sys.modules["told_runner"].tqdm


def test_the_steps_of_a_runners_bar_are_its_share_of_the_requests(runner, told, capsys):
    """A runner counts requests, or batches of them, in a bar of its own, or iterates over one."""
    lm, seen = runner(None), []
    shown = asking_progress.AskingProgress(lm, requests(a=4, b=6))
    with shown.ask("a", requests(a=4)):
        batches = bars_of(lm)(total=2, disable=False, desc="Model Responding")
        for _ in range(2):
            batches.update(1)
            seen.append(shown._progress.done)
        batches.close()
    with shown.ask("b", requests(b=6)):
        seen += [shown._progress.done for _ in bars_of(lm)(range(3))]
    shown.close()
    assert seen == [2, 4, 4, 6, 8]
    assert bars_of(lm) is tqdm
    parts = [line.rpartition(" in ")[0] or line for line in told]
    everything = "10 requests of 2 tasks"
    assert parts == [f"Asking {everything}", "Asked a (1 of 2): 4 requests", "Asked b (2 of 2): 6 requests",
                     f"Asked {everything}"]  # fmt: skip
    assert capsys.readouterr().err == ""


def test_parts_of_a_task_are_told_one_after_the_other_and_known_replies_do_not_count(runner, told):
    """A journal asks in slices, each with a bar of the runner's own."""
    lm, seen = runner(None), []
    shown = asking_progress.AskingProgress(lm, requests(a=10))
    with shown.ask("a", requests(a=10)):
        asking_progress.leave_out_known(lm, 4)
        for count in (2, 4):
            with asking_progress.ask_part(lm, count):
                seen += [shown._progress.done for _ in bars_of(lm)(range(count))]
            seen.append(shown._progress.done)
    assert seen == [0, 1, 2, 2, 3, 4, 5, 6] and shown._progress.total == 6
    shown.close()
    assert told[-1].startswith("Asked 6 requests of a in ")
    asking_progress.leave_out_known(lm, 4)
    with asking_progress.ask_part(lm, 4):
        pass
    assert shown._progress.done == 6


def test_a_task_that_is_asked_in_two_calls_has_one_line(runner, told):
    shown = asking_progress.AskingProgress(runner(None), requests(a=3, b=1))
    for task, count in (("a", 1), ("b", 1), ("a", 2)):
        with shown.ask(task, requests(**{task: count})):
            pass
    shown.close()
    assert [line.split(" in ")[0] for line in told[1:-1]] == [
        "Asked b (2 of 2): 1 request",
        "Asked a (1 of 2): 3 requests",
    ]


def test_calls_tell_how_far_they_are_and_the_second_process_tells_nothing(runner, told, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    for rank in (0, 1):
        lm = runner(lambda self, given: ["x"] * len(given), rank)
        with calls.one_task_a_call(lm):
            lm.generate_until(requests(a=2))
    assert told[0] == "Asking 2 requests of a in each of 2 processes"
    assert len(told) == 2 and told[1].startswith("Asked 2 requests of a in each of 2 processes in ")


def test_a_call_that_fails_is_not_told_as_asked(runner, told):
    def fail(self, given):
        raise ValueError("no memory")

    lm = runner(fail)
    with calls.one_task_a_call(lm), pytest.raises(ValueError, match="no memory"):
        lm.generate_until(requests(a=2, b=2))
    assert told == ["Asking 4 requests of 2 tasks"]
    assert sys.modules["told_runner"].tqdm is tqdm
