"""The page on privacy names every place where the package keeps data, and says how long as the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lmms_medtasks.data import picture_checks, store, text_tables
from lmms_medtasks.endpoints import PRIVATE_HOSTS
from lmms_medtasks.harness import journal_files
from lmms_medtasks.judges import cache, withheld

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "privacy.md").read_text("utf-8")


@pytest.mark.parametrize("folder", [picture_checks.FOLDER, text_tables.FOLDER, "journal"])
def test_every_folder_of_the_data_folder_is_named(folder):
    assert f"`{folder}/`" in PAGE


@pytest.mark.parametrize("path", [cache.verdict_cache_path, withheld.withheld_replies_path])
def test_every_database_of_the_data_folder_is_named(path):
    assert f"`{path().relative_to(store.data_home())}`" in PAGE


def test_code_keeps_data_in_no_place_that_the_page_does_not_name():
    """What is put into the data folder is put there by modules that the page was written after."""
    files = [path for folder in ("lmms_medtasks", "judges") for path in sorted((ROOT / folder).rglob("*.py"))]
    using = {path.name for path in files if re.search(r"store\.\w*home\(\)", path.read_text("utf-8"))}
    assert using == {
        "cache.py", "data.py", "estimate.py", "journal.py", "leaderboard.py",
        "picture_checks.py", "prepare.py", "text_tables.py", "withheld.py",
    }  # fmt: skip


def test_the_days_that_a_journal_stays_are_those_of_the_code():
    [days] = re.findall(r"else (\d+) days", PAGE)
    assert int(days) == journal_files._FORGOTTEN / 86_400


def test_variables_are_spelt_as_in_the_code():
    assert PRIVATE_HOSTS in PAGE
    sources = "".join(path.read_text("utf-8") for path in (ROOT / "degradations").glob("*.py"))
    assert "MEDTASKS_DEGRADATION_CACHE" in PAGE and "MEDTASKS_DEGRADATION_CACHE" in sources
