"""SURE-VQA's shifts in a report, and runs beside the paper's rows (Tables 14 to 19, Table 22), seeds joined.

Runs are of one method where their models' names are the same but for a part ``seed`` with a number: the checkpoints
``lora_seed1``, ``lora_seed2`` and ``lora_seed3`` are the method ``lora``. Names with the same seed, or with none, are
methods of their own.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from lmms_medtasks.report.about import own_results_cell
from lmms_medtasks.report.cells import NONE, number_cell
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.judged_tables import LEXICAL, MEANINGS, JudgingSummary
from lmms_medtasks.report.published import PublishedRowsSpec
from lmms_medtasks.report.suite_report import changed_settings_text, data_extent_text
from lmms_medtasks.report.views import CellFunction, ColumnSpec, ModelResults, RowSpec, TableSpec
from lmms_medtasks.samples.runs import distinct_names, model_name
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.statistics.intervals import IntervalEstimate
from lmms_medtasks.task_configs.sure_vqa.measures import KINDS, ROBUSTNESS, SIDES

FOLDER = Path(__file__).parent
DATASETS = {"slake": "SLAKE", "ovqa": "OVQA", "mimic": "MIMIC-CXR-VQA"}
SHIFTS = {
    "slake": ("modality", "question_type"),
    "ovqa": ("body_part", "question_type"),
    "mimic": ("gender", "ethnicity", "age"),
}
"""The paper's shifts by dataset, in the order of its tables."""
SIDE_NAMES = {"iid": "i.i.d.", "ood": "OoD"}
STATISTICS = {"iid": "first", "ood": "second", "rr": "ratio"}
"""What the contrast of a shift's tests calls the mean of each, and RR."""

GUESSING = {"closed": 0.5}
"""What a uniform guess gets on each closed question. The paper's cleaning (C.1.2) keeps those with two options. Where
both may be right, "both" and "none" are options beside the two, and a guess among the four gets one half on average."""

MAIN_SHIFT = "slake_modality"
"""The shift whose number stands for the benchmark, here and on a board. The paper prints a number a shift
(Tables 14 to 19), and none over all shifts; this is the first of them."""

MARKS = {LEXICAL: MEANINGS[LEXICAL]}
"""The marks of :func:`words_mark`, for a table."""

SCALE = "closed: 0 to 1 (a question with two options may get 0.5); open: 1 to 5 stars"
_CORRUPTED = re.compile(r"(?:.+_)?corrupted_(low|medium|high)")
_STRENGTHS = ("low", "medium", "high")
_UNANSWERED = ("failed", "empty")

MOST_FREQUENT_MODEL = "medtasks_most_frequent"
"""The baseline that gives the most frequent answer of the training set."""


@dataclass(frozen=True, order=True)
class PublishedShift:
    """A shift of a dataset, as its task is named: ``slake`` and ``modality`` of ``sure_slake_modality``."""

    dataset: str
    name: str

    @classmethod
    def of(cls, tag: str) -> PublishedShift:
        """The shift of a question, from the tag ``shift``.

        >>> Shift.of("slake_question_type_swapped")
        Shift(dataset='slake', name='question_type_swapped')
        """
        dataset, _, name = tag.partition("_")
        return cls(dataset, name)

    @property
    def label(self) -> str:
        """``SLAKE, question type``."""
        return f"{DATASETS.get(self.dataset, self.dataset)}, {self.name.replace('_', ' ')}"

    @property
    def published(self) -> bool:
        """Whether Tables 14 to 19 have it."""
        return self.name in SHIFTS.get(self.dataset, ())

    def printed(self, shown: bool = True) -> PublishedRowsSpec:
        """The rows of its table in the paper, with the images shown or without."""
        task = f"sure_{self.dataset}_{self.name}{'' if shown else '_noimage'}"
        return PublishedRowsSpec(FOLDER, {"task": task}, ("method", "base_model"))

    @property
    def strength(self) -> str:
        """Of a corrupted test how strongly: "low", "medium" or "high"; "" for a real shift."""
        found = _CORRUPTED.fullmatch(self.name)
        return found.group(1) if found else ""

    @property
    def place(self) -> tuple[Hashable, ...]:
        """Sorts shifts: datasets and shifts as in the paper, others behind, corrupted tests last."""
        datasets, own = list(DATASETS), SHIFTS.get(self.dataset, ())
        behind = datasets.index(self.dataset) if self.dataset in datasets else len(datasets)
        order = own.index(self.name) if self.name in own else len(own)
        if self.strength:
            order += 1 + _STRENGTHS.index(self.strength)
        return behind, self.dataset, order, self.name

    def where(self, kind: str = "", side: str = "") -> dict[str, Any]:
        """The restriction to its questions, those of a kind and of a test."""
        return {"shift": f"{self.dataset}_{self.name}", **KINDS.get(kind, {}), **SIDES.get(side, {})}


