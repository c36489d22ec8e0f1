"""MedQ-Deg's chapter on several models: the inter-model Dunning-Kruger effect, and whether task sets rank alike.

Plain functions of the models' votes: what is compared here is orders of models, no means of questions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from lmms_medtasks.report.about import extent
from lmms_medtasks.report.cells import count, decimal, label, number, of_order, percent, percent_of, share
from lmms_medtasks.report.document import Cell, Figure, Flag, Row, Section, Table
from lmms_medtasks.report.drawing import FAINT, INK, MARKERS, SERIES, canvas, svg
from lmms_medtasks.report.report_options import Options
from lmms_medtasks.report.views import Column, Source, rows_of_sources
from lmms_medtasks.report.views import Table as DeclaredTable
from lmms_medtasks.samples.runs import distinct_names
from lmms_medtasks.statistics.bootstrap import RESAMPLES, Group, group
from lmms_medtasks.statistics.calibration import Calibration, calibration, calibration_group
from lmms_medtasks.statistics.ranks import (
    InterModelDKE,
    InterModelDKEIntervals,
    RankConsistency,
    RankConsistencyIntervals,
    inter_model_dke,
    inter_model_dke_intervals,
    rank_consistency,
    rank_consistency_intervals,
)
from lmms_medtasks.statistics.votes import VoteTable, common
from lmms_medtasks.task_configs.medq_deg.measures import ACCURACY, CALIBRATION, FALL, LEVELS, counted
from lmms_medtasks.task_configs.medq_deg.task_sets import SEVERITY, setup_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FEW_MODELS = 5

OVERVIEW = DeclaredTable(
    "models",
    "Accuracy by level and calibration shift",
    ("model and task set",),
    rows_of_sources(lambda source: (source.name,)),
    (
        *(Column(f"L{level}", ACCURACY[level]) for level in LEVELS),
        *(Column(f"L{level}-L0", FALL[level], "points") for level in (1, 2)),
        *(Column(f"shift L{level}", CALIBRATION[level], "", 3, signed=True) for level in (0, 2)),
        Column("data", lambda source, row, rows: Cell(extent(source.run, source.tasks)), "text"),
    ),
    ("Each run on the questions that it was asked, which need not be the same. In brackets: 95 % intervals.",),
)


# --- Comparing --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Condition:
    """A task set at a level, and the models' votes on the questions that all of them were asked there.

    ``left_out``: questions that only some of the models were asked.
    """

    label: str
    tables: Mapping[str, VoteTable]
    questions: int
    left_out: int

    def accuracies(self) -> dict[str, float | None]:
        """Accuracy by model."""
        return {model: _mean(table.scores[~np.isnan(table.scores)].tolist()) for model, table in self.tables.items()}

    def score_groups(self) -> dict[str, Group]:
        """The rows of each model: the scores of the questions with a reply."""
        return {model: _score_group(table) for model, table in self.tables.items()}


@dataclass(frozen=True)
class Overconfidence:
    """Equation 6 in one condition, and the figures that it is of."""

    condition: Condition
    points: Mapping[str, Calibration]
    dke: InterModelDKE
    intervals: InterModelDKEIntervals


@dataclass(frozen=True)
class Agreement:
    """How alike two conditions rank the models."""

    first: str
    second: str
    ranks: RankConsistency
    intervals: RankConsistencyIntervals


@dataclass(frozen=True)
class Comparison:
    """``bump`` has each condition's ranks of the models that are in all of them, 1 is best; {} with fewer than two."""

    overconfidence: tuple[Overconfidence, ...]
    agreements: tuple[Agreement, ...]
    bump: Mapping[str, Mapping[str, float]]
    not_in_bump: tuple[str, ...]


def model_names(sources: Sequence[Source]) -> list[str]:
    """A name for each: the model's, with the run's date and then a number where two runs of a task set share it."""
    return distinct_names([each.run for each in sources], [each.condition for each in sources])


def compare(sources: Sequence[Source], *, resamples: int = RESAMPLES) -> Comparison:
    """Compare at least two models. Conditions with fewer than two have nothing to compare and are left out."""
    found = conditions(sources)
    bump, missing = _bump(found)
    return Comparison(
        overconfidence=tuple(_overconfidence(condition, resamples) for condition in found),
        agreements=tuple(_agreement(*two, resamples) for two in combinations(found, 2)),
        bump=bump,
        not_in_bump=missing,
    )


