"""Which letters a model chose, and how it fared where each letter was right: bias for a position shows here."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lmms_medtasks.statistics.bootstrap import Interval
from lmms_medtasks.statistics.grouped import by_tags
from lmms_medtasks.task_configs.med_cmr.choice import position_bias

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Letter:
    """``right``: questions whose right option has this letter. ``chosen``: replies that chose it.

    ``accuracy``: of the questions where it is right.
    """

    right: int
    chosen: int
    accuracy: Interval | None


@dataclass(frozen=True)
class Letters:
    """By letter, and over all of them.

    Attributes:
        each: letter to its numbers. unreadable: replies that chose none.
        distance: see :func:`lmms_medtasks.task_configs.med_cmr.choice.position_bias`.
        spread: standard deviation of the letters' accuracies, from 0 (RStd of Zheng et al., ICLR 2024, with accuracy
            where a letter is right, which they call recall); None where a letter has no accuracy.
    """

    each: Mapping[str, Letter]
    unreadable: int
    distance: float | None
    spread: float | None


def letters(records: Sequence[Record], *, resamples: int) -> Letters:
    """The letters of multiple-choice records (``answer``, ``option_count``, ``trials``)."""
    names = string.ascii_uppercase[: max((record["option_count"] for record in records), default=0)]
    right = Counter(record["answer"] for record in records)
    chosen = Counter(trial for record in records for trial in record["trials"])
    groups = {key[0]: group for key, group in by_tags(records, ["answer"], resamples=resamples).items()}
    each = {name: Letter(right[name], chosen[name], groups[name].mean if name in groups else None) for name in names}
    picks = [
        {"answer": record["answer"], "picks": [trial for trial in record["trials"] if len(trial) == 1]}
        for record in records
    ]
    accuracies = [letter.accuracy.estimate if letter.accuracy else None for letter in each.values()]
    known = [float(value) for value in accuracies if value is not None]
    return Letters(
        each=each,
        unreadable=sum(record["replies"] for record in records) - sum(record["parsed"] for record in records),
        distance=position_bias(picks),
        spread=float(np.std(known)) if known and len(known) == len(accuracies) else None,
    )
