"""SURE-VQA: runs beside the paper's rows (Tables 14 to 19 by shift, the corruption study of Table 22), seeds joined.

Runs are of one method where their models' names are the same but for a part ``seed`` with a number: the checkpoints
``lora_seed1``, ``lora_seed2`` and ``lora_seed3`` are the method ``lora``. Names with the same seed, or with none, are
methods of their own.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lmms_medtasks.report.about import own
from lmms_medtasks.report.cells import NONE, label, number
from lmms_medtasks.report.document import Cell, Frame, FrameColumn, FrameRow
from lmms_medtasks.report.published import Published
from lmms_medtasks.report.suite_report import data_extent, settings_of
from lmms_medtasks.report.views import Source
from lmms_medtasks.samples.runs import distinct_names
from lmms_medtasks.task_configs.sure_vqa.measures import KINDS, SIDES
from lmms_medtasks.task_configs.sure_vqa.report_shifts import (
    FOLDER,
    MARKS,
    SCALE,
    SHIFTS,
    Shift,
    answered,
    baseline_of,
    model_of,
    shifts,
    statistic,
    words_mark,
)

_SEED = re.compile(r"[\s_.\-]*\(?seed[\s_.=\-]*(\d+)\)?", re.IGNORECASE)


# --- Methods ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Method:
    """One or several runs of a method, with or without images; ``cell`` names it in tables."""

    name: str
    image_shown: bool
    sources: tuple[Source, ...]
    cell: Cell

    @property
    def shifts(self) -> list[Shift]:
        """The shifts that all its runs have, in the paper's order."""
        asked = [set(shifts(each)) for each in self.sources]
        return sorted(set.intersection(*asked), key=lambda shift: shift.place)

    @property
    def baseline(self) -> bool:
        """Whether it is one of our models without weights."""
        return any(map(baseline_of, self.sources))

    def joined(self, shift: Shift, kind: str, name: str) -> Cell:
        """``iid``, ``ood`` or ``rr``: of several runs mean and standard deviation (n - 1), of one its interval.

        Empty where one of several runs has no value: a mean over the others would hide it.
        Empty for a baseline that answered nothing of a test, as in the paper: its score is what silence counts as.
        """
        asked = [each for each in self.sources if len(each.rows.where(shift.where(kind)))]
        needed = (name,) if name in SIDES else tuple(SIDES)
        tests = [each.rows.where(shift.where(kind, side)) for each in asked for side in needed]
        if not asked or (self.baseline and any(len(rows) and not len(answered(rows)) for rows in tests)):
            return NONE
        intervals = [statistic(each, shift, kind, name) for each in asked]
        values = [each.estimate for each in intervals if each.estimate is not None]
        if len(values) < len(intervals):
            return NONE
        sign = max(words_mark(each, shift, kind) for each in asked)
        if len(self.sources) == 1:
            cell = number(intervals[0])
            return replace(cell, mark=sign + cell.mark)
        sd = statistics.stdev(values) if len(values) > 1 else None
        return Cell(statistics.fmean(values), sd=sd, mark=sign)


def split_seed(model: str) -> tuple[str, str]:
    """A model's name without its seed, and the seed ("" if it names none).

    >>> split_seed("adapters/lora-seed_12"), split_seed("seedling-7b")
    (('adapters/lora', '12'), ('seedling-7b', ''))
    """
    found = _SEED.findall(model)
    return (_SEED.sub("", model), found[-1]) if found else (model, "")


def methods(sources: Sequence[Source]) -> list[Method]:
    """The methods of these runs, in their order, with names that are all different."""
    groups: dict[tuple[str, bool], list[tuple[str, Source]]] = {}
    for each in sources:
        method, seed = split_seed(model_of(each))
        # Runs of other settings are no seeds of this method.
        groups.setdefault((_with_settings(method, each), not each.condition), []).append((seed, each))
    found = []
    for (name, shown), members in groups.items():
        seeds, runs = zip(*members, strict=True)
        if len(members) > 1 and "" not in seeds and len(set(seeds)) == len(seeds):
            found.append(_method(name, shown, runs))
        else:
            names = distinct_names([each.run for each in runs], [0] * len(runs))
            found += [
                _method(_with_settings(own_name, each), shown, (each,))
                for own_name, each in zip(names, runs, strict=True)
            ]
    return found


def _with_settings(name: str, source: Source) -> str:
    settings = settings_of(source)
    return f"{name} ({settings})" if settings else name


def _method(name: str, shown: bool, runs: tuple[Source, ...]) -> Method:
    title = name if shown else f"{name}, no image"
    return Method(title, shown, runs, Cell(f"{title} ({len(runs)} seeds)" if len(runs) > 1 else title))


# --- Tables -----------------------------------------------------------------------------------------------------------


