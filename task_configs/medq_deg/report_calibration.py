"""MedQ-Deg's chapter on confidence: by level, by degradation, the bins, the risk-coverage curves, and equation 5.

The paper's C depends on the number of trials T, the agreement of trials does not: both are here, each beside what
calibrated replies and guessing would show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from lmms_medtasks.record import FAILED, NO_ANSWER
from lmms_medtasks.report import document
from lmms_medtasks.report.cells import NONE, number, percent, percent_of
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.views import Column, Row, Source, Table, View
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.short_texts import interval_text, listed
from lmms_medtasks.statistics.calibration import (
    Confidence,
    agreements,
    calibrated_shift,
    calibration,
    chance_confidence,
)
from lmms_medtasks.statistics.confidence import ALPHA, ERROR, LEVEL
from lmms_medtasks.statistics.intra_model import EXCHANGES, Change, IntraModelDKE
from lmms_medtasks.statistics.reliability import Binning, Kind, Reliability, reliability
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.task_configs.medq_deg.measures import (
    AGREEMENT,
    AGREEMENT_CHANGE,
    CALIBRATION,
    CALIBRATION_CHANGE,
    CALIBRATION_OF_GROUP,
    DEGRADED,
    KINDS,
    RELIABILITY,
    RELIABILITY_OF_GROUP,
    counted,
    dunning_kruger,
)
from lmms_medtasks.task_configs.medq_deg.report_calibration_charts import coverage_chart, reliability_chart, shift_chart
from lmms_medtasks.task_configs.medq_deg.task_sets import counts_by_level, level_rows, levels, setup_of

_UNDER = {0: "on clean images", 1: "under mild degradation (L1)", 2: "under severe degradation (L2)"}
CONFIDENCES: dict[Confidence, str] = {"entropy": "C (the paper's)", "agreement": "agreement of trials"}


# --- Confidence and shift ---------------------------------------------------------------------------------------------


def _chance(rows: Samples) -> tuple[float, float] | None:
    """Mean C and calibration shift that are expected if every reply is drawn among the options, with these K and T.

    Over the questions that have a C; None if there is none.
    """
    table = counted(rows)
    used = (table.replies > 0) & (table.option_counts > 1)
    kinds = Counter(zip(table.option_counts[used].tolist(), table.replies[used].tolist(), strict=True))
    if not kinds:
        return None
    expected = [chance_confidence(options, replies) for options, replies in kinds]
    weights = list(kinds.values())
    confidence = float(np.average(expected, weights=weights))
    return confidence, confidence - float(np.average([1 / options for options, _ in kinds], weights=weights))


def chance_of_confidence(rows: Samples) -> float | None:
    """Mean C of a model that guesses."""
    found = _chance(rows)
    return found[0] if found else None


def chance_of_shift(rows: Samples) -> float | None:
    """Calibration shift of a model that guesses."""
    found = _chance(rows)
    return found[1] if found else None


def _without_confidence(rows: Samples) -> int:
    found = calibration(counted(rows))
    return found.no_reply + found.single_option


def _mostly_without_answer(rows: Samples) -> int:
    return calibration(counted(rows)).no_answer


def _calibrated(rows: Samples) -> float | None:
    return calibrated_shift(counted(rows))


def chance_of_agreement(rows: Samples) -> float | None:
    """Expected agreement of a guesser, and its expected accuracy: the mean of 1/K over the questions with a pair."""
    table = counted(rows)
    options = table.option_counts[~np.isnan(agreements(table))]
    return float((1 / options).mean()) if len(options) else None


def _without_pair(rows: Samples) -> int:
    return int(np.isnan(agreements(counted(rows))).sum())


SHIFT = Table(
    "calibration",
    lambda sources: f"The paper's confidence C and calibration shift, T = {setup_of(sources[0]).trials}",
    ("level",),
    level_rows(
        {
            **dict.fromkeys(("questions", "accuracy", "confidence C", "shift", "distance from 0"), CALIBRATION),
            "C by guessing": counts_by_level(chance_of_confidence),
            "shift if calibrated": counts_by_level(_calibrated),
            "shift by guessing": counts_by_level(chance_of_shift),
            "shift minus L0": CALIBRATION_CHANGE,
            "without C": counts_by_level(_without_confidence),
            "mostly without an answer": counts_by_level(_mostly_without_answer),
        }
    ),
    (
        Column("questions", unit="n"),
        Column("accuracy", statistic="accuracy"),
        Column("confidence C", unit="", digits=3, statistic="confidence"),
        Column("C by guessing", unit="", digits=3),
        Column("shift", unit="", digits=3, signed=True),
        Column("distance from 0", unit="", digits=3, statistic="size"),
        Column("shift if calibrated", unit="", digits=3, signed=True),
        Column("shift by guessing", unit="", digits=3, signed=True),
        Column("shift minus L0", unit="", digits=3, signed=True),
        Column("without C", unit="count"),
        Column("mostly without an answer", unit="count"),
    ),
    (
        "C = 1 - H / log K from the votes (equation 3); replies without an answer are one more outcome in H, C is 0 at "
        "least. Shift is mean C less accuracy (equation 4). The paper reads a shift above 0 as overconfidence. But C "
        "depends on T, and a shift of 0 is not calibrated: compare with the two references, and only runs of the same "
        "T.",
        "Shift if calibrated: mean C less the mean agreement of trials (next table). It is what this model would show "
        "with the same replies if, of the options that it gives with chance p, a share p were correct.",
        "C by guessing: mean C expected if every reply were drawn by chance among the options, with this T. It is "
        "above 0 because few votes cannot spread evenly. Shift by guessing: this less the mean of 1/K, the accuracy "
        "of guessing.",
        "Without C: no reply, or one option only. Mostly without an answer: questions whose most common outcome is an "
        "empty reply or one that could not be read.",
    ),
)

AGREEMENTS = Table(
    "agreement",
    "Agreement of trials: a confidence that does not depend on T",
    ("level",),
    level_rows(
        {
            **dict.fromkeys(("questions", "agreement", "if calibrated", "agreement less accuracy"), AGREEMENT),
            "by guessing": counts_by_level(chance_of_agreement),
            "minus L0": AGREEMENT_CHANGE,
            "without a pair": counts_by_level(_without_pair),
        }
    ),
    (
        Column("questions", unit="n"),
        Column("agreement", unit="", digits=3, statistic="confidence"),
        Column("if calibrated", unit="", digits=3, statistic="accuracy"),
        Column("by guessing", unit="", digits=3),
        Column("agreement less accuracy", unit="", digits=3, signed=True),
        Column("minus L0", unit="", digits=3, signed=True),
        Column("without a pair", unit="count"),
    ),
    (
        "Beyond the paper. Agreement: of the pairs of trials of a question, the share in which both gave the same "
        "option; a reply without a readable answer agrees with none. It estimates the probability that two replies "
        "agree without bias, whatever T, so runs of different T can be compared by it.",
        "If calibrated: the accuracy on the same questions. Where options that are given with chance p are "
        "correct in a "
        "share p of the cases, replies are correct as often as two of them agree (Jiang et al., ICLR 2022). A guesser "
        "among K options has 1/K in both, so its difference is 0.",
        "Agreement less accuracy: above 0 replies agree more often than they are correct (overconfident), below 0 less "
        f"often. 0 on average can hide both. In brackets: {LEVEL} interval over images. Minus L0: all questions of "
        "both levels.",
        "Without a pair: fewer than two replies, or one option only.",
    ),
)


# --- Calibration error ------------------------------------------------------------------------------------------------


def _error_rows(sources: Sequence[Source]) -> list[Row]:
    def row(level: int, kind: Kind) -> Row:
        estimates = dict.fromkeys(
            ("questions", "majority right", "ECE", "Brier", "Brier, multi-class", "AURC"), RELIABILITY[kind, level]
        )

        def tied(source: Source, row: Row, rows: Samples) -> Cell:
            return Cell(reliability_of(source, level, kind).tied)

        return Row((f"L{level}", TITLES[kind]), estimates={**estimates, "tied": tied})

    return [row(level, kind) for level in levels(sources[0]) for kind in KINDS]


ERRORS = Table(
    "calibration_errors",
    "Calibration error, Brier score, risk and coverage",
    ("level", "confidence"),
    _error_rows,
    (
        Column("questions", unit="n"),
        Column("majority right", statistic="correctness"),
        Column("ECE", unit="", digits=3),
        Column("Brier", unit="", digits=3, statistic="brier"),
        Column("Brier, multi-class", unit="", digits=3, statistic="multiclass_brier"),
        Column("AURC", unit="", digits=3, statistic="aurc"),
        Column("tied", unit="count"),
    ),
    (
        f"Beyond the paper. ECE over {Binning()}, closed on the right. Confidence is held against whether the majority "
        "vote is correct; a tie is correct with the probability of a fair draw. C is no probability: its ECE "
        "says how far "
        "it is from one. AURC: area under the risk-coverage curve.",
        f"ECE is biased upwards in small samples. In brackets: {LEVEL} interval over images.",
    ),
)


def _degradation_rows(sources: Sequence[Source]) -> list[Row]:
    tags = ("degradation", "severity")
    groups = sources[0].rows.where(DEGRADED).by(tags, key=lambda values: (values[0] or "", values[1]))
    return [Row((values[0], f"L{values[1]}"), dict(zip(tags, values, strict=True))) for values in groups]


BY_DEGRADATION = Table(
    "calibration_degradations",
    "Calibration by degradation",
    ("degradation", "level"),
    _degradation_rows,
    (
        Column("questions", CALIBRATION_OF_GROUP, "n"),
        Column("accuracy", CALIBRATION_OF_GROUP, statistic="accuracy"),
        Column("confidence C", CALIBRATION_OF_GROUP, "", 3, statistic="confidence"),
        Column("shift", CALIBRATION_OF_GROUP, "", 3, signed=True),
        Column("ECE", RELIABILITY_OF_GROUP, "", 3),
        Column("Brier", RELIABILITY_OF_GROUP, "", 3, statistic="brier"),
    ),
    ("ECE and Brier score are of the majority share; with few questions ECE is biased upwards.",),
    long=True,
    folded=True,
)


TITLES: dict[Kind, str] = {"share": "majority share", "entropy": "C"}


def reliability_of(source: Source, level: int, kind: Kind) -> Reliability:
    """Bins, curve and ties of a level; its intervals are those of the measure of its errors."""

    def made(rows: Samples) -> Reliability:
        return reliability(counted(rows.where({"severity": level})), kind)

    return source.once((reliability_of, level, kind), made)


def _bins(sources: Sequence[Source]) -> document.Frame:
    """The reliability diagrams' bins, empty ones included."""
    rows = []
    for level in levels(sources[0]):
        for kind in KINDS:
            for each in reliability_of(sources[0], level, kind).bins:
                values = (f"L{level}", TITLES[kind], each.low, each.high, each.n, each.confidence, each.correctness)
                rows.append(document.FrameRow(tuple(map(Cell, values))))
    columns = (
        document.FrameColumn("level", "text"),
        document.FrameColumn("confidence", "text"),
        document.FrameColumn("above", digits=3),
        document.FrameColumn("up to", digits=3),
        document.FrameColumn("questions"),
        document.FrameColumn("mean confidence", digits=3),
        document.FrameColumn("share correct", digits=3),
    )
    title = "Bins of the reliability diagrams"
    return document.Frame("reliability_bins", title, columns, tuple(rows), long=True, folded=True)


