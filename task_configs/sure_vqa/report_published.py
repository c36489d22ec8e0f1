"""SURE-VQA: runs beside the paper's rows, Tables 14 to 19 by shift and the corruption study of Table 22."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from lmms_medtasks.report.about import own
from lmms_medtasks.report.cells import label
from lmms_medtasks.report.document import Cell, Column, Row, Table
from lmms_medtasks.report.suite_report import PublishedScores, data_extent
from lmms_medtasks.report.views import Source
from lmms_medtasks.task_configs.sure_vqa import reference
from lmms_medtasks.task_configs.sure_vqa.measures import KINDS, shift_of
from lmms_medtasks.task_configs.sure_vqa.reference import CorruptionRow, Printed
from lmms_medtasks.task_configs.sure_vqa.reference import Row as PublishedRow
from lmms_medtasks.task_configs.sure_vqa.report_methods import MARKS, Method, methods
from lmms_medtasks.task_configs.sure_vqa.report_shifts import SCALE, Shift


def score(name: str, *, signed: bool = False) -> Column:
    """A column of scores or of ratios, with two decimals as in the paper."""
    return Column(name, digits=2, signed=signed)


_NUMBERS = ("iid", "ood", "rr")
_COLUMNS = tuple(score(f"{kind} {name}") for kind in KINDS for name in ("i.i.d.", "OoD", "RR"))
_NOTES = (
    f"Scores: {SCALE}. RR: OoD / i.i.d. Several seeds: mean ± standard deviation over them (n - 1), RR the mean of the "
    "seeds' own. Empty for a baseline that answered nothing of a test.",
)
_PUBLISHED_NOTES = (
    "Published rows: SURE-VQA, judged by Gemma; without ± of one run. They were fine-tuned on the i.i.d. training set "
    "of the shift: for a model that was not, no test is i.i.d. in that sense.",
)
_TABLES = {key: number for number, key in reference.TABLES.items()}
PAPER = tuple(
    (Shift(dataset, name), shown)
    for dataset, names in reference.SHIFTS.items()
    for name in names
    for shown in (True, False)
)
"""The paper's shifts, each with images and without."""


def tables(found: Sequence[Method]) -> list[Table]:
    """A table for each of the paper's shifts that a method has, without images and with images apart."""
    made = (table(shift, shown, found) for shift, shown in PAPER)
    return [each for each in made if each is not None]


def table(shift: Shift, shown: bool, found: Sequence[Method]) -> Table | None:
    """A shift's table; None where no method has it."""
    having = [method for method in found if method.image_shown is shown and shift in method.shifts]
    return _shift(shift, having, shown) if having else None


def _shift(shift: Shift, methods: Sequence[Method], shown: bool) -> Table:
    rows = [_row(method, shift) for method in methods]
    columns = (label("model or method"), label("base model"), *_COLUMNS)
    for base, name in itertools.product(reference.BASE_MODELS, reference.METHODS):
        published = [
            each
            for kind in KINDS
            for each in reference.robustness_results(shift.dataset, base, shift.name, kind, image_shown=shown)
            if each.method == name
        ]
        # The most frequent answers are no model's: both halves of the tables have them.
        if published and (name != "most_frequent" or base == "medical"):
            title = "" if name == "most_frequent" else reference.BASE_MODELS[base]
            rows.append(_published((reference.METHODS[name], title), published))
    number = _TABLES[shift.dataset, shown]
    said = "" if shown else ", no image"
    return Table(
        _key(shift, shown),
        f"{shift.label}{said} (Table {number})",
        columns,
        tuple(rows),
        _NOTES,
        _PUBLISHED_NOTES,
        MARKS,
    )


def _key(shift: Shift, shown: bool) -> str:
    return f"published_{shift.dataset}_{shift.name}{'' if shown else '_noimage'}"


def labels(found: Iterable[Shift]) -> dict[str, str]:
    """The shift's label by the key of each table that is of one of these shifts."""
    return {_key(shift, shown): shift.label for shift in found for shown in (True, False)}


def printed() -> list[Table]:
    """Tables 14 to 19 as they are, a table a shift, without a row of ours."""
    return [
        _shift(Shift(dataset, name), (), shown)
        for dataset, shown in reference.TABLES.values()
        for name in reference.SHIFTS[dataset]
    ]