def score(name: str) -> FrameColumn:
    """A column of scores or of ratios, with two decimals as in the paper."""
    return FrameColumn(name, digits=2)


_NUMBERS = ("iid", "ood", "rr")
_COLUMNS = tuple(score(f"{kind} {name}") for kind in KINDS for name in ("i.i.d.", "OoD", "RR"))
_PRINTED = tuple(f"{kind}_{name}" for kind in KINDS for name in _NUMBERS)
_NOTES = (
    f"Scores: {SCALE}. RR: OoD / i.i.d. Several seeds: mean ± standard deviation over them (n - 1), RR the mean of the "
    "seeds' own. Empty for a baseline that answered nothing of a test.",
)


@dataclass(frozen=True)
class ShiftTable:
    """The table of one of the paper's shifts, with images or without, in a source's own part."""

    shift: Shift
    shown: bool

    def __call__(self, sources: Sequence[Source]) -> Frame | None:
        """The table of a source; None where it was not asked so."""
        return self.of(_alone(sources[0]))

    def of(self, found: Sequence[Method]) -> Frame | None:
        """The table of several methods; None where none has the shift."""
        having = [each for each in found if each.image_shown is self.shown and self.shift in each.shifts]
        return self._build_frame([_method_row(each, self.shift) for each in having]) if having else None

    @property
    def published(self) -> Published:
        """Its rows in the paper."""
        return self.shift.printed(self.shown)

    def printed(self) -> Frame:
        """The table with its published rows alone."""
        return self._build_frame([])

    @property
    def key(self) -> str:
        """Its key."""
        return f"published_{self.shift.dataset}_{self.shift.name}{'' if self.shown else '_noimage'}"

    def _build_frame(self, rows: Sequence[FrameRow]) -> Frame:
        said, source = "" if self.shown else ", no image", self.published.rows()[0].texts["source"]
        return _frame(self.key, f"{self.shift.label}{said} ({source})", "base model", rows, self.published)


SHIFT_TABLES = tuple(
    ShiftTable(Shift(dataset, name), shown)
    for dataset, names in SHIFTS.items()
    for name in names
    for shown in (True, False)
)


def tables(found: Sequence[Method]) -> list[Frame]:
    """A table for each of the paper's shifts that a method has, without images and with images apart."""
    return [made for each in SHIFT_TABLES if (made := each.of(found))]


def labels() -> dict[str, str]:
    """The shift's label by the key of each table."""
    return {each.key: each.shift.label for each in SHIFT_TABLES}


def joined(found: Sequence[Method]) -> Frame | None:
    """Scores and RR on the shifts that the paper has no table of; None without any. Corrupted tests have their own."""
    rows = [_method_row(method, shift, shift.label) for method in found
            for shift in method.shifts if not (shift.published or shift.strength)]  # fmt: skip
    return _frame("joined", "Scores and robustness", "shift", rows) if rows else None


def corruptions(found: Sequence[Method]) -> Frame | None:
    """Corrupted tests beside Table 22 and the run's own real shifts of the dataset; None without corrupted tests."""
    having = [method for method in found if method.image_shown and any(shift.strength for shift in method.shifts)]
    datasets = {shift.dataset for method in having for shift in method.shifts if shift.strength}
    rows = [
        _method_row(method, shift, shift.label)
        for method in having
        for shift in method.shifts
        if shift.dataset in datasets and (shift.strength or shift.published)
    ]
    if not rows:
        return None
    printed = Published(FOLDER, {"source": "Table 22"}, ("method", "test"))
    same = (
        "The corrupted tests are the i.i.d. test's questions with blurred, brightened or noisy images: their OoD and "
        "i.i.d. answers are of the same images."
    )
    return _frame("corruptions", "Corruptions beside real shifts (Table 22)", "OoD test", rows, printed, same)


def own_corruptions(found: Sequence[Source]) -> Frame | None:
    """:func:`corruptions` of a source's part."""
    return corruptions(_alone(found[0]))


def _frame(
    key: str, title: str, second: str, rows: Sequence[FrameRow], printed: Published | None = None, *notes: str
) -> Frame:
    """A table of scores and RR, of runs and beneath them of the paper; ``second``: the head of the second column."""
    return Frame(
        key,
        title,
        (label("model or method"), label(second), *_COLUMNS),
        (*rows, *(printed.filled(_PRINTED) if printed else ())),
        (*notes, *_NOTES),
        printed.notes if printed else (),
        MARKS,
    )


def _method_row(method: Method, shift: Shift, second: str | None = None) -> FrameRow:
    return FrameRow(
        (method.cell, Cell(second), *(method.joined(shift, kind, name) for kind in KINDS for name in _NUMBERS))
    )


def _alone(source: Source) -> list[Method]:
    """The source as a method, called "this run"."""
    return [replace(method, cell=own(data_extent(source))) for method in methods([source])]
