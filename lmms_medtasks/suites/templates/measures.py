"""Measures and metrics of tasks on a template, and the benchmark declaration of contributed folders.

A contributed folder without a ``measures.py`` of its own gets this declaration. Its tasks may be on several templates,
so it has the measures and metrics of all of them; a task prints those that its settings or its template name.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from lmms_medtasks import folders
from lmms_medtasks.extensions import is_reference
from lmms_medtasks.grids import triage
from lmms_medtasks.judges import records
from lmms_medtasks.judges import registry as protocols
from lmms_medtasks.judges.protocol import JudgeProtocol
from lmms_medtasks.samples.runs import make_printable
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.statistics import calibration
from lmms_medtasks.statistics.reliability import reliability_draw
from lmms_medtasks.statistics.votes import VoteTable, count_votes
from lmms_medtasks.suites import judged_measures, own_metrics, own_parts, templates
from lmms_medtasks.suites.common_metrics import IDENTICAL, IDENTICAL_TRIALS, JUDGED, LOWEST, READ, WRONG
from lmms_medtasks.suites.estimates import Contrast, Count, Custom, Draw, Mean
from lmms_medtasks.suites.own_metrics import CustomMetric
from lmms_medtasks.suites.rotated_options import ROTATED, rotation_metrics
from lmms_medtasks.suites.suite import Measure, Metric, Suite, number_of_questions
from lmms_medtasks.task_settings import task_settings

IID, OOD = {"set": "iid"}, {"set": "ood"}
"""The two tests of a shift pair."""

CHOICE_MEASURES = (
    Measure("accuracy", f"Share of the replies that are right. {WRONG}"),
    Measure("false_alarm", triage.FALSE_ALARM, higher_is_better=False),
    Measure("abstention", triage.ABSTENTION, higher_is_better=False),
    Measure("chance", "Probability that a uniform guess is right."),
    IDENTICAL,
)


def measures_of_judged(protocol: JudgeProtocol) -> tuple[Measure, ...]:
    """The measures of answers that are judged under ``protocol``, on its scale."""
    worst, best = records.score_bounds(protocol, scored_of(protocol))
    about = f"What the judge gave by the protocol {protocol.name}. {LOWEST}"
    return (
        replace(_on_scale("score", about, (worst, best)), higher_is_better=best > worst),
        Measure("exact_match", "1 where the answer equals the reference, letter case and punctuation aside."),
        Measure("token_f1", "F1 of the words that answer and reference share."),
    )


def dimension_measure(name: str, ends: tuple[float, float]) -> Measure:
    """The measure of one of a rubric's named scores, from its worst to its best."""
    return _on_scale(f"score_{name}", f"What the judge gave for {name}.", ends)


def _on_scale(name: str, about: str, ends: tuple[float, float]) -> Measure:
    low, high = min(ends), max(ends)
    share = (low, high) == (0.0, 1.0)
    return Measure(name, about, low, high, "%" if share else f"of {high:.4g}", 1 if share else 2)


def scored_of(protocol: JudgeProtocol) -> records.Measure:
    """The score of a judgement: the protocol's total, or its first dimension."""
    return protocol.total or protocol.dimensions[0].name


# --- Metrics ----------------------------------------------------------------------------------------------------------


def votes_of(rows: QuestionTable) -> VoteTable:
    """The votes of questions whose trials are option letters, sorted by id."""
    names = ("id", "cluster", "pair", "trials", "expected", "option_count")
    keys = ("id", "image_id", "question_id", "trials", "answer", "option_count")
    votes_by_row = zip(*(rows.column(name) for name in names), strict=True)
    return count_votes(
        sorted((dict(zip(keys, row, strict=True)) for row in votes_by_row), key=lambda row_votes: row_votes["id"])
    )


def _confidence_draw(rows: QuestionTable) -> Draw:
    return Draw(*calibration.calibration_draw(votes_of(rows)))


def _reliability_plan(rows: QuestionTable) -> Draw:
    return Draw(*reliability_draw(votes_of(rows)))


_RELIABILITY = {
    "ece": "Expected calibration error of the majority's share of the votes, ten bins of equal width.",
    "brier": "Mean of (majority's share less whether it is right) squared.",
    "aurc": "Area under the risk-coverage curve, questions in the order of the majority's share.",
}


