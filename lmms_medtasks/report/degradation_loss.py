"""What degraded pictures cost on any task: each ``TASK@gaussian_noise.2`` of a run against the clean task of that run.

Questions are paired by their number in the data. Those that share a picture share its draw, so the unit of interval and
test is the picture (or the pictures that questions have in common), and where a task of ours has clusters of several
pictures, such as patients, the cluster; where the log does not name pictures, the question.
Which metrics have a score for each question is told by the run (:mod:`lmms_medtasks.harness.degraded_pairing`); of the
others there are totals.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np

from lmms_medtasks.degradations.base import SHARE
from lmms_medtasks.record import KEY as RECORD
from lmms_medtasks.report.cells import count_column, label_column, make_frame, p_value, p_value_cell
from lmms_medtasks.report.document import Cell, FrameColumn, ReportChapter, ReportNotice, ReportSection
from lmms_medtasks.samples.degraded import (
    METADATA,
    PICTURES,
    SCORES,
    describe_length_spread,
    find_base_task,
    list_degraded_failures,
    list_length_shares,
    shared_image_units,
)
from lmms_medtasks.samples.result_files import ResultFile
from lmms_medtasks.samples.runs import date_of, make_printable, model_name
from lmms_medtasks.short_texts import count_noun, interval_text
from lmms_medtasks.statistics import confidence
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.statistics.intervals import IntervalEstimate, estimate_intervals
from lmms_medtasks.statistics.sign_flip import sign_flip
from lmms_medtasks.statistics.significance import adjust_known_p_values
from lmms_medtasks.statistics.sums import make_scored_group, mean_statistic

TITLE = "Degraded tasks"
_TOTALS, _LOGGED = "totals only", "logged"
_MOST = 3
"""Changes beyond chance that a sentence tells."""
_ORDER = ("base", "metric", "degradation", "level")
_NOTES = (
    f"Change: degraded less clean, over the questions that both tasks have. {LEVEL} intervals and p values (two-sided "
    "permutation test) are over units: questions that have an image, or the task's cluster (a case, a patient), in "
    "common. p (Holm) is corrected for all degradations and levels of this task and metric; the interval looks at its "
    "row alone. Where the two seem to disagree both are right, and p (Holm) decides. Level 0 is the untouched control "
    "and not counted in.",
    "How: logged, the task logs a number for each question, and their mean is the value that the harness reports; "
    "totals only, no score for each question is to be had: no interval, no test.",
)
_SAME_SHARE = "--degrade-lengths share degrades each by the same share."
_NO_SCORES = "the metric has no score for each question, whose mean is the reported value"


@dataclass(frozen=True)
class DegradationLoss:
    """A metric of a degraded task beside its clean one; ``change`` and ``p`` are None where there are totals only."""

    base: str
    degradation: str
    level: str
    metric: str
    how: str
    clean: float
    degraded: float
    questions: int = 0
    change: IntervalEstimate | None = None
    p: float | None = None
    adjusted: float | None = None
    lengths: frozenset[tuple[str, int, float, str]] = frozenset()
    """Of each image: degradation and level, shorter side, the share of it that a length in pixels is, its digest."""
    unchanged: str = ""
    higher_is_better: bool = True

    def said(self, digits: int) -> str:
        """``0.417 under haze L2 instead of 0.833 clean (-0.417 [-0.750, -0.083])``."""
        ends = interval_text(self.change.low, self.change.high, digits) if self.change else ", no test"
        moved = f"{self.degraded - self.clean:+.{digits}f}{ends}"
        label = _level_label(self.degradation, self.level)
        return f"{self.degraded:.{digits}f} under {label} instead of {self.clean:.{digits}f} clean ({moved})"


def degraded_tasks(run: ResultFile) -> dict[str, str]:
    """The degraded tasks of a run, and the task that each was made of."""
    configs: Mapping[str, Any] = run.content.get("configs") or {}
    found = {task: find_base_task(task, config) for task, config in configs.items()}
    return {task: base for task, base in found.items() if base is not None}


def corrected_degradation_losses(run: ResultFile) -> list[DegradationLoss]:
    """Every metric of every degraded task of a run whose clean task is in it too; the p values are corrected.

    Raises UserError where a sample log can't be read.
    """
    found: list[DegradationLoss] = []
    rows: dict[str, dict[int, dict[str, Any]]] = {}
    for task, base in degraded_tasks(run).items():
        if base in run.tasks and task in run.tasks:
            for name in (base, task):
                if name not in rows:
                    rows[name] = {row["doc_id"]: _kept_fields(row) for _, row in run.rows(name)}
            found += _of_task(run, task, base, rows)
    return list(_correct_losses(sorted(found, key=attrgetter(*_ORDER))))


def degradation_parts(runs: Sequence[ResultFile]) -> list[ReportChapter]:
    """A part of the report for each run that has degraded tasks."""
    chapters: list[ReportChapter] = []
    for run in runs:
        tasks, model = degraded_tasks(run), model_name(run.content)
        if not tasks:
            continue
        warnings = [
            f"{make_printable(task)}: {make_printable(base)} is not in this run, so there is nothing to compare with."
            for task, base in tasks.items()
            if base not in run.tasks
        ]
        warnings += [f"No result of {make_printable(why)}" for why in list_degraded_failures(run.content).values()]
        by_base = groupby(corrected_degradation_losses(run), key=attrgetter("base"))
        chapter = ReportChapter(
            key=f"degraded{len(chapters)}",
            title=f"{TITLE}: {model}",
            facts=(("Model", model), ("Degraded tasks", str(len(tasks))), ("Run", date_of(run.content) or "?")),
            flags=tuple(ReportNotice("warning", text) for text in warnings),
            sections=tuple(_loss_section(f"s{number}", list(losses)) for number, (_, losses) in enumerate(by_base)),
            origin=(("model", model),),
            suite=TITLE,
            name=model,
        )
        chapters.append(chapter)
    return chapters


def _level_label(degradation: str, level: str) -> str:
    return f"{degradation} {'L' if level[:1].isdigit() else ''}{level}"


def loss_sentence(found: Sequence[DegradationLoss]) -> str:
    """What degraded images cost a task in a metric, most lost first; "" where nothing is lost or tested."""
    degraded = [each for each in found if each.level != "0"]
    degraded.sort(key=lambda each: (each.degraded - each.clean) * (1 if each.higher_is_better else -1))
    if not degraded:
        return ""
    tested = [each for each in degraded if each.adjusted is not None]
    told = [each for each in tested if (each.adjusted or 0.0) < confidence.current_alpha()]
    clauses = [each.said(_digits(found)) for each in told[:_MOST]]
    clauses += [f"{len(told) - _MOST} more changes beyond chance"] if len(told) > _MOST else []
    if left := len(tested) - len(told):
        clauses.append(f"no change beyond chance in {count_noun(left, 'other' if told else 'degraded task')}")
    worst = degraded[0]
    if not told and (worst.degraded < worst.clean if worst.higher_is_better else worst.degraded > worst.clean):
        clauses.append(f"the largest loss is {worst.said(_digits(found))}")
    return f"{make_printable(worst.base)}, {worst.metric}: {'; '.join(clauses)}." if clauses else ""


def _kept_fields(row: Mapping[str, Any]) -> dict[str, Any]:
    degraded = row.get(PICTURES) or ()
    record = row.get(RECORD)
    cluster = record.get("cluster") if isinstance(record, Mapping) else None
    return {
        "shared": [*(str(each.get("picture")) for each in degraded), *([f"cluster {cluster}"] if cluster else [])],
        "lengths": [
            (str(each.get("name")), side, share, str(each.get("picture")))
            for each, side, share in list_length_shares(degraded)
        ],
        "scores": row.get(SCORES) or {},
    }


def _of_task(
    run: ResultFile, task: str, base: str, rows: Mapping[str, Mapping[int, Mapping[str, Any]]]
) -> Iterable[DegradationLoss]:
    clean, degraded = rows[base], rows[task]
    done = run.content["configs"][task]["metadata"][METADATA]
    about = [done[name] for name in ("modality", "column") if done.get(name)]
    about += [f"seed {done['seed']}"] if done.get("seed") else []
    has_same_share = done.get("lengths") == SHARE
    about += ["same share"] if has_same_share else []
    what = f"{done.get('name')} ({', '.join(map(str, about))})" if about else str(done.get("name"))
    paired, tops = (done.get(name) or {} for name in ("scores", "best_scores"))
    wanted = run.content.get("higher_is_better", {}).get(task) or {}
    numbers = sorted(clean.keys() & degraded.keys())
    clusters = shared_image_units([degraded[number]["shared"] for number in numbers])
    level = str(done.get("level"))
    lengths = frozenset(
        (make_printable(_level_label(name, level)), *more)
        for number in ([] if has_same_share else numbers)
        for name, *more in degraded[number]["lengths"]
    )
    count, unchanged = done.get("pictures") or 0, ""
    if left := count - (done.get("changed") or 0):
        unchanged = f"{_level_label(make_printable(what), level)} {left:,} of {count:,}"
    metrics = [key.partition(",")[0] for key in run.tasks[task]]
    for key, metric, value in zip(run.tasks[task], metrics, run.tasks[task].values(), strict=True):
        other: Any = run.tasks[base].get(key)
        if wanted.get(metric) is None or not (_is_number(value) and _is_number(other)):
            continue
        shown = make_printable(key if metrics.count(metric) > 1 else metric)
        made = DegradationLoss(base, make_printable(what), level, shown, _TOTALS, other, value,
                               lengths=lengths, unchanged=unchanged, higher_is_better=wanted[metric])  # fmt: skip
        one, two = ([side[number]["scores"].get(key) for number in numbers] for side in (clean, degraded))
        if not (value or other) and paired.get(key) != _LOGGED:
            continue  # what reports 0 on both sides may have no question
        if paired.get(key, _TOTALS) != _TOTALS and numbers and not any(each is None for each in (*one, *two)):
            change = np.array(two, float) - np.array(one, float)
            statistic = mean_statistic("", (-tops[key], tops[key]) if key in tops else None)
            _, codes = np.unique(np.array(clusters), return_inverse=True)
            made = replace(
                made,
                how=paired[key],
                clean=float(np.mean(one)),
                degraded=float(np.mean(two)),
                questions=len(change),
                change=estimate_intervals({"": make_scored_group(clusters, change)}, {"": statistic})[""],
                p=sign_flip(np.bincount(codes, weights=change)),
            )
        yield made


def _correct_losses(found: Sequence[DegradationLoss]) -> Iterator[DegradationLoss]:
    """The losses with p values corrected over all degradations and levels of a task and metric, controls apart."""
    for _, family in groupby(found, key=attrgetter("base", "metric")):
        own = list(family)
        adjusted = adjust_known_p_values([None if each.level == "0" else each.p for each in own])
        yield from (replace(each, adjusted=p) for each, p in zip(own, adjusted, strict=True))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _digits(found: Sequence[DegradationLoss]) -> int:
    """Shares, and scores on a short scale beside them, have three decimals, percentages one."""
    return 3 if all(abs(value) < 10 for each in found for value in (each.clean, each.degraded)) else 1


def _loss_section(key: str, found: Sequence[DegradationLoss]) -> ReportSection:
    base = make_printable(found[0].base)
    digits = _digits(found)
    columns = (
        *map(label_column, _ORDER[1:]), count_column("questions"), count_column("units"),
        FrameColumn("clean", digits=digits), FrameColumn("degraded", digits=digits),
        FrameColumn("change", digits=digits, signed=True), p_value("p"), p_value("p (Holm)"), label_column("how"),
    )  # fmt: skip
    rows: list[Sequence[Any]] = [
        (each.metric, each.degradation, each.level, each.questions or None, each.change and each.change.clusters,
         each.clean, each.degraded, each.change or Cell(each.degraded - each.clean, reason=_NO_SCORES),
         p_value_cell(each.p), p_value_cell(each.adjusted), each.how)
        for each in found
    ]  # fmt: skip
    images = frozenset().union(*(each.lengths for each in found))
    spread = describe_length_spread((label, side, share) for label, side, share, _ in images)
    unchanged = ", ".join(dict.fromkeys(each.unchanged for each in found if each.unchanged))
    more = (
        spread and f"{spread} {_SAME_SHARE}",
        unchanged and f"Images that a degradation left unchanged; they are counted in: {unchanged}.",
    )
    notes = (*_NOTES, *filter(None, more))
    table = make_frame(f"{key}_loss", f"{base}: clean and degraded", columns, rows, notes)
    families = [list(own) for _, own in groupby(found, key=attrgetter("metric"))]
    # Beside a metric that was tested the totals of others would only distract: the table has them.
    tested = [own for own in families if any(each.adjusted is not None for each in own)]
    said = map(loss_sentence, tested or families)
    return ReportSection(key, base, tuple(filter(None, said)), tables=(table,) if table else ())