def _coverage(sources: Sequence[Source]) -> document.Frame:
    """The risk-coverage curves' points, after each distinct confidence."""
    rows = []
    for level in levels(sources[0]):
        for each in reliability_of(sources[0], level, "share").curve:
            shares = percent_of(each.coverage), percent_of(each.risk)
            rows.append(document.FrameRow((Cell(f"L{level}"), Cell(each.confidence), Cell(each.n), *shares)))
    columns = (
        document.FrameColumn("level", "text"),
        document.FrameColumn("confidence at least", digits=3),
        document.FrameColumn("questions"),
        document.FrameColumn("coverage", digits=1, unit="%"),
        document.FrameColumn("risk", digits=1, unit="%"),
    )
    notes = ("Risk: error rate of the majority vote among the questions covered, the most confident first.",)
    title = "Risk against coverage (majority share)"
    return document.Frame("risk_coverage", title, columns, tuple(rows), notes, long=True, folded=True)


# --- Equation 5 -------------------------------------------------------------------------------------------------------


def _has_dunning_kruger(source: Source) -> bool:
    return {0, 2} <= set(levels(source)) and len(_trials_of_levels(source)) == 1


def _trials_of_levels(source: Source) -> set[int]:
    """The numbers of trials T of L0 and L2."""
    rows = (source.rows.where({"severity": level}) for level in (0, 2))
    return {max(map(len, each.column("trials"))) for each in rows if len(each)}


