"""The README and the quick starts are short, and what they show runs as it stands there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
STARTS = sorted((DOCS / "start").glob("*.md"))
MOST_WORDS = 30_000
"""Of the README and docs together, without the worked examples' cards."""


def count_words(*paths: Path) -> int:
    return sum(len(path.read_text("utf-8").split()) for path in paths)


def list_blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", STARTS, ids=lambda page: page.stem)
def test_a_quick_start_is_quick(page):
    assert count_words(page) <= 400


def test_a_newcomer_does_not_read_much():
    pages = [path for path in DOCS.rglob("*.md") if path.parent.parent.name != "examples"]
    assert len(STARTS) == 5 and len(pages) > 30
    assert count_words(ROOT / "README.md") <= 550
    assert count_words(ROOT / "CONTRIBUTING.md") <= 1_200
    assert count_words(ROOT / "README.md", *pages) < MOST_WORDS


@pytest.mark.parametrize("page", STARTS, ids=lambda page: page.stem)
def test_what_a_quick_start_shows_runs(page, commands, tmp_path):
    """Its blocks of bash, or of Python, one after the other in an empty folder. Blocks of sh need weights or data."""
    script = "\n".join(list_blocks(page, "bash"))
    if code := "\n".join(list_blocks(page, "python")):
        (tmp_path / "quick_start.py").write_text(code, "utf-8")
        script = "export MEDTASKS_DATA=mini\npython -m quick_start"
    (tmp_path / "docs").symlink_to(DOCS)
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(commands), str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": str(tmp_path),
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(tmp_path / ".hf"),
        "MEDTASKS_HOME": str(tmp_path / ".home"),
        "OMP_NUM_THREADS": "1",
    }
    done = subprocess.run(
        ["bash", "-euxo", "pipefail", "-c", script],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert script and done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    assert any(tmp_path.rglob("report.html")) or page.stem in ("publish_a_model", "keep_a_leaderboard")
    assert any(tmp_path.rglob("*_results.json"))
