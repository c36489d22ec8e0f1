"""A model's figures, and those of several: the dimensions as a radar, the letters, pairs of models, and size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lmms_medtasks.report.document import Figure
from lmms_medtasks.report.drawing import DASHES, FAINT, INK, MARKERS, SERIES, canvas, svg
from lmms_medtasks.report.judged import TOTAL
from lmms_medtasks.report.med_cmr import dimensions
from lmms_medtasks.report.med_cmr.analysis import Analysis
from lmms_medtasks.report.med_cmr.letters import Letters
from lmms_medtasks.report.med_cmr.pairs import Form, Tuned
from lmms_medtasks.report.med_cmr.scale import Scale

MOST = 9
"""Lines or panels in one figure: more could not be told apart, the tables have them all."""
_TITLES: Mapping[Form, str] = {"mcq": "multiple choice, points", "open": "open total, points"}


def own_radar(analysis: Analysis, prefix: str) -> Figure | None:
    """A model's dimensions: accuracy and open total, with and without the image; None if there is none of them."""
    lines = {}
    for image, said in ((True, ""), (False, ", no image")):
        if choice := analysis.choice.get(image):
            lines[f"multiple choice{said}"] = _accuracies(analysis, image)
            table = "mcq" if choice else ""
        if image in analysis.open:
            lines[f"open total{said}"] = _totals(analysis, image)
    if not lines:
        return None
    table = "mcq" if True in analysis.choice else "open_dimensions" if True in analysis.open else "replies"
    about = "Accuracy in percent and the open total, both from 0 to 100. A dimension without a question is a gap."
    return _radar("radar", prefix, "The seven dimensions", about, lines, table)


def model_radar(analyses: Mapping[str, Analysis], prefix: str) -> Figure | None:
    """The multiple-choice accuracy of several models by dimension."""
    lines = {name: _accuracies(each, True) for name, each in analyses.items() if True in each.choice}
    if not lines:
        return None
    rest = f" The first {MOST} models of {len(lines)}." if len(lines) > MOST else ""
    about = f"Multiple choice, percent.{rest} A dimension without a question is a gap."
    shown = dict(list(lines.items())[:MOST])
    return _radar("radar", prefix, "Accuracy by dimension", about, shown, "main")


def _accuracies(analysis: Analysis, image: bool) -> list[float]:
    found = analysis.choice[image].dimensions
    values = [found[name].mean.estimate if name in found else None for name in dimensions.names()]
    return [np.nan if value is None else 100 * value for value in values]


def _totals(analysis: Analysis, image: bool) -> list[float]:
    found = analysis.open[image].dimensions
    values = [found[name][TOTAL].mean.estimate if name in found else None for name in dimensions.names()]
    return [np.nan if value is None else value for value in values]


