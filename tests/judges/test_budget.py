"""Ceilings hold, however many threads ask."""

import os
import subprocess
import sys
import threading

import pytest

from lmms_medtasks.judges import settings
from lmms_medtasks.judges.budget import JudgeBudget, JudgeSpending, SharedBudget, estimated_tokens


def budget(**values):
    return JudgeBudget(
        settings.read_judge_settings({f"MEDTASKS_JUDGE_{name}": value for name, value in values.items()}, "lexical")
    )


def test_requests():
    found = budget(MAX_REQUESTS="2")
    assert [found.reserve_request(10), found.reserve_request(10)] == [None, None]
    assert found.reserve_request(10) == "ceiling on requests: MEDTASKS_JUDGE_MAX_REQUESTS allows 2 here"
    assert found.spent.requests == 2


def test_none_at_all():
    assert budget(MAX_REQUESTS="0").reserve_request(10).startswith("ceiling on requests")


def test_cost():
    # 1 USD per million tokens, replies of 100 tokens at most: 200 set aside for a request of 100; 250 in all.
    found = budget(PRICE="1,1", MAX_COST="0.00025", MAX_TOKENS="100")
    assert found.reserve_request(100) is None
    found.settle_request(100, 100, 20)
    assert found.spent == JudgeSpending(1, 100, 20, 0.00012)
    assert found.reserve_request(20) is None  # 120 + 120 <= 250
    found.settle_request(20, 20, 10)
    assert (
        found.reserve_request(10) == "ceiling on cost: MEDTASKS_JUDGE_MAX_COST allows 0.00025 USD here"
    )  # 150 + 110 > 250
    assert found.spent.requests == 2


def test_a_failed_request_gives_back_what_was_set_aside():
    found = budget(PRICE="1,1", MAX_COST="0.00025", MAX_TOKENS="100")
    for _ in range(20):
        assert found.reserve_request(100) is None
        found.settle_request(100, 0, 0)
    assert (found.spent.requests, found.spent.cost) == (20, 0)


def test_one_waits_while_another_holds_what_it_needs():
    found = budget(PRICE="1,1", MAX_COST="0.00025", MAX_TOKENS="100")
    assert found.reserve_request(100) is None
    got = []
    thread = threading.Thread(target=lambda: got.append(found.reserve_request(100)))
    thread.start()
    thread.join(timeout=0.05)
    assert thread.is_alive() and not got
    found.settle_request(100, 10, 10)
    thread.join(timeout=10)
    assert got == [None]


def test_many_threads_stay_below_the_ceiling():
    found = budget(PRICE="1,1", MAX_COST="0.01", MAX_TOKENS="100")

    def work():
        while found.reserve_request(100) is None:
            found.settle_request(100, 100, 30)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    # 130 tokens a request, 200 set aside for each of 10,000: the 76th is the last (75 * 130 + 200 <= 10,000).
    assert found.spent.requests == 76
    assert found.spent.cost <= 0.01


def test_estimates():
    assert estimated_tokens("") == 1
    assert estimated_tokens("x" * 400) == 100


SHARED = """
import sys
from lmms_medtasks.judges import settings
from lmms_medtasks.judges.budget import SharedBudget
budget = SharedBudget(settings.read_judge_settings(), "run")
print("ready", flush=True)
sys.stdin.readline()
while budget.reserve_request(100) is None:
    budget.settle_request(100, 100, 30)
print(budget.spent.requests, budget.spent.cost)
"""


@pytest.mark.parametrize(
    ("ceiling", "together"), [({"MAX_REQUESTS": "50"}, 50), ({"MAX_COST": "0.01", "PRICE": "1,1"}, 76)]
)
def test_processes_share_one_budget(tmp_path, ceiling, together):
    """Three processes at one time use it up together, whoever is faster."""
    environment = {**os.environ, "MEDTASKS_HOME": str(tmp_path), "MEDTASKS_JUDGE_MAX_TOKENS": "100"}
    environment |= {f"MEDTASKS_JUDGE_{name}": value for name, value in ceiling.items()}
    started = [
        subprocess.Popen([sys.executable, "-c", SHARED], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         text=True) for _ in range(3)
    ]  # fmt: skip
    assert [each.stdout.readline() for each in started] == ["ready\n"] * 3
    for each in started:
        each.stdin.write("go\n")
        each.stdin.flush()
    spent = [each.communicate(timeout=60)[0].split() for each in started]
    requests = sum(int(number) for number, _ in spent)
    # What is set aside for a request in flight elsewhere keeps a process from the last one or two.
    assert together - 2 <= requests <= together
    assert sum(float(cost) for _, cost in spent) <= 0.01


def test_one_of_several_processes_may_use_it_all(tmp_path, monkeypatch):
    """A split made in advance would have given it a half."""
    monkeypatch.setenv("MEDTASKS_HOME", str(tmp_path))
    chosen = settings.read_judge_settings({"MEDTASKS_JUDGE_MAX_REQUESTS": "4"}, "lexical")
    one, other = SharedBudget(chosen, "run"), SharedBudget(chosen, "run")
    assert [one.reserve_request(10) for _ in range(4)] == [None] * 4
    assert (
        other.reserve_request(10)
        == one.reserve_request(10)
        == "ceiling on requests: MEDTASKS_JUDGE_MAX_REQUESTS allows 4 here"
    )
    assert (one.spent.requests, other.spent.requests) == (4, 0)
    assert SharedBudget(chosen, "another run").reserve_request(10) is None