def _dke(sources: Sequence[Source]) -> document.Frame | None:
    """Equation 5, None without L0 and L2."""
    source = sources[0]
    if not _has_dunning_kruger(source):
        return None
    exchanges = EXCHANGES if source.resamples else 0
    found = {kind: dunning_kruger(source.rows, exchanges, kind) for kind in CONFIDENCES}
    questions = len(source.rows.where({"severity": (0, 2)}))
    images = len(set(source.rows.where({"severity": (0, 2)}).column("cluster")))
    whole = ("all questions of both levels", questions, images)
    rows = [_evidence(*whole, CONFIDENCES["entropy"], found["entropy"].whole, None)]
    for kind, name in CONFIDENCES.items():
        own = found[kind]
        rows.append(_evidence("each question with its own clean form", own.pairs, own.images, name, own.paired, own))
    columns = (
        document.FrameColumn("compared", "text"),
        document.FrameColumn("confidence", "text"),
        document.FrameColumn("questions or pairs"),
        document.FrameColumn("images"),
        document.FrameColumn("equation 5", "text"),
        document.FrameColumn("yes if nothing changes", digits=1, unit="%"),
        document.FrameColumn("p", digits=4),
        document.FrameColumn("accuracy, L2 minus L0", digits=1, signed=True, unit="points"),
        document.FrameColumn("accuracy if nothing changes", digits=1, signed=True, unit="points"),
        document.FrameColumn("p, accuracy falls", digits=4),
        document.FrameColumn("shift, L2 minus L0", digits=3, signed=True),
        document.FrameColumn("shift if nothing changes", digits=3, signed=True),
        document.FrameColumn("p, shift rises", digits=4),
    )
    untested = dict.fromkeys(own.untested for own in found.values() if own.untested)
    notes = (
        "Equation 5, as the paper has it: accuracy falls from L0 to L2 and the shift does not. As shift is confidence "
        "less accuracy, this says that confidence falls by no more than accuracy. It is a yes or no on two noisy "
        "differences.",
        "If nothing changes: what would be seen if replies at L0 and L2 were drawn alike, computed on this data. In "
        f"each of {EXCHANGES:,} exchanges it is drawn at random which of a question's forms is the clean one, for all "
        f"questions on an image together. Given are how often equation 5 then says yes, and between what values "
        f"{LEVEL} of the changes lie.",
        "p: one-sided, of the hypothesis that replies at L0 and L2 are drawn alike, by the same exchanges; units are "
        f"images. It is {ALPHA} or less in {ERROR} of data sets in which nothing changes. The claim that both parts of "
        "equation 5 are true has the larger of the two p values of the parts. No correction for several rows: they are "
        "of the same replies.",
        "The row of all questions has no p value: the two sets are no pairs.",
        *(f"No p value: {said}." for said in untested),
    )
    return document.Frame("dke", "Intra-model Dunning-Kruger effect", columns, tuple(rows), notes)


