"""How a model's number changes from one task or measure to another, with its interval."""

from __future__ import annotations

from lmms_medtasks.board.entries import Entry
from lmms_medtasks.statistics.intervals import Interval, intervals
from lmms_medtasks.statistics.sums import Difference
from lmms_medtasks.suites.contributions import draw_together
from lmms_medtasks.suites.estimates import EMPTY


def loss(first: Entry, good: str, second: Entry, bad: str) -> Interval:
    """The number ``good`` less ``bad``, in their measure's own unit, with an interval over clusters.

    ``first``, ``second``: one model's entries that have these metrics. All questions of both count, as the papers
    subtract them; images that both have make the interval narrower.
    """
    groups, statistics = draw_together(
        good=(first.samples, first.estimate(good)), bad=(second.samples, second.estimate(bad))
    )
    if not {"good", "bad"} <= statistics.keys():
        return EMPTY
    return intervals(groups, {"loss": Difference(statistics["good"], statistics["bad"])})["loss"]
