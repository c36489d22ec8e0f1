"""Replies to questions on data whose terms keep them out of logs: they stay on this machine, found by their digests.

A model's reply to such a question may repeat the data: a sample log holds only its digest. The digest is keyed with a
secret of this machine (a plain digest of "yes" would be as good as the word) and covers the question's id (else equal
replies would have equal digests, which with the scores would tell yes from no). The reply itself lies in a database in
the data folder that only the user can read. So an answer can be judged again only on the machine that made it.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import sqlite3
from pathlib import Path

from lmms_medtasks.judges import database

_REPLIES = "CREATE TABLE IF NOT EXISTS replies (digest TEXT PRIMARY KEY, reply BLOB)"


def keep_withheld_reply(reply: str, question: str) -> str:
    """Store the ``reply`` to a question (its id); its digest (HMAC-SHA-256, 64 hex digits). Idempotent."""
    text, signed = (each.encode("utf-8", "surrogatepass") for each in (reply, f"{question}\0{reply}"))
    with database.open_database(withheld_replies_path(), _REPLIES) as base:
        name = hmac.new(_machine_secret(base), signed, hashlib.sha256).hexdigest()
        base.execute("INSERT OR IGNORE INTO replies VALUES (?, ?)", (name, text))
    return name


def _machine_secret(base: sqlite3.Connection) -> bytes:
    base.execute("CREATE TABLE IF NOT EXISTS secret (number INTEGER PRIMARY KEY, value BLOB)")
    base.execute("INSERT OR IGNORE INTO secret VALUES (1, ?)", (secrets.token_bytes(32),))
    return bytes(base.execute("SELECT value FROM secret").fetchone()[0])


def find_withheld_reply(digest: str) -> str | None:
    """The reply of this digest, None if it is not on this machine."""
    if not withheld_replies_path().is_file():
        return None
    with database.open_database(withheld_replies_path(), _REPLIES) as base:
        row = base.execute("SELECT reply FROM replies WHERE digest = ?", (digest,)).fetchone()
    return row[0].decode("utf-8", "surrogatepass") if row else None


def withheld_replies_path() -> Path:
    from lmms_medtasks.data import store

    return store.data_home() / "judge" / "withheld.sqlite"
