"""A run's tables of calibration: by level, by degradation, the bins, the risk-coverage curves, and equation 5."""

from __future__ import annotations

from lmms_medtasks.report.cells import NONE, count, decimal, label, number, percent, percent_of, points, share
from lmms_medtasks.report.document import Cell, Row, Table
from lmms_medtasks.report.medq_deg.analysis import Analysis, LevelCalibration
from lmms_medtasks.statistics.calibration import Evidence

_SUPPORT = 0.95
_KINDS = {"share": "majority share", "entropy": "C"}


def shift(analysis: Analysis) -> Table:
    """Confidence, calibration shift (equation 4) and their changes from L0."""
    rows = []
    for level, found in analysis.calibration.items():
        counts, change = found.counts, found.change
        rows.append(
            Row(
                (
                    Cell(f"L{level}"),
                    Cell(counts.n),
                    percent(found.intervals.accuracy),
                    number(found.intervals.confidence),
                    Cell(found.chance.confidence if found.chance else None),
                    number(found.intervals.shift),
                    Cell(found.chance.shift if found.chance else None),
                    number(change.shift) if change else NONE,
                    Cell(counts.no_reply + counts.single_option),
                    Cell(counts.no_answer),
                )
            )
        )
    columns = (
        label("level"),
        count("questions"),
        share("accuracy"),
        decimal("confidence C"),
        decimal("C by guessing"),
        decimal("shift", signed=True),
        decimal("shift by guessing", signed=True),
        decimal("shift minus L0", signed=True),
        count("without C"),
        count("mostly unreadable"),
    )
    notes = (
        "C = 1 - H / log K from the votes (equation 3); unreadable replies are one more outcome in H, C is 0 at least. "
        "Shift is mean C less accuracy (equation 4): above 0 is overconfidence.",
        "C by guessing: mean C expected if every reply were drawn by chance among the options, with this T. It is "
        "above 0 because few votes cannot spread evenly. Shift by guessing: this less the mean of 1/K, the accuracy "
        "of guessing.",
        "Without C: no reply, or one option only. Mostly unreadable: questions whose most common outcome is no answer.",
    )
    return Table("calibration", "Confidence and calibration shift", columns, tuple(rows), notes)


def errors(analysis: Analysis) -> Table:
    """ECE, Brier scores and AURC by level, for both kinds of confidence."""
    rows = []
    for level, found in analysis.calibration.items():
        for each in (found.share, found.entropy):
            cells = (each.ece, each.brier, each.multiclass_brier, each.aurc)
            head = (Cell(f"L{level}"), Cell(_KINDS[each.kind]), Cell(each.ece.n), percent(each.correctness))
            rows.append(Row((*head, *map(number, cells), Cell(each.tied))))
    columns = (
        label("level"),
        label("confidence"),
        count("questions"),
        share("majority right"),
        decimal("ECE"),
        decimal("Brier"),
        decimal("Brier, multi-class"),
        decimal("AURC"),
        count("tied"),
    )
    binning = next(iter(analysis.calibration.values())).share.binning
    notes = (
        f"Beyond the paper. ECE over {binning}, closed on the right. Confidence is held against whether the majority "
        "vote is right; a tie is right with the probability of a fair draw. C is no probability: its ECE says how far "
        "it is from one. AURC: area under the risk-coverage curve.",
        "ECE is biased upwards in small samples. In brackets: 95 % interval by bootstrap over images.",
    )
    return Table("calibration_errors", "Calibration error, Brier score, risk and coverage", columns, tuple(rows), notes)


