"""The page "where to change what" names places that exist, and one place for each change."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "where_to_change_what.md"
FOLDERS = (
    "task_configs", "degradations", "judges", "lmms_medtasks", "tests", "tools", "benchmarks", "docs", ".ci",
    ".importlinter",
)  # fmt: skip


def named():
    """Everything in backticks that is a path."""
    return [text for text in re.findall(r"`([^`]+)`", PAGE.read_text("utf-8")) if text.startswith(FOLDERS)]


def test_every_path_exists():
    assert len(named()) >= 15
    assert [path for path in named() if not (ROOT / path).exists()] == []


def test_a_file_of_a_benchmark_is_there_in_all_of_them():
    """The page says that its examples stand for all benchmarks."""
    files = {path.removeprefix("task_configs/medobvious/") for path in named() if "/medobvious/" in path}
    assert {"report.py", "measures.py", "paper.yml", "reference/published.csv"} <= files
    folders = [path.parent for path in (ROOT / "task_configs").glob("*/measures.py")]
    assert len(folders) == 5
    lacking = [f"{folder.name}/{file}" for folder in folders for file in sorted(files) if not (folder / file).exists()]
    assert lacking == []


def test_each_change_has_a_place():
    rows = [line.split("|")[1:3] for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    changes = [(what.strip(), where) for what, where in rows if what.strip() != "What changes"]
    assert len(changes) >= 12
    assert [what for what, where in changes if "`" not in where] == []


def test_contributing_links_to_it():
    assert "docs/where_to_change_what.md" in (ROOT / "CONTRIBUTING.md").read_text("utf-8")
