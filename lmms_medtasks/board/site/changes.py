"""How a model's number changes from one task or measure to another, with its interval."""

from __future__ import annotations

from dataclasses import replace

from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.site.board_tables import Standings
from lmms_medtasks.board.site.suite_words import About
from lmms_medtasks.statistics.intervals import Interval, intervals
from lmms_medtasks.statistics.sums import Difference
from lmms_medtasks.suites.contributions import draw_together
from lmms_medtasks.suites.estimates import EMPTY


def headline_loss(standings: Standings, about: About, model: str, head: tuple[str, str]) -> Interval | None:
    """What a ranked model loses from the number that its suite's headline says to the headline, ``head``."""
    before = about.before(*head)
    ranked = standings.board.of(suite=about.name, ranked=True)
    own = {each.task: each for each in ranked if each.model.key == model}
    if before is None or before[0] not in own or before[1] not in own[before[0]].metrics:
        return None
    found = loss(own[before[0]], before[1], own[head[0]], head[1])
    kept = found if standings.resamples else replace(found, low=None, high=None)
    return kept if found.estimate is not None else None


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