def _shift_metrics(measure: str, ratio_name: str) -> tuple[Metric, ...]:
    """The means of both tests of a shift pair, and their ratio."""
    ratio = Contrast(measure=measure, first=IID, second=OOD, main="ratio")
    about = f"{measure.capitalize()} out of distribution over {measure} i.i.d. (SURE-VQA, section 3.2)."
    return (
        Metric(f"{measure}_iid", Mean(IID, measure=measure), main=True, about="The same of the i.i.d. test."),
        Metric(
            f"{measure}_ood", Mean(OOD, measure=measure), main=True, about="The same of the out-of-distribution test."
        ),
        Metric(ratio_name, ratio, about=about, unit=""),
    )


def shared_images(rows: QuestionTable) -> int:
    """Number of images that both tests have questions about."""
    iid, ood = (set(rows.where(side).column("cluster")) for side in (IID, OOD))
    return len(iid & ood)


_ROTATED = rotation_metrics(letters="")
ROTATION_METRICS = tuple(metric.name for metric in _ROTATED)
"""Of a task with ``rotate_options``."""

QUESTIONS = number_of_questions()
SHARED_IMAGES = Metric(
    "shared_images",
    Count(function=shared_images),
    higher_is_better=False,
    about="Number of images that both tests have questions about.",
    unit="count",
)
CHOICE_METRICS = (
    QUESTIONS,
    Metric("accuracy", Mean(), main=True, about="Share of right answers."),
    *_shift_metrics("accuracy", "relative_robustness"),
    SHARED_IMAGES,
    Metric("false_alarm_rate", Mean(measure="false_alarm"), higher_is_better=False),
    Metric("abstention_rate", Mean(measure="abstention"), higher_is_better=False),
    Metric(
        "confidence",
        Custom(function=_confidence_draw, main="confidence"),
        higher_is_better=None,
        about="Mean confidence from votes (MedQ-Deg, equation 3). Depends on the number of trials.",
    ),
    Metric(
        "calibration_shift",
        Custom(function=_confidence_draw, main="shift"),
        higher_is_better=None,
        about="Mean confidence less accuracy (MedQ-Deg, equation 4). Depends on the number of trials; 0 is not "
        "calibrated. Compare tasks of the same number of trials only.",
        unit="points",
    ),
    *(
        Metric(name, Custom(function=_reliability_plan, main=name), higher_is_better=False, about=about, unit="")
        for name, about in _RELIABILITY.items()
    ),
    Metric(
        "chance",
        Mean(measure="chance", exact=True),
        higher_is_better=None,
        about="Accuracy that a uniform draw from each question's answers has in expectation.",
        standard_error=False,
    ),
    *_ROTATED,
    IDENTICAL_TRIALS,
    *READ,
)
_COVERAGE, _WORST, _BEST, _COMPLETE = judged_measures.judged_metrics("score")
JUDGED_METRICS = (
    QUESTIONS,
    Metric("score", Mean(measure="score"), main=True, about="Mean over the answers that were judged."),
    *_shift_metrics("score", "score_relative_robustness"),
    replace(_COVERAGE, name="judged", unit="%"),
    _WORST,
    _BEST,
    _COMPLETE,
    Metric("exact_match", Mean(measure="exact_match")),
    Metric("token_f1", Mean(measure="token_f1")),
    SHARED_IMAGES,
    *JUDGED,
)
METRICS: Mapping[str, tuple[Metric, ...]] = {"choice": CHOICE_METRICS, "open": JUDGED_METRICS}
"""By the kind of template."""

NEEDS: Mapping[str, str] = {
    **dict.fromkeys(
        ("accuracy_iid", "accuracy_ood", "relative_robustness", "score_iid", "score_ood", "score_relative_robustness",
         "shared_images"), "shift",
    ),
    **dict.fromkeys(("false_alarm_rate", "abstention_rate"), "grid"),
    **dict.fromkeys(ROTATION_METRICS, "rotations"),
    **dict.fromkeys(("confidence", "calibration_shift", "ece", "brier", "aurc"), "letters"),
}  # fmt: skip
"""Metric -> what a task's settings must say for it: a ``shift``, a grid's parser, or one of options' letters."""


