"""A model's figures, and those of several: the eight tasks as a radar."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from lmms_medtasks.report.bones_joints.analysis import Analysis
from lmms_medtasks.report.bones_joints.reading import Condition
from lmms_medtasks.report.bones_joints.tables import MEANINGS
from lmms_medtasks.report.document import Figure
from lmms_medtasks.report.drawing import DASHES, FAINT, MARKERS, SERIES, canvas, svg
from lmms_medtasks.report.marks import marks
from lmms_medtasks.task_configs.bones_joints.forms import forms

MOST = 9
"""Lines in one figure: more could not be told apart, the tables have them all."""
_SAID: Mapping[Condition, str] = {"images": "images in IV to VIII", "reports": "reports in IV to VII"}


def own_radar(analysis: Analysis, prefix: str) -> Figure | None:
    """A model's accuracy in the eight tasks; None if it was asked none of them as the paper does."""
    lines = {said: values for condition, said in _SAID.items() if (values := _line(analysis, condition))}
    return _radar(lines, prefix, _limits([analysis])) if lines else None


def model_radar(analyses: Mapping[str, Analysis], prefix: str) -> Figure | None:
    """The same for several models, each with images, or with reports where it has no images."""
    lines = {}
    for name, each in analyses.items():
        values = _line(each, "images") or _line(each, "reports")
        if values:
            lines[name] = values
    return _radar(lines, prefix, _limits(analyses.values())) if lines else None


def _line(analysis: Analysis, condition: Condition) -> list[float]:
    if not any(analysis.of(task, condition) for task in forms()):
        return []
    found = [analysis.of(task, "text", condition) for task in forms()]
    values = [each.overall.estimate if each else None for each in found]
    return [np.nan if value is None else 100 * value for value in values]


def _limits(analyses: Iterable[Analysis]) -> str:
    """What limits the judged numbers that are drawn, as the marks in the tables have it."""
    used = marks(*(asked.judging for each in analyses for asked in each.source.asked))
    return "".join(f" {meaning}" for mark, meaning in MEANINGS.items() if mark in used)


def _radar(lines: Mapping[str, Sequence[float]], prefix: str, limits: str) -> Figure:
    title = "Accuracy in the eight tasks"
    shown = dict(list(lines.items())[:MOST])
    angles = np.linspace(0, 2 * np.pi, len(forms()), endpoint=False)
    with canvas(5.6, 4.3 + 0.18 * (len(shown) // 2)) as figure:
        axes: Any = figure.subplots(subplot_kw={"projection": "polar"})
        axes.set_theta_offset(np.pi / 2)
        axes.set_theta_direction(-1)
        for number, (name, values) in enumerate(shown.items()):
            axes.plot([*angles, angles[0]], [*values, values[0]], markersize=4, label=_short(name), **_style(number))
        axes.set_xticks(angles, [task.numeral for task in forms().values()])
        axes.set_ylim(0, 100)
        axes.set_yticks([25, 50, 75, 100], ["25", "50", "75", "100"], fontsize=7)
        axes.spines["polar"].set_color(FAINT)
        axes.grid(color=FAINT)
        figure.legend(loc="outside lower center", ncols=2)
        drawn = svg(figure, f"{prefix}-radar", title)
    rest = f" The first {MOST} models of {len(lines)}." if len(lines) > MOST else ""
    names = "; ".join(f"{task.numeral} {task.name}" for task in forms().values())
    about = f"Percent. {names}. A task that was not asked is a gap.{rest}{f' IV to VIII:{limits}' if limits else ''}"
    return Figure("radar", title, about, drawn, "main")


def _style(number: int) -> dict[str, Any]:
    """Three colours, and the next three lines in another dash and marker."""
    group = number + number // len(SERIES)
    dash, marker = DASHES[group % len(DASHES)], MARKERS[group % len(MARKERS)]
    return {"color": SERIES[number % len(SERIES)], "linestyle": dash, "marker": marker}


def _short(name: str) -> str:
    return name if len(name) <= 28 else f"{name[:27]}…"
