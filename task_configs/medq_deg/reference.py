"""The paper's results of 40 models (Tables 2, 3 and 6), to be shown beside a user's model.

Read from ``reference/*.csv``, whose README says which table is which. Everything is in percent as printed; a drop is
positive where accuracy fell, the differences of Table 6 are negative there. ``discrepancies.yml`` lists every printed
number that the other printed numbers do not give.

>>> capability_results()[0].model, capability_results()[0].columns["Imaging Perception"]
('GPT-5', Score(accuracy=36.5, drop=0.9))
"""

from __future__ import annotations

import csv
import functools
import io
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType
from typing import NamedTuple

import yaml

_PACKAGE = "lmms_medtasks.task_configs.medq_deg"
_LABELS = ("model", "group", "row")

GROUPS: Mapping[str, str] = MappingProxyType(
    {"commercial": "Commercial", "open_source": "Open-source general", "medical": "Medical-specialized"}
)
"""The paper's three groups of models, with their titles; average rows over all models have the group ``all``."""


class Score(NamedTuple):
    """A cell of Table 2 or 3, in percent: accuracy over L1 and L2, and by how much it is below L0 (negative: above)."""

    accuracy: float
    drop: float


@dataclass(frozen=True)
class ColumnsRow:
    """A row of Table 2 or 3: a model, or the paper's own average of a group (``model`` is then its label).

    ``columns`` has the mid-level capabilities (Table 2, names of taxonomy.yml) or the categories of degradations
    (Table 3, keys of taxonomy.yml) in the table's order; ``average`` is the macro average over them, as printed.
    """

    model: str
    group: str
    average: Score
    columns: Mapping[str, Score]


@dataclass(frozen=True)
class LevelsRow:
    """A row of Table 6, in percent: accuracy over all questions of a level, and the printed differences."""

    model: str
    group: str
    l0: float
    l1: float
    l2: float
    l1_minus_l0: float
    l2_minus_l0: float


@dataclass(frozen=True)
class Discrepancy:
    """A printed number that the paper's other numbers do not give.

    ``printed`` and ``recomputed`` are in the cell's own unit (percent or pairs), ``recomputed`` to four decimals.
    ``within_rounding``: the rounding of the numbers that it is computed from may explain it.
    """

    table: int
    row: str
    column: str
    printed: float
    recomputed: float
    within_rounding: bool


def _text(file_name: str) -> str:
    return resources.files(_PACKAGE).joinpath("reference").joinpath(file_name).read_text(encoding="utf-8")


def _rows(file_name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(_text(file_name), newline="")))


@functools.cache
def _columns_rows(file_name: str, kind: str) -> tuple[ColumnsRow, ...]:
    found = []
    for row in _rows(file_name):
        if row["row"] != kind:
            continue
        names = [name for name in row if name not in _LABELS and not name.endswith(" drop")]
        cells = {name: Score(float(row[name]), float(row[f"{name} drop"])) for name in names}
        average = cells.pop("average")
        found.append(ColumnsRow(row["model"], row["group"], average, MappingProxyType(cells)))
    return tuple(found)


def capability_results() -> tuple[ColumnsRow, ...]:
    """Table 2: the 40 models by mid-level capability, in the paper's order."""
    return _columns_rows("table2.csv", "model")


def capability_averages() -> tuple[ColumnsRow, ...]:
    """Table 2's own average rows: one a group, and one over all models."""
    return _columns_rows("table2.csv", "average")


def degradation_results() -> tuple[ColumnsRow, ...]:
    """Table 3: the 40 models by category of degradations, in the paper's order."""
    return _columns_rows("table3.csv", "model")


def degradation_averages() -> tuple[ColumnsRow, ...]:
    """Table 3's own average rows: one a group, and one over all models."""
    return _columns_rows("table3.csv", "average")


@functools.cache
def level_results() -> tuple[LevelsRow, ...]:
    """Table 6: the 40 models by level, in the paper's order."""
    numbers = ("L0", "L1", "L2", "L1-L0", "L2-L0")
    return tuple(
        LevelsRow(row["model"], row["group"], *(float(row[name]) for name in numbers)) for row in _rows("table6.csv")
    )


def models() -> Mapping[str, str]:
    """Model -> group (``commercial``, ``open_source`` or ``medical``), in the order of Table 6."""
    return MappingProxyType({row.model: row.group for row in level_results()})


@functools.cache
def discrepancies() -> tuple[Discrepancy, ...]:
    """Every printed number of Tables 2 to 6 that the paper's other numbers do not give."""
    return tuple(Discrepancy(**row) for row in yaml.safe_load(_text("discrepancies.yml"))["discrepancies"])
