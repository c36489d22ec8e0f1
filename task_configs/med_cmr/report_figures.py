"""Med-CMR: figures of its report: the dimensions as a radar, the letters, pairs of models, and size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lmms_medtasks.report.document import Figure
from lmms_medtasks.report.drawing import DASHES, FAINT, INK, MARKERS, SERIES, canvas, svg
from lmms_medtasks.report.plots import interval_points
from lmms_medtasks.report.views import Source
from lmms_medtasks.samples.table import Where
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.task_configs.med_cmr.measures import ACCURACY, BY_DIMENSION, DIMENSIONS, TOTAL
from lmms_medtasks.task_configs.med_cmr.report_models import Scale, Tuned, asked, was_asked

MOST = 9
"""Lines or panels in one figure: more could not be told apart, the tables have them all."""

_TITLES = {"mcq": "multiple choice, points", "open": "open total, points"}


@dataclass(frozen=True)
class OwnRadar:
    """A model's dimensions: accuracy and open total, with and without the image."""

    def figure(self, sources: Sequence[Source], prefix: str) -> Figure | None:
        """The drawing; None where neither was asked."""
        source, lines = sources[0], {}
        for shown, end in ((True, ""), (False, ", no image")):
            if was_asked(source, "mcq", shown):
                lines[f"multiple choice{end}"] = _by_dimension(source, ACCURACY, asked("mcq", shown), 100)
            if was_asked(source, "open", shown):
                lines[f"open total{end}"] = _by_dimension(source, TOTAL, asked("open", shown), 1)
        if not lines:
            return None
        tables = {"mcq": "mcq", "open": "open_dimensions"}
        table = next((table for form, table in tables.items() if was_asked(source, form)), "replies")
        about = "Accuracy in percent and the open total, both from 0 to 100. A dimension without a question is a gap."
        return _radar(prefix, "The seven dimensions", about, lines, table)


@dataclass(frozen=True)
class ModelRadar:
    """The multiple-choice accuracy of several models by dimension."""

    def figure(self, sources: Sequence[Source], prefix: str) -> Figure | None:
        """The drawing; None where no model was asked."""
        lines = {
            each.name: _by_dimension(each, ACCURACY, asked("mcq"), 100) for each in sources if was_asked(each, "mcq")
        }
        if not lines:
            return None
        rest = f" The first {MOST} models of {len(lines)}." if len(lines) > MOST else ""
        about = f"Multiple choice, percent.{rest} A dimension without a question is a gap."
        return _radar(prefix, "Accuracy by dimension", about, dict(list(lines.items())[:MOST]), "main")


def _by_dimension(source: Source, estimate: Mean, where: Where, factor: float) -> list[float]:
    values = [source.interval(estimate, {**where, **each}).estimate for each in BY_DIMENSION.values()]
    return [np.nan if value is None else factor * value for value in values]


def _radar(prefix: str, title: str, about: str, lines: Mapping[str, Sequence[float]], table: str) -> Figure:
    angles = np.linspace(0, 2 * np.pi, len(DIMENSIONS), endpoint=False)
    with canvas(5.6, 4.3 + 0.18 * (len(lines) // 2)) as figure:
        axes: Any = figure.subplots(subplot_kw={"projection": "polar"})
        axes.set_theta_offset(np.pi / 2)
        axes.set_theta_direction(-1)
        for number, (name, values) in enumerate(lines.items()):
            axes.plot([*angles, angles[0]], [*values, values[0]], markersize=4, clip_on=False, label=_short(name),
                      **_style(number))  # fmt: skip
        axes.set_xticks(angles, DIMENSIONS)
        axes.tick_params(axis="x", pad=9)  # a marker at 100 stands on the circle
        axes.set_ylim(0, 100)
        axes.set_yticks([25, 50, 75, 100], ["25", "50", "75", "100"], fontsize=7)
        axes.spines["polar"].set_color(FAINT)
        axes.grid(color=FAINT)
        figure.legend(loc="outside lower center", ncols=2)
        return Figure("radar", title, about, svg(figure, f"{prefix}-radar", title), table)


def _style(number: int) -> dict[str, Any]:
    """Three colours, and the next three lines in another dash and marker."""
    group = number + number // len(SERIES)
    dash, marker = DASHES[group % len(DASHES)], MARKERS[group % len(MARKERS)]
    return {"color": SERIES[number % len(SERIES)], "linestyle": dash, "marker": marker}


def tuned_figure(found: Sequence[Tuned], prefix: str) -> Figure:
    """Change from each base to its tuned model, a panel a pair and form, a point a dimension."""
    title = "From base to medically fine-tuned model, by dimension"
    shown = found[:MOST]
    columns = min(2, len(shown))
    rows = -(-len(shown) // columns)
    with canvas(3.8 * columns, 2.5 * rows) as figure:
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for panel, axes in enumerate(grid):
            if panel >= len(shown):
                axes.set_visible(False)
                continue
            each = shown[panel]
            changes = [each.changes[name]["change"] if name in each.changes else None for name in ("", *DIMENSIONS)]
            axes.axhline(0, color=FAINT, linewidth=0.8)
            choice = each.form == "mcq"
            interval_points(axes, np.arange(len(changes)), changes, 100 if choice else 1, 0 if choice else 1)
            axes.set_xticks(range(len(changes)), ["all", *DIMENSIONS])
            axes.set_xlim(-0.5, len(changes) - 0.5)
            axes.set_title(f"{_short(each.base)} → {_short(each.tuned)}\n{_TITLES[each.form]}")
            axes.grid(axis="y")
        rest = f" The first {MOST} of {len(found)}." if len(found) > MOST else ""
        about = f"Below 0 the fine-tuned model is worse. Bars are 95 % intervals over images.{rest}"
        return Figure("pairs", title, about, svg(figure, f"{prefix}-pairs", title), "pair_dimensions")


def size_figure(found: Scale, prefix: str) -> Figure:
    """Scores against the number of parameters, on a logarithmic axis."""
    title = "Scores against the number of parameters"
    shown = [name for name in ("MCQ all", "Open all") if name in found.scores]
    with canvas(3.8 * max(1, len(shown)), 2.9) as figure:
        grid = figure.subplots(1, max(1, len(shown)), squeeze=False).ravel()
        for number, name in enumerate(shown):
            axes = grid[number]
            for model, value in found.scores[name].items():
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
