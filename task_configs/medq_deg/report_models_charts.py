"""MedQ-Deg: charts of several models: shift against accuracy, and ranks by level and task set."""

from __future__ import annotations

from collections.abc import Mapping

from lmms_medtasks.report.charts import (
    MODELS,
    OTHER,
    Axis,
    Guide,
    Panel,
    Point,
    Series,
    axis_of,
    percent_axis,
    places_axis,
    plane_chart,
)
from lmms_medtasks.report.document import Figure
from lmms_medtasks.short_texts import first_listed, short
from lmms_medtasks.statistics.calibration import Calibration

_RANK = 26
"""Pixels between two ranks."""


def overconfidence(found: Mapping[str, Mapping[str, Calibration]], trials: int) -> Figure:
    """The paper's shift against accuracy, a panel a condition of this T, a point a model."""
    title = f"Calibration shift against accuracy by level, T = {trials}"
    every = [each for points in found.values() for each in points.values()]
    y = axis_of([0.0, *(each.shift for each in every)])
    x = percent_axis("accuracy, percent")
    zero = Guide(0, 0, 100, 0, kind="zero")
    names = list(dict.fromkeys(model for models in found.values() for model in models))
    heads, _ = _heads(list(found))
    panels, gist = [], []
    for (label, models), head in zip(found.items(), heads, strict=True):
        series = []
        for model, each in models.items():
            if each.accuracy is None or each.shift is None:
                continue
            said = f"{model}: accuracy {100 * each.accuracy:.1f} %, shift {each.shift:+.3f}"
            series.append(_series(names, model, Point(100 * each.accuracy, each.shift, said)))
        title_of_panel = label if head.isdigit() else head
        panels.append(Panel(x, y, tuple(series), short(title_of_panel, 40), (zero,)))
        said_of_models = ", ".join(f"{each.points[0].x:.0f} and {each.points[0].y:+.2f}" for each in series[:6])
        gist.append(f"{label}: {said_of_models}")
    about = (
        "As the paper draws it: accuracy and shift of the same replies. Models that are all alike make a falling "
        "cloud too, as luck raises accuracy and lowers shift. The table of equation 6 says what is beyond that."
    )
    svg = plane_chart(f"{title}. Accuracy and shift: {first_listed(gist)}.", panels, height=220)
    return Figure(f"inter-model-t{trials}", title, about, svg, f"inter_model_points_t{trials}")


def _series(names: list[str], model: str, point: Point) -> Series:
    """A model's point; beyond as many as have a look of their own the others look alike."""
    place = names.index(model)
    return Series(model, (point,), MODELS[place]) if place < len(MODELS) else Series("other models", (point,), OTHER)


def bump(ranks: Mapping[str, Mapping[str, float]]) -> Figure:
    """Ranks of each model over the conditions, a line a model named at its end; 1 is on top."""
    title = "Ranks by level and task set"
    conditions = list(ranks)
    models = list(ranks[conditions[0]])
    heads, setup = _heads(conditions)
    x = places_axis(heads, setup)
    y = Axis(0.5, len(models) + 0.5, tuple(map(float, range(1, len(models) + 1))))
    series = []
    for number, model in enumerate(models):
        places = [ranks[condition][model] for condition in conditions]
        moves = len(set(places)) > 1
        points = tuple(
            Point(place, rank, f"{model}, {condition}: rank {rank:g}")
            for place, (condition, rank) in enumerate(zip(conditions, places, strict=True))
        )
        look = MODELS[number] if number < len(MODELS) else OTHER
        series.append(Series(model, points, look, "joined" if moves else "joined-published", True, quiet=not moves))
    gist = first_listed([f"{each.name} {', '.join(f'{point.y:g}' for point in each.points)}" for each in series])
    panel = Panel(x, y, tuple(series), "Rank by accuracy", upside_down=True)
    svg = plane_chart(f"{title}, 1 is best. {gist}.", [panel], height=_RANK * len(models))
    about = "Rank by accuracy, 1 is best. Where lines cross, two models change their order; grey lines keep their rank."
    if not setup:
        about += f" {' '.join(f'{head}: {condition}.' for head, condition in zip(heads, conditions, strict=True))}"
    return Figure("bump", title, about, svg, "ranks")


def _heads(conditions: list[str]) -> tuple[list[str], str]:
    """Short names of the conditions, ``clean (how)``, and what they have in common; numbers where that is nothing."""
    setups = {condition.partition(" (")[2].rstrip(")") for condition in conditions}
    if len(setups) == 1:
        return [condition.partition(" (")[0] for condition in conditions], setups.pop()
    return [str(number) for number, _ in enumerate(conditions, start=1)], ""
