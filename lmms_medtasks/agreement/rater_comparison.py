"""Agreement of judges with people, and of people, judges and repeated judgings with one another, as tables.

A rater is a person, the mean of several people, a judge, or one of its judgings: numbers by answer.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Literal

import numpy as np

from lmms_medtasks.agreement.judged_answers import TOTAL, AnswerKey, JudgedAnswer, JudgedAnswers
from lmms_medtasks.agreement.ratings import Scores
from lmms_medtasks.agreement.sheet import describe_equal_labels
from lmms_medtasks.report import cells
from lmms_medtasks.report.document import (
    Frame,
    FrameColumn,
    FrameRow,
    ReportChapter,
    ReportNotice,
    ReportSection,
    Value,
)
from lmms_medtasks.report.first_screen import ReportDocument
from lmms_medtasks.statistics.agreement import (
    COEFFICIENTS,
    AgreementEstimate,
    estimate_without_value,
    measure_agreement,
    measure_alpha,
)
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.statistics.intervals import IntervalEstimate, estimate_mean
from lmms_medtasks.statistics.win_rates import ModelContest, WinRates, compute_win_rates, score_wins

Kind = Literal["judge and people", "people", "judges", "repeated judgings"]
NAMES = (*COEFFICIENTS, "alpha")
_NO_CATEGORY = "means and totals are no categories"
_HEADS = {
    "spearman": "Spearman",
    "kendall": "Kendall tau-b",
    "kappa": "kappa",
    "kappa_linear": "kappa linear",
    "kappa_quadratic": "kappa quadratic",
    "exact": "same",
    "alpha": "alpha",
}
_TITLES: Mapping[Kind, tuple[str, str]] = {
    "judge and people": ("people", "Judges and people"),
    "people": ("between-people", "People among themselves"),
    "judges": ("between-judges", "Judges among themselves"),
    "repeated judgings": ("repeated", "Repeated judgings of the same answers"),
}
_NOTES = (
    "kappa: Cohen's, every disagreement alike; linear, quadratic: weighted by the distance of the ratings. alpha: "
    "Krippendorff's, ordinal for labels, interval for means and totals. same: share of answers rated alike.",
    f"[{LEVEL} intervals] over images; of coefficients by the jackknife with Student's t. "
    "docs/intervals_and_tests.md says where they hold.",
)
_WIN_NOTE = (
    "Share of pairs (two models, one question, one rater) that the model's answer wins, ties half; difference: people "
    "less judge. Scores that a rule settled count here."
)


@dataclass(frozen=True)
class Rater:
    """A rater's numbers in one measure. ``labels``: whether they are labels of the scale, not means or totals."""

    name: str
    numbers: Mapping[AnswerKey, float]
    labels: bool


@dataclass(frozen=True, kw_only=True)
class RaterComparison:
    """Two or more raters in one measure. ``n``: answers with two or more ratings. ``coefficients``: by :data:`NAMES`.

    Alpha is ordinal for labels, interval for means and totals.
    """

    kind: Kind
    raters: tuple[str, ...]
    measure: str
    n: int
    coefficients: Mapping[str, AgreementEstimate]


@dataclass(frozen=True)
class JudgeWinRates:
    """The win rates of models in one measure, by people and by one judge."""

    judge: str
    measure: str
    rates: WinRates


@dataclass(frozen=True, kw_only=True)
class AgreementResult:
    """All comparisons. ``rated``: number of answers that people rated.

    ``left_out``: judge -> how many of these have no verdict of the judge, and how many a rule settled.
    """

    comparisons: tuple[RaterComparison, ...]
    wins: tuple[JudgeWinRates, ...]
    left_out: Mapping[str, tuple[int, int]]
    raters: tuple[str, ...]
    rated: int


