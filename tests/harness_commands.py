"""Runs the console commands lmms-eval and lmms-medtasks many times for the price of one start of the harness.

Importing the harness takes 8 s and reading its own tasks' 1,600 YAMLs 7 s, a run on the mini data one or two, and the
tests need dozens of runs. ``python harness_commands.py FOLDER`` does both once, writes the commands into FOLDER and
answers them until it is terminated: each is carried out by a fork, with the arguments, environment, working directory
and files of its caller, by the function that the installed command of that name calls. Our tasks are read anew in each.
What libraries read from the environment when they are imported is as it was when this process started.
"""

from __future__ import annotations

import array
import atexit
import copy
import importlib
import importlib.metadata
import inspect
import json
import os
import signal
import socket
import sys
import traceback
from pathlib import Path

COMMANDS = ("lmms-eval", "lmms-medtasks")
CALLER = """\
#!{python} -IS
import array, json, os, socket, sys

with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    asked = json.dumps([{name!r}, sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    files = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))]
    server.sendmsg([len(asked).to_bytes(8, "big")], files)
    server.sendall(asked)
    sys.exit(server.recv(1)[0])
"""


# With the evaluator come torch, transformers, datasets and our plugin; the others are imported on the way.
IMPORTED = ("lmms_eval.evaluator", "lmms_eval.tasks", "nltk", "pytablewriter", "sklearn.metrics")


def read_tasks_once() -> None:
    """Let the harness know in every fork what is in its own folder of tasks."""
    from lmms_eval.tasks import TaskManager

    read, known = TaskManager._get_task_and_group, {}
    own = str(Path(inspect.getfile(TaskManager)).parent)

    def read_or_known(manager: TaskManager, folder: str) -> dict:
        if not Path(folder).samefile(own):
            return read(manager, folder)
        if not known:
            known.update(read(manager, folder))
        return copy.deepcopy(known)

    TaskManager._get_task_and_group = read_or_known
    TaskManager()


def serve(folder: Path) -> None:
    for name in IMPORTED:
        importlib.import_module(name)
    read_tasks_once()
    address = str(folder / "socket")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        for name in COMMANDS:
            path = folder / name
            path.write_text(CALLER.format(python=sys.executable, address=address, name=name), "utf-8")
            path.chmod(0o755)
        print("ready", flush=True)
        while True:
            caller, _ = listener.accept()
            with caller:
                _answer(caller, listener)


def _answer(caller: socket.socket, listener: socket.socket) -> None:
    size, handles, *_ = caller.recvmsg(8, socket.CMSG_LEN(3 * array.array("i").itemsize))
    files = array.array("i")
    files.frombytes(handles[0][2])
    child = os.fork()
    if child == 0:
        with caller.makefile("rb") as request:
            name, arguments, folder, environment = json.loads(request.read(int.from_bytes(size, "big")))
        for number, file in enumerate(files):
            os.dup2(file, number)
        listener.close()
        _become(name, arguments, folder, environment)
    for file in files:
        os.close(file)
    _, status = os.waitpid(child, 0)
    caller.sendall(bytes([os.waitstatus_to_exitcode(status) & 255]))


def _become(name: str, arguments: list[str], folder: str, environment: dict[str, str]) -> None:
    """Call what the command calls, and end with its status."""
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:0] = filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
    os.chdir(folder)
    sys.argv = [name, *arguments]
    [entry] = importlib.metadata.entry_points(group="console_scripts", name=name)
    status: object = 1
    try:
        status = entry.load()()
    except SystemExit as ended:
        status = ended.code
    except BaseException:  # noqa: BLE001 (as Python itself does)
        traceback.print_exc()
    if isinstance(status, str):
        print(status, file=sys.stderr)
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    # Taking the harness's modules apart, as Python does at its end, takes 3 s.
    os._exit(status if isinstance(status, int) else int(status is not None))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    serve(Path(sys.argv[1]))
