"""``medtasks_pixel_outlier``: the panel of a grid whose pixel statistics are furthest from the others'.

A baseline for outlier grids that understands nothing. It sees the picture and the prompt, as any model does: how many
panels there are it reads in the prompt ("3×3", the options) or from the gutters; panels are compared by brightness,
contrast, histogram, colour and gradient orientations. It answers a letter, a position, or yes/no about the panel in the
red box, and "none" where no panel is far enough from the rest.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lmms_medtasks.baselines.read_prompts import read_prompt
from lmms_medtasks.grid_positions import GridSize

if TYPE_CHECKING:
    from PIL.Image import Image

Array = NDArray[np.float64]

FAR = 1.6
"""How many times further from the others than they are from each other (both by their medians) an outlier must be.

Chosen on generated 2×2 grids of the mini phantoms, of which 84 % of the 90 consistent ones stay below it."""

TRIM = 0.1
"""Part of a cell cut off at each side: gutters, boxes and borders."""

SIDE = 96
HISTOGRAM = 8
ORIENTATIONS = 8
SIDES = range(2, 7)

_SIZE = re.compile(r"\b(\d)\s*[x×]\s*(\d)\b", re.IGNORECASE)


def answer_grid_question(image: Image, prompt: str) -> str:
    """The reply to one question about a grid; "" where no grid is seen or spoken of."""
    options = read_prompt(prompt).options
    side = side_of(image, prompt, options)
    if side is None:
        return ""
    cells = split_cells(image, side)
    scores = median_distances(np.stack([cell_statistics(cell) for cell in cells]))
    furthest = int(scores.argmax())
    is_far = is_far_enough(scores)
    position = GridSize(side).positions[furthest]
    if "red box" in prompt.casefold():
        return "yes" if is_far and boxed_cell(image, side) == furthest else "no"
    if options:
        letters = list(options)
        none = next((letter for letter in letters if options[letter].strip().casefold().startswith("none")), None)
        if none is not None and not is_far:
            return none
        # By the place's name, since options may stand in another order than the panels; else by their order.
        letter_of_position = next(
            (letter for letter in letters if options[letter].strip().casefold() == position), None
        )
        places = [letter for letter in letters if letter != none]
        return letter_of_position or (places[furthest] if furthest < len(places) else "")
    return "none" if not is_far and "none" in prompt.casefold() else position


def side_of(image: Image, prompt: str, options: dict[str, str]) -> int | None:
    """Panels along a side: as the prompt says, as its options count, or as the gutters show; None if nothing tells."""
    match = _SIZE.search(prompt)
    if match and match.group(1) == match.group(2) and int(match.group(1)) in SIDES:
        return int(match.group(1))
    places = [text for text in options.values() if not text.strip().casefold().startswith("none")]
    for side in SIDES:
        if len(places) == side * side:
            return side
    return _side_by_gutters(image)


def _side_by_gutters(image: Image) -> int | None:
    """The largest number of equal parts whose borders lie on lines of nearly one level, across and down."""
    grey = np.asarray(image.convert("L"), dtype=np.float64)
    for side in reversed(SIDES):
        if all(_has_gutters(lines, side) for lines in (grey, grey.T)):
            return side
    return None


def _has_gutters(lines: Array, side: int) -> bool:
    """Whether near every k-th of ``side`` parts there is a line that is flat, and differs from the lines beside it."""
    count = len(lines)
    reach = max(2, count // (side * 12))
    flat = lines.std(axis=1) < 8
    for k in range(1, side):
        middle = round(count * k / side)
        near = slice(max(0, middle - reach), middle + reach + 1)
        if not flat[near].any() or flat[max(0, middle - 4 * reach) : middle + 4 * reach + 1].all():
            return False
    return True


def split_cells(image: Image, side: int) -> list[Image]:
    """The cells in reading order, their borders trimmed."""
    width, height = image.width / side, image.height / side
    cells = []
    for index in range(side * side):
        row, column = divmod(index, side)
        box = (
            round((column + TRIM) * width),
            round((row + TRIM) * height),
            round((column + 1 - TRIM) * width),
            round((row + 1 - TRIM) * height),
        )
        cells.append(image.crop(box))
    return cells


def cell_statistics(cell: Image) -> Array:
    """Mean, standard deviation, histogram, mean channel differences, gradient energy and its orientations.

    Each of order 1 over pictures of different kinds.
    """
    pixels = np.asarray(cell.convert("RGB").resize((SIDE, SIDE)), dtype=np.float64) / 255.0
    grey = pixels.mean(axis=2)
    histogram, _ = np.histogram(grey, bins=HISTOGRAM, range=(0, 1))
    dy, dx = np.gradient(grey)
    energy = np.hypot(dx, dy)
    angle = np.mod(np.arctan2(dy, dx), np.pi)
    orientations, _ = np.histogram(angle, bins=ORIENTATIONS, range=(0, np.pi), weights=energy)
    return np.concatenate([
        [2 * grey.mean(), 4 * grey.std()],
        np.sqrt(histogram / histogram.sum()),
        4 * np.array([(pixels[..., 0] - pixels[..., 1]).mean(), (pixels[..., 1] - pixels[..., 2]).mean()]),
        [10 * energy.mean()],
        4 * orientations / max(float(orientations.sum()), 1e-9),
    ])  # fmt: skip


def median_distances(features: Array) -> Array:
    """For each panel (row) the median of its distances to the others."""
    between = np.linalg.norm(features[:, None] - features[None, :], axis=2)
    return np.array([np.median(np.delete(between[i], i)) for i in range(len(features))])


def is_far_enough(scores: Array) -> bool:
    """Whether the furthest panel is at least :data:`FAR` times as far from the others as they mostly are."""
    furthest = int(scores.argmax())
    rest = float(np.median(np.delete(scores, furthest)))
    return bool(scores[furthest] > FAR * max(rest, 1e-9))


def boxed_cell(image: Image, side: int) -> int:
    """The cell with most red pixels near its border, which is where a box around it is; -1 if there is no red."""
    pixels = np.asarray(image.convert("RGB"), dtype=np.int16)
    red = (pixels[..., 0] > 180) & (pixels[..., 1] < 80) & (pixels[..., 2] < 80)
    if not red.any():
        return -1
    height, width = red.shape
    counts = []
    for index in range(side * side):
        row, column = divmod(index, side)
        top, bottom = round(row * height / side), round((row + 1) * height / side)
        left, right = round(column * width / side), round((column + 1) * width / side)
        cell = red[top:bottom, left:right].copy()
        inner = max(1, round(0.15 * min(cell.shape)))
        cell[inner:-inner, inner:-inner] = False
        counts.append(int(cell.sum()))
    return int(np.argmax(counts))
