"""The tests of SURE-VQA's paper for several methods: whether RR depends on the shift or the method (Table 20).

First the paper's assumption is tested: a method is better than its baselines, for each shift and kind of question on
the i.i.d. test. A method that guesses loses nothing out of distribution: its relative robustness is about 1, or above.
Each baseline has a one-sided sign-flip test over images of "no better", on the questions that both have a score for;
the most frequent answers on the questions that they answer (the paper leaves them out if these are too few). The larger
of the two p values counts, as both must hold. Holm's correction is over all methods and conditions of the report: the
probability of calling any method better that is not is at most 5 %.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from lmms_medtasks.report import cells
from lmms_medtasks.report.comparability import with_marks
from lmms_medtasks.report.document import Cell, Frame, FrameColumn, FrameRow, ReportChapter, ReportNotice
from lmms_medtasks.report.published import PublishedRowsSpec
from lmms_medtasks.report.views import ModelResults
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.statistics import confidence
from lmms_medtasks.statistics.sign_flip import sign_flip
from lmms_medtasks.statistics.significance import adjust_known_p_values
from lmms_medtasks.task_configs.sure_vqa import report_published as published
from lmms_medtasks.task_configs.sure_vqa.measures import KINDS, ROBUSTNESS, SIDES

score = functools.partial(FrameColumn, digits=2)
"""A column of scores or ratios, with two decimals as in the paper."""


# --- What is compared -------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class ComparedMethods:
    """The methods of a comparison, those that compete, and the conditions shared by all of these."""

    methods: list[published.EvaluatedMethod]
    competing: list[published.EvaluatedMethod]
    conditions: list[published.ShiftCondition]

    @classmethod
    def of(cls, sources: Sequence[ModelResults]) -> ComparedMethods:
        """Cached with the table of all sources: the notices and tables of a comparison use the same."""
        key = f"compared: {', '.join(source.name for source in sources)}"
        return sources[0].every.once_for_all_rows(key, lambda rows: cls._made(sources))

    @classmethod
    def _made(cls, sources: Sequence[ModelResults]) -> ComparedMethods:
        """Methods with images compete, except baselines; corrupted tests are not real shifts."""
        methods = published.group_methods(sources)
        competing = [method for method in methods if method.image_shown and not method.baseline]
        asked = [dict.fromkeys(published.shift_groups(source)) for method in competing for source in method.sources]
        conditions = [condition for condition in (asked[0] if asked else ()) if not condition.shift.strength]
        return cls(
            methods, competing, [condition for condition in conditions if all(condition in run for run in asked)]
        )

    @functools.cached_property
    def robustness(self) -> dict[published.ShiftCondition, CommonRobustness]:
        """The conditions with RR of each method; {} for a single method."""
        conditions = self.conditions if len(self.competing) > 1 else []
        return {condition: on_common_questions(condition, self.competing) for condition in conditions}

    @functools.cached_property
    def standings(self) -> list[MethodStanding]:
        """The standing of each competing method under each condition; any method may be a baseline."""
        shown = [method for method in self.methods if method.image_shown]
        guessing = published.MOST_FREQUENT_MODEL
        frequent = next((method for method in shown if published.baseline_of(method.sources[0]) == guessing), None)
        blind_methods = [method for method in self.methods if not method.image_shown and not method.baseline]
        without = {published.checkpoint_name(method.sources[0]): method for method in blind_methods}
        standings = []
        for condition in self.conditions:
            guesses = _iid_scores(frequent, condition, only_answered=True)
            for method in self.competing:
                blind = _iid_scores(without.get(published.checkpoint_name(method.sources[0])), condition)
                scores = _iid_scores(method, condition) or {}
                baselines = {NO_IMAGE: blind, MOST_FREQUENT: guesses}
                tests = {
                    name: compare_with_baseline(scores, baseline)
                    for name, baseline in baselines.items()
                    if baseline is not None
                }
                standings.append(MethodStanding(method.name, condition, tests))
        return corrected_comparisons(standings)


def compared_caveats(sources: Sequence[ModelResults]) -> Iterator[ReportNotice]:
    """Questions that Table 20's analysis leaves out; methods that lack a baseline, or are not better than theirs."""
    compared = ComparedMethods.of(sources)
    left_out = [
        f"{condition.label} {common.left_out:,} of {common.questions + common.left_out:,}"
        for condition, common in compared.robustness.items()
        if common.left_out
    ]
    if left_out:
        text = "The analysis of variance is over the questions that every method has a score for. Left out: "
        yield ReportNotice("warning", text + "; ".join(left_out) + ".")
    yield from comparison_flags(compared.standings)


