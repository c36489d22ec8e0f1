"""`lmms-medtasks path` and the harness's listing by it."""

import subprocess
from pathlib import Path

from typer.testing import CliRunner

from lmms_medtasks.cli.app import build_app


def test_prints_the_folder_of_the_yamls():
    folder = Path(CliRunner().invoke(build_app(), ["path"]).output.strip())
    assert (folder / "medq_deg" / "medq_deg_l2.yaml").is_file()


def test_the_harness_lists_our_tasks_by_it(commands):
    folder = CliRunner().invoke(build_app(), ["path"]).output.strip()
    command = [str(commands / "lmms-eval"), "tasks", "subtasks", "--include-path", folder]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "medq_deg_release_l2" in done.stdout + done.stderr
