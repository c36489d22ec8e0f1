"""The numbers of a MedObvious report, with intervals by bootstrap over items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lmms_medtasks.report.medobvious.reading import Record, Source
from lmms_medtasks.statistics import triage
from lmms_medtasks.statistics.bootstrap import Figure, Interval, Part, bootstrap, mean, mean_interval, part
from lmms_medtasks.statistics.macro import mean_of_means

COLUMNS = (*triage.FORMATS, "positive", "negative")
"""Table 2's seven columns."""

OUTCOMES = (
    "right",
    "another place",
    "none",
    "wrong yes or no",
    "ambiguous",
    "refused",
    "unreadable",
    "truncated",
    "failed",
)
"""What a reply can be. "none" is wrong there: on a grid with an outlier."""


@dataclass(frozen=True)
class Gap:
    """One family of questions as multiple choice and openly, over the grids that both were asked about."""

    mcq: Interval
    open: Interval
    gap: Interval


@dataclass(frozen=True)
class Size:
    """Accuracy on grids of one size, beside what uniform guessing gets. ``detection``: on detection questions about
    grids with an outlier, where a larger grid is nothing but more panels to compare."""

    panels: int
    positive: Interval
    negative: Interval
    overall: Interval
    detection: Interval
    chance: triage.Expected
    detection_chance: float | None


@dataclass(frozen=True)
class Agreement:
    """Share of items whose answers agree; ``unsaid`` items have a failed request, or too few questions."""

    share: Interval
    unsaid: int


@dataclass(frozen=True)
class Analysis:
    """Everything that the tables and figures of one source show. ``chance``: what uniform guessing gets, by column."""

    source: Source
    columns: Mapping[str, Interval]
    average: Interval
    overall: Interval
    chance: Mapping[str, float | None]
    tiers: Mapping[int, Interval]
    tier_mean: Interval
    tier_chance: Mapping[int, float]
    gaps: Mapping[str, Gap]
    agreements: Mapping[str, Agreement]
    alarms: Mapping[str, Interval]
    abstentions: Mapping[str, Interval]
    outcomes: Mapping[tuple[str, int], Counter[str]]
    kinds: Mapping[tuple[int, str], tuple[Interval, Interval]]
    sizes: Mapping[str, Size]


def analyse(source: Source, *, resamples: int) -> Analysis:
    """All numbers of a source; with ``resamples=0`` without intervals."""
    records = source.records

    def means(values: Sequence[Record], score: Callable[[Record], float | None] = _score) -> Interval:
        known = [(record["item"], value) for record in values if (value := score(record)) is not None]
        return mean_interval([item for item, _ in known], [value for _, value in known], resamples=resamples)

    def chosen(**wanted: Any) -> list[Record]:
        return [record for record in records if all(record[name] == value for name, value in wanted.items())]

    tiers = sorted({record["tier"] for record in records})
    columns = {name: _column(records, name) for name in COLUMNS}
    asked = [*((name, sign) for name in triage.FORMATS for sign in (0, 1))]
    return Analysis(
        source=source,
        columns={name: means(part) for name, part in columns.items()},
        average=_mean_of_parts(list(columns.values()), resamples),
        overall=means(records),
        chance={**{name: _chance(part) for name, part in columns.items()}, "overall": _chance(records)},
        tiers={tier: means(chosen(tier=tier)) for tier in tiers},
        tier_mean=_mean_of_parts([chosen(tier=tier) for tier in tiers], resamples),
        tier_chance={tier: _chance(chosen(tier=tier)) or 0.0 for tier in tiers},
        gaps={family: _gap(records, family, resamples) for family in triage.FAMILIES},
        agreements=_agreements(records, resamples),
        alarms={name: means(_column(records, name), triage.false_alarm) for name in (*triage.FORMATS, "negative")},
        abstentions={name: means(_column(records, name), triage.abstention) for name in (*triage.FORMATS, "positive")},
        outcomes={key: Counter(map(outcome, chosen(task_type=key[0], negative=key[1]))) for key in asked},
        kinds={
            key: (
                means(chosen(tier=key[0], kind=key[1], negative=0)),
                means(chosen(tier=key[0], kind=key[1], negative=1)),
            )
            for key in sorted({(record["tier"], record["kind"]) for record in records})
        },
        sizes={
            grid: _size(grid, chosen(grid=grid), means)
            for grid in sorted({record["grid"] for record in records}, key=panels_of)
        },
    )


