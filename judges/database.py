"""A SQLite file that many processes and threads write at once and that a kill -9 leaves whole."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from lmms_medtasks.errors import UserError

BUSY_SECONDS = 60.0  # How long a statement waits for another process that writes
_PAUSE = 0.02
WAY_OUT = (
    "Set MEDTASKS_HOME to a folder on a local disk that you can write. A damaged verdicts.sqlite may be deleted: what "
    "it held is then asked again."
)


def connect_database(path: Path, schema: str) -> sqlite3.Connection:
    """A connection that commits each statement by itself, for use in any thread, one at a time. Not for network drives.

    The file and its folder are made for the user alone. Write-ahead log: readers never wait, and what is committed
    outlives the process. Raises UserError if the folder can't be written or the file is no database of ours.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
        base = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        base.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")
        _begin_log(base)
        base.execute("PRAGMA synchronous = NORMAL")
        base.execute(schema)
    except (OSError, sqlite3.Error) as error:
        raise UserError(f"Can't use {path}: {error}. {WAY_OUT}") from error
    return base


def _begin_log(base: sqlite3.Connection) -> None:
    """Switch a new file to its write-ahead log. SQLite itself does not wait there for another process that writes."""
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            base.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(_PAUSE)


@contextlib.contextmanager
def open_database(path: Path, schema: str) -> Iterator[sqlite3.Connection]:
    """:func:`connect_database` for a few statements, closed afterwards. Raises UserError if one fails."""
    base = connect_database(path, schema)
    try:
        yield base
    except sqlite3.Error as error:
        raise UserError(f"Can't use {path}: {error}.") from error
    finally:
        base.close()
