"""The paper's robustness results (Tables 14 to 20 and 22), to be shown beside a user's model.

Read from ``reference/*.csv``, whose README says which table is which and what the numbers rest on. Closed scores are
accuracies in [0, 1] (a question with two options may get 0.5), open scores stars from 1 to 5, both by the judge Gemma;
relative robustness (RR) is OoD / i.i.d.; ``discrepancies.yml`` lists every printed RR that is not that ratio (a test
holds it to that).

>>> [(row.method, row.rr) for row in robustness_results("slake", "medical", "modality", "closed")][2]
('prompt_tuning', Printed(mean=0.73, sd=0.05))
"""

from __future__ import annotations

import csv
import functools
import io
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType
from typing import Literal, NamedTuple

_PACKAGE = "lmms_medtasks.task_configs.sure_vqa"

Dataset = Literal["slake", "ovqa", "mimic"]
AnswerType = Literal["closed", "open"]

TABLES: Mapping[int, tuple[Dataset, bool]] = MappingProxyType(
    {
        14: ("slake", True),
        15: ("slake", False),
        16: ("ovqa", True),
        17: ("ovqa", False),
        18: ("mimic", True),
        19: ("mimic", False),
    }
)
"""Table -> dataset, and whether the models were trained and tested with the images."""
DATASETS: Mapping[str, str] = MappingProxyType({"slake": "SLAKE", "ovqa": "OVQA", "mimic": "MIMIC-CXR-VQA"})
SHIFTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "slake": ("modality", "question_type"),
        "ovqa": ("body_part", "question_type"),
        "mimic": ("gender", "ethnicity", "age"),
    }
)
"""Dataset -> its shifts, in the tables' order."""
BASE_MODELS: Mapping[str, str] = MappingProxyType({"medical": "LLaVA-Med 1.5", "non_medical": "LLaVA 1.6"})
METHODS: Mapping[str, str] = MappingProxyType(
    {
        "no_finetuning": "No fine-tuning",
        "full_finetuning": "Full fine-tuning",
        "prompt_tuning": "Prompt tuning",
        "lora": "LoRA",
        "ia3": "IA3",
        "most_frequent": "Most frequent",
    }
)


class Printed(NamedTuple):
    """A number as printed: a mean over three seeds with its standard deviation, or one run's value without."""

    mean: float
    sd: float | None


@dataclass(frozen=True)
class Row:
    """Three neighbouring cells of a table: a method on one shift, for closed or open questions.

    ``ood`` and ``rr`` are None for the most frequent baseline, which the paper gives for the i.i.d. test only (too few
    of the OoD questions occur in training).
    """

    table: int
    dataset: Dataset
    base_model: str
    method: str
    image_shown: bool
    shift: str
    answer_type: AnswerType
    iid: Printed
    ood: Printed | None
    rr: Printed | None


@dataclass(frozen=True)
class CorruptionRow:
    """Three neighbouring cells of Table 22: LLaVA-Med with IA3 on SLAKE.

    ``shift`` names the split whose i.i.d. test it is; ``ood_set`` is ``corrupted_low``, ``_medium`` or ``_high`` (that
    i.i.d. test, corrupted), or ``realistic`` (the split's own OoD test: the row of Table 14).
    """

    ood_set: str
    shift: str
    answer_type: AnswerType
    iid: Printed
    ood: Printed
    rr: Printed


@dataclass(frozen=True)
class AnovaRow:
    """A dataset's F and p in Table 20, as printed; ``methods`` is ``all`` or ``without_full`` (fine-tuning)."""

    dataset: Dataset
    methods: Literal["all", "without_full"]
    f: float
    p: float


@functools.cache
def results() -> tuple[Row, ...]:
    """Tables 14 to 19, row by row in the paper's order."""
    return tuple(_row(table, cells) for table in TABLES for cells in _cells(f"table{table}.csv"))


def robustness_results(
    dataset: str, base_model: str, shift: str, answer_type: str, *, image_shown: bool = True
) -> tuple[Row, ...]:
    """The methods of one column of Tables 14, 16, 18 (``image_shown``) or 15, 17, 19, in the table's order."""
    wanted = (dataset, base_model, shift, answer_type, image_shown)
    return tuple(
        row for row in results() if (row.dataset, row.base_model, row.shift, row.answer_type, row.image_shown) == wanted
    )


@functools.cache
def corruption_results() -> tuple[CorruptionRow, ...]:
    """Table 22, row by row."""
    return tuple(
        CorruptionRow(
            ood_set=cells["ood_set"],
            shift=cells["shift"],
            answer_type="closed" if cells["answer_type"] == "closed" else "open",
            **{name: Printed(float(cells[name]), float(cells[f"{name}_sd"])) for name in ("iid", "ood", "rr")},
        )
        for cells in _cells("table22.csv")
    )


@functools.cache
def anova_results() -> tuple[AnovaRow, ...]:
    """Table 20: the medical base model's RR, by shift and answer type, over methods."""
    return tuple(
        AnovaRow(cells["dataset"], cells["methods"], float(cells["f"]), float(cells["p"]))  # type: ignore[arg-type]
        for cells in _cells("table20.csv")
    )


def _row(table: int, cells: Mapping[str, str]) -> Row:
    dataset, image_shown = TABLES[table]
    iid = _printed(cells, "iid")
    if iid is None:
        raise ValueError(f"table{table}.csv: no i.i.d. score in {dict(cells)!r}.")
    return Row(
        table=table,
        dataset=dataset,
        base_model=cells["base_model"],
        method=cells["method"],
        image_shown=image_shown,
        shift=cells["shift"],
        answer_type="closed" if cells["answer_type"] == "closed" else "open",
        iid=iid,
        ood=_printed(cells, "ood"),
        rr=_printed(cells, "rr"),
    )


def _printed(cells: Mapping[str, str], name: str) -> Printed | None:
    mean, sd = cells[name], cells[f"{name}_sd"]
    return Printed(float(mean), float(sd) if sd else None) if mean else None


def _cells(file_name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(_text(file_name), newline="")))


def _text(file_name: str) -> str:
    return resources.files(_PACKAGE).joinpath("reference").joinpath(file_name).read_text(encoding="utf-8")
