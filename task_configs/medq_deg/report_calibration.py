"""MedQ-Deg's chapter on confidence: by level, the bins, calibration errors, and equation 5.

The paper's C depends on the number of trials T, the agreement of trials does not: both are here, each beside what
calibrated replies would show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lmms_medtasks.record import FAILED, NO_ANSWER
from lmms_medtasks.report.cells import count, decimal, frame, label, p_value, points, share
from lmms_medtasks.report.charts import Chart
from lmms_medtasks.report.document import Frame
from lmms_medtasks.report.views import Column, Source, Table, View
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.statistics.calibration import calibrated_shift, chance_confidence
from lmms_medtasks.statistics.confidence import ALPHA, ERROR, LEVEL
from lmms_medtasks.statistics.intra_model import EXCHANGES
from lmms_medtasks.statistics.reliability import Binning, reliability_bins
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.task_configs.medq_deg.measures import (
    AGREEMENT,
    AGREEMENT_CHANGE,
    CALIBRATION,
    CALIBRATION_CHANGE,
    RELIABILITY,
    counted,
    dunning_kruger,
)
from lmms_medtasks.task_configs.medq_deg.task_sets import SEVERITY, counts_by_level, level_rows, levels, setup_of

_LEVELS = {f"L{level}": f"{name} (L{level})" for level, name in SEVERITY.items()}


# --- Confidence and shift ---------------------------------------------------------------------------------------------


def chance_of_confidence(rows: Samples) -> float | None:
    """Mean C that is expected if every reply is drawn among the options, of the questions that have a C."""
    table = counted(rows)
    used = (table.replies > 0) & (table.option_counts > 1)
    kinds = list(zip(table.option_counts[used].tolist(), table.replies[used].tolist(), strict=True))
    expected = {kind: chance_confidence(*kind) for kind in set(kinds)}
    return float(np.mean([expected[kind] for kind in kinds])) if kinds else None


def _calibrated(rows: Samples) -> float | None:
    return calibrated_shift(counted(rows))


SHIFT = Table(
    "calibration",
    lambda sources: f"The paper's confidence C and calibration shift, T = {setup_of(sources[0]).trials}",
    ("level",),
    level_rows(
        {
            **dict.fromkeys(("questions", "accuracy", "confidence C", "shift", "distance from 0"), CALIBRATION),
            "C by guessing": counts_by_level(chance_of_confidence),
            "shift if calibrated": counts_by_level(_calibrated),
            "shift minus L0": CALIBRATION_CHANGE,
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
        Column("shift minus L0", unit="", digits=3, signed=True),
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
SHIFT_CHART = Chart(
    "plane",
    "shift",
    "Accuracy, the paper's confidence C and calibration shift by level",
    f"Bars are {LEVEL} intervals over images. C and shift depend on T. If calibrated: the shift that calibrated "
    "replies with these votes would have; it is not 0.",
    # Beside confidence accuracy is a share too.
    replace(
        SHIFT,
        columns=tuple(
            replace(each, unit="", digits=3) if each.name == "accuracy" else each for each in SHIFT.columns_of(())
        ),
    ),
    {"Accuracy and confidence": ("accuracy", "confidence C"), "Shift": ("shift", "shift if calibrated")},
    x="level",
    heads=_LEVELS,
    joined=True,
)


# --- Reliability ------------------------------------------------------------------------------------------------------

ERRORS = Table(
    "calibration_errors",
    "Beyond the paper: agreement of trials, and what the majority's share of the votes is worth",
    ("level",),
    level_rows(
        {
            **dict.fromkeys(("agreement", "agreement less accuracy"), AGREEMENT),
            "agreement less accuracy, minus L0": AGREEMENT_CHANGE,
            **dict.fromkeys(("questions", "majority right", "ECE", "Brier", "AURC"), RELIABILITY),
        }
    ),
    (
        Column("agreement", unit="", digits=3, statistic="confidence"),
        Column("agreement less accuracy", unit="", digits=3, signed=True),
        Column("agreement less accuracy, minus L0", unit="", digits=3, signed=True),
        Column("questions", unit="n"),
        Column("majority right", statistic="correctness"),
        Column("ECE", unit="", digits=3),
        Column("Brier", unit="", digits=3, statistic="brier"),
        Column("AURC", unit="", digits=3, statistic="aurc"),
    ),
    (
        "Agreement: of the pairs of trials of a question, the share in which both gave the same option; a reply "
        "without a readable answer agrees with none. It does not depend on T, so runs of different T can be compared "
        "by it. Where options that are given with chance p are correct in a share p of the cases, replies are correct "
        "as often as two of them agree (Jiang et al., ICLR 2022): agreement less accuracy is 0. Above 0 replies agree "
        "more often than they are correct (overconfident), below 0 less often; 0 on average can hide both.",
        f"ECE over {Binning()}, closed on the right; biased upwards in small samples. Confidence is the majority's "
        "share of the votes, held against whether the majority is correct; a tie is correct with the probability of a "
        f"fair draw. AURC: area under the risk-coverage curve. In brackets: {LEVEL} interval over images.",
    ),
)


def _bins(sources: Sequence[Source]) -> Frame | None:
    """The reliability diagram's bins that have questions."""
    columns = (
        label("level"),
        decimal("above"),
        decimal("up to"),
        count("questions"),
        decimal("mean confidence"),
        decimal("share correct"),
    )
    rows = [
        (f"L{level}", each.low, each.high, each.n, each.confidence, each.correctness)
        for level in levels(sources[0])
        for each in reliability_bins(counted(sources[0].rows.where({"severity": level})), "share")
        if each.n
    ]
    return frame("reliability_bins", "Bins of the reliability diagram", columns, rows, long=True, folded=True)


