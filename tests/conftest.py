"""What tests of several folders share: their order, the harness's commands, the stub of a judge."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import filelock
import pytest
from hypothesis import settings

# What is not committed yet is not told by runs: tests give the same in a working copy with changes.
os.environ["GIT_CEILING_DIRECTORIES"] = str(Path(__file__).resolve().parents[1])

pytest_plugins = ["tests.release_fixtures"]

# Nothing is timed in a test: a machine with something else to do would fail it.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# Folders whose files take long: begun first, so that no process is left with one of them at the end. While the first
# of them is tested, the process starts that the second one waits for (commands_begun).
LONG = ("board", "e2e", "contribute", "report")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def place(item: pytest.Item) -> int:
        return next((place for place, name in enumerate(LONG) if name in item.path.parts), len(LONG))

    items.sort(key=place)


# What libraries read when they are imported: no network, one thread.
QUIET = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}


@pytest.fixture(scope="session", autouse=True)
def commands_begun(request, tmp_path_factory):
    """Starts the process behind :func:`commands` where a test of this session wants it, and does not wait for it.

    It is shared by all processes of the session, and ends when the last one has ended.
    """
    if not any("commands" in getattr(item, "fixturenames", ()) for item in request.session.items):
        yield None
        return
    shared = tmp_path_factory.getbasetemp()
    shared = shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared
    folder, process = shared / "commands", None
    with filelock.FileLock(shared / "commands.lock"):
        folder.mkdir(exist_ok=True)
        first = not (folder / "alive").exists()
        if first:
            os.mkfifo(folder / "alive")
        alive = os.open(folder / "alive", os.O_RDWR)  # to open it for writing alone would wait for a reader
        if first:
            environment = {**os.environ, **QUIET, "HF_HOME": str(shared / "hf")}
            server = [sys.executable, str(Path(__file__).with_name("harness_commands.py")), str(folder)]
            quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "start_new_session": True}
            with open(folder / "log", "wb") as log:
                process = subprocess.Popen(server, env=environment, stderr=log, **quiet)
    yield folder
    os.close(alive)
    if process:
        process.wait()


@pytest.fixture(scope="session")
def commands(commands_begun):
    """A folder with the commands lmms-eval, lmms-medtasks and python, see ``tests/harness_commands.py``; no network."""
    assert commands_begun is not None, "A test that wants the commands names a fixture that leads to them."
    end = time.monotonic() + 300
    while not (commands_begun / "ready").exists():
        assert time.monotonic() < end, "tests/harness_commands.py did not start."
        time.sleep(0.05)
    return commands_begun


@pytest.fixture(scope="session")
def beside():
    """Call as beside("folder/*.txt"): the first such file of what may lie beside a checkout; without one a skip."""

    def find(pattern):
        folder = Path(os.environ.get("MEDTASKS_SHARED", Path(__file__).parents[2] / "shared"))
        found = sorted(folder.glob(pattern))
        return found[0] if found else pytest.skip(f"{pattern} is not here (MEDTASKS_SHARED)")

    return find


@pytest.fixture
def nothing_given(monkeypatch):
    """No benchmark's folder is known but the installed ones, whatever other tests gave."""
    from lmms_medtasks.suites import registry

    monkeypatch.setattr(registry, "_GIVEN", {})
    registry.get.cache_clear()
    yield
    registry.get.cache_clear()


@pytest.fixture(scope="session")
def stub_judge():
    """The module ``tests/stub_judge.py``."""
    from tests import stub_judge

    return stub_judge


def _judge(stub_judge):
    """A running stub of a judge (``stub_judge.Stub``) at its ``url``; started only where it is asked for."""
    stub = stub_judge.Stub()
    server = stub_judge.start(stub)
    yield stub
    server.shutdown()
    server.server_close()


judge_server = pytest.fixture(_judge, name="judge_server")
other_server = pytest.fixture(_judge, name="other_server")  # a second one, at another port


@pytest.fixture
def stub():
    """A running stub of a model's server (``tests/stub_server.py``)."""
    from tests.stub_server import Server, Stub

    served = Server(Stub())
    yield served.stub
    served.end()


@pytest.fixture(scope="session")
def medq_deg_runs():
    """The module ``tests/medq_deg_runs.py``."""
    from tests import medq_deg_runs

    return medq_deg_runs


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
    from lmms_medtasks.report import ReportOptions
    from lmms_medtasks.samples import runs as report_runs
    from lmms_medtasks.suites.suite_rows import suite_table
    from lmms_medtasks.task_configs.medq_deg.measures import SUITE
    from lmms_medtasks.task_configs.medq_deg.report_published import task_sets

    def of(*folders, resamples=50):
        runs = report_runs.find_result_files(folders)
        return task_sets(SUITE, runs, suite_table(SUITE, runs), ReportOptions(resamples=resamples))

    return of


@pytest.fixture
def any_share_read(monkeypatch):
    """A report takes its numbers for findings however few replies could be read: of four made-up ones one is not."""
    from lmms_medtasks.report import readability

    monkeypatch.setattr(readability, "least_read", lambda: 0.0)
