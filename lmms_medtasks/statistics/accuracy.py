"""Accuracy of multiple-choice answers over trials, and how many of the trials could be read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

Record = Mapping[str, Any]


def accuracy(records: Sequence[Record]) -> float | None:
    """Mean score over the questions that have one (MedQ-Deg, equation 2), None when there is none.

    A question's score is the mean over its trials that got a reply, so that questions weigh alike however many of
    their requests failed.
    """
    scores = [record["score"] for record in records if "score" in record]
    # fsum: exact, so that the value does not depend on the order of records to the last bit.
    return math.fsum(scores) / len(scores) if scores else None


def parse_rate(records: Sequence[Record]) -> float | None:
    """Share of the replies (failed requests not counted) in which an answer could be read; None without replies."""
    replies = sum(record["replies"] for record in records)
    return sum(record["parsed"] for record in records) / replies if replies else None


def failed_requests(records: Sequence[Record]) -> int:
    """Number of trials that got no reply because the request failed."""
    return sum(record["failed"] for record in records)


def identical_trials(records: Sequence[Record]) -> float | None:
    """Share of the questions with at least two replies whose replies are the same to the letter.

    Near 1 it means a model without doubt, or a runner that did not sample: it ignored the temperature, or the
    checkpoint's own settings (top_k: 1, top_p near 0) stood above the task's.
    """
    repeated = [record["identical"] for record in records if record["identical"] is not None]
    return sum(repeated) / len(repeated) if repeated else None
