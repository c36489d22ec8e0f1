"""Ways in which a judge's server fails, and what each costs: requests, until the judging ends.

By itself it prints the table: ``python tests/judges/failing_judges.py --answers 500``. Waiting goes by a clock that is
300 times as fast.
"""

from __future__ import annotations

import argparse
import os
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from pathlib import Path
from typing import Any

SPEED = 300.0
TIMEOUT = 0.2  # seconds
HTML = b"<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1><hr>nginx</body></html>"


def in_seconds(seconds: float) -> str:
    """A date so many seconds from now, as Retry-After has it."""
    return format_datetime(datetime.now(timezone.utc) + timedelta(seconds=seconds), usegmt=True)


def statuses(stub: Any, *numbers: int) -> dict[str, Callable[[], Any]]:
    return {f"status {number}": lambda number=number: stub.Answer(number, f"status {number}") for number in numbers}


def failures(stub: Any) -> dict[str, Callable[[], Any]]:
    """Name -> what makes the answer to every request; ``stub``: the module ``tests/stub_judge.py``."""
    return {
        **statuses(stub, 302, 400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 413, 415, 418, 422, 424, 425, 451),
        "status 400, unknown model (DeepSeek)": lambda: stub.Answer(400, "Model Not Exist"),
        "status 429": lambda: stub.Answer(429, "slow down"),
        "status 429, Retry-After 2 s": lambda: stub.Answer(429, "slow down", after="2"),
        "status 429, Retry-After a date in 30 s": lambda: stub.Answer(429, "slow down", after=in_seconds(30)),
        "status 429, Retry-After an hour": lambda: stub.Answer(429, "come back later", after="3600"),
        "status 429, Retry-After a day": lambda: stub.Answer(429, "come back tomorrow", after="86400"),
        "status 429, quota used up": lambda: stub.Answer(429, "insufficient_quota: check your plan and billing"),
        **statuses(stub, 500, 501, 503, 504, 520, 529, 599),
        "status 502, a page": lambda: stub.Answer(502, body=HTML),
        "status 503, Retry-After an hour": lambda: stub.Answer(503, "maintenance", after="3600"),
        "status 200, a page": lambda: stub.Answer(body=HTML),
        "status 200, an empty body": lambda: stub.Answer(body=b""),
        "status 200, an error's body": lambda: stub.Answer(body=b'{"error": {"message": "overloaded", "code": 529}}'),
        "status 200, no choices": lambda: stub.Answer(body=b'{"choices": []}'),
        "status 200, a body cut off": lambda: stub.KINDS["truncated_body"],
        "status 200, content null": lambda: stub.KINDS["null"],
        "status 200, content a number": lambda: stub.Answer(body=b'{"choices": [{"message": {"content": 5}}]}'),
        "status 200, prose": lambda: stub.KINDS["prose"],
        "status 200, a refusal": lambda: stub.KINDS["refusal"],
        "status 200, filtered": lambda: stub.KINDS["filtered"],
        "status 200, cut off at the limit": lambda: stub.KINDS["length"],
        "status 200, off the scale": lambda: stub.KINDS["out_of_range"],
        "the connection is closed": lambda: stub.KINDS["hang_up"],
        "the connection is reset": lambda: stub.Answer(reset=True),
        "no reply in time": lambda: stub.Answer(sleep=5 * TIMEOUT),
        "nobody listens": lambda: stub.Answer(),
    }


def judged(stub: Any, sample: Any, name: str, answers: int, **values: Any) -> tuple[int, Any, list[str]]:
    """Judge ``answers`` answers at a server that fails in this way: requests, counts, what was said.

    ``stub``, ``sample``: the modules ``tests/stub_judge.py`` and ``judge_sample.py``.
    """
    from lmms_medtasks.judges import judging, settings, transport

    class QuickBrake(transport.RequestPause):
        def __init__(self) -> None:
            super().__init__(lambda: time.monotonic() * SPEED)
            waiting = self._stopped.wait
            self._stopped.wait = lambda seconds: waiting(seconds / SPEED)

    answer = failures(stub)[name]
    served = stub.Stub(rule=lambda request: answer())
    server = stub.start(served)
    if name == "nobody listens":
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            served.url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    timeout = TIMEOUT if name == "no reply in time" else 60.0
    environment = {"LLM_JUDGE_URL": served.url, "MEDTASKS_JUDGE_TIMEOUT": str(timeout)}
    environment |= {f"MEDTASKS_JUDGE_{key.upper()}": str(value) for key, value in values.items()}
    documents = [{"id": f"q{n}", "question": f"What is in {n}?", "answer": "effusion"} for n in range(answers)]
    wanted = [(sample.item(each, "an effusion"), 0) for each in documents]
    real, said = judging.RequestPause, []
    judging.RequestPause = QuickBrake
    try:
        with judging.JudgeSession(settings.read_judge_settings(environment, "local:m"), [sample.PROTOCOL]) as judge:
            _, counts = judge.judge(sample.PROTOCOL, wanted, say=said.append, quiet=True)
    finally:
        judging.RequestPause = real
        server.shutdown()
        server.server_close()
    requests = counts.spent.requests if name == "nobody listens" else len(served.requests)
    return requests, counts, said


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=500)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1])]
    import judge_sample
    import stub_judge

    with tempfile.TemporaryDirectory() as home:
        os.environ["MEDTASKS_HOME"] = home
        print("| Every request | Requests | Judged | Reasons |\n|---|--:|--:|---|")
        for name in failures(stub_judge):
            if given.only in name:
                requests, counts, _ = judged(stub_judge, judge_sample, name, given.answers)
                reason = max(counts.reasons, key=counts.reasons.get, default="")
                print(f"| {name} | {requests:,} | {counts.judged} | {reason[:90]} |", flush=True)


if __name__ == "__main__":
    main()
