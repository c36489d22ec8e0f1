"""A histopathology phantom: tissue stained with haematoxylin and eosin, nuclei drawn one by one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from lmms_medtasks.baselines import canvas
from lmms_medtasks.baselines import phantoms as places
from lmms_medtasks.baselines.canvas import Array, CanvasGrid, Point

SIZE = 192
FACTS = {
    "mitoses": ("1", "2", "3", "4"),
    "inflammation": ("none", "upper left", "upper right", "lower left", "lower right"),
    "cells": ("few", "moderate", "many"),
    "stain": ("haematoxylin", "balanced", "eosin"),
    "pattern": ("glands", "spindle", "sheets"),
    "mark": ("none", "lymphocyte", "epithelial cell", "fibroblast", "red cell"),
}
QUARTERS = places.HISTOPATHOLOGY_QUARTERS
MITOSIS_SITES = places.HISTOPATHOLOGY_MITOSIS_SITES
SPACING = {"few": 0.215, "moderate": 0.155, "many": 0.116}
# How strongly each dye absorbs red, green and blue, and how much of each the three stainings hold.
HAEMATOXYLIN, EOSIN = np.array([0.62, 0.70, 0.30]), np.array([0.06, 0.62, 0.22])
STAIN = {"haematoxylin": (1.35, 0.62), "balanced": (1.0, 1.0), "eosin": (0.70, 1.45)}


class Dyes(NamedTuple):
    """How much haematoxylin (blue) and eosin (pink) there is at every pixel, (n, n) each, painted in place."""

    blue: Array
    pink: Array


def draw(facts: dict[str, str], rng: np.random.Generator) -> NDArray[np.uint8]:
    """The field that shows ``facts``: uint8 (n, n, 3), with a green box round the cell when one is marked."""
    g = canvas.make_grid(SIZE)
    blue = np.full(g.x.shape, 0.10) + 0.02 * canvas.smooth_noise(rng, SIZE, 6)
    pink = _ground(g, facts["pattern"], rng)
    keep_clear = [MITOSIS_SITES[i] for i in rng.permutation(len(MITOSIS_SITES))[: int(facts["mitoses"])]]
    if facts["mark"] != "none":
        keep_clear.append((0.0, 0.0))
    _nuclei(g, Dyes(blue, pink), facts, keep_clear, rng)
    if facts["inflammation"] != "none":
        _cluster(g, blue, QUARTERS[facts["inflammation"]], rng)
    for at in keep_clear[: int(facts["mitoses"])]:
        _mitosis(g, blue, pink, at, rng)
    if facts["mark"] != "none":
        _marked_cell(g, blue, pink, facts["mark"], rng)
    much, little = STAIN[facts["stain"]]
    gain = (much * rng.uniform(0.94, 1.06), little * rng.uniform(0.94, 1.06))
    density = gain[0] * blue[..., None] * HAEMATOXYLIN + gain[1] * pink[..., None] * EOSIN
    picture = 246 * np.exp(-np.clip(density, 0, None)) + 1.5 * canvas.smooth_noise(rng, SIZE, 0.6)[..., None]
    rgb = canvas.to_bytes(picture, 4)
    if facts["mark"] == "none":
        return rgb
    return canvas.mark_pixels(rgb, canvas.box_mask(g, (0, 0), (0.19, 0.19)), (0, 255, 0))


def _ground(g: CanvasGrid, pattern: str, rng: np.random.Generator) -> Array:
    """How much eosin the tissue between the nuclei takes: fibres, or a finely granular cytoplasm."""
    if pattern == "spindle":
        wave = canvas.smooth_noise(rng, g.n, 9)
        fibres = np.sin(2 * np.pi * (0.8 * g.x + 0.6 * g.y + 0.10 * wave) / 0.13) + canvas.smooth_noise(rng, g.n, 1.5)
        return np.clip(0.62 + 0.16 * fibres, 0.05, None)
    ground = 0.55 + 0.07 * canvas.smooth_noise(rng, g.n, 4) + 0.05 * canvas.smooth_noise(rng, g.n, 1)
    gaps = np.clip(np.abs(canvas.smooth_noise(rng, g.n, 7)) * 9, 0, 1)
    return np.clip(ground * (0.45 + 0.55 * gaps), 0.05, None)


def _nuclei(g: CanvasGrid, dyes: Dyes, facts: dict[str, str], clear: list[Point], rng: np.random.Generator) -> None:
    """Fill the field with nuclei: round ones in sheets, long ones along the fibres, or rings round gland lumens."""
    spacing, pattern = SPACING[facts["cells"]], facts["pattern"]
    lumens = _glands(g, dyes, facts, clear, rng) if pattern == "glands" else []
    count = int(2 / spacing) + 1
    for row in range(count):
        for column in range(count):
            jitter = rng.uniform(-0.32, 0.32, 2) * spacing
            spot = (-1 + (column + 0.5 * (row % 2)) * spacing + jitter[0], -1 + row * spacing + jitter[1])
            in_gland = any(np.hypot(spot[0] - at[0], spot[1] - at[1]) < r + 0.16 for at, r in lumens)
            if in_gland or not _free(spot, clear) or rng.uniform() < 0.12:
                continue
            if pattern == "spindle":
                _nucleus(g, dyes.blue, spot, (0.085, 0.022), -0.93 + rng.uniform(-0.2, 0.2), rng)
            else:
                size = rng.uniform(0.046, 0.060)
                _nucleus(g, dyes.blue, spot, (size * rng.uniform(1.0, 1.3), size), rng.uniform(0, np.pi), rng)


def _glands(
    g: CanvasGrid, dyes: Dyes, facts: dict[str, str], clear: list[Point], rng: np.random.Generator
) -> list[tuple[Point, float]]:
    """A ring of cells round a white lumen in every quarter without inflammation: middles and radii of the lumens."""
    own = canvas.bend_grid(g, rng, 0.02, 8)
    lumens: list[tuple[Point, float]] = []
    for quarter, middle in QUARTERS.items():
        if quarter == facts["inflammation"]:
            continue
        at = (middle[0] + rng.uniform(-0.08, 0.08), middle[1] + rng.uniform(-0.08, 0.08))
        r = rng.uniform(0.17, 0.22)
        lumens.append((at, r))
        canvas.paint_mask(dyes.pink, canvas.ellipse_mask(own, at, (r + 0.20, r + 0.20), soft=5), 0.72)
        canvas.paint_mask(dyes.pink, canvas.ellipse_mask(own, at, (r, r)), 0.03)
        canvas.paint_mask(dyes.blue, canvas.ellipse_mask(own, at, (r, r)), 0.01)
        count = int(2 * np.pi * (r + 0.08) / (0.75 * SPACING[facts["cells"]]))
        for angle in np.linspace(0, 2 * np.pi, count, endpoint=False) + rng.uniform(-0.1, 0.1, count):
            spot = (at[0] + (r + 0.085) * float(np.cos(angle)), at[1] + (r + 0.085) * float(np.sin(angle)))
            if _free(spot, clear):
                _nucleus(g, dyes.blue, spot, (0.062, 0.043), float(angle), rng)
    return lumens


def _free(spot: Point, clear: list[Point]) -> bool:
    return all(max(abs(spot[0] - at[0]), abs(spot[1] - at[1])) > 0.17 for at in clear)


def _nucleus(g: CanvasGrid, blue: Array, at: Point, radii: Point, turn: float, rng: np.random.Generator) -> None:
    """One nucleus: a pale middle with clumps of chromatin inside a darker rim."""
    outer = canvas.ellipse_mask(g, at, radii, turn, soft=2)
    inner = canvas.ellipse_mask(g, at, (0.72 * radii[0], 0.72 * radii[1]), turn, soft=2)
    strength = rng.uniform(0.75, 1.05)
    canvas.paint_mask(blue, outer, strength)
    canvas.paint_mask(blue, inner, strength * rng.uniform(0.62, 0.85))
    clump = (at[0] + rng.uniform(-0.35, 0.35) * radii[1], at[1] + rng.uniform(-0.35, 0.35) * radii[1])
    canvas.paint_mask(blue, canvas.ellipse_mask(g, clump, (0.016, 0.016), soft=1.5), 1.25 * strength)


def _cluster(g: CanvasGrid, blue: Array, at: Point, rng: np.random.Generator) -> None:
    """A crowd of lymphocytes: small, round, dark."""
    for _ in range(46):
        spot = (at[0] + 0.15 * rng.standard_normal(), at[1] + 0.15 * rng.standard_normal())
        canvas.paint_mask(blue, canvas.ellipse_mask(g, spot, (0.034, 0.034), soft=2), rng.uniform(1.15, 1.5))


def _mitosis(g: CanvasGrid, blue: Array, pink: Array, at: Point, rng: np.random.Generator) -> None:
    """A dividing cell: a dense, ragged plate of chromatin in a cleared cell."""
    cell = canvas.ellipse_mask(g, at, (0.135, 0.125), soft=4)
    canvas.paint_mask(pink, cell, rng.uniform(0.22, 0.42))
    canvas.paint_mask(blue, cell, 0.06)
    turn = rng.uniform(0, np.pi)
    plate = canvas.ellipse_mask(canvas.bend_grid(g, rng, 0.010, 3), at, (0.080, 0.036), turn)
    canvas.paint_mask(blue, plate, rng.uniform(1.2, 2.1))


def _marked_cell(g: CanvasGrid, blue: Array, pink: Array, kind: str, rng: np.random.Generator) -> None:
    """The cell in the middle of the field that the box is drawn round."""
    canvas.paint_mask(blue, canvas.ellipse_mask(g, (0, 0), (0.17, 0.17), soft=6), 0.08)
    canvas.paint_mask(pink, canvas.ellipse_mask(g, (0, 0), (0.17, 0.17), soft=6), 0.40)
    at, turn = tuple(rng.uniform(-0.02, 0.02, 2)), rng.uniform(0, np.pi)
    if kind == "lymphocyte":
        canvas.paint_mask(blue, canvas.ellipse_mask(g, at, (0.052, 0.052)), 1.5)
    elif kind == "epithelial cell":
        canvas.paint_mask(pink, canvas.ellipse_mask(g, at, (0.15, 0.13), turn, soft=3), 0.62)
        canvas.paint_mask(blue, canvas.ellipse_mask(g, at, (0.088, 0.075), turn), 0.55)
        canvas.paint_mask(blue, canvas.ellipse_mask(g, at, (0.024, 0.024)), 1.3)
    elif kind == "fibroblast":
        canvas.paint_mask(blue, canvas.ellipse_mask(g, at, (0.135, 0.024), turn), 1.05)
    else:
        canvas.paint_mask(pink, canvas.ellipse_mask(g, at, (0.078, 0.078)), 1.35)
        canvas.paint_mask(pink, ndimage.gaussian_filter(canvas.ellipse_mask(g, at, (0.03, 0.03)), 1), 0.95)
