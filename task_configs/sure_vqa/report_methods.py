"""SURE-VQA: runs of one method with several seeds, joined: told by their models' names.

Runs are of one method where their models' names are the same but for a part ``seed`` with a number: the checkpoints
``lora_seed1``, ``lora_seed2`` and ``lora_seed3`` are the method ``lora``. Names with the same seed, or with none, are
methods of their own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lmms_medtasks.report.cells import NONE, number
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.judged_tables import LEXICAL, MEANINGS
from lmms_medtasks.report.suite_report import settings_of
from lmms_medtasks.report.views import Source
from lmms_medtasks.samples.runs import distinct_names, model_name
from lmms_medtasks.task_configs.sure_vqa.measures import SIDES
from lmms_medtasks.task_configs.sure_vqa.report_shifts import (
    Shift,
    answered_share,
    image_shown,
    is_baseline,
    is_by_words,
    shifts,
    statistic,
)
from lmms_medtasks.task_configs.sure_vqa.variability import join

MARKS = {LEXICAL: MEANINGS[LEXICAL]}
"""The marks of :meth:`Method.joined`, for a table."""
_SEED = re.compile(r"[\s_.\-]*\(?seed[\s_.=\-]*(\d+)\)?", re.IGNORECASE)


@dataclass(frozen=True)
class Method:
    """One or several runs of a method, with or without images.

    ``seeds`` has the seed of each source, "" where its model's name has none. ``cell`` names it in tables.
    """

    name: str
    image_shown: bool
    sources: tuple[Source, ...]
    seeds: tuple[str, ...]
    cell: Cell

    @property
    def shifts(self) -> list[Shift]:
        """The shifts that all its runs have, in the paper's order."""
        own = [set(shifts(each)) for each in self.sources]
        return sorted(set.intersection(*own), key=lambda shift: shift.place)

    @property
    def baseline(self) -> bool:
        """Whether it is one of our models without weights."""
        return any(map(is_baseline, self.sources))

    def joined(self, shift: Shift, kind: str, name: str) -> Cell:
        """``iid``, ``ood`` or ``rr``: of several runs mean and standard deviation, of one its interval.

        Empty where one of several runs has no value: a mean over the others would hide it.
        Empty for a baseline that answered nothing of a test, as in the paper: its score is what silence counts as.
        """
        asked = [each for each in self.sources if len(each.rows.where(shift.where(kind)))]
        needed = (name,) if name in SIDES else tuple(SIDES)
        tests = [each.rows.where(shift.where(kind, side)) for each in asked for side in needed]
        if self.baseline and any(answered_share(rows) == 0 for rows in tests):
            return NONE
        intervals = [statistic(each, shift, kind, name) for each in asked]
        sign = LEXICAL * any(is_by_words(each, shift, kind) for each in asked)
        if len(self.sources) == 1:
            cell = number(intervals[0]) if intervals else NONE
            return cell if cell.value is None else replace(cell, mark=sign + cell.mark)
        values = [each.estimate for each in intervals]
        joined = None if None in values else join(values)
        return Cell(joined.mean, sd=joined.sd, mark=sign) if joined else NONE


def split_seed(model: str) -> tuple[str, str]:
    """A model's name without its seed, and the seed ("" if it names none).

    >>> split_seed("adapters/lora-seed_12"), split_seed("seedling-7b")
    (('adapters/lora', '12'), ('seedling-7b', ''))
    """
    found = _SEED.findall(model)
    return (_SEED.sub("", model), found[-1]) if found else (model, "")


def model_of(source: Source) -> str:
    """The checkpoint's name, or the harness's name of the model."""
    return model_name(source.run.content)


def methods(sources: Sequence[Source]) -> list[Method]:
    """The methods of these runs, in their order, with names that are all different."""
    groups: dict[tuple[str, bool], list[tuple[str, Source]]] = {}
    for each in sources:
        method, seed = split_seed(model_of(each))
        # Runs of other settings are no seeds of this method.
        settings = settings_of(each)
        named = f"{method} ({settings})" if settings else method
        groups.setdefault((named, image_shown(each)), []).append((seed, each))
    found = []
    for (name, shown), members in groups.items():
        seeds = [seed for seed, _ in members]
        if len(members) > 1 and "" not in seeds and len(set(seeds)) == len(seeds):
            found.append(_method(name, shown, members))
        else:
            runs = [each.run for _, each in members]
            names = distinct_names(runs, [0] * len(runs))
            if settings := settings_of(members[0][1]):
                names = [f"{each} ({settings})" for each in names]
            found += [_method(own, shown, [member]) for own, member in zip(names, members, strict=True)]
    return found


def _method(name: str, shown: bool, members: Sequence[tuple[str, Source]]) -> Method:
    title = name if shown else f"{name}, no image"
    said = f"{title} ({len(members)} seeds)" if len(members) > 1 else title
    seeds, sources = zip(*members, strict=True)
    return Method(title, shown, tuple(sources), tuple(seeds), Cell(said))