@functools.cache
def template_metrics() -> Mapping[str, Metric]:
    """All metrics that a task on a template can name."""
    return {metric.name: metric for kind_metrics in METRICS.values() for metric in kind_metrics}


def metric_names(kind: str) -> tuple[str, ...]:
    """The names of the metrics that templates of this kind have."""
    return tuple(metric.name for metric in METRICS[kind])


# --- The benchmark ----------------------------------------------------------------------------------------------------


def dimension_metric(measure: Measure) -> Metric:
    """The mean of one of a rubric's named scores."""
    return Metric(measure.name, Mean(measure=measure.name), about=measure.about)


PREFIX = "template:"
"""Before the kind in the name of the declaration that values in the harness carry."""

OPEN_ANSWER = "open_answer"
"""The protocol of an open task that names none."""

_LONGEST = 60

PAIRED = ("pair", "cluster", "expected")
"""What two forms of a question have in common: two tables may use the same ids for other questions."""


@functools.cache
def contributed_suite(
    benchmark: str, protocol: str = OPEN_ANSWER, own: str = "", folder: Path | None = None, cluster: str = "image"
) -> Suite:
    """The declaration of a contributed folder called ``benchmark``.

    Args:
        benchmark: Its name.
        protocol: The judge's, one of ours; it has the scale. "" for tasks whose answers are read.
        own: What the tasks say of parts that are not ours
            (:func:`lmms_medtasks.suites.own_parts.serialize_declaration`).
        folder: Where such parts may lie.
        cluster: What a cluster is: the setting of this name.
    """
    added = own_parts.restore_declaration(own, folder)
    judged_by = added.protocol or (protocols.get(protocol) if protocol else None)
    judged_ones = measures_of_judged(judged_by) if judged_by else ()
    dimensions = judged_by.dimensions if judged_by and judged_by.reference else ()
    dimension_measures = [
        dimension_measure(dimension.name, (dimension.worst, dimension.best))
        for dimension in dimensions
        if len(dimensions) > 1
    ]
    # Bounds are on the judge's scale.
    bounds = {metric.name: replace(metric, unit=judged_ones[0].unit) for metric in (_WORST, _BEST) if judged_ones}
    known = template_metrics() if judged_by else {metric.name: metric for metric in CHOICE_METRICS}
    kinds = METRICS if judged_by else ("choice",)
    return Suite(
        name=benchmark,
        title=benchmark,
        cluster=cluster,
        measures=(*CHOICE_MEASURES, *judged_ones, *dimension_measures, *added.measures),
        metrics=(
            *(bounds.get(name, metric) for name, metric in known.items()),
            *map(dimension_metric, dimension_measures),
            *added.metrics,
        ),
        tasks={each.name: each.metrics for each in map(templates.get, templates.names()) if each.kind in kinds},
        condition=describe_condition,
        task_tags=task_tags,
        identity=("task", "id"),
        paired=(*PAIRED, "severity"),
        default=True,
    )


def join_declarations(declarations: Sequence[Suite]) -> list[Suite]:
    """The declarations of a folder's tasks as few as possible: the first ones take in what others add.

    Two stay separate where both declare something of one name and not the same, as a score on another judge's scale.
    """
    joined: list[Suite] = []
    for declaration in declarations:
        ours = (_united(base, declaration) for base in joined)
        place, united = next(((place, each) for place, each in enumerate(ours) if each), (len(joined), declaration))
        joined[place : place + 1] = [united]
    return joined


def _united(base: Suite, other: Suite) -> Suite | None:
    """``base`` with what ``other`` adds; None where they contradict each other."""
    measures = {measure.name: measure for measure in (*other.measures, *base.measures)}
    metrics = {metric.name: metric for metric in (*base.metrics, *other.metrics)}
    if (
        base.cluster != other.cluster
        or any(measures[each.name] != each for each in other.measures)
        or any(metrics[each.name] != each for each in base.metrics)
    ):
        return None
    joined = (*(base.joined or (base,)), other)
    return replace(base, measures=tuple(measures.values()), metrics=tuple(metrics.values()), joined=joined)


def describe_condition(task: str, settings: Mapping[str, Any]) -> str:
    """The condition of a task: "no image", "rotated options", both, or "" as published."""
    conditions = {"no image": "no_image", ROTATED: "rotate_options"}
    return ", ".join(name for name, key in conditions.items() if settings.get(key))


