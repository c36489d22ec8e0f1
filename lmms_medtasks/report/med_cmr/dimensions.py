"""Med-CMR's seven dimensions as the report needs them, from the one place that has them."""

from __future__ import annotations

from lmms_medtasks.task_configs.med_cmr.dimensions import dimensions

SIDES = ("visual", "reasoning")


def names() -> tuple[str, ...]:
    """``SOD`` ... ``MSI``, in the paper's order."""
    return tuple(each.short for each in dimensions())


def of_side(side: str) -> tuple[str, ...]:
    """The dimensions of a side."""
    return tuple(each.short for each in dimensions() if each.side == side)


def title(name: str) -> str:
    """``Subtle Object Detection (SOD)``."""
    return next(f"{each.name} ({each.short})" for each in dimensions() if each.short == name)
