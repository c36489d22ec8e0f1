"""An endoscopy phantom: the inside of the colon with folds, vessels and reflections, lit from the scope's tip."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from lmms_medtasks.baselines import canvas
from lmms_medtasks.baselines import phantoms as places
from lmms_medtasks.baselines.canvas import Array, CanvasGrid, Point

SIZE = 192
FACTS = {
    "ulcers": ("1", "2", "3", "4"),
    "polyp": ("upper left", "upper right", "lower left", "lower right"),
    "kind": ("round", "stalked", "flat"),
    "bleeding": ("none", "mild", "severe"),
    "tool": ("none", "forceps", "snare"),
    "lumen": ("up", "down", "left", "right"),
    "mucosa": ("pale", "normal", "red"),
    "mark": ("none", "lumen", "fold", "polyp", "reflection"),
}
LUMENS = places.ENDOSCOPY_LUMENS
POLYPS = places.ENDOSCOPY_POLYPS
ULCER_SITES = places.ENDOSCOPY_ULCER_SITES
MUCOSA = {"pale": (226.0, 158.0, 128.0), "normal": (222.0, 122.0, 92.0), "red": (214.0, 88.0, 66.0)}
BLOOD = {"none": 0.0, "mild": 0.15, "severe": 0.28}
POOL = places.ENDOSCOPY_POOL
REFLECTION: Point = (-0.22, -0.62)
TIPS = places.ENDOSCOPY_TIPS


def draw(facts: dict[str, str], rng: np.random.Generator) -> NDArray[np.uint8]:
    """The view that shows ``facts``: uint8 (n, n, 3), with a green box when something is marked."""
    g = canvas.make_grid(SIZE)
    own = canvas.bend_grid(g, rng, 0.02, 14)
    lumen = tuple(np.array(LUMENS[facts["lumen"]]) + rng.uniform(-0.03, 0.03, 2))
    picture, fold = _wall(own, facts["mucosa"], lumen, rng)
    _vessels(picture, own, lumen, rng)
    _findings(picture, g, facts, rng)
    at = tuple(np.array(POLYPS[facts["polyp"]]) + rng.uniform(-0.03, 0.03, 2))
    _polyp(picture, canvas.bend_grid(g, rng, 0.012, 10), at, facts, rng)
    _reflections(picture, g, rng)
    _tool(picture, g, facts["tool"])
    field = np.clip(1 - (np.maximum(np.hypot(g.x, g.y) * 0.90, np.maximum(abs(g.x), abs(g.y))) - 0.965) * 60, 0, 1)
    picture = picture * field[..., None] + 4
    rgb = canvas.to_bytes(picture, 3)
    if facts["mark"] == "none":
        return rgb
    spot = {"lumen": lumen, "fold": fold, "polyp": at, "reflection": REFLECTION}[facts["mark"]]
    half = 0.24 if facts["mark"] in ("lumen", "polyp") else 0.15
    return canvas.mark_pixels(rgb, canvas.box_mask(g, spot, (half, half)), (0, 255, 0))


def _wall(g: CanvasGrid, mucosa: str, lumen: Point, rng: np.random.Generator) -> tuple[Array, Point]:
    """The tube's wall: darker towards the lumen, ringed by folds. Also a place on the nearest fold."""
    far = np.hypot(g.x - lumen[0], (g.y - lumen[1]))
    angle = np.arctan2(g.y - lumen[1], g.x - lumen[0])
    # Three-sided rings, as the colon's three muscle bands make them, closer together with depth.
    ring = far * (1 + 0.12 * np.cos(3 * angle + rng.uniform(0, 6.28)))
    light = 0.42 + 0.62 * np.clip((ring - 0.10) / 0.55, 0, 1)
    for radius, width in ((0.24, 0.030), (0.37, 0.042), (0.58, 0.055), (0.88, 0.07)):
        across = (ring - radius) / width
        light += 0.16 * np.exp(-(across**2)) - 0.22 * np.exp(-((across + 1.5) ** 2))
    light *= np.clip((ring - 0.03) / 0.16, 0.05, 1)
    light *= 1 - 0.22 * np.clip(np.hypot(g.x, g.y) - 0.3, 0, None) + 0.025 * canvas.smooth_noise(rng, g.n, 3)
    colour = np.array(MUCOSA[mucosa]) + rng.uniform(-5, 5, 3)
    picture = light[..., None] * colour
    picture *= 1 + 0.03 * canvas.smooth_noise(rng, g.n, 12)[..., None]
    side = np.sign(lumen[0]) or 1.0
    return picture, (lumen[0] - side * 0.37, lumen[1])


def _vessels(picture: Array, g: CanvasGrid, lumen: Point, rng: np.random.Generator) -> None:
    """Thin branching vessels on the wall."""
    for _ in range(9):
        angle, reach = rng.uniform(0, 2 * np.pi), rng.uniform(0.45, 0.95)
        x, y = lumen[0] + reach * float(np.cos(angle)), lumen[1] + reach * float(np.sin(angle))
        points, heading = [(x, y)], rng.uniform(0, 2 * np.pi)
        for _ in range(5):
            heading += rng.uniform(-0.7, 0.7)
            x, y = x + 0.07 * float(np.cos(heading)), y + 0.07 * float(np.sin(heading))
            points.append((x, y))
        canvas.paint_mask(picture, 0.35 * canvas.stroke_mask(g, points, 0.006, 2), (150, 44, 40))


