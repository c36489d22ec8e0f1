"""SURE-VQA's shifts in a report, and runs beside the paper's rows (Tables 14 to 19, Table 22), seeds joined.

Runs whose models' names differ only in a part ``seed`` with a number are one method: the checkpoints ``lora_seed1``,
``lora_seed2`` and ``lora_seed3`` are the method ``lora``. Names with the same seed, or without one, are separate
methods.
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
"""The statistics of a shift's contrast: the mean of each test, and RR."""

GUESSING = {"closed": 0.5}
"""The expected score of a uniform guess on a closed question. The paper's cleaning (C.1.2) keeps those with two
options. If both may be right, "both" and "none" are options too: a guess among the four gets one half on average."""

MAIN_SHIFT = "slake_modality"
"""The shift whose number represents the benchmark, here and on a leaderboard: the first of the paper's, which prints a
number a shift (Tables 14 to 19) and none over all."""

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

        >>> PublishedShift.of("slake_question_type_swapped")
        PublishedShift(dataset='slake', name='question_type_swapped')
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
        """The rows of its table in the paper, with or without images."""
        task = f"sure_{self.dataset}_{self.name}{'' if shown else '_noimage'}"
        return PublishedRowsSpec(FOLDER, {"task": task}, ("method", "base_model"))

    @property
    def strength(self) -> str:
        """The strength of a corrupted test: "low", "medium" or "high"; "" for a real shift."""
        match = _CORRUPTED.fullmatch(self.name)
        return match.group(1) if match else ""

    @property
    def place(self) -> tuple[Hashable, ...]:
        """A sort key: datasets and shifts as in the paper, then others, corrupted tests last."""
        datasets, shifts = list(DATASETS), SHIFTS.get(self.dataset, ())
        dataset_index = datasets.index(self.dataset) if self.dataset in datasets else len(datasets)
        order = shifts.index(self.name) if self.name in shifts else len(shifts)
        if self.strength:
            order += 1 + _STRENGTHS.index(self.strength)
        return dataset_index, self.dataset, order, self.name

    def where(self, kind: str = "", side: str = "") -> dict[str, Any]:
        """The restriction to its questions, those of a kind and of a test."""
        return {"shift": f"{self.dataset}_{self.name}", **KINDS.get(kind, {}), **SIDES.get(side, {})}


def words_mark(source: ModelResults, shift: PublishedShift, kind: str) -> str:
    """:data:`LEXICAL` if the judge that compares words scored some of these questions, else ""."""
    judging = JudgingSummary.of(source.rows.where(shift.where(kind)))
    return LEXICAL if judging and judging.by_words else ""


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
    """The mean of a test ("iid", "ood"), or RR ("rr"), from one draw in which a shared image stays paired."""
    return source.interval(ROBUSTNESS[kind], shift.where(kind), STATISTICS[name])


def questions_answered(rows: QuestionTable) -> QuestionTable:
    """The questions with a reply that is neither a failed request nor empty."""
    return rows.take([row for row, trials in enumerate(rows.column("trials")) if trials[0] not in _UNANSWERED])


def checkpoint_name(source: ModelResults) -> str:
    """The checkpoint's name, or the harness's name of the model."""
    return model_name(source.run.content)


def baseline_of(source: ModelResults) -> str:
    """The name of our model without weights, such as :data:`MOST_FREQUENT_MODEL`; "" for any other model."""
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
        """``iid``, ``ood`` or ``rr``: mean and standard deviation (n - 1) of several runs, the interval of one run.

        Empty if one of several runs has no value, which a mean over the others would hide, and for a baseline that
        answered nothing of a test, as in the paper.
        """
        asked = [source for source in self.sources if len(source.rows.where(shift.where(kind)))]
        needed = (name,) if name in SIDES else tuple(SIDES)
        tests = [source.rows.where(shift.where(kind, side)) for source in asked for side in needed]
        if not asked or (self.baseline and any(len(rows) and not len(questions_answered(rows)) for rows in tests)):
            return NONE
        intervals = [shift_estimate(source, shift, kind, name) for source in asked]
        values = [interval.estimate for interval in intervals if interval.estimate is not None]
        if len(values) < len(intervals):
            return NONE
        sign = max(words_mark(source, shift, kind) for source in asked)
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
    seeds = _SEED.findall(model)
    return (_SEED.sub("", model), seeds[-1]) if seeds else (model, "")


