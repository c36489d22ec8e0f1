"""Aggregations of contributed tasks that need all records at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lmms_medtasks.statistics import calibration as _calibration
from lmms_medtasks.statistics import coverage, robustness
from lmms_medtasks.statistics import reliability as _reliability
from lmms_medtasks.statistics.accuracy import accuracy
from lmms_medtasks.statistics.shared import Shared
from lmms_medtasks.statistics.votes import VoteTable, votes

Record = Mapping[str, Any]


def part(record: Record) -> dict[str, Any]:
    """A record's score, with what standard errors are clustered by; empty where nothing could be scored."""
    return {"score": record["score"], "image_id": record["image_id"]} if "score" in record else {}


def chance(values: Sequence[Record]) -> float | None:
    """Accuracy that a uniform draw from each question's answers has in expectation; None without questions."""
    return sum(value["chance"] for value in values) / len(values) if values else None


def relative_robustness(values: Sequence[Shared]) -> float | None:
    """Accuracy out of distribution over accuracy i.i.d. (SURE-VQA, section 3.2); None where one is missing or 0."""
    iid, ood = (accuracy([part(each.record) for each in _of(values, side)]) for side in ("iid", "ood"))
    return robustness.relative_robustness(iid, ood)


def score_relative_robustness(values: Sequence[Shared]) -> float | None:
    """The same of judged scores: means over the answers that have one."""
    iid, ood = (coverage.judged_mean([each.record for each in _of(values, side)]) for side in ("iid", "ood"))
    return robustness.relative_robustness(iid, ood)


def shared_images(values: Sequence[Shared]) -> int:
    """Number of images that both tests have questions about."""
    return len(set.intersection(*({each.record["image_id"] for each in _of(values, side)} for side in ("iid", "ood"))))


def confidence(values: Sequence[Shared]) -> float | None:
    """Mean confidence from votes (MedQ-Deg, equation 3), see :mod:`lmms_medtasks.statistics.calibration`."""
    return _calibration.calibration(_votes(values)).confidence


def calibration_shift(values: Sequence[Shared]) -> float | None:
    """Mean confidence less accuracy (MedQ-Deg, equation 4); above 0 is overconfidence."""
    return _calibration.calibration(_votes(values)).shift


def ece(values: Sequence[Shared]) -> float | None:
    """Expected calibration error of the majority's share of the votes, ten bins of equal width."""
    return _reliable(values, "ece")


def brier(values: Sequence[Shared]) -> float | None:
    """Mean of (majority's share less whether it is right) squared."""
    return _reliable(values, "brier")


def aurc(values: Sequence[Shared]) -> float | None:
    """Area under the risk-coverage curve, questions in the order of the majority's share."""
    return _reliable(values, "aurc")


def _reliable(values: Sequence[Shared], name: str) -> float | None:
    estimate: float | None = getattr(_reliability.reliability(_votes(values), "share", resamples=0), name).estimate
    return estimate


def _votes(values: Sequence[Shared]) -> VoteTable:
    # By their ids: several processes hand them over in another order than one.
    return votes(sorted((value.record for value in values), key=lambda record: record["id"]))


def _of(values: Sequence[Shared], side: str) -> list[Shared]:
    chosen = [value for value in values if value.record.get("set") == side]
    return sorted(chosen, key=lambda value: value.record["id"])
