"""Bones and Joints: the scores of a question, and the metrics of its tasks.

Tasks I to III are multiple choice: accuracy is the share of right answers. Tasks IV to VIII are judged: an answer's
accuracy is the mean over its judgements of 1 for Correct (of Task VIII: for having named the contradiction) and 0
otherwise. Judgements that could not be obtained are in no mean: see the coverage and the bounds.

Clusters are the images of a case, which Tasks III to VII share.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from lmms_medtasks.harness.scoring import ScoringHook
from lmms_medtasks.judges import records
from lmms_medtasks.judges.protocol import JudgeProtocol
from lmms_medtasks.parsing.reply import Reply
from lmms_medtasks.record import KEY, QuestionJudgement, QuestionRecord, ScoreValue
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.statistics import confidence
from lmms_medtasks.suites.common_metrics import JUDGED_NAMES, READ, READ_NAMES, WRONG
from lmms_medtasks.suites.estimates import Count, Mean
from lmms_medtasks.suites.judged_measures import judged_metrics, measure_value, tags_of, with_measures
from lmms_medtasks.suites.rotated_options import ROTATED, circular_task, option_record, rotation_metrics
from lmms_medtasks.suites.suite import Measure, Metric, Suite, number_of_questions
from lmms_medtasks.task_configs.bones_joints import judging
from lmms_medtasks.task_configs.bones_joints.source_forms import site_names, task_forms

AS_PUBLISHED, REPORTS, NO_IMAGE, SWAPPED, RELEASED = "", "reports", "no image", "swapped", "released"
CONDITIONS = (AS_PUBLISHED, REPORTS, NO_IMAGE, SWAPPED, RELEASED, ROTATED)
"""The condition of a task. As published: with its images if it has any, Task VIII with the pairs that we made."""

TAGS = (
    "data", "case_id", "image_case", "site", "image_site", "disease", "disease_listed", "modality", "image_count",
    "figures",
)  # fmt: skip
LABELS: Mapping[str, str] = {
    "unclear_rate": judging.UNCLEAR,
    "went_on": judging.WENT_ON,
    "missed": judging.MISSED,
    "objected_otherwise": judging.OTHERWISE,
}
"""Measure -> the label whose share of the judgements it is."""


_CONTRADICTION = ("went_on", "missed", "objected_otherwise")
MEASURES = (
    Measure("accuracy", f"Share of right answers; of judged ones, of the judgements that say so. {WRONG}"),
    Measure("unclear_rate", "Share of an answer's judgements that say Unclear.", higher_is_better=False),
    Measure("unanimous", "1 where all judgements of an answer agree, else 0; of answers with two or more."),
    Measure("steps_found", "Share of the experts' steps that the judge found in the answer."),
    Measure("went_on", "Share that named the contradiction and diagnosed from the text.", higher_is_better=False),
    Measure("missed", "Share of an answer's judgements that say Missed.", higher_is_better=False),
    Measure("objected_otherwise", "Share that objected to something else.", higher_is_better=False),
)


# --- A question -------------------------------------------------------------------------------------------------------
def choice_record(doc: Mapping[str, Any], results: Sequence[str | None]) -> QuestionRecord:
    """The record of a multiple-choice question, or of one rotation of it."""
    return option_record(doc, results, _record_tags(doc))


def judged_record(doc: Mapping[str, Any], results: Sequence[str | None], protocol: JudgeProtocol) -> QuestionRecord:
    """The record of a judged question, with the verdicts that the judging stage has obtained."""
    replies = [Reply.of(result) for result in results]
    trials, judgement = records.make_judgement(doc, replies, protocol)
    return QuestionRecord(
        id=str(doc["id"]),
        cluster=str(doc["image_id"]),
        trials=trials,
        expected=None,
        measures=judged_measures(judgement),
        tags=_record_tags(doc, protocol),
        judgement=judgement,
        replies=tuple(reply.note() for reply in replies),
    )


def judged_measures(judgement: QuestionJudgement) -> dict[str, ScoreValue]:
    """The measures that a judged answer's task has."""
    labels = labels_of(judgement)
    requested = sum(map(len, judgement.verdicts))
    protocol = judgement.judge["protocol"]
    shares = ("unclear_rate", *(_CONTRADICTION if protocol == judging.INCONSISTENCY.name else ()))
    scores = {
        **{name: labels.count(LABELS[name]) / len(labels) if labels else None for name in shares},
        "unanimous": float(len(set(labels)) == 1) if len(labels) > 1 else None,
        **({"steps_found": _steps_found(judgement)} if protocol == judging.REASONING.name else {}),
    }
    counted = {name: ScoreValue(score, judged=len(labels), requested=requested) for name, score in scores.items()}
    return {"accuracy": measure_value(judgement, judging.VERDICT.name), **counted}