def corruptions(found: Sequence[Method]) -> Table | None:
    """Corrupted tests beside Table 22 and the run's own real shifts of the dataset; None without corrupted tests."""
    having = [method for method in found if method.image_shown and any(_corrupted(method.shifts))]
    if not having:
        return None
    datasets = {shift.dataset for method in having for shift in _corrupted(method.shifts)}
    rows = []
    for method in having:
        for shift in method.shifts:
            if shift.dataset in datasets and (shift.strength or shift.published):
                rows.append(_row(method, shift, shift.label))
    rows += [_published_corruption(*each) for each in _grouped(reference.corruption_results()).items()]
    columns = (label("model or method"), label("OoD test"), *_COLUMNS)
    notes = (
        "The corrupted tests are the i.i.d. test's questions with blurred, brightened or noisy images: their OoD and "
        "i.i.d. answers are of the same images.",
        *_NOTES,
    )
    published = ("Published rows: LLaVA-Med 1.5 with IA3, the i.i.d. test of the split named in brackets.",)
    return Table(
        "corruptions", "Corruptions beside real shifts (Table 22)", columns, tuple(rows), notes, published, MARKS
    )


def _corrupted(shifts: Iterable[Shift]) -> list[Shift]:
    return [shift for shift in shifts if shift.strength]


def _row(method: Method, shift: Shift, second: str | None = None) -> Row:
    cells = [method.cell, Cell(second)]
    for kind in KINDS:
        for name in _NUMBERS:
            cells.append(method.joined(shift, kind, name))
    return Row(tuple(cells))


def _published(head: tuple[str, str], rows: Sequence[PublishedRow | CorruptionRow]) -> Row:
    by_kind: Mapping[str, PublishedRow | CorruptionRow] = {row.answer_type: row for row in rows}
    printed = [getattr(by_kind[kind], name) for kind in KINDS for name in _NUMBERS]
    return Row((*(Cell(text or None) for text in head), *map(_cell, printed)), "reference")


def _cell(printed: Printed | None) -> Cell:
    return Cell(None) if printed is None else Cell(printed.mean, sd=printed.sd)


def _grouped(rows: Sequence[CorruptionRow]) -> dict[tuple[str, str], list[CorruptionRow]]:
    found: dict[tuple[str, str], list[CorruptionRow]] = {}
    for row in rows:
        found.setdefault((row.ood_set, row.shift), []).append(row)
    return found


def _published_corruption(key: tuple[str, str], rows: Sequence[CorruptionRow]) -> Row:
    ood, shift = (name.replace("_", " ") for name in key)
    test = f"{shift} shift" if ood == "realistic" else f"{ood} ({shift})"
    return _published(("IA3", test), rows)


# --- In a source's own part, and on the leaderboard -------------------------------------------------------------------


def _alone(source: Source) -> list[Method]:
    """The source as a method, called "this run"."""
    return [replace(method, cell=own(data_extent(source))) for method in methods([source])]


def _own_table(shift: Shift, shown: bool, found: Sequence[Source]) -> Table | None:
    return table(shift, shown, _alone(found[0]))


OWN_SHIFTS = tuple(functools.partial(_own_table, shift, shown) for shift, shown in PAPER)
"""The tables of a source's part, one for each shift of the paper."""


def own_corruptions(found: Sequence[Source]) -> Table | None:
    """:func:`corruptions` of a source's part."""
    return corruptions(_alone(found[0]))


def published_scores(task: str) -> Iterator[PublishedScores]:
    """The methods of the paper's table of a task's shift, for a task with both tests."""
    shown, shift = not task.endswith("_noimage"), Shift.of(shift_of(task))
    if not shift.published or task.endswith(("_iid", "_ood")):
        return
    for base, method in itertools.product(reference.BASE_MODELS, reference.METHODS):
        cells: dict[str, Cell] = {}
        for kind, factor in (("closed", 100.0), ("open", 1.0)):
            for row in reference.robustness_results(shift.dataset, base, shift.name, kind, image_shown=shown):
                if row.method == method:
                    cells[f"{kind}_iid"] = _scaled(row.iid, factor)
                    cells[f"{kind}_ood"] = _scaled(row.ood, factor)
        if cells and (method != "most_frequent" or base == "medical"):
            name = reference.METHODS[method]
            title = name if method == "most_frequent" else f"{reference.BASE_MODELS[base]}: {name}"
            source = f"published, Table {_TABLES[shift.dataset, shown]}"
            yield PublishedScores("SURE-VQA", title, source, cells)


def _scaled(printed: Printed | None, factor: float) -> Cell:
    if printed is None:
        return Cell(None)
    return Cell(factor * printed.mean, sd=None if printed.sd is None else factor * printed.sd)
