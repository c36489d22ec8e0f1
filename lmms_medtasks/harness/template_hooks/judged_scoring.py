"""Scoring of open answers that a judge compared with a reference, see :mod:`lmms_medtasks.suites.judged_measures`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from lmms_medtasks.harness.scoring import MetricValue
from lmms_medtasks.harness.template_hooks.choice_scoring import cluster_of, make_task_values, tags_and_details
from lmms_medtasks.judges import records, registry
from lmms_medtasks.parsing import Reply
from lmms_medtasks.record import FAILED, QuestionJudgement, QuestionRecord, ScoreValue
from lmms_medtasks.statistics.text import exact_match, token_scores
from lmms_medtasks.suites.judged_measures import measure_value, tags_of, with_measures
from lmms_medtasks.suites.templates import get, measures


def process_results(
    doc: Mapping[str, Any], results: Sequence[str], settings: Mapping[str, Any] | None = None
) -> dict[str, MetricValue]:
    """The values of the task's metrics for the replies to a question, from the verdicts of the judging stage."""
    protocol = registry.get((settings or get("open").settings)["judge"])
    replies = [Reply.of(result) for result in results]
    trials, judgement = records.make_judgement(doc, replies, protocol)
    tags, details = tags_and_details(doc, settings)
    scores = _judged_scores(judgement)
    if not protocol.terms:
        scores.update(_traditional_scores(doc, replies))
    record = QuestionRecord(
        id=str(doc["id"]),
        cluster=cluster_of(doc, settings),
        trials=trials,
        expected=None if protocol.terms else str(doc["answer"]),
        measures=scores,
        tags=tags_of(tags, tuple(tags), protocol),
        pair=str(doc.get("question_id") or ""),
        judgement=judgement,
        details={} if protocol.terms else details,
        replies=tuple(reply.note() for reply in replies),
    )
    return make_task_values(record, settings, "open")


def metrics_of(record: QuestionRecord, settings: Mapping[str, Any] | None = None) -> dict[str, MetricValue]:
    """The metrics' values of a logged record, so that a log can be judged and scored again."""
    scores = _judged_scores(record.judgement) if record.judgement else {}
    return make_task_values(with_measures(record, scores), settings, "open")


process_results.metrics_of = metrics_of  # type: ignore[attr-defined]  # as records.scored_by does


def _judged_scores(judgement: QuestionJudgement) -> dict[str, ScoreValue]:
    """The task's score, and the scores of a rubric with several names."""
    protocol = records.judgement_protocol(judgement)
    scores = {"score": measure_value(judgement, measures.scored_of(protocol))}
    if protocol.reference and len(protocol.dimensions) > 1:
        scores |= {
            f"score_{dimension.name}": measure_value(judgement, dimension.name) for dimension in protocol.dimensions
        }
    return scores


def _traditional_scores(doc: Mapping[str, Any], replies: Sequence[Reply]) -> dict[str, ScoreValue]:
    """Text scores as means over the replies that came; empty without replies."""
    answers = [reply.answer for reply in replies if reply.outcome != FAILED]
    references = doc.get("references") or [str(doc["answer"])]  # the nearest of several references counts
    scores = {
        "exact_match": [max(float(exact_match(answer, reference)) for reference in references) for answer in answers],
        "token_f1": [max(token_scores(answer, reference).f1 for reference in references) for answer in answers],
    }
    return {name: ScoreValue(math.fsum(values) / len(values)) for name, values in scores.items() if values}
