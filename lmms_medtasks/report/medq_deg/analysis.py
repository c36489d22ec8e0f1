"""What a MedQ-Deg report says of one model on one task set: every number, none of the looks.

The statistics are those of :mod:`lmms_medtasks.statistics`; here it is decided of which questions they are taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from lmms_medtasks.errors import UserError
from lmms_medtasks.report.medq_deg.reading import TaskSet
from lmms_medtasks.statistics import accuracy as _accuracy
from lmms_medtasks.statistics.bootstrap import RESAMPLES
from lmms_medtasks.statistics.calibration import (
    Calibration,
    CalibrationIntervals,
    IntraModelDKE,
    calibration,
    calibration_changes,
    calibration_intervals,
    chance_confidence,
    intra_model_dke,
)
from lmms_medtasks.statistics.grouped import Change, Group, by_tags, changes
from lmms_medtasks.statistics.macro import Macro, MacroChange, macro_change, macro_mean
from lmms_medtasks.statistics.pairing import pairs
from lmms_medtasks.statistics.reliability import Reliability, reliability
from lmms_medtasks.statistics.votes import VoteTable, votes
from lmms_medtasks.task_configs.medq_deg import taxonomy

Record = Mapping[str, Any]
Key = tuple[Any, ...]
Result = TypeVar("Result")


@dataclass(frozen=True)
class Level:
    """How a level was answered. ``unreadable`` replies count as incorrect, ``failed`` requests as nothing.

    ``fewer``: questions with fewer trials than T.
    """

    questions: int
    images: int
    accuracy: Group
    replies: int
    unreadable: int
    failed: int
    parse_rate: float | None
    identical: float | None
    fewer: int


@dataclass(frozen=True)
class Fall:
    """L0 against a degraded level: both sets whole, as Table 6 subtracts them, and each question with its own form."""

    whole: Change
    paired: Change


@dataclass(frozen=True)
class Grouped:
    """A group's accuracy at the degraded levels and its change from L0; None where there is nothing to compare."""

    accuracy: Group
    change: Change | None


@dataclass(frozen=True)
class Breakdown:
    """A row of Table 2 or 3: groups by name (only those with questions), and their macro average over L1 and L2.

    ``paired``: whether changes are of each degraded question against its clean form; else of both levels' whole groups.
    ``unmapped`` counts the questions whose own name is in no group, by that name. ``levels``: L1 and L2, or
    one of them.
    """

    levels: tuple[int, ...]
    names: tuple[str, ...]
    groups: Mapping[str, Grouped]
    average: Macro
    average_change: MacroChange | None
    paired: bool
    unmapped: Mapping[str, int]


@dataclass(frozen=True)
class Chance:
    """Mean C and calibration shift that are expected if every reply is drawn among the options, with these K and T."""

    confidence: float
    shift: float


@dataclass(frozen=True)
class LevelCalibration:
    """Calibration of a level; ``chance`` is of a model that only guesses. Intervals are over this level's images, as
    those of :class:`Level` are; those of ``change`` over the images of all levels."""

    counts: Calibration
    intervals: CalibrationIntervals
    change: CalibrationIntervals | None
    share: Reliability
    entropy: Reliability
    chance: Chance | None


@dataclass(frozen=True)
class DegradationCalibration:
    """Calibration of the questions with one degradation at one level."""

    intervals: CalibrationIntervals
    share: Reliability


@dataclass(frozen=True)
class Analysis:
    """Everything the report says of a task set. ``source`` has its levels without their records.

    ``paired``: whether degraded questions could be joined to their clean forms (all, some or none of them).
    ``degradations`` is by level and degradation, ``heat`` by level, degradation and capability (None: unmapped),
    ``modalities`` by level and modality. ``tables`` are the votes by level, for the comparison with other models.
    """

    source: TaskSet
    levels: Mapping[int, Level]
    falls: Mapping[int, Fall]
    degraded_questions: int
    paired: int
    capabilities: Breakdown | None
    categories: Breakdown | None
    modalities: Mapping[int, Mapping[Key, Group]]
    degradations: Mapping[int, Mapping[Key, Grouped]]
    heat: Mapping[int, Mapping[Key, Grouped]]
    calibration: Mapping[int, LevelCalibration]
    degradation_calibration: Mapping[tuple[int, str], DegradationCalibration]
    dke: IntraModelDKE | None
    tables: Mapping[int, VoteTable]


def analyse(source: TaskSet, *, resamples: int = RESAMPLES) -> Analysis:
    """All numbers of a task set. ``resamples=0`` leaves the intervals out.

    Raises UserError, with the run's file, when its records can't be counted.
    """
    try:
        return _analyse(source, resamples)
    except UserError as error:
        raise UserError(f"{source.run.path} ({', '.join(source.tasks)}): {error}") from error


