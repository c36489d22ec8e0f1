"""The observer's filters for CT, MRI, X-ray and ultrasound: for each fact, the responses that tell its values apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lmms_medtasks.baselines import phantom_places as places
from lmms_medtasks.baselines.observer_view import (
    Point,
    View,
    at_sites,
    best,
    centre_of,
    circle,
    marker,
    moved,
    ranked,
    strongest,
)

Features = NDArray[np.float64]


# --- CT -------------------------------------------------------------------------------------------------------------
def ct_lesions(view: View) -> Features:
    """Dark discs at the places in the liver where lesions can be."""
    return ranked(view.blob("grey", 0.05), places.CT_LESION_SITES, 0.05, -1)


def ct_stones(view: View) -> Features:
    """A small bright disc in each kidney, and the highest level there against the liver's."""
    sites = list(places.CT_KIDNEYS.values())
    liver = view.mean("grey", (-0.44, 0.0), 0.08)
    highest = at_sites(view.blurred("grey", 0.016), sites, 0.06) - liver
    return np.concatenate([at_sites(view.blob("grey", 0.03), sites, 0.06), highest])


def ct_spleen(view: View) -> Features:
    """Organ or fat at places along and across the spleen's axis, against its middle."""
    middle = view.mean("grey", places.CT_SPLEEN, 0.04)
    along, across = (-0.295, 0.955), (0.955, 0.295)
    steps = [(d, along) for d in (0.19, 0.245, 0.30)] + [(d, across) for d in (0.10, 0.14)]
    probed = [moved(places.CT_SPLEEN, side * d * a[0], side * d * a[1]) for d, a in steps for side in (-1, 1)]
    return np.array([view.mean("grey", at, 0.02) - middle for at in probed])


def ct_vessel(view: View) -> Features:
    """The aorta against muscle."""
    muscle = np.mean([view.mean("grey", (side * 0.17, 0.52), 0.04) for side in (-1, 1)])
    disc = best(view.blob("grey", 0.055), places.CT_AORTA, 0.03)[1]
    return np.array([view.mean("grey", places.CT_AORTA, 0.03) - muscle, view.mean("grey", disc, 0.02) - muscle])


# --- MRI ------------------------------------------------------------------------------------------------------------
def mri_spots(view: View) -> Features:
    """Small bright discs at the places in the brain where spots can be."""
    return ranked(view.blob("grey", 0.03), places.MRI_SPOT_SITES, 0.04)


def mri_mass(view: View) -> Features:
    """Bright disc or ring, and its edge, in each quarter."""
    sites = list(places.MRI_MASS_SITES.values())
    disc = at_sites(view.blob("grey", 0.10), sites, 0.06)
    edge = at_sites(view.energy("grey", 0.05, 0.06), sites, 0.05)
    return np.concatenate([disc, edge])


def mri_core(view: View) -> Features:
    """The middle of the mass against its rim, at three scales."""
    disc = view.blob("grey", 0.11)
    start = strongest(list(places.MRI_MASS_SITES.values()), lambda site: best(disc, site, 0.05))
    tissue = np.mean([view.mean("grey", (side * 0.36, -0.12), 0.05) for side in (-1, 1)])
    spot = centre_of(view.blurred("grey", 0.012) - tissue - 25.0, start, 0.115)
    middle = view.mean("grey", spot, 0.015)
    rim = [np.mean([view.mean("grey", at, 0.012) for at in circle(r, 12, spot)]) for r in (0.062, 0.078)]
    return np.array([*(middle - np.array(rim)), middle - view.mean("grey", spot, 0.05)])


def mri_ventricles(view: View) -> Features:
    """How much fluid there is around each horn: the mean contrast over a wide window as a share of the peak's."""
    shares = []
    for at in ((0.075, -0.16), (0.085, -0.24), (0.152, 0.28)):
        found = []
        for side in (-1, 1):
            horn = (side * at[0], at[1])
            tissue = view.mean("grey", (side * 0.36, -0.12), 0.05)
            sign = 1 if view.mean("grey", horn, 0.02) > tissue else -1
            peak = best(view.blurred("grey", 0.012), horn, 0.04, sign)[0] - sign * tissue
            found.append([sign * (view.mean("grey", horn, r) - tissue) / max(peak, 20.0) for r in (0.03, 0.05, 0.08)])
        shares.append(np.mean(found, axis=0))
    return np.concatenate(shares)


