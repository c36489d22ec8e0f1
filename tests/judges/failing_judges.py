"""Ways in which a judge's server fails, and what each costs: requests, until the judging ends.

By itself it prints the table: ``python tests/judges/failing_judges.py --answers 500``. Waiting goes by a clock that is
2,000 times as fast.
"""

from __future__ import annotations

import argparse
import os
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1])]

import stub_judge
from stub_judge import Answer

SPEED = 2000.0
TIMEOUT = 0.2  # seconds
HTML = b"<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1><hr>nginx</body></html>"


def in_seconds(seconds: float) -> str:
    """A date so many seconds from now, as Retry-After has it."""
    return format_datetime(datetime.now(timezone.utc) + timedelta(seconds=seconds), usegmt=True)


def statuses(*numbers: int) -> dict[str, Callable[[], Answer]]:
    return {f"status {number}": lambda number=number: Answer(number, f"status {number}") for number in numbers}


FAILURES: Mapping[str, Callable[[], Answer]] = {
    **statuses(302, 400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 413, 415, 418, 422, 424, 425, 451),
    "status 400, unknown model (DeepSeek)": lambda: Answer(400, "Model Not Exist"),
    "status 429": lambda: Answer(429, "slow down"),
    "status 429, Retry-After 2 s": lambda: Answer(429, "slow down", after="2"),
    "status 429, Retry-After a date in 30 s": lambda: Answer(429, "slow down", after=in_seconds(30)),
    "status 429, Retry-After an hour": lambda: Answer(429, "come back later", after="3600"),
    "status 429, Retry-After a day": lambda: Answer(429, "come back tomorrow", after="86400"),
    "status 429, quota used up": lambda: Answer(429, "insufficient_quota: check your plan and billing"),
    **statuses(500, 501, 503, 504, 520, 529, 599),
    "status 502, a page": lambda: Answer(502, body=HTML),
    "status 503, Retry-After an hour": lambda: Answer(503, "maintenance", after="3600"),
    "status 200, a page": lambda: Answer(body=HTML),
    "status 200, an empty body": lambda: Answer(body=b""),
    "status 200, an error's body": lambda: Answer(body=b'{"error": {"message": "overloaded", "code": 529}}'),
    "status 200, no choices": lambda: Answer(body=b'{"choices": []}'),
    "status 200, a body cut off": lambda: stub_judge.KINDS["truncated_body"],
    "status 200, content null": lambda: stub_judge.KINDS["null"],
    "status 200, content a number": lambda: Answer(body=b'{"choices": [{"message": {"content": 5}}]}'),
    "status 200, prose": lambda: stub_judge.KINDS["prose"],
    "status 200, a refusal": lambda: stub_judge.KINDS["refusal"],
    "status 200, filtered": lambda: stub_judge.KINDS["filtered"],
    "status 200, cut off at the limit": lambda: stub_judge.KINDS["length"],
    "status 200, off the scale": lambda: stub_judge.KINDS["out_of_range"],
    "the connection is closed": lambda: stub_judge.KINDS["hang_up"],
    "the connection is reset": lambda: Answer(reset=True),
    "no reply in time": lambda: Answer(sleep=5 * TIMEOUT),
    "nobody listens": lambda: Answer(),
}
"""Name -> the answer to every request."""


def judged(name: str, answers: int, url: str = "", **values: Any) -> tuple[int, Any, list[str], float]:
    """Judge ``answers`` answers at a server that fails in this way: requests, counts, what was said, seconds."""
    import judge_sample

    from lmms_medtasks.judges import judging, retrying, settings

    class QuickBrake(retrying.Brake):
        def __init__(self) -> None:
            super().__init__(lambda: time.monotonic() * SPEED)
            waiting = self._stopped.wait
            self._stopped.wait = lambda seconds: waiting(seconds / SPEED)

    stub = stub_judge.Stub(rule=lambda request: FAILURES[name]())
    server = stub_judge.start(stub)
    if name == "nobody listens":
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            stub.url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    environment = {"LLM_JUDGE_URL": stub.url, "MEDTASKS_JUDGE_TIMEOUT": str(TIMEOUT)}
    environment |= {f"MEDTASKS_JUDGE_{key.upper()}": str(value) for key, value in values.items()}
    documents = [{"id": f"q{n}", "question": f"What is in {n}?", "answer": "effusion"} for n in range(answers)]
    wanted = [(judge_sample.item(each, "an effusion"), 0) for each in documents]
    real, said, begun = judging.Brake, [], time.monotonic()
    judging.Brake = QuickBrake
    try:
        with judging.Judge(settings.read(environment, "local:m"), [judge_sample.PROTOCOL]) as judge:
            _, counts = judge.judge(judge_sample.PROTOCOL, wanted, say=said.append, quiet=True)
    finally:
        judging.Brake = real
        server.shutdown()
        server.server_close()
    requests = counts.spent.requests if name == "nobody listens" else len(stub.requests)
    return requests, counts, said, time.monotonic() - begun


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=500)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ["MEDTASKS_HOME"] = home
        print("| Every request | Requests | Judged | Reasons |\n|---|--:|--:|---|")
        for name in FAILURES:
            if given.only in name:
                requests, counts, _, _ = judged(name, given.answers)
                reason = max(counts.reasons, key=counts.reasons.get, default="")
                print(f"| {name} | {requests:,} | {counts.judged} | {reason[:90]} |", flush=True)


if __name__ == "__main__":
    main()