def conditions(sources: Sequence[Source]) -> list[Condition]:
    """The task sets and levels that at least two models were asked."""
    names, setups = model_names(sources), [setup_of(each) for each in sources]
    found = []
    # Simulated before release: the order of the paper's bump chart.
    for setup in sorted(set(setups), key=lambda setup: (setup.family == "release", *setup[1:])):
        own = [(name, each) for name, each, other in zip(names, sources, setups, strict=True) if other == setup]
        for level, severity in SEVERITY.items():
            asked = {name: each.rows.where({"severity": level}) for name, each in own}
            tables = {name: counted(rows) for name, rows in asked.items() if len(rows)}
            if len(tables) > 1:
                cut = common(tables)
                questions = len(next(iter(cut.values())))
                everything = len(set().union(*(table.ids for table in tables.values())))
                found.append(Condition(f"{severity} ({setup.label})", cut, questions, everything - questions))
    return found


def _overconfidence(condition: Condition, resamples: int) -> Overconfidence:
    points = {model: calibration(table) for model, table in condition.tables.items()}
    groups = {model: calibration_group(table) for model, table in condition.tables.items()}
    return Overconfidence(
        condition=condition,
        points=points,
        dke=inter_model_dke(
            {model: point.accuracy for model, point in points.items()},
            {model: point.shift for model, point in points.items()},
        ),
        intervals=inter_model_dke_intervals(groups, resamples=resamples),
    )


def _agreement(first: Condition, second: Condition, resamples: int) -> Agreement:
    return Agreement(
        first=first.label,
        second=second.label,
        ranks=rank_consistency(first.accuracies(), second.accuracies()),
        intervals=rank_consistency_intervals(first.score_groups(), second.score_groups(), resamples=resamples),
    )


def _bump(conditions: Sequence[Condition]) -> tuple[dict[str, dict[str, float]], tuple[str, ...]]:
    """Ranks by condition and model, among the models that all conditions have an accuracy of."""
    accuracies = [condition.accuracies() for condition in conditions]
    everyone = sorted(set().union(*accuracies))
    shared = [model for model in everyone if all(each.get(model) is not None for each in accuracies)]
    if len(conditions) < 2 or len(shared) < 2:
        return {}, tuple(everyone)
    cut = [{model: each[model] for model in shared} for each in accuracies]
    ranks = {
        condition.label: {each.model: each.second for each in rank_consistency(cut[0], own).ranks}
        for condition, own in zip(conditions, cut, strict=True)
    }
    return ranks, tuple(model for model in everyone if model not in shared)


def _mean(scores: Sequence[float]) -> float | None:
    return math.fsum(scores) / len(scores) if scores else None


def _score_group(table: VoteTable) -> Group:
    used = np.flatnonzero(~np.isnan(table.scores))
    return group([table.image_ids[row] for row in used], table.scores[used])


# --- Sections ---------------------------------------------------------------------------------------------------------


def sections(sources: Sequence[Source], options: Options) -> Iterator[Section]:
    """The sections of the comparison on orders of models."""
    found = compare(sources, resamples=options.resamples)
    yield _inter_model(found, options.drawn)
    yield _ranks(found, options.drawn)


def caveats(sources: Sequence[Source]) -> Iterator[Flag]:
    """Questions that only some of the models were asked; nothing to rank."""
    found = conditions(sources)
    for each in found:
        if each.left_out:
            yield Flag(
                "warning",
                f"{each.label}: {each.questions:,} questions were asked of all models; "
                f"{each.left_out:,} that only some were asked are left out of the comparison.",
            )
    if not found:
        yield Flag("note", "No task set was run with two models: there is nothing to rank.")


def _inter_model(found: Comparison, drawn: bool) -> Section:
    if not found.overconfidence:
        return Section("inter-model", "Inter-model Dunning-Kruger effect", ("It needs two models on one task set.",))
    shown = (_dke(found.overconfidence), _points(found.overconfidence))
    pictures: tuple[Figure, ...] = (overconfidence(found.overconfidence),) if drawn else ()
    return Section("inter-model", "Inter-model Dunning-Kruger effect", tables=shown, figures=pictures)


