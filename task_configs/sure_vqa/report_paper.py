"""What SURE-VQA's paper tests of several methods: whether RR hangs on the shift or the method (Table 20).

Before it stands what the paper takes for granted: that a method is better than its baselines, for each shift and kind
of question on the i.i.d. test. One that guesses loses nothing out of distribution: its relative robustness is about 1,
or above. Each baseline has a one-sided sign-flip test over images of "no better", on the questions that both have a
score for; of the most frequent answers on those that they answer at all (the paper leaves them out where these are too
few). The larger of the two p values counts, as both must be fulfilled. Holm's correction is over all methods and
conditions of the report: the probability that any method that is no better is called better is at most 5 %.
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
"""A column of scores or of ratios, with two decimals as in the paper."""


# --- What is compared -------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class ComparedMethods:
    """The methods of a comparison, those that compete, and the conditions that all of these were run on."""

    methods: list[published.EvaluatedMethod]
    competing: list[published.EvaluatedMethod]
    conditions: list[published.ShiftCondition]

    @classmethod
    def of(cls, sources: Sequence[ModelResults]) -> ComparedMethods:
        """Kept with the table of all sources: flags and tables of a comparison ask for the same."""
        key = f"compared: {', '.join(source.name for source in sources)}"
        return sources[0].every.made_of_all(key, lambda rows: cls._made(sources))

    @classmethod
    def _made(cls, sources: Sequence[ModelResults]) -> ComparedMethods:
        """Methods with images compete, but for baselines; corrupted tests are no real shifts."""
        found = published.group_methods(sources)
        competing = [method for method in found if method.image_shown and not method.baseline]
        asked = [dict.fromkeys(published.shift_groups(source)) for method in competing for source in method.sources]
        shared = [each for each in (asked[0] if asked else ()) if all(each in own for own in asked)]
        return cls(found, competing, [each for each in shared if not each.shift.strength])

    @functools.cached_property
    def robustness(self) -> dict[published.ShiftCondition, CommonRobustness]:
        """The conditions with RR of each method; none of a method alone."""
        competing = self.competing
        return {
            condition: on_common_questions(condition, competing) for condition in self.conditions if len(competing) > 1
        }

    @functools.cached_property
    def standings(self) -> list[MethodStanding]:
        """The standing of each competing method under each condition; baselines are looked for among all methods."""
        shown, unseen = ([each for each in self.methods if each.image_shown is seen] for seen in (True, False))
        frequent = next(
            (each for each in shown if published.baseline_of(each.sources[0]) == published.MOST_FREQUENT_MODEL), None
        )
        without = {published.checkpoint_name(each.sources[0]): each for each in unseen if not each.baseline}
        found = []
        for condition in self.conditions:
            guesses = _iid_scores(frequent, condition, only_answered=True)
            for method in self.competing:
                blind = _iid_scores(without.get(published.checkpoint_name(method.sources[0])), condition)
                own = _iid_scores(method, condition) or {}
                known = {NO_IMAGE: blind, MOST_FREQUENT: guesses}
                tests = {
                    name: compare_with_baseline(own, scores) for name, scores in known.items() if scores is not None
                }
                found.append(MethodStanding(method.name, condition, tests))
        return corrected_comparisons(found)


def compared_caveats(sources: Sequence[ModelResults]) -> Iterator[ReportNotice]:
    """Questions that Table 20's analysis leaves out; methods that lack a baseline, or are not better than theirs."""
    compared = ComparedMethods.of(sources)
    apart = [
        f"{condition.label} {each.left_out:,} of {each.questions + each.left_out:,}"
        for condition, each in compared.robustness.items()
        if each.left_out
    ]
    if apart:
        text = "The analysis of variance is over the questions that every method has a score for. Left out: "
        yield ReportNotice("warning", text + "; ".join(apart) + ".")
    yield from comparison_flags(compared.standings)