def _evidence(
    compared: str, number_of: int, images: int, confidence: str, found: Change, tested: IntraModelDKE | None
) -> document.FrameRow:
    null = tested.no_change if tested else None
    holds = None if found.holds is None else "yes" if found.holds else "no"
    head = (Cell(compared), Cell(confidence), Cell(number_of), Cell(images), Cell(holds))
    cells = (
        percent_of(null.holds if null else None),
        Cell(null.p if null else None),
        percent(found.accuracy),
        Cell(0.0, 100 * null.accuracy[0], 100 * null.accuracy[1]) if null else NONE,
        Cell(null.accuracy_p if null else None),
        number(found.shift),
        Cell(0.0, null.shift[0], null.shift[1]) if null else NONE,
        Cell(null.shift_p if null else None),
    )
    return document.FrameRow((*head, *cells))


# --- The section ------------------------------------------------------------------------------------------------------


def _missing(sources: Sequence[Source]) -> tuple[str, ...]:
    if _has_dunning_kruger(sources[0]):
        return ()
    trials = sorted(_trials_of_levels(sources[0]))
    if len(trials) > 1:
        return (
            f"L0 and L2 were asked with {' and '.join(f'T = {number}' for number in trials)}. Confidence depends on T: "
            "there is no Dunning-Kruger test (equation 5).",
        )
    return ("The Dunning-Kruger test (equation 5) needs L0 and L2; one of them is not in this run.",)


