"""A spread around a number that was seen on one image of the authors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def spread(rng: np.random.Generator, settings: Mapping[str, Any], name: str) -> float:
    """The setting ``name`` times a factor uniform in 1 ± ``<name>_spread``.

    With the same generator the factor is the same at every level: their order stays.

    >>> spread(np.random.default_rng(0), {"radius": 0.2, "radius_spread": 0.0}, "radius")
    0.2
    """
    return float(settings[name]) * float(1.0 + float(settings[f"{name}_spread"]) * rng.uniform(-1.0, 1.0))
