"""Med-CMR: what is read from a reply, what is measured of a question, and the metrics of its tasks.

Clusters are images. A record says by its tag ``form`` how its question was asked: ``mcq``, ``circular`` (a copy for
each rotation of the options), or ``open`` (judged).
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmms_medtasks import folders
from lmms_medtasks.harness.scoring import ScoringHook
from lmms_medtasks.judges import records
from lmms_medtasks.parsing.reasoned import read_reasoned
from lmms_medtasks.parsing.reply import Reply
from lmms_medtasks.record import EMPTY, FAILED, KEY, QuestionJudgement, QuestionRecord, ScoreValue
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.statistics.text import exact_match
from lmms_medtasks.suites import judged_measures
from lmms_medtasks.suites.common_metrics import JUDGED_NAMES, LOWEST, READ, READ_NAMES, WRONG
from lmms_medtasks.suites.estimates import Count, Macro, Mean
from lmms_medtasks.suites.rotated_options import circular_task, option_record, rotation_metrics
from lmms_medtasks.suites.suite import Measure, Metric, Suite, count_read_replies, mean_metrics, number_of_questions
from lmms_medtasks.task_configs.med_cmr.judging import HIGHEST, PROTOCOL, WEIGHTS, weighted_total

Document = Mapping[str, Any]


@dataclass(frozen=True)
class MedCmrDimension:
    """One of the seven: its short and long name, its side ("visual" or "reasoning"), and what it is in a few words."""

    short: str
    name: str
    side: str
    words: str


@functools.cache
def load_dimensions() -> tuple[MedCmrDimension, ...]:
    """The seven dimensions in the paper's order, visual ones first."""
    rows = folders.read_yaml(Path(__file__).with_name("dimensions.yml"))["dimensions"]
    return tuple(MedCmrDimension(short, row["name"], row["side"], row["words"]) for short, row in rows.items())


FORMS = ("mcq", "circular", "open")
TASKS = ("med_cmr_mcq", "med_cmr_mcq_circular", "med_cmr_open")
DIMENSIONS = tuple(each.short for each in load_dimensions())
"""``SOD`` ... ``MSI``, in the paper's order."""

SIDES: Mapping[str, tuple[str, ...]] = {
    side: tuple(each.short for each in load_dimensions() if each.side == side) for side in ("visual", "reasoning")
}
BREAKDOWNS = ("organ_system", "modality", "subtype", "question_type")
"""Tags that are texts of the release's own."""

_TAGS = ("data", "dimension", *BREAKDOWNS, "index")
NO_IMAGE = "_noimage"
BOTH = "both"
"""What an open answer's parts are called where both were found."""

PARTS: Mapping[str, tuple[str, ...]] = {
    "without_reasoning": ("no_reasoning",),
    "without_answer": ("no_answer",),
    "without_labels": ("neither",),
}
"""Metric -> the outcomes of :func:`lmms_medtasks.parsing.reasoned.read_reasoned` that it counts."""

JUDGED: Mapping[str, Any] = {"total": weighted_total, **{name: name for name in WEIGHTS}}
"""Measures of a judged answer, and what each is of the verdict's four scores."""

MEASURES = (
    Measure("accuracy", f"1 where the reply names the correct option, else 0. {WRONG}"),
    Measure("total", f"The four scores of an open answer, weighted (paper). {LOWEST}", high=100, unit="points"),
    *(
        Measure(name, f"The judge's score for {name.replace('_', ' ')}.", high=HIGHEST, unit="of 5", digits=2)
        for name in WEIGHTS
    ),
    Measure("exact_match", "1 where the final answer has the reference's words, else 0."),
)


# --- A multiple-choice question ---------------------------------------------------------------------------------------
def choice_record(doc: Document, results: Sequence[str | None]) -> QuestionRecord:
    """The record of a multiple-choice question, or of one rotation of it."""
    tags = {name: doc[name] for name in _TAGS if doc.get(name) is not None}
    return option_record(doc, results, {**tags, "form": "circular" if "rotation" in doc else "mcq"})


# --- An open question -------------------------------------------------------------------------------------------------
def open_record(doc: Document, results: Sequence[str | None]) -> QuestionRecord:
    """The record of an open question, with the verdicts that the judging stage has got.

    ``parts``: which of its two labelled parts each reply had, joined by ";". A reply of labels alone is empty.
    """
    replies = [Reply.of(result) for result in results]
    trials, judgement = records.make_judgement(doc, replies, PROTOCOL)
    labelled = [read_reasoned(reply).status for reply in replies]
    exact = [exact_match(item["answer"], item["reference"]) for item in judgement.items if isinstance(item, Mapping)]
    tags = judged_measures.tags_of(doc, _TAGS, PROTOCOL)
    record = QuestionRecord(
        id=str(doc["id"]),
        cluster=str(doc["image_id"]),
        trials=tuple(EMPTY if each == EMPTY else trial for trial, each in zip(trials, labelled, strict=True)),
        expected=None,
        measures={"exact_match": ScoreValue(sum(exact) / len(exact) if exact else None)},
        tags={**tags, "form": "open", "parts": ";".join(labelled)},
        judgement=judgement,
        replies=tuple(reply.note() for reply in replies),
    )
    return record_with_verdicts(record)


def record_with_verdicts(record: QuestionRecord) -> QuestionRecord:
    """The record of an open question with the measures that its verdicts give."""
    judgement = record.judgement
    return judged_measures.with_measures(record, _judged_measures(judgement)) if judgement else record