def _means(sources: Sequence[Source]) -> tuple[str, ...]:
    """How far confidence is above accuracy, and what it says that all trials agree. Nothing of one trial."""
    source, trials = sources[0], setup_of(sources[0]).trials
    asked = levels(source)
    found = [(level, source.interval(CALIBRATION[level])) for level in sorted({asked[0], asked[-1]})]
    shifts = [(level, each) for level, each in found if each.estimate is not None]
    if trials < 2 or not shifts:
        return ()
    said = [f"{each.estimate:+.3f}{interval_text(each.low, each.high, 3)} {_UNDER[level]}" for level, each in shifts]
    references = [calibrated_shift(counted(source.rows.where({"severity": level}))) for level, _ in shifts]
    texts = [
        f"What it means: the model's confidence C is above its accuracy (+) or below it (-) by {listed(said)}. A "
        f"calibrated model with the same votes would show "
        f"{listed([f'{each:+.3f}' for each in references if each is not None])}."
    ]
    level = asked[-1]
    rows = source.rows.where({"severity": level}).scored("accuracy")
    votes = [set(given) for given in rows.column("trials")]
    agreed = rows.take(np.array([len(each) == 1 and not each & {*NO_ANSWER, FAILED} for each in votes], dtype=bool))
    correct = Mean().value(agreed)
    if correct is not None:
        texts.append(
            f"All trials agree on {len(agreed):,} of {len(rows):,} questions {_UNDER[level]} "
            f"({100 * len(agreed) / len(rows):.1f} %). Of these answers {100 * correct:.1f} % are correct."
        )
    return tuple(texts)


def _errors_said(sources: Sequence[Source]) -> str:
    """The calibration error of each level."""
    found = [(level, sources[0].interval(RELIABILITY["share", level])) for level in levels(sources[0])]
    said = [f"{each.estimate:.3f} (L{level})" for level, each in found if each.estimate is not None]
    return f"Expected calibration error of the majority share: {', '.join(said)}" if said else ""


RELIABILITY_VIEW = View(
    "reliability",
    "Does it know when it is wrong?",
    (_bins,),
    (reliability_chart(_bins),),
    paragraphs=_means,
)
CALIBRATION_VIEW = View(
    "calibration",
    "Confidence and calibration",
    (SHIFT, AGREEMENTS, _dke, ERRORS, BY_DEGRADATION, _coverage),
    (shift_chart(SHIFT), coverage_chart(_coverage)),
    paragraphs=_missing,
    folded=True,
    summary=_errors_said,
)
