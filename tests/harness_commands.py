"""Runs console commands of the harness many times for the price of one start of it.

Importing the harness takes 8 s and reading its own tasks' 1,600 YAMLs 7 s, a run on the mini data about one, and the
tests need hundreds of runs. ``python harness_commands.py FOLDER`` does both once, writes three commands into FOLDER and
answers them as long as somebody has ``FOLDER/alive`` open for writing:

- ``lmms-eval`` and ``lmms-medtasks`` call the function that the installed command of that name calls;
- ``python -m MODULE ...`` runs the module; any other arguments are given to the real Python.

Each is carried out by a fork, with the arguments, environment, working directory and files of its caller, and several
at a time. A fork takes ``python`` for its own interpreter, and so does torchrun: ``lmms-medtasks run``,
``python -m torch.distributed.run`` and ``accelerate launch`` start processes which are forks too, with the ranks and
the places to meet that the launcher gives them. What stands in PYTHONPATH is added in the fork: sitecustomize.py is
run, and the harness's registry of models reads the entry points anew. Our tasks are read anew in each. Only what
libraries read from the environment when they are imported is as it was when this process started.
"""

from __future__ import annotations

import array
import atexit
import contextlib
import gc
import importlib
import importlib.metadata
import inspect
import json
import os
import pickle
import pkgutil
import runpy
import select
import signal
import socket
import sys
import traceback
from pathlib import Path

import filelock

COMMANDS = ("lmms-eval", "lmms-medtasks", "python")
CALLER = """\
#!{python} -IS
import array, json, os, signal, socket, sys

arguments = [word for word in sys.argv[1:] if word != "-u"] if {name!r} == "python" else sys.argv[1:]
if {name!r} == "python" and arguments[:1] != ["-m"]:
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
with socket.socket(socket.AF_UNIX) as server:
    try:
        server.connect({address!r})
    except ConnectionRefusedError:
        sys.exit("tests/harness_commands.py has ended, and said: " + open({log!r}).read())
    asked = json.dumps([{name!r}, arguments, os.getcwd(), dict(os.environ)]).encode()
    files = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))]
    server.sendmsg([len(asked).to_bytes(8, "big")], files)
    server.sendall(asked)
    fork = int.from_bytes(server.recv(4), "big")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: os.kill(fork, number))
    sys.exit(server.recv(1)[0])
"""


# With the evaluator come torch, transformers, datasets and our plugin; the others are imported on the way.
IMPORTED = (
    *("lmms_eval.evaluator", "lmms_eval.tasks", "lmms_eval.cli.dispatch", "lmms_eval.cli.power_utils"),
    *("lmms_eval.models.model_utils.gen_metrics", "nltk", "platformdirs", "pytablewriter", "sklearn.metrics"),
)


PACKAGES = ("lmms_medtasks", *(f"lmms_medtasks.{name}" for name in ("degradations", "judges", "task_configs")))


def read_tasks_once() -> None:
    """Let the harness know in every fork what is in its own folder of tasks."""
    from lmms_eval.tasks import TaskManager

    read, known = TaskManager._get_task_and_group, []
    own = str(Path(inspect.getfile(TaskManager)).parent)

    def read_or_known(manager: TaskManager, folder: str) -> dict:
        if not Path(folder).samefile(own):
            return read(manager, folder)
        if not known:
            known.append(pickle.dumps(read(manager, folder)))
        return pickle.loads(known[0])  # ten times faster than a deep copy

    TaskManager._get_task_and_group = read_or_known
    TaskManager()


def read_package_once() -> None:
    """Import every module of ours, and let each fork know the package's digest."""
    from PIL import Image

    from lmms_medtasks import digests

    names = []
    for package in PACKAGES:  # three of them lie beside the first one
        path = importlib.import_module(package).__path__
        names += [each.name for each in pkgutil.walk_packages(path, f"{package}.") if each.name[-8:] != "__main__"]
    for name in names:
        importlib.import_module(name)
    Image.init()
    digests.package_digest()


