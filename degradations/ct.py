"""CT degradations: views left out, a partial arc of them, few photons.

The image is taken as a map of attenuation on an empty square canvas (see :mod:`.tomography`): white attenuates most,
black not at all. Lengths of the scanner are fractions of the canvas's side, so that the same record does the same to
an image and to an enlarged copy of it; the detector's spacing is one pixel.

``limited_angle`` and ``sparse_view`` replace the image by its reconstruction. The authors' scanner is too small for an
image that is bright up to its corners: at both levels nearly all that it shows then are the errors of cut-off
projections, more of them with more views. Such an image gets a scanner that sees all of it, with textbook weights.

``low_dose`` adds to the image the reconstruction of its sinogram's noise: filtered back-projection is linear, so this
is the reconstruction of the noisy sinogram, less the small blur that projecting and reconstructing from all views
causes. Noise is inserted into clinical scans in this way (Yu et al., J. Comput. Assist. Tomogr. 36(4), 2012), and it is
what the authors' image shows: more noise, edges as sharp.

Colour images, which no CT is, are treated channel by channel; the noise of ``low_dose`` is then that of their mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmms_medtasks.degradations.base import Degradation, FloatImage, Parameters, Shape
from lmms_medtasks.degradations.threads import each
from lmms_medtasks.degradations.tomography import Scan, Views, Weights, project, reconstruct
from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import generator

BEAMS = ("fan", "parallel")

_LEAST_SIDE = 128
"""Pixels a side that an image keeps when it is made smaller to learn how strong the noise is."""

_VIEWS_PER_STREAM = 16
"""Views whose photons are drawn from one generator; the streams may run at the same time."""


@dataclass(frozen=True)
class ScanParameters(Parameters):
    """The views of a scan and its geometry.

    ``beam``: "fan" or "parallel". ``views``: how many. ``start``, ``step``: degrees, the first view's angle and from
    one to the next; at 0 the source is below the image, growing angles turn it counter-clockwise as displayed.
    ``source_distance``: source to centre, in sides of the canvas (a parallel beam ignores it). ``detector_width``: in
    sides of the canvas, at the centre.
    """

    beam: str
    views: int
    start: float
    step: float
    source_distance: float
    detector_width: float


@dataclass(frozen=True)
class PartialScanParameters(ScanParameters):
    """A scan with views missing.

    ``field_of_view``: radius in sides of the canvas. An image with less than ``least_inside`` of its brightness within
    it is scanned with a source distance and a detector width of ``wide`` sides each.
    """

    field_of_view: float
    least_inside: float
    wide: float


@dataclass(frozen=True)
class LowDoseParameters(ScanParameters):
    """A scan with photon noise.

    ``photons``: mean count of a ray that meets nothing. ``attenuation``: line integral (natural logarithm) of a ray
    through a white canvas from side to side. ``offset``: fraction of the canvas's mean intensity that is subtracted
    everywhere. ``seed``: of the photon counts.
    """

    photons: float
    attenuation: float
    offset: float
    seed: int


def sample_limited_angle(_: np.random.Generator, settings: Mapping[str, Any], __: Shape) -> PartialScanParameters:
    """An arc with a view at both of its ends. Nothing is drawn."""
    step = float(settings["step"])
    return _partial_scan(settings, round(float(settings["arc"]) / step) + 1, step)


def sample_sparse_view(_: np.random.Generator, settings: Mapping[str, Any], __: Shape) -> PartialScanParameters:
    """Views spread evenly over the arc, the first at its start. Nothing is drawn."""
    views = int(settings["views"])
    return _partial_scan(settings, views, float(settings["arc"]) / views)


def sample_low_dose(rng: np.random.Generator, settings: Mapping[str, Any], _: Shape) -> LowDoseParameters:
    """A full scan; the seed of its photon counts is drawn."""
    views = int(settings["views"])
    return LowDoseParameters(
        **_geometry(settings, views, float(settings["arc"]) / views),
        photons=float(settings["photons"]),
        attenuation=float(settings["attenuation"]),
        offset=float(settings["offset"]),
        seed=int(rng.integers(1 << 53)),
    )


def _partial_scan(settings: Mapping[str, Any], views: int, step: float) -> PartialScanParameters:
    return PartialScanParameters(
        **_geometry(settings, views, step),
        field_of_view=float(settings["field_of_view"]),
        least_inside=float(settings["least_inside"]),
        wide=float(settings["wide"]),
    )


def _geometry(settings: Mapping[str, Any], views: int, step: float) -> dict[str, Any]:
    return {
        "beam": str(settings["beam"]),
        "views": views,
        "start": float(settings["start"]),
        "step": step,
        "source_distance": float(settings["source_distance"]),
        "detector_width": float(settings["detector_width"]),
    }


def scan_of(parameters: ScanParameters, shape: Shape) -> Scan:
    """The scan of an image of ``shape`` in pixels and radians.

    Raises:
        UserError: An unknown beam, no views, no detector, or a source inside the canvas.
    """
    if parameters.beam not in BEAMS:
        raise UserError(f"beam must be one of {', '.join(BEAMS)}, got {parameters.beam!r}.")
    if parameters.views < 1 or not parameters.detector_width > 0:
        raise UserError(
            f"A scan needs a view and a detector, got views={parameters.views!r}, "
            f"detector_width={parameters.detector_width!r}."
        )
    if parameters.beam == "fan" and not parameters.source_distance > np.sqrt(0.5):
        raise UserError(
            f"source_distance must be above 0.7071 sides, outside the canvas, got {parameters.source_distance!r}."
        )
    side = max(shape)
    angles = np.deg2rad(parameters.start + parameters.step * np.arange(parameters.views))
    return Scan(
        angles=tuple(angles.tolist()),
        source_distance=parameters.source_distance * side if parameters.beam == "fan" else np.inf,
        detectors=max(1, round(parameters.detector_width * side)),
    )


def apply_partial_scan(image: FloatImage, parameters: PartialScanParameters) -> FloatImage:
    """The reconstruction of ``image`` from the views of ``parameters``."""
    scan, weights = fitting_scan(image, parameters)
    if image.ndim == 2:
        return reconstruct(project(image, scan), scan, image.shape, weights)
    channels = (np.ascontiguousarray(image[..., k]) for k in range(image.shape[2]))
    return np.stack([reconstruct(project(one, scan), scan, one.shape, weights) for one in channels], axis=-1)


def fitting_scan(image: FloatImage, parameters: PartialScanParameters) -> tuple[Scan, Weights]:
    """The scan of ``image``, and its weights: those of the authors, or a wide scan's (see the module)."""
    shape = image.shape[:2]
    if brightness_inside(image, parameters.field_of_view) >= parameters.least_inside:
        return scan_of(parameters, shape), "plain"
    wide = replace(parameters, source_distance=parameters.wide, detector_width=parameters.wide)
    return scan_of(wide, shape), "exact"


