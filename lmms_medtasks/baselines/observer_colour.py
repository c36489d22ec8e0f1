"""The observer's filters for dermoscopy, histopathology and endoscopy, and those that tell modalities apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from lmms_medtasks.baselines import phantom_places as places
from lmms_medtasks.baselines.observer_view import (
    SIDE,
    Point,
    View,
    at_sites,
    best,
    circle,
    marker,
    moved,
    peaks,
    ranked,
    strongest,
)

Features = NDArray[np.float64]


def _ring(view: View, plane: str, radius: float, width: float = 0.03) -> float:
    """The mean level on a circle around the middle of the picture."""
    return float(np.mean([view.mean(plane, at, width) for at in circle(radius)]))


def _disc(radius: float) -> NDArray[np.bool_]:
    axis = (np.arange(SIDE) + 0.5) * (2.0 / SIDE) - 1.0
    return np.hypot(axis[None, :], axis[:, None]) < radius


# --- Dermoscopy -----------------------------------------------------------------------------------------------------
def dermoscopy_milia(view: View) -> Features:
    """The five strongest small bright discs inside the smallest lesion's reach, and a little beyond."""
    return peaks(view.blob("g", 0.036), _disc(0.31), 5, 0.06)


def dermoscopy_veil(view: View) -> Features:
    """A wide bluish brightening in each of four directions from the middle, at any distance inside the lesion."""
    response = view.blob("b", 0.15) + view.blob("blue", 0.15)
    sites = places.DERMOSCOPY_VEIL_SITES.values()
    return np.array([max(best(response, (k * x, k * y), 0.05)[0] for k in (0.36, 0.50, 0.66)) for x, y in sites])


def dermoscopy_size(view: View) -> Features:
    """How dark rings around the middle are, from skin (0) to lesion (1)."""
    skin, lesion = _ring(view, "g", 0.84), _ring(view, "g", 0.24)
    depth = max(skin - lesion, 20.0)
    return np.array([np.clip((skin - _ring(view, "g", r)) / depth, -0.5, 1.5) for r in (0.36, 0.43, 0.50, 0.58, 0.66)])


def dermoscopy_pigment(view: View) -> Features:
    """The colour of the lesion's middle: its levels against skin, and red against blue."""
    lesion = {plane: _ring(view, plane, 0.16, 0.08) for plane in ("r", "g", "b")}
    skin = _ring(view, "r", 0.84, 0.05)
    return np.array([lesion["r"] - skin, lesion["r"] - lesion["b"], lesion["g"] - lesion["b"]])


