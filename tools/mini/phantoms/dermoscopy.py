"""A dermoscopy phantom: one pigmented lesion on skin, seen through a contact lens, with a ruler at the edge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from lmms_medtasks.baselines import canvas
from lmms_medtasks.baselines import phantoms as places
from lmms_medtasks.baselines.canvas import Array, CanvasGrid, Point

Colour = tuple[float, float, float]

SIZE = 192
FACTS = {
    "milia": ("1", "2", "3", "4"),
    "veil": ("none", "upper", "lower", "left", "right"),
    "size": ("small", "medium", "large"),
    "pigment": ("black", "brown", "blue"),
    "structure": ("network", "globules", "homogeneous", "streaks"),
    "mark": ("none", "centre", "edge", "skin", "hair"),
}
LESION_RADIUS = {"small": 0.36, "medium": 0.50, "large": 0.66}
COLOURS = {"black": (78.0, 58.0, 54.0), "brown": (150.0, 98.0, 66.0), "blue": (98.0, 106.0, 128.0)}
# In fractions of the lesion's radius, from its centre.
VEIL_SITES = places.DERMOSCOPY_VEIL_SITES
MILIA_SITES: tuple[Point, ...] = ((-0.30, -0.30), (0.32, -0.28), (-0.28, 0.32), (0.30, 0.30), (0.02, -0.02))
HAIR_MARK: Point = (-0.60, -0.62)
MARKS: dict[str, Point] = {"skin": (0.66, 0.64), "hair": HAIR_MARK}


def draw(facts: dict[str, str], rng: np.random.Generator) -> NDArray[np.uint8]:
    """The picture that shows ``facts``: uint8 (n, n, 3), with a green box when something is marked."""
    g = canvas.make_grid(SIZE)
    radius = LESION_RADIUS[facts["size"]] * rng.uniform(0.95, 1.05)
    picture = np.empty((SIZE, SIZE, 3))
    picture[:] = np.array([222.0, 172.0, 150.0]) + rng.uniform(-10, 10, 3)
    picture += 5 * canvas.smooth_noise(rng, SIZE, 18)[..., None] + 2.5 * canvas.smooth_noise(rng, SIZE, 2.0)[..., None]
    own = canvas.bend_grid(g, rng, 0.035, 12)
    turn, flat = rng.uniform(0, np.pi), rng.uniform(0.92, 1.0)
    mask = ndimage.gaussian_filter(canvas.ellipse_mask(own, (0, 0), (radius, radius * flat), turn, soft=3), 2.5)
    canvas.paint_mask(picture, mask, _pigment(own, facts, radius, rng))
    if facts["structure"] == "streaks":
        _streaks(picture, own, radius, COLOURS[facts["pigment"]], rng)
    if facts["veil"] != "none":
        at = [radius * v for v in VEIL_SITES[facts["veil"]]]
        haze = canvas.blob_mask(own, (at[0], at[1]), 0.20 * radius) * mask
        canvas.paint_mask(picture, rng.uniform(0.55, 0.95) * haze, (168, 178, 205))
    for site in rng.permutation(len(MILIA_SITES))[: int(facts["milia"])]:
        spot = tuple(radius * np.array(MILIA_SITES[site]) + rng.uniform(-0.02, 0.02, 2))
        canvas.paint_mask(
            picture, rng.uniform(0.65, 1.0) * canvas.ellipse_mask(g, spot, (0.038, 0.038), soft=3), (246, 236, 216)
        )
    _hairs(picture, g, rng)
    _lens(picture, g)
    rgb = canvas.to_bytes(picture, 3)
    if facts["mark"] == "none":
        return rgb
    x, y = {"centre": (0.0, 0.0), "edge": (-radius, 0.0), **MARKS}[facts["mark"]]
    centre = (x + rng.uniform(-0.05, 0.05), y + rng.uniform(-0.05, 0.05))
    half = rng.uniform(0.14, 0.18)
    return canvas.mark_pixels(rgb, canvas.box_mask(g, centre, (half, half)), (0, 255, 0))


def _pigment(g: CanvasGrid, facts: dict[str, str], radius: float, rng: np.random.Generator) -> Array:
    """The lesion's own colours: its base, and a network, globules or nothing over it."""
    base = np.array(COLOURS[facts["pigment"]]) + rng.uniform(-8, 8, 3)
    # Darker in the middle, lighter and uneven towards the border, as pigment thins out.
    shade = 1 + 0.07 * canvas.smooth_noise(rng, g.n, 8) + 0.22 * (np.hypot(g.x, g.y) / radius - 0.7)
    if facts["structure"] == "network":
        pitch = 0.072
        turns = 0.2 + np.arange(3) * np.pi / 3
        waves = sum(np.cos(2 * np.pi * (np.cos(a) * g.x + np.sin(a) * g.y) / pitch) for a in turns)
        holes = np.clip((waves + 0.6) / 2.4, 0, 1)
        shade = shade * (0.80 + 0.44 * holes)
    if facts["structure"] == "globules":
        dots = np.zeros_like(g.x)
        for _ in range(int(110 * (radius / 0.6) ** 2)):
            reach, angle = radius * np.sqrt(rng.uniform(0, 0.95)), rng.uniform(0, 2 * np.pi)
            at = (reach * float(np.cos(angle)), reach * float(np.sin(angle)))
            np.maximum(dots, canvas.ellipse_mask(g, at, (0.028, 0.028), soft=2), out=dots)
        shade = shade * (1.08 - 0.42 * dots)
    return base * shade[..., None]


