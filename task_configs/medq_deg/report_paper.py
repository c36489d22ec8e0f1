"""The tests of MedQ-Deg's paper: confidence by level, equations 5 and 6, and whether task sets rank models alike.

The paper's C depends on the number of trials T, the agreement of trials does not: both are here, each with the value of
calibrated replies. Equation 6 and ranks are plain functions of the models' votes: they compare orders of models, not
means of questions, and a task set has one T.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from lmms_medtasks.report import cells
from lmms_medtasks.report.document import Frame, ReportNotice, Value
from lmms_medtasks.report.views import ColumnSpec, ModelResults, SectionSpec, TableSpec
from lmms_medtasks.samples.runs import distinct_names
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.statistics.calibration import calibrated_shift, chance_confidence, measure_calibration
from lmms_medtasks.statistics.confidence import ALPHA, ERROR, LEVEL
from lmms_medtasks.statistics.dunning_kruger import EXCHANGES_OF_LEVELS, EXCHANGES_OF_MODELS, inter_model_dkes
from lmms_medtasks.statistics.ranks import find_significant_swaps, rank_consistency
from lmms_medtasks.statistics.reliability import BINS
from lmms_medtasks.statistics.sums import SumGroup, make_sum_group
from lmms_medtasks.statistics.votes import VoteTable, take_common_questions
from lmms_medtasks.task_configs.medq_deg import measures
from lmms_medtasks.task_configs.medq_deg import report_published as published


# --- Confidence and shift ---------------------------------------------------------------------------------------------
def chance_of_confidence(rows: QuestionTable) -> float | None:
    """The expected mean C if every reply is drawn among the options, over the questions that have a C."""
    table = measures.count_votes_checked(rows)
    used = (table.replies > 0) & (table.option_counts > 1)
    kinds = list(zip(table.option_counts[used].tolist(), table.replies[used].tolist(), strict=True))
    expected = {kind: chance_confidence(*kind) for kind in set(kinds)}
    return float(np.mean([expected[kind] for kind in kinds])) if kinds else None


SHIFT = TableSpec(
    "calibration",
    lambda sources: f"The paper's confidence C and calibration shift, T = {published.setup_of(sources[0]).trials}",
    ("level",),
    published.level_rows(
        {
            **dict.fromkeys(
                ("questions", "accuracy", "confidence C", "shift", "distance from 0"), measures.CALIBRATION
            ),
            "C by guessing": published.counts_by_level(chance_of_confidence),
            "shift if calibrated": published.counts_by_level(
                lambda rows: calibrated_shift(measures.count_votes_checked(rows))
            ),
            "shift minus L0": measures.CALIBRATION_CHANGE,
        }
    ),
    (
        ColumnSpec("questions", unit="n"),
        ColumnSpec("accuracy", statistic="accuracy"),
        ColumnSpec("confidence C", unit="", digits=3, statistic="confidence"),
        ColumnSpec("C by guessing", unit="", digits=3),
        ColumnSpec("shift", unit="", digits=3, signed=True),
        ColumnSpec("distance from 0", unit="", digits=3, statistic="size"),
        ColumnSpec("shift if calibrated", unit="", digits=3, signed=True),
        ColumnSpec("shift minus L0", unit="", digits=3, signed=True),
    ),
    (
        "C = 1 - H / log K from the votes (equation 3); replies without an answer are one more outcome in H, C is 0 at "
        "least. Shift is mean C less accuracy (equation 4), of the questions that have a C: two options and a reply. "
        "The paper reads a shift above 0 as overconfidence. But C depends on T, and a shift of 0 is not calibrated: "
        "compare only runs of the same T.",
        "Shift if calibrated: what this model would show with the same replies if, of the options that it gives with "
        "chance p, a share p were correct. C by guessing is above 0 because few votes cannot spread evenly.",
    ),
)


# --- Reliability ------------------------------------------------------------------------------------------------------
ERRORS = TableSpec(
    "calibration_errors",
    "Beyond the paper: agreement of trials, and what the majority's share of the votes is worth",
    ("level",),
    published.level_rows(
        {
            **dict.fromkeys(("agreement", "agreement less accuracy"), measures.AGREEMENT),
            "agreement less accuracy, minus L0": measures.AGREEMENT_CHANGE,
            **dict.fromkeys(("questions", "majority right", "ECE", "Brier", "AURC"), measures.RELIABILITY),
        }
    ),
    (
        ColumnSpec("agreement", unit="", digits=3, statistic="confidence"),
        ColumnSpec("agreement less accuracy", unit="", digits=3, signed=True),
        ColumnSpec("agreement less accuracy, minus L0", unit="", digits=3, signed=True),
        ColumnSpec("questions", unit="n"),
        ColumnSpec("majority right", statistic="correctness"),
        ColumnSpec("ECE", unit="", digits=3),
        ColumnSpec("Brier", unit="", digits=3, statistic="brier"),
        ColumnSpec("AURC", unit="", digits=3, statistic="aurc"),
    ),
    (
        "Agreement: of the pairs of trials of a question, the share in which both gave the same option; a reply "
        "without a readable answer agrees with none. It does not depend on T, so runs of different T can be compared "
        "by it. Where options that are given with chance p are correct in a share p of the cases, replies are correct "
        "as often as two of them agree (Jiang et al., ICLR 2022): agreement less accuracy is 0. Above 0 replies agree "
        "more often than they are correct (overconfident), below 0 less often; 0 on average can hide both.",
        f"ECE over {BINS} bins of equal width, closed on the right; biased upwards in small samples. Confidence is the "
        "majority's share of the votes, held against whether the majority is correct; a tie is correct with the "
        f"probability of a fair draw. AURC: area under the risk-coverage curve. In brackets: {LEVEL} interval over "
        "images.",
    ),
)


# --- Equation 5 -------------------------------------------------------------------------------------------------------
def _untested_reason(source: ModelResults) -> str:
    """Why equation 5 is not tested, "" if it is."""
    both = [source.rows.where({"severity": level}) for level in (0, 2)]
    if not all(map(len, both)):
        return "The Dunning-Kruger test (equation 5) needs L0 and L2; one of them is not in this run."
    counts = sorted({max(map(len, rows.column("trials"))) for rows in both})
    if len(counts) < 2:
        return ""
    trials = " and ".join(f"T = {count}" for count in counts)
    return f"L0 and L2 were asked with {trials}. Confidence depends on T: there is no Dunning-Kruger test (equation 5)."


def _dunning_kruger_table(sources: Sequence[ModelResults]) -> Frame | None:
    source = sources[0]
    if _untested_reason(source):
        return None
    effect = measures.dunning_kruger(source.rows, EXCHANGES_OF_LEVELS if source.resamples else 0)
    both, null, words = source.rows.where({"severity": (0, 2)}), effect.no_change, {True: "yes", False: "no"}
    columns = (
        cells.label_column("compared"),
        *map(cells.count_column, ("questions or pairs", "images")),
        cells.label_column("equation 5"),
        cells.points_column("accuracy, L2 minus L0"),
        cells.decimal_column("shift, L2 minus L0", signed=True),
        cells.percent_column("yes if nothing changes"),
        *map(cells.p_value, ("p", "p, accuracy falls", "p, shift rises")),
    )
    tested = (null.holds, null.p, null.accuracy_p, null.shift_p) if null else 4 * (None,)
    sets = (
        ("all questions of both levels", len(both), len(both.values("cluster")), effect.whole, 4 * (None,)),
        ("each question with its own clean form", effect.pairs, effect.images, effect.paired, tested),
    )
    rows = [
        (name, number, images, words.get(change.holds), change.accuracy, change.shift, *p_values)
        for name, number, images, change, p_values in sets
    ]
    notes = (
        "Equation 5, as the paper has it: accuracy falls from L0 to L2 and the shift does not. As shift is confidence "
        "less accuracy, this says that confidence falls by no more than accuracy. It is a yes or no on two noisy "
        "differences.",
        f"If nothing changes: how often equation 5 says yes in {EXCHANGES_OF_LEVELS:,} exchanges of this data, each of "
        "which draws at random which of a question's forms is the clean one, for all questions on an image together.",
        "p: one-sided, of the hypothesis that replies at L0 and L2 are drawn alike, by the same exchanges; units are "
        f"images. It is {ALPHA} or less in {ERROR} of data sets in which nothing changes. The claim that both parts of "
        "equation 5 are true has the larger of the two p values of the parts. The row of all questions has no p "
        "value: the two sets are no pairs.",
        *([f"No p value: {effect.untested}."] if effect.untested else []),
    )
    return cells.make_frame("dke", "Intra-model Dunning-Kruger effect", columns, rows, notes)


# --- What is compared -------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class RankedCondition:
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
        return {model: math.fsum(values) / len(values) if values else None for model, values in scores.items()}

    def score_groups(self) -> dict[str, SumGroup]:
        """The scores of each model's questions with a reply, by image."""
        groups = {}
        for model, table in self.tables.items():
            used = np.flatnonzero(~np.isnan(table.scores))
            groups[model] = make_sum_group([table.image_ids[row] for row in used], table.scores[used])
        return groups


