"""Scoring of answers that a parser reads: multiple choice, yes or no, positions in a grid."""

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

# The question's text is in the log's input, pictures are not logged; the others are the record's own fields.
_NO_TAGS = {"question", "options", "image", "images", "answer", "id", "image_id", "question_id"}


def process_results(
    doc: Mapping[str, Any], results: Sequence[str], settings: Mapping[str, Any] | None = None
) -> dict[str, MetricValue]:
    """The values of the task's metrics for the replies to a question.

    A reply from which no answer could be read is wrong, and counted; a failed request has no score.
    """
    settings = settings or get("multiple_choice").settings
    record = make_choice_record(doc, results, str(settings.get("parser", "option")), settings)
    return make_task_values(record, settings, "multiple_choice")


def make_task_values(
    record: QuestionRecord, settings: Mapping[str, Any] | None, template_name: str
) -> dict[str, MetricValue]:
    """The values of a record's task: the metrics of its settings, else of the template, and its custom ones."""
    template, settings = get(template_name), settings or {}
    custom = settings.get("own") or CustomScoring()
    names = settings.get("metrics") or template.metrics
    return make_metric_values(of_kind(template.kind, custom), names, with_values(record, load_custom_metrics(custom)))


def make_choice_record(
    doc: Mapping[str, Any], results: Sequence[str], parser_name: str, settings: Mapping[str, Any] | None = None
) -> QuestionRecord:
    """The record of a question with answers of the named parser; ``settings``: the task's."""
    parser = parser_of(parser_name)
    replies = [Reply.of(result) for result in results]
    all_parsed = [parser.read(doc, reply) for reply in replies]
    trials = tuple(parsed.value or parsed.status for parsed in all_parsed)
    expected, answers = parser.expected(doc), parser.answers(doc)
    correct = [parser.accepts(parsed.value, expected) for parsed in all_parsed if parsed.status != FAILED]
    sent = [reply.sent for reply, parsed in zip(replies, all_parsed, strict=True) if parsed.status != FAILED]
    option_count = len(doc["options"]) or len(answers)
    possible = len(answers) if parser_name == "several_letters" or is_custom_parser(parser_name) else option_count
    accepted = sum(parser.accepts(answer, expected) for answer in answers)
    scores: dict[str, float | None] = {
        "accuracy": sum(correct) / len(correct) if correct else None,
        "chance": max(accepted, 1) / possible if possible else None,
        "identical": float(len(set(sent)) == 1) if len(sent) > 1 else None,
    }
    tags: dict[str, Tag] = {"option_count": option_count}
    triage_scores: dict[str, float | None] = {}
    if parser_name == "position":
        is_negative = expected == triage.NONE
        tags["negative"] = int(is_negative)
        triage_scores = triage.triage_scores(trials, is_negative)
    document_tags, details = tags_and_details(doc, settings)
    if rendered := _degradation_parameters(doc, settings or {}):
        details["degradation_parameters"] = rendered
    return QuestionRecord(
        id=str(doc["id"]),
        cluster=cluster_of(doc, settings),
        trials=trials,
        expected=expected,
        measures={
            name: ScoreValue(score)
            for name, score in (scores | triage_scores).items()
            if score is not None or name in ("accuracy", *triage_scores)
        },
        tags={**document_tags, **tags},
        pair=str(doc.get("question_id") or ""),
        details=details,
        replies=tuple(reply.note(parsed.rule) for reply, parsed in zip(replies, all_parsed, strict=True)),
    )


def _degradation_parameters(doc: Mapping[str, Any], settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The degradations of a question's pictures in this task; other tasks of a run may share the question's id."""
    if settings.get("no_image"):
        return []
    rendered = hooks.RENDERED.get(str(doc["id"]), hooks.describe_degradation(doc, settings))
    level = 0 if settings.get("rendered") else settings.get("severity", doc.get("severity")) or 0
    if level == 0 or not settings.get("degradation", doc.get("degradation")):
        return [{"shown_as": picture["shown_as"]} for picture in rendered if "shown_as" in picture]
    return rendered


def cluster_of(doc: Mapping[str, Any], settings: Mapping[str, Any] | None) -> str:
    """What a document shares with others that are not independent: its image, or what the settings name."""
    return str(doc[(settings or {}).get("cluster") or "image_id"]).strip()


def tags_and_details(
    doc: Mapping[str, Any], settings: Mapping[str, Any] | None
) -> tuple[dict[str, Tag], dict[str, Any]]:
    """A document's other columns: texts and numbers as tags; other values and reserved names as details."""
    known = {*_NO_TAGS, (settings or {}).get("cluster")}
    tags: dict[str, Tag] = {}
    details: dict[str, Any] = {}
    for name, value in doc.items():
        if name in known:
            continue
        is_reserved = name in OWN_COLUMNS or name.rpartition(".")[2] in (*FIELDS, "asked")
        if isinstance(value, Tag) and not is_reserved:
            tags[name] = value
        else:
            details[name] = value
    return tags, details