def dke(analysis: Analysis) -> Table | None:
    """Equation 5, None without L0 and L2."""
    found = analysis.dke
    if found is None:
        return None
    rows = (
        _evidence(
            "all questions of both levels", analysis.levels[0].questions + analysis.levels[2].questions, found.whole
        ),
        _evidence("each question with its own clean form", found.pairs, found.paired),
    )
    columns = (
        label("compared"),
        count("questions or pairs"),
        label("effect"),
        share("probability"),
        points("accuracy, L2 minus L0"),
        decimal("shift, L2 minus L0", signed=True),
    )
    notes = (
        "Intra-model Dunning-Kruger effect (equation 5): accuracy falls from L0 to L2 and the shift does not. As shift "
        "is confidence less accuracy, this says that confidence falls by no more than accuracy.",
        "Probability: share of the resamples of images in which it holds. It supports the yes or no and is no p-value: "
        "two conditions must hold at once, and of simulated models that do not change at all it was 25 to 36 % on "
        "average, with the middle half of the data sets from 6 to 57 %. An answer that fewer than 95 % of them give "
        "has their share beside it: it is not distinguishable from the other.",
    )
    return Table("dke", "Intra-model Dunning-Kruger effect", columns, rows, notes)


def _evidence(name: str, number_of: int, found: Evidence) -> Row:
    head = (Cell(name), Cell(number_of), Cell(_holds(found)))
    return Row((*head, percent_of(found.probability), percent(found.accuracy), number(found.shift)))


def _holds(found: Evidence) -> str | None:
    """Never a bare yes or no without the resamples' support."""
    if found.holds is None:
        return None
    answer, share = "yes" if found.holds else "no", found.probability
    if share is None:
        return f"{answer}, without resamples to support it"
    if (share if found.holds else 1 - share) >= _SUPPORT:
        return answer
    said = f"{100 * share:.0f} % of resamples"
    return f"yes ({said})" if found.holds else f"no (but yes in {said})"


def by_degradation(analysis: Analysis) -> Table:
    """Calibration of each degradation at each level."""
    rows = [
        Row(
            (
                Cell(degradation or None),
                Cell(f"L{level}"),
                Cell(found.intervals.shift.n),
                percent(found.intervals.accuracy),
                number(found.intervals.confidence),
                number(found.intervals.shift),
                number(found.share.ece),
                number(found.share.brier),
            )
        )
        for (level, degradation), found in sorted(
            analysis.degradation_calibration.items(), key=lambda item: (item[0][1], item[0][0])
        )
    ]
    columns = (
        label("degradation"),
        label("level"),
        count("questions"),
        share("accuracy"),
        decimal("confidence C"),
        decimal("shift", signed=True),
        decimal("ECE"),
        decimal("Brier"),
    )
    notes = ("ECE and Brier score are of the majority share; with few questions ECE is biased upwards.",)
    title = "Calibration by degradation"
    return Table("calibration_degradations", title, columns, tuple(rows), notes, long=True, folded=True)


def bins(analysis: Analysis) -> Table:
    """The reliability diagrams' bins, empty ones included."""
    rows = [
        Row(
            (
                Cell(f"L{level}"),
                Cell(_KINDS[kind.kind]),
                Cell(each.low),
                Cell(each.high),
                Cell(each.n),
                Cell(each.confidence),
                Cell(each.correctness),
            )
        )
        for level, found in analysis.calibration.items()
        for kind in (found.share, found.entropy)
        for each in kind.bins
    ]
    columns = (
        label("level"),
        label("confidence"),
        decimal("above"),
        decimal("up to"),
        count("questions"),
        decimal("mean confidence"),
        decimal("share right"),
    )
    return Table("reliability_bins", "Bins of the reliability diagrams", columns, tuple(rows), long=True, folded=True)


def coverage(analysis: Analysis) -> Table:
    """The risk-coverage curves' points, after each distinct confidence."""
    rows = [
        Row(
            (
                Cell(f"L{level}"),
                Cell(point.confidence),
                Cell(point.n),
                percent_of(point.coverage),
                percent_of(point.risk),
            )
        )
        for level, found in _levels(analysis)
        for point in found.share.curve
    ]
    columns = (label("level"), decimal("confidence at least"), count("questions"), share("coverage"), share("risk"))
    notes = ("Risk: error rate of the majority vote among the questions covered, the most confident first.",)
    title = "Risk against coverage (majority share)"
    return Table("risk_coverage", title, columns, tuple(rows), notes, long=True, folded=True)


def _levels(analysis: Analysis) -> list[tuple[int, LevelCalibration]]:
    return list(analysis.calibration.items())