def _findings(picture: Array, g: CanvasGrid, facts: dict[str, str], rng: np.random.Generator) -> None:
    """Ulcers (white-yellow spots with a red rim) and blood that has pooled below."""
    for site in rng.permutation(len(ULCER_SITES))[: int(facts["ulcers"])]:
        at = tuple(np.array(ULCER_SITES[site]) + rng.uniform(-0.015, 0.015, 2))
        canvas.paint_mask(picture, 0.5 * canvas.ellipse_mask(g, at, (0.072, 0.072), soft=4), (176, 52, 44))
        canvas.paint_mask(
            picture, rng.uniform(0.6, 0.95) * canvas.ellipse_mask(g, at, (0.045, 0.045), soft=3), (240, 226, 180)
        )
    size = BLOOD[facts["bleeding"]] * rng.uniform(0.92, 1.08)
    if size > 0:
        pool = canvas.ellipse_mask(canvas.bend_grid(g, rng, 0.03, 8), POOL, (1.15 * size, 0.8 * size), 0.2, soft=3)
        canvas.paint_mask(picture, 0.9 * pool, (124, 12, 14))


def _polyp(picture: Array, g: CanvasGrid, at: Point, facts: dict[str, str], rng: np.random.Generator) -> None:
    """A polyp: a dome, a head on a stalk, or a flat patch with a raised rim."""
    kind = facts["kind"]
    # A little redder than the wall that it grows from.
    red = np.array(MUCOSA[facts["mucosa"]]) * np.array([1.0, rng.uniform(0.62, 0.80), rng.uniform(0.68, 0.82)])
    if kind == "flat":
        patch = canvas.ellipse_mask(g, at, (0.19, 0.15), rng.uniform(-0.3, 0.3), soft=5)
        inner = canvas.ellipse_mask(g, at, (0.13, 0.095), soft=5)
        canvas.paint_mask(picture, 0.75 * patch, 1.04 * red)
        canvas.paint_mask(picture, 0.6 * inner, 0.80 * red)
        return
    radius = rng.uniform(0.145, 0.17) if kind == "round" else rng.uniform(0.10, 0.12)
    head = at
    if kind == "stalked":
        away = np.sign(at)
        foot = (at[0] + 0.16 * float(away[0]), at[1] + 0.16 * float(away[1]))
        head = (at[0] - 0.06 * float(away[0]), at[1] - 0.06 * float(away[1]))
        canvas.paint_mask(picture, canvas.stroke_mask(g, [foot, head], 0.05, 4), 0.95 * red + 22)
    shadow = canvas.ellipse_mask(g, (head[0] + 0.03, head[1] + 0.04), (1.15 * radius, 1.15 * radius), soft=8)
    picture *= (1 - 0.35 * shadow)[..., None]
    ball = canvas.ellipse_mask(g, head, (radius, radius), soft=3)
    dome = np.sqrt(np.clip(1 - ((g.x - head[0]) ** 2 + (g.y - head[1]) ** 2) / radius**2, 0, 1))
    canvas.paint_mask(picture, ball, (0.62 + 0.48 * dome)[..., None] * red)
    canvas.paint_mask(
        picture, canvas.ellipse_mask(g, (head[0] - 0.04, head[1] - 0.05), (0.022, 0.016), soft=2), (255, 240, 232)
    )


def _reflections(picture: Array, g: CanvasGrid, rng: np.random.Generator) -> None:
    """White reflections of the lamp on wet mucosa."""
    spots = [(REFLECTION[0] + rng.uniform(-0.07, 0.07), REFLECTION[1] + rng.uniform(-0.06, 0.06)) for _ in range(5)]
    spots += [(rng.uniform(0.15, 0.4), rng.uniform(0.45, 0.55)) for _ in range(2)]
    radii = [(rng.uniform(0.010, 0.028), rng.uniform(0.007, 0.014)) for _ in spots]
    drops = [canvas.ellipse_mask(g, at, size, rng.uniform(0, 3)) for at, size in zip(spots, radii, strict=True)]
    canvas.paint_mask(picture, canvas.unite_masks(drops), (255, 246, 240))


def _tool(picture: Array, g: CanvasGrid, tool: str) -> None:
    """An instrument from below: opened forceps, or a wire loop; nothing for none."""
    if tool == "none":
        return
    tip = TIPS[tool]
    foot = (tip[0] - 0.16, 1.1)
    canvas.paint_mask(picture, canvas.stroke_mask(g, [foot, tip], 0.045, 3), (96, 104, 116))
    ridge = canvas.stroke_mask(g, [(foot[0] - 0.015, foot[1]), (tip[0] - 0.015, tip[1])], 0.012, 3)
    canvas.paint_mask(picture, 0.8 * ndimage.gaussian_filter(ridge, 1), (228, 234, 240))
    if tool == "forceps":
        for turn in (-0.45, 0.70):
            jaw = (tip[0] + 0.16 * float(np.sin(turn)), tip[1] - 0.16 * float(np.cos(turn)))
            canvas.paint_mask(picture, canvas.stroke_mask(g, [tip, jaw], 0.026, 2), (176, 184, 194))
        return
    loop = (tip[0] + 0.06, tip[1] - 0.24)
    outer, inner = (canvas.ellipse_mask(g, loop, (r, 1.55 * r), 0.23) for r in (0.165, 0.140))
    canvas.paint_mask(picture, np.clip(outer - inner, 0, 1), (232, 236, 240))