def serve(folder: Path) -> None:
    """Answer commands until nobody has ``FOLDER/alive`` open any more."""
    for name in IMPORTED:
        importlib.import_module(name)
    read_tasks_once()
    read_package_once()
    gc.collect()
    gc.freeze()  # the harness collects at the end of each run: a second for the million objects that are here by now
    address, python = str(folder / "socket"), sys.executable
    running: dict[int, socket.socket] = {}
    alive = os.open(folder / "alive", os.O_RDONLY | os.O_NONBLOCK)
    # A handler may run between any two steps, as a thread of torch takes the signal: so it only wakes the loop.
    ended, wake = socket.socketpair()
    for end in (ended, wake):
        end.setblocking(False)
    signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(64)
        for name in COMMANDS:
            path = folder / name
            path.write_text(CALLER.format(python=python, address=address, name=name, log=str(folder / "log")), "utf-8")
            path.chmod(0o755)
        # What a fork starts are forks again.
        sys.executable = os.environ["PYTHON_EXEC"] = str(folder / "python")
        (folder / "ready").touch()
        while True:
            ready, _, _ = select.select([listener, alive, ended], [], [])
            if ended in ready:
                ended.recv(4096)
                _reap(running)
            if listener in ready:
                caller, _ = listener.accept()
                _answer(caller, (listener, ended, wake), running)
            if alive not in ready:
                continue
            # Whoever opens it does so under this lock.
            with filelock.FileLock(folder.with_suffix(".lock")), contextlib.suppress(BlockingIOError):
                if not os.read(alive, 1):
                    for name in ("ready", "socket", "alive"):
                        (folder / name).unlink()
                    return


def _reap(running: dict[int, socket.socket]) -> None:
    while running:
        child, status = os.waitpid(-1, os.WNOHANG)
        if not child:
            return
        with running.pop(child) as caller, contextlib.suppress(OSError):  # the caller may have been killed
            caller.sendall(bytes([os.waitstatus_to_exitcode(status) & 255]))


def _answer(caller: socket.socket, own: tuple[socket.socket, ...], running: dict[int, socket.socket]) -> None:
    size, handles, *_ = caller.recvmsg(8, socket.CMSG_LEN(3 * array.array("i").itemsize))
    if not handles:  # killed before it asked
        caller.close()
        return
    files = array.array("i")
    files.frombytes(handles[0][2])
    child = os.fork()
    if child == 0:
        os.setsid()  # what it does to its group of processes is not done to this one
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        with caller.makefile("rb") as request:
            name, arguments, folder, environment = json.loads(request.read(int.from_bytes(size, "big")))
        for number, file in enumerate(files):
            os.dup2(file, number)
        for other in (*own, caller, *running.values()):
            other.close()
        become(name, arguments, folder, environment)
    for file in files:
        os.close(file)
    running[child] = caller
    with contextlib.suppress(OSError):
        caller.sendall(child.to_bytes(4, "big"))


def become(name: str, arguments: list[str], folder: str, environment: dict[str, str]) -> None:
    """Do what the command does, and end with its status."""
    interpreter = os.environ["PYTHON_EXEC"]
    os.environ.clear()
    os.environ.update({**environment, "PYTHON_EXEC": interpreter})
    os.chdir(folder)
    status: object = 1
    try:
        # As Python has it: the working directory for `-m`, and the folder of the command, with no module in it, else.
        sys.path[0] = folder if name == "python" else os.path.dirname(interpreter)
        _add_to_path([each for each in environment.get("PYTHONPATH", "").split(os.pathsep) if each])
        if name == "python":
            sys.argv = arguments[1:]
            runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
            status = 0
        else:
            sys.argv = [name, *arguments]
            [entry] = importlib.metadata.entry_points(group="console_scripts", name=name)
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


def _add_to_path(folders: list[str]) -> None:
    """Do what a start with these folders in PYTHONPATH would do more than this process has done."""
    new = [each for each in folders if each not in sys.path]
    if not new:
        return
    sys.path[1:1] = new
    importlib.invalidate_caches()
    for each in new:
        if os.path.exists(file := os.path.join(each, "sitecustomize.py")):
            runpy.run_path(file, run_name="sitecustomize")
    from lmms_eval.models import MODEL_REGISTRY_V2

    from lmms_medtasks import extensions

    MODEL_REGISTRY_V2.load_entrypoint_manifests(overwrite=True)
    extensions.installed_extensions.cache_clear()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
