"""MedQ-Deg's metrics over all levels of one run, for the harness's own table.

The record of a question stands once in the sample log, under ``accuracy_l0``, ``accuracy_l1`` or ``accuracy_l2`` by its
level; the metrics that need all levels share it in memory (:class:`Shared`).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from lmms_medtasks.harness import hooks
from lmms_medtasks.statistics import accuracy as _accuracy
from lmms_medtasks.statistics import calibration as _calibration
from lmms_medtasks.statistics import macro as _macro
from lmms_medtasks.statistics import reliability as _reliability
from lmms_medtasks.statistics.shared import Shared
from lmms_medtasks.statistics.votes import VoteTable, votes
from lmms_medtasks.task_configs.medq_deg import taxonomy

Record = Mapping[str, Any]

LEVELS = (0, 1, 2)
ACROSS_LEVELS = ("drop_l1", "drop_l2", "capability_macro", "category_macro", "unmapped_capabilities")
BY_LEVEL = ("confidence", "shift", "ece_share_10", "brier_share", "aurc_share")
CALIBRATION = (
    *(f"{name}_l{level}" for name in BY_LEVEL for level in LEVELS),
    "dke_intra",
    "dke_intra_probability",
)


def process_results(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, Any]:
    """Score the replies to a question for ``medq_deg`` and ``medq_deg_release``: its record under its level's accuracy.

    The other levels' accuracies get an empty value: the harness counts only values that have a score.
    """
    return _with(doc, results, ACROSS_LEVELS)


def process_results_calib(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, Any]:
    """As :func:`process_results`, for ``medq_deg_calib``."""
    return _with(doc, results, CALIBRATION)


def _with(doc: Mapping[str, Any], results: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
    scored = hooks.process_results_choice(doc, results)
    record = scored.pop("accuracy")
    levels = {f"accuracy_l{level}": record if record["severity"] == level else {} for level in LEVELS}
    shared = Shared(record, "accuracy_l*")
    return {**levels, **dict.fromkeys(names, shared), **scored}


def _records(values: Sequence[Shared], *levels: int) -> list[Record]:
    """The records of these levels by their ids: several processes hand them over in another order than one."""
    chosen = [value.record for value in values if not levels or value.record["severity"] in levels]
    return sorted(chosen, key=lambda record: record["id"])


def _drop(values: Sequence[Shared], level: int) -> float | None:
    """Accuracy at L0 less that at ``level`` (Table 6 with its sign turned: positive where accuracy fell)."""
    clean, degraded = (_accuracy.accuracy(_records(values, each)) for each in (0, level))
    return None if clean is None or degraded is None else clean - degraded


def _macro_mean(values: Sequence[Shared], tag: str, groups: Sequence[str]) -> float | None:
    """Mean over ``groups`` of their accuracies over L1 and L2 (Tables 2 and 3); empty ones are left out."""
    records = [_tagged(record) for record in _records(values, 1, 2)]
    return _macro.macro_mean(records, tag, groups, resamples=0).mean.estimate if records else None


def _tagged(record: Record) -> Record:
    return {
        **record,
        "mid": taxonomy.mid_of_name(record["capability"]),
        "category": taxonomy.category_of(record["degradation"]) if record["degradation"] else None,
    }


def capability_macro(values: Sequence[Shared]) -> float | None:
    """Mean over the six mid-level capabilities of the accuracy over L1 and L2 (Table 2, "Avg.")."""
    return _macro_mean(values, "mid", taxonomy.mids())


def category_macro(values: Sequence[Shared]) -> float | None:
    """Mean over the five categories of degradations of the accuracy over L1 and L2 (Table 3, "Avg.")."""
    return _macro_mean(values, "category", taxonomy.categories())


def unmapped_capabilities(values: Sequence[Shared]) -> int:
    """Number of questions whose capability has no place among the six: in no column of ``capability_macro``."""
    return sum(taxonomy.unmapped([record["capability"] for record in _records(values, 0)], level="mid").values())


drop_l1 = functools.partial(_drop, level=1)
drop_l2 = functools.partial(_drop, level=2)


def _votes(values: Sequence[Shared], level: int) -> VoteTable:
    return votes(_records(values, level))


def _confidence(values: Sequence[Shared], level: int) -> float | None:
    return _calibration.calibration(_votes(values, level)).confidence


def _shift(values: Sequence[Shared], level: int) -> float | None:
    return _calibration.calibration(_votes(values, level)).shift


def _reliable(values: Sequence[Shared], level: int, name: str) -> float | None:
    found = _reliability.reliability(_votes(values, level), "share", resamples=0)
    return getattr(found, name).estimate


confidence_l0, confidence_l1, confidence_l2 = (functools.partial(_confidence, level=level) for level in LEVELS)
shift_l0, shift_l1, shift_l2 = (functools.partial(_shift, level=level) for level in LEVELS)
ece_share_10_l0, ece_share_10_l1, ece_share_10_l2 = (
    functools.partial(_reliable, level=level, name="ece") for level in LEVELS
)
brier_share_l0, brier_share_l1, brier_share_l2 = (
    functools.partial(_reliable, level=level, name="brier") for level in LEVELS
)
aurc_share_l0, aurc_share_l1, aurc_share_l2 = (
    functools.partial(_reliable, level=level, name="aurc") for level in LEVELS
)


def _dke(values: Sequence[Shared]) -> _calibration.Evidence:
    return _calibration.intra_model_dke(_votes(values, 0), _votes(values, 2)).paired


def dke_intra(values: Sequence[Shared]) -> float | None:
    """1 if the intra-model Dunning–Kruger effect (equation 5, L0 against L2, paired by question) holds, else 0."""
    holds = _dke(values).holds
    return None if holds is None else float(holds)


def dke_intra_probability(values: Sequence[Shared]) -> float | None:
    """Share of the bootstrap's resamples of images in which it holds; no p-value (see ``intra_model_dke``)."""
    return _dke(values).probability