def labels_of(judgement: QuestionJudgement) -> list[str]:
    """The labels of the judgements that were obtained, in order."""
    return [
        verdict["labels"][judging.VERDICT.name]
        for verdicts in judgement.verdicts
        for verdict in verdicts
        if verdict["status"] != "missing"
    ]


def _steps_found(judgement: QuestionJudgement) -> float | None:
    """The share of the experts' steps that were found, mean over the judgements that were obtained."""
    shares = [
        share
        for item, verdicts in zip(judgement.items, judgement.verdicts, strict=True)
        for verdict in verdicts
        if isinstance(item, Mapping) and verdict["status"] != "missing"
        if (share := judging.STEPS.share(verdict["labels"], item)) is not None
    ]
    return math.fsum(shares) / len(shares) if shares else None


def _record_tags(doc: Mapping[str, Any], protocol: JudgeProtocol | None = None) -> dict[str, Any]:
    tags = tags_of(doc, TAGS, protocol) if protocol else {name: doc[name] for name in TAGS if doc.get(name) is not None}
    # Not "task": a table of runs has the harness's task in a column of that name.
    return {**tags, "paper_task": str(doc["task"])}


# --- Metrics ----------------------------------------------------------------------------------------------------------
ACCURACY = Mean()


def _interval_end(which: Literal["low", "high"]) -> Count:
    """An end of the accuracy's 95 % interval, which the paper prints, at whatever level a report is."""

    def end(rows: QuestionTable) -> float | None:
        with confidence.use_level(confidence.DEFAULT):
            value: float | None = getattr(ACCURACY.of(rows)["mean"], which)
        return value

    return Count(function=end)


METRICS = (
    number_of_questions(),
    Metric("accuracy", ACCURACY, main=True, about="Share of right answers; a judged one's is over its judgements."),
    Metric("accuracy_low", _interval_end("low"), about="The lower end of the accuracy's 95 % interval."),
    Metric("accuracy_high", _interval_end("high"), about="The upper end of the accuracy's 95 % interval."),
    *(
        Metric(f"accuracy_{site}", Mean({"site": site}), about="Of Task VIII the site of the text.")
        for site in site_names()
    ),
    *rotation_metrics(),
    *READ,
    *(Metric(measure.name, Mean(measure=measure.name), higher_is_better=measure.higher_is_better)
      for measure in MEASURES if measure.name != "accuracy"),
    *judged_metrics("accuracy"),
)  # fmt: skip

_ACCURACY = (KEY, "accuracy", "accuracy_low", "accuracy_high", *(f"accuracy_{site}" for site in site_names()))
_JUDGED = (*_ACCURACY, "unclear_rate", "unanimous")
_COVERAGE = ("coverage", "bound_worst", "bound_best", "complete", *JUDGED_NAMES)


def condition(task: str, settings: Mapping[str, Any]) -> str:
    """The condition of a task, one of :data:`CONDITIONS`."""
    if settings.get("report"):
        return REPORTS
    if settings.get("no_image"):
        return NO_IMAGE
    ends = {"_swapped": SWAPPED, "_released": RELEASED, "_circular": ROTATED}
    return next((ends[end] for end in ends if task.endswith(end)), AS_PUBLISHED)


SUITE = Suite(
    name="bones_joints",
    title="Bones and Joints",
    cluster="image",
    data=("bones_joints",),
    tags=(*TAGS, "paper_task", "option_count", "rotation"),
    tag_values={"paper_task": tuple(task_forms())},
    measures=MEASURES,
    metrics=METRICS,
    tasks={
        "choice": (*_ACCURACY, *READ_NAMES),
        "circular": (KEY, *circular_task(), *READ_NAMES),
        "open": (*_JUDGED, *_COVERAGE),
        "chain": (*_JUDGED, "steps_found", *_COVERAGE),
        "contradiction": (*_JUDGED, *_CONTRADICTION, *_COVERAGE),
    },
    condition=condition,
    # Two tasks of a run that ask the same are two sources of a report.
    identity=("task", "id"),
)


# --- What the YAMLs name ----------------------------------------------------------------------------------------------
def _remeasured_record(record: QuestionRecord) -> QuestionRecord:
    return with_measures(record, judged_measures(record.judgement)) if record.judgement else record


def _judged_hook(kind: str, protocol: JudgeProtocol) -> ScoringHook:
    return ScoringHook(SUITE, kind, functools.partial(judged_record, protocol=protocol), _remeasured_record)


process_results_choice = ScoringHook(SUITE, "choice", choice_record)
process_results_circular = ScoringHook(SUITE, "circular", choice_record)
process_results_open = _judged_hook("open", judging.ANSWER)
process_results_chain = _judged_hook("chain", judging.REASONING)
process_results_contradiction = _judged_hook("contradiction", judging.INCONSISTENCY)
