"""Med-CMR: from runs to models, and analyses across models: base and tuned, and size against score."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from lmms_medtasks.errors import UserError, unknown
from lmms_medtasks.report import about
from lmms_medtasks.report.judged_tables import Judging
from lmms_medtasks.report.report_options import Options
from lmms_medtasks.report.suite_report import settings_of, sources_by_model
from lmms_medtasks.report.views import Source
from lmms_medtasks.samples.result_files import Run
from lmms_medtasks.samples.runs import distinct_names, printable
from lmms_medtasks.samples.table import Samples, Where
from lmms_medtasks.statistics.intervals import Interval
from lmms_medtasks.statistics.paired_tests import PairedTest, paired_tests
from lmms_medtasks.statistics.sign_flip import sign_flip
from lmms_medtasks.suites.estimates import Contrast
from lmms_medtasks.suites.suite import Suite
from lmms_medtasks.task_configs.med_cmr.measures import (
    ACCURACY,
    BY_DIMENSION,
    DIMENSIONS,
    FORMS,
    RANGES,
    SCORES,
    TOTAL,
)

PairForm = Literal["mcq", "open"]
PAIR_FORMS: tuple[PairForm, ...] = ("mcq", "open")
MEASURE_OF = {"mcq": "accuracy", "circular": "accuracy", "open": "total"}


# --- Models -----------------------------------------------------------------------------------------------------------


def models(suite: Suite, runs: Sequence[Run], table: Samples, options: Options) -> list[Source]:
    """A source a model, with at most one task of each form, with and without the image; see ``sources_by_model``.

    Its condition is the task's name where that is none of the suite's own (a changed prompt, say), else "".

    Raises UserError, with file and line, for a log of several forms, or a question without its right letter; and where
    options that compare models were given and there is one model.
    """
    _check(runs, table)
    found = [
        _in_order(each)
        for each in sources_by_model(suite, runs, table, options, apart=("variant",), once=("form", "image_shown"))
    ]
    named = [replace(each, name=name) for each, name in zip(found, _names(found), strict=True)]
    if len(named) == 1 and (options.pairs or options.parameters):
        raise UserError(f"--pair and --parameters compare several models; these runs are of one, {named[0].name!r}.")
    return named


def _check(runs: Sequence[Run], table: Samples) -> None:
    for (number, task), rows in table.by(["run", "task"], key=lambda values: 0).items():
        file = runs[number].samples_file(task)
        first = dict(zip(reversed(rows.column("form")), reversed(rows.column("line")), strict=True))
        if len(first) > 1:
            forms = ", ".join(f"{form} (line {first[form]})" for form in sorted(first, key=first.__getitem__))
            raise UserError(f"{file}: records of several forms in one log: {forms}.")
        lacking = rows.where({"form": ("mcq", "circular"), "expected": None}).column("line")
        if len(lacking):
            raise UserError(f"{file}, line {lacking[0]}: the record has no correct letter. Was the log edited?")


def _in_order(source: Source) -> Source:
    """The source with its tasks by form, those with the image first."""
    columns = (source.rows.column(name) for name in ("form", "image_shown"))
    places = [(FORMS.index(form), not shown) for form, shown in zip(*columns, strict=True)]
    rows = source.rows.take(np.array(sorted(range(len(places)), key=places.__getitem__)))
    tasks = rows.values("task")
    asked_in = tuple((run, tuple(sorted(own, key=tasks.index))) for run, own in source.asked)
    order = sorted(asked_in, key=lambda each: tasks.index(each[1][0]))
    return replace(source, rows=rows, asked=tuple(order), condition=rows.column("variant")[0])


def _names(sources: Sequence[Source]) -> list[str]:
    """A name for each, no two alike: the model's, with what else sets it apart from another of the same model."""
    judges = [", ".join(_judge_names(each)) for each in sources]
    variants = [", ".join(filter(None, (printable(each.condition), settings_of(each)))) for each in sources]
    titles = distinct_names([each.run for each in sources], list(zip(variants, judges, strict=True)))
    names = [f"{name} ({variant})" if variant else name for name, variant in zip(titles, variants, strict=True)]
    return [
        f"{name}, judged by {judge or 'nobody'}" if names.count(name) > 1 else name
        for name, judge in zip(names, judges, strict=True)
    ]


