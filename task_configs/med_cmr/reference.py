"""The paper's results of seven models, to be shown beside a user's; read from ``reference/``, whose README says more.

>>> results()[0].model, results()[0].dimensions["LTG"], results()[0].mcq_all
('GPT-5', 55.19, 57.81)
"""

from __future__ import annotations

import csv
import functools
import io
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType
from typing import Any

import yaml

from lmms_medtasks.task_configs.med_cmr.dimensions import dimensions


@dataclass(frozen=True)
class Row:
    """A model's row, as printed: ``dimensions`` and ``mcq_all`` are accuracies in percent, ``open_all`` is a total from
    0 to 100. ``type`` is the paper's group; ``parameters`` in billions, None where the name does not tell."""

    model: str
    type: str
    medical: bool
    parameters: float | None
    dimensions: Mapping[str, float]
    mcq_all: float
    open_all: float


@dataclass(frozen=True)
class Discrepancy:
    """A printed number that the others, or the text, do not agree with."""

    row: str
    column: str
    printed: float
    recomputed: float
    note: str


def _text(name: str) -> str:
    folder = resources.files("lmms_medtasks.task_configs.med_cmr").joinpath("reference")
    return folder.joinpath(name).read_text(encoding="utf-8")


@functools.cache
def results() -> tuple[Row, ...]:
    """The seven rows in the paper's order."""
    return tuple(
        Row(
            model=row["model"],
            type=row["type"],
            medical=row["medical"] == "yes",
            parameters=float(row["parameters_b"]) if row["parameters_b"] else None,
            dimensions=MappingProxyType({each.short: float(row[each.short]) for each in dimensions()}),
            mcq_all=float(row["mcq_all"]),
            open_all=float(row["open_all"]),
        )
        for row in csv.DictReader(io.StringIO(_text("results.csv"), newline=""))
    )


@functools.cache
def question_counts() -> Mapping[str, int]:
    """Dimension -> number of multiple-choice questions, worked out from the table (``counts.yml`` says how)."""
    return MappingProxyType(yaml.safe_load(_text("counts.yml"))["mcq"])


@functools.cache
def findings() -> Mapping[str, Any]:
    """What the text gives beside the table: ``alignment``, ``medical_fine_tuning``, ``scale``, ``errors``."""
    return MappingProxyType(yaml.safe_load(_text("findings.yml")))


@functools.cache
def discrepancies() -> tuple[Discrepancy, ...]:
    """Every printed number that does not fit the others."""
    return tuple(Discrepancy(**row) for row in yaml.safe_load(_text("discrepancies.yml"))["discrepancies"])