def _radar(key: str, prefix: str, title: str, about: str, lines: Mapping[str, Sequence[float]], table: str) -> Figure:
    names = dimensions.names()
    angles = np.linspace(0, 2 * np.pi, len(names), endpoint=False)
    with canvas(5.6, 4.3 + 0.18 * (len(lines) // 2)) as figure:
        axes: Any = figure.subplots(subplot_kw={"projection": "polar"})
        axes.set_theta_offset(np.pi / 2)
        axes.set_theta_direction(-1)
        for number, (name, values) in enumerate(lines.items()):
            axes.plot([*angles, angles[0]], [*values, values[0]], markersize=4, label=_short(name), **_style(number))
        axes.set_xticks(angles, names)
        axes.set_ylim(0, 100)
        axes.set_yticks([25, 50, 75, 100], ["25", "50", "75", "100"], fontsize=7)
        axes.spines["polar"].set_color(FAINT)
        axes.grid(color=FAINT)
        figure.legend(loc="outside lower center", ncols=2)
        return Figure(key, title, about, svg(figure, f"{prefix}-{key}", title), table)


def _style(number: int) -> dict[str, Any]:
    """Three colours, and the next three lines in another dash and marker."""
    group = number + number // len(SERIES)
    dash, marker = DASHES[group % len(DASHES)], MARKERS[group % len(MARKERS)]
    return {"color": SERIES[number % len(SERIES)], "linestyle": dash, "marker": marker}


def position(found: Letters, key: str, prefix: str, title: str, table: str) -> Figure:
    """Letters chosen and letters right, side by side, and the accuracy where each is right."""
    names = list(found.each)
    places = np.arange(len(names))
    right = sum(each.right for each in found.each.values()) or 1
    chosen = (sum(each.chosen for each in found.each.values()) + found.unreadable) or 1
    with canvas(7.2, 2.9) as figure:
        left, other = figure.subplots(1, 2)
        bars = (("right", [each.right / right for each in found.each.values()], ""),
                ("chosen", [each.chosen / chosen for each in found.each.values()], "///"))  # fmt: skip
        for number, (name, shares, hatch) in enumerate(bars):
            left.bar(places + 0.4 * number - 0.2, [100 * each for each in shares], 0.38, label=name, hatch=hatch,
                     facecolor=SERIES[number] if not hatch else "none", edgecolor=SERIES[number])  # fmt: skip
        left.set_title("Letters, percent")
        figure.legend(loc="outside lower center", ncols=2)
        intervals = [each.accuracy for each in found.each.values()]
        _points(other, places, intervals, 100, 2)
        other.set_title("Accuracy where the letter is right, percent")
        other.set_ylim(0, 103)
        for axes in (left, other):
            axes.set_xticks(places, names)
            axes.set_xlim(-0.6, len(names) - 0.4)
            axes.grid(axis="y")
        about = "A model without a preference chooses each letter about as often as it is right, and is right alike."
        return Figure(key, title, f"{about} Bars are 95 % intervals over images.",
                      svg(figure, f"{prefix}-{key}", title), table)  # fmt: skip


def _points(axes: Any, places: np.ndarray, intervals: Sequence[Any], factor: float, number: int) -> None:
    middle, low, high = (
        np.array([np.nan if each is None or getattr(each, name) is None else getattr(each, name) for each in intervals])
        for name in ("estimate", "low", "high")
    )
    bars = factor * np.clip([middle - low, high - middle], 0, None)
    axes.errorbar(places, factor * middle, yerr=bars, color=SERIES[number], marker=MARKERS[number], linestyle="none",
                  capsize=3, markersize=5)  # fmt: skip


def tuned(found: Sequence[Tuned], prefix: str) -> Figure:
    """Change from each base to its tuned model, a panel a pair and form, a point a dimension."""
    title = "From base to medically fine-tuned model, by dimension"
    shown = found[:MOST]
    names = ("", *dimensions.names())
    columns = min(2, len(shown))
    rows = -(-len(shown) // columns)
    with canvas(3.8 * columns, 2.5 * rows) as figure:
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for panel, axes in enumerate(grid):
            if panel >= len(shown):
                axes.set_visible(False)
                continue
            each = shown[panel]
            changes = [each.changes.get(name) for name in names]
            axes.axhline(0, color=FAINT, linewidth=0.8)
            _points(axes, np.arange(len(names)), [change.change if change else None for change in changes],
                    100 if each.form == "mcq" else 1, 0 if each.form == "mcq" else 1)  # fmt: skip
            axes.set_xticks(range(len(names)), ["all", *names[1:]])
            axes.set_xlim(-0.5, len(names) - 0.5)
            axes.set_title(f"{_short(each.base)} → {_short(each.tuned)}\n{_TITLES[each.form]}")
            axes.grid(axis="y")
        rest = f" The first {MOST} of {len(found)}." if len(found) > MOST else ""
        about = f"Below 0 the fine-tuned model is worse. Bars are 95 % intervals over images.{rest}"
        return Figure("pairs", title, about, svg(figure, f"{prefix}-pairs", title), "pair_dimensions")


def size(found: Scale, prefix: str) -> Figure:
    """Figures against the number of parameters, on a logarithmic axis."""
    title = "Scores against the number of parameters"
    shown = [name for name in ("MCQ all", "Open all") if name in found.figures]
    with canvas(3.8 * max(1, len(shown)), 2.9) as figure:
        grid = figure.subplots(1, max(1, len(shown)), squeeze=False).ravel()
        for number, name in enumerate(shown):
            axes = grid[number]
            for model, value in found.figures[name].items():
                axes.scatter(found.parameters[model] / 1e9, value, color=SERIES[number], marker=MARKERS[number], s=28)
                axes.annotate(_short(model), (found.parameters[model] / 1e9, value), xytext=(5, 4),
                              textcoords="offset points", fontsize=7.5, color=INK)  # fmt: skip
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter("{x:g}")
            axes.xaxis.set_minor_formatter("")
            axes.margins(x=0.25, y=0.2)
            axes.set_xlabel("parameters, billions")
            axes.set_title(name)
            axes.grid()
        about = "Each point is a model; the correlations are in the table."
        return Figure("scale", title, about, svg(figure, f"{prefix}-scale", title), "scale_models")


def _short(name: str) -> str:
    return name if len(name) <= 28 else f"{name[:27]}…"