def group_methods(sources: Sequence[ModelResults]) -> list[EvaluatedMethod]:
    """The methods of these runs, in their order, with names that are all different."""
    groups: dict[tuple[str, bool], list[tuple[str, ModelResults]]] = {}
    for source in sources:
        method, seed = split_seed(checkpoint_name(source))
        # Runs of other settings are not seeds of this method.
        groups.setdefault((_with_settings(method, source), not source.condition), []).append((seed, source))
    methods = []
    for (name, shown), members in groups.items():
        seeds, runs = zip(*members, strict=True)
        if len(members) > 1 and "" not in seeds and len(set(seeds)) == len(seeds):
            methods.append(_make_method(name, shown, runs))
        else:
            names = distinct_names([source.run for source in runs], [0] * len(runs))
            named = zip(names, runs, strict=True)
            methods += [_make_method(_with_settings(run_name, run), shown, (run,)) for run_name, run in named]
    return methods


def _with_settings(name: str, source: ModelResults) -> str:
    settings = changed_settings_text(source)
    return f"{name} ({settings})" if settings else name


def _make_method(name: str, shown: bool, runs: tuple[ModelResults, ...]) -> EvaluatedMethod:
    title = name if shown else f"{name}, no image"
    return EvaluatedMethod(title, shown, runs, Cell(f"{title} ({len(runs)} seeds)" if len(runs) > 1 else title))


# --- Tables -----------------------------------------------------------------------------------------------------------
_NUMBERS = {"iid": "i.i.d.", "ood": "OoD", "rr": "RR"}
_COLUMNS = tuple(
    ColumnSpec(f"{kind} {head}", None, "", 2, key=f"{kind}_{name}") for kind in KINDS for name, head in _NUMBERS.items()
)
_NOTES = (
    f"Scores: {SCALE}. RR: OoD / i.i.d. Several seeds: mean ± standard deviation over them (n - 1), RR the mean of the "
    "seeds' own. Empty for a baseline that answered nothing of a test.",
)


def as_cell(cell: Cell) -> CellFunction:
    """A function that makes this cell for any row."""
    return lambda source, row, rows: cell


def _methods_shown(sources: Sequence[ModelResults]) -> list[EvaluatedMethod]:
    """The methods of a comparison; a single source is called "this run"."""
    methods = group_methods(sources)
    if len(sources) > 1:
        return methods
    return [replace(method, cell=own_results_cell(data_extent_text(sources[0]))) for method in methods]


def _method_row(method: EvaluatedMethod, shift: PublishedShift, second: str | None = None) -> RowSpec:
    joined = {f"{kind}_{name}": method.joined(shift, kind, name) for kind in KINDS for name in _NUMBERS}
    cells = {name: as_cell(cell) for name, cell in joined.items()}
    return RowSpec((method.cell, second), estimates=cells, source=method.sources[0])


def table_key(shift: PublishedShift, shown: bool) -> str:
    """The key of a shift's table, with or without images."""
    return f"published_{shift.dataset}_{shift.name}{'' if shown else '_noimage'}"


def _shift_table(shift: PublishedShift, shown: bool) -> TableSpec:
    def title(sources: Sequence[ModelResults]) -> str:
        source = shift.printed(shown).rows()[0].texts["source"]
        return f"{shift.label}{'' if shown else ', no image'} ({source})"

    def rows(sources: Sequence[ModelResults]) -> Iterator[RowSpec]:
        for method in _methods_shown(sources):
            if method.image_shown is shown and shift in method.shifts:
                yield _method_row(method, shift)

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
"""The shifts without a table in the paper, except corrupted tests."""


def _corruption_rows(sources: Sequence[ModelResults]) -> Iterator[RowSpec]:
    shown = [method for method in _methods_shown(sources) if method.image_shown]
    methods = [method for method in shown if any(shift.strength for shift in method.shifts)]
    datasets = {shift.dataset for method in methods for shift in method.shifts if shift.strength}
    for method in methods:
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
