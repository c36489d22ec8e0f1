"""Figures of several models: accuracy against shift, and the bump chart of ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from lmms_medtasks.report.document import Figure
from lmms_medtasks.report.drawing import FAINT, INK, MARKERS, SERIES, canvas, svg
from lmms_medtasks.report.medq_deg.models import Overconfidence

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS = 3
_NAMED = 12
"""With more models in a panel their names would fill it: the table has them."""
_LINE = 8.5  # points


def overconfidence(found: Sequence[Overconfidence]) -> Figure:
    """Shift against accuracy, a panel a condition, a point a model."""
    title = "Calibration shift against accuracy, by level"
    columns = min(_COLUMNS, len(found))
    rows = -(-len(found) // columns)
    with canvas(max(3.6, 3.3 * columns), 2.9 * rows) as figure:
        grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
        named: dict[Axes, dict[str, tuple[float, float]]] = {}
        for panel, axes in enumerate(grid):
            if panel >= len(found):
                axes.set_visible(False)
                continue
            level = panel % len(SERIES)
            for model, point in found[panel].points.items():
                if point.accuracy is None or point.shift is None:
                    continue
                axes.scatter(100 * point.accuracy, point.shift, color=SERIES[level], marker=MARKERS[level], s=28)
                if len(found[panel].points) <= _NAMED:
                    named.setdefault(axes, {})[_short(model)] = (100 * point.accuracy, point.shift)
            axes.axhline(0, color=FAINT, linewidth=0.8)
            axes.set_title(found[panel].condition.label)
            axes.set_xlabel("accuracy, percent")
            axes.set_xlim(-3, 103)
            axes.margins(y=0.15)
            axes.grid()
        grid[0].set_ylabel("shift")
        figure.draw_without_rendering()  # from here on the axes know where a point lies
        for axes, points in named.items():
            _name(axes, points)
        about = "A falling cloud is the effect: the less accurate a model, the more it overrates itself."
        return Figure("inter-model", title, about, svg(figure, "all-inter-model", title), "inter_model_points")


def _name(axes: Axes, points: Mapping[str, tuple[float, float]]) -> None:
    """Write each point's name beside it, towards the middle, so that no two are on one line."""
    written = -np.inf
    for name, place in sorted(points.items(), key=lambda item: item[1][1]):
        side = 1 if place[0] < 50 else -1
        height = axes.transData.transform(place)[1] * 72 / axes.figure.dpi
        written = max(height + 4, written + _LINE)
        axes.annotate(name, place, xytext=(6 * side, written - height), textcoords="offset points", fontsize=7.5,
                      ha="left" if side > 0 else "right")  # fmt: skip


def bump(ranks: Mapping[str, Mapping[str, float]]) -> Figure:
    """Ranks of each model over the conditions, a line a model named at both ends; 1 is on top."""
    title = "Bump chart: ranks by level and task set"
    conditions = list(ranks)
    models = list(ranks[conditions[0]])
    with canvas(2.4 + 1.7 * len(conditions), 1.2 + 0.32 * len(models)) as figure:
        axes = figure.subplots()
        for number, model in enumerate(models):
            places = [ranks[condition][model] for condition in conditions]
            moved = len(set(places)) > 1
            colour, width = (SERIES[number % len(SERIES)], 2) if moved else (INK, 1)
            marker = MARKERS[number % len(MARKERS)]
            axes.plot(range(len(conditions)), places, marker=marker, color=colour, linewidth=width)
            axes.annotate(
                _short(model), (0, places[0]), xytext=(-8, 0), textcoords="offset points", ha="right", va="center"
            )
            axes.annotate(_short(model), (len(conditions) - 1, places[-1]), xytext=(8, 0), textcoords="offset points",
                          ha="left", va="center")  # fmt: skip
        axes.set_xticks(range(len(conditions)), [condition.replace(" (", "\n(") for condition in conditions])
        axes.set_yticks(range(1, len(models) + 1))
        axes.set_ylim(len(models) + 0.5, 0.5)
        axes.margins(x=0.35)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        axes.grid(axis="x")
        about = "Rank by accuracy, 1 is best. Lines that cross are models in another order; coloured lines change rank."
        return Figure("bump", title, about, svg(figure, "all-bump", title), "ranks")


def _short(name: str) -> str:
    return name if len(name) <= 28 else f"{name[:27]}…"
