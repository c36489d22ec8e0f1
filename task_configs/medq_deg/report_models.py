"""MedQ-Deg's chapter on several models: the inter-model Dunning-Kruger effect, and whether task sets rank alike.

Plain functions of the models' votes: what is compared here is orders of models, no means of questions. The paper's C
depends on the number of trials T: a task set is of one T.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from lmms_medtasks.report.about import extent
from lmms_medtasks.report.cells import count, decimal, frame, label, share
from lmms_medtasks.report.charts import Chart
from lmms_medtasks.report.document import Cell, Flag, Frame, Value
from lmms_medtasks.report.views import Column, Source, Table, View, rows_of_sources
from lmms_medtasks.samples.runs import distinct_names
from lmms_medtasks.short_texts import listed
from lmms_medtasks.statistics.calibration import calibration
from lmms_medtasks.statistics.confidence import ALPHA, LEVEL
from lmms_medtasks.statistics.inter_model import EXCHANGES, inter_model_dkes
from lmms_medtasks.statistics.ranks import rank_consistency, swaps_beyond_chance
from lmms_medtasks.statistics.sums import Group, group
from lmms_medtasks.statistics.votes import VoteTable, common
from lmms_medtasks.task_configs.medq_deg.measures import ACCURACY, AGREEMENT, FALL, LEVELS, counted
from lmms_medtasks.task_configs.medq_deg.task_sets import SEVERITY, setup_of

OVERVIEW = Table(
    "models",
    "Accuracy by level and calibration",
    ("model and task set",),
    rows_of_sources(lambda source: (source.name,)),
    (
        *(Column(f"L{level}", ACCURACY[level]) for level in LEVELS),
        *(Column(f"L{level}-L0", FALL[level], "points") for level in (1, 2)),
        *(Column(f"agreement less accuracy, L{level}", AGREEMENT[level], "", 3, signed=True) for level in (0, 2)),
        Column("data", lambda source, row, rows: Cell(extent(source.run, source.tasks)), "text"),
    ),
    (
        f"Each run on the questions that it was asked, which need not be the same. In brackets: {LEVEL} intervals.",
        "Agreement less accuracy: of pairs of trials that agree, see Confidence and calibration; 0 is calibrated "
        "whatever T.",
    ),
)


# --- What is compared -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Condition:
    """A task set at a level, and the models' votes on the questions that all of them were asked there.

    ``left_out``: questions that only some of the models were asked.
    """

    label: str
    tables: Mapping[str, VoteTable]
    questions: int
    left_out: int

    @property
    def of_one_t(self) -> bool:
        """Whether the votes are of one number of trials: confidence depends on it."""
        return len({table.trials for table in self.tables.values() if len(table)}) < 2

    def accuracies(self) -> dict[str, float | None]:
        """Accuracy by model."""
        scores = {model: table.scores[~np.isnan(table.scores)].tolist() for model, table in self.tables.items()}
        return {model: math.fsum(own) / len(own) if own else None for model, own in scores.items()}

    def score_groups(self) -> dict[str, Group]:
        """The rows of each model: the scores of its questions with a reply, with their images."""
        return {model: _score_group(table) for model, table in self.tables.items()}


def _score_group(table: VoteTable) -> Group:
    used = np.flatnonzero(~np.isnan(table.scores))
    return group([table.image_ids[row] for row in used], table.scores[used])


def model_names(sources: Sequence[Source]) -> list[str]:
    """A name for each: the model's, with the run's date and then a number where two runs of a task set share it."""
    return distinct_names([each.run for each in sources], [each.condition for each in sources])


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
                found.append(Condition(label_of_level, cut, questions, everything - questions))
    return found


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
                f"{each.label}: not all models have as many trials on the questions that all were asked. Confidence "
                "depends on T: equation 6 is left out.",
            )
    if not found:
        yield Flag("note", "No task set was run with two models: there is nothing to rank.")


# --- Equation 6 -------------------------------------------------------------------------------------------------------


def _equation_6(sources: Sequence[Source]) -> Frame | None:
    """In how many pairs the less accurate model has the higher shift, beside what models that are alike would show."""
    cases = [each for each in conditions(sources) if each.of_one_t]
    exchanges = min(EXCHANGES, sources[0].resamples)
    found = inter_model_dkes([(each.tables, "entropy") for each in cases], exchanges=exchanges)
    rows = []
    for each, dke in zip(cases, found, strict=True):
        paper = dke.paper
        counts = (each.questions, dke.images, len(paper.models), paper.pairs, paper.fulfilled)
        rows.append((each.label, *counts, paper.share, dke.alike_share, paper.spearman, dke.alike_spearman))
    columns = (
        label("level and task set"),
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
    notes = (
        "Equation 6: of two models, the less accurate has the higher shift. Share: of the pairs with different "
        "accuracy. Spearman: of accuracy against shift. Questions: those that all the models were asked.",
        "The paper's figures take accuracy and shift from the same replies. Shift is confidence less accuracy, so luck "
        "moves both, in opposite directions: models that are all alike fulfil equation 6 in most of their pairs. What "
        "they would show is computed on this data: the models' replies to each image are exchanged at random. Do not "
        "read the paper's figures without it.",
        "Models of equal confidence fulfil equation 6 in truth wherever their accuracy differs: see C below.",
        *(f"No value: {reason}." for reason in dict.fromkeys(dke.untested for dke in found) if reason),
    )
    return frame("inter_model_dke", "Equation 6 by level", columns, rows, notes)


def _points(sources: Sequence[Source]) -> Frame | None:
    rows = []
    for each in conditions(sources):
        for model, table in each.tables.items() if each.of_one_t else ():
            own = calibration(table)
            rows.append((each.label, model, own.n, own.accuracy, own.confidence, own.shift))
    columns = (
        label("level and task set"),
        label("model"),
        count("questions"),
        share("accuracy"),
        decimal("confidence C"),
        decimal("shift", signed=True),
    )
    return frame("inter_model_points", "Accuracy, confidence and shift of each model", columns, rows)


OVERCONFIDENCE = Chart(
    "plane",
    "inter-model",
    "Calibration shift against accuracy by level",
    "As the paper draws it: accuracy and shift of the same replies. Models that are all alike make a falling "
    "cloud too, as luck raises accuracy and lowers shift. The table of equation 6 says what is beyond that.",
    _points,
    ("shift",),
    x="accuracy",
    panel="level and task set",
    series="model",
    axis=("accuracy, percent",),
    numbers="inter_model_points",
)


# --- Ranks ------------------------------------------------------------------------------------------------------------


def _rank_consistency(sources: Sequence[Source]) -> Frame | None:
    """The order of the models in each two conditions, and who changes places beyond chance."""
    rows: list[tuple[Value, ...]] = []
    untested = []
    for first, second in combinations(conditions(sources), 2):
        ranks = rank_consistency(first.accuracies(), second.accuracies())
        images, certain, reason = swaps_beyond_chance(first.score_groups(), second.score_groups())
        swapped = None if certain is None else len(certain)
        names = ", ".join(f"{swap.first_better} / {swap.second_better}" for swap in certain or ())
        own = (len(ranks.ranks), images, ranks.kendall, len(ranks.swaps), swapped, names or None)
        rows.append((first.label, second.label, *own))
        untested.append(reason)
    columns = (
        label("first"),
        label("second"),
        count("models"),
        count("images"),
        decimal("Kendall", signed=True),
        count("swaps"),
        count("swaps beyond chance"),
        label("swapped beyond chance"),
    )
    notes = (
        "Order of the models by accuracy (section 4.6). Kendall: of the accuracies on all images. Models that are "
        "nearly alike change places by chance, and the noise of images that both levels share makes orders look alike.",
        "Beyond chance: the one model is better in the first and the other in the second, each by a one-sided t test "
        f"with errors over images, the larger p value of the two at most {ALPHA} after Holm's correction over all "
        "pairs of models of the row. Of two that swapped, the better one in the first stands first.",
        *(f"No swaps beyond chance: {reason}." for reason in dict.fromkeys(untested) if reason),
    )
    return frame("rank_consistency", "Order of the models in two conditions", columns, rows, notes)


def _ranks(sources: Sequence[Source]) -> Frame | None:
    """Each condition's ranks of the models that are in all of them; None with fewer than two of either."""
    found = {each.label: each.accuracies() for each in conditions(sources)}
    everyone = sorted(set().union(*found.values()))
    shared = [model for model in everyone if all(each.get(model) is not None for each in found.values())]
    if len(found) < 2 or len(shared) < 2:
        return None
    cut = [{model: each[model] for model in shared} for each in found.values()]
    ranks = [{each.model: each.second for each in rank_consistency(cut[0], own).ranks} for own in cut]
    rows: list[tuple[Value, ...]] = [
        (model, *(each[model] for each in ranks)) for model in sorted(shared, key=ranks[0].__getitem__)
    ]
    missing = [model for model in everyone if model not in shared]
    notes = (
        "1 is the best; tied models share their mean rank. Ranks of these images: which swaps are beyond chance, the "
        "table of the order of the models says.",
        *([f"Left out, since not run on all task sets: {listed(missing)}."] if missing else []),
    )
    return frame("ranks", "Ranks", (label("model"), *map(decimal, found)), rows, notes)


BUMP = Chart(
    "plane",
    "bump",
    "Ranks by level and task set",
    "Rank by accuracy, 1 is best. Where lines cross, two models change their order; grey lines keep their rank.",
    _ranks,
    (),
    joined=True,
    names="ends",
    scale="ranks",
    axis=("", "rank by accuracy"),
    numbers="ranks",
)

RANKS = View("ranks", "Rank consistency", (_rank_consistency, _ranks), (BUMP,))
INTER_MODEL = View(
    "inter-model",
    "Inter-model Dunning-Kruger effect",
    (_equation_6, _points),
    (OVERCONFIDENCE,),
    folded=True,
    summary="Equation 6: is the less accurate of two models the more confident one, beyond what luck shows?",
)
