"""SURE-VQA: closed questions from the i.i.d. test to the shifted one, a line a shift, and the paper's baselines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lmms_medtasks.report.cells import percent
from lmms_medtasks.report.charts import (
    DISC,
    MODELS,
    PUBLISHED,
    WORST,
    Chart,
    Guide,
    Panel,
    Point,
    Series,
    axis_of,
    percent_axis,
    places_axis,
    plane_chart,
    signed,
    small_plane,
)
from lmms_medtasks.report.charts.svg import Entry, Look
from lmms_medtasks.report.document import Figure
from lmms_medtasks.report.findings import Sketch
from lmms_medtasks.report.views import Source
from lmms_medtasks.short_texts import first_listed
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.task_configs.sure_vqa.measures import SIDES
from lmms_medtasks.task_configs.sure_vqa.report_methods import model_of
from lmms_medtasks.task_configs.sure_vqa.report_shifts import GUESSING, Shift, groups, statistic

_KIND = "closed"
_UNTUNED, _FREQUENT = "LLaVA-Med 1.5: No fine-tuning", "Most frequent"
_NAMES = {_UNTUNED: "LLaVA-Med 1.5 without fine-tuning", _FREQUENT: "most frequent answers"}
"""The paper's baselines: the first has both tests of each shift, the other the i.i.d. tests of two datasets."""
_SQUARE = Look("square", "published")
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


def _printed(shift: Shift, baseline: str) -> tuple[Point, ...]:
    """A baseline of the paper on the tests of a shift that it is printed for."""
    said = f"{shift.label}, {_NAMES[baseline]}, published"
    return tuple(
        Point(place, 100 * share, f"{said}, {_SAID[place]}: {100 * share:.0f} %", size=3)
        for row in shift.printed().rows()
        if row.texts["model"] == baseline
        for place, share in enumerate(row.values("closed_iid", "closed_ood"))
    )


def _slopes(source: Source) -> dict[Shift, tuple[Point, ...]]:
    """The shifts with both tests, the largest fall first."""
    shifts = [shift for shift, kind in groups(source) if kind == _KIND]
    slopes = {shift: points for shift in shifts if (points := _slope(source, shift))}
    return dict(sorted(slopes.items(), key=lambda each: each[1][1].y - each[1][0].y))


def _draw(found: Sequence[Source]) -> str:
    slopes = _slopes(found[0])
    ordered = list(slopes)
    untuned, frequent = (
        [points for shift in ordered if (points := _printed(shift, each))] for each in (_UNTUNED, _FREQUENT)
    )
    series = [Series("", points, PUBLISHED, "joined-published", quiet=True) for points in untuned]
    series += [Series("", points, _SQUARE, quiet=True) for points in frequent]
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
    entries += [(PUBLISHED, _NAMES[_UNTUNED])] if untuned else []
    entries += [(_SQUARE, _NAMES[_FREQUENT])] if frequent else []
    ends = [end for each in series for point in each.points for end in (point.y, point.low, point.high)]
    panel = Panel(places_axis(_SAID), axis_of(ends), tuple(series), "Closed questions correct, percent")
    said = f"Closed questions from i.i.d. to shifted: {first_listed(changes)}."
    return plane_chart(said, [panel], height=300, entries=entries)


def sketch(source: Source) -> Sketch | None:
    """The lines of the real shifts without their names but that of the largest fall; None without a shift."""
    slopes = {shift: points for shift, points in _slopes(source).items() if not shift.strength}
    if not slopes:
        return None
    worst, (first, last) = next(iter(slopes.items()))
    falls = last.y < first.y
    printed = [points for shift in slopes if (points := _printed(shift, _UNTUNED))]
    series = [Series("", points, None, "joined-published faint") for points in printed]
    for shift, points in reversed(slopes.items()):
        own = tuple(replace(each, size=3.5, low=None, high=None) for each in points)
        if falls and shift == worst:
            named = replace(own[1], low=last.low, high=last.high, label=f"{_named(shift)}\n{last.y:.1f}")
            series.append(Series(shift.label, (own[0], named), WORST, "joined-harm"))
        else:
            series.append(Series(shift.label, own, DISC, "joined-thin"))
    ends = [end for each in series for point in each.points for end in (point.y, point.low, point.high)]
    # The name of the largest fall stands at the right.
    x, chance = replace(places_axis(_SAID), low=-0.35, high=1.9), 100 * GUESSING[_KIND]
    guide = Guide(x.high, chance, x.low, chance, "guessing")
    panel = Panel(x, axis_of([*ends, chance], most=4), tuple(series), guides=(guide,))
    changes = [f"{shift.label} {signed(points[1].y - points[0].y)} points" for shift, points in slopes.items()]
    svg = small_plane(f"Closed questions from i.i.d. to shifted: {first_listed(changes)}.", panel)
    orange = "; orange: the largest fall" if falls else ""
    grey = f"; grey: {_NAMES[_UNTUNED]}" if printed else ""
    return Sketch(svg, f"closed questions correct (%), {len(slopes)} shift{'s' * (len(slopes) > 1)}{orange}{grey}")


