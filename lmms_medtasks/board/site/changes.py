"""How a model's number changes from one task or measure to another, with its interval."""

from __future__ import annotations

from lmms_medtasks.board.entries import Entry
from lmms_medtasks.statistics.intervals import Interval, intervals
from lmms_medtasks.statistics.sums import Difference
from lmms_medtasks.suites.contributions import named
from lmms_medtasks.suites.estimates import EMPTY


def loss(first: Entry, good: str, second: Entry, bad: str) -> Interval:
    """The number ``good`` less ``bad``, in their measure's own unit, with an interval over clusters.

    ``first``, ``second``: one model's entries that have these metrics. All questions of both count, as the papers
    subtract them; images that both have make the interval narrower.
    """
    estimates = {"good": (first, first.estimate(good)), "bad": (second, second.estimate(bad))}
    drawn = {side: each.draw(entry.samples.where(each.where)) for side, (entry, each) in estimates.items()}
    sides = [named(each, estimates[side][1].main, side) for side, each in drawn.items() if each is not None]
    if len(sides) < len(drawn):
        return EMPTY
    (groups, one), (others, other) = sides
    return intervals({**groups, **others}, {"loss": Difference(one, other)})["loss"]
