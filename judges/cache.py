"""Verdicts of earlier judging: each is stored at once, and a stored verdict is not paid for twice.

A verdict is found again only if everything that can influence it is the same (:func:`verdict_cache_key`). Failures are
not stored: the next run asks those questions again, also those whose verdict could not be written (a full disk).

A command claims a question before it asks, so that two commands ask each question once. A claim ends with the verdict;
that of a killed process ends after :data:`CLAIM_SECONDS`, since nobody renews it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
import threading
import time
import uuid
from collections.abc import Iterable
from datetime import datetime, timezone
from pathlib import Path

from lmms_medtasks.errors import UserError
from lmms_medtasks.judges import database, identity, prompts
from lmms_medtasks.judges.protocol import JudgedItem, JudgeProtocol, JudgeVerdict
from lmms_medtasks.judges.settings import JudgeSettings

_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS kept_verdicts (key TEXT, model TEXT, system_fingerprint TEXT, judge TEXT, "
    "endpoint TEXT, protocol TEXT, labels TEXT, reply TEXT, made TEXT, PRIMARY KEY (key, model)) WITHOUT ROWID"
)
_CLAIMS = "CREATE TABLE IF NOT EXISTS claims (key TEXT PRIMARY KEY, owner TEXT, until REAL) WITHOUT ROWID"
_CLAIM = (
    "INSERT INTO claims VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, "
    "until = excluded.until WHERE claims.until < ?"
)
_AT_ONCE = 500  # keys in one query

CLAIM_SECONDS = 15.0  # How long a claim holds that is not renewed


def verdict_cache_path() -> Path:
    """Where verdicts are kept: ``judge/verdicts.sqlite`` in the data folder."""
    from lmms_medtasks.data import store

    return store.data_home() / "judge" / "verdicts.sqlite"


def verdict_cache_key(settings: JudgeSettings, protocol: JudgeProtocol, item: JudgedItem, trial: int) -> str:
    """A digest of everything that can influence the verdict; which model answers is known only afterwards."""
    content = [
        settings.provider, settings.model, settings.address.url, identity.asked_settings(settings, protocol),
        protocol.name, protocol.version, prompts.prompt_digest(protocol), sorted(item.fields.items()), trial,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(content, ensure_ascii=True).encode()).hexdigest()


class VerdictCache:
    """The stored verdicts; safe in many threads and processes, and after a kill."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._base = database.connect_database(path, _SCHEMA)
        self._owner = uuid.uuid4().hex
        self._renewer: threading.Thread | None = None
        self._closed = threading.Event()
        self._run_statement(_CLAIMS)
        self.find_verdicts([""])  # so that a file that can't be read is told of before a model is run

    def find_verdicts(self, keys: Iterable[str]) -> dict[str, dict[str, JudgeVerdict]]:
        """The stored verdicts for ``keys``, by the model that answered ("": the server named none)."""
        unique_keys: list[str] = list(dict.fromkeys(keys))
        verdicts: dict[str, dict[str, JudgeVerdict]] = {}
        for start in range(0, len(unique_keys), _AT_ONCE):
            chunk = unique_keys[start : start + _AT_ONCE]
            marks = ", ".join("?" * len(chunk))
            statement = (
                f"SELECT key, model, system_fingerprint, labels, reply FROM kept_verdicts WHERE key IN ({marks})"
            )
            for key, model, served, labels, reply in self._run_statement(statement, chunk)[0]:
                verdict = JudgeVerdict(
                    "judged", json.loads(labels), reply=reply, model=model, system_fingerprint=served
                )
                verdicts.setdefault(key, {})[model] = verdict
        return verdicts

    def keep(self, key: str, settings: JudgeSettings, protocol: JudgeProtocol, verdict: JudgeVerdict) -> None:
        """Store a valid verdict at once; under terms without the judge's words. UserError: it can't be written."""
        if verdict.status != "judged":
            raise ValueError(f"Only verdicts of a judge are kept, got {verdict.status!r}.")
        reply = "" if protocol.terms else verdict.reply.encode("utf-8", "replace").decode("utf-8")
        made = datetime.now(timezone.utc).isoformat(timespec="seconds")
        judge = (settings.name, settings.endpoint)
        labels = json.dumps(dict(verdict.labels), ensure_ascii=False, sort_keys=True)
        who = (key, verdict.model or "", verdict.system_fingerprint, *judge)
        row = (*who, protocol.name, labels, settings.secrets.redacted_reply(reply), made)
        self._run_statement("INSERT OR REPLACE INTO kept_verdicts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    def claim(self, key: str) -> bool:
        """Claim a question until :meth:`release`; False if another command asks it now. UserError: can't be written."""
        now = time.time()
        if self._renewer is None:
            with self._lock:
                if self._renewer is None:
                    self._renewer = threading.Thread(target=self._renew_claims, name="medtasks-claims", daemon=True)
                    self._renewer.start()
        return self._run_statement(_CLAIM, (key, self._owner, now + CLAIM_SECONDS, now))[1] == 1

    def claimed(self, keys: Iterable[str]) -> set[str]:
        """Those of ``keys`` that another command asks now."""
        statement = "SELECT key FROM claims WHERE owner != ? AND until >= ?"
        claimed_by_others, _ = self._run_statement(statement, (self._owner, time.time()))
        return set(keys) & {key for (key,) in claimed_by_others}

    def release(self, key: str) -> None:
        self._run_statement("DELETE FROM claims WHERE key = ? AND owner = ?", (key, self._owner))

    def _renew_claims(self) -> None:
        while not self._closed.wait(CLAIM_SECONDS / 3):
            with contextlib.suppress(UserError):  # at worst the claims end, and a question is asked twice
                self._run_statement(
                    "UPDATE claims SET until = ? WHERE owner = ?", (time.time() + CLAIM_SECONDS, self._owner)
                )

    def close(self) -> None:
        """End all claims and close the file."""
        self._closed.set()
        if self._renewer:
            self._renewer.join()
            with contextlib.suppress(UserError):  # they end by themselves
                self._run_statement("DELETE FROM claims WHERE owner = ?", (self._owner,))
        with self._lock:
            self._base.close()

    def _run_statement(self, statement: str, values: Iterable[str | float] = ()) -> tuple[list[tuple[str, ...]], int]:
        """The rows that a statement gives, and how many it changed."""
        try:
            with self._lock:
                cursor = self._base.execute(statement, tuple(values))
                return cursor.fetchall(), cursor.rowcount
        except (sqlite3.Error, OSError) as error:
            raise UserError(f"Can't use the verdicts in {self.path}: {error}. {database.WAY_OUT}") from error
