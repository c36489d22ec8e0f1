"""Med-CMR: the scores of a question, and the metrics of its tasks.

Clusters are images. The tag ``form`` of a record: ``mcq``, ``circular`` (a copy for each rotation of the options), or
``open`` (judged).
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
from lmms_medtasks.record import EMPTY, FAILED, KEY, QuestionRecord, ScoreValue
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
    """One of the seven dimensions. ``side``: "visual" or "reasoning"; ``words``: what it is in a few words."""

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
DIMENSIONS = tuple(dimension.short for dimension in load_dimensions())
"""``SOD`` ... ``MSI``, in the paper's order."""

SIDES: Mapping[str, tuple[str, ...]] = {
    side: tuple(dimension.short for dimension in load_dimensions() if dimension.side == side)
    for side in ("visual", "reasoning")
}
BREAKDOWNS = ("organ_system", "modality", "subtype", "question_type")
"""Tags that are the release's own texts."""

_TAGS = ("data", "dimension", *BREAKDOWNS, "index")
NO_IMAGE = "_noimage"
BOTH = "both"
"""The status of an open answer with both labelled parts."""

PARTS: Mapping[str, tuple[str, ...]] = {
    "without_reasoning": ("no_reasoning",),
    "without_answer": ("no_answer",),
    "without_labels": ("neither",),
}
"""Metric -> the outcomes of :func:`lmms_medtasks.parsing.reasoned.read_reasoned` that it counts."""

JUDGED: Mapping[str, Any] = {"total": weighted_total, **{name: name for name in WEIGHTS}}
"""Measure of a judged answer -> a score of its verdict, or a function of the four scores."""

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
    """The record of an open question, with the verdicts that the judging stage has obtained.

    ``parts``: which of the two labelled parts each reply had, joined by ";". A reply of labels alone is empty.
    """
    replies = [Reply.of(result) for result in results]
    trials, judgement = records.make_judgement(doc, replies, PROTOCOL)
    labelled = [read_reasoned(reply).status for reply in replies]
    exact = [exact_match(item["answer"], item["reference"]) for item in judgement.items if isinstance(item, Mapping)]
    tags = judged_measures.tags_of(doc, _TAGS, PROTOCOL)
    record = QuestionRecord(
        id=str(doc["id"]),
        cluster=str(doc["image_id"]),
        trials=tuple(EMPTY if parts == EMPTY else trial for trial, parts in zip(trials, labelled, strict=True)),
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
    if judgement is None:
        return record
    scores = {name: judged_measures.measure_value(judgement, of) for name, of in JUDGED.items()}
    return judged_measures.with_measures(record, scores)


def count_reply_parts(rows: QuestionTable) -> Counter[str]:
    """The number of replies by status: which of the two labelled parts they had."""
    return Counter(part for parts in rows.column("parts") if parts for part in parts.split(";"))


def read_replies(rows: QuestionTable) -> tuple[int, int]:
    """The number of readable replies (open answers: with both labelled parts), and of all that arrived."""
    parts = count_reply_parts(rows)
    return (parts[BOTH], parts.total() - parts[FAILED]) if parts else count_read_replies(rows)


def _both_parts(rows: QuestionTable) -> float | None:
    both, replies = read_replies(rows) if count_reply_parts(rows) else (0, 0)
    return both / replies if replies else None


def _part_count(rows: QuestionTable, outcomes: tuple[str, ...]) -> int:
    parts = count_reply_parts(rows)
    return sum(parts[outcome] for outcome in outcomes)


# --- Metrics ----------------------------------------------------------------------------------------------------------
BY_DIMENSION: Mapping[str, Mapping[str, Any]] = {name: {"dimension": name} for name in DIMENSIONS}
ACCURACY, EXACT = Mean(), Mean(measure="exact_match")
RANGES = {measure.name: measure.range for measure in MEASURES}
SCORES = {name: Mean(measure=name, bounds=RANGES[name]) for name in WEIGHTS}
TOTAL = Mean(measure="total", bounds=RANGES["total"])


SIDE_ACCURACY = {
    side: Macro(bounds=RANGES["accuracy"], groups=tuple(BY_DIMENSION[name] for name in names), skip_empty=True)
    for side, names in SIDES.items()
}
"""The mean over a side's dimensions of their accuracies; dimensions without a score are left out."""

METRICS = (
    number_of_questions(),
    Metric("accuracy", ACCURACY, main=True, about='Share of right answers: the paper\'s "MCQ All", over questions.'),
    *mean_metrics("accuracy", {f"accuracy_{name.lower()}": where for name, where in BY_DIMENSION.items()}),
    *(
        Metric(f"{side}_mean", mean, about="Mean over the side's dimensions of their accuracies, each weighing alike.")
        for side, mean in SIDE_ACCURACY.items()
    ),
    *rotation_metrics(),
    *READ,
    Metric("total", TOTAL, main=True, about='The four scores, weighted: the paper\'s "Open All", over questions.'),
    *(Metric(name, mean) for name, mean in SCORES.items()),
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
    """The condition of a task, "" as released: without the image, or by a custom prompt."""
    return ", ".join(filter(None, ["no image" if settings.get("no_image") else "", question_variant(task)]))


def question_variant(task: str) -> str:
    """The name of a custom task, "" for the benchmark's own tasks."""
    return "" if task.removesuffix(NO_IMAGE) in TASKS else task


def task_tags(task: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Whether the model saw the image, and the name of a custom task."""
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
        "circular": (KEY, *circular_task(), *READ_NAMES),
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