def brightness_inside(image: FloatImage, radius: float) -> float:
    """Share of the sum of all samples within ``radius`` sides of the canvas from the centre; 1 for a black image."""
    grey = image if image.ndim == 2 else image.sum(axis=2)
    height, width = grey.shape
    y, x = np.arange(height) - (height - 1) / 2, np.arange(width) - (width - 1) / 2
    reach = (radius * max(height, width)) ** 2 - y**2
    half = np.sqrt(np.maximum(reach, 0.0))
    inside = (np.abs(x)[None, :] <= half[:, None]) & (reach >= 0)[:, None]
    total = float(grey.sum(dtype=np.float64))
    return float(grey.sum(dtype=np.float64, where=inside)) / total if total > 0 else 1.0


def apply_low_dose(image: FloatImage, parameters: LowDoseParameters) -> FloatImage:
    """``image``, less its offset, and the reconstruction of the noise that a scan of it has.

    Raises:
        UserError: No photons or no attenuation, or as :func:`scan_of`.
    """
    if not (parameters.photons > 0 and parameters.attenuation > 0):
        raise UserError(
            f"photons and attenuation must be above 0, got {parameters.photons!r} and {parameters.attenuation!r}."
        )
    grey = image if image.ndim == 2 else image.mean(axis=2)
    views, offset = _noise_and_offset(grey, parameters)
    noise = reconstruct(views, scan_of(parameters, grey.shape), grey.shape, "exact")
    noise -= np.float32(offset)
    return image + (noise if image.ndim == 2 else noise[..., None])


