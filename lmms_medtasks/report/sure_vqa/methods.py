"""Runs of one method with several seeds, joined: told by their models' names.

Runs are of one method where their models' names are the same but for a part ``seed`` with a number: the checkpoints
``lora_seed1``, ``lora_seed2`` and ``lora_seed3`` are the method ``lora``. Names with the same seed, or with none, are
methods of their own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lmms_medtasks.report.cells import NONE, number
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.sure_vqa.analysis import Analysis
from lmms_medtasks.report.sure_vqa.reading import SIDES, Shift
from lmms_medtasks.samples.runs import distinct_names
from lmms_medtasks.statistics.variability import join

_SEED = re.compile(r"[\s_.\-]*\(?seed[\s_.=\-]*(\d+)\)?", re.IGNORECASE)
_STATISTIC = {"iid": "iid", "ood": "ood", "rr": "ratio"}


@dataclass(frozen=True)
class Method:
    """One or several runs of a method, with or without images.

    ``seeds`` has the seed of each analysis, "" where its model's name has none. ``cell`` names it in tables.
    """

    name: str
    image_shown: bool
    analyses: tuple[Analysis, ...]
    seeds: tuple[str, ...]
    cell: Cell

    @property
    def shifts(self) -> list[Shift]:
        """The shifts that all its runs have, in the paper's order."""
        own = [set(each.source.shifts) for each in self.analyses]
        return sorted(set.intersection(*own), key=lambda shift: shift.place)

    @property
    def baseline(self) -> bool:
        """Whether it is one of our models without weights."""
        return any(each.source.baseline for each in self.analyses)

    def joined(self, shift: Shift, kind: str, name: str) -> Cell:
        """``iid``, ``ood`` or ``rr``: of several runs mean and standard deviation, of one its interval.

        Empty where one of several runs has no value: a mean over the others would hide it.
        Empty for a baseline that answered nothing of a test, as in the paper: its score is what silence counts as.
        """
        found = [result for each in self.analyses if (result := each.get(shift, kind))]
        silent = {side for each in found for side in SIDES if each.sides[side].answered_share == 0}
        if self.baseline and silent & ({name} if name in SIDES else set(SIDES)):
            return NONE
        intervals = [getattr(each.robustness, _STATISTIC[name]) for each in found]
        if len(self.analyses) == 1:
            return number(intervals[0]) if intervals else NONE
        values = [each.estimate for each in intervals]
        joined = None if None in values else join(values)
        return Cell(joined.mean, sd=joined.sd) if joined else NONE


def split_seed(model: str) -> tuple[str, str]:
    """A model's name without its seed, and the seed ("" if it names none).

    >>> split_seed("adapters/lora-seed_12"), split_seed("seedling-7b")
    (('adapters/lora', '12'), ('seedling-7b', ''))
    """
    found = _SEED.findall(model)
    return (_SEED.sub("", model), found[-1]) if found else (model, "")


def methods(analyses: Sequence[Analysis]) -> list[Method]:
    """The methods of these runs, in their order, with names that are all different."""
    groups: dict[tuple[str, bool], list[tuple[str, Analysis]]] = {}
    for each in analyses:
        method, seed = split_seed(each.source.model)
        groups.setdefault((method, each.source.image_shown), []).append((seed, each))
    found = []
    for (name, shown), members in groups.items():
        seeds = [seed for seed, _ in members]
        if len(members) > 1 and "" not in seeds and len(set(seeds)) == len(seeds):
            found.append(_method(name, shown, members))
        else:
            runs = [each.source.run for _, each in members]
            names = distinct_names(runs, [0] * len(runs))
            found += [_method(own, shown, [member]) for own, member in zip(names, members, strict=True)]
    return found


def _method(name: str, shown: bool, members: Sequence[tuple[str, Analysis]]) -> Method:
    title = name if shown else f"{name}, no image"
    said = f"{title} ({len(members)} seeds)" if len(members) > 1 else title
    seeds, analyses = zip(*members, strict=True)
    return Method(title, shown, tuple(analyses), tuple(seeds), Cell(said))