def panels_of(grid: str) -> int:
    """9 for "3x3"."""
    rows, _, columns = grid.partition("x")
    return int(rows) * int(columns)


def outcome(record: Record) -> str:
    """Which of :data:`OUTCOMES` the first reply is."""
    trial = record["trials"][0]
    if trial == triage.FAILED or trial in triage.UNREAD:
        return trial
    if record.get("score") == 1:
        return "right"
    if trial in ("yes", "no"):
        return "wrong yes or no"
    return "none" if trial == triage.NONE else "another place"


def _score(record: Record) -> float | None:
    return record.get("score")


def _column(records: Sequence[Record], name: str) -> list[Record]:
    if name in ("positive", "negative"):
        return [record for record in records if bool(record["negative"]) == (name == "negative")]
    return [record for record in records if record["task_type"] == name]


def _chance(records: Sequence[Record]) -> float | None:
    return sum(map(triage.chance, records)) / len(records) if records else None


def _mean_of_parts(groups: Sequence[Sequence[Record]], resamples: int) -> Interval:
    """The plain mean of the groups' accuracies, which may overlap; no value if one of them has none."""
    scored = [[record for record in group if "score" in record] for group in groups]
    if not all(scored) or not scored:
        return Interval(None, None, None, 0, 0)
    rows = [record for group in scored for record in group]
    cells = np.repeat(np.arange(len(scored)), [len(group) for group in scored])
    found = part([row["item"] for row in rows], [row["score"] for row in rows], cells=cells, cell_count=len(scored))
    return bootstrap({"": found}, {"": Figure(mean_of_means, ("",))}, resamples=resamples)[""].interval()


def _gap(records: Sequence[Record], family: str, resamples: int) -> Gap:
    both: dict[tuple[str, int], dict[str, float]] = {}
    for record in records:
        if record["task_type"].startswith(f"{family}_") and "score" in record:
            form = record["task_type"].removeprefix(f"{family}_")
            both.setdefault((record["item"], record["negative"]), {})[form] = record["score"]
    pairs = {key: found for key, found in both.items() if len(found) == 2}
    parts: dict[str, Part] = {
        form: part([item for item, _ in pairs], [found[form] for found in pairs.values()]) for form in ("mcq", "open")
    }
    figures = {
        "mcq": Figure(mean, ("mcq",)),
        "open": Figure(mean, ("open",)),
        "gap": Figure(lambda mcq, other: mean(mcq) - mean(other), ("mcq", "open")),
    }
    found = bootstrap(parts, figures, resamples=resamples)
    return Gap(*(found[name].interval() for name in ("mcq", "open", "gap")))


def _agreements(records: Sequence[Record], resamples: int) -> dict[str, Agreement]:
    sides = triage.agreements(records)
    items: dict[str, list[bool | None]] = {}
    for side in sides:
        items.setdefault(side.item, []).append(side.agrees)
    whole = {item: None if None in found else all(found) for item, found in items.items()}
    values = {
        "positive": {each.item: each.agrees for each in sides if not each.negative},
        "negative": {each.item: each.agrees for each in sides if each.negative},
        "both": whole,
    }
    found = {}
    for name, agrees in values.items():
        known = {item: float(value) for item, value in agrees.items() if value is not None}
        share = mean_interval(list(known), list(known.values()), resamples=resamples)
        found[name] = Agreement(share, len(agrees) - len(known))
    return found


def _size(grid: str, records: Sequence[Record], means: Callable[..., Interval]) -> Size:
    signs = [[record for record in records if record["negative"] == sign] for sign in (0, 1)]
    detection = [record for record in signs[0] if record["task_type"].startswith("detection_")]
    return Size(
        panels=panels_of(grid),
        positive=means(signs[0]),
        negative=means(signs[1]),
        overall=means(records),
        detection=means(detection),
        chance=triage.expected_accuracy(records),
        detection_chance=_chance(detection),
    )