def _noise_and_offset(grey: FloatImage, parameters: LowDoseParameters) -> tuple[Views, float]:
    mean_of_canvas = float(grey.sum(dtype=np.float64)) / max(grey.shape) ** 2
    return sinogram_noise(grey, parameters), parameters.offset * mean_of_canvas


def sinogram_noise(image: FloatImage, parameters: LowDoseParameters) -> Views:
    """Noisy less true line integrals of a grey image, in pixels times intensity: float32 (V, M).

    A ray of line integral p (as a logarithm) counts Poisson(photons * exp(-p)) photons; its measured line integral is
    -log(count / photons). A ray that no photon came through is read as if one had: so measured line integrals saturate
    at log(photons), which darkens what lies behind much attenuation.
    """
    side = max(image.shape)
    scale = parameters.attenuation / side
    true = expected_views(image, scan_of(parameters, image.shape)) * np.float32(scale)
    noise = np.empty_like(true)

    def task(first: int) -> None:
        part = slice(first, first + _VIEWS_PER_STREAM)
        expected = parameters.photons * np.exp(-true[part].astype(np.float64))
        counts = photon_counts(expected, generator("photons", parameters.seed, first))
        noise[part] = -np.log(np.maximum(counts, 1) / expected) / scale

    each(task, range(0, len(true), _VIEWS_PER_STREAM))
    return noise


def expected_views(image: FloatImage, scan: Scan) -> Views:
    """:func:`project`, of an image of 256 pixels a side or more made smaller first: (V, M).

    The noise depends on these line integrals through its strength alone, which averages over the few pixels that are
    taken together here (four at 512 a side) do not change visibly, in a small part of the time.
    """
    factor = max(image.shape) // _LEAST_SIDE
    if factor < 2:
        return project(image, scan)
    padding = [(-length) % factor for length in image.shape]
    padded = np.pad(image, [(extra // 2, extra - extra // 2) for extra in padding])
    height, width = padded.shape[0] // factor, padded.shape[1] // factor
    small = padded.reshape(height, factor, width, factor).mean(axis=(1, 3), dtype=np.float32)
    detectors = -(-scan.detectors // factor) + 1
    views = project(small, Scan(scan.angles, scan.source_distance / factor, detectors))
    position = (np.arange(scan.detectors) - (scan.detectors - 1) / 2) / factor + (detectors - 1) / 2
    index = np.minimum(position.astype(np.intp), detectors - 2)
    fraction = (position - index).astype(np.float32)
    low = views[:, index]
    # Indexing columns gives Fortran order, for which the back-projection would be compiled a second time.
    return np.ascontiguousarray(np.float32(factor) * (low + fraction * (views[:, index + 1] - low)))


def photon_counts(expected: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Poisson counts with the means ``expected``."""
    return rng.poisson(expected)


DEGRADATIONS = (
    Degradation("limited_angle", sample_limited_angle, apply_partial_scan, PartialScanParameters, annotations="keep"),
    Degradation("sparse_view", sample_sparse_view, apply_partial_scan, PartialScanParameters, annotations="keep"),
    Degradation("low_dose", sample_low_dose, apply_low_dose, LowDoseParameters, annotations="keep"),
)
