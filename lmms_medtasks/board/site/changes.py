"""How a model's number changes from one task or measure to another, with its interval."""

from __future__ import annotations

from lmms_medtasks.board.entries import Entry
from lmms_medtasks.statistics.intervals import Interval, intervals
from lmms_medtasks.statistics.sums import Difference, Group, mean_statistic, scored


def loss(first: Entry, good: str, second: Entry, bad: str) -> Interval:
    """The mean of ``good`` less that of ``bad``, in their measure's own unit, with an interval over clusters.

    ``first``, ``second``: one model's entries that have these metrics. All questions of both count, as the papers
    subtract them; images that both have make the interval narrower.
    """
    bounds = first.scale(good).range
    difference = Difference(mean_statistic("good", bounds), mean_statistic("bad", bounds))
    return intervals({"good": _scores(first, good), "bad": _scores(second, bad)}, {"loss": difference})["loss"]


def _scores(entry: Entry, metric: str) -> Group:
    rows = entry.scored(metric)
    return scored(rows.column("cluster").tolist(), rows.column(f"{entry.scale(metric).name}.score"))