def _judge_names(source: Source) -> list[str]:
    return list(dict.fromkeys(name for each in judgings(source).values() for name in each.names))


def asked(form: str, image_shown: bool = True) -> Where:
    """The restriction to a form of questions."""
    return {"form": form, "image_shown": image_shown}


def was_asked(source: Source, form: str, image_shown: bool = True) -> bool:
    """Whether the model was asked questions of this form."""
    return len(source.rows.where(asked(form, image_shown))) > 0


def data_of(source: Source) -> str:
    """``mini, --limit 8``; of several runs, each if they differ."""
    return "; ".join(dict.fromkeys(about.extent(run, tasks) for run, tasks in source.asked))


def judging(source: Source, image_shown: bool = True) -> Judging | None:
    """What became of the judgements of the open answers; None where none was asked."""
    return Judging.of(source.rows.where(asked("open", image_shown)))


def judgings(source: Source) -> dict[str, Judging]:
    """The judgements of each open task."""
    tasks = source.rows.where({"form": "open"}).values("task")
    found = {task: Judging.of(source.rows.where({"task": task})) for task in tasks}
    return {task: each for task, each in found.items() if each}


def judge_of(source: Source) -> str:
    """Who judged the open answers to questions with their image, as the facts say it; "" where no judge judged any."""
    found = judging(source)
    return found.said if found and (found.deciding or not found.names) else ""


def by_judge(sources: Sequence[Source]) -> dict[str, list[Source]]:
    """The models by who judged their open answers; those without any with the first. No table has two judges."""
    first = next(filter(None, map(judge_of, sources)), "")
    found: dict[str, list[Source]] = {}
    for each in sources:
        found.setdefault(judge_of(each) or first, []).append(each)
    return found


# --- Base and tuned ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tuned:
    """One pair in one form of questions, on the questions that both were asked.

    ``changes``: by dimension, and "" for all questions, the intervals "first" (base), "second" (tuned) and "change".
    ``questions``: the tests over its questions, as the paper makes them. ``images``: those of the questions; ``p``: of
    the sign-flip test by image of "no change", None without questions.
    """

    base: str
    tuned: str
    form: PairForm
    changes: Mapping[str, Mapping[str, Interval]]
    questions: PairedTest
    images: int
    p: float | None


@dataclass(frozen=True)
class Pairs:
    """All pairs, and by form the tests over their dimensions: each pair's change in each dimension is one value.

    ``lacking`` names what a pair can't be compared in.
    """

    tuned: tuple[Tuned, ...]
    dimensions: Mapping[PairForm, PairedTest]
    lacking: tuple[str, ...]


def pairs(wanted: Sequence[tuple[str, str]], sources: Mapping[str, Source]) -> Pairs:
    """Compare each base with its tuned model by their names in the report: did it lose, and is that more than chance.

    Raises UserError when a name is not among the models, or both of a pair are the same.
    """
    found: list[Tuned] = []
    lacking: list[str] = []
    for base, tuned in wanted:
        for name in (base, tuned):
            if name not in sources:
                raise UserError(str(unknown("model", name, list(sources), "--pair BASE=TUNED")))
        if base == tuned:
            raise UserError(f"--pair {base}={tuned}: the two are the same model.")
        both = sources[base], sources[tuned]
        for form in PAIR_FORMS:
            if not all(was_asked(each, form) for each in both):
                lacking.append(f"{base} and {tuned}: not both were asked the {form} questions.")
            elif form == "open" and judge_of(both[0]) != judge_of(both[1]):
                lacking.append(f"{base} and {tuned}: their open answers were judged by different judges.")
            else:
                found.append(Tuned(base, tuned, form, *_compared(*both, form)))
    over = {}
    for form in PAIR_FORMS:
        own = [each.changes for each in found if each.form == form]
        steps = [changes[name]["change"].estimate for changes in own for name in DIMENSIONS if name in changes]
        if own:
            over[form] = paired_tests([step for step in steps if step is not None])
    return Pairs(tuple(found), over, tuple(lacking))


