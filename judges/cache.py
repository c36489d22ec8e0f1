"""Verdicts that were had before: each is kept the moment it is there, and what is kept is not paid for twice.

A verdict is found again only if all that could have made it another one is the same (:func:`key_of`). Failures are not
kept: what could not be judged is asked again by the next run. So is a verdict that could not be written (a full disk).
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from pathlib import Path

from lmms_medtasks.errors import UserError
from lmms_medtasks.judges import database, identity, prompts
from lmms_medtasks.judges.protocol import Item, Protocol, Verdict
from lmms_medtasks.judges.settings import Settings

_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS kept_verdicts (key TEXT, model TEXT, system_fingerprint TEXT, judge TEXT, "
    "endpoint TEXT, protocol TEXT, labels TEXT, reply TEXT, made TEXT, PRIMARY KEY (key, model)) WITHOUT ROWID"
)
_AT_ONCE = 500  # keys in one query


def path() -> Path:
    """Where verdicts are kept: ``judge/verdicts.sqlite`` in the data folder."""
    from lmms_medtasks.data import store

    return store.home() / "judge" / "verdicts.sqlite"


def key_of(settings: Settings, protocol: Protocol, item: Item, trial: int) -> str:
    """A digest of everything that could make the verdict another one.

    The judge (provider, model as asked, base URL without name and password), the settings that can change a verdict,
    the protocol, its version and the prompt's digest, all fields of the item, and the number of the trial. Which model
    answers is known only afterwards: a verdict of each is kept.
    """
    content = [
        settings.provider, settings.model, settings.address.url, identity.asking(settings, protocol),
        protocol.name, protocol.version, prompts.digest(protocol), sorted(item.fields.items()), trial,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(content, ensure_ascii=True).encode()).hexdigest()


class VerdictCache:
    """The kept verdicts; safe in many threads and processes, and after a kill."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._base = database.connect(path, _SCHEMA)
        self.find([""])  # so that a file that can't be read is told of before a model is run

    def find(self, keys: Iterable[str]) -> dict[str, dict[str, Verdict]]:
        """The verdicts that there are for ``keys``, by the model that answered ("": the server named none)."""
        wanted: list[str] = list(dict.fromkeys(keys))
        found: dict[str, dict[str, Verdict]] = {}
        for start in range(0, len(wanted), _AT_ONCE):
            part = wanted[start : start + _AT_ONCE]
            places = ", ".join("?" * len(part))
            for key, model, served, labels, reply in self._do(
                f"SELECT key, model, system_fingerprint, labels, reply FROM kept_verdicts WHERE key IN ({places})", part
            ):
                verdict = Verdict("judged", json.loads(labels), reply=reply, model=model, system_fingerprint=served)
                found.setdefault(key, {})[model] = verdict
        return found

    def keep(self, key: str, settings: Settings, protocol: Protocol, verdict: Verdict) -> None:
        """Keep a valid verdict, at once and for good; with terms without the judge's words.

        Raises UserError where it can't be written (a full disk): then it is not kept.
        """
        if verdict.status != "judged":
            raise ValueError(f"Only verdicts of a judge are kept, got {verdict.status!r}.")
        reply = "" if protocol.terms else verdict.reply.encode("utf-8", "replace").decode("utf-8")
        made = datetime.now(timezone.utc).isoformat(timespec="seconds")
        judge = (settings.name, settings.scrubbed(settings.address.url))
        who = (key, verdict.model or "", verdict.system_fingerprint, *judge)
        row = (*who, protocol.name, _json(verdict.labels), settings.scrubbed(reply), made)
        self._do("INSERT OR REPLACE INTO kept_verdicts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._base.close()

    def _do(self, statement: str, values: Iterable[str]) -> list[tuple[str, ...]]:
        try:
            with self._lock:
                return self._base.execute(statement, tuple(values)).fetchall()
        except (sqlite3.Error, OSError) as error:
            raise UserError(f"Can't use the verdicts in {self.path}: {error}. {database.WAY_OUT}") from error


def _json(labels: Mapping[str, str]) -> str:
    return json.dumps(dict(labels), ensure_ascii=False, sort_keys=True)
