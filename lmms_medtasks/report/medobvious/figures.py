"""A run's figures, and those of several: the plane of positives and negatives, formats, agreement, grid sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lmms_medtasks.report.document import Figure
from lmms_medtasks.report.drawing import DASHES, FAINT, INK, MARKERS, SERIES, canvas, svg
from lmms_medtasks.report.medobvious.analysis import Analysis
from lmms_medtasks.statistics import triage
from lmms_medtasks.statistics.bootstrap import Interval
from lmms_medtasks.task_configs.medobvious import reference

MOST = 6
"""Runs in one figure: more could not be told apart, the tables have them all."""

_GROUP_MARKERS = {"open": "o", "medical": "s", "proprietary": "^", "human": "*"}
_HEADS = (
    "A\ndetection\nMCQ", "B\ndetection\nopen", "C\nreferring\nMCQ", "D\nreferring\nopen", "E\nvisual\nreferring",
)  # fmt: skip


def plane(analyses: Mapping[str, Analysis], prefix: str) -> Figure | None:
    """Accuracy on negatives against positives, with published models and guessing; None if no run has both signs."""
    shown = {name: each for name, each in list(analyses.items())[:MOST] if _both(each)}
    if not shown:
        return None
    title = "Positives and negatives"
    with canvas(6.4, 4.9) as figure:
        axes = figure.subplots()
        axes.plot([0, 100], [0, 100], color=FAINT, linewidth=0.8, linestyle=":")
        for group, name in reference.GROUPS.items():
            rows = [row for row in reference.format_results() if row.group == group]
            points = [(row.columns["positive"], row.columns["negative"]) for row in rows]
            xs, ys = zip(*points, strict=True)
            axes.scatter(xs, ys, s=70 if group == "human" else 26, marker=_GROUP_MARKERS[group], facecolors="none",
                         edgecolors=INK, linewidths=0.9, label=f"published, {name.lower()}")  # fmt: skip
            for row, point in zip(rows, points, strict=True):
                if row.model in _NAMED:
                    axes.annotate(row.model, point, xytext=_NAMED[row.model], textcoords="offset points", fontsize=7.5)
        for number, (name, each) in enumerate(shown.items()):
            _cross(axes, each, number, name)
        first = next(iter(shown.values()))
        guess = (100 * (first.chance["positive"] or 0), 100 * (first.chance["negative"] or 0))
        axes.scatter(*guess, marker="x", color=INK, s=45, linewidths=1.6, label="uniform guessing")
        axes.set_xlim(0, 102)
        axes.set_ylim(0, 102)
        axes.set_xlabel("accuracy where there is an outlier, percent")
        axes.set_ylabel("accuracy where there is none, percent")
        axes.grid()
        figure.legend(loc="outside lower center", ncols=2, fontsize=8)
        about = (
            "Up: fewer false alarms. Right: more outliers found. Always saying none is the upper left corner, always "
            "finding one lies on the bottom. Bars are 95 % intervals over items."
        )
        return Figure("plane", title, about, svg(figure, f"{prefix}-plane", title), "formats")


_NAMED = {
    "Human expert": (-62, 4),
    "Qwen2.5-VL-7B": (6, 4),
    "MedGemma1.5-4B-IT": (-96, 4),
    "Qwen3-VL-8B": (-40, 6),
    "Gemini-2.0-Flash": (6, 3),
}


def _both(analysis: Analysis) -> bool:
    return all(analysis.columns[name].estimate is not None for name in ("positive", "negative"))


def _cross(axes: Any, analysis: Analysis, number: int, name: str) -> None:
    x, y = (analysis.columns[each] for each in ("positive", "negative"))
    style = {**_style(number), "linestyle": "none", "markersize": 8}
    axes.errorbar(_middle([x]), _middle([y]), xerr=_bars([x]), yerr=_bars([y]), capsize=3, label=_short(name), **style)


def formats(analyses: Mapping[str, Analysis], prefix: str) -> Figure:
    """Accuracy in the five formats, beside the published models' and guessing."""
    title = "Sensitivity to the format"
    places = np.arange(len(triage.FORMATS))
    printed = np.array([[row.columns[name] for name in triage.FORMATS] for row in reference.format_results()[:-1]])
    shown = list(analyses.items())[:MOST]
    with canvas(6.8, 3.5) as figure:
        axes = figure.subplots()
        for model in printed:
            axes.plot(places, model, color=FAINT, linewidth=0.6, alpha=0.6, zorder=1)
        axes.plot([], [], color=FAINT, linewidth=0.9, label="published models")
        first = shown[0][1]
        chance = [first.chance[name] for name in triage.FORMATS]
        axes.plot(places, [np.nan if each is None else 100 * each for each in chance], color=INK, linestyle="none",
                  marker="_", markersize=22, label="uniform guessing")  # fmt: skip
        step = 0.5 / max(1, len(shown))
        for number, (name, each) in enumerate(shown):
            found = [each.columns[column] for column in triage.FORMATS]
            offset = step * (number - (len(shown) - 1) / 2)
            axes.errorbar(places + offset, _middle(found), yerr=_bars(found), capsize=3, markersize=5,
                          label=_short(name), **{**_style(number), "linestyle": "none"})  # fmt: skip
        axes.set_xticks(places, _HEADS)
        axes.set_ylim(0, 103)
        axes.set_ylabel("accuracy, percent")
        axes.grid(axis="y")
        figure.legend(loc="outside lower center", ncols=2, fontsize=8)
        about = "A model that sees the outlier should not care how it is asked. Bars are 95 % intervals over items."
        return Figure("formats", title, about, svg(figure, f"{prefix}-formats", title), "formats")