def mark_rows(part: ReportChapter, sources: Sequence[ModelResults]) -> ReportChapter:
    """The comparison with a mark at each method whose seeds were asked other questions of a shift than most methods."""
    asked: dict[Hashable, dict[str, frozenset[str]]] = {}
    for method, kind, side in itertools.product(published.group_methods(sources), KINDS, SIDES):
        for shift in method.shifts:
            own = asked.setdefault((method.cell.value, shift.label), {})
            ids = [frozenset(source.rows.where(shift.where(kind, side)).column("pair")) for source in method.sources]
            if all(ids):
                own[f"{kind} {published.SIDE_NAMES[side]}"] = frozenset.intersection(*ids)
    labels = {
        published.table_key(shift, shown): shift.label for shift in published.PAPER_SHIFTS for shown in (True, False)
    }

    def key_of_row(table: Frame, row: FrameRow) -> Hashable:
        # The shift is the table's own, or stands in the second cell.
        return row.cells[0].value, labels.get(table.key, row.cells[1].value)

    return with_marks(part, asked, key_of_row)


# --- Table 20 ---------------------------------------------------------------------------------------------------------
class CommonRobustness(NamedTuple):
    """The methods under one condition, on the questions that all of them have a score for.

    ``rr``: method to its RR, the mean over its seeds; None without a value. ``questions``: in both tests; ``left_out``:
    those that some method has no score for.
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
    every = [each for own in rows.values() for each in own]
    # Whether a test has any mean at all is for each test to say, so its scores are looked for by test.
    scored = [
        {key for side in SIDES.values() for key in _question_keys(each.where(side).scored(kind))} for each in every
    ]
    common = set.intersection(*scored)
    rr = {}
    for name, own in rows.items():
        kept = (each.take(np.array([key in common for key in _question_keys(each)], dtype=bool)) for each in own)
        values = [ROBUSTNESS[kind].value(each) for each in kept]
        rr[name] = None if None in values else float(np.mean([value for value in values if value is not None]))
    asked = {key for each in every for key in _question_keys(each)}
    return CommonRobustness(rr, len(common), len(asked - common))


def _question_keys(rows: QuestionTable) -> list[tuple[str, str]]:
    """Test and id of each question."""
    return list(zip(rows.column("set"), rows.column("id"), strict=True))


def variance_tables(sources: Sequence[ModelResults]) -> Frame | None:
    """What RR depends on more, the shift or the method: by dataset, beside Table 20; None where nothing compares.

    The paper's Figures 8c and 18 do not say what is averaged. Standard deviations of means agree with all that the text
    says of the figures; the mean of each method's deviation over shifts would not (OVQA with full fine-tuning).
    """
    common = ComparedMethods.of(sources).robustness
    complete = {condition: each.rr for condition, each in common.items() if None not in each.rr.values()}
    rows = []
    for dataset in dict.fromkeys(condition.shift.dataset for condition in complete):
        own = [rr for condition, rr in complete.items() if condition.shift.dataset == dataset]
        values = np.array([list(rr.values()) for rr in own], dtype=float)  # (conditions, methods)
        (shifts_f, shifts_p), (methods_f, methods_p) = f_test(values), f_test(values.T)
        rows.append(
            (
                published.DATASETS.get(dataset, dataset),
                ", ".join(own[0]),
                len(own),
                shifts_f,
                cells.p_value_cell(shifts_p),
                methods_f,
                cells.p_value_cell(methods_p),
                spread_over_seeds(values.mean(axis=1)),
                spread_over_seeds(values.mean(axis=0)),
            )
        )
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
        cells.label_column("dataset"),
        cells.label_column("methods"),
        cells.count_column("conditions"),
        score("F between shifts"),
        cells.p_value("p"),
        score("F between methods"),
        cells.p_value("p (methods)"),
        cells.decimal_column("SD between shifts"),
        cells.decimal_column("SD between methods"),
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

    None with fewer than two groups or values a group, or where no group's values vary.
    """
    from scipy.stats import f_oneway

    if min(values.shape) < 2 or not np.ptp(values, axis=1).any():
        return None, None
    found = f_oneway(*values)
    return float(found.statistic), float(found.pvalue)


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
    """A question's score, of several seeds their mean, and its image."""

    image: str
    score: float


