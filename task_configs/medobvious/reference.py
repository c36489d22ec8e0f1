"""The paper's results of 17 models and a human expert (Tables 2 and 3), to be shown beside a user's model.

Read from ``reference/*.csv``; percent as printed. ``discrepancies.yml`` lists every printed number that the other
printed numbers do not give.

>>> format_results()[2].model, format_results()[2].columns["negative"], format_results()[2].average
('Qwen2.5-VL-7B', 70.7, 63.2)
"""

from __future__ import annotations

import csv
import functools
import io
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType

import yaml

_PACKAGE = "lmms_medtasks.task_configs.medobvious"
_LABELS = ("model", "group")

GROUPS: Mapping[str, str] = MappingProxyType(
    {"open": "General open-source", "medical": "Medical open-source", "proprietary": "Proprietary", "human": "Human"}
)
"""The paper's groups with their titles."""


@dataclass(frozen=True)
class ResultsRow:
    """A row of Table 2 or 3 in percent.

    ``columns``: of Table 2 the five formats, "positive" and "negative"; of Table 3 the tiers "T1" to "T5". ``average``:
    the table's last column, in both a plain mean of the others.
    """

    model: str
    group: str
    columns: Mapping[str, float]
    average: float


@dataclass(frozen=True)
class Discrepancy:
    """A printed number that the paper's other numbers do not give, in percent, and what would explain it."""

    table: int
    row: str
    column: str
    printed: float
    recomputed: float
    comment: str


def _text(file_name: str) -> str:
    return resources.files(_PACKAGE).joinpath("reference").joinpath(file_name).read_text(encoding="utf-8")


@functools.cache
def _rows(file_name: str, average: str) -> tuple[ResultsRow, ...]:
    found = []
    for row in csv.DictReader(io.StringIO(_text(file_name), newline="")):
        columns = {name: float(value) for name, value in row.items() if name not in (*_LABELS, average)}
        found.append(ResultsRow(row["model"], row["group"], MappingProxyType(columns), float(row[average])))
    return tuple(found)


def format_results() -> tuple[ResultsRow, ...]:
    """Table 2: 17 models and the human expert, in the paper's order."""
    return _rows("table2.csv", "average")


def tier_results() -> tuple[ResultsRow, ...]:
    """Table 3: the 17 models by tier, in the paper's order."""
    return _rows("table3.csv", "all")


@functools.cache
def discrepancies() -> tuple[Discrepancy, ...]:
    """Every printed number of Tables 2 and 3 that the paper's other numbers do not give."""
    return tuple(Discrepancy(**row) for row in yaml.safe_load(_text("discrepancies.yml"))["discrepancies"])
