"""One budget of several processes: ceilings hold for all of them together, whoever asks how much."""

from __future__ import annotations

import sqlite3
import time

from lmms_medtasks.errors import UserError
from lmms_medtasks.judges import cache, database
from lmms_medtasks.judges.budget import Budget
from lmms_medtasks.judges.settings import Settings

_SCHEMA = "CREATE TABLE IF NOT EXISTS budgets (run TEXT PRIMARY KEY, requests INTEGER, cost REAL, made REAL)"
_OLD = 30 * 24 * 3600.0  # seconds after which a run's budget is forgotten


class SharedBudget(Budget):
    """The budget of all processes that give the same ``run``, in the file of the verdicts; ``spent`` is this one's.

    ``settings``: with what all of them together may do. What a process had set aside when it was killed stays so.
    """

    def __init__(self, settings: Settings, run: str) -> None:
        super().__init__(settings)
        self._run = run
        self._base = database.connect(cache.path(), _SCHEMA)
        self._do("DELETE FROM budgets WHERE made < ?", time.time() - _OLD)
        self._do("INSERT OR IGNORE INTO budgets VALUES (?, 0, 0.0, ?)", run, time.time())

    def _take(self, need: float) -> str:
        settings = self._settings
        most = (settings.max_requests, settings.max_requests, settings.max_cost, need, settings.max_cost)
        while True:
            taken = self._do(
                "UPDATE budgets SET requests = requests + 1, cost = cost + ? WHERE run = ? "
                "AND (? IS NULL OR requests < ?) AND (? IS NULL OR cost + ? <= ?)",
                need, self._run, *most,
            )  # fmt: skip
            if taken.rowcount == 1:
                return ""
            requests, cost = self._do("SELECT requests, cost FROM budgets WHERE run = ?", self._run).fetchone()
            if ceiling := self._ceiling(requests, cost + need):
                return ceiling  # else another process gave something back in between

    def _book(self, difference: float) -> None:
        if difference:
            self._do("UPDATE budgets SET cost = cost + ? WHERE run = ?", difference, self._run)

    def _do(self, statement: str, *values: object) -> sqlite3.Cursor:
        try:
            return self._base.execute(statement, values)  # threads wait for their turn: the owner of a lock calls
        except (sqlite3.Error, OSError) as error:
            raise UserError(f"Can't use the budget in {cache.path()}: {error}. {database.WAY_OUT}") from error