class Against(NamedTuple):
    """A method and a baseline on the n i.i.d. questions that both have a score for.

    ``method`` and ``baseline`` are their means. ``p``: one-sided, of "no better than the baseline"; 1 where no image
    differs. All None where n is 0.
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
        adjusted: the larger p of both, Holm-corrected over all methods and conditions; None where a baseline lacks.
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
        """Whether it is better than both baselines by more than chance."""
        return self.adjusted is not None and self.adjusted < confidence.current_alpha()

    @property
    def p(self) -> float | None:
        """The larger p of the baselines, not corrected; None where one was not run or has no question in common.

        Most frequent answers that answer none of the questions are no baseline here.
        """
        if self.lacking or not self.tests[NO_IMAGE].n:
            return None
        return max(test.p for test in self.tests.values() if test.p is not None)


def corrected_comparisons(found: Sequence[MethodStanding]) -> list[MethodStanding]:
    """The standings with their p values corrected together."""
    adjusted = adjust_known_p_values([each.p for each in found])
    return [replace(each, adjusted=p) for each, p in zip(found, adjusted, strict=True)]


def compare_with_baseline(method: Mapping[str, ImageScore], baseline: Mapping[str, ImageScore]) -> Against:
    """Compare a method with a baseline by question; the image is the method's."""
    common = sorted(set(method) & set(baseline))
    if not common:
        return Against(0, None, None, None)
    one, other = (np.array([each[question].score for question in common]) for each in (method, baseline))
    _, codes = np.unique([method[question].image for question in common], return_inverse=True)
    p = sign_flip(np.bincount(codes, weights=one - other), "greater")
    return Against(len(common), float(one.mean()), float(other.mean()), 1.0 if p is None else p)


def _iid_scores(
    method: published.EvaluatedMethod | None, condition: published.ShiftCondition, *, only_answered: bool = False
) -> dict[str, ImageScore] | None:
    """The i.i.d. scores of the questions that all runs of a method have one for, their mean over the runs.

    By question, not by answer: the ids of a task without images may differ. None where it was not asked any.
    """
    where = condition.shift.where(condition.kind, "iid")
    asked = [source.rows.where(where) for source in method.sources] if method else []
    if not asked or not all(map(len, asked)):
        return None
    scores: dict[str, list[float]] = {}
    images: dict[str, str] = {}
    for rows in asked:
        own = (published.questions_answered(rows) if only_answered else rows).scored(condition.kind)
        columns = (own.column(name) for name in ("pair", "cluster", f"{condition.kind}.score"))
        for question, image, found in zip(*columns, strict=True):
            scores.setdefault(question, []).append(float(found))
            images.setdefault(question, image)
    return {
        name: ImageScore(images[name], float(np.mean(own))) for name, own in scores.items() if len(own) == len(asked)
    }


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
    against_each = [cell for name in _HOW_TO_RUN for cell in _baseline_cells(name, standing.tests.get(name))]
    adjusted = cells.p_value_cell(standing.adjusted)
    return standing.condition.label, standing.method, *against_each, adjusted, _standing_verdict(standing)


def _baseline_cells(name: str, found: Against | None) -> tuple[Cell, ...]:
    if found is None or (name == MOST_FREQUENT and not found.n):
        return (cells.NONE,) * 4
    return Cell(found.n), Cell(found.method), Cell(found.baseline), cells.p_value_cell(found.p)


def _standing_verdict(standing: MethodStanding) -> str:
    """Whether it is better than its baselines, or why that is not known."""
    if standing.lacking:
        return f"not known: baseline not run ({', '.join(standing.lacking)})"
    if standing.adjusted is None:
        return "not known: no question in common with a baseline"
    silent = "" if standing.tests[MOST_FREQUENT].n else f"; {MOST_FREQUENT} answers nothing"
    return ("yes" if standing.better else "no") + silent


def comparison_flags(found: Sequence[MethodStanding]) -> Iterator[ReportNotice]:
    """A flag for the methods that lack a baseline, and one for each that is not better than its baselines."""
    for baseline, how in _HOW_TO_RUN.items():
        names = dict.fromkeys(each.method for each in found if baseline in each.lacking)
        if names:
            yield ReportNotice(
                "warning",
                f"Baseline not run: {baseline}, on some shift or all, for {', '.join(names)}. Without it nothing tells "
                f"robustness from guessing. {how}",
            )
    for name in dict.fromkeys(each.method for each in found):
        tested = [each for each in found if each.method == name and not each.lacking]
        worse = [each for each in tested if not each.better]
        if worse:
            yield ReportNotice(
                "warning",
                f"{name} is not better than its baselines by more than chance in {len(worse)} of {len(tested)} "
                "conditions, on the i.i.d. test: its robustness there may be that of guessing (the table of baselines "
                "has the numbers).",
            )