def words_mark(source: ModelResults, shift: PublishedShift, kind: str) -> str:
    """:data:`LEXICAL` where the judge that compares words gave scores of these questions, else ""."""
    found = JudgingSummary.of(source.rows.where(shift.where(kind)))
    return LEXICAL if found and found.by_words else ""


def requested_shifts(source: ModelResults) -> list[PublishedShift]:
    """The shifts that a source was asked, in the paper's order."""
    return sorted(map(PublishedShift.of, source.rows.values("shift")), key=lambda shift: shift.place)


class ShiftCondition(NamedTuple):
    """A shift, for closed or open questions."""

    shift: PublishedShift
    kind: str

    @property
    def label(self) -> str:
        """``SLAKE, question type, open``."""
        return f"{self.shift.label}, {self.kind}"


def shift_groups(source: ModelResults) -> Iterator[ShiftCondition]:
    """Each shift and kind of question that a source was asked."""
    for shift in requested_shifts(source):
        for kind in KINDS:
            if len(source.rows.where(shift.where(kind))):
                yield ShiftCondition(shift, kind)


def shift_estimate(source: ModelResults, shift: PublishedShift, kind: str, name: str) -> IntervalEstimate:
    """The mean of a test ("iid", "ood"), or RR ("rr"): all of one draw, in which a shared image stays paired."""
    return source.interval(ROBUSTNESS[kind], shift.where(kind), STATISTICS[name])


def questions_answered(rows: QuestionTable) -> QuestionTable:
    """The questions with a reply that is neither a failed request nor empty."""
    return rows.take([place for place, trials in enumerate(rows.column("trials")) if trials[0] not in _UNANSWERED])


def checkpoint_name(source: ModelResults) -> str:
    """The checkpoint's name, or the harness's name of the model."""
    return model_name(source.run.content)


def baseline_of(source: ModelResults) -> str:
    """The name of our model without weights that a source is of, such as :data:`MOST_FREQUENT_MODEL`; "" of another."""
    name = str((source.run.content.get("config") or {}).get("model", ""))
    return name if name.startswith("medtasks_") and name != "medtasks_peft" else ""


# --- Methods ----------------------------------------------------------------------------------------------------------
_SEED = re.compile(r"[\s_.\-]*\(?seed[\s_.=\-]*(\d+)\)?", re.IGNORECASE)


@dataclass(frozen=True)
class EvaluatedMethod:
    """One or several runs of a method, with or without images; ``cell`` names it in tables."""

    name: str
    image_shown: bool
    sources: tuple[ModelResults, ...]
    cell: Cell

    @property
    def shifts(self) -> list[PublishedShift]:
        """The shifts that all its runs have, in the paper's order."""
        asked = [set(requested_shifts(source)) for source in self.sources]
        return sorted(set.intersection(*asked), key=lambda shift: shift.place)

    @property
    def baseline(self) -> bool:
        """Whether it is one of our models without weights."""
        return any(map(baseline_of, self.sources))

    def joined(self, shift: PublishedShift, kind: str, name: str) -> Cell:
        """``iid``, ``ood`` or ``rr``: of several runs mean and standard deviation (n - 1), of one its interval.

        Empty where one of several runs has no value: a mean over the others would hide it.
        Empty for a baseline that answered nothing of a test, as in the paper: its score is what silence counts as.
        """
        asked = [source for source in self.sources if len(source.rows.where(shift.where(kind)))]
        needed = (name,) if name in SIDES else tuple(SIDES)
        tests = [each.rows.where(shift.where(kind, side)) for each in asked for side in needed]
        if not asked or (self.baseline and any(len(rows) and not len(questions_answered(rows)) for rows in tests)):
            return NONE
        intervals = [shift_estimate(each, shift, kind, name) for each in asked]
        values = [interval.estimate for interval in intervals if interval.estimate is not None]
        if len(values) < len(intervals):
            return NONE
        sign = max(words_mark(each, shift, kind) for each in asked)
        if len(self.sources) == 1:
            cell = number_cell(intervals[0])
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


def group_methods(sources: Sequence[ModelResults]) -> list[EvaluatedMethod]:
    """The methods of these runs, in their order, with names that are all different."""
    groups: dict[tuple[str, bool], list[tuple[str, ModelResults]]] = {}
    for source in sources:
        method, seed = split_seed(checkpoint_name(source))
        # Runs of other settings are no seeds of this method.
        groups.setdefault((_with_settings(method, source), not source.condition), []).append((seed, source))
    found = []
    for (name, shown), members in groups.items():
        seeds, runs = zip(*members, strict=True)
        if len(members) > 1 and "" not in seeds and len(set(seeds)) == len(seeds):
            found.append(_make_method(name, shown, runs))
        else:
            names = distinct_names([source.run for source in runs], [0] * len(runs))
            found += [
                _make_method(_with_settings(own_name, each), shown, (each,))
                for own_name, each in zip(names, runs, strict=True)
            ]
    return found


