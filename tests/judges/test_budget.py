"""Ceilings hold, however many threads ask."""

import threading

from lmms_medtasks.judges import settings
from lmms_medtasks.judges.budget import Budget, Spent, estimated_tokens


def budget(**values):
    return Budget(settings.read({f"MEDTASKS_JUDGE_{name}": value for name, value in values.items()}, "lexical"))


def test_requests():
    found = budget(MAX_REQUESTS="2")
    assert [found.reserve(10), found.reserve(10)] == [None, None]
    assert found.reserve(10) == "ceiling on requests: MEDTASKS_JUDGE_MAX_REQUESTS allows 2 here"
    assert found.spent.requests == 2


def test_none_at_all():
    assert budget(MAX_REQUESTS="0").reserve(10).startswith("ceiling on requests")


def test_cost():
    # 1 USD per million tokens, replies of 100 tokens at most: 200 set aside for a request of 100; 250 in all.
    found = budget(PRICE="1,1", MAX_COST="0.00025", MAX_TOKENS="100")
    assert found.reserve(100) is None
    found.settle(100, 100, 20)
    assert found.spent == Spent(1, 100, 20, 0.00012)
    assert found.reserve(20) is None  # 120 + 120 <= 250
    found.settle(20, 20, 10)
    assert found.reserve(10) == "ceiling on cost: MEDTASKS_JUDGE_MAX_COST allows 0.00025 USD here"  # 150 + 110 > 250
    assert found.spent.requests == 2


def test_a_failed_request_gives_back_what_was_set_aside():
    found = budget(PRICE="1,1", MAX_COST="0.00025", MAX_TOKENS="100")
    for _ in range(20):
        assert found.reserve(100) is None
        found.settle(100, 0, 0)
    assert (found.spent.requests, found.spent.cost) == (20, 0)


def test_one_waits_while_another_holds_what_it_needs():
    found = budget(PRICE="1,1", MAX_COST="0.00025", MAX_TOKENS="100")
    assert found.reserve(100) is None
    got = []
    thread = threading.Thread(target=lambda: got.append(found.reserve(100)))
    thread.start()
    thread.join(timeout=0.05)
    assert thread.is_alive() and not got
    found.settle(100, 10, 10)
    thread.join(timeout=10)
    assert got == [None]


def test_many_threads_stay_below_the_ceiling():
    found = budget(PRICE="1,1", MAX_COST="0.01", MAX_TOKENS="100")

    def work():
        while found.reserve(100) is None:
            found.settle(100, 100, 30)

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