def _unanimous(sources: Sequence[Source]) -> tuple[str, ...]:
    """How many answers that all trials agree on are correct, at the worst level; nothing of one trial."""
    level = levels(sources[0])[-1]
    rows = sources[0].rows.where({"severity": level}).scored("accuracy")
    votes = [set(given) for given in rows.column("trials")]
    agreed = rows.take(np.array([len(each) == 1 and not each & {*NO_ANSWER, FAILED} for each in votes], dtype=bool))
    correct = Mean().value(agreed)
    if setup_of(sources[0]).trials < 2 or correct is None:
        return ()
    said = (
        f"All trials were read and agree on {len(agreed):,} of {len(rows):,} questions at L{level} ({SEVERITY[level]}; "
        f"{100 * len(agreed) / len(rows):.1f} %). Of these answers {100 * correct:.1f} % are correct."
    )
    more = reliability_bins(counted(sources[0].rows.where({"severity": level})), "share")[-1].n - len(agreed)
    others = "requests failed and the other trials agree, or no reply could be read"
    return (f"{said} The last bin below has {more:,} more, where some {others}." if more > 0 else said,)


RELIABILITY_CHART = Chart(
    "plane",
    "reliability",
    "Reliability: share correct by confidence",
    "A point is a bin of equal width, its area the number of questions. On the dashed line confidence (the majority's "
    "share of the votes) equals the share correct; below it the model is too sure.",
    _bins,
    ("share correct",),
    x="mean confidence",
    series="level",
    size="questions",
    heads=_LEVELS,
    joined=True,
    steps=True,
    diagonal=True,
    axis=("confidence", "share correct"),
    numbers="reliability_bins",
)


# --- Equation 5 -------------------------------------------------------------------------------------------------------


def _untested(source: Source) -> str:
    """Why there is no equation 5, "" where there is."""
    both = {level: source.rows.where({"severity": level}) for level in (0, 2)}
    if not all(map(len, both.values())):
        return "The Dunning-Kruger test (equation 5) needs L0 and L2; one of them is not in this run."
    trials = sorted({max(map(len, rows.column("trials"))) for rows in both.values()})
    if len(trials) < 2:
        return ""
    said = " and ".join(f"T = {number}" for number in trials)
    return f"L0 and L2 were asked with {said}. Confidence depends on T: there is no Dunning-Kruger test (equation 5)."


def _dke(sources: Sequence[Source]) -> Frame | None:
    """Equation 5, None without L0 and L2."""
    source = sources[0]
    if _untested(source):
        return None
    found = dunning_kruger(source.rows, EXCHANGES if source.resamples else 0)
    both, null, words = source.rows.where({"severity": (0, 2)}), found.no_change, {True: "yes", False: "no"}
    columns = (
        label("compared"),
        count("questions or pairs"),
        count("images"),
        label("equation 5"),
        points("accuracy, L2 minus L0"),
        decimal("shift, L2 minus L0", signed=True),
        share("yes if nothing changes"),
        p_value("p"),
        p_value("p, accuracy falls"),
        p_value("p, shift rises"),
    )
    tested = (null.holds, null.p, null.accuracy_p, null.shift_p) if null else 4 * (None,)
    sets = (
        ("all questions of both levels", len(both), len(both.values("cluster")), found.whole, 4 * (None,)),
        ("each question with its own clean form", found.pairs, found.images, found.paired, tested),
    )
    rows = [
        (name, number, images, words.get(change.holds), change.accuracy, change.shift, *p_values)
        for name, number, images, change, p_values in sets
    ]
    notes = (
        "Equation 5, as the paper has it: accuracy falls from L0 to L2 and the shift does not. As shift is confidence "
        "less accuracy, this says that confidence falls by no more than accuracy. It is a yes or no on two noisy "
        "differences.",
        f"If nothing changes: how often equation 5 says yes in {EXCHANGES:,} exchanges of this data, each of which "
        "draws at random which of a question's forms is the clean one, for all questions on an image together.",
        "p: one-sided, of the hypothesis that replies at L0 and L2 are drawn alike, by the same exchanges; units are "
        f"images. It is {ALPHA} or less in {ERROR} of data sets in which nothing changes. The claim that both parts of "
        "equation 5 are true has the larger of the two p values of the parts. The row of all questions has no p "
        "value: the two sets are no pairs.",
        *([f"No p value: {found.untested}."] if found.untested else []),
    )
    return frame("dke", "Intra-model Dunning-Kruger effect", columns, rows, notes)


RELIABILITY_VIEW = View(
    "reliability", "Does it know when it is wrong?", (_bins,), (RELIABILITY_CHART,), paragraphs=_unanimous
)
CALIBRATION_VIEW = View(
    "calibration",
    "Confidence and calibration",
    (SHIFT, _dke, ERRORS),
    (SHIFT_CHART,),
    paragraphs=lambda sources: tuple(filter(None, [_untested(sources[0])])),
    folded=True,
)
