"""What the tests of the journal share."""

import pytest

from lmms_medtasks.harness import journal


@pytest.fixture
def journal_home(tmp_path, monkeypatch):
    """A data folder of the test's own, where a journal is kept."""
    monkeypatch.setenv("MEDTASKS_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("MEDTASKS_JOURNAL", raising=False)
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    # What waits for the end of a process ends with the call here.
    monkeypatch.setattr(journal.atexit, "register", lambda function: function())


@pytest.fixture
def files(journal_home, tmp_path):
    """Call as files(): the journal's files."""
    return lambda: sorted((tmp_path / "home" / "journal").glob("*/*.jsonl"))