def _dke(found: Sequence[Overconfidence]) -> Table:
    rows = []
    for each in found:
        cells = map(
            of_order,
            (percent(each.intervals.share), number(each.intervals.spearman), number(each.intervals.kendall)),
        )
        head = (each.condition.questions, len(each.dke.models), each.dke.pairs, each.dke.fulfilled)
        rows.append(Row((Cell(each.condition.label), *map(Cell, head), *cells)))
    columns = (
        label("level and task set"),
        count("questions"),
        count("models"),
        count("pairs"),
        count("fulfilled"),
        share("share"),
        decimal("Spearman", signed=True),
        decimal("Kendall", signed=True),
    )
    notes = (
        "Equation 6: of two models, the less accurate has the higher shift. Share: of the pairs with different "
        "accuracy. Spearman and Kendall: of accuracy against shift. Questions: those that all the models were asked.",
        "As shift is confidence less accuracy, models of equal confidence fulfil it in every pair: see confidence too.",
        "In brackets: 95 % interval over images, the models being these and no sample of others.",
        *_few(len(each.dke.models) for each in found),
    )
    return Table("inter_model_dke", "Equation 6 by level", columns, tuple(rows), notes)


def _few(models: Iterable[int]) -> tuple[str, ...]:
    """A warning where the fewest models are too few for a rank correlation to say much."""
    fewest = min(models)
    if fewest >= _FEW_MODELS:
        return ()
    values = "can only be -1 or +1 (or have no value)" if fewest <= 2 else "takes few values"
    return (f"With {fewest} models a rank correlation {values}: it says little of other models.",)


def _points(found: Sequence[Overconfidence]) -> Table:
    rows = [
        Row(
            (
                Cell(each.condition.label),
                Cell(model),
                Cell(point.n),
                percent_of(point.accuracy),
                Cell(point.confidence),
                Cell(point.shift),
            )
        )
        for each in found
        for model, point in each.points.items()
    ]
    columns = (
        label("level and task set"),
        label("model"),
        count("questions"),
        share("accuracy"),
        decimal("confidence C"),
        decimal("shift", signed=True),
    )
    return Table("inter_model_points", "Accuracy, confidence and shift of each model", columns, tuple(rows))


def _ranks(found: Comparison, drawn: bool) -> Section:
    title = "Rank consistency"
    if not found.agreements:
        return Section(
            "ranks", title, ("It needs two levels or task sets that were both run with the same two models.",)
        )
    shown = [_agreements(found.agreements)]
    pictures: tuple[Figure, ...] = ()
    said: tuple[str, ...] = ()
    if found.bump:
        shown.append(_bump_table(found.bump))
        pictures = (bump(found.bump),) if drawn else ()
        if found.not_in_bump:
            said = (f"Not in all of them, and so not in the bump chart: {', '.join(found.not_in_bump)}.",)
    else:
        said = ("No two models are in all levels and task sets: there is no bump chart.",)
    return Section("ranks", title, said, tuple(shown), pictures)


def _agreements(found: Sequence[Agreement]) -> Table:
    rows = []
    for each in found:
        swaps = ", ".join(f"{swap.first_better} / {swap.second_better}" for swap in each.ranks.swaps)
        rows.append(
            Row(
                (
                    Cell(each.first),
                    Cell(each.second),
                    Cell(len(each.ranks.ranks)),
                    of_order(number(each.intervals.kendall)),
                    of_order(number(each.intervals.spearman)),
                    Cell(len(each.ranks.swaps)),
                    Cell(swaps or None),
                )
            )
        )
    columns = (
        label("first"),
        label("second"),
        count("models"),
        decimal("Kendall", signed=True),
        decimal("Spearman", signed=True),
        count("swaps"),
        label("swapped (better in the first / in the second)"),
    )
    notes = (
        "Order of the models by accuracy (section 4.6). In brackets: 95 % interval over the images of both.",
        *_few(len(each.ranks.ranks) for each in found),
    )
    return Table("rank_consistency", "Order of the models in two conditions", columns, tuple(rows), notes)


def _bump_table(ranks: Mapping[str, Mapping[str, float]]) -> Table:
    first = next(iter(ranks.values()))
    rows = [
        Row((Cell(model), *(Cell(each[model]) for each in ranks.values())))
        for model in sorted(first, key=first.__getitem__)
    ]
    columns = (label("model"), *(decimal(name) for name in ranks))
    notes = ("1 is the best; tied models share their mean rank.",)
    return Table("ranks", "Ranks", columns, tuple(rows), notes)


