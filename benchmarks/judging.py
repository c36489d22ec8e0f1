"""Speed of judging, and what a kill -9 costs: 4,000 judgements against a stub that takes 200 ms for each.

    python benchmarks/judging.py [--judgements 4000] [--latency 0.2] [--concurrency 16] [--fail 0.0]

The stub (tests/stub_judge.py) runs in a process of its own. Three parts: all judgements from nothing; the same again;
the same from nothing, killed in the middle and started again. The floor is latency * judgements / concurrency.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import keeping

TESTS = Path(__file__).resolve().parents[1] / "tests"
_ENDED = re.compile(
    r"(\d+) requests, (\d+) verdicts on (\d+) prompts \((\d+) more than once\).* (\d+) whose asker was gone, "
    r"(\d+) in flight"
)
REPORT = (
    "  the stub got {} requests and delivered {} verdicts on {} prompts ({} more than once); {} times the asker was "
    "gone; {} in flight at most"
)


def judge(count: int) -> None:
    """In a process of its own: judge ``count`` answers with the judge that the environment names."""
    sys.path.insert(0, str(TESTS / "judges"))
    import judge_sample

    from lmms_medtasks.judges import settings
    from lmms_medtasks.judges.judging import JudgeSession

    documents = [{"id": str(n), "question": f"What is seen in image {n}?", "answer": "effusion"} for n in range(count)]
    wanted = [
        (judge_sample.item(document, f"Most probably an effusion ({document['id']})."), 0) for document in documents
    ]
    started = time.monotonic()
    with JudgeSession(settings.read_judge_settings(), [judge_sample.PROTOCOL]) as judging:
        _, counts = judging.judge(judge_sample.PROTOCOL, wanted, say=lambda text: print(text, flush=True))
    print(f"{counts.sentence()}; {time.monotonic() - started:.1f} s, {time.process_time():.1f} s of CPU", flush=True)


class Stub:
    """The stub in a process of its own."""

    def __init__(self, given: argparse.Namespace) -> None:
        command = [
            sys.executable,
            str(TESTS / "stub_judge.py"),
            "--latency",
            str(given.latency),
            "--fail",
            str(given.fail),
        ]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.url = _pipe(self._process).readline().strip()

    def end(self) -> tuple[int, ...]:
        """What it saw: the numbers of :data:`REPORT`."""
        self._process.send_signal(signal.SIGTERM)
        said = self._process.communicate()[0]
        found = _ENDED.search(said)
        if found is None:
            raise SystemExit(f"The stub ended with {said!r}.")
        return tuple(map(int, found.groups()))


def _pipe(process: subprocess.Popen[str]):  # type: ignore[no-untyped-def]
    if process.stdout is None:
        raise SystemExit("no output of a child")
    return process.stdout


def start(given: argparse.Namespace, stub: Stub, home: str) -> subprocess.Popen[str]:
    """A process that judges."""
    environment = {
        **os.environ,
        "MEDTASKS_JUDGE": "local:stub",
        "LLM_JUDGE_URL": stub.url,
        "MEDTASKS_HOME": home,
        "MEDTASKS_JUDGE_CONCURRENCY": str(given.concurrency),
    }
    command = [sys.executable, __file__, "--child", "--judgements", str(given.judgements)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> str:
    """The last line that it said."""
    said = process.communicate()[0]
    if process.returncode:
        raise SystemExit(said)
    return said.strip().splitlines()[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judgements", type=int, default=4000)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--fail", type=float, default=0.0)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        judge(given.judgements)
        return
    floor = given.latency * given.judgements / given.concurrency
    each = f"{given.latency:g} s each, {given.concurrency} at a time"
    print(f"{given.judgements} judgements, {each}: at least {floor:.1f} s")
    with tempfile.TemporaryDirectory() as home:
        stub = Stub(given)
        print(f"from nothing: {finish(start(given, stub, home))}")
        print(f"the same again: {finish(start(given, stub, home))}")
        print(REPORT.format(*stub.end()))
    with tempfile.TemporaryDirectory() as home:
        stub = Stub(given)
        first = start(given, stub, home)
        _pipe(first).readline()  # it says what it is about to ask
        time.sleep(floor / 2)
        first.send_signal(signal.SIGKILL)
        first.wait()
        time.sleep(2 * given.latency)  # what the stub had in flight
        print(f"killed after {floor / 2:.1f} s, started again: {finish(start(given, stub, home))}")
        print(REPORT.format(*stub.end()))


if __name__ == "__main__":
    keeping.run(main)