def _compared(
    base: Source, tuned: Source, form: PairForm
) -> tuple[Mapping[str, Mapping[str, Interval]], PairedTest, int, float | None]:
    sides = [each.rows.where(asked(form)) for each in (base, tuned)]
    origins = [{name: rows.column(name)[0] for name in ("run", "task")} for rows in sides]
    measure = MEASURE_OF[form]
    change = Contrast(measure=measure, bounds=RANGES[measure], first=origins[0], second=origins[1], pair=("id",))
    # A source of its own: what is kept of the base model's rows is not of both models' rows.
    both = Source("", base.every.where({"repeated": False}), base.every, base.resamples)
    changes = {
        name: both.intervals(change, where)
        for name, where in {"": {}, **BY_DIMENSION}.items()
        if not name or len(sides[1].where(where))
    }
    before, after = (rows.scored(change.measure) for rows in sides)
    paired = before.paired(after, ["id"])
    first, second = (rows.column(f"{change.measure}.score") for rows in paired)
    images, codes = np.unique(paired.first.column("cluster").astype(str), return_inverse=True)
    p = sign_flip(np.bincount(codes, weights=second - first))
    return changes, paired_tests((second - first).tolist()), len(images), 1.0 if p is None and len(images) else p


# --- Size and score ---------------------------------------------------------------------------------------------------

FEWEST = 3
"""With fewer models a correlation is -1, 1 or nothing."""


@dataclass(frozen=True)
class Correlation:
    """Of one score with size over ``models``; None where the score or the size is the same for all.

    ``log``: Pearson's r with the logarithm of the number of parameters; ``linear``: with the number itself (the paper
    does not say which it means). ``spearman``: of their ranks, the same for both.
    """

    models: int
    log: float | None
    linear: float | None
    spearman: float | None


@dataclass(frozen=True)
class Scale:
    """``scores``: score (form and what of it) to model to its value; ``correlations`` are over at least three models.

    ``unsized``: models whose number of parameters was not given. ``mixed``: the open answers had different judges, and
    are left out.
    """

    parameters: Mapping[str, float]
    scores: Mapping[str, Mapping[str, float]]
    correlations: Mapping[str, Correlation]
    unsized: tuple[str, ...]
    mixed: bool


def scale(parameters: Mapping[str, float], sources: Mapping[str, Source]) -> Scale:
    """Does a larger model do better (Section 4.3): each score of the models against their sizes.

    Raises UserError when ``parameters`` names a model that is not among ``sources``.
    """
    for name in parameters:
        if name not in sources:
            raise UserError(str(unknown("model", name, list(sources), "--parameters NAME=NUMBER")))
    sized = {name: each for name, each in sources.items() if name in parameters}
    mixed = len({judge_of(each) for each in sized.values()} - {""}) > 1
    scores: dict[str, dict[str, float]] = {}
    for name, source in sized.items():
        for score, value in _scores(source, opened=not mixed).items():
            if value is not None:
                scores.setdefault(score, {})[name] = value
    correlations = {
        score: _correlation([parameters[name] for name in found], list(found.values()))
        for score, found in scores.items()
        if len(found) >= FEWEST
    }
    return Scale(parameters, scores, correlations, tuple(name for name in sources if name not in parameters), mixed)


def _scores(source: Source, opened: bool) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    if was_asked(source, "mcq"):
        for name, where in {"all": {}, **BY_DIMENSION}.items():
            value = source.interval(ACCURACY, {**asked("mcq"), **where}).estimate
            found[f"MCQ {name}"] = None if value is None else 100 * value
    if opened and was_asked(source, "open"):
        for name, estimate in (*((name.replace("_", " "), each) for name, each in SCORES.items()), ("all", TOTAL)):
            found[f"Open {name}"] = source.interval(estimate, asked("open")).estimate
    return found


def _correlation(sizes: Sequence[float], values: Sequence[float]) -> Correlation:
    from scipy.stats import rankdata

    ranks = _pearson(rankdata(sizes), rankdata(values))
    return Correlation(
        len(sizes), _pearson([math.log10(size) for size in sizes], values), _pearson(sizes, values), ranks
    )


def _pearson(first: Sequence[float] | np.ndarray, second: Sequence[float] | np.ndarray) -> float | None:
    one, other = (np.asarray(each, dtype=float) - np.mean(each) for each in (first, second))
    norm = math.sqrt(float((one**2).sum() * (other**2).sum()))
    return float((one * other).sum()) / norm if norm > 0 else None
