"""The SQLite file that several commands write at one time."""

from __future__ import annotations

import sqlite3
import threading
import time

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.judges import database

SCHEMA = "CREATE TABLE IF NOT EXISTS t (a)"


@pytest.fixture
def written(tmp_path):
    """Another process's connection to the file before it has a write-ahead log, in the middle of writing."""
    other = sqlite3.connect(tmp_path / "t.sqlite", isolation_level=None, check_same_thread=False)
    other.execute(SCHEMA)
    other.execute("BEGIN IMMEDIATE")
    return other


def test_a_new_file_that_another_process_writes_is_waited_for(tmp_path, written):
    """SQLite's own waiting does not cover the change to the log: it says at once that the file is locked."""
    ended = threading.Timer(0.2, lambda: written.execute("COMMIT"))
    ended.start()
    base = database.connect_database(tmp_path / "t.sqlite", SCHEMA)
    assert base.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    ended.join()


def test_a_file_that_stays_locked_is_told_with_the_way_out(tmp_path, written, monkeypatch):
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.1)
    started = time.monotonic()
    with pytest.raises(UserError, match="database is locked.*MEDTASKS_HOME"):
        database.connect_database(tmp_path / "t.sqlite", SCHEMA)
    assert time.monotonic() - started >= 0.1
    written.execute("COMMIT")