def mark_rows(part: ReportChapter, sources: Sequence[ModelResults]) -> ReportChapter:
    """The comparison with a mark at each method whose seeds were asked other questions of a shift than most methods."""
    asked: dict[Hashable, dict[str, frozenset[str]]] = {}
    for method, kind, side in itertools.product(published.group_methods(sources), KINDS, SIDES):
        for shift in method.shifts:
            of_shift = asked.setdefault((method.cell.value, shift.label), {})
            ids = [frozenset(source.rows.where(shift.where(kind, side)).column("pair")) for source in method.sources]
            if all(ids):
                of_shift[f"{kind} {published.SIDE_NAMES[side]}"] = frozenset.intersection(*ids)
    labels = {
        published.table_key(shift, shown): shift.label for shift in published.PAPER_SHIFTS for shown in (True, False)
    }

    def key_of_row(table: Frame, row: FrameRow) -> Hashable:
        # The shift is that of the table, or of the second cell.
        return row.cells[0].value, labels.get(table.key, row.cells[1].value)

    return with_marks(part, asked, key_of_row)


# --- Table 20 ---------------------------------------------------------------------------------------------------------
class CommonRobustness(NamedTuple):
    """The methods under one condition, on the questions that all of them have a score for.

    ``rr``: method -> RR, the mean over its seeds; None without a value. ``questions``: their number in both tests.
    ``left_out``: the number of questions without a score of some method.
    """

    rr: Mapping[str, float | None]
    questions: int
    left_out: int


def on_common_questions(
    condition: published.ShiftCondition, competing: Sequence[published.EvaluatedMethod]
) -> CommonRobustness:
    """RR of each method on the questions that all runs of all methods have a score for."""
    shift, kind = condition
    rows = {method.name: [source.rows.where(shift.where(kind)) for source in method.sources] for method in competing}
    tables = [table for of_method in rows.values() for table in of_method]
    # By test, since each test decides whether it has a mean at all.
    common = set.intersection(
        *(
            {key for side in SIDES.values() for key in _question_keys(table.where(side).scored(kind))}
            for table in tables
        )
    )
    rr = {}
    for name, of_method in rows.items():
        masks = [np.array([key in common for key in _question_keys(table)], dtype=bool) for table in of_method]
        values = [ROBUSTNESS[kind].value(table.take(mask)) for table, mask in zip(of_method, masks, strict=True)]
        rr[name] = None if None in values else float(np.mean([value for value in values if value is not None]))
    asked = {key for table in tables for key in _question_keys(table)}
    return CommonRobustness(rr, len(common), len(asked - common))


def _question_keys(rows: QuestionTable) -> list[tuple[str, str]]:
    return list(zip(rows.column("set"), rows.column("id"), strict=True))


def variance_tables(sources: Sequence[ModelResults]) -> Frame | None:
    """Whether RR depends more on the shift or the method: by dataset, with Table 20; None if nothing compares.

    The paper's Figures 8c and 18 do not say what is averaged. Standard deviations of means agree with the text about
    the figures; the mean of each method's deviation over shifts would not (OVQA with full fine-tuning).
    """
    common = ComparedMethods.of(sources).robustness
    complete = {condition: of_all.rr for condition, of_all in common.items() if None not in of_all.rr.values()}
    rows = []
    for dataset in dict.fromkeys(condition.shift.dataset for condition in complete):
        of_dataset = [rr for condition, rr in complete.items() if condition.shift.dataset == dataset]
        values = np.array([list(rr.values()) for rr in of_dataset], dtype=float)  # (conditions, methods)
        tests = [cell for f, p in (f_test(values), f_test(values.T)) for cell in (f, cells.p_value_cell(p))]
        spreads = [spread_over_seeds(values.mean(axis=axis)) for axis in (1, 0)]
        labels = (published.DATASETS.get(dataset, dataset), ", ".join(of_dataset[0]), len(of_dataset))
        rows.append((*labels, *tests, *spreads))
    if not rows:
        return None
    printed = [
        FrameRow(
            (row.cell("dataset"), row.cell("model"), cells.NONE, row.cell("f"),
             cells.p_value_cell(*row.values("p")), *[cells.NONE] * 4),
            "reference",
        )
        for row in PublishedRowsSpec(published.FOLDER, {"source": "Table 20"}).rows()
    ]  # fmt: skip
    columns = (
        *map(cells.label_column, ("dataset", "methods")),
        cells.count_column("conditions"),
        score("F between shifts"),
        cells.p_value("p"),
        score("F between methods"),
        cells.p_value("p (methods)"),
        *map(cells.decimal_column, ("SD between shifts", "SD between methods")),
    )
    notes = (
        "As the paper does it: one-way analysis of variance of RR, a value a condition and method; a condition is a "
        "shift's closed or open questions, as the numbers of Table 20 show, so F holds also what sets the two kinds "
        "apart. Hypotheses: all conditions have the same mean RR; all methods have. p is not corrected. RR is on the "
        "questions that every method has a score for, of several seeds the mean.",
        "It takes the values as independent, which they are not: all methods answer the same questions about the same "
        "images. SD: between the means over methods, and between those over conditions. Empty with fewer than two "
        "conditions or methods.",
    )
    return cells.make_frame("depends", "Shifts against methods (Table 20)", columns, [*rows, *printed], notes)


