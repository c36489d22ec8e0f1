"""Charts of what degraded pictures cost: by degradation and level, and as curves over strength."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lmms_medtasks.report.document import Figure
from lmms_medtasks.report.drawing import FAINT, MARKERS, SERIES, canvas, svg

if TYPE_CHECKING:
    from lmms_medtasks.report.degradation_loss import Loss

_MARKERS = (*MARKERS, "D", "v", "P", "X")
"""With the three colours 21 looks: as many levels or degradations can be told apart."""
_CURVE = 3
"""Strengths of a degradation from which on it has a curve."""


def figures(key: str, base: str, paired: Sequence[Loss], drawn: str) -> list[Figure]:
    """Of the first metric of ``paired``: the change by degradation and level, and over strength where there are three.

    ``drawn``: what the drawing's ids begin with.
    """
    own = [each for each in paired if each.metric == paired[0].metric]
    found = [_by_level(key, base, own, drawn)]
    curves: dict[str, list[Loss]] = {}
    for each in own:
        if each.strength:
            curves.setdefault(each.degradation, []).append(each)
    curves = {name: points for name, points in curves.items() if len({each.level for each in points}) >= _CURVE}
    return [*found, _curve(key, base, curves, drawn)] if curves else found


def _by_level(key: str, base: str, own: Sequence[Loss], drawn: str) -> Figure:
    """A mark for each degradation and level with its interval."""
    names = list(dict.fromkeys(each.degradation for each in own))
    levels = sorted({each.level: each.strength or 0.0 for each in own}.items(), key=lambda level: level[1])
    title = f"{base}: change of {own[0].metric} by degradation and level"
    apart = min(0.18, 0.72 / len(levels))
    with canvas(6.8, 1.1 + max(0.32, 0.14 * len(levels)) * len(names)) as figure:
        axes: Any = figure.subplots()
        axes.axvline(0.0, color=FAINT, linewidth=0.8)
        for number, (level, _) in enumerate(levels):
            points = [each for each in own if each.level == level]
            y = [names.index(each.degradation) + apart * (number - (len(levels) - 1) / 2) for each in points]
            axes.errorbar(
                _changes(points), y, xerr=_bars(points), linestyle="none", markersize=4, label=f"level {level}",
                **_style(number),
            )  # fmt: skip
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_xlabel(f"change of {own[0].metric}, degraded less clean")
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
        drawing = svg(figure, f"{drawn}-{key}", title)
    about = "Marks left of the line are losses where more is better. Lines are 95 % intervals over pictures."
    return Figure(f"{key}_chart", title, about, drawing, f"{key}_loss")


def _curve(key: str, base: str, curves: dict[str, list[Loss]], drawn: str) -> Figure:
    """A line for each degradation over its strengths, from the clean pictures on."""
    metric = next(iter(curves.values()))[0].metric
    title = f"{base}: change of {metric} over strength"
    with canvas(6.8, 3.2) as figure:
        axes: Any = figure.subplots()
        axes.axhline(0.0, color=FAINT, linewidth=0.8)
        for number, (name, own) in enumerate(curves.items()):
            points = sorted(own, key=lambda each: each.strength or 0.0)
            # Side by side where intervals would lie on each other.
            shift = 0.02 * (number - (len(curves) - 1) / 2)
            x = [shift + (each.strength or 0.0) for each in points]
            style = _style(number)
            axes.plot([0.0, *x], [0.0, *_changes(points)], color=style["color"], linewidth=1.0)
            axes.errorbar(x, _changes(points), yerr=_bars(points), linestyle="none", markersize=4, label=name, **style)
        axes.set_xlabel("strength (1: mild, 2: severe)")
        axes.set_ylabel(f"change of {metric}")
        axes.set_xlim(left=0.0)
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
        drawing = svg(figure, f"{drawn}-{key}-curve", title)
    about = (
        "Degraded less clean; below the line are losses where more is better. All strengths of a degradation share "
        "their draws. Lines are 95 % intervals over pictures."
    )
    return Figure(f"{key}_curve", title, about, drawing, f"{key}_loss")


def _style(number: int) -> dict[str, str]:
    return {"color": SERIES[number % len(SERIES)], "marker": _MARKERS[number % len(_MARKERS)]}


def _changes(points: Sequence[Loss]) -> list[float]:
    return [each.degraded - each.clean for each in points]


def _bars(points: Sequence[Loss]) -> np.ndarray:
    """(2, points) lengths of each interval below and above its mark, 0 where there is none."""
    bars = np.zeros((2, len(points)))
    for number, (each, value) in enumerate(zip(points, _changes(points), strict=True)):
        if each.change is not None and each.change.low is not None and each.change.high is not None:
            bars[:, number] = max(0.0, value - each.change.low), max(0.0, each.change.high - value)
    return bars