def _named(shift: Shift) -> str:
    """``MIMIC age``: short enough for a column of a page, and for a panel on a phone."""
    dataset, name = shift.label.split(", ")
    return f"{dataset.partition('-')[0]} {name}"


SLOPES = Chart(
    "shifts",
    "Closed questions, i.i.d. and shifted",
    "A line a shift, from the i.i.d. test (data as the paper's models were trained on) to the shifted one. Orange: the "
    f"largest fall. Bars: {LEVEL} intervals of the shifted test, over images. Grey lines: "
    f"{_NAMES[_UNTUNED]}, from the paper and on its data. Squares: always the most frequent answer, which the paper "
    "prints for i.i.d. tests only.",
    "robustness",
    _draw,
    lambda found: any(kind == _KIND for _, kind in groups(found[0])),
)


_OF_MODELS = "Closed questions of each model, i.i.d. and shifted"


def slopes_of_models(sources: Sequence[Source], table: str) -> Figure | None:
    """A panel a real shift that several models were asked, a line a model; None without one.

    ``table``: the key of the table with the numbers. Of more models than there are looks the first ones are drawn.
    """
    shown = [source for source in sources if not source.condition]
    drawn = shown[: len(MODELS)]
    slopes = dict(zip(_model_names(drawn), map(_slopes, drawn), strict=True))
    shifts = {shift for own in slopes.values() for shift in own if not shift.strength}
    shifts = {shift for shift in shifts if sum(shift in own for own in slopes.values()) > 1}
    if not shifts:
        return None
    asked = sorted(shifts, key=lambda each: each.place)
    panels = [_panel(shift, {name: own.get(shift, ()) for name, own in slopes.items()}) for shift in asked]
    changes = [(name, shift, own[shift]) for name, own in slopes.items() for shift in asked if shift in own]
    gist = [f"{name}, {shift.label} {signed(last.y - first.y)} points" for name, shift, (first, last) in changes]
    about = (
        f"A panel a shift, a line a model, from the i.i.d. test to the shifted one, percent. Bars: {LEVEL} intervals "
        f"of the shifted test, over images. Grey: {_NAMES[_UNTUNED]}, from the paper and on its data. Dashed: guessing."
    )
    about += f" {len(drawn)} of {len(shown)} models; the tables have all." if len(drawn) < len(shown) else ""
    svg = plane_chart(f"{_OF_MODELS}: {first_listed(gist)}.", panels, height=130)
    return Figure("shifts", _OF_MODELS, about, svg, table)


def _model_names(sources: Sequence[Source]) -> list[str]:
    """Each source by its model alone, where that tells them apart."""
    names = [model_of(each) for each in sources]
    return names if len(set(names)) == len(names) else [each.name for each in sources]


def _panel(shift: Shift, models: Mapping[str, tuple[Point, ...]]) -> Panel:
    """``models``: by name the points of the two tests, () where they were not asked."""
    chance = 100 * GUESSING[_KIND]
    series = [Series("published", _printed(shift, _UNTUNED), PUBLISHED, "joined-published", quiet=True)]
    for place, ((name, points), look) in enumerate(zip(models.items(), MODELS, strict=False)):
        beside = _BESIDE * (place - (len(models) - 1) / 2)
        moved = [replace(point, x=point.x + beside, said=f"{name}, {point.said}") for point in points]
        series.append(Series(name, tuple(moved), look, "joined-thin"))
    guide = Guide(-0.5, chance, 1.5, chance)
    return Panel(places_axis(_SAID), percent_axis(), tuple(series), _named(shift), guides=(guide,))
