"""The tasks of one item in the release's form: five about the grid with the outlier, three about the one without; what
the item is called, which of the release's tiers it is like, and what its tasks say about it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from lmms_medtasks.data.documents import LETTERS
from lmms_medtasks.grid_positions import NONE_OPTION, GridSize
from lmms_medtasks.grids.altered_images import ORIENTATIONS
from lmms_medtasks.grids.plan import PlannedItem
from lmms_medtasks.grids.pool import Picture

POSITIVE = ("det_mcq", "det_open", "ref_mcq", "ref_open", "vis_pos")
NEGATIVE = ("det_mcq_neg", "det_open_neg", "vis_neg")
ROOT = "benchmark_refined"
"""The folder that every image_path of the release goes through."""

_TYPES = {"det_mcq": "detection_mcq", "det_open": "detection_open", "ref_mcq": "referring_mcq",
          "ref_open": "referring_open", "vis": "visual_referring"}  # fmt: skip


@dataclass(frozen=True)
class ItemTexts:
    """What the tasks of an item say: ``description`` goes into the referring question, ``why`` into the explanation,
    ``consistent`` into that of the negative control, ``keywords`` into a softer score of open answers."""

    description: str
    why: str
    consistent: str
    keywords: tuple[str, ...]


@functools.cache
def _load_wordings() -> dict[str, str]:
    import yaml

    text = resources.files("lmms_medtasks.grids").joinpath("questions.yaml").read_text("utf-8")
    return {name: value.strip() for name, value in yaml.safe_load(text).items()}


def list_options(size: GridSize) -> dict[str, str]:
    """Letter -> text: the positions in reading order and then "None"; 26 letters for 5×5."""
    return dict(zip(LETTERS, (*size.positions, NONE_OPTION), strict=False))


def make_question(task_type: str, size: GridSize, description: str = "") -> str:
    """The question of a task type; MCQ questions hold their options, as the release's do."""
    lines = "\n".join(f"  {letter}) {text}" for letter, text in list_options(size).items())
    wording = _load_wordings()[task_type].replace("{options}", lines)
    return wording.format(size=size.shown, first=size.positions[0], description=description)


def make_tasks(
    item: str, size: GridSize, position: int | None, texts: ItemTexts, images: Mapping[str, str]
) -> list[dict[str, Any]]:
    """The five tasks of a grid whose outlier is at ``position``, or the three of a consistent grid (None).

    ``images``: the paths for "grid" and "vis".
    """
    forms = NEGATIVE if position is None else POSITIVE
    return [_make_task(item, form, size, position, texts, images) for form in forms]


def _make_task(
    item: str, form: str, size: GridSize, position: int | None, texts: ItemTexts, images: Mapping[str, str]
) -> dict[str, Any]:
    task_type = _TYPES[re.sub(r"_(neg|pos)$", "", form)]
    name = "none" if position is None else size.positions[position]
    choices = list_options(size) if task_type.endswith("mcq") else {}
    right = NONE_OPTION if position is None else name
    answer = name
    if choices:
        answer = next(letter for letter, text in choices.items() if text == right)
    elif task_type == "visual_referring":
        answer = "no" if position is None else "yes"
    return {
        "id": f"{item}_{form}",
        "image_path": f"{ROOT}/{images['vis' if task_type == 'visual_referring' else 'grid']}",
        "task_type": task_type,
        "question": make_question(task_type, size, texts.description),
        **({"options": choices, "answer": answer, "answer_position": name} if choices else {"answer": answer}),
        "is_negative": position is None,
        "explanation": texts.consistent if position is None else texts.why,
        "answer_keywords": [answer.casefold() if not choices else name, *texts.keywords],
    }


_VIOLATIONS = {
    "texture": "a region shows the texture of another modality",
    "shifted_blocks": "its blocks are in the wrong order",
    "dropped_band": "a band of rows repeats one row",
    "garbage": "a band of rows is skewed",
}


def item_tier(entry: PlannedItem) -> str:
    """The release's tier that an item is like (paper, section 2): larger grids are T3, findings T5, anatomy, viewpoint
    and integrity T4, modality and orientation T1."""
    if entry.size.side > 2:
        return "v3"
    if entry.kind == "finding":
        return "v5"
    same_modality = entry.other is not None and entry.other.modality == entry.category.modality
    return "v4" if entry.kind in ("viewpoint", "integrity") or same_modality else "v1"


def item_slug(entry: PlannedItem) -> str:
    """The middle of an item's id: its kind, and its categories or its violation."""
    parts = [entry.kind, entry.category.modality]
    if entry.kind == "category" and entry.other is not None:
        names = [f"{key.modality} {key.anatomy}" if entry.other.modality == entry.category.modality else key.modality
                 for key in (entry.other, entry.category)]  # fmt: skip
        parts = [entry.kind, names[0], "vs", names[1]]
    elif entry.violation:
        parts = [entry.violation, entry.category.modality]
    return "_".join(re.sub(r"[^a-z0-9]+", "_", part.casefold()).strip("_") for part in parts)


def make_item_texts(entry: PlannedItem, outlier: Picture | None, change: Mapping[str, Any]) -> ItemTexts:
    """The words of an item's tasks; without an ``outlier`` only those about the consistent grid matter."""
    inliers = str(entry.category)
    consistent = f"All images show {inliers} without an inconsistency. There is no outlier."
    if outlier is None:
        return ItemTexts("", "", consistent, ("none",))
    description, keywords = _describe_outlier(entry, outlier, change)
    return ItemTexts(description, f"The outlier: {description}. The others: {inliers}.", consistent, keywords)


def _describe_outlier(entry: PlannedItem, outlier: Picture, change: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    if entry.kind == "orientation":
        name = change["transformation"]
        return f"the image is {ORIENTATIONS[name][1]}", ("orientation", *name.split("_"))
    if entry.kind == "integrity":
        name = change["violation"]["name"]
        return f"image integrity is violated: {_VIOLATIONS[name]}", ("integrity", *name.split("_"))
    if entry.kind == "finding":
        return f"a finding: {outlier.finding}", tuple(outlier.finding.casefold().split())
    if entry.kind == "viewpoint":
        return f"another view: {outlier.view}", (outlier.view.casefold(), "view")
    return str(outlier.category), tuple(part.casefold() for part in outlier.category if part)
