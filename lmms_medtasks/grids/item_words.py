"""What an item is called, which of the release's tiers it is like, and what its tasks say about it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lmms_medtasks.grids import orientation
from lmms_medtasks.grids.plan import Planned
from lmms_medtasks.grids.pool import Picture
from lmms_medtasks.grids.tasks import Told

_VIOLATIONS = {
    "texture": "a region shows the texture of another modality",
    "shifted_blocks": "its blocks are in the wrong order",
    "dropped_band": "a band of rows repeats one row",
    "garbage": "a band of rows is skewed",
}


def tier(entry: Planned) -> str:
    """The release's tier that an item is like (paper, section 2): larger grids are T3, findings T5, anatomy, viewpoint
    and integrity T4, modality and orientation T1."""
    if entry.size.side > 2:
        return "v3"
    if entry.kind == "finding":
        return "v5"
    same_modality = entry.other is not None and entry.other.modality == entry.category.modality
    return "v4" if entry.kind in ("viewpoint", "integrity") or same_modality else "v1"


def slug(entry: Planned) -> str:
    """The middle of an item's id: its kind, and its categories or its violation."""
    parts = [entry.kind, entry.category.modality]
    if entry.kind == "category" and entry.other is not None:
        names = [f"{key.modality} {key.anatomy}" if entry.other.modality == entry.category.modality else key.modality
                 for key in (entry.other, entry.category)]  # fmt: skip
        parts = [entry.kind, names[0], "vs", names[1]]
    elif entry.violation:
        parts = [entry.violation, entry.category.modality]
    return "_".join(re.sub(r"[^a-z0-9]+", "_", part.casefold()).strip("_") for part in parts)


def told(entry: Planned, outlier: Picture | None, change: Mapping[str, Any]) -> Told:
    """The words of an item's tasks; without an ``outlier`` only those about the consistent grid matter."""
    inliers = str(entry.category)
    consistent = f"All images show {inliers} without an inconsistency. There is no outlier."
    if outlier is None:
        return Told("", "", consistent, ("none",))
    description, keywords = _description(entry, outlier, change)
    return Told(description, f"The outlier: {description}. The others: {inliers}.", consistent, keywords)


def _description(entry: Planned, outlier: Picture, change: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    if entry.kind == "orientation":
        name = change["transformation"]
        return f"the image is {orientation.described(name)}", ("orientation", *name.split("_"))
    if entry.kind == "integrity":
        name = change["violation"]["name"]
        return f"image integrity is violated: {_VIOLATIONS[name]}", ("integrity", *name.split("_"))
    if entry.kind == "finding":
        return f"a finding: {outlier.finding}", tuple(outlier.finding.casefold().split())
    if entry.kind == "viewpoint":
        return f"another view: {outlier.view}", (outlier.view.casefold(), "view")
    return str(outlier.category), tuple(part.casefold() for part in outlier.category if part)
