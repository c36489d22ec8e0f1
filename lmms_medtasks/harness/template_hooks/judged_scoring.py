"""Scoring of open answers that a judge compared with a reference, see :mod:`lmms_medtasks.suites.judged_measures`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from lmms_medtasks.harness.scoring import MetricValue, make_metric_values
from lmms_medtasks.harness.template_hooks.choice_scoring import tags_and_details
from lmms_medtasks.judges import records, registry
from lmms_medtasks.parsing import Reply
from lmms_medtasks.record import FAILED, QuestionJudgement, QuestionRecord, ScoreValue
from lmms_medtasks.statistics.text import exact_match, token_scores
from lmms_medtasks.suites.judged_measures import measure_value, tags_of, with_measures
from lmms_medtasks.suites.own_metrics import with_values
from lmms_medtasks.suites.templates import get, measures
from lmms_medtasks.suites.templates.measures import CustomScoring, load_custom_metrics, of_kind

KIND = "open"


def process_results(
    doc: Mapping[str, Any], results: Sequence[str], settings: Mapping[str, Any] | None = None
) -> dict[str, MetricValue]:
    """The values of the task's metrics for the replies to a question, by the verdicts that the judging stage got."""
    protocol = registry.get((settings or get("open").settings)["judge"])
    replies = [Reply.of(result) for result in results]
    trials, judgement = records.make_judgement(doc, replies, protocol)
    tags, details = tags_and_details(doc)
    scores = _judged_scores(judgement)
    if not protocol.terms:
        scores.update(_traditional_scores(doc, replies))
    record = QuestionRecord(
        id=str(doc["id"]),
        cluster=str(doc["image_id"]),
        trials=trials,
        expected=None if protocol.terms else str(doc["answer"]),
        measures=scores,
        tags=tags_of(tags, tuple(tags), protocol),
        pair=str(doc.get("question_id") or ""),
        judgement=judgement,
        details={} if protocol.terms else details,
        replies=tuple(reply.note() for reply in replies),
    )
    return _task_values(record, settings)


def metrics_of(record: QuestionRecord, settings: Mapping[str, Any] | None = None) -> dict[str, MetricValue]:
    """The metrics' values of a logged record: a function of it, so that a log can be judged and scored again."""
    scores = _judged_scores(record.judgement) if record.judgement else {}
    return _task_values(with_measures(record, scores), settings)


process_results.metrics_of = metrics_of  # type: ignore[attr-defined]  # as records.scored_by does


def _task_values(record: QuestionRecord, settings: Mapping[str, Any] | None) -> dict[str, MetricValue]:
    names = (settings or {}).get("metrics") or get("open").metrics
    custom = (settings or {}).get("own") or CustomScoring()
    return make_metric_values(of_kind(KIND, custom), names, with_values(record, load_custom_metrics(custom)))


def _judged_scores(judgement: QuestionJudgement) -> dict[str, ScoreValue]:
    """The task's score, and of a rubric with several named scores each of them."""
    protocol = records.judgement_protocol(judgement)
    scores = {"score": measure_value(judgement, measures.scored_of(protocol))}
    if protocol.reference and len(protocol.dimensions) > 1:
        scores |= {
            f"score_{dimension.name}": measure_value(judgement, dimension.name) for dimension in protocol.dimensions
        }
    return scores


def _traditional_scores(doc: Mapping[str, Any], replies: Sequence[Reply]) -> dict[str, ScoreValue]:
    """Means over the replies that came, without a judge; nothing where none came."""
    answers = [reply.answer for reply in replies if reply.outcome != FAILED]
    references = doc.get("references") or [str(doc["answer"])]  # of several references the nearest one counts
    scores = {
        "exact_match": [max(float(exact_match(answer, reference)) for reference in references) for answer in answers],
        "token_f1": [max(token_scores(answer, reference).f1 for reference in references) for answer in answers],
    }
    return {name: ScoreValue(math.fsum(values) / len(values)) for name, values in scores.items() if values}
