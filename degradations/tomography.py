"""Projection of images along rays and filtered back-projection, for a fan or a parallel beam.

Lengths are in pixels of the image, angles in radians. The scanner turns about the image's centre. At angle 0 the
source is below the image; as the angle grows it moves counter-clockwise, as displayed. The detector is flat; its
spacing is one pixel where it passes through the centre.

The canvas of an image is the smallest square that contains it, with the same centre; outside the image it is empty. A
scan sees the whole canvas or a circle in it, as its detector is wide.

Line integrals follow Joseph (IEEE Trans. Med. Imaging 1(3), 1982). Filter: Kak and Slaney, Principles of Computerized
Tomographic Imaging, chapter 3, equation 61 (band-limited ramp). Fan-beam reconstruction: as the authors of MedQ-Deg do
it, which is the same book's section 3.4.2 without the cosine weight and with the magnification in place of its square;
flat tissue comes back at 0.92 to 1 of itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lmms_medtasks.degradations.base import FloatImage, Shape
from lmms_medtasks.degradations.threads import run_in_threads, split_range

Views = NDArray[np.float32]
"""(V, M): a row a view, a column a detector element."""

_VIEWS_PER_TASK = 8
_ROWS_PER_TASK = 16


@dataclass(frozen=True)
class ScanGeometry:
    """``angles``: of the views, in radians. ``source_distance``: pixels from source to centre, infinite for a parallel
    beam. ``detectors``: number of detector elements, one pixel apart at the centre."""

    angles: tuple[float, ...]
    source_distance: float
    detectors: int

    @property
    def curvature(self) -> float:
        """1 / source distance; 0 for a parallel beam."""
        return 1.0 / self.source_distance


def project_image(image: FloatImage, scan: ScanGeometry) -> Views:
    """Line integrals of a grey image (H, W) in pixels times intensity: float32 (V, M).

    The source must be outside the image's canvas; nothing is measured behind it.
    """
    from lmms_medtasks.degradations import kernels

    grids = [(*_pad_rows(image), False), (*_pad_rows(image.T), True)]
    sines, cosines = _sines_and_cosines(scan)
    views = np.zeros((len(scan.angles), scan.detectors), np.float32)

    def task(part: slice) -> None:
        turns, curvature = (sines[part], cosines[part]), scan.curvature
        for grid, filled, (top, left), transposed in grids:
            pairs = kernels.pair_neighbours(grid)
            kernels.project_rays(pairs, filled, top, left, transposed, *turns, curvature, views[part])

    run_in_threads(task, split_range(len(views), _VIEWS_PER_TASK))
    return views


def ramp_filter(views: Views) -> Views:
    """Each view convolved with the band-limited ramp (spacing one, no apodisation, zeros beyond the detector)."""
    from scipy import fft

    count, detectors = views.shape
    length = int(fft.next_fast_len(2 * detectors, real=True))
    response = ramp_response(length)
    filtered = np.empty_like(views)

    def task(part: slice) -> None:
        spectrum = fft.rfft(views[part], length, axis=1)
        spectrum *= response
        filtered[part] = fft.irfft(spectrum, length, axis=1)[:, :detectors]

    run_in_threads(task, split_range(count, 4 * _VIEWS_PER_TASK))
    return filtered


def ramp_response(length: int) -> NDArray[np.float32]:
    """The ramp's real Fourier coefficients for ``numpy.fft.rfft`` of ``length`` samples, from its spatial samples."""
    lags = np.minimum(np.arange(length), length - np.arange(length))
    kernel = np.zeros(length)
    kernel[0] = 0.25
    odd = lags % 2 == 1
    kernel[odd] = -1.0 / (np.pi * lags[odd]) ** 2
    return np.fft.rfft(kernel).real.astype(np.float32)


def back_project(views: Views, scan: ScanGeometry, shape: Shape) -> FloatImage:
    """The sum over all views of their values, interpolated at each pixel's shadow, times the magnification there.

    float32 ``shape``.
    """
    from lmms_medtasks.degradations import kernels

    # In C order, not the view that overlaps: for a stride other than an element's size every fetch has to multiply.
    pairs = np.ascontiguousarray(kernels.pair_neighbours(np.pad(np.asarray(views, np.float32), ((0, 0), (1, 2)))))
    sines, cosines = _sines_and_cosines(scan)
    top, left = -(shape[0] - 1) / 2, -(shape[1] - 1) / 2
    image = np.zeros(shape, np.float32)

    def task(part: slice) -> None:
        kernels.back_project(pairs, sines, cosines, scan.curvature, top + part.start, left, image[part])

    run_in_threads(task, split_range(shape[0], _ROWS_PER_TASK))
    return image


def reconstruct_image(views: Views, scan: ScanGeometry, shape: Shape) -> FloatImage:
    """Filtered back-projection: an image of ``shape`` from its line integrals.

    Normalised by the number of views, whatever arc they cover: right for views spread evenly over 360 degrees (or over
    180 with a parallel beam); a partial arc is not dimmed.
    """
    image = back_project(ramp_filter(views), scan, shape)
    image *= np.float32(np.pi / len(scan.angles))
    return image


def _pad_rows(image: FloatImage) -> tuple[NDArray[np.float32], tuple[int, int], tuple[float, float]]:
    """The rows that are not empty, padded for the kernels, their filled columns, and where their first sample is."""
    (first, last), (left, right) = _filled_range(image.any(axis=1)), _filled_range(image.any(axis=0))
    padded = np.zeros((last - first + 1, image.shape[1] + 3), np.float32)
    padded[:, 1:-2] = image[first : last + 1]
    return padded, (left + 1, right + 1), (first - (image.shape[0] - 1) / 2, -(image.shape[1] - 1) / 2)


def _filled_range(flags: NDArray[np.bool_]) -> tuple[int, int]:
    """The first and the last that are set; of none, the first."""
    indices = np.flatnonzero(flags)
    return (int(indices[0]), int(indices[-1])) if len(indices) else (0, 0)


def _sines_and_cosines(scan: ScanGeometry) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    angles = np.asarray(scan.angles, np.float64)
    return np.sin(angles), np.cos(angles)
