"""SURE-VQA: runs beside the paper's rows, Tables 14 to 19 by shift and the corruption study of Table 22."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lmms_medtasks.report.about import own
from lmms_medtasks.report.cells import label
from lmms_medtasks.report.document import Cell, Frame, FrameColumn, FrameRow
from lmms_medtasks.report.published import Published
from lmms_medtasks.report.suite_report import data_extent
from lmms_medtasks.report.views import Source
from lmms_medtasks.task_configs.sure_vqa.measures import KINDS
from lmms_medtasks.task_configs.sure_vqa.report_methods import MARKS, Method, methods
from lmms_medtasks.task_configs.sure_vqa.report_shifts import FOLDER, SCALE, SHIFTS, Shift


def score(name: str, *, signed: bool = False) -> FrameColumn:
    """A column of scores or of ratios, with two decimals as in the paper."""
    return FrameColumn(name, digits=2, signed=signed)


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
        return self._made([_row(each, self.shift) for each in having]) if having else None

    @property
    def published(self) -> Published:
        """Its rows in the paper."""
        return self.shift.printed(self.shown)

    def printed(self) -> Frame:
        """The table with its published rows alone."""
        return self._made([])

    @property
    def key(self) -> str:
        """Its key."""
        return f"published_{self.shift.dataset}_{self.shift.name}{'' if self.shown else '_noimage'}"

    def _made(self, rows: Sequence[FrameRow]) -> Frame:
        said, number = "" if self.shown else ", no image", self.published.rows()[0].texts["source"]
        return Frame(
            self.key,
            f"{self.shift.label}{said} ({number})",
            (label("model or method"), label("base model"), *_COLUMNS),
            (*rows, *self.published.filled(_PRINTED)),
            _NOTES,
            self.published.notes,
            MARKS,
        )


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


def joined(found: Sequence[Method]) -> Frame:
    """Scores and RR of every method on every shift, seeds joined: for shifts that the paper has no table of."""
    rows = [_row(method, shift, shift.label) for method in found for shift in method.shifts]
    columns = (label("method"), label("shift"), *_COLUMNS)
    return Frame("joined", "Scores and robustness", columns, tuple(rows), marks=MARKS)


def corruptions(found: Sequence[Method]) -> Frame | None:
    """Corrupted tests beside Table 22 and the run's own real shifts of the dataset; None without corrupted tests."""
    having = [method for method in found if method.image_shown and any(shift.strength for shift in method.shifts)]
    if not having:
        return None
    datasets = {shift.dataset for method in having for shift in method.shifts if shift.strength}
    rows = [
        _row(method, shift, shift.label)
        for method in having
        for shift in method.shifts
        if shift.dataset in datasets and (shift.strength or shift.published)
    ]
    printed = Published(FOLDER, {"source": "Table 22"}, ("method", "test"))
    notes = (
        "The corrupted tests are the i.i.d. test's questions with blurred, brightened or noisy images: their OoD and "
        "i.i.d. answers are of the same images.",
        *_NOTES,
    )
    return Frame(
        "corruptions",
        "Corruptions beside real shifts (Table 22)",
        (label("model or method"), label("OoD test"), *_COLUMNS),
        (*rows, *printed.filled(_PRINTED)),
        notes,
        printed.notes,
        MARKS,
    )


def _row(method: Method, shift: Shift, second: str | None = None) -> FrameRow:
    return FrameRow(
        (method.cell, Cell(second), *(method.joined(shift, kind, name) for kind in KINDS for name in _NUMBERS))
    )


def _alone(source: Source) -> list[Method]:
    """The source as a method, called "this run"."""
    return [replace(method, cell=own(data_extent(source))) for method in methods([source])]


def own_corruptions(found: Sequence[Source]) -> Frame | None:
    """:func:`corruptions` of a source's part."""
    return corruptions(_alone(found[0]))
