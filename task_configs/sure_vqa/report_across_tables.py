"""SURE-VQA, tables of several methods: baselines, differences, ranks, the paper's own tests, duels."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lmms_medtasks.report.cells import (
    NONE,
    count,
    decimal,
    frame,
    label,
    number,
    p_value,
    percent,
    points,
    probability,
    share,
)
from lmms_medtasks.report.detectable import detectable, note
from lmms_medtasks.report.document import Cell, Frame, FrameColumn, FrameRow
from lmms_medtasks.report.published import Published
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.task_configs.sure_vqa.report_across import Across, Duel
from lmms_medtasks.task_configs.sure_vqa.report_baselines import MOST_FREQUENT, NO_IMAGE, AgainstBaseline, Standing
from lmms_medtasks.task_configs.sure_vqa.report_published import score
from lmms_medtasks.task_configs.sure_vqa.report_shifts import DATASETS, FOLDER, SHIFTS, SIDE_NAMES
from lmms_medtasks.task_configs.sure_vqa.resampled_tests import PAPER_ALPHA, RESAMPLES

_NO_RANK = "¤"
_RULE = (
    "Rule: on the i.i.d. test a method must be better than its own run without the image, and than the most frequent "
    "answers of the training set, or it gets no robustness rank: who guesses has nothing to lose out of distribution, "
    "and an RR near 1."
)
_PAIRED = (
    "Test: the two methods are equally robust (two-sided). Their answers are swapped image by image, with all "
    "questions of both tests, and the difference over its standard error is compared with those of all swaps, or of "
    "9,999 drawn ones. Unit of independence: the image."
)


def baselines(found: Across) -> Frame | None:
    """Each method against its baselines on the i.i.d. test, a row a condition and method."""
    rows = []
    for (condition, name), each in found.standings.items():
        cells = (condition.label, name, *_against(each.no_image), *_against(each.most_frequent))
        rows.append((*cells, probability(each.adjusted), verdict(each)))
    columns = (
        label("shift and questions"),
        label("method"),
        *(
            column
            for baseline in (NO_IMAGE, MOST_FREQUENT)
            for column in (
                count(f"n, {baseline}"),
                score(f"method, {baseline}"),
                score(baseline),
                p_value(f"p, {baseline}"),
            )
        ),
        p_value("adjusted p"),
        label("rank"),
    )
    notes = (
        _RULE,
        "Means over the i.i.d. questions that both have a score for; of the most frequent answers over those that they "
        "answer. Test: no better than the baseline (one-sided sign-flip test). Unit of independence: the image. "
        "Adjusted: the larger of the two p values, corrected with Holm over all rows of this table.",
    )
    return frame("baselines", "Methods against their baselines, i.i.d. test", columns, rows, notes)


def _against(found: AgainstBaseline | None) -> tuple[Cell, ...]:
    if found is None:
        return (NONE,) * 4
    return Cell(found.n), Cell(found.method), Cell(found.baseline), probability(found.p)


def verdict(standing: Standing) -> str:
    """Whether a rank is given, and why not."""
    if standing.lacking:
        return f"none: baseline not run ({', '.join(standing.lacking)})"
    if standing.adjusted is None:
        return "none: no question in common with a baseline"
    silent = f"; {MOST_FREQUENT} answers nothing" if standing.silent else ""
    return ("given" if standing.better else "none: not better than its baselines") + silent


def ranks(found: Across) -> Frame:
    """RR of each method on common questions and its rank, a row a condition."""
    rows = []
    for condition, each in found.compared.items():
        cells = [Cell(condition.label), Cell(each.questions)]
        for name in found.methods:
            own = found.ranks.get(condition, {}).get(name)
            cells += [Cell(each.rr[name]), Cell(own.rank, own.low, own.high) if own else NONE]
        rows.append(FrameRow(tuple(cells)))
    columns = [label("shift and questions"), count("questions")]
    for name in found.methods:
        columns += [score(f"{name} RR"), FrameColumn(f"{name} rank", digits=1)]
    notes = (
        "RR on the questions that every method has a score for, of several seeds the mean. Rank 1 is the highest RR; "
        "tied methods share their mean rank. In brackets: the ranks that the paired tests of the differences leave "
        f"open; all of them hold together with {LEVEL}.",
        "No rank (–): not better than its baselines, a baseline not run, or no other method to be ranked with.",
    )
    return Frame("ranks", "Ranks by relative robustness", tuple(columns), tuple(rows), notes)


def differences(found: Across) -> Frame:
    """Paired differences of RR with their intervals and tests."""
    adjusted = {(each.condition, each.first, each.second): each.adjusted for each in found.tests}
    rows = []
    for condition, each in found.compared.items():
        for (first, second), interval in each.differences.items():
            swap = each.swaps.get((first, second))
            names = (Cell(name, mark="" if found.standings[condition, name].better else _NO_RANK)
                     for name in (first, second))  # fmt: skip
            cells = (Cell(condition.label), *names, number(interval),
                     Cell(swap.images) if swap else NONE, Cell(swap.differing) if swap else NONE,
                     probability(swap.p if swap else None),
                     probability(adjusted.get((condition, first, second))))  # fmt: skip
            rows.append(FrameRow(cells))
    columns = (
        label("shift and questions"),
        label("first"),
        label("second"),
        score("RR first - second", signed=True),
        count("images"),
        count("images that differ"),
        p_value("p"),
        p_value("adjusted p"),
    )
    notes = (
        f"In brackets: {LEVEL} interval over images, of a difference on the same images; not corrected for the number "
        "of pairs.",
        f"{_PAIRED} Adjusted: Holm over all rows of this table. Images that differ: those on which the two methods' "
        "scores are not the same; p is 1 where there are none.",
        "Of several seeds each question's mean score: neither interval nor test knows what other seeds would change.",
    )
    marks = {_NO_RANK: "Not better than its baselines here, or a baseline was not run: its RR may be that of guessing."}
    intervals = [each for compared in found.compared.values() for each in compared.differences.values()]
    said = note(detectable(intervals), factor=1, unit="of RR", digits=3, largest=math.inf)
    title = "Differences in relative robustness"
    return Frame("differences", title, columns, tuple(rows), (*notes, said) if said else notes, marks=marks)


def welch(found: Across) -> Frame:
    """The win/loss matrix as the paper makes it."""
    notes = (
        f"As in Figure 19: Welch's t-test of equal mean RR over {RESAMPLES} resamples of the tests (a seed), "
        f"two-sided, p < {PAPER_ALPHA:g} after Holm's correction over all pairs and conditions (the paper does not "
        "name its correction).",
        "It takes resamples as independent observations, which they are not: it calls most pairs of methods different "
        "that are alike, and with more resamples every pair. It is here to stand beside the paper's figure; no "
        "conclusion can be based on it. The table of differences has the test of the data.",
    )
    title = "The paper's win/loss matrix (Welch's test of resamples)"
    matrix, rows = found.welch_wins, []
    for row, name in enumerate(matrix.methods):
        cells = [Cell(None) if row == column else Cell(int(wins)) for column, wins in enumerate(matrix.wins[row])]
        others = (int(matrix.wins[row].sum()), int(matrix.wins[:, row].sum()), int(matrix.comparisons[row].sum()))
        rows.append(FrameRow((Cell(name), *cells, *map(Cell, others))))
    columns = (
        label("outperforms"),
        *map(count, matrix.methods),
        count("wins"),
        count("losses"),
        count("comparisons"),
    )
    return Frame("win_loss_welch", title, columns, tuple(rows), notes)


def depends(found: Across) -> Frame:
    """Analyses of variance and spreads by dataset, with Table 20's rows."""
    rows = []
    for each in found.depends:
        shifts, methods = each.between_shifts, each.between_methods
        spreads = (Cell(each.spread.conditions), Cell(each.spread.methods))
        rows.append(
            FrameRow(
                (
                    Cell(DATASETS.get(each.dataset, each.dataset)),
                    Cell(", ".join(each.methods)),
                    Cell(each.conditions),
                    Cell(shifts.f),
                    probability(shifts.p),
                    Cell(methods.f),
                    probability(methods.p),
                    *spreads,
                )
            )
        )
    for published in Published(FOLDER, {"source": "Table 20"}).rows():
        head = [published.cell(name) for name in ("dataset", "model")]
        conditions = Cell(2 * next(len(SHIFTS[key]) for key, name in DATASETS.items() if name == head[0].value))
        numbers = (published.cell("f"), probability(*published.values("p")))
        rows.append(FrameRow((*head, conditions, *numbers, NONE, NONE, NONE, NONE), "reference"))
    columns = (
        label("dataset"),
        label("methods"),
        count("conditions"),
        score("F between shifts"),
        p_value("p"),
        score("F between methods"),
        p_value("p (methods)"),
        decimal("SD between shifts"),
        decimal("SD between methods"),
    )
    notes = (
        "As the paper does it: one-way analysis of variance of RR, a value a condition and method; a condition is a "
        "shift's closed or open questions, as the numbers of Table 20 show, so F holds also what sets the two kinds "
        "apart. Hypotheses: all conditions have the same mean RR; all methods have. All methods are in it, with or "
        "without a rank. p is not corrected.",
        "It takes the values as independent, which they are not: all methods answer the same questions about the same "
        "images. SD: between the means over methods, and between those over conditions. Empty with fewer than two "
        "conditions or methods.",
    )
    return Frame("depends", "Shifts against methods (Table 20)", columns, tuple(rows), notes)


