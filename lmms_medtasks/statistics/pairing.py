"""Which clean question each degraded one was made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lmms_medtasks.errors import UserError


@dataclass(frozen=True)
class Pairs:
    """A pair a degraded question that has its clean form here.

    Attributes:
        clean, degraded: (p,) integers, the rows of the pair. A clean question stands once for each of its degraded
            forms, so that means over pairs weigh both sides alike, whatever degradations a question was given.
        clean_alone: clean questions without any degraded form here. degraded_alone: the reverse.
    """

    clean: np.ndarray
    degraded: np.ndarray
    clean_alone: int
    degraded_alone: int


def pairs(clean: Sequence[str], degraded: Sequence[str]) -> Pairs:
    """Join degraded to clean questions by question id; pairs are in the order of ``degraded``.

    Raises UserError when a clean question is there twice: it would not be known which of them a form belongs to.
    """
    rows = {question: row for row, question in enumerate(clean)}
    if len(rows) < len(clean):
        twice = next(question for row, question in enumerate(clean) if rows[question] != row)
        raise UserError(
            f"Question {twice!r} is there more than once among the clean questions. Give one run, at one level."
        )
    found = [(rows[question], row) for row, question in enumerate(degraded) if question in rows]
    joined = np.array(found, dtype=np.intp).reshape(-1, 2)
    return Pairs(
        clean=joined[:, 0],
        degraded=joined[:, 1],
        clean_alone=len(clean) - len(np.unique(joined[:, 0])),
        degraded_alone=len(degraded) - len(joined),
    )