def model_names(sources: Sequence[ModelResults]) -> list[str]:
    """The models' names, with the run's date and then a number if two runs of a task set share one."""
    return distinct_names([source.run for source in sources], [source.condition for source in sources])


def shared_conditions(sources: Sequence[ModelResults]) -> list[RankedCondition]:
    """The task sets and levels that at least two models were asked."""
    names, setups = model_names(sources), [(published.setup_of(source), source.condition) for source in sources]
    conditions = []
    # Simulated before release: the order of the paper's bump chart.
    for setup in sorted(set(setups), key=lambda setup: (setup[0].family == "release", *setup[0][1:], setup[1])):
        models = {
            name: source for name, source, of_source in zip(names, sources, setups, strict=True) if of_source == setup
        }
        for level, severity in published.SEVERITY.items():
            asked = {name: source.rows.where({"severity": level}) for name, source in models.items()}
            tables = {name: measures.count_votes_checked(rows) for name, rows in asked.items() if len(rows)}
            if len(tables) > 1:
                common = take_common_questions(tables)
                count = len(next(iter(common.values())))
                left_out = len(set().union(*(table.ids for table in tables.values()))) - count
                conditions.append(RankedCondition(f"{severity} ({setup[1]})", common, count, left_out))
    return conditions


def compared_caveats(sources: Sequence[ModelResults]) -> Iterator[ReportNotice]:
    """Questions that only some of the models were asked; nothing to rank."""
    conditions = shared_conditions(sources)
    for condition in conditions:
        if condition.left_out:
            yield ReportNotice(
                "warning",
                f"{condition.label}: {condition.questions:,} questions were asked of all models; "
                f"{condition.left_out:,} that only some were asked are left out of the comparison.",
            )
        if not condition.of_one_t:
            yield ReportNotice(
                "warning",
                f"{condition.label}: not all models have as many trials on the questions that all were asked. "
                "Confidence depends on T: equation 6 is left out.",
            )
    if not conditions:
        yield ReportNotice("note", "No task set was run with two models: there is nothing to rank.")


