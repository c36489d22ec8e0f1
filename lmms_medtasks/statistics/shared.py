"""How a question's record reaches metrics that need more of it than a score, or all questions at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Shared:
    """A record that several metrics share in memory; the sample log, which has it elsewhere, shows a short note.

    ``metric``: the one under which the log has the record.
    """

    __slots__ = ("metric", "record")

    def __init__(self, record: Mapping[str, Any], metric: str = "the record") -> None:
        self.record = record
        self.metric = metric

    def __str__(self) -> str:
        return f"see {self.metric}"
