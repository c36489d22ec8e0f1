"""Bones and Joints: the eight tasks as a radar, of one model or of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lmms_medtasks.report.document import Figure
from lmms_medtasks.report.drawing import DASHES, FAINT, MARKERS, SERIES, canvas, svg
from lmms_medtasks.report.judged_tables import marks
from lmms_medtasks.report.views import Source
from lmms_medtasks.task_configs.bones_joints.forms import forms
from lmms_medtasks.task_configs.bones_joints.measures import ACCURACY, AS_PUBLISHED, REPORTS
from lmms_medtasks.task_configs.bones_joints.report_groups import MEANINGS, find_group, task_groups

MOST = 9
"""Lines in one figure: more could not be told apart, the tables have them all."""
_TITLE = "Accuracy in the eight tasks"
_SAID: Mapping[str, str] = {AS_PUBLISHED: "images in IV to VIII", REPORTS: "reports in IV to VII"}


@dataclass(frozen=True)
class Radar:
    """A model's accuracy in the eight tasks, with images and with reports.

    ``several``: a line for each model instead, with images, or with reports where it has no images.
    """

    several: bool = False

    def figure(self, sources: Sequence[Source], prefix: str) -> Figure | None:
        """The drawing; None where no model was asked a task as the paper does."""
        if self.several:
            lines = {each.name: _line(each, AS_PUBLISHED) or _line(each, REPORTS) for each in sources}
        else:
            lines = {said: _line(sources[0], condition) for condition, said in _SAID.items()}
        lines = {name: values for name, values in lines.items() if values}
        return _radar(lines, prefix, _limits(sources)) if lines else None


def _line(source: Source, condition: str) -> list[float]:
    """The accuracies in percent, NaN where there is none; [] where no task with images was asked so."""
    groups = task_groups(source)
    if not any(each.task.images and each.condition == condition for each in groups):
        return []
    values = []
    for key, task in forms().items():
        group = find_group(groups, key, condition if task.images else AS_PUBLISHED)
        value = source.interval(ACCURACY, group.where).estimate if group and group.measured else None
        values.append(np.nan if value is None else 100 * value)
    return values


def _limits(sources: Sequence[Source]) -> str:
    """What limits the judged numbers that are drawn, as the marks in the tables have it."""
    used = marks(*(each.judging for source in sources for each in task_groups(source)))
    return "".join(f" {meaning}" for mark, meaning in MEANINGS.items() if mark in used)


def _radar(lines: Mapping[str, Sequence[float]], prefix: str, limits: str) -> Figure:
    shown = dict(list(lines.items())[:MOST])
    angles = np.linspace(0, 2 * np.pi, len(forms()), endpoint=False)
    with canvas(5.6, 4.3 + 0.18 * (len(shown) // 2)) as figure:
        axes: Any = figure.subplots(subplot_kw={"projection": "polar"})
        axes.set_theta_offset(np.pi / 2)
        axes.set_theta_direction(-1)
        for number, (name, values) in enumerate(shown.items()):
            axes.plot([*angles, angles[0]], [*values, values[0]], markersize=4, clip_on=False, label=_short(name),
                      **_style(number))  # fmt: skip
        axes.set_xticks(angles, [task.numeral for task in forms().values()])
        axes.tick_params(axis="x", pad=9)  # a marker at 100 stands on the circle
        axes.set_ylim(0, 100)
        axes.set_yticks([25, 50, 75, 100], ["25", "50", "75", "100"], fontsize=7)
        axes.spines["polar"].set_color(FAINT)
        axes.grid(color=FAINT)
        figure.legend(loc="outside lower center", ncols=2)
        drawn = svg(figure, f"{prefix}-radar", _TITLE)
    rest = f" The first {MOST} models of {len(lines)}." if len(lines) > MOST else ""
    names = "; ".join(f"{task.numeral} {task.name}" for task in forms().values())
    about = f"Percent. {names}. A task that was not asked is a gap.{rest}{f' IV to VIII:{limits}' if limits else ''}"
    return Figure("radar", _TITLE, about, drawn, "main")


def _style(number: int) -> dict[str, Any]:
    """Three colours, and the next three lines in another dash and marker."""
    group = number + number // len(SERIES)
    dash, marker = DASHES[group % len(DASHES)], MARKERS[group % len(MARKERS)]
    return {"color": SERIES[number % len(SERIES)], "linestyle": dash, "marker": marker}


def _short(name: str) -> str:
    return name if len(name) <= 28 else f"{name[:27]}…"
