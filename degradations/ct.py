"""CT degradations: views left out, a partial arc of them, few photons.

The image is taken as a map of attenuation on an empty square canvas (see :mod:`.tomography`): white attenuates most,
black not at all. A fan-beam scanner is as many sides of the canvas large for a small image as for a large one; the
detector's spacing is one pixel.

``limited_angle`` and ``sparse_view`` replace the image by its reconstruction. The authors' scanner does not see the
corners. That does no harm where little is there, as in their images; in an image that is bright up to its edges nearly
all damage would be the errors of cut-off projections, more of them with more views. So the scanner grows with the
signal at the ends of its detector, by which a real scanner notices a patient who is too wide for it.

``low_dose`` adds to the image the reconstruction of its sinogram's noise: filtered back-projection is linear, so this
is the reconstruction of the noisy sinogram, less the small blur that projecting and reconstructing from all views
causes. Noise is inserted into clinical scans in this way (Yu et al., J. Comput. Assist. Tomogr. 36(4), 2012), and it is
what the authors' image shows: more noise, edges as sharp. A pixel attenuates the same in a small and in a large image,
so large bodies are noisier, and behind the longest paths, where the detector counts no more than its background, they
come out dark. Two limits keep that sane: above a number of pixels an image counts as an enlarged one, and an image
too dense to see through is made thinner. Fewer photons give every ray more noise and a larger error in the mean, so
the levels are ordered.

Colour images, which no CT is, are treated channel by channel; the noise of ``low_dose`` is then that of their mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lmms_medtasks.degradations.base import Degradation, FloatImage, Parameters, Shape, map_planes
from lmms_medtasks.degradations.threads import run_in_threads
from lmms_medtasks.degradations.tomography import ScanGeometry, Views, project_image, reconstruct_image
from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import seeded_generator

_LEAST_SIDE = 128
"""Pixels a side that an image keeps when it is made smaller to learn how much it attenuates."""

_VIEWS_OF_ENDS = 90
"""Views in which the signal at the detector's ends is measured."""

_VIEWS_PER_STREAM = 16
"""Views whose photons are drawn from one generator; the streams may run at the same time."""


@dataclass(frozen=True)
class ScanParameters(Parameters):
    """The views of a scan with a fan beam, and the scanner's size.

    ``views``: how many. ``start``, ``step``: degrees, the first view's angle and from one to the next; at 0 the source
    is below the image, growing angles turn it counter-clockwise as displayed. ``scanner``: from source to centre, and
    the detector's width at the centre, in sides of the canvas.
    """

    views: int
    start: float
    step: float
    scanner: float


@dataclass(frozen=True)
class PartialScanParameters(ScanParameters):
    """A scan with views missing.

    With a signal at the detector's ends (:func:`signal_at_ends`) up to ``ends_from``, the scanner's size is
    ``scanner``; it grows evenly with the signal, to ``wide`` at ``ends_to``. It is at least ``widened`` of the way,
    a share, from ``scanner`` to ``wide``.
    """

    widened: float
    wide: float
    ends_from: float
    ends_to: float


@dataclass(frozen=True)
class LowDoseParameters(ScanParameters):
    """A scan with photon noise.

    ``photons``: mean count of a ray that meets nothing. ``background``: what the mean count of any ray is at least.
    ``attenuation``: natural logarithm of what a white pixel takes away. ``largest_integral``: line integral (natural
    logarithm) that no ray exceeds; the attenuation is lowered in an image where one would. ``largest_side``: pixels; a
    larger image gets the noise of its copy of that size, enlarged. ``offset``: fraction of the canvas's mean intensity
    that is subtracted everywhere. ``seed``: of the photon counts.
    """

    photons: float
    background: float
    attenuation: float
    largest_integral: float
    largest_side: int
    offset: float
    seed: int


def sample_limited_angle(rng: np.random.Generator, settings: Mapping[str, Any], _: Shape) -> PartialScanParameters:
    """An arc with a view at both of its ends; where it starts and how long it is are drawn."""
    start, arc = (float(rng.uniform(*settings[key])) for key in ("start_range", "arc_range"))
    step = float(settings["step"])
    # Squared: between the levels the scanner sees more only as fast as the shorter arc takes away.
    return _partial_scan(settings, round(arc / step) + 1, start, step, widened=float(settings["widened"]) ** 2)


