"""Waiting: exponential with jitter, as long as the endpoint asks, for all together."""

import threading
from datetime import datetime, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.judges.defaults import defaults as real_defaults
from lmms_medtasks.judges.retrying import Brake, backoff, retry_after

NOW = datetime(2026, 11, 20, 12, 0, 0, tzinfo=timezone.utc)


@pytest.fixture
def quick(monkeypatch):
    """Here the waits are the real ones."""
    monkeypatch.setattr("lmms_medtasks.judges.retrying.defaults", real_defaults)


def test_backoff_doubles_up_to_its_longest():
    for attempt, longest in enumerate((1, 2, 4, 8, 16, 32, 60, 60)):
        for key in "abc":
            assert longest / 2 <= backoff(attempt, key) <= longest
    assert backoff(500, "a") <= 60


def test_jitter_depends_on_the_question_alone():
    assert backoff(2, "a") == backoff(2, "a")
    assert len({backoff(2, str(number)) for number in range(50)}) == 50


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after": "7200"}, 7200.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "7"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "7"}, 7.0),
        ({"retry-after": "Fri, 20 Nov 2026 12:02:30 GMT"}, 150.0),
        ({"retry-after": "Fri, 20 Nov 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "Fri, 20 Nov 2026 12:02:30"}, 150.0),
        ({"retry-after": "later"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_retry_after(headers, seconds):
    assert retry_after(headers, NOW) == seconds


@given(st.text(max_size=30))
def test_any_header(text):
    found = retry_after({"retry-after": text}, NOW)
    assert found is None or found >= 0


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def test_the_brake_holds_for_the_longest_that_was_asked():
    clock = Clock()
    brake = Brake(clock)
    waited = []
    brake._stopped.wait = lambda seconds: (waited.append(round(seconds, 6)), setattr(clock, "now", clock.now + seconds))
    brake.hold(5)
    brake.hold(2)
    assert brake.wait()
    assert waited == [5]
    assert brake.wait(1)
    assert waited == [5, 1]


def test_waits_add_up_until_something_came_through():
    clock = Clock()
    brake = Brake(clock)
    assert brake.hold(2000, 3600) == 2000
    clock.now += 2000
    assert brake.hold(1500, 3600) == 3500
    clock.now += 1500
    assert brake.hold(200, 3600) == 3700 and brake.left == 0  # too long in all: nothing is held
    brake.passed()
    assert brake.hold(3600, 3600) == 3600 and brake.left == 3600


def test_a_stop_ends_all_waiting():
    brake = Brake()
    brake.hold(3600)
    done = []
    threads = [threading.Thread(target=lambda: done.append(brake.wait(3600))) for _ in range(4)]
    for thread in threads:
        thread.start()
    brake.stop()
    for thread in threads:
        thread.join(timeout=10)
    assert done == [False] * 4
    assert brake.stopped and not brake.wait()


def test_requests_in_flight_that_are_told_the_same_wait_ask_for_no_second_one():
    """Twelve requests are answered with an hour each, a moment apart: it is one hour's wait, not more than one."""
    now = [0.0]
    brake = Brake(lambda: now[0])
    assert brake.hold(3600.0, 3600.0) <= 3600.0
    for now[0] in (0.25, 0.5):
        assert brake.hold(3600.0, 3600.0) <= 3600.0
    assert brake.left == 3599.5
    now[0] = 3601.0
    assert brake.hold(3600.0, 3600.0) > 3600.0  # a second one