def f_test(values: np.ndarray) -> tuple[float | None, float | None]:
    """F and p of a one-way analysis of variance between the rows of (groups, values).

    None with fewer than two groups or values a group, or if the values of no group vary.
    """
    from scipy.stats import f_oneway

    if min(values.shape) < 2 or not np.ptp(values, axis=1).any():
        return None, None
    f, p = f_oneway(*values)
    return float(f), float(p)


def spread_over_seeds(values: np.ndarray) -> float | None:
    """Standard deviation (n - 1); None of fewer than two values."""
    return float(values.std(ddof=1)) if len(values) > 1 else None


# --- Better than its baselines ----------------------------------------------------------------------------------------
NO_IMAGE, MOST_FREQUENT = "no image", "most frequent"
_HOW_TO_RUN = {
    NO_IMAGE: "Run the shift's task with _noimage at its end, with the same model.",
    MOST_FREQUENT: "Run the shift's task with --model medtasks_most_frequent.",
}


class ImageScore(NamedTuple):
    """A question's image and score, the mean over several seeds."""

    image: str
    score: float


class Against(NamedTuple):
    """A method and a baseline on the n i.i.d. questions that both have a score for.

    ``method`` and ``baseline`` are their means. ``p``: one-sided, of "no better than the baseline"; 1 if no image
    differs. All None if n is 0.
    """

    n: int
    method: float | None
    baseline: float | None
    p: float | None


@dataclass(frozen=True)
class MethodStanding:
    """Whether a method is better than its baselines under a condition.

    Attributes:
        tests: against each baseline that was run on this shift, by its name.
        adjusted: the larger p of both, Holm-corrected over all methods and conditions; None if a baseline is missing.
    """

    method: str
    condition: published.ShiftCondition
    tests: Mapping[str, Against]
    adjusted: float | None = None

    @property
    def lacking(self) -> tuple[str, ...]:
        """The baselines that were not run."""
        return tuple(name for name in _HOW_TO_RUN if name not in self.tests)

    @property
    def better(self) -> bool:
        """Whether it is significantly better than both baselines."""
        return self.adjusted is not None and self.adjusted < confidence.current_alpha()

    @property
    def p(self) -> float | None:
        """The larger p of the baselines, not corrected; None if one was not run or has no question in common.

        Most frequent answers that answer none of the questions do not count as a baseline.
        """
        if self.lacking or not self.tests[NO_IMAGE].n:
            return None
        return max(test.p for test in self.tests.values() if test.p is not None)


def corrected_comparisons(standings: Sequence[MethodStanding]) -> list[MethodStanding]:
    """The standings with their p values corrected together."""
    adjusted = adjust_known_p_values([standing.p for standing in standings])
    return [replace(standing, adjusted=p) for standing, p in zip(standings, adjusted, strict=True)]


def compare_with_baseline(method: Mapping[str, ImageScore], baseline: Mapping[str, ImageScore]) -> Against:
    """Compare a method with a baseline by question; the image is the method's."""
    common = sorted(set(method) & set(baseline))
    if not common:
        return Against(0, None, None, None)
    scores, baseline_scores = (np.array([side[question].score for question in common]) for side in (method, baseline))
    _, codes = np.unique([method[question].image for question in common], return_inverse=True)
    p = sign_flip(np.bincount(codes, weights=scores - baseline_scores), "greater")
    return Against(len(common), float(scores.mean()), float(baseline_scores.mean()), 1.0 if p is None else p)


