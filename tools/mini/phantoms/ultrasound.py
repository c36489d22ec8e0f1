"""An ultrasound phantom: a curved-array view of layered soft tissue with a mass, speckled in the fan's geometry."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from lmms_medtasks.baselines import canvas
from lmms_medtasks.baselines import phantoms as places
from lmms_medtasks.baselines.canvas import Array, CanvasGrid

SIZE = 216
FACTS = {
    "cysts": ("1", "2", "3", "4"),
    "place": ("left", "centre", "right"),
    "size": ("small", "medium", "large"),
    "echo": ("black", "dark", "bright"),
    "behind": ("shadow", "enhancement", "neither"),
    "shape": ("wide", "round", "tall"),
    "mark": ("none", "skin", "fat", "muscle", "bone"),
}
# The fan: where its tip is, the radii at which it starts and ends, and half its opening angle (radians).
TIP = places.ULTRASOUND_TIP
NEAR, FAR = places.ULTRASOUND_NEAR, places.ULTRASOUND_FAR
HALF_ANGLE = 0.56
MASS_DEPTH = 0.53
MASS_ANGLES = places.ULTRASOUND_MASS_ANGLES
MASS_RADIUS = {"small": 0.088, "medium": 0.128, "large": 0.175}
ASPECT = {"wide": 1.65, "round": 1.0, "tall": 0.60}
ECHO = {"black": 0.02, "dark": 0.26, "bright": 4.0}
CYST_DEPTH = 0.27
CYST_ANGLES = places.ULTRASOUND_CYST_ANGLES
LAYERS = {"skin": (0.0, 0.05), "fat": (0.06, 0.17), "muscle": (0.68, 0.80), "bone": (0.87, 0.90)}


def draw(facts: dict[str, str], rng: np.random.Generator) -> NDArray[np.uint8]:
    """The view that shows ``facts``: uint8, (n, n) grey, or (n, n, 3) with a red outline when a layer is marked."""
    g = canvas.make_grid(SIZE)
    radius, angle = np.hypot(g.x - TIP[0], g.y - TIP[1]), np.arctan2(g.x - TIP[0], g.y - TIP[1])
    depth = (radius - NEAR) / (FAR - NEAR)
    fan = (depth > 0) & (depth < 1) & (np.abs(angle) < HALF_ANGLE)
    echo = _layers(depth, angle, rng)
    _mass(echo, g, depth, angle, facts, rng)
    for site in rng.permutation(len(CYST_ANGLES))[: int(facts["cysts"])]:
        spot = places.at_depth(CYST_DEPTH + rng.uniform(-0.015, 0.015), CYST_ANGLES[site] + rng.uniform(-0.02, 0.02))
        size = rng.uniform(0.036, 0.046)
        canvas.paint_mask(echo, canvas.ellipse_mask(g, spot, (1.2 * size, size)), 0.32 * rng.uniform(0.1, 1.0))
    speckle = _speckle(depth, angle, rng)
    level = 20 * np.log10(np.clip(echo * speckle, 1e-4, None)) - 7 * depth
    picture = np.where(fan, 255 * np.clip((level + 28) / 52, 0, 1), 0)
    picture = ndimage.gaussian_filter(picture, 0.45)
    _screen(picture, g)
    grey = canvas.to_bytes(picture, 2)
    if facts["mark"] == "none":
        return grey
    low, high = LAYERS[facts["mark"]]
    beside = np.abs(angle - rng.uniform(-0.08, 0.08)) < rng.uniform(0.26, 0.42)
    shape = ((depth > low - 0.01) & (depth < high + 0.01) & beside).astype(float)
    return canvas.mark_pixels(grey, canvas.outline_mask(shape), (255, 0, 0))


def _layers(depth: Array, angle: Array, rng: np.random.Generator) -> Array:
    """How strongly each place scatters: skin, fat with septa, gland, muscle with fibres, bone and its shadow."""
    n = depth.shape[0]
    wave = depth + 0.010 * canvas.smooth_noise(rng, n, 22)
    echo = np.full(depth.shape, 1.0)
    echo = np.where(wave < 0.05, 3.2, echo)
    septa = np.abs(canvas.smooth_noise(rng, n, (2.0, 7.0))) < 0.16
    echo = np.where((wave >= 0.05) & (wave < 0.18), np.where(septa, 2.2, 0.45), echo)
    echo = np.where(np.abs(wave - 0.185) < 0.012, 3.5, echo)
    echo = np.where((wave > 0.20) & (wave < 0.66), 1.25 * np.exp(0.16 * canvas.smooth_noise(rng, n, 5)), echo)
    echo = np.where(np.abs(wave - 0.665) < 0.010, 3.0, echo)
    fibres = np.sin(2 * np.pi * (wave - 0.1 * angle) / 0.030) + 0.5 * canvas.smooth_noise(rng, n, (1, 6))
    echo = np.where((wave >= 0.675) & (wave < 0.86), 0.45 * np.exp(0.75 * fibres), echo)
    bone = 6.0 * np.exp(0.35 * canvas.smooth_noise(rng, n, 6))
    echo = np.where((wave >= 0.865) & (wave < 0.90), bone, echo)
    return np.where(wave >= 0.90, 0.16 * np.exp(-(wave - 0.90) / 0.06), echo) * np.exp(
        0.12 * canvas.smooth_noise(rng, n, 14)
    )


def _mass(
    echo: Array, g: CanvasGrid, depth: Array, angle: Array, facts: dict[str, str], rng: np.random.Generator
) -> None:
    """The mass, its rim, and what it does to the echoes behind it."""
    middle = MASS_ANGLES[facts["place"]] + rng.uniform(-0.025, 0.025)
    at = places.at_depth(MASS_DEPTH + rng.uniform(-0.015, 0.015), middle)
    size = MASS_RADIUS[facts["size"]] * rng.uniform(0.94, 1.06)
    aspect = ASPECT[facts["shape"]] ** 0.5
    radii = (size * aspect, size / aspect)
    own = canvas.bend_grid(g, rng, 0.008, 8)
    canvas.paint_mask(
        echo, canvas.ellipse_mask(own, at, radii, -middle), ECHO[facts["echo"]] * np.exp(rng.uniform(-0.3, 0.3))
    )
    if facts["behind"] != "neither":
        half = 0.85 * radii[0] / (NEAR + MASS_DEPTH * (FAR - NEAR))
        # A strip of tissue stays between the mass and the beam's change, so that its lower border can be seen.
        below = (NEAR + depth * (FAR - NEAR)) - np.hypot(at[0] - TIP[0], at[1] - TIP[1]) - radii[1] - 0.07
        beam = np.clip((half - np.abs(angle - middle)) / 0.02 + 0.5, 0, 1) * np.clip(below / 0.05, 0, 1)
        gain = 0.12 if facts["behind"] == "shadow" else 4.0
        echo *= gain ** (beam * rng.uniform(0.6, 1.0))


def _speckle(depth: Array, angle: Array, rng: np.random.Generator) -> Array:
    """Rayleigh speckle, fine along the beam and coarser across it, wider with depth."""
    rows, columns = 230, 150
    parts = [ndimage.gaussian_filter(rng.standard_normal((rows, columns)), (1.0, 1.5)) for _ in range(2)]
    field = np.hypot(parts[0], parts[1])
    field /= np.sqrt(np.mean(field**2))
    at = [np.clip(depth, 0, 1) * (rows - 1), (angle / HALF_ANGLE + 1) / 2 * (columns - 1)]
    return ndimage.map_coordinates(field, at, order=1, mode="nearest")


def _screen(picture: Array, g: CanvasGrid) -> None:
    """What the machine writes beside the fan: a grey bar, depth ticks and a probe mark."""
    bar = (np.abs(g.x + 0.93) < 0.02) & (np.abs(g.y) < 0.4)
    picture[bar] = 255 * (0.4 - g.y[bar]) / 0.8
    for k in range(6):
        at = places.at_depth(k / 5, 0)[1]
        canvas.paint_mask(picture, canvas.stroke_mask(g, [(0.92, at), (0.95 if k % 5 else 0.98, at)], 0.005, 1), 200)
    canvas.paint_mask(picture, canvas.ellipse_mask(g, (-0.42, -0.93), (0.025, 0.025)), 220)
