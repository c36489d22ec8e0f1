"""SURE-VQA: closed questions from the i.i.d. test to the shifted one, a line a shift, and the paper's baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lmms_medtasks.report.cells import percent
from lmms_medtasks.report.charts import (
    DISC,
    PUBLISHED,
    WORST,
    Chart,
    Panel,
    Point,
    Series,
    axis_of,
    places_axis,
    plane_chart,
    signed,
)
from lmms_medtasks.report.charts.svg import Entry
from lmms_medtasks.report.views import Source
from lmms_medtasks.short_texts import first_listed
from lmms_medtasks.task_configs.sure_vqa import reference
from lmms_medtasks.task_configs.sure_vqa.measures import SIDES
from lmms_medtasks.task_configs.sure_vqa.report_shifts import Shift, groups, statistic

_KIND, _BASELINE = "closed", "most_frequent"
_SAID = ("i.i.d.", "shifted")
_BESIDE = 0.05
"""How far the shifted points stand apart, so that intervals do not hide each other."""


def _slope(source: Source, shift: Shift) -> tuple[Point, ...]:
    """Both tests of a shift; () where one has no score. The shifted one has its interval."""
    cells = [percent(statistic(source, shift, _KIND, side)) for side in SIDES]
    values = [cell.value for cell in cells if isinstance(cell.value, int | float)]
    if len(values) < len(SIDES):
        return ()
    ood = cells[-1]
    ends = "" if ood.low is None else f" [{ood.low:.1f}, {ood.high:.1f}]"
    return (
        Point(0, values[0], f"{shift.label}, i.i.d.: {values[0]:.1f} %", size=4.5),
        Point(1, values[1], f"{shift.label}, shifted: {values[1]:.1f} %{ends}", ood.low, ood.high, size=4.5),
    )


def _printed(shift: Shift) -> tuple[Point, ...]:
    """The paper's most frequent answers on the tests of a shift that it prints them for."""
    if not shift.published:
        return ()
    for base in reference.BASE_MODELS:
        for row in reference.robustness_results(shift.dataset, base, shift.name, _KIND):
            if row.method == _BASELINE:
                known = [(place, 100 * each.mean) for place, each in enumerate((row.iid, row.ood)) if each]
                return tuple(
                    Point(
                        place,
                        value,
                        f"{shift.label}, most frequent answers, published, {_SAID[place]}: {value:.0f} %",
                        size=3,
                    )
                    for place, value in known
                )
    return ()


def _draw(found: Sequence[Source]) -> str:
    source = found[0]
    shifts = [shift for shift, kind in groups(source) if kind == _KIND]
    slopes = {shift: points for shift in shifts if (points := _slope(source, shift))}
    ordered = sorted(slopes, key=lambda shift: slopes[shift][1].y - slopes[shift][0].y)
    baselines = [points for shift in ordered if (points := _printed(shift))]
    series = [Series("", points, PUBLISHED, "guess", quiet=True) for points in baselines]
    worst = ordered[:1] if ordered and slopes[ordered[0]][1].y < slopes[ordered[0]][0].y else []
    for number, shift in enumerate(reversed(ordered)):
        is_worst = shift in worst
        beside = _BESIDE * (number - (len(ordered) - 1) / 2)
        first, last = slopes[shift]
        line, look = ("joined-harm", WORST) if is_worst else ("joined-thin", DISC)
        series.append(Series(shift.label, (first, replace(last, x=1 + beside)), look, line, True))
    changes = [f"{shift.label} {signed(slopes[shift][1].y - slopes[shift][0].y)} points" for shift in ordered]
    entries: list[Entry] = [(WORST, "the largest fall")] if worst else []
    entries += [(DISC, "other shifts" if worst else "shifts")] if len(ordered) > len(worst) else []
    entries += [(PUBLISHED, "most frequent answers")] if baselines else []
    ends = [end for each in series for point in each.points for end in (point.y, point.low, point.high)]
    panel = Panel(places_axis(_SAID), axis_of(ends), tuple(series), "Closed questions correct, percent")
    said = f"Closed questions from i.i.d. to shifted: {first_listed(changes)}."
    return plane_chart(said, [panel], height=300, entries=entries)


SLOPES = Chart(
    "shifts",
    "Closed questions, i.i.d. and shifted",
    "A line a shift, from the i.i.d. test (data as the paper's models were trained on) to the shifted one. Orange: the "
    "largest fall. Bars: 95 % intervals of the shifted test, over images. Hollow: the paper's baseline, always the "
    "most frequent answer.",
    "robustness",
    _draw,
    lambda found: any(kind == _KIND for _, kind in groups(found[0])),
)