def compare(judged: JudgedAnswers, people: Scores) -> AgreementResult:
    """Compare all raters that the runs and the ratings have, measure by measure.

    Scores that a rule settled say nothing about a judge and are left out, except from win rates, which are about the
    benchmark's numbers.
    """
    people = _add_totals(people, judged)
    # A run without a judge names a judge without verdicts.
    judges = [name for name in judged.judges if judge_as_rater(judged, name, judged.measures[0]).numbers]
    comparisons: list[RaterComparison] = []
    won: list[JudgeWinRates] = []
    for measure in judged.measures:
        numbers = {
            name: {key: rating[measure] for key, rating in ratings.items() if measure in rating}
            for name, ratings in people.items()
        }
        raters = [Rater(name, rated, measure != TOTAL) for name, rated in numbers.items() if rated]
        for name in judges if raters else ():
            comparisons += _compare_with_people(judged, name, raters, measure)
            if len(judged.models) > 1:
                won.append(JudgeWinRates(name, measure, _win_rates(judged, name, measure, raters)))
        comparisons += _compare_each_two(judged, "people", raters, measure)
        sides = [judge_as_rater(judged, name, measure) for name in judges]
        comparisons += _compare_each_two(judged, "judges", sides, measure)
        for name in judges:
            comparisons += _compare_each_two(judged, "repeated judgings", list_judgings(judged, name, measure), measure)
    return AgreementResult(
        comparisons=tuple(comparisons),
        wins=tuple(won),
        left_out={name: _count_left_out(judged, name, people) for name in judges} if people else {},
        raters=tuple(people),
        rated=len({key for rows in people.values() for key in rows}),
    )


def mean_rater(raters: Sequence[Rater]) -> Rater:
    """A rater with the mean of each answer's ratings; a single rater is returned unchanged."""
    if len(raters) == 1:
        return raters[0]
    numbers: dict[AnswerKey, list[float]] = {}
    for rater in raters:
        for key, number in rater.numbers.items():
            numbers.setdefault(key, []).append(number)
    labels = raters[0].labels and max(map(len, numbers.values()), default=1) == 1
    return Rater(f"mean of {len(raters)} people", {key: fmean(each) for key, each in numbers.items()}, labels)


def judge_as_rater(judged: JudgedAnswers, judge: str, measure: str, *, settled: bool = False) -> Rater:
    """The judge's numbers: for each answer the mean over its judgings that have a score."""
    numbers = {answer.key: fmean(scores) for answer, scores in _iter_scored(judged, judge, measure, settled=settled)}
    return Rater(judge, numbers, labels=judged.protocol.trials == 1 and measure != TOTAL)


def majority_of_judge(judged: JudgedAnswers, judge: str, measure: str) -> Rater | None:
    """A rater with the number that more than half of an answer's judgings gave; None for single judgings and totals."""
    if judged.protocol.trials == 1 or measure == TOTAL:
        return None
    numbers = {}
    for answer, scores in _iter_scored(judged, judge, measure):
        most_frequent = max(scores, key=scores.count)
        if 2 * scores.count(most_frequent) > len(scores):
            numbers[answer.key] = most_frequent
    return Rater(f"{judge}, majority", numbers, labels=True)


def list_judgings(judged: JudgedAnswers, judge: str, measure: str) -> list[Rater]:
    """The repeated judgings of the same answers as raters; [] if each answer was judged once."""
    scores = {
        answer.key: answer.scores[measure] for answer in judged.answers if answer.judge == judge and not answer.settled
    }
    count = max(map(len, scores.values()), default=0)
    raters = []
    for index in range(count if count > 1 else 0):
        scores_of_judging = {key: each[index] for key, each in scores.items() if index < len(each)}
        numbers = {key: number for key, number in scores_of_judging.items() if number is not None}
        raters.append(Rater(f"{judge}, judging {index + 1}", numbers, measure != TOTAL))
    return raters


def _iter_scored(
    judged: JudgedAnswers, judge: str, measure: str, *, settled: bool = False
) -> Iterator[tuple[JudgedAnswer, list[float]]]:
    """The judge's answers that have scores, with these."""
    for answer in judged.answers:
        scores = [number for number in answer.scores[measure] if number is not None]
        if answer.judge == judge and scores and (settled or not answer.settled):
            yield answer, scores


def _add_totals(people: Scores, judged: JudgedAnswers) -> Scores:
    """The ratings, with a total for answers of which a rater rated all dimensions."""
    total, names = judged.protocol.total, {dimension.name for dimension in judged.protocol.dimensions}
    if total is None:
        return people
    return {
        rater: {
            key: {**rating, TOTAL: total(rating)} if names <= rating.keys() else rating
            for key, rating in ratings.items()
        }
        for rater, ratings in people.items()
    }