def mri_weighting(view: View) -> Features:
    """Fluid, deep grey matter and scalp fat against white matter."""
    white = np.mean([view.mean("grey", (side * 0.36, -0.12), 0.05) for side in (-1, 1)])
    fluid = np.mean([view.mean("grey", (side * 0.075, -0.16), 0.02) for side in (-1, 1)])
    deep = np.mean([view.mean("grey", (side * 0.20, 0.03), 0.03) for side in (-1, 1)])
    scalp = np.mean([best(view.blurred("grey", 0.015), (side * 0.635, 0.0), 0.05)[0] for side in (-1, 1)])
    return np.array([fluid - white, deep - white, scalp - white])


# --- X-ray ----------------------------------------------------------------------------------------------------------
def xray_nodules(view: View) -> Features:
    """Small bright discs at the places in the lungs where nodules can be."""
    return ranked(view.blob("grey", 0.045), places.XRAY_NODULE_SITES, 0.04)


def xray_opacity(view: View) -> Features:
    """A wide soft brightening in each of four places."""
    return at_sites(view.blob("grey", 0.13), list(places.XRAY_OPACITY_SITES.values()), 0.04)


def xray_heart(view: View) -> Features:
    """Levels along a line through the heart's border on the right of the picture, between spine and lung."""
    heart, lung = view.mean("grey", (0.12, 0.28), 0.04), view.mean("grey", (0.62, -0.02), 0.04)
    probed = [(x, 0.28) for x in (0.28, 0.34, 0.40, 0.46, 0.52)] + [(x, 0.20) for x in (0.28, 0.36, 0.44, -0.17, -0.22)]
    return (np.array([view.mean("grey", at, 0.025) for at in probed]) - lung) / max(heart - lung, 20.0)


def xray_density(view: View) -> Features:
    """One lung against the other, place by place (findings are local, so the median tells most)."""
    rows = ((0.34, -0.40), (0.42, -0.22), (0.46, -0.02), (0.50, 0.16), (0.44, 0.32))
    pairs = [view.mean("grey", (-x, y), 0.05) - view.mean("grey", (x, y), 0.05) for x, y in rows]
    return np.array([np.median(pairs), *pairs])


def xray_effusion(view: View) -> Features:
    """Each lower outer corner of the lungs against the lung above it."""
    values = []
    for side, at in ((-1, places.XRAY_ANGLES["left"]), (1, places.XRAY_ANGLES["right"])):
        above = view.mean("grey", (side * 0.60, 0.12), 0.04)
        corner = [moved(at, side * dx, dy) for dx, dy in ((0, 0), (0.04, -0.08), (-0.10, -0.08))]
        values += [view.mean("grey", place, 0.03) - above for place in corner]
    return np.array(values)


def xray_device(view: View) -> Features:
    """A metal case, a small ring, and two thin lines in the neck."""
    fine = view.blob("grey", 0.016)
    lines = [np.mean([best(fine, (x, y), 0.02)[0] for y in (-0.9, -0.78, -0.66, -0.54)]) for x in (-0.028, 0.028)]
    lead = np.mean([best(fine, at, 0.02)[0] for at in ((0.41, -0.47), (-0.01, -0.28), (0.08, 0.27))])
    line = np.mean([best(fine, at, 0.02)[0] for at in ((-0.475, -0.51), (-0.275, -0.575), (-0.08, -0.15))])
    case = best(view.blob("grey", 0.10), (0.58, -0.40), 0.03)[0]
    ring = best(view.blob("grey", 0.055), (-0.55, -0.38), 0.03)[0]
    return np.array([case, lead, ring, line, *lines])


# --- Ultrasound -----------------------------------------------------------------------------------------------------
_MASSES: tuple[Point, ...] = tuple(places.at_depth(0.53, a) for a in places.ULTRASOUND_MASS_ANGLES.values())
_CYSTS: tuple[Point, ...] = tuple(places.at_depth(0.27, a) for a in places.ULTRASOUND_CYST_ANGLES)


def ultrasound_cysts(view: View) -> Features:
    """Small dark discs at the places above the mass where cysts can be."""
    return ranked(view.blob("grey", 0.045), _CYSTS, 0.035, -1)


def _mass(view: View) -> tuple[Point, float]:
    """Where the mass is and whether it is brighter (1) or darker (-1) than its surroundings."""
    response = view.blob("grey", 0.12)
    spot = strongest(_MASSES, lambda site: best(np.abs(response), site, 0.05))
    return spot, 1.0 if best(response, spot, 0.0)[0] > 0 else -1.0