# --- Equation 6 -------------------------------------------------------------------------------------------------------
def _equation_6(sources: Sequence[ModelResults]) -> Frame | None:
    """The number of pairs in which the less accurate model has the higher shift, and that of equal models."""
    conditions = [condition for condition in shared_conditions(sources) if condition.of_one_t]
    exchanges = min(EXCHANGES_OF_MODELS, sources[0].resamples)
    effects = inter_model_dkes([(condition.tables, "entropy") for condition in conditions], exchanges=exchanges)
    rows = []
    for condition, dke in zip(conditions, effects, strict=True):
        paper = dke.paper
        counts = (condition.questions, dke.images, len(paper.models), paper.pairs, paper.fulfilled)
        rows.append((condition.label, *counts, paper.share, dke.alike_share, paper.spearman, dke.alike_spearman))
    columns = (
        cells.label_column("level and task set"),
        *map(cells.count_column, ("questions", "images", "models", "pairs", "fulfilled")),
        *map(cells.percent_column, ("share (the paper's)", "share if all models are alike")),
        cells.decimal_column("Spearman (the paper's)", signed=True),
        cells.decimal_column("Spearman if all models are alike", signed=True),
    )
    notes = (
        "Equation 6: of two models, the less accurate has the higher shift. Share: of the pairs with different "
        "accuracy. Spearman: of accuracy against shift. Questions: those that all the models were asked.",
        "The paper's figures take accuracy and shift from the same replies. Shift is confidence less accuracy, so luck "
        "moves both, in opposite directions: models that are all alike fulfil equation 6 in most of their pairs. What "
        "they would show is computed on this data: the models' replies to each image are exchanged at random. Do not "
        "read the paper's figures without it.",
        "Models of equal confidence fulfil equation 6 in truth wherever their accuracy differs: C is below.",
        *(f"No value: {reason}." for reason in dict.fromkeys(dke.untested for dke in effects) if reason),
    )
    return cells.make_frame("inter_model_dke", "Equation 6 by level", columns, rows, notes)


