"""What tests of contributed folders share: commands of lmms-medtasks, tables that they write."""

from __future__ import annotations

import csv
from pathlib import Path

from typer.testing import CliRunner

from lmms_medtasks.cli.app import build_app


def command(*arguments: object) -> str:
    """What a command of lmms-medtasks prints; it must succeed."""
    wide = {"COLUMNS": "400", "NO_COLOR": "1"}
    found = CliRunner().invoke(build_app(), [str(each) for each in arguments], env=wide)
    assert found.exit_code == 0, found.output
    return found.output


def rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
