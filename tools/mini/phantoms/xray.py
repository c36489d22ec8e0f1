"""An X-ray phantom: a chest radiograph, added up from how much each structure absorbs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from lmms_medtasks.baselines import canvas
from lmms_medtasks.baselines import phantoms as places
from lmms_medtasks.baselines.canvas import Array, CanvasGrid, Point

SIZE = 224
FACTS = {
    "nodules": ("1", "2", "3", "4"),
    "opacity": ("none", "upper left", "upper right", "lower left", "lower right"),
    "heart": ("normal", "enlarged", "marked"),
    "density": ("left", "right", "equal"),
    "effusion": ("none", "left", "right", "both"),
    "device": ("none", "pacemaker", "port", "tube"),
    "mark": ("none", "clavicle", "heart", "diaphragm", "apex", "spine"),
}
OPACITY_SITES = places.XRAY_OPACITY_SITES
NODULE_SITES = places.XRAY_NODULE_SITES
HEART_SCALE = {"normal": 0.82, "enlarged": 1.06, "marked": 1.32}
ANGLES = places.XRAY_ANGLES
MARKS: dict[str, tuple[Point, Point]] = {
    "clavicle": ((-0.36, -0.66), (0.26, 0.09)),
    "heart": ((0.13, 0.20), (0.25, 0.24)),
    "diaphragm": ((-0.40, 0.42), (0.28, 0.12)),
    "apex": ((0.32, -0.56), (0.17, 0.13)),
    "spine": ((0.0, 0.76), (0.13, 0.18)),
}


def draw(facts: dict[str, str], rng: np.random.Generator) -> NDArray[np.uint8]:
    """The radiograph that shows ``facts``: uint8, (n, n) grey, or (n, n, 3) with a red box when something is marked."""
    flat = canvas.make_grid(SIZE)
    shift = rng.uniform(-0.02, 0.02, 2)
    scale = rng.uniform(0.97, 1.03)
    moved = CanvasGrid((flat.x - shift[0]) / scale, (flat.y - shift[1]) / scale)
    g = canvas.bend_grid(moved, rng, 0.010, 36)
    thick, lungs = _soft_tissue(g, facts, rng)
    thick += _ribs(g, lungs)
    _findings(thick, moved, lungs, facts, rng)
    picture = 250 * (1 - np.exp(-1.05 * np.clip(thick, 0, None)))
    canvas.paint_mask(picture, _device(moved, facts["device"]), 250)
    picture += 3.0 * canvas.smooth_noise(rng, SIZE, 0.7)
    for bar in (((0.86, -0.92), (0.86, -0.82)), ((0.86, -0.82), (0.90, -0.82))):
        canvas.paint_mask(picture, canvas.stroke_mask(flat, bar, 0.008, 1), 252)
    grey = canvas.to_bytes(picture, 2)
    if facts["mark"] == "none":
        return grey
    return canvas.mark_pixels(grey, canvas.box_mask(moved, *MARKS[facts["mark"]]), (255, 0, 0))


def _soft_tissue(g: CanvasGrid, facts: dict[str, str], rng: np.random.Generator) -> tuple[Array, Array]:
    """Absorption of body, lungs, heart, spine and abdomen, and the mask of the lungs."""
    torso = canvas.unite_masks([
        canvas.ellipse_mask(g, (0, 0.75), (1.0, 1.6), soft=6),
        canvas.stroke_mask(g, [(-0.86, -0.60), (-0.22, -0.74), (0.22, -0.74), (0.86, -0.60)], 0.20, 6),
        canvas.ellipse_mask(g, (0, -1.0), (0.21, 0.5), soft=6),
        canvas.stroke_mask(g, [(-0.95, -0.5), (-1.05, 0.6)], 0.16, 6),
        canvas.stroke_mask(g, [(0.95, -0.5), (1.05, 0.6)], 0.16, 6),
    ])  # fmt: skip
    thick = 0.03 + 0.62 * ndimage.gaussian_filter(torso, 3)
    thick += 0.62 * canvas.ellipse_mask(g, (0, 0.5), (0.84, 1.25), soft=16)
    lungs = np.zeros_like(thick)
    for side in (-1, 1):
        lung = canvas.ellipse_mask(g, (side * 0.40, 0.06), (0.37, 0.80), -0.13 * side, soft=4)
        dome = canvas.ellipse_mask(g, (side * 0.36, 0.88 + 0.03 * side), (0.43, 0.50), soft=5)
        medial = canvas.ellipse_mask(g, (0, 0), (0.105, 1.2), soft=5)
        lung = lung * (1 - dome) * (1 - medial)
        lungs = np.maximum(lungs, lung)
        more = {"equal": 0.0, "left": -side, "right": side}[facts["density"]]
        gain = 1.0 - 0.19 * max(more, 0) * rng.uniform(0.8, 1.2)
        thick -= 0.92 * gain * ndimage.gaussian_filter(lung, 1.5)
        blade = [(side * 0.62, -0.62), (side * 0.80, -0.45), (side * 0.74, 0.02)]
        thick += 0.13 * canvas.stroke_mask(g, blade, 0.06, 6)
        thick += 0.22 * canvas.ellipse_mask(g, (side * 0.86, -0.60), (0.10, 0.10), soft=4)
        thick += 0.18 * canvas.stroke_mask(g, [(side * 0.92, -0.52), (side * 1.0, 0.2)], 0.06, 4)
    k = HEART_SCALE[facts["heart"]] * rng.uniform(0.96, 1.04)
    heart = canvas.unite_masks([
        canvas.ellipse_mask(g, (0.06 + 0.09 * k, 0.24), (0.26 * k, 0.24), 0.45, soft=5),
        canvas.ellipse_mask(g, (-0.05, 0.20), (0.10 + 0.06 * k, 0.20), soft=5),
        canvas.ellipse_mask(g, (0.10, -0.22), (0.09, 0.10), soft=5),
    ])  # fmt: skip
    thick += 0.52 * heart * lungs + 0.18 * heart
    thick += 0.30 * canvas.ellipse_mask(g, (0, 0), (0.10, 1.3), soft=10)
    for level in np.arange(-0.95, 1.0, 0.13):
        thick += 0.07 * canvas.ellipse_mask(g, (0, float(level)), (0.085, 0.045), soft=3)
    thick -= 0.22 * canvas.stroke_mask(g, [(0.0, -1.0), (0.0, -0.45), (-0.02, -0.28)], 0.035, 6)
    for side in (-1, 1):
        for at in ((0.2, -0.12), (0.24, 0.0), (0.19, 0.1)):
            twigs = [(side * (at[0] + rng.uniform(0.08, 0.26)), at[1] + rng.uniform(-0.25, 0.25)) for _ in range(3)]
            for twig in twigs:
                thick += 0.05 * canvas.stroke_mask(
                    g, [(side * 0.13, at[1] * 0.6), (side * at[0], at[1]), twig], 0.012, 5
                )
    thick += lungs * 0.018 * canvas.smooth_noise(rng, g.n, 2.0)
    return thick, lungs


def _ribs(g: CanvasGrid, lungs: Array) -> Array:
    """Back and front ribs as arcs with dense edges, and the clavicles."""
    total = np.zeros_like(lungs)
    for side in (-1, 1):
        for k in range(9):
            y = -0.66 + 0.135 * k
            half = 0.30 + 0.50 * np.sin(min(1.0, 0.22 + 0.12 * k) * np.pi / 2)
            back = [(side * (0.08 + (half - 0.08) * t), y - 0.10 * np.sin(np.pi * t * 0.75) + 0.12 * t * t)
                    for t in np.linspace(0, 1, 8)]  # fmt: skip
            total += 0.15 * canvas.stroke_mask(g, back, 0.029, 3) - 0.07 * canvas.stroke_mask(g, back, 0.015, 3)
            front = [(side * (half - (half - 0.22) * t), y + 0.03 + 0.26 * t**1.2) for t in np.linspace(0, 1, 5)]
            total += 0.06 * canvas.stroke_mask(g, front, 0.026, 4)
        collar = [(side * 0.10, -0.60), (side * 0.25, -0.665), (side * 0.45, -0.68), (side * 0.66, -0.76)]
        total += 0.32 * canvas.stroke_mask(g, collar, 0.028, 3) - 0.12 * canvas.stroke_mask(g, collar, 0.014, 3)
    return total


def _findings(thick: Array, g: CanvasGrid, lungs: Array, facts: dict[str, str], rng: np.random.Generator) -> None:
    for site in rng.permutation(len(NODULE_SITES))[: int(facts["nodules"])]:
        at = tuple(np.array(NODULE_SITES[site]) + rng.uniform(-0.02, 0.02, 2))
        thick += rng.uniform(0.26, 0.50) * canvas.ellipse_mask(g, at, (0.050, 0.050), soft=4)
    if facts["opacity"] != "none":
        at = tuple(np.array(OPACITY_SITES[facts["opacity"]]) + rng.uniform(-0.03, 0.03, 2))
        cloud = canvas.blob_mask(canvas.bend_grid(g, rng, 0.03, 8), at, 0.10)
        thick += rng.uniform(0.22, 0.45) * cloud * lungs
    for side, at in ANGLES.items():
        if facts["effusion"] in (side, "both"):
            level = at[1] - rng.uniform(0.06, 0.16)
            fluid = np.clip((g.y - level + 0.35 * (0.75 - np.abs(g.x))) * 18, 0, 1)
            lateral = np.clip((np.sign(at[0]) * g.x - 0.22) * 8, 0, 1)
            thick += 0.62 * fluid * lungs * lateral


def _device(g: CanvasGrid, device: str) -> Array:
    """Mask of an implanted device: a pacemaker, a port with its catheter, or a breathing tube; zero for none."""
    if device == "pacemaker":
        lead = [(0.52, -0.42), (0.30, -0.52), (0.05, -0.45), (-0.04, -0.1), (0.0, 0.2), (0.16, 0.34)]
        return canvas.unite_masks(
            [canvas.ellipse_mask(g, (0.58, -0.40), (0.11, 0.085), 0.3), canvas.stroke_mask(g, lead, 0.009)]
        )
    if device == "port":
        line = [(-0.55, -0.42), (-0.40, -0.60), (-0.15, -0.55), (-0.08, -0.3), (-0.08, 0.0)]
        ring = canvas.ellipse_mask(g, (-0.55, -0.38), (0.06, 0.06)) - 0.6 * canvas.ellipse_mask(
            g, (-0.55, -0.38), (0.03, 0.03)
        )
        return canvas.unite_masks([ring, 0.8 * canvas.stroke_mask(g, line, 0.007)])
    if device == "tube":
        sides = [canvas.stroke_mask(g, [(x, -1.0), (x, -0.42)], 0.006) for x in (-0.028, 0.028)]
        return 0.9 * canvas.unite_masks(sides)
    return np.zeros_like(g.x)
