"""Means over judged answers, with how many were judged, and what the mean would be had the missing been worst or best.

Values are those of :func:`lmms_medtasks.judges.records.value`. A missing judgement is no zero and is not silently left
out: :func:`judged_mean` never stands without :func:`coverage` and the two bounds. An answer whose request failed
(``wanted`` is 0) is in none of them; such answers are counted elsewhere, see
:func:`lmms_medtasks.statistics.accuracy.failed_requests`. Where there is nothing to count, the result is None.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Value = Mapping[str, Any]

COMPLETE = 0.95
"""A run in which a smaller share of the judgements was had is incomplete. Our choice."""


def judged_mean(values: Sequence[Value]) -> float | None:
    """Mean score over the answers that have one: each the mean over its judgements that were had.

    None if no judge had a say, see :func:`only_rules`. Empty values are no answers.
    """
    return None if only_rules(values) else _mean(value["score"] for value in values if "score" in value)


def only_rules(values: Sequence[Value]) -> bool:
    """Whether answers lack a judgement and no judge gave any.

    Then a rule settled all that have a score, and rules settle the extremes only: an exact match, an empty answer.
    """
    statuses = {value["status"] for value in values if value}
    return "missing" in statuses and not statuses & {"judged", "partial"}


def coverage(values: Sequence[Value]) -> float | None:
    """n judged / n: the share of the judgements wanted that were had, by a rule or by a judge; from 0 to 1."""
    wanted = sum(value["wanted"] for value in values)
    return sum(value["judged"] for value in values) / wanted if wanted else None


def missing_judgements(values: Sequence[Value]) -> int:
    """Number of judgements that were wanted and could not be had."""
    return sum(value["wanted"] - value["judged"] for value in values)


def bound_worst(values: Sequence[Value]) -> float | None:
    """The mean over all answers, had each missing judgement been the worst that the scale has."""
    return _mean(value["low"] for value in values if value["wanted"])


def bound_best(values: Sequence[Value]) -> float | None:
    """The mean over all answers, had each missing judgement been the best that the scale has."""
    return _mean(value["high"] for value in values if value["wanted"])


def is_complete(values: Sequence[Value], threshold: float = COMPLETE) -> bool | None:
    """Whether :func:`coverage` reaches ``threshold``; None where nothing was to be judged."""
    share = coverage(values)
    return None if share is None else share >= threshold


def complete(values: Sequence[Value]) -> float | None:
    """Aggregation: :func:`is_complete` as 1.0 or 0.0; says so in the harness's log if it is not."""
    found = is_complete(values)
    if found is False:
        from loguru import logger  # the harness's log

        share = coverage(values) or 0.0
        mean = "There is no mean" if only_rules(values) else "The mean is over those"
        logger.warning(
            f"Incomplete: {missing_judgements(values)} judgements are missing, {share:.1%} were had (wanted: "
            f"{COMPLETE:.0%}). {mean}; over all it may lie anywhere from {bound_worst(values):.4g} to "
            f"{bound_best(values):.4g}. Fill the gaps without the model: lmms-medtasks judge RUN"
        )
    return None if found is None else float(found)


def group_mean(metrics: Sequence[float | None], sizes: Sequence[int], weight_by_size: bool) -> float | None:
    """Aggregation of a group: the mean of its tasks' values, weighted by their numbers of documents or not.

    The harness's own ``mean`` ends the run with a TypeError where a task has no value; here that task is left out, and
    a group without any value has none.
    """
    found = [(value, size if weight_by_size else 1) for value, size in zip(metrics, sizes, strict=True)]
    had = [(value, weight) for value, weight in found if value is not None]
    total = sum(weight for _, weight in had)
    return math.fsum(value * weight for value, weight in had) / total if total else None


def _mean(numbers: Iterable[float]) -> float | None:
    found = list(numbers)
    # fsum: exact, so that the value does not depend on the order of answers to the last bit.
    return math.fsum(found) / len(found) if found else None
