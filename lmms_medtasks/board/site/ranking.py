"""The standing of each model on a measure: its mean, its rank, and the ranks that chance leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lmms_medtasks.board.entries import LeaderboardEntry
from lmms_medtasks.report.report_options import RESAMPLES
from lmms_medtasks.short_texts import count_noun
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.statistics.intervals import IntervalEstimate
from lmms_medtasks.statistics.rank_intervals import LEAST_CLUSTERS, RankIntervals, rank_intervals
from lmms_medtasks.suites.contributions import image_contributions

_TIED = 1e-12
SHORT = (
    "Rank intervals: from the models that are better beyond chance to those that are not worse beyond chance; those of "
    f"a column hold together in {LEVEL} of samples. With fewer than {LEAST_CLUSTERS} images there are no ranks. More "
    "at the foot of the page."
)


@dataclass(frozen=True)
class ModelStanding:
    """A model on a measure.

    Attributes:
        mean: over all its scored questions, in the measure's unit, with its interval.
        rank, low, high: on the questions common to all; None with fewer than 10 images. ``low`` and ``high`` are None
            with one model, or without resamples. common: number of these questions. reason: why there is no rank, or
            "".
    """

    mean: IntervalEstimate
    rank: int | None
    low: int | None
    high: int | None
    common: int
    reason: str = ""

    @property
    def ranks(self) -> str:
        """``1``, ``2–3``: the ranks that chance leaves open; "" without one."""
        if self.rank is None:
            return ""
        return str(self.rank) if self.low is None or self.low == self.high else f"{self.low}–{self.high}"


@dataclass(frozen=True)
class ModelRanking:
    """Models on a measure. ``standings``: in the order of the entries.

    ``pairs``: for each two models who is significantly better, and by how much (in the measure's unit, more being
    better); None with one model, with too few images, or without resamples.
    """

    standings: list[ModelStanding]
    pairs: RankIntervals | None


def rank_models(entries: Sequence[LeaderboardEntry], metric: str, *, resamples: int = RESAMPLES) -> ModelRanking:
    """The standing of each of ``entries`` (all of one task, with this metric), in their order.

    ``resamples``: of the means' intervals; with 0 ranks have no interval either. Neither the rest of the board nor the
    order of the entries changes a standing.
    """
    if not entries:
        return ModelRanking([], None)
    means = [entry.interval(metric, with_interval=resamples > 0) for entry in entries]
    found = image_contributions([each.make_samples for each in entries], entries[0].estimate(metric), metric)
    common, images = (found.rows, len(found.sums)) if found else (0, 0)
    if found is None or images < LEAST_CLUSTERS:
        why = f"only {count_noun(images, 'image')} with a score of every model, {LEAST_CLUSTERS} are needed"
        if not entries[0].is_mean(metric):
            why = (found.reason or why) if found else "a model has no value on the questions of all"
        return ModelRanking([ModelStanding(mean, None, None, None, common, why) for mean in means], None)
    sums = found.sums if entries[0].scale(metric).higher_is_better else -found.sums
    pairs = rank_intervals(sums, sizes=found.sizes) if resamples and len(entries) > 1 else None
    totals = sums.sum(axis=0) / common
    ahead = totals[:, None] > totals[None, :] + _TIED
    standings = [
        ModelStanding(
            mean=means[row],
            rank=1 + int(ahead[:, row].sum()),
            low=int(pairs.low[row]) if pairs else None,
            high=int(pairs.high[row]) if pairs else None,
            common=common,
        )
        for row in range(len(entries))
    ]
    return ModelRanking(standings, pairs)
