"""`lmms-medtasks tasks`; `lmms-medtasks path` and the harness's listing by it."""

import json
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lmms_medtasks.cli.app import build_app


@pytest.fixture
def call(home, monkeypatch):
    """Calls `lmms-medtasks tasks` where no data is prepared; gives the lines."""
    monkeypatch.delenv("MEDTASKS_DATA", raising=False)

    def run(*arguments):
        done = CliRunner().invoke(build_app(), ["tasks", *arguments])
        assert done.exit_code == 0, done.output
        return done.stdout.splitlines()

    return run


def test_a_task_has_a_line_below_its_benchmark(call, monkeypatch):
    lines = call("med_cmr")
    assert lines[0] == "Med-CMR: Can it reason over fine visual evidence?"
    rows = {line.split()[0]: line.split() for line in lines if line.startswith("  ")}
    assert rows["task"] == ["task", "questions", "trials", "judge", "data"]
    assert rows["med_cmr_open"][1:] == ["35", "1", "yes", "no", "Open", "answers"]
    assert rows["med_cmr_mcq"][1:] == ["70", "1", "no", "Choice", "questions"]
    assert rows["med_cmr"][4:] == ["no", "2", "tasks:", "med_cmr_mcq,", "med_cmr_open"]
    assert "  Not prepared: med_cmr" in lines and "lmms-medtasks data prepare NAME" in lines[-1]
    monkeypatch.setenv("MEDTASKS_DATA", "mini")
    assert "prepare" not in "".join(call("med_cmr"))


def test_without_names_variants_are_counted_only(call):
    lines = call()
    assert "  16 more, parts and variants of these: lmms-medtasks tasks medobvious" in lines
    assert any("medobvious_neutral" in line for line in lines) and not any("medobvious_t1" in line for line in lines)


def test_json_has_every_task_and_the_same_numbers(call):
    listed = {task["name"]: task for task in json.loads("\n".join(call("medobvious", "--json")))}
    assert listed["medobvious_t1"]["questions"] == 32 and listed["medobvious_t1"]["data"] == "not prepared"
    assert Path(listed["medobvious_t1"]["file"]).is_file()


def test_prints_the_folder_of_the_yamls():
    folder = Path(CliRunner().invoke(build_app(), ["path"]).output.strip())
    assert (folder / "medq_deg" / "medq_deg_l2.yaml").is_file()


def test_the_harness_lists_our_tasks_by_it(commands):
    folder = CliRunner().invoke(build_app(), ["path"]).output.strip()
    command = [str(commands / "lmms-eval"), "tasks", "subtasks", "--include-path", folder]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "medq_deg_release_l2" in done.stdout + done.stderr