def _streaks(picture: Array, g: CanvasGrid, radius: float, colour: Colour, rng: np.random.Generator) -> None:
    """Radial lines that run out of the border all around."""
    for angle in np.linspace(0, 2 * np.pi, 22, endpoint=False) + rng.uniform(-0.07, 0.07, 22):
        stop = radius * rng.uniform(1.16, 1.32)
        ends = [(r * float(np.cos(angle)), r * float(np.sin(angle))) for r in (0.8 * radius, stop)]
        canvas.paint_mask(picture, 0.85 * canvas.stroke_mask(g, ends, 0.014, 2), [0.85 * c for c in colour])


def _hairs(picture: Array, g: CanvasGrid, rng: np.random.Generator) -> None:
    """A tuft in the upper left corner, and a few single hairs."""
    lines = [(HAIR_MARK[0] + d, HAIR_MARK[1] - d, 0.75) for d in (-0.07, 0.0, 0.07)]
    lines += [(rng.uniform(-0.9, 0.9), rng.uniform(-0.9, 0.9), rng.uniform(-0.6, 2.0)) for _ in range(2)]
    for x, y, angle in lines:
        bow = rng.uniform(-0.05, 0.05)
        c, s = float(np.cos(angle)), float(np.sin(angle))
        points = [(x + t * c - bow * (1 - 4 * t * t) * s, y + t * s + bow * (1 - 4 * t * t) * c)
                  for t in np.linspace(-0.42, 0.42, 7)]  # fmt: skip
        canvas.paint_mask(picture, 0.8 * canvas.stroke_mask(g, points, 0.006, 2), (58, 42, 38))


def _lens(picture: Array, g: CanvasGrid) -> None:
    """Dark corners of a round field, and the ruler's ticks at the lower edge."""
    far = np.hypot(g.x, g.y)
    picture *= (1 - 0.10 * np.clip(far, 0, 1.2) ** 3)[..., None]
    canvas.paint_mask(picture, np.clip((far - 1.24) * 40, 0, 1), (14, 12, 12))
    for k in range(-6, 7):
        length = 0.08 if k % 2 == 0 else 0.05
        canvas.paint_mask(
            picture, canvas.stroke_mask(g, [(k / 10, 0.98), (k / 10, 0.98 - length)], 0.005, 1), (40, 40, 46)
        )
