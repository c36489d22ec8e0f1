"""A run's figures. Levels differ by colour, marker and dash, so that none is needed alone to tell them apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lmms_medtasks.report.document import Figure
from lmms_medtasks.report.drawing import DASHES, FAINT, INK, MARKERS, SERIES, canvas, svg
from lmms_medtasks.report.medq_deg.analysis import Analysis, Grouped
from lmms_medtasks.statistics.bootstrap import Interval
from lmms_medtasks.statistics.reliability import Reliability
from lmms_medtasks.task_configs.medq_deg import taxonomy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SEVERITY = {0: "clean", 1: "mild", 2: "severe"}


def shift(analysis: Analysis, prefix: str) -> Figure:
    """Accuracy, confidence and their gap, the shift, by level, with 95 % intervals."""
    title = "Accuracy, confidence and calibration shift by level"
    levels = list(analysis.calibration)
    with canvas(7.2, 2.9) as figure:
        left, right = figure.subplots(1, 2)
        found = [analysis.calibration[level].intervals for level in levels]
        _errorbars(left, [each.accuracy for each in found], levels, 0, "accuracy")
        _errorbars(left, [each.confidence for each in found], levels, 1, "confidence C")
        _errorbars(right, [each.shift for each in found], levels, 2, "shift")
        left.set_ylim(0, 1.03)
        left.set_title("Accuracy and confidence")
        right.axhline(0, color=FAINT, linewidth=0.8)
        right.set_title("Shift = confidence less accuracy")
        for axes in (left, right):
            axes.set_xticks(levels, [f"L{level}\n{_SEVERITY[level]}" for level in levels])
            axes.set_xlim(min(levels) - 0.4, max(levels) + 0.4)
            axes.grid(axis="y")
        figure.legend(loc="outside lower center", ncols=3)
        return _done(figure, "shift", prefix, title, "Bars are 95 % intervals over images.", "calibration")


def _errorbars(axes: Axes, intervals: Sequence[Interval], places: Sequence[int], number: int, name: str) -> None:
    middle = np.array([np.nan if each.estimate is None else each.estimate for each in intervals])
    low = np.array([np.nan if each.low is None else each.low for each in intervals])
    high = np.array([np.nan if each.high is None else each.high for each in intervals])
    # A percentile interval need not hold its estimate; a bar can't have a negative length.
    bars = np.clip([middle - low, high - middle], 0, None)
    axes.errorbar(places, middle, yerr=bars, color=SERIES[number], marker=MARKERS[number], linestyle=DASHES[number],
                  capsize=3, markersize=5, label=name)  # fmt: skip


def reliability(analysis: Analysis, prefix: str) -> Figure:
    """Reliability diagrams by level: share of right majority votes against confidence, both kinds."""
    title = "Reliability diagrams by level"
    levels = list(analysis.calibration)
    with canvas(2.5 * max(2, len(levels)), 4.9) as figure:
        grid = figure.subplots(2, len(levels), squeeze=False, sharex=True, sharey=True)
        for column, level in enumerate(levels):
            found = analysis.calibration[level]
            _diagram(grid[0, column], found.share, level, "majority share")
            _diagram(grid[1, column], found.entropy, level, "C")
        for row in grid:
            row[0].set_ylabel("share of right votes")
        about = (
            "Points are bins of equal width, their area is the number of questions; on the diagonal, confidence is "
            "what it says. Above: the majority's share of the votes. Below: C of equation 3, which is no probability."
        )
        return _done(figure, "reliability", prefix, title, about, "reliability_bins")


def _diagram(axes: Axes, found: Reliability, level: int, name: str) -> None:
    bins = [each for each in found.bins if each.n]
    axes.plot([0, 1], [0, 1], color=FAINT, linewidth=0.8)
    if bins:
        points = np.array([(each.confidence, each.correctness) for each in bins], dtype=float)
        x, y = points.T
        total = sum(each.n for each in bins)
        axes.plot(x, y, color=SERIES[level], linewidth=1, linestyle=DASHES[level])
        sizes = [12 + 220 * each.n / total for each in bins]
        axes.scatter(x, y, s=sizes, color=SERIES[level], marker=MARKERS[level], alpha=0.75, linewidths=0)
    ece = "no question" if found.ece.estimate is None else f"ECE {found.ece.estimate:.3f}"
    axes.set_title(f"L{level}: {ece}")
    axes.set_xlabel(name)
    axes.set_xlim(-0.03, 1.03)
    axes.set_ylim(-0.03, 1.03)
    axes.set_aspect("equal")


def coverage(analysis: Analysis, prefix: str) -> Figure:
    """Risk against coverage by level."""
    title = "Risk against coverage by level"
    with canvas(4.6, 3.0) as figure:
        axes = figure.subplots()
        for level, found in analysis.calibration.items():
            curve = found.share.curve
            area = found.share.aurc.estimate
            name = f"L{level}" if area is None else f"L{level}, AURC {area:.3f}"
            axes.plot([point.coverage for point in curve], [point.risk for point in curve], color=SERIES[level],
                      marker=MARKERS[level], linestyle=DASHES[level], markersize=4, label=name)  # fmt: skip
        axes.set_xlabel("coverage, the most confident first")
        axes.set_ylabel("error rate")
        axes.set_xlim(0, 1.02)
        axes.set_ylim(bottom=0)
        axes.grid()
        figure.legend(loc="outside lower center", ncols=3)
        about = "If only the most confident questions were answered: the share that is, and the error rate among them."
        return _done(figure, "coverage", prefix, title, about, "risk_coverage")


def radar(analysis: Analysis, prefix: str) -> Figure:
    """Accuracy by modality as a radar, a line a level; a modality without questions is a gap."""
    title = "Accuracy by modality"
    names = taxonomy.modalities()
    angles = np.linspace(0, 2 * np.pi, len(names), endpoint=False)
    with canvas(5.6, 4.2) as figure:
        axes: Any = figure.subplots(subplot_kw={"projection": "polar"})
        axes.set_theta_offset(np.pi / 2)
        axes.set_theta_direction(-1)
        for level, groups in analysis.modalities.items():
            means = [_estimate(groups[name,].mean) if (name,) in groups else np.nan for name in names]
            axes.plot([*angles, angles[0]], [*means, means[0]], color=SERIES[level], marker=MARKERS[level],
                      linestyle=DASHES[level], markersize=4, label=f"L{level}")  # fmt: skip
        empty = {name for name in names if not any((name,) in groups for groups in analysis.modalities.values())}
        axes.set_xticks(angles, [f"{name}\n(no question)" if name in empty else name for name in names])
        axes.tick_params(axis="x", pad=4)
        # The name beside the rim, not across it.
        for tick, angle in zip(axes.get_xticklabels(), angles, strict=True):
            side = np.sin(angle)
            tick.set_horizontalalignment("center" if abs(side) < 0.1 else "left" if side > 0 else "right")
        axes.set_ylim(0, 1)
        axes.set_yticks([0.25, 0.5, 0.75, 1], ["25", "50", "75", "100 %"], fontsize=7)
        axes.spines["polar"].set_color(FAINT)
        axes.grid(color=FAINT)
        figure.legend(loc="outside lower center", ncols=3)
        about = "Percent of the scale at the rim. Where a modality has no question the line has a gap."
        return _done(figure, "radar", prefix, title, about, "modalities")


def _estimate(interval: Interval) -> float:
    return np.nan if interval.estimate is None else interval.estimate


def heatmap(analysis: Analysis, level: int, prefix: str) -> Figure:
    """Accuracy by degradation and capability at a level; cells without a question are crossed out."""
    title = f"Accuracy by degradation and capability, L{level} ({_SEVERITY[level]})"
    rows, mids = taxonomy.degradation_types(), taxonomy.mids()
    values = _heat(analysis.heat[level], [row.name for row in rows], mids)
    with canvas(6.4, 5.6) as figure:
        axes = figure.subplots()
        picture = axes.imshow(values, vmin=0, vmax=1, cmap="cividis", aspect="auto")
        for (row, column), value in np.ndenumerate(values):
            if np.isnan(value):
                axes.text(column, row, "×", ha="center", va="center", color=FAINT)
            else:
                ink = "#ffffff" if value < 0.55 else "#000000"
                axes.text(column, row, f"{100 * value:.0f}", ha="center", va="center", color=ink, fontsize=8)
        axes.set_xticks(range(len(mids)), [taxonomy.short_of(mid) for mid in mids])
        axes.set_yticks(range(len(rows)), [row.name for row in rows])
        starts = [number for number in range(1, len(rows)) if rows[number].category != rows[number - 1].category]
        for start in starts:
            axes.axhline(start - 0.5, color=INK, linewidth=1.2)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        figure.colorbar(picture, ax=axes, shrink=0.6, label="accuracy")
        about = "Percent; × has no question. Few questions stand behind some cells: their number is in the table."
        return _done(figure, f"heatmap_l{level}", prefix, title, about, "heatmap")


def _heat(groups: Mapping[tuple[Any, ...], Grouped], rows: Sequence[str], columns: Sequence[str]) -> np.ndarray:
    """(rows, columns) floats, NaN where there is no question."""
    found = [[groups.get((row, column)) for column in columns] for row in rows]
    return np.array([[np.nan if cell is None else _estimate(cell.accuracy.mean) for cell in line] for line in found])


def _done(figure: Any, key: str, prefix: str, title: str, about: str, table: str) -> Figure:
    return Figure(key, title, about, svg(figure, f"{prefix}-{key}", title), table)
