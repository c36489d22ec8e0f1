"""The Dunning-Kruger effects of MedQ-Deg, and their figures if nothing changes.

Intra-model (equation 5): does a model's accuracy fall with degradation while its confidence falls less? The equation is
a yes or no on two noisy differences: of a model that answers alike at both levels it says yes in a third of the data
sets. The exchanges of levels show how often for the data at hand, and give a p value.

Inter-model (equation 6): do less accurate models have the higher shift? The paper's figures take a model's accuracy and
shift from the same replies. As shift is confidence less accuracy, luck raises one and lowers the other: models that are
all alike fulfil equation 6 in about 70 % of their pairs. Here the paper's figures stand beside what models that are all
alike would show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.statistics.calibration import (
    Confidence,
    Statistics,
    calibration_changes,
    calibration_group,
    confidence_values,
)
from lmms_medtasks.statistics.intervals import IntervalEstimate, estimate_intervals
from lmms_medtasks.statistics.ranks import has_number, round_ties, spearman_rho
from lmms_medtasks.statistics.sums import (
    AnyStatistic,
    IntervalFrom,
    SumGroup,
    make_scored_group,
    make_sum_group,
    mean_statistic,
    sums_by_cluster,
)
from lmms_medtasks.statistics.votes import VoteTable

EXCHANGES_OF_LEVELS = 1999
_ONE_TRIAL = "T = 1: one reply is always unanimous, so there is no confidence to compare"
_DECIMALS = 12
_CHUNK = 2**21
_SAME = 1e-9


@dataclass(frozen=True)
class LevelChange:
    """Equation 5 between two sets, as the paper has it.

    Attributes:
        holds: whether equation 5 holds for the data; None if a set is empty.
        accuracy, shift: their changes, L2 less L0. Equation 5 asks for accuracy < 0 and shift >= 0.
    """

    holds: bool | None
    accuracy: IntervalEstimate
    shift: IntervalEstimate


@dataclass(frozen=True)
class NoChangeTest:
    """The paired figures if nothing changes: over exchanges of the levels, an image's forms together.

    Attributes:
        holds: the share of exchanges in which equation 5 holds.
        p: of the hypothesis that the replies to a question are drawn alike at both levels, against the effect: the
            share of exchanges (the data counted as one) in which the smaller of the two studentised changes, accuracy
            down and shift up, is at least that of the data.
        accuracy_p, shift_p: the same of each change alone: accuracy falls; shift rises.
    """

    holds: float
    p: float
    accuracy_p: float
    shift_p: float


@dataclass(frozen=True)
class IntraModelDKE:
    """Equation 5 in two ways, see :func:`intra_model_dke`.

    Attributes:
        whole: over all questions of each level, as the equation is written. paired: each degraded question against its
            own clean form. no_change: the paired figures under exchanges; None if there are none, ``untested`` says
            why. pairs: number of pairs. images: images that they are of.
    """

    whole: LevelChange
    paired: LevelChange
    no_change: NoChangeTest | None
    untested: str
    pairs: int
    images: int


@dataclass(frozen=True)
class CleanDegradedPairs:
    """A pair a degraded question that has its clean form here.

    Attributes:
        clean, degraded: (p,) integers, the rows of the pair. A clean question stands once for each of its degraded
            forms, so that means over pairs weigh both sides alike, whatever degradations a question was given.
    """

    clean: np.ndarray
    degraded: np.ndarray


def join_clean_degraded(clean: Sequence[str], degraded: Sequence[str]) -> CleanDegradedPairs:
    """Join degraded to clean questions by question id; pairs are in the order of ``degraded``.

    Raises UserError when a clean question is there twice: it would not be known which of them a form belongs to.
    """
    rows = {question: row for row, question in enumerate(clean)}
    if len(rows) < len(clean):
        twice = next(question for row, question in enumerate(clean) if rows[question] != row)
        raise UserError(
            f"Question {twice!r} occurs more than once among the clean questions. Give one run, at one level."
        )
    row_pairs = [(rows[question], row) for row, question in enumerate(degraded) if question in rows]
    joined = np.array(row_pairs, dtype=np.intp).reshape(-1, 2)
    return CleanDegradedPairs(clean=joined[:, 0], degraded=joined[:, 1])


def intra_model_dke(
    clean: VoteTable,
    degraded: VoteTable,
    *,
    kind: Confidence = "entropy",
    exchanges: int = EXCHANGES_OF_LEVELS,
) -> IntraModelDKE:
    """Intra-model Dunning-Kruger effect (equation 5): accuracy at L0 > accuracy at L2, shift at L0 <= shift at L2.

    As shift is confidence less accuracy, this says: accuracy falls, and confidence falls by no more than accuracy.

    ``whole`` takes the two sets as they are. They need not be alike: a modality with few degradations, ``--limit`` or
    a failed request gives some questions fewer degraded forms than others, and that alone moves a mean. ``paired``
    removes this: each degraded question is compared with the clean form of the same ``question_id``, so that a clean
    question counts as often as it has degraded forms. Intervals of both are over images, a clean image and its degraded
    forms together. Where every question has equally many forms the two agree.

    The test is of the pairs. Its hypothesis: the replies to a question are drawn alike, whether its image is degraded
    or not. Then any of a question's forms could as well have been the clean one. An exchange draws which, the same
    place for all questions on an image, so that images are the units of independence. Both changes are divided by their
    standard error over images in each exchange. Rejecting "nothing changes" does not by itself show both parts of
    equation 5: for this read ``accuracy_p`` and ``shift_p``. Where both are at most alpha, a model of which one part is
    not true is found so in at most that share of data sets.

    Differences under 1e-12 count as none. An empty set or no pairs: None throughout. With one trial every reply is
    unanimous: nothing is computed. Raises UserError where the two sets have different numbers of trials: C depends on
    it.
    """
    if len(clean) and len(degraded) and clean.trials != degraded.trials:
        raise UserError(
            f"The clean questions were asked T = {clean.trials} times, the degraded ones T = {degraded.trials} times. "
            "Confidence depends on T: compare levels that were asked with the same number of trials."
        )
    clean_rows, clean_group = _usable_votes(clean, kind)
    degraded_rows, degraded_group = _usable_votes(degraded, kind)
    joined = join_clean_degraded(clean_rows.question_ids, degraded_rows.question_ids)
    before, after = clean_group.columns[joined.clean], degraded_group.columns[joined.degraded]
    images = [clean_rows.image_ids[row] for row in joined.clean]
    untested = _untested_reason(images, max(clean.trials, degraded.trials), exchanges)
    null = None
    if not untested:
        columns = clean_group.columns, degraded_group.columns
        forms, counts, image_codes = _question_forms(joined, clean_rows, degraded_rows, *columns)
        null = _exchange_levels(forms, counts, image_codes, seeded_generator("exchanged levels", 0), exchanges)
    return IntraModelDKE(
        whole=_make_change(*_whole_changes(clean_group, degraded_group)),
        paired=_make_change(*_paired_changes(make_sum_group(images, *before.T), make_sum_group(images, *after.T))),
        no_change=null,
        untested=untested,
        pairs=len(images),
        images=len(set(images)),
    )


def _untested_reason(images: list[str], trials: int, exchanges: int) -> str:
    if trials == 1:
        return _ONE_TRIAL
    if not images:
        return "no degraded question has its clean form here"
    if len(set(images)) < 2:
        return "one image is no sample of images"
    return "" if exchanges else "no resamples were asked for"


def _usable_votes(table: VoteTable, kind: Confidence) -> tuple[VoteTable, SumGroup]:
    known = np.zeros(len(table), dtype=bool) if table.trials == 1 else ~np.isnan(confidence_values(table, kind))
    usable = table.take(known)
    return usable, calibration_group(usable, kind)


def _whole_changes(before: SumGroup, after: SumGroup) -> Statistics:
    groups, changes = calibration_changes({"before": before, "after": after}, "before")
    return groups, changes["after"]


def _paired_changes(before: SumGroup, after: SumGroup) -> Statistics:
    groups, changes = _whole_changes(before, after)
    accuracy, confidence = (after.columns[:, column] - before.columns[:, column] for column in (0, 1))
    steps = {"accuracy": accuracy, "confidence": confidence, "shift": confidence - accuracy}
    statistics: dict[str, AnyStatistic] = {}
    for name, step in steps.items():
        groups[f"change of {name}"] = make_scored_group(before.clusters, step)
        width = (-2.0, 2.0) if name == "shift" else (-1.0, 1.0)
        statistics[name] = IntervalFrom(changes[name], mean_statistic(f"change of {name}", width))
    return groups, statistics


def _make_change(groups: dict[str, SumGroup], changes: dict[str, AnyStatistic]) -> LevelChange:
    estimates = estimate_intervals(groups, changes)
    accuracy, shift = estimates["accuracy"], estimates["shift"]
    if accuracy.estimate is None or shift.estimate is None:
        return LevelChange(None, accuracy, shift)
    return LevelChange(bool(_equation_5_holds(np.array(accuracy.estimate), np.array(shift.estimate))), accuracy, shift)


def _equation_5_holds(accuracy: np.ndarray, shift: np.ndarray) -> np.ndarray:
    return (np.round(accuracy, _DECIMALS) < 0) & (np.round(shift, _DECIMALS) >= 0)


def _question_forms(
    joined: CleanDegradedPairs, clean: VoteTable, degraded: VoteTable, before: np.ndarray, after: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(q, 1 + k, 2) accuracy and shift of each question's forms, the clean one first, then by id; 0 where it has fewer.

    Also (q,) its number of degraded forms, and (q,) its image as a number.
    """
    order = sorted(range(len(joined.clean)), key=lambda pair: (joined.clean[pair], degraded.ids[joined.degraded[pair]]))
    of_clean = joined.clean[order]
    rows, question, counts = np.unique(of_clean, return_inverse=True, return_counts=True)
    starts = np.cumsum(counts) - counts
    form_index = 1 + np.arange(len(of_clean)) - starts[question]
    forms = np.zeros((len(rows), 1 + counts.max(), 2))
    forms[:, 0], forms[question, form_index] = before[rows], after[joined.degraded[order]]
    forms[..., 1] -= forms[..., 0]  # confidence to shift
    images = np.unique([clean.image_ids[row] for row in rows], return_inverse=True)[1]
    return forms, counts, images


