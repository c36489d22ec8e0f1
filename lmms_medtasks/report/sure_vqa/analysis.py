"""The numbers of one run: each shift's two tests, their relative robustness, and what would be with the missing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lmms_medtasks.report.sure_vqa.reading import KINDS, SIDES, TRADITIONAL, Answer, Shift, Side, Source, of, tests
from lmms_medtasks.statistics.bootstrap import RESAMPLES
from lmms_medtasks.statistics.robustness import Robustness, relative_robustness, robustness

SMALL = 100
"""Questions of a kind in an OoD test below which it is called small: the standard error of a share of one half is then
0.05 or more, were the questions independent. Our choice."""


@dataclass(frozen=True)
class Asked:
    """A test's questions of one kind.

    ``asked`` questions, ``failed`` requests, ``empty`` replies; ``judged`` of ``wanted`` judgements were had. ``low``
    and ``high``: the mean over all but failed requests, had each missing judgement been the worst, or the best.
    ``answered``: the mean score over replies that are not empty (None without). ``text``: means of the traditional
    metrics over the replies.
    """

    asked: int
    failed: int
    empty: int
    judged: int
    wanted: int
    low: float | None
    high: float | None
    answered: float | None
    text: Mapping[str, float | None]

    @property
    def coverage(self) -> float | None:
        """Share of the judgements wanted that were had."""
        return self.judged / self.wanted if self.wanted else None

    @property
    def answered_share(self) -> float | None:
        """Share of the replies that are not empty."""
        replies = self.asked - self.failed
        return (replies - self.empty) / replies if replies else None


@dataclass(frozen=True)
class Result:
    """A shift's result for one kind of questions, "closed" or "open"."""

    shift: Shift
    kind: str
    robustness: Robustness
    sides: Mapping[Side, Asked]

    @property
    def missing(self) -> int:
        """Judgements of both tests that could not be had."""
        return sum(side.wanted - side.judged for side in self.sides.values())

    @property
    def rr_bounds(self) -> tuple[float | None, float | None]:
        """RR at worst and at best over what the missing judgements might have been."""
        iid, ood = (self.sides[side] for side in SIDES)
        return relative_robustness(iid.high, ood.low), relative_robustness(iid.low, ood.high)

    @property
    def is_small(self) -> bool:
        """Whether the OoD test has few questions of the kind."""
        return 0 < self.sides["ood"].asked < SMALL


@dataclass(frozen=True)
class Analysis:
    """All results of a source, by shift and kind; a kind that a shift has no question of is not there."""

    source: Source
    results: Mapping[tuple[Shift, str], Result]

    def get(self, shift: Shift, kind: str) -> Result | None:
        """The result, None if there is none."""
        return self.results.get((shift, kind))


def analyse(source: Source, *, resamples: int = RESAMPLES) -> Analysis:
    """All numbers of one source."""
    found = {}
    for shift, answers in source.shifts.items():
        for kind in KINDS:
            own = of(answers, kind=kind)
            if own:
                found[shift, kind] = Result(
                    shift=shift,
                    kind=kind,
                    robustness=robustness(tests(answers, kind), resamples=resamples),
                    sides={side: _asked(of(own, side)) for side in SIDES},
                )
    return Analysis(source, found)


def _asked(answers: Sequence[Answer]) -> Asked:
    replies = [each for each in answers if each.status != "failed"]
    return Asked(
        asked=len(answers),
        failed=len(answers) - len(replies),
        empty=sum(each.status == "empty" for each in replies),
        judged=sum(each.judged for each in answers),
        wanted=sum(each.wanted for each in answers),
        low=_mean([each.low for each in answers]),
        high=_mean([each.high for each in answers]),
        answered=_mean([each.score for each in replies if each.status != "empty"]),
        text={name: _mean([each.text.get(name) for each in replies]) for name in TRADITIONAL},
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None