def sample_sparse_view(_: np.random.Generator, settings: Mapping[str, Any], __: Shape) -> PartialScanParameters:
    """Views spread evenly over a full turn. Nothing is drawn."""
    views = int(settings["views"])
    return _partial_scan(settings, views, 0.0, 360.0 / views)


def sample_low_dose(rng: np.random.Generator, settings: Mapping[str, Any], _: Shape) -> LowDoseParameters:
    """A full turn; the seed of its photon counts and the attenuation are drawn."""
    views = int(settings["views"])
    return LowDoseParameters(
        views=views,
        start=0.0,
        step=360.0 / views,
        scanner=float(settings["scanner"]),
        photons=float(settings["photons"]),
        background=float(settings["background"]),
        largest_integral=float(settings["largest_integral"]),
        largest_side=int(settings["largest_side"]),
        offset=float(settings["offset"]),
        seed=int(rng.integers(1 << 53)),
        attenuation=float(rng.uniform(*settings["attenuation_range"])),
    )


def _partial_scan(
    settings: Mapping[str, Any], views: int, start: float, step: float, widened: float = 0.0
) -> PartialScanParameters:
    numbers = {key: float(settings[key]) for key in ("scanner", "wide", "ends_from", "ends_to")}
    return PartialScanParameters(views=views, start=start, step=step, widened=widened, **numbers)


def scan_of(parameters: ScanParameters, shape: Shape, scanner: float | None = None) -> ScanGeometry:
    """The scan of an image of ``shape`` in pixels and radians, with a ``scanner`` of another size where given.

    Raises UserError for a scan without views, or with its source inside the canvas.
    """
    size = parameters.scanner if scanner is None else scanner
    if parameters.views < 1:
        raise UserError(f"A scan needs at least one view, got views={parameters.views!r}.")
    if not size > np.sqrt(0.5):
        raise UserError(f"scanner must be above 0.7071 sides, so that the source is outside the canvas, got {size!r}.")
    side = max(shape)
    angles = np.deg2rad(parameters.start + parameters.step * np.arange(parameters.views))
    return ScanGeometry(tuple(angles.tolist()), size * side, max(1, round(size * side)))


def apply_partial_scan(image: FloatImage, parameters: PartialScanParameters) -> FloatImage:
    """The reconstruction of ``image`` from the views of ``parameters``.

    Raises UserError for ``ends_to`` not above ``ends_from``, and as :func:`scan_of` does.
    """
    scan = scan_of(parameters, image.shape[:2], fitting_scanner(image, parameters))
    return map_planes(image, lambda plane: reconstruct_image(project_image(plane, scan), scan, plane.shape))


def fitting_scanner(image: FloatImage, parameters: PartialScanParameters) -> float:
    """The size of the scanner of ``image``, in sides of the canvas."""
    low, high = parameters.ends_from, parameters.ends_to
    if not low < high:
        raise UserError(f"ends_to must be above ends_from, got {high!r} and {low!r}.")
    share = parameters.widened
    if share < 1:
        share = max(share, min((signal_at_ends(image, parameters) - low) / (high - low), 1.0))
    return parameters.scanner + share * (parameters.wide - parameters.scanner)


def signal_at_ends(image: FloatImage, parameters: ScanParameters) -> float:
    """Mean line integral at both ends of the detector in a full turn, over that of all elements; 0 for a black image.

    The detector is that of the scanner before it grows. The signal depends neither on which views the scan has nor on
    the image's brightness as a whole.
    """
    small, _ = _made_smaller(_grey_mean(image))
    step = 360.0 / _VIEWS_OF_ENDS
    turn = ScanParameters(views=_VIEWS_OF_ENDS, start=0.0, step=step, scanner=parameters.scanner)
    views = project_image(small, scan_of(turn, small.shape))
    mean = float(views.mean(dtype=np.float64))
    return float(views[:, (0, -1)].mean(dtype=np.float64)) / mean if mean > 0 else 0.0


def apply_low_dose(image: FloatImage, parameters: LowDoseParameters) -> FloatImage:
    """``image``, less its offset, and the reconstruction of the noise that a scan of it has.

    Raises UserError for a number that is not above 0, and as :func:`scan_of` does.
    """
    for name in ("photons", "background", "attenuation", "largest_integral", "largest_side"):
        if not getattr(parameters, name) > 0:
            raise UserError(f"{name} must be above 0, got {getattr(parameters, name)!r}.")
    grey = _grey_mean(image)
    mean_of_canvas = float(grey.sum(dtype=np.float64)) / max(grey.shape) ** 2
    scanned = _shrink_to_side(grey, parameters.largest_side)
    noise = reconstruct_image(sinogram_noise(scanned, parameters), scan_of(parameters, scanned.shape), scanned.shape)
    if noise.shape != grey.shape:
        noise = _resize_image(noise, grey.shape, "BILINEAR")
    noise -= np.float32(parameters.offset * mean_of_canvas)
    return image + (noise if image.ndim == 2 else noise[..., None])