def duels(found: Sequence[Duel], key: str, title: str) -> Frame:
    """Wins, ties and losses, a row a pair, condition and test."""
    rows = []
    for each in found:
        result = each.versus
        head = (Cell(each.first), Cell(each.second), Cell(each.condition.label), Cell(SIDE_NAMES[each.side]))
        shares = map(percent, (result.win, result.tie, result.loss, result.net))
        tested = map(probability, (result.p, each.adjusted))
        apart = (result.unscored, result.only_first + result.only_second)
        rows.append(FrameRow((*head, Cell(result.n), Cell(result.net.clusters), *shares, *tested, *map(Cell, apart))))
    columns = (
        label("first"),
        label("second"),
        label("shift and questions"),
        label("test"),
        count("questions"),
        count("images"),
        share("first wins"),
        share("tie"),
        share("first loses"),
        points("wins - losses"),
        p_value("p"),
        p_value("adjusted p"),
        count("without a score"),
        count("asked of one only"),
    )
    notes = (
        f"Question by question: who has the higher score. In brackets: {LEVEL} interval over images. Runs of several "
        "seeds are paired seed by seed.",
        "Test: as many wins as losses (two-sided sign-flip test, exact up to 2,000 images). Unit of independence: the "
        "image, whose questions and seeds keep together. Adjusted: Holm over all rows of this table.",
        "Without a score: what one of the two has no score for. Where no judge scored any open answer, those that a "
        "rule settled (an exact match) are among them: alone they are not the model's.",
    )
    said = note(detectable([each.versus.net for each in found]))
    return Frame(key, title, columns, tuple(rows), (*notes, said) if said else notes)
