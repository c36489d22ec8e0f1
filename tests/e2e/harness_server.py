"""Starts `python -m lmms_eval` many times for the price of one start: a process that has the harness imported forks.

Importing the harness takes 8 s and reading its own tasks' 1,600 YAMLs 7 s, a run on the mini data one or two, and the
tests need dozens of runs. Our tasks are read anew in each.

Each line on standard input is a request: a JSON object with ``arguments`` (of lmms-eval), ``environment`` (all of it)
and ``printed`` (a file for standard output, a file for standard error). Each is carried out by a fork of this process,
which then exits as any Python process does, and answered on standard output with a line: the exit status. What the
harness and its libraries read from the environment when they are imported is as it was when this process started.
"""

from __future__ import annotations

import copy
import importlib
import inspect
import json
import os
import runpy
import sys
from pathlib import Path

# With the evaluator come torch, transformers, datasets and our plugin; the others are imported on the way.
IMPORTED = ("lmms_eval.evaluator", "lmms_eval.tasks", "nltk", "pytablewriter", "sklearn.metrics")


def main() -> None:
    for name in IMPORTED:
        importlib.import_module(name)
    read_tasks_once()
    answers = os.fdopen(os.dup(1), "w")
    for line in iter(sys.stdin.readline, ""):
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            answers.close()
            become(request)
            return
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), file=answers, flush=True)


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


def become(request: dict) -> None:
    """Run the harness in this process as the request says. Raises SystemExit when the harness does."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, path in enumerate(request["printed"], start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = ["lmms_eval", *request["arguments"]]
    # As `python -m lmms_eval` has it, so that what depends on the name of the module run behaves alike.
    runpy.run_module("lmms_eval", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
