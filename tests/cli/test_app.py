"""`lmms-medtasks --version`, and what help shows first."""

import importlib.metadata
import re

import pytest
from typer.testing import CliRunner

from lmms_medtasks import __version__
from lmms_medtasks.cli.app import build_app


def test_both_versions_are_printed_a_line_each():
    done = CliRunner().invoke(build_app(), ["--version"])
    assert done.exit_code == 0
    assert done.output.splitlines() == [
        f"lmms-medtasks {__version__}",
        f"lmms-eval {importlib.metadata.version('lmms_eval')}",
    ]


def test_without_the_harness_its_line_says_so(monkeypatch):
    installed = importlib.metadata.version

    def not_installed(name):
        if name == "lmms_eval":
            raise importlib.metadata.PackageNotFoundError(name)
        return installed(name)

    monkeypatch.setattr(importlib.metadata, "version", not_installed)
    done = CliRunner().invoke(build_app(), ["--version"])
    assert done.exit_code == 0
    assert done.output.splitlines() == [f"lmms-medtasks {__version__}", "lmms-eval is not installed"]


def test_a_command_that_is_none_is_still_refused():
    assert CliRunner().invoke(build_app(), ["nope"]).exit_code == 2


def shown_help(*names):
    return CliRunner().invoke(build_app(), [*names, "--help"], env={"COLUMNS": "80", "NO_COLOR": "1"}).output


def test_commands_are_grouped_a_line_each():
    shown = shown_help()
    panels = re.findall(r"╭─ ([A-Z][a-z ]+) ─", shown)
    assert panels == ["Options", "Run", "Look at a run", "Compare", "Contribute a benchmark", "Publish", "Make images",
                      "Maintain"]  # fmt: skip
    assert re.findall(r"│ ([a-z]+) ", shown.split("─ Maintain ─")[1]) == ["reread", "metrics", "path"]
    commands = shown.split("─ Run ─")[1]
    assert not re.search(r"│ {3,}\w", commands), "a command's line is broken: shorten the first sentence"


@pytest.mark.parametrize("group", ["data", "judge", "agreement", "grids", "leaderboard"])
def test_a_group_keeps_its_name(group):
    assert f"lmms-medtasks {group}" in shown_help(group) or f"root {group}" in shown_help(group)


def test_help_of_run_begins_with_what_a_first_run_takes():
    shown = shown_help("run")
    assert re.findall(r"│ (--\w+)", shown)[:3] == ["--model", "--tasks", "--limit"]
    assert shown.index("lmms-medtasks run --model") < shown.index("─ Options ─")
