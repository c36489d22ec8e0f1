"""How a model's number changes from one task or measure to another, with its interval."""

from __future__ import annotations

from dataclasses import replace

from lmms_medtasks.board.entries import LeaderboardEntry
from lmms_medtasks.board.site.board_tables import BoardStandings
from lmms_medtasks.board.site.suite_words import SuiteTexts
from lmms_medtasks.report.cells import negate_estimate
from lmms_medtasks.statistics.intervals import IntervalEstimate, estimate_intervals
from lmms_medtasks.statistics.sums import DifferenceOf
from lmms_medtasks.suites.contributions import draw_together
from lmms_medtasks.suites.estimates import EMPTY


def headline_change(
    standings: BoardStandings, about: SuiteTexts, model: str, head: tuple[str, str]
) -> IntervalEstimate | None:
    """What a ranked model's share changes by, from the number that it is lost from to its suite's headline ``head``.

    None where it lacks one of them, they are no shares, or the suite's headline says none that it is lost from.
    """
    before = about.before(*head)
    own = {each.task: each for each in standings.board.of(suite=about.name, ranked=True) if each.model.key == model}
    if before is None or not all(task in own and metric in own[task].metrics for task, metric in (before, head)):
        return None
    change = negate_estimate(loss(own[before[0]], before[1], own[head[0]], head[1]))
    if change is None or change.estimate is None or own[head[0]].scale(head[1]).unit != "%":
        return None
    return change if standings.resamples else replace(change, low=None, high=None)


def loss(first: LeaderboardEntry, good: str, second: LeaderboardEntry, bad: str) -> IntervalEstimate:
    """The number ``good`` less ``bad``, in their measure's own unit, with an interval over clusters.

    ``first``, ``second``: one model's entries that have these metrics. All questions of both count, as the papers
    subtract them; images that both have make the interval narrower.
    """
    groups, statistics = draw_together(
        good=(first.samples, first.estimate(good)), bad=(second.samples, second.estimate(bad))
    )
    if not {"good", "bad"} <= statistics.keys():
        return EMPTY
    return estimate_intervals(groups, {"loss": DifferenceOf(statistics["good"], statistics["bad"])})["loss"]