def _compare_with_people(
    judged: JudgedAnswers, name: str, raters: Sequence[Rater], measure: str
) -> Iterator[RaterComparison]:
    """The judge and the mean of all people; the judge (if there are several people) and its majority with each."""
    judge = judge_as_rater(judged, name, measure)
    yield _compare_group(judged, "judge and people", (judge, mean_rater(raters)), measure)
    sides = [judge] if len(raters) > 1 else []
    if majority := majority_of_judge(judged, name, measure):
        sides.append(majority)
    for pair in itertools.product(sides, raters):
        yield _compare_group(judged, "judge and people", pair, measure)


def _compare_each_two(
    judged: JudgedAnswers, kind: Kind, raters: Sequence[Rater], measure: str
) -> Iterator[RaterComparison]:
    """All raters together if there are more than two, and each pair."""
    if len(raters) > 2:
        yield _compare_group(judged, kind, raters, measure)
    for pair in itertools.combinations(raters, 2):
        yield _compare_group(judged, kind, pair, measure)


def _compare_group(judged: JudgedAnswers, kind: Kind, raters: Sequence[Rater], measure: str) -> RaterComparison:
    """Two or more raters, over the answers with two or more ratings.

    More than two raters have alpha and the share of answers whose ratings all agree.
    """
    counts = Counter(key for rater in raters for key in rater.numbers)
    keys = sorted(key for key, count in counts.items() if count > 1)
    ratings = np.array([[rater.numbers.get(key, math.nan) for key in keys] for rater in raters])
    clusters, labels = [judged.by_key[key].cluster for key in keys], all(rater.labels for rater in raters)
    if len(raters) == 2:
        coefficients = measure_agreement(ratings[0], ratings[1], clusters)
    else:
        coefficients = {name: estimate_without_value(len(keys), "for two raters only") for name in COEFFICIENTS}
        coefficients["exact"] = estimate_without_value(0, "no item has two ratings")
        if keys:
            same = np.isclose(np.nanmax(ratings, 0), np.nanmin(ratings, 0))
            coefficients["exact"] = AgreementEstimate(estimate_mean(clusters, same.astype(float)))
    if not labels:
        unfit = ("kappa", "exact") if len(raters) == 2 else ("exact",)
        coefficients |= {name: estimate_without_value(len(keys), _NO_CATEGORY) for name in unfit}
    coefficients["alpha"] = measure_alpha(ratings, clusters, "ordinal" if labels else "interval")
    names = tuple(rater.name for rater in raters)
    return RaterComparison(kind=kind, raters=names, measure=measure, n=len(keys), coefficients=coefficients)


def _win_rates(judged: JudgedAnswers, judge: str, measure: str, raters: Sequence[Rater]) -> WinRates:
    """Win rates over pairs of answers: two models, the same question and trial, rated by the same person."""
    verdicts = judge_as_rater(judged, judge, measure, settled=True).numbers
    contests = []
    for first_model, second_model in itertools.combinations(judged.models, 2):
        pairs = [
            (rater, key, rival)
            for rater in raters
            for key in sorted(rater.numbers)
            if key.model == first_model
            and (rival := AnswerKey(second_model, key.id, key.trial)) in rater.numbers
            and {key, rival} <= verdicts.keys()
        ]
        people = score_wins(
            [rater.numbers[key] for rater, key, _ in pairs], [rater.numbers[rival] for rater, _, rival in pairs]
        )
        verdict_wins = score_wins([verdicts[key] for _, key, _ in pairs], [verdicts[rival] for _, _, rival in pairs])
        clusters = [judged.by_key[key].cluster for _, key, _ in pairs]
        contests.append(ModelContest(first_model, second_model, clusters, people, verdict_wins))
    return compute_win_rates(contests)


def _count_left_out(judged: JudgedAnswers, judge: str, people: Scores) -> tuple[int, int]:
    rated = {key for rows in people.values() for key in rows}
    with_score = judge_as_rater(judged, judge, judged.measures[0], settled=True).numbers
    by_rule = {answer.key for answer in judged.answers if answer.judge == judge and answer.settled}
    return len(rated - with_score.keys()), len(rated & by_rule)


