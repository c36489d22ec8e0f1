"""The defaults of ``defaults.yml``, read once."""

from __future__ import annotations

import functools
import importlib.resources
from collections.abc import Mapping
from typing import Any


@functools.cache
def defaults() -> Mapping[str, Any]:
    """Setting -> value; what each means stands in the file."""
    import yaml

    text = importlib.resources.files("lmms_medtasks.judges").joinpath("defaults.yml").read_text("utf-8")
    return yaml.safe_load(text)