def sinogram_noise(image: FloatImage, parameters: LowDoseParameters) -> Views:
    """Noisy less true line integrals of a grey image, in pixels times intensity: float32 (V, M).

    A ray of line integral p (as a logarithm) counts Poisson(photons * exp(-p)) photons, or as many as the background
    where that is more; its measured line integral is -log(count / photons). So measured line integrals saturate at
    log(photons / background), which darkens what lies behind much attenuation.
    """
    paths = expected_views(image, scan_of(parameters, image.shape))
    scale = np.float32(min(parameters.attenuation, parameters.largest_integral / max(float(paths.max()), 1e-6)))
    noise = np.empty_like(paths)

    def add_noise_of_views(first: int) -> None:
        part = slice(first, first + _VIEWS_PER_STREAM)
        expected = parameters.photons * np.exp(-(paths[part] * scale).astype(np.float64))
        means = np.maximum(expected, parameters.background)
        counts = seeded_generator("photons", parameters.seed, first).poisson(means)
        noise[part] = -np.log(np.maximum(counts, 1) / expected) / scale

    run_in_threads(add_noise_of_views, range(0, len(paths), _VIEWS_PER_STREAM))
    return noise


def expected_views(image: FloatImage, scan: ScanGeometry) -> Views:
    """:func:`project_image`, of an image of 256 pixels a side or more made smaller first: (V, M).

    The noise depends on these line integrals through its strength alone, which averages over the few pixels that are
    taken together here (four at 512 a side) do not change visibly, in a small part of the time.
    """
    small, factor = _made_smaller(image)
    if factor == 1:
        return project_image(image, scan)
    detectors = -(-scan.detectors // factor) + 1
    views = project_image(small, ScanGeometry(scan.angles, scan.source_distance / factor, detectors))
    position = (np.arange(scan.detectors) - (scan.detectors - 1) / 2) / factor + (detectors - 1) / 2
    index = np.minimum(position.astype(np.intp), detectors - 2)
    fraction = (position - index).astype(np.float32)
    low = views[:, index]
    # Indexing columns gives Fortran order, for which the back-projection would be compiled a second time.
    return np.ascontiguousarray(np.float32(factor) * (low + fraction * (views[:, index + 1] - low)))


def _grey_mean(image: FloatImage) -> FloatImage:
    return image if image.ndim == 2 else image.mean(axis=2)


def _made_smaller(image: FloatImage) -> tuple[FloatImage, int]:
    """A copy of a grey image with the means of squares of pixels, at least 128 a side, and the length of a square."""
    factor = max(1, max(image.shape) // _LEAST_SIDE)
    if factor == 1:
        return image, 1
    padding = [(-length) % factor for length in image.shape]
    padded = np.pad(image, [(extra // 2, extra - extra // 2) for extra in padding])
    height, width = padded.shape[0] // factor, padded.shape[1] // factor
    return padded.reshape(height, factor, width, factor).mean(axis=(1, 3), dtype=np.float32), factor


def _shrink_to_side(image: FloatImage, largest_side: int) -> FloatImage:
    """A grey image reduced to ``largest_side`` pixels at its longer side, if it has more."""
    side = max(image.shape)
    if side <= largest_side:
        return image
    return _resize_image(image, tuple(max(1, round(length * largest_side / side)) for length in image.shape), "BOX")


def _resize_image(image: FloatImage, shape: Shape, method: str) -> FloatImage:
    from PIL import Image

    resized = Image.fromarray(image).resize(shape[::-1], Image.Resampling[method])
    return np.array(resized, np.float32)


DEGRADATIONS = (
    Degradation(
        "limited_angle", sample_limited_angle, apply_partial_scan, record=PartialScanParameters, annotations="keep"
    ),
    Degradation(
        "sparse_view", sample_sparse_view, apply_partial_scan, record=PartialScanParameters, annotations="keep"
    ),
    Degradation("low_dose", sample_low_dose, apply_low_dose, record=LowDoseParameters, annotations="keep"),
)