def _exchange_levels(
    forms: np.ndarray, counts: np.ndarray, images: np.ndarray, rng: np.random.Generator, exchanges: int
) -> NoChangeTest:
    number = int(images.max()) + 1
    weights = np.bincount(images, counts, number)
    order = np.argsort(images, kind="stable")
    forms, counts, images = forms[order], counts[order], images[order]
    firsts = np.searchsorted(images, np.arange(number))
    # What each question's change is, summed over its forms, where one of these is the clean one: (q, 1 + k, 2) in rows.
    changed = forms.sum(axis=1)[:, None] - (1 + counts)[:, None, None] * forms
    rows, offsets = changed.reshape(-1, 2), np.arange(len(forms)) * forms.shape[1]

    def changes(chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(r, 2) mean changes where form ``chosen`` (r, q) is the clean one, and the same over their standard error."""
        questions = rows.take(offsets + chosen, axis=0)
        sums = np.add.reduceat(questions, firsts, axis=1)
        # The same sums in the same order as .sum(axis=1) has them; five times as fast where the last axis is short.
        means = np.einsum("rik->rk", sums) / weights.sum()
        away = sums - means[:, None] * weights[:, None]
        errors = np.sqrt(np.einsum("rik,rik->rk", away, away) * number / (number - 1)) / weights.sum()
        means[np.abs(means) < _SAME] = 0
        with np.errstate(divide="ignore", invalid="ignore"):
            studentised = np.where(errors > _SAME, means / errors, np.where(means == 0, 0, np.sign(means) * np.inf))
        return means, studentised

    _, ratio = changes(np.zeros((1, len(forms)), dtype=np.intp))
    drawn = []
    step = max(1, _CHUNK // (2 * len(forms)))
    for start in range(0, exchanges, step):
        uniform = rng.random((min(step, exchanges - start), number))
        exchanged = changes((uniform[:, images] * (1 + counts)).astype(np.intp))
        drawn.append(exchanged)
    means, ratios = (np.concatenate(parts) for parts in zip(*drawn, strict=True))

    def exceeding_share(of_exchanges: np.ndarray, of_data: float) -> float:
        return float((1 + (of_exchanges >= of_data - _SAME).sum()) / (1 + exchanges))

    turned = np.array([-1, 1])
    return NoChangeTest(
        holds=float(_equation_5_holds(means[:, 0], means[:, 1]).mean()),
        p=exceeding_share((turned * ratios).min(axis=1), float((turned * ratio).min())),
        accuracy_p=exceeding_share(-ratios[:, 0], float(-ratio[0, 0])),
        shift_p=exceeding_share(ratios[:, 1], float(ratio[0, 1])),
    )


EXCHANGES_OF_MODELS = 200


@dataclass(frozen=True)
class Equation6:
    """Equation 6 over all pairs of models, accuracy and shift from the same questions, as in the paper.

    Attributes:
        models: the models with both numbers.
        pairs: pairs of models with different accuracy: of others equation 6 says nothing. fulfilled: pairs whose less
            accurate model has the higher shift (a tie in shift is not higher).
        share: fulfilled / pairs; None without pairs. spearman: of accuracy against shift; None where a number
            is the same for all models, or there are fewer than two.
    """

    models: tuple[str, ...]
    pairs: int
    fulfilled: int
    share: float | None
    spearman: float | None


@dataclass(frozen=True)
class InterModelDKE:
    """Equation 6 as in the paper, and its figures for models that are all alike.

    Attributes:
        paper: on all images, of which there are ``images``.
        alike_share, alike_spearman: means of the paper's figures if all models are alike: over exchanges of the models'
            replies, those to an image together, drawn again for each image.
        untested: why nothing is computed; "" where it is.
    """

    paper: Equation6
    images: int
    alike_share: float | None = None
    alike_spearman: float | None = None
    untested: str = ""


def equation_6(accuracy: Mapping[str, float | None], shift: Mapping[str, float | None]) -> Equation6:
    """Equation 6: accuracy of f1 < accuracy of f2 and shift of f1 > shift of f2, over the pairs of models.

    The numbers are by model, of one set of questions at one level.
    """
    models = tuple(sorted(name for name in accuracy if has_number(accuracy, name) and has_number(shift, name)))
    first, second = (np.array([numbers[name] for name in models], dtype=float) for numbers in (accuracy, shift))
    pairs, fulfilled = _count_pairs(first, second)
    correlation = float(spearman_rho(first, second))
    return Equation6(
        models=models,
        pairs=int(pairs),
        fulfilled=int(fulfilled),
        share=float(fulfilled / pairs) if pairs else None,
        spearman=None if np.isnan(correlation) else correlation,
    )


def inter_model_dkes(
    cases: Sequence[tuple[Mapping[str, VoteTable], Confidence]],
    *,
    exchanges: int = EXCHANGES_OF_MODELS,
) -> list[InterModelDKE]:
    """The inter-model effect of each of several cases: votes of models that were asked the same questions the same
    number of times, and a kind of confidence.

    Models with no question that has both numbers are left out. With one trial there is no confidence, and nothing is
    computed. Cases of as many models and images have the same exchanges. Raises UserError where the tables of a case
    hold different questions (use :func:`lmms_medtasks.statistics.votes.take_common_questions` first) or different
    numbers of trials.
    """
    results = [_paper_numbers(*case) for case in cases]
    alike = _exchange_models([sums for sums, _ in results], exchanges)
    return [
        replace(each, alike_share=share, alike_spearman=correlation)
        for (_, each), (share, correlation) in zip(results, alike, strict=True)
    ]


def _paper_numbers(tables: Mapping[str, VoteTable], kind: Confidence) -> tuple[np.ndarray, InterModelDKE]:
    """(models, images, 3) sums, and the result without what it is if the models are alike."""
    _check_comparable(tables)
    if max((table.trials for table in tables.values()), default=0) == 1:
        return np.zeros((0, 0, 3)), InterModelDKE(equation_6({}, {}), 0, untested=_ONE_TRIAL)
    groups = {name: calibration_group(tables[name], kind) for name in sorted(tables)}
    with_questions = {name: each for name, each in groups.items() if each.clusters}
    sums = sums_by_cluster(with_questions)
    accuracy, shift = _accuracy_and_shift(sums.sum(axis=1))
    paper = equation_6(*(dict(zip(with_questions, each.tolist(), strict=True)) for each in (accuracy, shift)))
    return sums, InterModelDKE(paper, sums.shape[1])


def _check_comparable(tables: Mapping[str, VoteTable]) -> None:
    trials = {name: table.trials for name, table in tables.items() if len(table)}
    if len(set(trials.values())) > 1:
        counts = ", ".join(f"{name} T = {number}" for name, number in sorted(trials.items()))
        raise UserError(
            f"These runs have different numbers of trials: {counts}. Confidence depends on T: compare runs of one T."
        )
    sets = {name: frozenset(table.ids) for name, table in tables.items()}
    if len(set(sets.values())) > 1:
        first, *others = sorted(sets)
        other = next(name for name in others if sets[name] != sets[first])
        example = min(sets[first] ^ sets[other])
        raise UserError(
            f"{first} and {other} were asked different questions ({example!r} is in one of them only). Compare models "
            "on the questions that all were asked."
        )


def _exchange_models(every: Sequence[np.ndarray], exchanges: int) -> list[tuple[float | None, float | None]]:
    """Mean share and Spearman's rho of each (models, images, 3) sums over exchanges of the models, image by image."""
    results: list[tuple[float | None, float | None]] = [(None, None)] * len(every)
    for models, images in dict.fromkeys(sums.shape[:2] for sums in every):
        if models < 2 or not images or not exchanges:
            continue
        same_shape = [index for index, sums in enumerate(every) if sums.shape[:2] == (models, images)]
        # A row an image and model: taking rows by their number is several times as fast as np.take_along_axis.
        by_image = [
            np.ascontiguousarray(every[index].swapaxes(0, 1)).reshape(images * models, -1) for index in same_shape
        ]
        totals = [np.zeros((exchanges, models, each.shape[1])) for each in by_image]
        first, rng = models * np.arange(images)[:, None], seeded_generator("exchanged models", 0)
        for exchange in range(exchanges):
            rows = rng.random((images, models)).argsort(axis=1) + first
            for image_sums, total in zip(by_image, totals, strict=True):
                total[exchange] = image_sums.take(rows, axis=0).sum(axis=0)
        for index, total in zip(same_shape, totals, strict=True):
            accuracy, shift = _accuracy_and_shift(total[(total[..., 0] > 0).all(axis=1)])
            pairs, fulfilled = _count_pairs(accuracy, shift)
            results[index] = (
                _mean_of_known(fulfilled[pairs > 0] / pairs[pairs > 0]),
                _mean_of_known(spearman_rho(accuracy, shift)),
            )
    return results


def _count_pairs(accuracy: np.ndarray, shift: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(...) pairs of (..., models) with different accuracy, and those of them that fulfil equation 6."""
    accuracies, shifts = round_ties(accuracy), round_ties(shift)
    less = accuracies[..., :, None] < accuracies[..., None, :]
    return less.sum((-2, -1)), (less & (shifts[..., :, None] > shifts[..., None, :])).sum((-2, -1))


def _accuracy_and_shift(totals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Accuracy and shift from (..., 3) sums: rows, accuracy and confidence; NaN for a model without rows."""
    with np.errstate(divide="ignore", invalid="ignore"):
        means = totals[..., 1:] / totals[..., :1]
    return means[..., 0], means[..., 1] - means[..., 0]


def _mean_of_known(numbers: np.ndarray) -> float | None:
    known = numbers[~np.isnan(numbers)]
    return float(known.mean()) if len(known) else None
