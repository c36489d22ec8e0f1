"""Scoring of answers that are read: multiple choice, yes or no, positions in a grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lmms_medtasks.grids import triage
from lmms_medtasks.harness import hooks
from lmms_medtasks.harness.scoring import MetricValue, make_metric_values
from lmms_medtasks.parsing import Reply
from lmms_medtasks.record import FAILED, QuestionRecord, ScoreValue, Tag
from lmms_medtasks.samples.table import FIELDS, OWN_COLUMNS
from lmms_medtasks.suites.own_metrics import with_values
from lmms_medtasks.suites.templates import get
from lmms_medtasks.suites.templates.measures import CustomScoring, load_custom_metrics, of_kind
from lmms_medtasks.suites.templates.parsers import get as parser_of
from lmms_medtasks.suites.templates.parsers import is_custom_parser

KIND = "choice"

# The question's text stands in the log's input, the picture nowhere; the others are the record's own fields.
_NO_TAGS = {"question", "options", "image", "images", "answer", "id", "image_id", "question_id"}


def process_results(
    doc: Mapping[str, Any], results: Sequence[str], settings: Mapping[str, Any] | None = None
) -> dict[str, MetricValue]:
    """The values of the task's metrics for the replies to a question.

    A reply from which no answer could be read is wrong, and counted; a failed request has no score.
    """
    settings = settings or get("multiple_choice").settings
    names = settings.get("metrics") or get("multiple_choice").metrics
    custom = settings.get("own") or CustomScoring()
    made = make_choice_record(doc, results, str(settings.get("parser", "option")), settings)
    record = with_values(made, load_custom_metrics(custom))
    return make_metric_values(of_kind(KIND, custom), names, record)


def make_choice_record(
    doc: Mapping[str, Any], results: Sequence[str], parser_name: str, settings: Mapping[str, Any] | None = None
) -> QuestionRecord:
    """The record of a question, its answers read by the parser of this name; ``settings``: the task's."""
    parser = parser_of(parser_name)
    replies = [Reply.of(result) for result in results]
    readings = [parser.read(doc, reply) for reply in replies]
    trials = tuple(reading.value or reading.status for reading in readings)
    expected, answers = parser.expected(doc), parser.answers(doc)
    correct = [parser.accepts(reading.value, expected) for reading in readings if reading.status != FAILED]
    sent = [reply.sent for reply, each in zip(replies, readings, strict=True) if each.status != FAILED]
    option_count = len(doc["options"]) or len(answers)
    possible = len(answers) if parser_name == "several_letters" or is_custom_parser(parser_name) else option_count
    accepted = sum(parser.accepts(answer, expected) for answer in answers)
    scores: dict[str, float | None] = {
        "accuracy": sum(correct) / len(correct) if correct else None,
        "chance": max(accepted, 1) / possible if possible else None,
        "identical": float(len(set(sent)) == 1) if len(sent) > 1 else None,
    }
    tags: dict[str, Tag] = {"option_count": option_count}
    of_triage: dict[str, float | None] = {}
    if parser_name == "position":
        negative = expected == triage.NONE
        tags["negative"] = int(negative)
        of_triage = triage.triage_scores(trials, negative)
    document_tags, details = tags_and_details(doc)
    rendered = _degradation_parameters(doc, settings or {})
    if rendered:
        details["degradation_parameters"] = rendered
    return QuestionRecord(
        id=str(doc["id"]),
        cluster=str(doc["image_id"]),
        trials=trials,
        expected=expected,
        measures={
            name: ScoreValue(score)
            for name, score in (scores | of_triage).items()
            if score is not None or name in ("accuracy", *of_triage)
        },
        tags={**document_tags, **tags},
        pair=str(doc.get("question_id") or ""),
        details=details,
        replies=tuple(reply.note(each.rule) for reply, each in zip(replies, readings, strict=True)),
    )


def _degradation_parameters(doc: Mapping[str, Any], settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What this task has done to a question's pictures.

    Other tasks of a run may ask questions of the same ids, on pictures that are degraded otherwise, or without any.
    """
    if settings.get("no_image"):
        return []
    rendered = hooks.RENDERED.get(str(doc["id"]), hooks.describe_degradation(doc, settings))
    level = 0 if settings.get("rendered") else settings.get("severity", doc.get("severity")) or 0
    if level == 0 or not settings.get("degradation", doc.get("degradation")):
        return [{"shown_as": each["shown_as"]} for each in rendered if "shown_as" in each]
    return rendered


def tags_and_details(doc: Mapping[str, Any]) -> tuple[dict[str, Tag], dict[str, Any]]:
    """What a document says beside question and answer: texts and numbers are tags, all else is kept as details.

    So is a column whose name the table of questions has for something else.
    """
    tags: dict[str, Tag] = {}
    details: dict[str, Any] = {}
    for name, value in doc.items():
        if name in _NO_TAGS:
            continue
        if isinstance(value, Tag) and not is_reserved(name):
            tags[name] = value
        else:
            details[name] = value
    return tags, details


def is_reserved(name: str) -> bool:
    """Whether a column of the table of questions is called so that is no tag."""
    return name in OWN_COLUMNS or name.rpartition(".")[2] in (*FIELDS, "asked")
