"""MedQ-Deg's chapter on several models: the inter-model Dunning-Kruger effect, and whether task sets rank alike.

Plain functions of the models' votes: what is compared here is orders of models, no means of questions. The paper's C
depends on the number of trials T: its columns, tables and figures are of one T each.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from lmms_medtasks.report.about import extent
from lmms_medtasks.report.cells import NONE, count, decimal, label, number, percent_of, share
from lmms_medtasks.report.document import Cell, Figure, Flag, Frame, FrameRow, Section
from lmms_medtasks.report.report_options import RESAMPLES, Options
from lmms_medtasks.report.views import CellFunction, Column, Row, Source, Table, rows_of_sources
from lmms_medtasks.samples.runs import distinct_names
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.short_texts import listed
from lmms_medtasks.statistics.calibration import Calibration, Confidence, calibration
from lmms_medtasks.statistics.confidence import ALPHA, LEVEL
from lmms_medtasks.statistics.inter_model import EXCHANGES, InterModelDKE, inter_model_dkes
from lmms_medtasks.statistics.ranks import RankConsistency, Swap, rank_consistency, swaps_beyond_chance
from lmms_medtasks.statistics.sums import Group, group
from lmms_medtasks.statistics.votes import VoteTable, common
from lmms_medtasks.task_configs.medq_deg.measures import ACCURACY, AGREEMENT, CALIBRATION, FALL, LEVELS, counted
from lmms_medtasks.task_configs.medq_deg.report_calibration import CONFIDENCES
from lmms_medtasks.task_configs.medq_deg.report_models_charts import BUMP, OVERCONFIDENCE
from lmms_medtasks.task_configs.medq_deg.task_sets import SEVERITY, setup_of


def _trials_of(sources: Sequence[Source]) -> list[int]:
    """The numbers of trials T of the sources, each once."""
    return sorted({setup_of(source).trials for source in sources})


def _shift_of(trials: int, level: int) -> CellFunction:
    """The paper's shift of the sources with this T; the others' cells are empty."""

    def cell(source: Source, row: Row, rows: Samples) -> Cell:
        return number(source.interval(CALIBRATION[level])) if setup_of(source).trials == trials else NONE

    return cell


def _overview_columns(sources: Sequence[Source]) -> tuple[Column, ...]:
    return (
        *(Column(f"L{level}", ACCURACY[level]) for level in LEVELS),
        *(Column(f"L{level}-L0", FALL[level], "points") for level in (1, 2)),
        *(Column(f"agreement less accuracy, L{level}", AGREEMENT[level], "", 3, signed=True) for level in (0, 2)),
        *(
            Column(f"shift L{level} (T = {trials})", _shift_of(trials, level), "", 3, signed=True)
            for trials in _trials_of(sources)
            for level in (0, 2)
        ),
        Column("data", lambda source, row, rows: Cell(extent(source.run, source.tasks)), "text"),
    )


OVERVIEW = Table(
    "models",
    "Accuracy by level and calibration",
    ("model and task set",),
    rows_of_sources(lambda source: (source.name,)),
    _overview_columns,
    (
        f"Each run on the questions that it was asked, which need not be the same. In brackets: {LEVEL} intervals.",
        "Agreement less accuracy: of pairs of trials that agree, see Confidence and calibration; 0 is calibrated "
        "whatever T. Shift is the paper's (C less accuracy). It depends on T, so each T has columns of its own.",
    ),
)


# --- Comparing --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Condition:
    """A task set at a level, and the models' votes on the questions that all of them were asked there.

    ``trials``: T of the task set. ``left_out``: questions that only some of the models were asked.
    """

    label: str
    trials: int
    tables: Mapping[str, VoteTable]
    questions: int
    left_out: int

    @property
    def of_one_t(self) -> bool:
        """Whether the votes are of one number of trials: confidence depends on it."""
        return len({table.trials for table in self.tables.values() if len(table)}) < 2

    def accuracies(self) -> dict[str, float | None]:
        """Accuracy by model."""
        return {model: _mean(table.scores[~np.isnan(table.scores)].tolist()) for model, table in self.tables.items()}

    def score_groups(self) -> dict[str, Group]:
        """The rows of each model: the scores of its questions with a reply, with their images."""
        return {model: _score_group(table) for model, table in self.tables.items()}


@dataclass(frozen=True)
class Overconfidence:
    """Equation 6 in one condition and the numbers that it is of, with C and with the agreement of trials."""

    condition: Condition
    points: Mapping[Confidence, Mapping[str, Calibration]]
    dke: Mapping[Confidence, InterModelDKE]


@dataclass(frozen=True)
class Agreement:
    """How alike two conditions rank the models. ``certain``: swaps beyond chance; ``untested``: why there are none."""

    first: str
    second: str
    ranks: RankConsistency
    images: int
    certain: tuple[Swap, ...] | None
    untested: str


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
        overconfidence=tuple(_overconfidence([condition for condition in found if condition.of_one_t], resamples)),
        agreements=tuple(_agreement(*two) for two in combinations(found, 2)),
        bump=bump,
        not_in_bump=missing,
    )


def conditions(sources: Sequence[Source]) -> list[Condition]:
    """The task sets and levels that at least two models were asked."""
    names, setups = model_names(sources), [(setup_of(each), each.condition) for each in sources]
    found = []
    # Simulated before release: the order of the paper's bump chart.
    for kind in sorted(set(setups), key=lambda kind: (kind[0].family == "release", *kind[0][1:], kind[1])):
        setup, condition = kind
        own = [(name, each) for name, each, other in zip(names, sources, setups, strict=True) if other == kind]
        for level, severity in SEVERITY.items():
            asked = {name: each.rows.where({"severity": level}) for name, each in own}
            tables = {name: counted(rows) for name, rows in asked.items() if len(rows)}
            if len(tables) > 1:
                cut = common(tables)
                questions = len(next(iter(cut.values())))
                everything = len(set().union(*(table.ids for table in tables.values())))
                label_of_level = f"{severity} ({condition})"
                found.append(Condition(label_of_level, setup.trials, cut, questions, everything - questions))
    return found


def _overconfidence(found: Sequence[Condition], resamples: int) -> Iterator[Overconfidence]:
    cases = [(condition.tables, kind) for condition in found for kind in CONFIDENCES]
    dkes = iter(inter_model_dkes(cases, exchanges=min(EXCHANGES, resamples)))
    for condition in found:
        points = {
            kind: {model: calibration(table, kind) for model, table in condition.tables.items()} for kind in CONFIDENCES
        }
        yield Overconfidence(condition, points, {kind: next(dkes) for kind in CONFIDENCES})


def _agreement(first: Condition, second: Condition) -> Agreement:
    ranks = rank_consistency(first.accuracies(), second.accuracies())
    return Agreement(
        first.label, second.label, ranks, *swaps_beyond_chance(first.score_groups(), second.score_groups())
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
    yield _ranks(found, options.drawn)
    yield _inter_model(found, options.drawn)


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
        if not each.of_one_t:
            yield Flag(
                "warning",
                f"{each.label}: not all models have {each.trials} trials on the questions that all were asked. "
                "Confidence depends on T: equation 6 is left out.",
            )
    trials = _trials_of(sources)
    if len(trials) > 1:
        yield Flag(
            "note",
            f"Runs with {' and '.join(f'T = {number}' for number in trials)}: the paper's C and shift depend on T. "
            "Each column, table and figure is of one T; models of different T are not compared by them.",
        )
    if not found:
        yield Flag("note", "No task set was run with two models: there is nothing to rank.")


def _inter_model(found: Comparison, drawn: bool) -> Section:
    title = "Inter-model Dunning-Kruger effect"
    if not found.overconfidence:
        return Section("inter-model", title, ("It needs two models on one task set.",))
    shown: list[Frame] = []
    pictures: list[Figure] = []
    of_trials: dict[int, list[Overconfidence]] = {}
    for each in found.overconfidence:
        of_trials.setdefault(each.condition.trials, []).append(each)
    for trials, own in of_trials.items():
        points = _points(own, trials)
        shown += [_dke(own, trials), points]
        chart = replace(OVERCONFIDENCE, key=f"inter-model-t{trials}", title=f"{OVERCONFIDENCE.title}, T = {trials}").of(
            points
        )
        pictures += [chart] if drawn and chart else []
    said = "Equation 6: is the less accurate of two models the more confident one, beyond what luck shows?"
    return Section("inter-model", title, (), tuple(shown), tuple(pictures), folded=True, summary=said)


def _dke(found: Sequence[Overconfidence], trials: int) -> Frame:
    rows = []
    for each in found:
        for kind, name in CONFIDENCES.items():
            dke = each.dke[kind]
            head = (each.condition.label, name, each.condition.questions, dke.images, len(dke.paper.models))
            own = (dke.paper.pairs, dke.paper.fulfilled)
            shares = (dke.paper.share, dke.alike_share)
            rows.append(
                FrameRow(
                    (
                        *map(Cell, (*head, *own)),
                        *map(percent_of, shares),
                        *map(Cell, (dke.paper.spearman, dke.alike_spearman)),
                    )
                )
            )
    columns = (
        label("level and task set"),
        label("confidence"),
        count("questions"),
        count("images"),
        count("models"),
        count("pairs"),
        count("fulfilled"),
        share("share (the paper's)"),
        share("share if all models are alike"),
        decimal("Spearman (the paper's)", signed=True),
        decimal("Spearman if all models are alike", signed=True),
    )
    untested = [each.dke[kind].untested for each in found for kind in CONFIDENCES]
    notes = (
        "Equation 6: of two models, the less accurate has the higher shift. Share: of the pairs with different "
        "accuracy. Spearman: of accuracy against shift. Questions: those that all the models were asked.",
        "The paper's figures take accuracy and shift from the same replies. Shift is confidence less accuracy, so luck "
        "moves both, in opposite directions: models that are all alike fulfil equation 6 in most of their pairs. What "
        "they would show is computed on this data: the models' replies to each image are exchanged at random. Do not "
        "read the paper's figures without it.",
        "Models of equal confidence fulfil equation 6 in truth wherever their accuracy differs: see confidence too.",
        *_reasons("No value", untested),
        *_few(len(each.condition.tables) for each in found),
    )
    title = f"Equation 6 by level, T = {trials}"
    return Frame(f"inter_model_dke_t{trials}", title, columns, tuple(rows), notes)


def _reasons(lacking: str, said: Sequence[str]) -> Iterator[str]:
    """Why cells are empty, and in how many rows. ``said``: each row's reason, "" where its cell is filled."""
    for reason, rows in Counter(filter(None, said)).items():
        yield f"{lacking} in {rows} of {len(said)} rows: {reason}."


