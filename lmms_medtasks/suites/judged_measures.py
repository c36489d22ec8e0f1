"""Judged answers in records: from verdicts to the values of measures, and the counts beside every mean of them.

A missing judgement is not 0 and is not dropped silently: every mean has its coverage and two bounds, which take each
missing judgement as the worst and as the best score of the scale.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lmms_medtasks.judges import records
from lmms_medtasks.judges.protocol import JudgeProtocol
from lmms_medtasks.record import QuestionJudgement, QuestionRecord, ScoreValue, Tag
from lmms_medtasks.samples.table import QuestionTable, Where
from lmms_medtasks.suites.estimates import Count
from lmms_medtasks.suites.suite import Metric

COMPLETE = 0.95
"""A run in which a smaller share of the judgements was obtained is incomplete. Our choice."""


# --- A question -------------------------------------------------------------------------------------------------------


def tags_of(doc: Mapping[str, Any], names: Sequence[str], protocol: JudgeProtocol) -> dict[str, Tag]:
    """The document's tags of these names; if its data have terms of use, only those allowed in a log."""
    allowed = [name for name in names if not protocol.terms or name in ("data", *protocol.open_tags)]
    return {name: doc[name] for name in allowed if doc.get(name) is not None}


def measure_value(judgement: QuestionJudgement, measure: records.Measure) -> ScoreValue:
    """The score of a question's verdicts: the mean over those obtained. Without a reply, no verdict was requested."""
    numbers = records.verdict_scores(judgement, measure)
    known = [number for number in numbers if number is not None]
    if not numbers:
        return ScoreValue(judged=0, requested=0)
    worst, best = records.score_bounds(records.judgement_protocol(judgement), measure)
    return ScoreValue(
        score=math.fsum(known) / len(known) if known else None,
        low=math.fsum(worst if number is None else number for number in numbers) / len(numbers),
        high=math.fsum(best if number is None else number for number in numbers) / len(numbers),
        judged=len(known),
        requested=len(numbers),
    )


def with_measures(record: QuestionRecord, measures: Mapping[str, ScoreValue]) -> QuestionRecord:
    """The record with these measures added or replaced."""
    return replace(record, measures={**record.measures, **measures})


# --- Metrics ----------------------------------------------------------------------------------------------------------


def judgement_coverage(measure: str) -> Count:
    """Share of the judgements requested that were obtained, by a rule or by a judge; None where none was requested."""
    return Count(function=functools.partial(_judged_share, measure=measure))


def bounded_mean(measure: str, which: str, where: Where | None = None) -> Count:
    """Mean had every missing judgement been the worst (``which`` is "low") or the best ("high") of the scale."""
    return Count(where=where or {}, function=lambda rows: bound_of(rows, measure, which))


def bound_of(rows: QuestionTable, measure: str, which: str) -> float | None:
    """The mean of ``low`` or ``high`` over the questions of which a judgement was requested; None without any."""
    values = rows.column(f"{measure}.{which}")
    known = values[~np.isnan(values)]
    return math.fsum(known) / len(known) if len(known) else None


def judgement_counts(rows: QuestionTable, measure: str) -> tuple[int, int]:
    """Judgements obtained and requested."""
    obtained, requested = (np.nansum(rows.column(f"{measure}.{name}")) for name in ("judged", "requested"))
    return int(obtained), int(requested)


def judged_metrics(measure: str) -> tuple[Metric, ...]:
    """Coverage, both bounds and completeness of a judged measure."""
    return (
        Metric("coverage", judgement_coverage(measure), about="Share of the judgements that were obtained."),
        Metric("bound_worst", bounded_mean(measure, "low"), about="Mean, missing judgements at worst."),
        Metric("bound_best", bounded_mean(measure, "high"), about="Mean, missing judgements at best."),
        Metric(
            "complete",
            Count(function=functools.partial(is_complete, measure=measure)),
            about=f"1 if coverage is {COMPLETE:.0%} or more.",
            unit="count",
        ),
    )


def _judged_share(rows: QuestionTable, measure: str) -> float | None:
    obtained, requested = judgement_counts(rows, measure)
    return obtained / requested if requested else None


def is_complete(rows: QuestionTable, measure: str) -> float | None:
    """1 if the coverage reaches :data:`COMPLETE`, else 0; None if nothing was requested."""
    share = _judged_share(rows, measure)
    return None if share is None else float(share >= COMPLETE)
