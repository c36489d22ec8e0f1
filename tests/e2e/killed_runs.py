"""Runs the harness in one process or several, and kills it where it is told to.

To be run by the command ``python`` of ``tests/harness_commands.py``, which has imported the harness already. Reads
commands as lines of JSON, and writes a line when one has ended. Each process of a run is a fork, started as torchrun
would start it, and killed with SIGKILL as soon as ``kill`` requests were asked.
"""

import json
import os
import signal
import socket
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import harness_commands


def asked(folder):
    """Every request that was asked, as its process wrote it down; the last line of a process may have been cut."""
    found = []
    for file in sorted(Path(folder).glob("*.jsonl")):
        for line in file.read_text("utf-8").split("\n")[:-1]:
            entry = json.loads(line)
            found += [entry] if "question" in entry else []
    return found


def _free_port():
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        return str(own.getsockname()[1])


def run(arguments, environment, ranks, kill, log, printed):
    port = _free_port()
    children = []
    for rank in range(ranks):
        child = os.fork()
        if child == 0:
            file = os.open(printed, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
            for number in (1, 2):
                os.dup2(file, number)
            places = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": ranks, "MASTER_ADDR": "127.0.0.1",
                      "LOCAL_WORLD_SIZE": ranks, "MASTER_PORT": port} if ranks > 1 else {}  # fmt: skip
            own = {**os.environ, **environment, **{name: str(value) for name, value in places.items()}}
            harness_commands.become("lmms-eval", arguments, os.getcwd(), own)
        children.append(child)
    statuses = {}
    before = len(asked(log))
    while len(statuses) < ranks:
        for child in children:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                statuses[child] = os.waitstatus_to_exitcode(status)
                children.remove(child)
        if kill is not None and len(asked(log)) - before >= kill:
            for child in children:
                os.kill(child, signal.SIGKILL)
            kill = None
        time.sleep(0.01)
    return list(statuses.values())


if __name__ == "__main__":
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(run(**json.loads(line))), flush=True)
