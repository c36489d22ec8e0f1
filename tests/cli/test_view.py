"""lmms-medtasks view in a process of its own: it prints its address, answers, and ends with its terminal."""

import signal
import subprocess
import sys
import urllib.request

import pytest
from typer.testing import CliRunner

from lmms_medtasks.cli.app import build
from tests import made_up_runs


@pytest.fixture
def view(tmp_path):
    """Starts the command on a run, and gives its process and the address that it printed."""
    made_up_runs.write(tmp_path / "run", {"medobvious": made_up_runs.choice_rows({"q/1": "B", "q2": "A"})})
    started = []

    def start():
        command = [sys.executable, "-m", "lmms_medtasks", "view", str(tmp_path / "run"), "--no-browser"]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)
        return process, process.stdout.readline().strip()

    yield start
    for process in started:
        process.kill()
        process.wait()
        for each in (process.stdin, process.stdout):
            each.close()


@pytest.mark.parametrize("end", ["closed input", signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_answers_at_once_and_ends_with_its_terminal(view, end):
    process, address = view()
    with urllib.request.urlopen(address, timeout=60) as found:
        assert found.url == f"{address}questions/medobvious.html?was=lost"
    if end == "closed input":
        process.stdin.close()
    else:
        process.send_signal(end)
    assert process.wait(60) == (0 if end in ("closed input", signal.SIGINT) else -end)


def test_mistakes(tmp_path):
    done = CliRunner().invoke(build(), ["view", str(tmp_path / "none")])
    assert done.exit_code != 0 and "is not there" in str(done.exception)
    assert CliRunner().invoke(build(), ["view", str(tmp_path), "--port", "70000"]).exit_code == 2
