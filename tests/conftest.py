"""What tests of several folders share: their order, the harness's commands, the stub of a judge."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import filelock
import pytest
from hypothesis import settings

pytest_plugins = ["tests.release_fixtures"]

# Nothing is timed in a test: a machine with something else to do would fail it.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# Folders whose files take long: begun first, so that no process is left with one of them at the end.
LONG = ("e2e", "contributing", "leaderboard")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not any(name in item.path.parts for name in LONG))


# What libraries read when they are imported: no network, one thread.
QUIET = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}


@pytest.fixture(scope="session")
def commands(tmp_path_factory):
    """A folder with the commands lmms-eval, lmms-medtasks and python, see ``tests/harness_commands.py``; no network.

    They are shared by all processes of a test session: the first one that asks starts the process that answers, which
    ends when the last one that asked has ended.
    """
    shared = tmp_path_factory.getbasetemp()
    shared = shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared
    folder = shared / "commands"
    with filelock.FileLock(shared / "commands.lock"):
        folder.mkdir(exist_ok=True)
        if not (folder / "socket").exists():
            (folder / "alive").unlink(missing_ok=True)
            os.mkfifo(folder / "alive")
        alive = os.open(folder / "alive", os.O_RDWR)  # for writing alone it would wait for a reader
        if not (folder / "socket").exists():
            environment = {**os.environ, **QUIET, "HF_HOME": str(shared / "hf")}
            server = [sys.executable, str(Path(__file__).with_name("harness_commands.py")), str(folder)]
            with subprocess.Popen(server, env=environment, stdout=subprocess.PIPE, text=True).stdout as said:
                assert said.readline() == "ready\n"
    yield folder
    os.close(alive)


@pytest.fixture(scope="session")
def stub_judge():
    """The module ``tests/stub_judge.py``."""
    name = "medtasks_stub_judge"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name("stub_judge.py"))
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


@pytest.fixture
def other_server(stub_judge):
    """A second stub of a judge, at another port."""
    stub = stub_judge.Stub()
    server = stub_judge.start(stub)
    yield stub
    server.shutdown()
    server.server_close()


@pytest.fixture
def judge_server(stub_judge):
    """A running stub of a judge (``stub_judge.Stub``) at ``judge_server.url``; started only where it is asked for."""
    stub = stub_judge.Stub()
    server = stub_judge.start(stub)
    yield stub
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def medq_deg_runs():
    """The module ``tests/medq_deg_runs.py``."""
    name = "medtasks_medq_deg_runs"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name("medq_deg_runs.py"))
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


@pytest.fixture
def write_run(medq_deg_runs, tmp_path):
    """Writes a run of MedQ-Deg by hand and gives its folder; what can be chosen: see ``tests/medq_deg_runs.py``."""

    def write(name="run", **chosen):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        medq_deg_runs.write(folder, **chosen)
        return folder

    return write


@pytest.fixture
def task_sets_of():
    """From the folders of runs to MedQ-Deg's task sets in them, as sources of a report."""
    from lmms_medtasks.report import Options
    from lmms_medtasks.samples import runs as report_runs
    from lmms_medtasks.suites.suite_rows import suite_table
    from lmms_medtasks.task_configs.medq_deg.measures import SUITE
    from lmms_medtasks.task_configs.medq_deg.task_sets import task_sets

    def of(*folders, resamples=50):
        runs = report_runs.find(folders)
        return task_sets(SUITE, runs, suite_table(SUITE, runs), Options(resamples=resamples))

    return of