def scaling(analyses: Mapping[str, Analysis], prefix: str) -> Figure:
    """Accuracy against the number of panels: positives, negatives, and finding the place; a line a run."""
    title = "Accuracy against the number of panels"
    shown = list(analyses.items())[:MOST]
    every = sorted({each.panels for _, found in shown for each in found.sizes.values()})
    panels = {"outlier's place (detection)": "detection", "where there is none": "negative", "all questions": "overall"}
    with canvas(8.4, 3.2) as figure:
        grid = figure.subplots(1, len(panels), sharey=True)
        for axes, (head, name) in zip(grid, panels.items(), strict=True):
            for number, (run, found) in enumerate(shown):
                sizes = list(found.sizes.values())
                intervals = [getattr(each, name) for each in sizes]
                axes.errorbar([each.panels for each in sizes], _middle(intervals), yerr=_bars(intervals), capsize=3,
                              markersize=5, label=_short(run), **_style(number))  # fmt: skip
            sizes = list(shown[0][1].sizes.values())
            chances = [each.detection_chance if name == "detection" else getattr(each.chance, name) for each in sizes]
            axes.plot([each.panels for each in sizes], [np.nan if each is None else 100 * each for each in chances],
                      color=INK, linestyle=":", linewidth=1.2, label="uniform guessing")  # fmt: skip
            axes.set_title(head)
            axes.set_xticks(every, [f"{each}" for each in every])
            axes.set_xlim(0, max(every) + min(every))
            axes.set_xlabel("panels")
            axes.grid()
        grid[0].set_ylim(0, 103)
        grid[0].set_ylabel("accuracy, percent")
        handles, names = grid[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=2, fontsize=8)
        about = "How a model does as there is more to compare. Bars are 95 % intervals over items."
        return Figure("scaling", title, about, svg(figure, f"{prefix}-scaling", title), "sizes")


def _style(number: int) -> dict[str, Any]:
    """Three colours, and the next three in another dash and marker."""
    group = number + number // len(SERIES)
    return {
        "color": SERIES[number % len(SERIES)],
        "linestyle": DASHES[group % len(DASHES)],
        "marker": MARKERS[group % len(MARKERS)],
    }


def _middle(intervals: Sequence[Interval]) -> np.ndarray:
    return np.array([np.nan if each.estimate is None else 100 * each.estimate for each in intervals])


def _bars(intervals: Sequence[Interval]) -> np.ndarray:
    """(2, n) lengths of the bars below and above, in percent; 0 without an interval."""
    middle = _middle(intervals)
    low = np.array([np.nan if each.low is None else 100 * each.low for each in intervals])
    high = np.array([np.nan if each.high is None else 100 * each.high for each in intervals])
    # A percentile interval need not hold its estimate; a bar can't have a negative length.
    return np.nan_to_num(np.clip([middle - low, high - middle], 0, None))


def _short(name: str) -> str:
    return name if len(name) <= 42 else f"{name[:41]}…"