def ultrasound_place(view: View) -> Features:
    """A disc, bright or dark, in each of three places."""
    return at_sites(np.abs(view.blob("grey", 0.12)), _MASSES, 0.04)


def _extent(view: View) -> Features:
    """Logarithms of the mass's half-width across the beam and along it (unit coordinates), from its level at steps."""
    spot, sign = _mass(view)
    tissue = np.mean([view.mean("grey", places.at_depth(0.53, a), 0.05) for a in (-0.15, 0.15)])
    spot = centre_of(sign * (view.blurred("grey", 0.02) - tissue) - 20.0, spot, 0.13)
    contrast = sign * max(sign * (view.mean("grey", spot, 0.03) - tissue), 25.0)
    turn = np.arctan2(spot[0] - places.ULTRASOUND_TIP[0], spot[1] - places.ULTRASOUND_TIP[1])
    across, along = (np.cos(turn), -np.sin(turn)), (np.sin(turn), np.cos(turn))
    steps = np.arange(0.02, 0.30, 0.04)
    widths = []
    for axis in (across, along):
        probed = [moved(spot, s * d * axis[0], s * d * axis[1]) for s in (-1, 1) for d in steps]
        shares = (np.array([view.mean("grey", at, 0.02) for at in probed]) - tissue) / contrast
        inside = np.cumprod(np.clip(2.0 * shares.reshape(2, -1), 0.0, 1.0), axis=1)
        widths.append(0.04 * inside.sum(axis=1).mean() + 0.01)
    return np.log(np.array(widths))


def ultrasound_size(view: View) -> Features:
    """The mass's width and height together, and the response of discs of three radii."""
    spot, sign = _mass(view)
    discs = [best(view.blob("grey", r), spot, 0.03, int(sign))[0] for r in (0.08, 0.13, 0.19)]
    return np.array([_extent(view).sum(), np.log(max(discs[2], 1.0) / max(discs[0], 1.0))])


def ultrasound_shape(view: View) -> Features:
    """The mass's width against its height."""
    across, along = _extent(view)
    return np.array([across - along])


def ultrasound_echo(view: View) -> Features:
    """The mass's level against the tissue beside it, inside and a little around."""
    spot, _ = _mass(view)
    tissue = np.mean([view.mean("grey", places.at_depth(0.53, a), 0.05) for a in (-0.15, 0.15)])
    return np.array([view.mean("grey", spot, 0.02) - tissue, view.mean("grey", spot, 0.05) - tissue])


def ultrasound_behind(view: View) -> Features:
    """The band behind the mass against the same depth on both sides, at three depths."""
    spot, _ = _mass(view)
    angle = float(np.arctan2(spot[0] - places.ULTRASOUND_TIP[0], spot[1] - places.ULTRASOUND_TIP[1]))
    values = []
    for depth in (0.68, 0.74, 0.80, 0.88):
        beside = [a for a in (angle - 0.2, angle + 0.2) if abs(a) < 0.5]
        level = np.mean([view.mean("grey", places.at_depth(depth, a), 0.03) for a in beside])
        values.append(view.mean("grey", places.at_depth(depth, angle), 0.03) - level)
    return np.array(values)


FEATURES = {
    ("CT", "lesions"): ct_lesions,
    ("CT", "stones"): ct_stones,
    ("CT", "spleen"): ct_spleen,
    ("CT", "vessel"): ct_vessel,
    ("CT", "mark"): marker,
    ("MRI", "spots"): mri_spots,
    ("MRI", "mass"): mri_mass,
    ("MRI", "core"): mri_core,
    ("MRI", "ventricles"): mri_ventricles,
    ("MRI", "weighting"): mri_weighting,
    ("MRI", "mark"): marker,
    ("X-ray", "nodules"): xray_nodules,
    ("X-ray", "opacity"): xray_opacity,
    ("X-ray", "heart"): xray_heart,
    ("X-ray", "density"): xray_density,
    ("X-ray", "effusion"): xray_effusion,
    ("X-ray", "device"): xray_device,
    ("X-ray", "mark"): marker,
    ("Ultrasound", "cysts"): ultrasound_cysts,
    ("Ultrasound", "place"): ultrasound_place,
    ("Ultrasound", "size"): ultrasound_size,
    ("Ultrasound", "shape"): ultrasound_shape,
    ("Ultrasound", "echo"): ultrasound_echo,
    ("Ultrasound", "behind"): ultrasound_behind,
    ("Ultrasound", "mark"): marker,
}
"""(modality, fact) -> the filters, a function from a view to a vector of responses."""
