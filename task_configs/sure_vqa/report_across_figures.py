"""SURE-VQA: ranks of methods, the win/loss matrix, and wins, ties and losses as bars."""

from __future__ import annotations

from collections.abc import Sequence

from lmms_medtasks.report.document import Figure
from lmms_medtasks.report.drawing import DASHES, FAINT, INK, MARKERS, SERIES, canvas, svg
from lmms_medtasks.task_configs.sure_vqa.report_across import Across, Duel
from lmms_medtasks.task_configs.sure_vqa.report_shifts import SIDE_NAMES

_LONGEST = 30


def ranks(found: Across, key: str) -> Figure:
    """Each method's rank by RR under each condition (SURE-VQA, Figure 8b)."""
    title = "Ranks by relative robustness"
    conditions = list(found.ranks)
    with canvas(3.4 + 0.75 * len(conditions), 2.6 + 0.3 * len(found.methods)) as figure:
        axes = figure.subplots()
        ranked = [name for name in found.methods if any(name in found.ranks[each] for each in conditions)]
        step = min(0.1, 0.8 / len(ranked))
        for number, method in enumerate(ranked):
            own = [found.ranks[condition].get(method) for condition in conditions]
            # Beside each other, so that no line of open ranks hides another.
            places = [place + step * (number - (len(ranked) - 1) / 2) for place in range(len(conditions))]
            colour = SERIES[number % len(SERIES)] if number < 2 * len(SERIES) else INK
            for place, each in zip(places, own, strict=True):
                if each:
                    axes.plot([place, place], [each.low, each.high], color=colour, linewidth=0.8)
            axes.plot(
                places,
                [each.rank if each else float("nan") for each in own],
                marker=MARKERS[number % len(MARKERS)],
                color=colour,
                linestyle=DASHES[number // len(SERIES) % len(DASHES)],
                linewidth=1.2,
                label=_short(method),
            )
        axes.set_xticks(range(len(conditions)), [each.label for each in conditions], rotation=40, ha="right")
        axes.set_yticks(range(1, len(ranked) + 1))
        axes.set_ylim(len(ranked) + 0.4, 0.6)
        axes.set_ylabel("rank (1: highest RR)")
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
        axes.grid(axis="y")
        about = (
            "Only methods that are better than their baselines. Upright lines: the ranks that the paired tests leave "
            "open, all of which hold together with 95 %."
        )
        return Figure("ranks", title, about, svg(figure, f"{key}-ranks", title), "ranks")


def win_loss(found: Across, key: str) -> Figure:
    """The win/loss matrix of the paired tests, as Figure 19 of SURE-VQA draws that of its own."""
    title = "Wins and losses in relative robustness"
    names, wins = found.win_loss.methods, found.win_loss.wins
    size = 0.62 * len(names)
    with canvas(2.6 + size, 1.9 + size) as figure:
        axes = figure.subplots()
        most = max(1, int(found.win_loss.comparisons.max(initial=0)))
        for row in range(len(names)):
            for column in range(len(names)):
                if row == column:
                    continue
                shade = 0.5 * wins[row, column] / most
                axes.add_patch(_square(column, row, shade))
                axes.text(column, row, str(wins[row, column]), ha="center", va="center", color=INK)
        axes.set_xlim(-0.5, len(names) - 0.5)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_xticks(range(len(names)), [_short(name) for name in names], rotation=40, ha="right")
        axes.set_yticks(range(len(names)), [_short(name) for name in names])
        axes.set_aspect("equal")
        axes.tick_params(length=0)
        axes.set_xlabel("less robust")
        axes.set_ylabel("more robust")
        about = (
            "Number of conditions in which the row's method has the higher RR than the column's, with p < 0.05 paired "
            "by image, after Holm's correction."
        )
        return Figure("win-loss", title, about, svg(figure, f"{key}-win-loss", title), "win_loss")


def _square(column: int, row: int, shade: float):
    from matplotlib.patches import Rectangle

    return Rectangle((column - 0.47, row - 0.47), 0.94, 0.94, facecolor=SERIES[0], alpha=shade, linewidth=0)


def duels(found: Sequence[Duel], key: str, table: str, title: str) -> Figure:
    """Wins, ties and losses as bars of 100 % (SURE-VQA, Figures 5 and 6)."""
    shown = [each for each in found if each.versus.n]
    several = len({(each.first, each.second) for each in shown}) > 1
    with canvas(7.2, 1.2 + 0.27 * len(shown)) as figure:
        axes = figure.subplots()
        for row, each in enumerate(shown):
            start = 0.0
            for name, colour, alpha in (("win", SERIES[0], 1.0), ("tie", FAINT, 0.45), ("loss", SERIES[2], 1.0)):
                width = 100 * (getattr(each.versus, name).estimate or 0.0)
                axes.barh(row, width, left=start, color=colour, alpha=alpha, height=0.7, label=None if row else name)
                start += width
        labels = [
            f"{each.condition.label} {SIDE_NAMES[each.side]}"
            + (f"\n{_short(each.first)} / {_short(each.second)}" if several else "")
            for each in shown
        ]
        axes.set_yticks(range(len(shown)), labels)
        axes.set_ylim(len(shown) - 0.5, -0.5)
        axes.set_xlim(0, 100)
        axes.set_xlabel("percent of the questions")
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
        first = (
            f"{shown[0].first} against {shown[0].second}" if shown and not several else "the first against the second"
        )
        about = f"Question by question, {first}: win on the left, tie in the middle, loss on the right."
        return Figure(table.replace("_", "-"), title, about, svg(figure, f"{key}-{table}", title), table)


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"…{name[1 - _LONGEST :]}"