def _calibration_points(sources: Sequence[ModelResults]) -> Frame | None:
    rows = []
    for condition in shared_conditions(sources):
        for model, table in condition.tables.items() if condition.of_one_t else ():
            values = measure_calibration(table)
            rows.append((condition.label, model, values.n, values.accuracy, values.confidence, values.shift))
    columns = (
        *map(cells.label_column, ("level and task set", "model")),
        cells.count_column("questions"),
        cells.percent_column("accuracy"),
        cells.decimal_column("confidence C"),
        cells.decimal_column("shift", signed=True),
    )
    return cells.make_frame("inter_model_points", "Accuracy, confidence and shift of each model", columns, rows)


# --- Ranks ------------------------------------------------------------------------------------------------------------
def _rank_consistency(sources: Sequence[ModelResults]) -> Frame | None:
    """The order of the models in each two conditions, and the models that swap places beyond chance."""
    rows: list[tuple[Value, ...]] = []
    untested = []
    for first, second in combinations(shared_conditions(sources), 2):
        ranks = rank_consistency(first.accuracies(), second.accuracies())
        images, certain, reason = find_significant_swaps(first.score_groups(), second.score_groups())
        swapped = None if certain is None else len(certain)
        names = ", ".join(f"{swap.first_better} / {swap.second_better}" for swap in certain or ())
        counts = (len(ranks.ranks), images, ranks.kendall, len(ranks.swaps), swapped)
        rows.append((first.label, second.label, *counts, names or None))
        untested.append(reason)
    columns = (
        *map(cells.label_column, ("first", "second")),
        *map(cells.count_column, ("models", "images")),
        cells.decimal_column("Kendall", signed=True),
        *map(cells.count_column, ("swaps", "swaps beyond chance")),
        cells.label_column("swapped beyond chance"),
    )
    notes = (
        "Order of the models by accuracy (section 4.6). Kendall: of the accuracies on all images. Models that are "
        "nearly alike change places by chance, and the noise of images that both levels share makes orders look alike.",
        "Beyond chance: the one model is better in the first and the other in the second, each by a one-sided t test "
        f"with errors over images, the larger p value of the two at most {ALPHA} after Holm's correction over all "
        "pairs of models of the row. Of two that swapped, the better one in the first stands first.",
        *(f"No swaps beyond chance: {reason}." for reason in dict.fromkeys(untested) if reason),
    )
    return cells.make_frame("rank_consistency", "Order of the models in two conditions", columns, rows, notes)


CALIBRATION_VIEW = SectionSpec(
    "calibration",
    "Confidence and calibration",
    (SHIFT, _dunning_kruger_table, ERRORS),
    paragraphs=lambda sources: tuple(filter(None, [_untested_reason(sources[0])])),
    shown=lambda sources: not published.asks_otherwise(sources[0]),
    folded=True,
)
RANKS = SectionSpec("ranks", "Rank consistency", (_rank_consistency,))
INTER_MODEL = SectionSpec(
    "inter-model",
    "Inter-model Dunning-Kruger effect",
    (_equation_6, _calibration_points),
    folded=True,
    summary="Equation 6: is the less accurate of two models the more confident one, beyond what luck shows?",
)
