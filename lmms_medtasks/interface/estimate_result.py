"""A number with its interval, as a notebook shows it."""

from __future__ import annotations

from dataclasses import asdict, dataclass

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
        own = f"{self.n:,} {self.unit}" + ("" if self.clusters == self.n else f" in {self.clusters:,} clusters")
        missing = f", {self.left_out:,} without a value" if self.left_out else ""
        why = f"; {'no value' if self.value is None else 'no interval'}: {self.reason}" if self.reason else ""
        return f"{self._number('')} ({own}{missing}{why})"

    def _number(self, sign: str) -> str:
        """The number and its interval; ``sign``: "+" where a number has its sign."""
        if self.value is None:
            return "no value"
        shown = f"{self.value:{sign}.3f}"
        return shown if self.interval is None else f"{shown} [{self.low:{sign}.3f}, {self.high:{sign}.3f}]"


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

    def _number(self, sign: str) -> str:
        said = "" if self.p is None else ", p < 0.001" if self.p < 0.001 else f", p = {self.p:.3f}"
        return super()._number("+") + said


def of_interval(
    found: Interval, left_out: int, method: str, reason: str = "", unit: str = "questions"
) -> EstimateResult:
    """The result of an interval that was made of ``found.n`` values; ``reason``: why it has no value."""
    why = reason or found.reason or ("no value is there" if found.estimate is None else "")
    return EstimateResult(
        found.estimate, found.low, found.high, found.n, found.clusters, left_out, found.level, found.standard_error,
        # The statistics speak of images, which is what a cluster is in the benchmarks.
        method, why.replace("images", "clusters"), unit,
    )  # fmt: skip
