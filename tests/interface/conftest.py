"""Runs for the tests of the interface: written by hand, and one of the harness in this process."""

from __future__ import annotations

import copy

import pytest

QUESTIONS = 12
TASKS = ("medq_deg_l0", "medq_deg_l0@gaussian_noise.2")


@pytest.fixture(scope="session")
def made_up_runs():
    """The module ``tests/made_up_runs.py``."""
    from tests import made_up_runs

    return made_up_runs


@pytest.fixture(scope="session")
def in_process(tmp_path_factory):
    """The harness in this process on the mini data, without network; it reads its own 1,600 YAMLs once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEDTASKS_DATA", "mini")
        patch.setenv("MEDTASKS_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("HF_HUB_OFFLINE", "1")
        from lmms_eval.tasks import TaskManager

        read, known = TaskManager._get_task_and_group, {}

        def read_once(manager, folder):
            if folder not in known:
                known[folder] = read(manager, folder)
            return copy.deepcopy(known[folder])

        patch.setattr(TaskManager, "_get_task_and_group", read_once)
        yield


@pytest.fixture(scope="session")
def evaluated(in_process, tmp_path_factory):
    """A clean and a degraded task, asked of a model of ours."""
    import lmms_medtasks as mt

    return mt.evaluate("medtasks_random", TASKS, limit=QUESTIONS, output=tmp_path_factory.mktemp("run"))
