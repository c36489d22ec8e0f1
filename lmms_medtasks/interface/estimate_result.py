"""A number with its interval, as a notebook shows it."""

from __future__ import annotations

import html
from dataclasses import asdict, dataclass
from typing import Any

from lmms_medtasks.statistics.intervals import Interval

BETA = "beta distribution with the variance over clusters (Korn and Graubard 1998)"
MOVER = "variance estimates recovery over clusters (Zou and Donner 2008)"
STUDENT = "Student's t with the jackknife over clusters"
"""How intervals are made."""


@dataclass(frozen=True, repr=False)
class EstimateResult:
    """An estimate with its interval; it prints as ``0.667 [0.354, 0.887] (30 questions in 10 clusters)``.

    Attributes:
        value: The estimate; None where there is nothing to estimate from.
        low, high: The interval's ends; None where there is no interval, and ``reason`` says why.
        n: Values that were used; missing ones are not among them.
        clusters: Independent clusters that these are of.
        left_out: Values that were missing.
        level: Nominal coverage of the interval.
        standard_error: By the jackknife over clusters; None without an interval.
        method: How interval and p value are made.
        reason: Why there is no interval, or no value; "" where there is one.
        unit: What a value is of.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    clusters: int
    left_out: int
    level: float
    standard_error: float | None
    method: str
    reason: str = ""
    unit: str = "questions"

    @property
    def interval(self) -> tuple[float, float] | None:
        """``(low, high)``; None where there is no interval."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    def to_dict(self) -> dict[str, object]:
        """The attributes by name: a row of a data frame."""
        return asdict(self)

    def __float__(self) -> float:
        return float("nan") if self.value is None else float(self.value)

    def __repr__(self) -> str:
        return f"{self._number()} ({self._counts()})"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
            f"<td style='text-align:left'>{html.escape(text)}</td></tr>"
            for name, text in self._rows()
        )
        return f"<table>{rows}</table>"

    def _number(self) -> str:
        if self.value is None:
            return "no value"
        shown = f"{self.value:{self._sign}.3f}"
        return shown if self.interval is None else f"{shown} [{self.low:{self._sign}.3f}, {self.high:{self._sign}.3f}]"

    def _counts(self) -> str:
        own = f"{self.n:,} {self.unit}" + ("" if self.clusters == self.n else f" in {self.clusters:,} clusters")
        missing = f", {self.left_out:,} without a value" if self.left_out else ""
        why = f"; {'no interval' if self.value is not None else 'no value'}: {self.reason}" if self.reason else ""
        return own + missing + why

    def _rows(self) -> list[tuple[str, str]]:
        rows = [(self._title, "–" if self.value is None else f"{self.value:{self._sign}.3f}")]
        if self.interval is not None:
            ends = f"{self.low:{self._sign}.3f} to {self.high:{self._sign}.3f}"
            rows.append((f"{self.level:.0%} interval", ends))
        elif self.reason:
            rows.append(("no interval" if self.value is not None else "no value", self.reason))
        rows += [(self.unit, f"{self.n:,}"), ("clusters", f"{self.clusters:,}")]
        rows += [("without a value", f"{self.left_out:,}")] if self.left_out else []
        return [*rows, ("method", self.method)]

    @property
    def _sign(self) -> str:
        return ""

    @property
    def _title(self) -> str:
        return "estimate"


@dataclass(frozen=True, repr=False, kw_only=True)
class DifferenceResult(EstimateResult):
    """A paired difference, the second less the first; it prints as ``+0.100 [+0.020, +0.184], p = 0.017 (…)``.

    Attributes:
        first, second: The two means over the same questions.
        p: Two-sided, of the permutation test over clusters; None without a pair.
        wins, ties, losses: Questions on which the second is higher, equal, lower.
    """

    first: float | None
    second: float | None
    p: float | None
    wins: int
    ties: int
    losses: int

    def _number(self) -> str:
        return super()._number() + ("" if self.p is None else f", {self._p}")

    def _rows(self) -> list[tuple[str, str]]:
        rows = super()._rows()
        means = [(name, "–" if value is None else f"{value:.3f}")
                 for name, value in (("first", self.first), ("second", self.second))]  # fmt: skip
        tested = [] if self.p is None else [("p", self._p.removeprefix("p ").removeprefix("= "))]
        counts = ("second higher, equal, lower", f"{self.wins:,}, {self.ties:,}, {self.losses:,}")
        return [*means, *rows[:2], *tested, counts, *rows[2:]]

    @property
    def _p(self) -> str:
        return "p < 0.001" if self.p is not None and self.p < 0.001 else f"p = {self.p:.3f}"

    @property
    def _sign(self) -> str:
        return "+"

    @property
    def _title(self) -> str:
        return "second less first"


def of_interval(
    found: Interval, left_out: int, method: str, reason: str = "", unit: str = "questions"
) -> EstimateResult:
    """The result of an interval that was made of ``found.n`` values; ``reason``: why it has no value."""
    return EstimateResult(**fields_of(found, left_out, method, reason, unit))


def fields_of(found: Interval, left_out: int, method: str, reason: str = "", unit: str = "questions") -> dict[str, Any]:
    """The arguments of :class:`EstimateResult` that an interval says."""
    why = reason or found.reason or ("no value is there" if found.estimate is None else "")
    return {
        "value": found.estimate, "low": found.low, "high": found.high, "n": found.n, "clusters": found.clusters,
        "left_out": left_out, "level": found.level, "standard_error": found.standard_error, "method": method,
        # The statistics speak of images, which is what a cluster is in the benchmarks.
        "reason": why.replace("images", "clusters"), "unit": unit,
    }  # fmt: skip
