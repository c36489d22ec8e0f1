"""What a run records of a task that was asked on degraded pictures (``TASK@gaussian_noise.2``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

METADATA = "degradation"
"""Key in the metadata of such a task: what was done, and ``of`` which task."""

PICTURES = "degraded_pictures"
"""Key in a row of its sample log: a record for each picture of the question, with its digest as ``picture``."""

SCORES = "paired_scores"
"""Key in a row of the log of such a task, and of its clean one: the question's score by metric and filter, where these
have one for each question, in the unit of the reported value, which is their mean."""


def base_of(task: str, config: Mapping[str, Any]) -> str | None:
    """The task that a degraded one was made of; None for any other, and for one that its own YAML degrades."""
    metadata = config.get("metadata")  # a list in many of the harness's own tasks
    told = metadata.get(METADATA) if isinstance(metadata, Mapping) else None
    base = told.get("of") if isinstance(told, Mapping) else None
    return base if isinstance(base, str) and base != task else None
