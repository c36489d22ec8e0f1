"""Ceilings on requests and on estimated cost. No request is sent that would exceed them."""

from __future__ import annotations

import dataclasses
import sqlite3
import threading
import time
from dataclasses import dataclass

from lmms_medtasks.errors import UserError
from lmms_medtasks.judges import cache, database
from lmms_medtasks.judges.settings import JUDGE, JudgeSettings, default_settings


@dataclass(frozen=True)
class JudgeSpending:
    """What was used so far. ``cost``: USD. ``cached_tokens``: in the server's cache, at the full price."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    cached_tokens: int = 0

    def plus(self, more: JudgeSpending, sign: int = 1) -> JudgeSpending:
        pairs = zip(dataclasses.astuple(self), dataclasses.astuple(more), strict=True)
        return JudgeSpending(*(mine + sign * theirs for mine, theirs in pairs))

    def since(self, before: JudgeSpending) -> JudgeSpending:
        return self.plus(before, -1)

    def __str__(self) -> str:
        text = f"{self.requests} requests"
        if self.requests:
            cached = f" ({self.cached_tokens} cached)" if self.cached_tokens else ""
            text += f", {self.input_tokens}{cached} + {self.output_tokens} tokens"
        return text + (f", {self.cost:.4f} USD" if self.cost else "")


def estimated_tokens(text: str) -> int:
    """About how many tokens ``text`` has, at least one: its characters over a constant (defaults.yml)."""
    return max(1, round(len(text) / default_settings()["characters_per_token"]))


class JudgeBudget:
    """Counts requests and tokens of many threads and says when a ceiling is reached. Each attempt is a request.

    Before a request its estimated input and the longest reply are reserved; after it they are replaced by what the
    endpoint reports. So the ceiling holds as far as the estimates of inputs do, however many requests are in flight.
    """

    def __init__(self, settings: JudgeSettings) -> None:
        self._settings = settings
        self._changed = threading.Condition()
        self.spent = JudgeSpending()
        self._aside = 0.0

    def reserve_request(self, input_tokens: int) -> str | None:
        """Reserve a request; None if it may be sent, else which ceiling is reached. Waits for requests in flight."""
        need = self._request_cost(input_tokens, self._settings.max_tokens)
        with self._changed:
            while ceiling := self._take_share(need):
                if ceiling.startswith("ceiling on requests") or not self._aside:
                    return ceiling
                self._changed.wait()
            self._aside += need
            self.spent = self.spent.plus(JudgeSpending(requests=1))
        return None

    def _take_share(self, need: float) -> str:
        return self._ceiling_problem(self.spent.requests, self.spent.cost + self._aside + need)

    def _ceiling_problem(self, requests: int, cost: float) -> str:
        settings = self._settings
        if settings.max_requests is not None and requests >= settings.max_requests:
            return f"ceiling on requests: {JUDGE}_MAX_REQUESTS allows {settings.max_requests} here"
        if settings.max_cost is not None and cost > settings.max_cost:
            return f"ceiling on cost: {JUDGE}_MAX_COST allows {settings.max_cost:.4g} USD here"
        return ""

    def settle_request(
        self, reserved_input: int, input_tokens: int, output_tokens: int, cached_tokens: int = 0
    ) -> None:
        """Book what a request used in place of what was set aside for it."""
        with self._changed:
            self._aside -= self._request_cost(reserved_input, self._settings.max_tokens)
            if self._aside < 1e-12:  # what rounding leaves of nothing
                self._aside = 0.0
            cost = self._request_cost(input_tokens, output_tokens)
            self.spent = self.spent.plus(JudgeSpending(0, input_tokens, output_tokens, cost, cached_tokens))
            self._book_difference(cost - self._request_cost(reserved_input, self._settings.max_tokens))
            self._changed.notify_all()

    def _book_difference(self, difference: float) -> None:
        """Called with what a request cost beyond what was reserved for it, below 0 as a rule."""

    def _request_cost(self, input_tokens: int, output_tokens: int) -> float:
        return self._settings.price.total_cost(input_tokens, output_tokens) if self._settings.price else 0.0


_SCHEMA = "CREATE TABLE IF NOT EXISTS budgets (run TEXT PRIMARY KEY, requests INTEGER, cost REAL, made REAL)"
_OLD = 30 * 24 * 3600.0  # seconds after which a run's budget is forgotten


class SharedBudget(JudgeBudget):
    """The budget of all processes with the same ``run``, in the file of the verdicts; ``spent``: this process's.

    ``settings`` hold what all processes together may do. What a killed process had reserved stays reserved.
    """

    def __init__(self, settings: JudgeSettings, run: str) -> None:
        super().__init__(settings)
        self._run = run
        self._base = database.connect_database(cache.verdict_cache_path(), _SCHEMA)
        self._run_statement("DELETE FROM budgets WHERE made < ?", time.time() - _OLD)
        self._run_statement("INSERT OR IGNORE INTO budgets VALUES (?, 0, 0.0, ?)", run, time.time())

    def _take_share(self, need: float) -> str:
        settings = self._settings
        limits = (settings.max_requests, settings.max_requests, settings.max_cost, need, settings.max_cost)
        while True:
            changed = self._run_statement(
                "UPDATE budgets SET requests = requests + 1, cost = cost + ? WHERE run = ? "
                "AND (? IS NULL OR requests < ?) AND (? IS NULL OR cost + ? <= ?)",
                need, self._run, *limits,
            )  # fmt: skip
            if changed.rowcount == 1:
                return ""
            requests, cost = self._run_statement(
                "SELECT requests, cost FROM budgets WHERE run = ?", self._run
            ).fetchone()
            if ceiling := self._ceiling_problem(requests, cost + need):
                return ceiling  # else another process gave something back in between

    def _book_difference(self, difference: float) -> None:
        if difference:
            self._run_statement("UPDATE budgets SET cost = cost + ? WHERE run = ?", difference, self._run)

    def _run_statement(self, statement: str, *values: object) -> sqlite3.Cursor:
        try:
            return self._base.execute(statement, values)  # threads wait for their turn: the owner of a lock calls
        except (sqlite3.Error, OSError) as error:
            raise UserError(
                f"Can't use the budget in {cache.verdict_cache_path()}: {error}. {database.WAY_OUT}"
            ) from error