def _with_settings(name: str, source: ModelResults) -> str:
    settings = changed_settings_text(source)
    return f"{name} ({settings})" if settings else name


def _make_method(name: str, shown: bool, runs: tuple[ModelResults, ...]) -> EvaluatedMethod:
    title = name if shown else f"{name}, no image"
    return EvaluatedMethod(title, shown, runs, Cell(f"{title} ({len(runs)} seeds)" if len(runs) > 1 else title))


# --- Tables -----------------------------------------------------------------------------------------------------------
_NUMBERS = {"iid": "i.i.d.", "ood": "OoD", "rr": "RR"}
_COLUMNS = tuple(
    ColumnSpec(f"{kind} {said}", None, "", 2, key=f"{kind}_{name}") for kind in KINDS for name, said in _NUMBERS.items()
)
_NOTES = (
    f"Scores: {SCALE}. RR: OoD / i.i.d. Several seeds: mean ± standard deviation over them (n - 1), RR the mean of the "
    "seeds' own. Empty for a baseline that answered nothing of a test.",
)


def as_cell(cell: Cell) -> CellFunction:
    """What puts this cell into a row."""
    return lambda source, row, rows: cell


def _methods_shown(sources: Sequence[ModelResults]) -> list[EvaluatedMethod]:
    """The methods of a comparison; a source alone is called "this run"."""
    found = group_methods(sources)
    return (
        found
        if len(sources) > 1
        else [replace(each, cell=own_results_cell(data_extent_text(sources[0]))) for each in found]
    )


def _method_row(method: EvaluatedMethod, shift: PublishedShift, second: str | None = None) -> RowSpec:
    joined = {f"{kind}_{name}": method.joined(shift, kind, name) for kind in KINDS for name in _NUMBERS}
    cells = {name: as_cell(cell) for name, cell in joined.items()}
    return RowSpec((method.cell, second), estimates=cells, source=method.sources[0])


def table_key(shift: PublishedShift, shown: bool) -> str:
    """The key of a shift's table, with the images shown or without."""
    return f"published_{shift.dataset}_{shift.name}{'' if shown else '_noimage'}"


def _shift_table(shift: PublishedShift, shown: bool) -> TableSpec:
    """The table of one of the paper's shifts, with images or without: methods, and the paper's rows."""

    def title(sources: Sequence[ModelResults]) -> str:
        source = shift.printed(shown).rows()[0].texts["source"]
        return f"{shift.label}{'' if shown else ', no image'} ({source})"

    def rows(sources: Sequence[ModelResults]) -> Iterator[RowSpec]:
        for each in _methods_shown(sources):
            if each.image_shown is shown and shift in each.shifts:
                yield _method_row(each, shift)

    heads = ("model or method", "base model")
    return TableSpec(table_key(shift, shown), title, heads, rows, _COLUMNS, _NOTES, shift.printed(shown), MARKS)


PAPER_SHIFTS = tuple(PublishedShift(dataset, name) for dataset, names in SHIFTS.items() for name in names)
SHIFT_TABLES = tuple(_shift_table(shift, shown) for shift in PAPER_SHIFTS for shown in (True, False))


def _other_rows(sources: Sequence[ModelResults]) -> Iterator[RowSpec]:
    for method in _methods_shown(sources):
        for shift in method.shifts:
            if not (shift.published or shift.strength):
                yield _method_row(method, shift, shift.label)


OTHER_SHIFTS = TableSpec(
    "joined", "Scores and robustness", ("model or method", "shift"), _other_rows, _COLUMNS, _NOTES, marks=MARKS
)
"""The shifts that the paper has no table of; corrupted tests have their own."""


def _corruption_rows(sources: Sequence[ModelResults]) -> Iterator[RowSpec]:
    """Corrupted tests, and the real shifts of their datasets."""
    found = _methods_shown(sources)
    having = [method for method in found if method.image_shown and any(shift.strength for shift in method.shifts)]
    datasets = {shift.dataset for method in having for shift in method.shifts if shift.strength}
    for method in having:
        for shift in method.shifts:
            if shift.dataset in datasets and (shift.strength or shift.published):
                yield _method_row(method, shift, shift.label)


CORRUPTIONS = TableSpec(
    "corruptions",
    "Corruptions beside real shifts (Table 22)",
    ("model or method", "OoD test"),
    _corruption_rows,
    _COLUMNS,
    (
        "The corrupted tests are the i.i.d. test's questions with blurred, brightened or noisy images: their OoD and "
        "i.i.d. answers are of the same images.",
        *_NOTES,
    ),
    PublishedRowsSpec(FOLDER, {"source": "Table 22"}, ("method", "test")),
    MARKS,
)