def make_agreement_document(judged: JudgedAnswers, result: AgreementResult) -> ReportDocument:
    facts = [("protocol", judged.protocol.name), ("models", ", ".join(judged.models))]
    facts.append(("judges", ", ".join(judged.judges)))
    if result.raters:
        facts.append(("people", f"{', '.join(result.raters)} ({result.rated:,} answers)"))
    sections: list[ReportSection] = []
    for kind, title in _TITLES.items():
        rows = [comparison for comparison in result.comparisons if comparison.kind == kind]
        if rows:
            table = _comparison_table(title, rows, notes=() if sections else _NOTES)
            sections.append(ReportSection(*title, tables=(table,)))
    if result.wins:
        sections.append(ReportSection("wins", "Win rates", tables=(_wins_table(result.wins),)))
    part = ReportChapter(
        key="agreement",
        title=f"Agreement on {judged.protocol.name}",
        facts=tuple(facts),
        flags=tuple(_make_flags(judged, result)),
        sections=tuple(sections),
    )
    return ReportDocument(f"Agreement: {judged.protocol.name}", (part,))


def _make_flags(judged: JudgedAnswers, result: AgreementResult) -> list[ReportNotice]:
    flags = [ReportNotice("warning", f"{name}: {note}.") for name, note in judged.notes.items()]
    flags += [ReportNotice("note", reasons) for reasons in describe_equal_labels(judged.protocol)]
    for judge, (missing, settled) in result.left_out.items():
        counts = {f"{missing:,} have no verdict of {judge}": missing,
                  f"{settled:,} were settled by a rule, without a judge": settled}  # fmt: skip
        if reasons := [text for text, count in counts.items() if count]:
            text = f"Of {result.rated:,} rated answers, left out of the comparison with {judge}: {'; '.join(reasons)}."
            flags.append(ReportNotice("note", text))
    if result.raters and not result.left_out:
        flags.append(
            ReportNotice("warning", "No judge gave a verdict on these answers. `lmms-medtasks judge RUN` judges them.")
        )
    return flags


def _comparison_table(title: tuple[str, str], rows: Sequence[RaterComparison], notes: tuple[str, ...]) -> Frame:
    """A row a comparison; raters are a column if they differ between rows, else the title."""
    several = len({row.raters for row in rows}) > 1
    columns = [*map(cells.label_column, ["measure", *["raters"] * several]), cells.count_column("n")]
    columns += [FrameColumn(_HEADS[name], digits=2) for name in NAMES]
    frame_rows = []
    for row in rows:
        raters = [_rater_names(row)] if several else []
        intervals = [row.coefficients[name].interval for name in NAMES]
        frame_rows.append(_make_row(columns, row.measure, *raters, row.n, *intervals))
    key, head = title if several else (title[0], _rater_names(rows[0]))
    return Frame(key, head, tuple(columns), tuple(frame_rows), (*notes, *_missing_reasons(rows)))


def _make_row(columns: Sequence[FrameColumn], *values: Value | IntervalEstimate) -> FrameRow:
    return FrameRow(tuple(map(cells.cell_of, columns, values)))


def _rater_names(comparison: RaterComparison) -> str:
    if len(comparison.raters) == 2:
        return " – ".join(comparison.raters)
    return f"all {len(comparison.raters)}: {', '.join(comparison.raters)}"


def _missing_reasons(rows: Sequence[RaterComparison]) -> list[str]:
    """One sentence for each reason why cells hold a dash."""
    labels_by_reason: dict[str, list[str]] = {}
    for row in rows:
        for name in NAMES:
            reason = row.coefficients[name].reason
            if reason:
                labels_by_reason.setdefault(reason, []).append(f"{_HEADS[name]} of {row.measure}")
    return [f"– {reason}: {', '.join(dict.fromkeys(labels))}." for reason, labels in labels_by_reason.items()]


def _wins_table(won: Sequence[JudgeWinRates]) -> Frame:
    columns = [*map(cells.label_column, ("measure", "judge", "model")), cells.count_column("pairs")]
    columns += [FrameColumn(head, digits=4, signed=head == "difference")
                for head in ("by people", "by judge", "difference")]  # fmt: skip
    rows = []
    for win_rates in won:
        head, largest = (win_rates.measure, win_rates.judge), win_rates.rates.largest
        for model, rates in win_rates.rates.models.items():
            sides = (rates.people, rates.judge, rates.difference)
            rows.append(_make_row(columns, *head, model, rates.difference.n, *sides))
        if len(win_rates.rates.models) > 2:
            worst = _make_row(columns, *head, "largest absolute", largest.n, None, None, largest)
            rows.append(replace(worst, kind="counts"))
    return Frame("wins", "Win rates", tuple(columns), tuple(rows), (_WIN_NOTE,))