# --- Figures ----------------------------------------------------------------------------------------------------------

_COLUMNS = 3
_NAMED = 12
"""With more models in a panel their names would fill it: the table has them."""
_LINE = 8.5  # points


def overconfidence(found: Sequence[Overconfidence]) -> Figure:
    """Shift against accuracy, a panel a condition, a point a model."""
    title = "Calibration shift against accuracy, by level"
    columns = min(_COLUMNS, len(found))
    rows = -(-len(found) // columns)
    with canvas(max(3.6, 3.3 * columns), 2.9 * rows) as figure:
        grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
        named: dict[Axes, dict[str, tuple[float, float]]] = {}
        for panel, axes in enumerate(grid):
            if panel >= len(found):
                axes.set_visible(False)
                continue
            level = panel % len(SERIES)
            for model, point in found[panel].points.items():
                if point.accuracy is None or point.shift is None:
                    continue
                axes.scatter(100 * point.accuracy, point.shift, color=SERIES[level], marker=MARKERS[level], s=28)
                if len(found[panel].points) <= _NAMED:
                    named.setdefault(axes, {})[_short(model)] = (100 * point.accuracy, point.shift)
            axes.axhline(0, color=FAINT, linewidth=0.8)
            axes.set_title(found[panel].condition.label)
            axes.set_xlabel("accuracy, percent")
            axes.set_xlim(-3, 103)
            axes.margins(y=0.15)
            axes.grid()
        grid[0].set_ylabel("shift")
        figure.draw_without_rendering()  # from here on the axes know where a point lies
        for axes, points in named.items():
            _name(axes, points)
        about = "A falling cloud is the effect: the less accurate a model, the more it overrates itself."
        return Figure("inter-model", title, about, svg(figure, "all-inter-model", title), "inter_model_points")


def _name(axes: Axes, points: Mapping[str, tuple[float, float]]) -> None:
    """Write each point's name beside it, towards the middle, so that no two are on one line."""
    written = -np.inf
    for name, place in sorted(points.items(), key=lambda item: item[1][1]):
        side = 1 if place[0] < 50 else -1
        height = axes.transData.transform(place)[1] * 72 / axes.figure.dpi
        written = max(height + 4, written + _LINE)
        axes.annotate(name, place, xytext=(6 * side, written - height), textcoords="offset points", fontsize=7.5,
                      ha="left" if side > 0 else "right")  # fmt: skip


def bump(ranks: Mapping[str, Mapping[str, float]]) -> Figure:
    """Ranks of each model over the conditions, a line a model named at both ends; 1 is on top."""
    title = "Bump chart: ranks by level and task set"
    conditions = list(ranks)
    models = list(ranks[conditions[0]])
    with canvas(2.4 + 1.7 * len(conditions), 1.2 + 0.32 * len(models)) as figure:
        axes = figure.subplots()
        for number, model in enumerate(models):
            places = [ranks[condition][model] for condition in conditions]
            moved = len(set(places)) > 1
            colour, width = (SERIES[number % len(SERIES)], 2) if moved else (INK, 1)
            marker = MARKERS[number % len(MARKERS)]
            axes.plot(range(len(conditions)), places, marker=marker, color=colour, linewidth=width)
            axes.annotate(
                _short(model), (0, places[0]), xytext=(-8, 0), textcoords="offset points", ha="right", va="center"
            )
            axes.annotate(_short(model), (len(conditions) - 1, places[-1]), xytext=(8, 0), textcoords="offset points",
                          ha="left", va="center")  # fmt: skip
        axes.set_xticks(range(len(conditions)), [condition.replace(" (", "\n(") for condition in conditions])
        axes.set_yticks(range(1, len(models) + 1))
        axes.set_ylim(len(models) + 0.5, 0.5)
        axes.margins(x=0.35)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        axes.grid(axis="x")
        about = "Rank by accuracy, 1 is best. Lines that cross are models in another order; coloured lines change rank."
        return Figure("bump", title, about, svg(figure, "all-bump", title), "ranks")


def _short(name: str) -> str:
    return name if len(name) <= 28 else f"{name[:27]}…"
