"""The tasks of one item in the release's form: five about the grid with the outlier, three about the one without."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from lmms_medtasks.data.documents import LETTERS
from lmms_medtasks.grid_positions import NONE_OPTION, Size

POSITIVE = ("det_mcq", "det_open", "ref_mcq", "ref_open", "vis_pos")
NEGATIVE = ("det_mcq_neg", "det_open_neg", "vis_neg")
ROOT = "benchmark_refined"
"""The folder that every image_path of the release goes through."""

_TYPES = {"det_mcq": "detection_mcq", "det_open": "detection_open", "ref_mcq": "referring_mcq",
          "ref_open": "referring_open", "vis": "visual_referring"}  # fmt: skip


@dataclass(frozen=True)
class Told:
    """What the tasks of an item say: ``description`` goes into the referring question, ``why`` into the explanation,
    ``consistent`` into that of the negative control, ``keywords`` into a softer score of open answers."""

    description: str
    why: str
    consistent: str
    keywords: tuple[str, ...]


@functools.cache
def _wordings() -> dict[str, str]:
    import yaml

    text = resources.files("lmms_medtasks.grids").joinpath("questions.yaml").read_text("utf-8")
    return {name: value.strip() for name, value in yaml.safe_load(text).items()}


def options(size: Size) -> dict[str, str]:
    """Letter -> text: the positions in reading order and then "None"; 26 letters for 5×5."""
    return dict(zip(LETTERS, (*size.positions, NONE_OPTION), strict=False))


def question(task_type: str, size: Size, description: str = "") -> str:
    """The question of a task type; MCQ questions hold their options, as the release's do."""
    lines = "\n".join(f"  {letter}) {text}" for letter, text in options(size).items())
    wording = _wordings()[task_type].replace("{options}", lines)
    return wording.format(size=size.shown, first=size.positions[0], description=description)


def positive(item: str, size: Size, position: int, told: Told, images: Mapping[str, str]) -> list[dict[str, Any]]:
    """The five tasks of a grid whose outlier is at ``position``; ``images`` has the paths for "grid" and "vis"."""
    return [_task(item, form, size, position, told, images) for form in POSITIVE]


def negative(item: str, size: Size, told: Told, images: Mapping[str, str]) -> list[dict[str, Any]]:
    """The three tasks of a consistent grid."""
    return [_task(item, form, size, None, told, images) for form in NEGATIVE]


def _task(
    item: str, form: str, size: Size, position: int | None, told: Told, images: Mapping[str, str]
) -> dict[str, Any]:
    task_type = _TYPES[re.sub(r"_(neg|pos)$", "", form)]
    name = "none" if position is None else size.positions[position]
    choices = options(size) if task_type.endswith("mcq") else {}
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
        "question": question(task_type, size, told.description),
        **({"options": choices, "answer": answer, "answer_position": name} if choices else {"answer": answer}),
        "is_negative": position is None,
        "explanation": told.consistent if position is None else told.why,
        "answer_keywords": [answer.casefold() if not choices else name, *told.keywords],
    }