def _judged_measures(judgement: QuestionJudgement) -> dict[str, ScoreValue]:
    return {name: judged_measures.measure_value(judgement, of) for name, of in JUDGED.items()}


def count_reply_parts(rows: QuestionTable) -> Counter[str]:
    """How many replies had which of their two labelled parts."""
    return Counter(part for each in rows.column("parts") if each for part in each.split(";"))


def read_replies(rows: QuestionTable) -> tuple[int, int]:
    """Replies that could be read, of open answers those with both labelled parts; and replies that came."""
    found = count_reply_parts(rows)
    return (found[BOTH], found.total() - found[FAILED]) if found else count_read_replies(rows)


def _both_parts(rows: QuestionTable) -> float | None:
    both, replies = read_replies(rows) if count_reply_parts(rows) else (0, 0)
    return both / replies if replies else None


def _part_count(rows: QuestionTable, outcomes: tuple[str, ...]) -> int:
    found = count_reply_parts(rows)
    return sum(found[outcome] for outcome in outcomes)


# --- Metrics ----------------------------------------------------------------------------------------------------------
BY_DIMENSION: Mapping[str, Mapping[str, Any]] = {name: {"dimension": name} for name in DIMENSIONS}
ACCURACY, EXACT = Mean(), Mean(measure="exact_match")
RANGES = {measure.name: measure.range for measure in MEASURES}
SCORES = {name: Mean(measure=name, bounds=RANGES[name]) for name in WEIGHTS}
TOTAL = Mean(measure="total", bounds=RANGES["total"])


def _side_accuracy(side: str) -> Macro:
    """The mean over a side's dimensions of their accuracies, each weighing alike; without those that have no score."""
    groups = tuple(BY_DIMENSION[name] for name in SIDES[side])
    return Macro(bounds=RANGES["accuracy"], groups=groups, skip_empty=True)


SIDE_ACCURACY = {side: _side_accuracy(side) for side in SIDES}

METRICS = (
    number_of_questions(),
    Metric("accuracy", ACCURACY, main=True, about='Share of right answers: the paper\'s "MCQ All", over questions.'),
    *mean_metrics("accuracy", {f"accuracy_{name.lower()}": where for name, where in BY_DIMENSION.items()}),
    *(
        Metric(f"{side}_mean", each, about="Mean over the side's dimensions of their accuracies, each weighing alike.")
        for side, each in SIDE_ACCURACY.items()
    ),
    *rotation_metrics(),
    *READ,
    Metric("total", TOTAL, main=True, about='The four scores, weighted: the paper\'s "Open All", over questions.'),
    *(Metric(name, each) for name, each in SCORES.items()),
    *mean_metrics("total", {f"total_{name.lower()}": where for name, where in BY_DIMENSION.items()}),
    *judged_measures.judged_metrics("total"),
    Metric("exact_match", EXACT),
    Metric("both_parts", Count(function=_both_parts), about="Share of the replies with both labelled parts."),
    *(
        Metric(
            name,
            Count(function=functools.partial(_part_count, outcomes=outcomes)),
            higher_is_better=False,
            about="Number of replies that lack a part.",
            unit="count",
        )
        for name, outcomes in PARTS.items()
    ),
)

_JUDGEMENTS = ("coverage", "bound_worst", "bound_best", "complete")


def condition(task: str, settings: Mapping[str, Any]) -> str:
    """How a task asks, "" as released: without the image, or by a prompt of somebody's own."""
    return ", ".join(
        [*(["no image"] if settings.get("no_image") else []), *([own] if (own := question_variant(task)) else [])]
    )


def question_variant(task: str) -> str:
    """The task's name where it is none of the suite's own, else ""."""
    return "" if task.removesuffix(NO_IMAGE) in TASKS else task


def task_tags(task: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Whether the model saw the image, and the task's name where it is none of the suite's own."""
    return {"image_shown": not settings.get("no_image"), "variant": question_variant(task)}


SUITE = Suite(
    name="med_cmr",
    title="Med-CMR",
    cluster="image",
    data=("med_cmr",),
    tags=(*_TAGS, "form", "option_count", "rotation", "parts"),
    reply_tags=("parts",),
    read_replies=read_replies,
    measures=MEASURES,
    metrics=METRICS,
    tasks={
        "mcq": (
            KEY, "accuracy", *(f"accuracy_{name.lower()}" for name in DIMENSIONS), *(f"{side}_mean" for side in SIDES),
            *READ_NAMES,
        ),
        "circular": (
            KEY, *circular_task(), *READ_NAMES,
        ),
        "open": (
            KEY, *JUDGED, *(f"total_{name.lower()}" for name in DIMENSIONS), *_JUDGEMENTS, "exact_match", "both_parts",
            *PARTS, *JUDGED_NAMES,
        ),
    },
    condition=condition,
    task_tags=task_tags,
    tag_values={"dimension": DIMENSIONS, "form": FORMS},
    identity=("form", "id"),
)  # fmt: skip


# --- What the YAMLs name ----------------------------------------------------------------------------------------------
process_results = ScoringHook(SUITE, "mcq", choice_record)
process_results_circular = ScoringHook(SUITE, "circular", choice_record)
process_results_open = ScoringHook(SUITE, "open", open_record, record_with_verdicts)
