"""The card of a task's folder: README.md with paper, licence, data-use terms and changelog."""

from __future__ import annotations

from pathlib import Path

from lmms_medtasks.contribute.new import UNFILLED
from lmms_medtasks.task_yaml.problems import Findings

_ROWS = ("Paper", "Licence", "Data-use terms")
_SECTIONS = ("Tasks", "Metrics", "Data", "Checklist", "Deviations from the paper", "Changelog")


def check(folder: Path, found: Findings) -> None:
    """Check that the card is there and filled in."""
    path = folder / "README.md"
    if not path.is_file():
        found.add(path, "is missing: a card with paper, licence, data-use terms, checklist and changelog")
        return
    lines = path.read_text("utf-8", errors="replace").splitlines()
    for number, line in enumerate(lines, 1):
        if UNFILLED in line:
            found.add(path, "is not filled in yet", line=number, value=line.strip())
    for row in _ROWS:
        if not any(line.startswith(f"| {row} |") for line in lines):
            found.add(path, f"has no row {row!r} in its table: '| {row} | ... |'")
    for section in _SECTIONS:
        if f"## {section}" not in lines:
            found.add(path, f"has no section '## {section}'")
