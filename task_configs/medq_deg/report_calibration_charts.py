"""MedQ-Deg: charts of confidence: by level, reliability, and risk against coverage."""

from __future__ import annotations

from collections.abc import Sequence

from lmms_medtasks.report.charts import (
    BETWEEN,
    DISC,
    GUESS,
    RING,
    Axis,
    Chart,
    Guide,
    Panel,
    Point,
    Series,
    axis_of,
    places_axis,
    plane_chart,
)
from lmms_medtasks.report.views import Source
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.short_texts import first_listed
from lmms_medtasks.statistics.calibration import calibrated_shift
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.statistics.intervals import Interval
from lmms_medtasks.statistics.reliability import Kind, Reliability, reliability
from lmms_medtasks.task_configs.medq_deg.measures import CALIBRATION, KINDS, counted
from lmms_medtasks.task_configs.medq_deg.task_sets import SEVERITY, levels

TITLES: dict[Kind, str] = {"share": "majority share", "entropy": "C"}
_LOOKS = {0: RING, 1: BETWEEN, 2: DISC}
_SHARE = Axis(0.0, 1.0, (0.0, 0.25, 0.5, 0.75, 1.0))


def reliability_of(source: Source, level: int, kind: Kind) -> Reliability:
    """Bins, curve and ties of a level; its intervals are those of the measure of its errors."""

    def made(rows: Samples) -> Reliability:
        return reliability(counted(rows.where({"severity": level})), kind)

    return source.once((reliability_of, level, kind), made)


def _names(asked: Sequence[int]) -> list[str]:
    return [f"{SEVERITY[level]} (L{level})" for level in asked]


def _draw_shift(sources: Sequence[Source]) -> str:
    """Accuracy, confidence and their gap, the shift, by level, with intervals."""
    source, asked = sources[0], levels(sources[0])

    def series(statistic: str, name: str, number: int) -> Series:
        found = [source.interval(CALIBRATION[level], None, statistic) for level in asked]
        points = tuple(
            _point(place + 0.06 * number, each, f"{name}, L{level}")
            for place, (level, each) in enumerate(zip(asked, found, strict=True))
            if each.estimate is not None
        )
        return Series(name, points, (DISC, RING)[number], "joined-thin")

    accuracy, confidence = series("accuracy", "accuracy", 0), series("confidence", "confidence C", 1)
    shift = series("shift", "shift = C less accuracy", 0)
    known = [
        (place, value)
        for place, level in enumerate(asked)
        if (value := calibrated_shift(counted(source.rows.where({"severity": level})))) is not None
    ]
    if_calibrated = tuple(Point(place, value, f"shift if calibrated: {value:+.3f}", size=4) for place, value in known)
    ends = [end for each in shift.points for end in (each.y, each.low, each.high)]
    y = axis_of((0.0, *ends, *(value for _, value in known)))
    x = places_axis([SEVERITY[level] for level in asked])
    zero = Guide(x.low, 0.0, x.high, 0.0, kind="zero")
    gist = first_listed(
        [f"L{level} accuracy {one.y:.2f}, C {other.y:.2f}"
         for level, one, other in zip(asked, accuracy.points, confidence.points, strict=False)]
    )  # fmt: skip
    panels = (
        Panel(x, _SHARE, (accuracy, confidence), "Accuracy and confidence"),
        Panel(x, y, (shift, Series("shift if calibrated", if_calibrated, GUESS)), "Shift", (zero,)),
    )
    entries = ((DISC, "accuracy; shift"), (RING, "confidence C"), (GUESS, "shift if calibrated"))
    return plane_chart(f"Accuracy and confidence by level: {gist}.", panels, height=190, entries=entries)


def _point(place: float, found: Interval, said: str) -> Point:
    value = found.estimate or 0.0
    ends = "" if found.low is None or found.high is None else f" [{found.low:.3f}, {found.high:.3f}]"
    return Point(place, value, f"{said}: {value:.3f}{ends}", found.low, found.high)


def _draw_reliability(sources: Sequence[Source]) -> str:
    """Share of right majority votes against confidence, a panel a kind of confidence, a line a level."""
    asked, panels, gist = levels(sources[0]), [], []
    for kind in KINDS:
        series = []
        for level, name in zip(asked, _names(asked), strict=True):
            found = reliability_of(sources[0], level, kind)
            series.append(Series(name, _bins(found, f"{name}, {TITLES[kind]}"), _LOOKS[level], "joined-thin"))
            if found.ece.estimate is not None:
                gist.append(f"{TITLES[kind]}, L{level}: expected calibration error {found.ece.estimate:.3f}")
        x = Axis(0.0, 1.0, _SHARE.ticks, f"confidence: {TITLES[kind]}")
        panels.append(Panel(x, _SHARE, tuple(series), "Share correct", (Guide(0, 0, 1, 1),)))
    said = f"Share of correct votes against confidence. {first_listed(gist)}."
    return plane_chart(said, panels, height=250)


def _bins(found: Reliability, said: str) -> tuple[Point, ...]:
    """A point a bin with questions; its area grows with their number."""
    total = sum(each.n for each in found.bins)
    return tuple(
        Point(
            float(each.confidence or 0),
            float(each.correctness or 0),
            f"{said} {each.confidence:.2f}: {each.correctness:.2f} correct, {each.n:,} questions",
            size=round(2.5 + 7 * (each.n / total) ** 0.5, 1),
        )
        for each in found.bins
        if each.n
    )


def _draw_coverage(sources: Sequence[Source]) -> str:
    """Risk against coverage, a line a level."""
    series, gist = [], []
    for level in levels(sources[0]):
        found = reliability_of(sources[0], level, "share")
        points = tuple(
            Point(
                float(each.coverage),
                float(each.risk),
                f"L{level}: the {each.coverage:.1%} most confident ones, {each.risk:.1%} wrong",
                size=4,
            )
            for each in found.curve
        )
        area = found.aurc.estimate
        name = f"{SEVERITY[level]}" if area is None else f"{SEVERITY[level]}, AURC {area:.3f}"
        series.append(Series(name, points, _LOOKS[level], "joined-thin", True))
        gist += [f"L{level} {points[-1].y:.2f} wrong of all"] if points else []
    x = Axis(0.0, 1.0, _SHARE.ticks, "coverage, the most confident first")
    y = axis_of([0.0, *(point.y for each in series for point in each.points)])
    said = f"Error rate against coverage: {first_listed(gist)}."
    return plane_chart(said, (Panel(x, y, tuple(series), "Error rate"),), height=220)


SHIFT_CHART = Chart(
    "shift",
    "Accuracy, the paper's confidence C and calibration shift by level",
    f"Bars are {LEVEL} intervals over images. C and shift depend on T. If calibrated: the shift that calibrated "
    "replies with these votes would have; it is not 0.",
    "calibration",
    _draw_shift,
)
RELIABILITY_CHART = Chart(
    "reliability",
    "Reliability: share correct by confidence",
    "A point is a bin of equal width, its area the number of questions. On the dashed line confidence equals the share "
    "correct; below it the model is too sure. Left: confidence is the majority's share of the votes. Right: it is C of "
    "equation 3, which is no probability.",
    "reliability_bins",
    _draw_reliability,
)
COVERAGE_CHART = Chart(
    "coverage",
    "Risk against coverage by level",
    "If only the most confident replies counted: the share of questions that have one, and how many are wrong.",
    "risk_coverage",
    _draw_coverage,
)