def _few(models: Iterable[int]) -> Iterator[str]:
    """A warning where the fewest models are too few for a rank correlation to say much."""
    fewest = min(models)
    if fewest < 5:
        values = "can only be -1 or +1 (or have no value)" if fewest <= 2 else "takes few values"
        yield f"With {fewest} models a rank correlation {values}: it says little of other models."


def _points(found: Sequence[Overconfidence], trials: int) -> Frame:
    rows = []
    for each in found:
        agreeing = each.points["agreement"]
        for model, point in each.points["entropy"].items():
            own = agreeing[model]
            head = (Cell(each.condition.label), Cell(model), Cell(point.n), percent_of(point.accuracy))
            rows.append(FrameRow((*head, *map(Cell, (point.confidence, point.shift, own.confidence, own.shift)))))
    columns = (
        label("level and task set"),
        label("model"),
        count("questions"),
        share("accuracy"),
        decimal("confidence C"),
        decimal("shift", signed=True),
        decimal("agreement"),
        decimal("agreement less accuracy", signed=True),
    )
    title = f"Accuracy, confidence and shift of each model, T = {trials}"
    return Frame(f"inter_model_points_t{trials}", title, columns, tuple(rows))


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
        chart = BUMP.of(shown[-1]) if drawn else None
        pictures = (chart,) if chart else ()
        if found.not_in_bump:
            names = found.not_in_bump
            was, them = ("was", "it") if len(names) == 1 else ("were", "them")
            said = (f"{listed(names)} {was} not run on all task sets, so the chart leaves {them} out.",)
    else:
        said = ("No two models are in all levels and task sets: there is no bump chart.",)
    return Section("ranks", title, said, tuple(shown), pictures)


