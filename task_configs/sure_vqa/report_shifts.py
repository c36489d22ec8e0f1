"""The shifts of a report of SURE-VQA: how they are called and ordered, and their questions in a source."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmms_medtasks.report.judged_tables import LEXICAL, MEANINGS, Judging
from lmms_medtasks.report.published import Published
from lmms_medtasks.report.views import Source
from lmms_medtasks.samples.runs import model_name
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.statistics.intervals import Interval
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

MOST_FREQUENT = "medtasks_most_frequent"
"""The baseline that gives the most frequent answer of the training set."""


@dataclass(frozen=True, order=True)
class Shift:
    """A shift of a dataset, as its task is named: ``slake`` and ``modality`` of ``sure_slake_modality``."""

    dataset: str
    name: str

    @classmethod
    def of(cls, tag: str) -> Shift:
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

    def printed(self, shown: bool = True) -> Published:
        """The rows of its table in the paper, with the images shown or without."""
        task = f"sure_{self.dataset}_{self.name}{'' if shown else '_noimage'}"
        return Published(FOLDER, {"task": task}, ("method", "base_model"))

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


def words_mark(source: Source, shift: Shift, kind: str) -> str:
    """:data:`LEXICAL` where the judge that compares words gave scores of these questions, else ""."""
    found = Judging.of(source.rows.where(shift.where(kind)))
    return LEXICAL if found and found.by_words else ""


def shifts(source: Source) -> list[Shift]:
    """The shifts that a source was asked, in the paper's order."""
    return sorted(map(Shift.of, source.rows.values("shift")), key=lambda shift: shift.place)


def groups(source: Source) -> Iterator[tuple[Shift, str]]:
    """Each shift and kind of question that a source was asked."""
    for shift in shifts(source):
        for kind in KINDS:
            if len(source.rows.where(shift.where(kind))):
                yield shift, kind


def statistic(source: Source, shift: Shift, kind: str, name: str) -> Interval:
    """The mean of a test ("iid", "ood"), or RR ("rr"): all of one draw, in which a shared image stays paired."""
    return source.interval(ROBUSTNESS[kind], shift.where(kind), STATISTICS[name])


def answered(rows: Samples) -> Samples:
    """The questions with a reply that is neither a failed request nor empty."""
    return rows.take([place for place, trials in enumerate(rows.column("trials")) if trials[0] not in _UNANSWERED])


def model_of(source: Source) -> str:
    """The checkpoint's name, or the harness's name of the model."""
    return model_name(source.run.content)


def baseline_of(source: Source) -> str:
    """The name of our model without weights that a source is of: :data:`MOST_FREQUENT`, say; "" for a real model."""
    name = str((source.run.content.get("config") or {}).get("model", ""))
    return name if name.startswith("medtasks_") and name != "medtasks_peft" else ""