def _iid_scores(
    method: published.EvaluatedMethod | None, condition: published.ShiftCondition, *, only_answered: bool = False
) -> dict[str, ImageScore] | None:
    """The i.i.d. scores of the questions that all runs of a method have a score for, as means over the runs.

    By ``pair``: the ids of a task without images may differ. None if the method was not asked any.
    """
    where = condition.shift.where(condition.kind, "iid")
    asked = [source.rows.where(where) for source in method.sources] if method else []
    if not asked or not all(map(len, asked)):
        return None
    scores: dict[str, list[float]] = {}
    images: dict[str, str] = {}
    for rows in asked:
        scored = (published.questions_answered(rows) if only_answered else rows).scored(condition.kind)
        columns = (scored.column(name) for name in ("pair", "cluster", f"{condition.kind}.score"))
        for question, image, score_of_run in zip(*columns, strict=True):
            scores.setdefault(question, []).append(float(score_of_run))
            images.setdefault(question, image)
    complete = {question: values for question, values in scores.items() if len(values) == len(asked)}
    return {question: ImageScore(images[question], float(np.mean(values))) for question, values in complete.items()}


def baseline_table(sources: Sequence[ModelResults]) -> Frame | None:
    """Each method against its baselines on the i.i.d. test, a row a condition and method."""
    rows = map(_standing_row, ComparedMethods.of(sources).standings)
    columns = [cells.label_column("shift and questions"), cells.label_column("method")]
    for name in _HOW_TO_RUN:
        columns += [
            cells.count_column(f"n, {name}"),
            score(f"method, {name}"),
            score(name),
            cells.p_value(f"p, {name}"),
        ]
    notes = (
        "Rule: on the i.i.d. test a method must be better than its own run without the image, and than the most "
        "frequent answers of the training set, or its robustness says nothing: who guesses has nothing to lose out of "
        "distribution, and an RR near 1.",
        "Means over the i.i.d. questions that both have a score for; of the most frequent answers over those that they "
        "answer. Test: no better than the baseline (one-sided sign-flip test). Unit of independence: the image. "
        "Adjusted: the larger of the two p values, corrected with Holm over all rows of this table.",
    )
    columns += [cells.p_value("adjusted p"), cells.label_column("better than its baselines")]
    return cells.make_frame("baselines", "Methods against their baselines, i.i.d. test", columns, rows, notes)


def _standing_row(standing: MethodStanding) -> tuple[Cell | str, ...]:
    row: list[Cell | str] = [standing.condition.label, standing.method]
    for name in _HOW_TO_RUN:
        test = standing.tests.get(name)
        if test is None or (name == MOST_FREQUENT and not test.n):
            row += [cells.NONE] * 4
        else:
            row += [Cell(test.n), Cell(test.method), Cell(test.baseline), cells.p_value_cell(test.p)]
    return *row, cells.p_value_cell(standing.adjusted), _standing_verdict(standing)


def _standing_verdict(standing: MethodStanding) -> str:
    if standing.lacking:
        return f"not known: baseline not run ({', '.join(standing.lacking)})"
    if standing.adjusted is None:
        return "not known: no question in common with a baseline"
    silent = "" if standing.tests[MOST_FREQUENT].n else f"; {MOST_FREQUENT} answers nothing"
    return ("yes" if standing.better else "no") + silent


def comparison_flags(standings: Sequence[MethodStanding]) -> Iterator[ReportNotice]:
    """A notice for the methods that lack a baseline, and one for each that is not better than its baselines."""
    for baseline, how in _HOW_TO_RUN.items():
        names = dict.fromkeys(standing.method for standing in standings if baseline in standing.lacking)
        if names:
            yield ReportNotice(
                "warning",
                f"Baseline not run: {baseline}, on some shift or all, for {', '.join(names)}. Without it nothing tells "
                f"robustness from guessing. {how}",
            )
    for name in dict.fromkeys(standing.method for standing in standings):
        tested = [standing for standing in standings if standing.method == name and not standing.lacking]
        worse = [standing for standing in tested if not standing.better]
        if worse:
            yield ReportNotice(
                "warning",
                f"{name} is not better than its baselines by more than chance in {len(worse)} of {len(tested)} "
                "conditions, on the i.i.d. test: its robustness there may be that of guessing (the table of baselines "
                "has the numbers).",
            )