def _agreements(found: Sequence[Agreement]) -> Frame:
    rows = []
    for each in found:
        certain = each.certain
        row = (
            each.first,
            each.second,
            len(each.ranks.ranks),
            each.images,
            each.ranks.kendall,
            len(each.ranks.swaps),
            _named(each.ranks.swaps) or None,
            None if certain is None else len(certain),
            _named(certain or ()) or None,
        )
        rows.append(FrameRow(tuple(map(Cell, row))))
    columns = (
        label("first"),
        label("second"),
        count("models"),
        count("images"),
        decimal("Kendall", signed=True),
        count("swaps"),
        label("swapped (better in the first / in the second)"),
        count("swaps beyond chance"),
        label("swapped beyond chance"),
    )
    notes = (
        "Order of the models by accuracy (section 4.6). Kendall: of the accuracies on all images. Models that are "
        "nearly alike change places by chance, and the noise of images that both levels share makes orders look alike.",
        "Beyond chance: the one model is better in the first and the other in the second, each by a one-sided t test "
        f"with errors over images, the larger p value of the two at most {ALPHA} after Holm's correction over all "
        "pairs of models of the row.",
        *_reasons("No swaps beyond chance", [each.untested for each in found]),
        *_few(len(each.ranks.ranks) for each in found),
    )
    return Frame("rank_consistency", "Order of the models in two conditions", columns, tuple(rows), notes)


def _named(swaps: Sequence[Swap]) -> str:
    return ", ".join(f"{swap.first_better} / {swap.second_better}" for swap in swaps)


def _bump_table(ranks: Mapping[str, Mapping[str, float]]) -> Frame:
    first = next(iter(ranks.values()))
    rows = [
        FrameRow((Cell(model), *(Cell(each[model]) for each in ranks.values())))
        for model in sorted(first, key=first.__getitem__)
    ]
    columns = (label("model"), *(decimal(name) for name in ranks))
    notes = (
        "1 is the best; tied models share their mean rank. Ranks of these images: which swaps are beyond chance, the "
        "table above says.",
    )
    return Frame("ranks", "Ranks", columns, tuple(rows), notes)