def dermoscopy_structure(view: View) -> Features:
    """Fine and coarse texture inside the lesion, its skew (dark or bright dots), and detail round its border."""
    inside = _disc(0.32)
    # Levels are shaded by the pigment, so texture is taken relative to the local level.
    sharp = view.blurred("g", 0.008) + 12.0
    values = []
    for fine in (0.02, 0.035, 0.06):
        detail = (sharp / (view.blurred("g", fine) + 12.0))[inside] - 1.0
        low, half, high = np.percentile(detail, (8, 50, 92))
        values += [np.log(float(detail.std()) + 0.01), float((high + low - 2 * half) / (high - low + 0.01))]
    # The network's meshes are evenly spaced: its texture comes back after one pitch.
    detail = sharp / (view.blurred("g", 0.06) + 12.0)
    texture = detail[SIDE // 3 : -SIDE // 3, SIDE // 3 : -SIDE // 3]
    power = np.abs(np.fft.rfft2(texture - texture.mean())) ** 2
    side = len(texture)
    frequency = np.hypot(np.fft.fftfreq(side)[:, None], np.fft.rfftfreq(side)[None, :]) * SIDE / 2
    band = (frequency > 11.0) & (frequency < 18.5)
    values.append(float(np.log(power[band].mean() + 1e-3) - np.log(power[(frequency > 4) & ~band].mean() + 1e-3)))
    border = view.energy("g", 0.025, 0.03)
    radius = _lesion_radius(view)
    rings = [np.mean([border[_index(at)] for at in circle(k * radius, 36)]) for k in (1.15, 1.25, 1.5)]
    return np.array([*values, *np.log((np.array(rings[:2]) + 1.0) / (rings[2] + 1.0))])


def _lesion_radius(view: View) -> float:
    """Where the level on circles passes half the way from the lesion's middle to skin (unit coordinates)."""
    radii = np.arange(0.28, 0.80, 0.03)
    levels = np.array([_ring(view, "g", float(r), 0.02) for r in radii])
    half = 0.5 * (_ring(view, "g", 0.24) + _ring(view, "g", 0.84))
    beyond = np.flatnonzero(levels > half)
    return float(radii[beyond[0]] if beyond.size else radii[-1])


def _index(at: Point) -> tuple[int, int]:
    column, row = (min(max(round((v + 1.0) * SIDE / 2 - 0.5), 0), SIDE - 1) for v in at)
    return row, column


# --- Histopathology -------------------------------------------------------------------------------------------------
def histopathology_mitoses(view: View) -> Features:
    """A dense dark plate in a cleared cell at each of the places where one can be."""
    response = view.blob("r", 0.055) + 0.5 * view.blob("r", 0.09)
    clearing = view.mean("r", (0, 0), 0.4)
    sites = places.HISTOPATHOLOGY_MITOSIS_SITES
    halo = [np.median([view.mean("r", at, 0.015) for at in circle(0.105, 10, site)]) for site in sites]
    dark = at_sites(response, sites, 0.025, -1)
    joint = dark + 0.6 * (np.array(halo) - clearing)
    return np.concatenate([np.sort(joint)[::-1], np.sort(dark)[::-1]])


def histopathology_inflammation(view: View) -> Features:
    """How dark each quarter is at two scales, against the whole."""
    sites = list(places.HISTOPATHOLOGY_QUARTERS.values())
    wide = [view.mean("r", site, 0.16) for site in sites]
    near = [view.mean("r", site, 0.08) for site in sites]
    return np.concatenate([np.array(wide) - np.median(wide), np.array(near) - np.median(near)])


def histopathology_cells(view: View) -> Features:
    """How much of the field is nucleus, and how busy it is at three scales."""
    red = view.blurred("r", 0.012)
    tissue = np.percentile(red, 85)
    shares = [float(np.mean(red < tissue * k)) for k in (0.9, 0.8, 0.65)]
    busy = [np.log(float(np.std(view.blurred("r", a) - view.blurred("r", 2 * a))) + 1.0) for a in (0.012, 0.03, 0.06)]
    valleys = ndimage.minimum_filter(view.blurred("r", 0.03), size=5)
    count = float(np.mean((valleys == view.blurred("r", 0.03)) & (view.blob("r", 0.05) < -4))) * 1000
    return np.array([*shares, *busy, count])


def histopathology_stain(view: View) -> Features:
    """The field's colour: mean absorption of red and green light, and the tissue's own between nuclei."""
    absorbed = -np.log(np.clip(view.rgb, 8, 250) / 250.0)
    mean = absorbed.mean(axis=(0, 1))
    low = np.percentile(absorbed[::2, ::2], 35, axis=(0, 1))
    high = np.percentile(absorbed[::2, ::2, 0], 90)
    return np.array([mean[0], mean[1], mean[2], low[0], low[1], high])


def histopathology_pattern(view: View) -> Features:
    """White holes, and how much texture runs in one direction."""
    smooth = view.blurred("grey", 0.02)
    rows, columns = np.gradient(smooth)
    gxx, gyy, gxy = float(np.mean(columns**2)), float(np.mean(rows**2)), float(np.mean(rows * columns))
    lean, turn = (gxx - gyy) / (gxx + gyy), 2 * gxy / (gxx + gyy)
    sites = list(places.HISTOPATHOLOGY_QUARTERS.values())
    holes = np.sort(at_sites(view.blob("g", 0.20), sites, 0.10))[::-1]
    white = float(np.mean(view.blurred("g", 0.03) > 225.0))
    return np.array([lean, turn, np.hypot(lean, turn), *holes, 100 * min(white, 0.2)])


def histopathology_mark(view: View) -> Features:
    """The cell in the box: levels of its middle and around it, and how long it is."""
    box = marker(view)
    spot = best(view.blob("r", 0.05), (float(box[0]), float(box[1])), 0.05, -1)[1]
    around = {plane: np.mean([view.mean(plane, at, 0.015) for at in circle(0.14, 8, spot)]) for plane in ("r", "g")}
    values = [view.mean(plane, spot, r) - around[plane] for plane in ("r", "g") for r in (0.015, 0.03, 0.06)]
    row, column = _index(spot)
    patch = view.blurred("r", 0.012)[max(row - 12, 0) : row + 13, max(column - 12, 0) : column + 13]
    rows, columns = np.gradient(patch)
    gxx, gyy, gxy = (float(np.sum(a * b)) for a, b in ((columns, columns), (rows, rows), (rows, columns)))
    values.append(np.hypot(gxx - gyy, 2 * gxy) / (gxx + gyy + 1.0) * 100)
    return np.array(values)


# --- Endoscopy ------------------------------------------------------------------------------------------------------
def endoscopy_ulcers(view: View) -> Features:
    """Small bright yellowish discs at the places where ulcers can be."""
    return ranked(view.blob("g", 0.05) + view.blob("b", 0.05), places.ENDOSCOPY_ULCER_SITES, 0.03)


def endoscopy_polyp(view: View) -> Features:
    """A redder place in each quarter, at two scales."""
    sites = list(places.ENDOSCOPY_POLYPS.values())
    return np.concatenate([at_sites(view.blob("red", r), sites, 0.06) for r in (0.11, 0.17)])


def endoscopy_kind(view: View) -> Features:
    """The polyp: how wide its redness is, whether a dome's shadow and gloss or a stalk are there."""
    redness = view.blob("red", 0.13)
    spot = strongest(list(places.ENDOSCOPY_POLYPS.values()), lambda site: best(redness, site, 0.09))
    outward = (float(np.sign(spot[0])), float(np.sign(spot[1])))
    stalk = [view.mean("red", moved(spot, d * outward[0], d * outward[1]), 0.025) for d in (0.13, 0.17, 0.21)]
    beside = [view.mean("red", moved(spot, s * 0.16 * outward[0], -s * 0.16 * outward[1]), 0.025) for s in (-1, 1)]
    inward = view.mean("red", moved(spot, -0.16 * outward[0], -0.16 * outward[1]), 0.025)
    wide = [view.mean("red", spot, r) - np.mean(beside) for r in (0.03, 0.07, 0.12)]
    gloss = best(view.blob("b", 0.025), moved(spot, -0.04, -0.05), 0.06)[0]
    dome = view.mean("grey", spot, 0.03) - np.mean([view.mean("grey", at, 0.02) for at in circle(0.17, 10, spot)])
    shadow = np.min([view.mean("grey", at, 0.015) for at in circle(0.17, 16, spot)]) - view.mean("grey", spot, 0.10)
    return np.array([*(np.array(stalk) - np.mean(beside)), inward - np.mean(beside), *wide, gloss, dome, shadow])


def endoscopy_bleeding(view: View) -> Features:
    """Dark red at and around the place where blood gathers, against the wall to its right."""
    wall = view.mean("grey", (0.72, 0.12), 0.05)
    steps = ((0, 0), (0.10, 0), (0.20, 0.02), (0.27, 0.0), (0, -0.14), (0, -0.20))
    return np.array([view.mean("grey", moved(places.ENDOSCOPY_POOL, dx, dy), 0.03) - wall for dx, dy in steps])


def endoscopy_tool(view: View) -> Features:
    """Grey metal where the shaft is, and at the loop and the jaws."""
    shaft = [view.mean("red", (x, y), 0.02) for x, y in ((-0.255, 0.82), (-0.235, 0.72))]
    wall = view.mean("red", (-0.52, 0.12), 0.05)
    fine = view.blob("b", 0.03)
    near = places.ENDOSCOPY_TIPS["snare"]
    loop = [best(fine, moved(near, dx, dy), 0.02)[0] for dx, dy in ((-0.10, -0.21), (0.22, -0.27), (0.11, -0.49))]
    tip = places.ENDOSCOPY_TIPS["forceps"]
    jaws = [best(fine, moved(tip, dx, dy), 0.02)[0] for dx, dy in ((-0.04, -0.08), (0.06, -0.07), (0, 0.03))]
    return np.array([*(np.array(shaft) - wall), np.mean(loop), np.mean(jaws)])


def endoscopy_lumen(view: View) -> Features:
    """Darkness in each of four places."""
    sites = list(places.ENDOSCOPY_LUMENS.values())
    levels = np.array([view.mean("grey", site, 0.08) for site in sites])
    return levels - levels.mean()


def endoscopy_mucosa(view: View) -> Features:
    """The wall's colour: green and blue as shares of red, away from lumen and polyp."""
    sites = ((-0.74, 0.30), (0.74, 0.28), (0.40, -0.74), (-0.50, 0.74), (0.74, 0.05))
    colour = np.array([[view.mean(plane, site, 0.05) for plane in ("r", "g", "b")] for site in sites])
    share = colour[:, 1:] / np.maximum(colour[:, :1], 30.0)
    return np.concatenate([np.median(share, axis=0), [np.median(share[:, 0] - share[:, 1])]])


def endoscopy_mark(view: View) -> Features:
    """Size of the box, and darkness, redness and glints inside it."""
    x, y, width, height = marker(view)
    spot = (float(x), float(y))
    wall = view.mean("grey", (0.74, 0.12), 0.05)
    glint = best(view.blob("b", 0.02), spot, 0.10)[0]
    dark = [view.mean("grey", spot, r) - wall for r in (0.04, 0.09)]
    redness = view.mean("red", spot, 0.06) - view.mean("red", (0.74, 0.12), 0.05)
    return np.array([x, y, 0.5 * (width + height), *dark, redness, glint])


# --- Any ------------------------------------------------------------------------------------------------------------
def modality(view: View) -> Features:
    """A coarse thumbnail against its mean, texture at two scales, and the mean colour."""
    thumbnail = view.blurred("grey", 0.12)[SIDE // 10 :: SIDE // 5, SIDE // 10 :: SIDE // 5].astype(np.float64).ravel()
    busy = [np.log(float(np.std(view.plane("grey") - view.blurred("grey", a))) + 1.0) for a in (0.02, 0.06)]
    colour = [float(view.plane(name).mean()) for name in ("red", "blue")]
    return np.array([*(thumbnail - thumbnail.mean()), *busy, *colour])


FEATURES = {
    ("Dermoscopy", "milia"): dermoscopy_milia,
    ("Dermoscopy", "veil"): dermoscopy_veil,
    ("Dermoscopy", "size"): dermoscopy_size,
    ("Dermoscopy", "pigment"): dermoscopy_pigment,
    ("Dermoscopy", "structure"): dermoscopy_structure,
    ("Dermoscopy", "mark"): marker,
    ("Histopathology", "mitoses"): histopathology_mitoses,
    ("Histopathology", "inflammation"): histopathology_inflammation,
    ("Histopathology", "cells"): histopathology_cells,
    ("Histopathology", "stain"): histopathology_stain,
    ("Histopathology", "pattern"): histopathology_pattern,
    ("Histopathology", "mark"): histopathology_mark,
    ("Endoscopy", "ulcers"): endoscopy_ulcers,
    ("Endoscopy", "polyp"): endoscopy_polyp,
    ("Endoscopy", "kind"): endoscopy_kind,
    ("Endoscopy", "bleeding"): endoscopy_bleeding,
    ("Endoscopy", "tool"): endoscopy_tool,
    ("Endoscopy", "lumen"): endoscopy_lumen,
    ("Endoscopy", "mucosa"): endoscopy_mucosa,
    ("Endoscopy", "mark"): endoscopy_mark,
    ("any", "modality"): modality,
}
"""(modality, fact) -> the filters, a function from a view to a vector of responses."""
