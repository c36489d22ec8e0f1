"""A CT phantom: an axial slice through the upper abdomen in a soft-tissue window."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lmms_medtasks.baselines import canvas
from lmms_medtasks.baselines import phantoms as places
from lmms_medtasks.baselines.canvas import Array, CanvasGrid, Point

SIZE = 216
FACTS = {
    "lesions": ("1", "2", "3", "4"),
    "stones": ("none", "left", "right", "both"),
    "spleen": ("normal", "moderate", "marked"),
    "vessel": ("none", "weak", "strong"),
    "mark": ("none", "liver", "spleen", "kidney", "vertebra", "stomach"),
}
LESION_SITES = places.CT_LESION_SITES
KIDNEYS = places.CT_KIDNEYS
SPLEEN = places.CT_SPLEEN
SPLEEN_SCALE = {"normal": 0.78, "moderate": 1.02, "marked": 1.28}
AORTA = places.CT_AORTA
VESSEL_LEVEL = {"none": 122.0, "weak": 158.0, "strong": 205.0}
VERTEBRA: Point = (0.0, 0.30)


def draw(facts: dict[str, str], rng: np.random.Generator) -> NDArray[np.uint8]:
    """The slice that shows ``facts``: uint8, (n, n) grey, or (n, n, 3) with a red outline when something is marked."""
    flat = canvas.make_grid(SIZE)
    shift = rng.uniform(-0.015, 0.015, 2)
    scale = rng.uniform(0.97, 1.03)
    moved = CanvasGrid((flat.x - shift[0]) / scale, (flat.y - shift[1]) / scale)
    g = canvas.bend_grid(moved, rng, 0.012)
    picture = np.full(flat.x.shape, 6.0)
    _body(picture, g, rng)
    organs = _organs(picture, g, facts, rng)
    _bones(picture, g, rng)
    _lesions(picture, moved, facts, rng)
    canvas.paint_mask(
        picture, canvas.stroke_mask(flat, canvas.arc_points((0, -1.25), (1.3, 2.12), 0.7, 2.44, 24), 0.008), 150
    )
    grain = canvas.smooth_noise(rng, SIZE, 0.7)
    inside = canvas.ellipse_mask(g, (0, 0.02), (0.88, 0.66))
    picture = np.clip(picture, 0, 255) + grain * (1.5 + 5.0 * inside)
    grey = canvas.to_bytes(picture, 2)
    if facts["mark"] == "none":
        return grey
    return canvas.mark_pixels(grey, canvas.outline_mask(organs[facts["mark"]]), (255, 0, 0))


def _body(picture: Array, g: CanvasGrid, rng: np.random.Generator) -> None:
    canvas.paint_mask(picture, canvas.ellipse_mask(g, (0, 0.02), (0.88, 0.66)), 118)
    canvas.paint_mask(picture, canvas.ellipse_mask(g, (0, 0.02), (0.865, 0.645)), 58)
    canvas.paint_mask(picture, canvas.ellipse_mask(g, (0, 0.03), (0.80, 0.58)), 120)
    canvas.paint_mask(picture, canvas.ellipse_mask(g, (0, 0.01), (0.745, 0.52)), 62)
    for side in (-1, 1):
        for at, radii in (((0.17, 0.52), (0.15, 0.085)), ((0.15, 0.33), (0.07, 0.10))):
            canvas.paint_mask(picture, canvas.ellipse_mask(g, (side * at[0], at[1]), radii, 0.2 * side), 124)
    for _ in range(7):
        at = (rng.uniform(-0.25, 0.5), rng.uniform(-0.02, 0.12))
        canvas.paint_mask(picture, canvas.ellipse_mask(g, at, (rng.uniform(0.05, 0.10), rng.uniform(0.04, 0.07))), 112)


def _organs(picture: Array, g: CanvasGrid, facts: dict[str, str], rng: np.random.Generator) -> dict[str, Array]:
    right_lobe = canvas.ellipse_mask(g, (-0.44, -0.02), (0.29, 0.37), 0.12)
    left_lobe = canvas.ellipse_mask(g, (-0.14, -0.27), (0.34, 0.15), -0.12)
    liver = canvas.unite_masks([right_lobe, left_lobe])
    k = SPLEEN_SCALE[facts["spleen"]] * rng.uniform(0.95, 1.05)
    spleen = canvas.ellipse_mask(g, SPLEEN, (0.125 * k, 0.24 * k), -0.3)
    stomach = canvas.ellipse_mask(g, (0.33, -0.25), (0.27, 0.16), 0.15)
    canvas.paint_mask(picture, stomach, 104)
    bubble = canvas.ellipse_mask(g, (0.31, -0.33), (0.14, 0.055))
    canvas.paint_mask(picture, bubble, 4)
    canvas.paint_mask(picture, spleen, 146)
    canvas.paint_mask(picture, liver, 140 + 3 * canvas.smooth_noise(rng, g.n, 2.0))
    for at in ((-0.45, -0.05), (-0.3, 0.08), (-0.22, -0.2)):
        twig = (at[0] + rng.uniform(0.05, 0.14), at[1] + rng.uniform(-0.08, 0.02))
        canvas.paint_mask(picture, canvas.stroke_mask(g, [at, twig], 0.008), 156)
    kidneys = {side: canvas.ellipse_mask(g, at, (0.115, 0.145), -0.25 * np.sign(at[0])) for side, at in KIDNEYS.items()}
    for side, mask in kidneys.items():
        at = KIDNEYS[side]
        canvas.paint_mask(picture, mask, 168)
        canvas.paint_mask(picture, canvas.ellipse_mask(g, at, (0.07, 0.095)), 150)
        canvas.paint_mask(picture, canvas.ellipse_mask(g, (at[0] - 0.05 * np.sign(at[0]), at[1]), (0.045, 0.05)), 70)
    vertebra = canvas.ellipse_mask(g, VERTEBRA, (0.135, 0.115))
    return {"liver": liver, "spleen": spleen, "kidney": kidneys["right"], "vertebra": vertebra, "stomach": stomach}


def _bones(picture: Array, g: CanvasGrid, rng: np.random.Generator) -> None:
    spine = [
        canvas.ellipse_mask(g, VERTEBRA, (0.135, 0.115)),
        canvas.stroke_mask(g, [(-0.2, 0.46), (-0.08, 0.44), (0.08, 0.44), (0.2, 0.46)], 0.025),
        canvas.stroke_mask(g, [(0, 0.46), (0, 0.60)], 0.025),
    ]
    canvas.paint_mask(picture, canvas.unite_masks(spine), 236)
    canvas.paint_mask(
        picture, canvas.ellipse_mask(g, VERTEBRA, (0.11, 0.09)), 196 + 9 * canvas.smooth_noise(rng, g.n, 1.0)
    )
    canvas.paint_mask(picture, canvas.ellipse_mask(g, (0, 0.43), (0.055, 0.04)), 116)
    for angle in np.array([-2.75, -2.2, -0.95, -0.4, 0.12, 0.62, 2.5, 3.02]) + rng.uniform(-0.05, 0.05, 8):
        at = (0.775 * float(np.cos(angle)), 0.02 + 0.55 * float(np.sin(angle)))
        canvas.paint_mask(picture, canvas.ellipse_mask(g, at, (0.065, 0.02), angle + np.pi / 2 + 0.1), 228)


def _lesions(picture: Array, g: CanvasGrid, facts: dict[str, str], rng: np.random.Generator) -> None:
    canvas.paint_mask(
        picture, canvas.ellipse_mask(g, (-0.13, 0.13), (0.06, 0.05)), 0.5 * (VESSEL_LEVEL[facts["vessel"]] + 124)
    )
    canvas.paint_mask(
        picture, canvas.ellipse_mask(g, AORTA, (0.062, 0.062)), VESSEL_LEVEL[facts["vessel"]] + rng.uniform(-7, 7)
    )
    for site in rng.permutation(len(LESION_SITES))[: int(facts["lesions"])]:
        at = tuple(np.array(LESION_SITES[site]) + rng.uniform(-0.02, 0.02, 2))
        mask = canvas.ellipse_mask(g, at, (rng.uniform(0.038, 0.06), rng.uniform(0.038, 0.06)), soft=3)
        canvas.paint_mask(picture, mask, 140 - rng.uniform(30, 66))
    for side, at in KIDNEYS.items():
        if facts["stones"] in (side, "both"):
            spot = (at[0] + rng.uniform(-0.03, 0.03), at[1] + rng.uniform(-0.05, 0.05))
            canvas.paint_mask(picture, canvas.ellipse_mask(g, spot, (0.026, 0.026), soft=3), rng.uniform(215, 250))