def task_tags(task: str, settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """The severity tag of a task whose images all have the same severity."""
    return {"severity": settings["severity"]} if "severity" in settings else {}


def of_config(
    task: str, config: Mapping[str, Any], benchmark: str = "", folder_of: Callable[[str], Path | None] | None = None
) -> Suite | None:
    """The declaration for a task from its configuration in a result file; None if it is on no template.

    ``benchmark``: its folder where that is known; else what the run recorded, else its name without a variant's ending.
    ``folder_of``: a benchmark's folder by its name.
    """
    metadata = config.get("metadata")  # a list in many of the harness's own tasks
    template = metadata.get("template") if isinstance(metadata, Mapping) else None
    if not isinstance(metadata, Mapping) or not isinstance(template, str) or template not in templates.names():
        return None
    name = benchmark or _contributed_name(str(metadata.get("benchmark") or ""), task, templates.get(template))
    settings = task_settings(config)
    judge, declared = settings.get("judge"), own_parts.serialize_declaration(metadata)
    cluster = make_printable(str(settings.get("cluster") or "image"))  # a log's may be anything
    default = OPEN_ANSWER if templates.get(template).kind == "open" else ""
    if not declared:
        # What a log alone names is not run; a judge protocol that is code is declared as data.
        protocol = judge if isinstance(judge, str) and not is_reference(judge) else default
        return contributed_suite(name, protocol, cluster=cluster)
    # Only what is made by code needs the folder: with it and without it other declarations are the same.
    folder = folder_of(name) if folder_of and "reference" in declared else None
    known = judge if isinstance(judge, str) and judge in protocols.names() else default
    return contributed_suite(name, known, declared, folder, cluster)


def _contributed_name(recorded: str, task: str, template: templates.TaskTemplate) -> str:
    """A file-safe benchmark name that differs from installed ones, for a task whose folder is unknown."""
    base_name = (recorded or _without_ending(task, template.variants)).lower()
    name = re.sub(r"[^a-z0-9_]+", "-", base_name).strip("-_")[:_LONGEST].strip("-_") or "task"
    taken = {"index", *map(_fold_name, (path.name for path in folders.suites_root().iterdir() if path.is_dir()))}
    return f"{name}_contributed" if _fold_name(name) in taken else name


def _fold_name(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name)


def _without_ending(task: str, variants: Iterable[str]) -> str:
    for ending in variants:
        if task.endswith(f"_{ending}"):
            return task.removesuffix(f"_{ending}")
    return task


# --- Scoring ----------------------------------------------------------------------------------------------------------

# The harness hands an aggregation nothing but a question's values. They carry the declaration's name, in which all
# stands that makes it again in any process.


class CustomScoring(NamedTuple):
    """A task's references to custom metrics, and the named scores (``scores``) of a rubric that has several."""

    metrics: tuple[str, ...] = ()
    scores: tuple[str, ...] = ()


@functools.cache
def of_kind(kind: str, own: CustomScoring = CustomScoring()) -> Suite:  # noqa: B008 (immutable)
    """The declaration that scores tasks on templates of a kind, "choice" or "open", whatever benchmark they are of."""
    declaration = replace(contributed_suite(f"{PREFIX}{kind}"), metrics=METRICS[kind], tasks={})
    if own == CustomScoring():
        return declaration
    added = load_custom_metrics(own)
    scores = [dimension_measure(name, (0.0, 1.0)) for name in own.scores]
    return replace(
        declaration,
        name=f"{PREFIX}{json.dumps([kind, *own])}",
        measures=(*declaration.measures, *scores, *(custom.measure for custom in added if custom.measure)),
        metrics=(*declaration.metrics, *map(dimension_metric, scores), *(custom.metric for custom in added)),
    )


def of_name(name: str) -> Suite:
    """The declaration that :func:`of_kind` gave this name; a question's values carry it."""
    content = name.removeprefix(PREFIX)
    if not content.startswith("["):
        return of_kind(content)
    kind, metrics, scores = json.loads(content)
    return of_kind(kind, CustomScoring(tuple(metrics), tuple(scores)))


def load_custom_metrics(own: CustomScoring) -> list[CustomMetric]:
    """Load the custom metrics."""
    return [own_metrics.get(reference, tuple(template_metrics())) for reference in own.metrics]
