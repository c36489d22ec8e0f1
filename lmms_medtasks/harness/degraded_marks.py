"""By what a task, its YAML and a task manager say that pictures are degraded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lmms_medtasks.errors import UserError
from lmms_medtasks.samples.degraded import ASKED

LOADED_FOR = "_lmms_medtasks_degraded_for"
"""Attribute of a task manager: the degraded task whose base it is about to load."""

SHOWN = "medtasks_shown"
"""Attribute of a degraded task: what it did to its pictures."""


def asked(metadata: Any) -> str:
    """What a YAML's metadata ask to be done; "" if nothing."""
    told = metadata.get(ASKED) if isinstance(metadata, Mapping) else None
    if told is not None and not isinstance(told, str):
        raise UserError(f"metadata: {ASKED} must be a text such as gaussian_noise.2, got {told!r}.")
    return told or ""