def _analyse(source: TaskSet, resamples: int) -> Analysis:
    clean = source.levels.get(0, ())
    degraded = [record for level in (1, 2) for record in source.levels.get(level, ())]
    joined = pairs([record["question_id"] for record in clean], [record["question_id"] for record in degraded])
    paired = len(joined.degraded)
    compare = clean if paired else ()
    tables = {level: votes(records) for level, records in source.levels.items()}

    def by_level(*tags: str) -> dict[int, dict[Key, Grouped]]:
        return {level: _grouped(compare, records, tags, resamples) for level, records in source.levels.items() if level}

    return Analysis(
        # Its records are not needed any more, and those of many runs would fill the memory.
        source=replace(source, levels=dict.fromkeys(source.levels, ())),
        levels={level: _level(records, source.trials, resamples) for level, records in source.levels.items()},
        falls={
            level: Fall(
                whole=changes(clean, records, [], paired=False, resamples=resamples)[()],
                paired=changes(clean, records, [], paired=True, resamples=resamples)[()],
            )
            for level, records in source.levels.items()
            if level and clean
        },
        degraded_questions=len(degraded),
        paired=paired,
        # A question's capability is the same at all levels: without pairs its two groups can still be compared.
        capabilities=_capabilities(clean, degraded, bool(paired), resamples) if degraded else None,
        categories=_categories(compare, degraded, resamples) if degraded else None,
        modalities={
            level: by_tags(records, ["modality"], resamples=resamples) for level, records in source.levels.items()
        },
        degradations=by_level("degradation"),
        heat=by_level("degradation", "mid"),
        calibration=_calibrations(tables, resamples),
        degradation_calibration=_degradation_calibrations(source, resamples),
        dke=intra_model_dke(tables[0], tables[2], resamples=resamples) if {0, 2} <= set(tables) else None,
        tables=tables,
    )


def _level(records: Sequence[Record], trials: int, resamples: int) -> Level:
    return Level(
        questions=len(records),
        images=len({record["image_id"] for record in records}),
        accuracy=by_tags(records, [], resamples=resamples)[()],
        replies=sum(record["replies"] for record in records),
        unreadable=sum(record["replies"] - record["parsed"] for record in records),
        failed=_accuracy.failed_requests(records),
        parse_rate=_accuracy.parse_rate(records),
        identical=_accuracy.identical_trials(records),
        fewer=sum(len(record["trials"]) < trials for record in records),
    )


def _grouped(
    clean: Sequence[Record], degraded: Sequence[Record], tags: Sequence[str], resamples: int, paired: bool = True
) -> dict[Key, Grouped]:
    found = by_tags(degraded, tags, resamples=resamples)
    change = changes(clean, degraded, tags, paired=paired, resamples=resamples) if clean else {}
    return {key: Grouped(group, change.get(key)) for key, group in found.items()}


def _capabilities(clean: Sequence[Record], degraded: Sequence[Record], paired: bool, resamples: int) -> Breakdown:
    unmapped = taxonomy.unmapped((record["capability"] for record in degraded), "mid")
    return _breakdown(clean, degraded, "mid", taxonomy.mids(), unmapped, paired, resamples)


def _categories(clean: Sequence[Record], degraded: Sequence[Record], resamples: int) -> Breakdown:
    unmapped = Counter("(none)" for record in degraded if record["category"] is None)
    return _breakdown(clean, degraded, "category", taxonomy.categories(), unmapped, True, resamples)


def _breakdown(
    clean: Sequence[Record],
    degraded: Sequence[Record],
    tag: str,
    names: Sequence[str],
    unmapped: Mapping[str, int],
    paired: bool,
    resamples: int,
) -> Breakdown:
    groups = _grouped(clean, degraded, [tag], resamples, paired)
    change = macro_change(clean, degraded, tag, names, paired=paired, resamples=resamples) if clean else None
    return Breakdown(
        levels=tuple(sorted({record["severity"] for record in degraded})),
        names=tuple(names),
        groups={key[0]: group for key, group in groups.items() if key[0] in names},
        average=macro_mean(degraded, tag, names, resamples=resamples),
        average_change=change,
        paired=paired,
        unmapped=unmapped,
    )


def _calibrations(tables: Mapping[int, VoteTable], resamples: int) -> dict[int, LevelCalibration]:
    named = {str(level): table for level, table in tables.items()}
    change = calibration_changes(named, "0", resamples=resamples) if 0 in tables else {}
    return {
        level: LevelCalibration(
            counts=calibration(table),
            # Each level alone: the draws, and so the accuracy's interval, are those of the table of levels.
            intervals=calibration_intervals({"": table}, resamples=resamples)[""],
            change=change.get(str(level)),
            share=reliability(table, "share", resamples=resamples),
            entropy=reliability(table, "entropy", resamples=resamples),
            chance=_chance(table),
        )
        for level, table in tables.items()
    }


def _chance(table: VoteTable) -> Chance | None:
    """Over the questions that have a C; None if there is none."""
    used = (table.replies > 0) & (table.option_counts > 1)
    kinds = Counter(zip(table.option_counts[used].tolist(), table.replies[used].tolist(), strict=True))
    if not kinds:
        return None
    expected = [chance_confidence(options, replies) for options, replies in kinds]
    weights = list(kinds.values())
    confidence = float(np.average(expected, weights=weights))
    return Chance(confidence, confidence - float(np.average([1 / options for options, _ in kinds], weights=weights)))


def _degradation_calibrations(source: TaskSet, resamples: int) -> dict[tuple[int, str], DegradationCalibration]:
    def of(records: Sequence[Record]) -> DegradationCalibration:
        table = votes(records)
        intervals = calibration_intervals({"": table}, resamples=resamples)[""]
        return DegradationCalibration(intervals, reliability(table, "share", resamples=resamples))

    return {
        (level, degradation): found
        for level, records in source.levels.items()
        if level
        for degradation, found in _by(records, "degradation", of).items()
    }


def _by(records: Sequence[Record], tag: str, of: Callable[[Sequence[Record]], Result]) -> dict[str, Result]:
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(record[tag] or "", []).append(record)
    return {name: of(groups[name]) for name in sorted(groups)}
