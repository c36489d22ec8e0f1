"""An MRI phantom: an axial slice through the head at the level of the lateral ventricles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from lmms_medtasks.baselines import canvas
from lmms_medtasks.baselines import phantoms as places
from lmms_medtasks.baselines.canvas import Array, CanvasGrid, Point

SIZE = 216
FACTS = {
    "spots": ("1", "2", "3", "4"),
    "mass": ("upper left", "upper right", "lower left", "lower right"),
    "core": ("solid", "ring"),
    "ventricles": ("normal", "mild", "marked"),
    "weighting": ("T1", "T2", "FLAIR"),
    "mark": ("none", "ventricle", "deep grey", "frontal", "occipital"),
}
HEAD: Point = (0.66, 0.84)
BRAIN: Point = (0.555, 0.73)
MASS_SITES = places.MRI_MASS_SITES
SPOT_SITES = places.MRI_SPOT_SITES
VENTRICLE_SCALE = {"normal": 0.72, "mild": 1.12, "marked": 1.6}
# Levels of white matter, grey matter, fluid, scalp fat, skull: what makes the three weightings look as they do.
LEVELS = {
    "T1": (150.0, 112.0, 28.0, 215.0, 18.0),
    "T2": (88.0, 122.0, 222.0, 150.0, 14.0),
    "FLAIR": (96.0, 128.0, 24.0, 150.0, 14.0),
}
MARKS: dict[str, tuple[Point, Point]] = {
    "deep grey": ((0.19, 0.03), (0.085, 0.12)),
    "frontal": ((0.0, -0.56), (0.22, 0.10)),
    "occipital": ((0.0, 0.58), (0.20, 0.09)),
}


def draw(facts: dict[str, str], rng: np.random.Generator) -> NDArray[np.uint8]:
    """The slice that shows ``facts``: uint8, (n, n) grey, or (n, n, 3) with a red outline when something is marked."""
    flat = canvas.make_grid(SIZE)
    scale = rng.uniform(0.97, 1.03)
    shift = rng.uniform(-0.015, 0.015, 2)
    moved = CanvasGrid((flat.x - shift[0]) / scale, (flat.y - shift[1]) / scale)
    g = canvas.bend_grid(moved, rng, 0.008)
    white, grey, fluid, fat, skull = LEVELS[facts["weighting"]]
    picture = np.full(flat.x.shape, 2.0)
    canvas.paint_mask(picture, canvas.ellipse_mask(g, (0, 0), HEAD), 0.6 * fat)
    canvas.paint_mask(picture, canvas.ellipse_mask(g, (0, 0), (HEAD[0] - 0.015, HEAD[1] - 0.015)), fat)
    canvas.paint_mask(picture, canvas.ellipse_mask(g, (0, 0.005), (HEAD[0] - 0.05, HEAD[1] - 0.055)), skull)
    canvas.paint_mask(picture, canvas.ellipse_mask(g, (0, 0.01), (BRAIN[0] + 0.02, BRAIN[1] + 0.02)), fluid)
    brain = canvas.ellipse_mask(canvas.bend_grid(g, rng, 0.006, 5), (0, 0.01), BRAIN)
    canvas.paint_mask(picture, brain, _brain(g, (white, grey, fluid), rng))
    ventricles = _ventricles(g, VENTRICLE_SCALE[facts["ventricles"]] * rng.uniform(0.94, 1.06))
    canvas.paint_mask(picture, ventricles, fluid)
    _lesions(picture, moved, facts, rng)
    # Coil sensitivity: a mild smooth shading. Noise of magnitude images is Rician.
    picture *= 1 + 0.06 * canvas.smooth_noise(rng, SIZE, 60)
    picture = np.hypot(picture + 4.0 * canvas.smooth_noise(rng, SIZE, 0.6), 4.0 * canvas.smooth_noise(rng, SIZE, 0.6))
    image = canvas.to_bytes(picture, 2)
    if facts["mark"] == "none":
        return image
    shape = ventricles if facts["mark"] == "ventricle" else canvas.ellipse_mask(moved, *MARKS[facts["mark"]])
    return canvas.mark_pixels(image, canvas.outline_mask(shape), (255, 0, 0))


def _brain(g: CanvasGrid, levels: tuple[float, float, float], rng: np.random.Generator) -> Array:
    """Cortex and sulci near the surface, white matter inside, deep grey nuclei, the fissure between the halves."""
    white, grey, fluid = levels
    depth = 1.0 - np.hypot(g.x / BRAIN[0], (g.y - 0.01) / BRAIN[1])
    # Sulci are the zero lines of a smooth field; the ribbon along them and along the surface is grey matter.
    folds = np.abs(canvas.smooth_noise(rng, g.n, 4.0)) / np.clip(1.0 - depth / 0.50, 0.02, None)
    ribbon = np.clip(np.maximum(1.3 - 1.6 * folds, 1.4 - 9.0 * depth), 0, 1)
    sulci = np.clip(1.0 - 6.0 * folds, 0, 1) * np.clip(1.2 - depth / 0.3, 0, 1)
    picture = white + (grey - white) * ndimage.gaussian_filter(ribbon, 0.7)
    canvas.paint_mask(picture, 0.9 * ndimage.gaussian_filter(sulci, 0.6), fluid)
    for side in (-1, 1):
        canvas.paint_mask(
            picture, canvas.ellipse_mask(g, (side * 0.19, 0.03), (0.075, 0.11), -0.35 * side, soft=5), grey
        )
        canvas.paint_mask(
            picture, canvas.ellipse_mask(g, (side * 0.09, 0.14), (0.06, 0.07), 0, soft=5), 0.9 * grey + 0.1 * white
        )
    fissure = canvas.unite_masks([
        canvas.stroke_mask(g, [(0, -0.74), (0.008, -0.6), (0, -0.30)], 0.009),
        canvas.stroke_mask(g, [(0, 0.36), (-0.008, 0.5), (0, 0.75)], 0.009),
    ])  # fmt: skip
    canvas.paint_mask(picture, fissure, fluid)
    return picture


def _ventricles(g: CanvasGrid, k: float) -> Array:
    """Frontal and occipital horns and the third ventricle; ``k`` scales their width."""
    parts = [canvas.ellipse_mask(g, (0, 0.10), (0.012 * k + 0.004, 0.07))]
    for side in (-1, 1):
        horn = canvas.arc_points((side * 0.19, -0.16), (side * 0.12, 0.15), 2.2, 4.2, 8)
        parts.append(canvas.stroke_mask(g, [(x, y) for x, y in horn], 0.036 * k))
        parts.append(
            canvas.ellipse_mask(g, (side * (0.13 + 0.02 * k), 0.28), (0.035 * k, 0.09 + 0.015 * k), -0.35 * side)
        )
    return canvas.unite_masks(parts)


def _lesions(picture: Array, g: CanvasGrid, facts: dict[str, str], rng: np.random.Generator) -> None:
    """A mass with swelling around it, and small enhancing spots."""
    at = tuple(np.array(MASS_SITES[facts["mass"]]) + rng.uniform(-0.03, 0.03, 2))
    level = rng.uniform(190, 235)
    radius = rng.uniform(0.075, 0.10)
    own = canvas.bend_grid(g, rng, 0.012, 8)
    swelling = 30.0 if facts["weighting"] != "T1" else -22.0
    picture += swelling * canvas.blob_mask(own, at, 0.12)
    canvas.paint_mask(picture, canvas.ellipse_mask(own, at, (radius, radius), soft=3), level)
    if facts["core"] == "ring":
        inner = 0.62 * radius
        canvas.paint_mask(picture, canvas.ellipse_mask(own, at, (inner, inner), soft=3), level - rng.uniform(70, 125))
    for site in rng.permutation(len(SPOT_SITES))[: int(facts["spots"])]:
        spot = tuple(np.array(SPOT_SITES[site]) + rng.uniform(-0.02, 0.02, 2))
        canvas.paint_mask(picture, canvas.ellipse_mask(g, spot, (0.027, 0.027), soft=4), rng.uniform(190, 250))
