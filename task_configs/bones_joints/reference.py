"""The numbers that the paper's text gives, to be shown beside a user's; read from ``reference/`` (see its README).

>>> results()[0].model, results()[0].task, results()[0].accuracy
('GPT-4o', 't1', 86.8)
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


@dataclass(frozen=True)
class Published:
    """One number: ``accuracy`` in percent as printed; ``imaging`` is what stood for a case's imaging in Tasks IV to
    VII, "images" or "reports"; ``where`` it stands in the paper."""

    model: str
    kind: str
    medical: bool
    imaging: str
    task: str
    accuracy: float
    where: str


def _text(name: str) -> str:
    folder = resources.files("lmms_medtasks.task_configs.bones_joints").joinpath("reference")
    return folder.joinpath(name).read_text(encoding="utf-8")


@functools.cache
def results() -> tuple[Published, ...]:
    """The numbers in the order of ``results.csv``."""
    return tuple(
        Published(
            model=row["model"],
            kind=row["kind"],
            medical=row["medical"] == "yes",
            imaging=row["imaging"],
            task=row["task"],
            accuracy=float(row["accuracy"]),
            where=row["where"],
        )
        for row in csv.DictReader(io.StringIO(_text("results.csv"), newline=""))
    )


@functools.cache
def findings() -> Mapping[str, Any]:
    """What the text says of several models (``ranges``), and of the physicians' agreement (``people``)."""
    return MappingProxyType(yaml.safe_load(_text("findings.yml")))


@functools.cache
def discrepancies() -> tuple[Mapping[str, str], ...]:
    """What the printed numbers do not fit: ``what`` and a ``note`` each."""
    return tuple(yaml.safe_load(_text("discrepancies.yml"))["discrepancies"])
