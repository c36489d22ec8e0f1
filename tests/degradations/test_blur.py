"""Blurs against SciPy's direct sums, and hand-worked kernels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from lmms_medtasks import degradations
from lmms_medtasks.degradations.blur import (
    GaussianBlurParameters,
    MotionBlurParameters,
    _line,
    _rotated_row,
    gaussian_blur,
    motion_blur,
)
from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import generator

shapes = st.tuples(st.integers(1, 70), st.integers(1, 70))


def picture(shape, seed=0):
    return generator("blur test", seed).integers(0, 256, shape, dtype=np.uint8)


@settings(deadline=None, max_examples=30)
@given(shape=shapes, sigma=st.floats(0.3, 12.0))
def test_gaussian_is_scipys_also_where_the_kernel_is_wider_than_the_image(shape, sigma):
    image = picture(shape).astype(np.float32) / 255
    expected = ndimage.gaussian_filter(image.astype(np.float64), sigma)
    assert np.abs(gaussian_blur(image, GaussianBlurParameters(sigma)) - expected).max() < 1e-6


@settings(deadline=None, max_examples=30)
@given(shape=shapes, severity=st.sampled_from([1, 2]), modality=st.sampled_from([None, "X-ray"]))
def test_motion_is_scipys_truncated_sum(shape, severity, modality):
    image = picture(shape)
    record = degradations.sample("motion_blur", severity=severity, seed=0, size=shape, modality=modality)
    kernel = {"line": _line, "rotated_row": _rotated_row}[record.kernel](record.length, record.angle)
    # Reflected by NumPy: SciPy 1.17 itself goes wrong where the kernel is several times larger than the image.
    reach = record.length
    padded = np.pad(image.astype(np.float64), reach, mode="symmetric")
    expected = ndimage.convolve(padded, kernel)[reach:-reach, reach:-reach]
    if image.min() == image.max():
        expected = image.astype(float)  # nothing to blur
    result = degradations.apply(image, "motion_blur", severity=severity, modality=modality)
    # Cut to whole levels; where the exact sum is whole, its rounding error decides.
    assert (result <= expected + 1e-3).all() and (result >= expected - 1 - 1e-3).all()


def test_the_line_of_12_by_hand():
    # Steps -6 .. 6 along 15 degrees down: floor(6 + t cos) and floor(6 + t sin); cos 0.966, sin 0.259.
    # t = -6: column 0, row 4; -4: 2, 4; -3: 3, 5; -1: 5, 5; 0 and 1: 6, 6; 3: 8, 6; 4: 9, 7; 6: 11, 7.
    rows, columns = np.nonzero(_line(12, -15.0))
    assert sorted(zip(columns.tolist(), rows.tolist(), strict=True)) == [
        (0, 4), (1, 4), (2, 4), (3, 5), (4, 5), (5, 5), (6, 6), (7, 6), (8, 6), (9, 7), (10, 7), (11, 7)
    ]  # fmt: skip


@pytest.mark.parametrize("kernel", [_line(12, -15.0), _line(40, -15.0), _rotated_row(8, 45.0), _rotated_row(11, 45.0)])
def test_kernels_keep_the_mean(kernel):
    assert kernel.sum() == pytest.approx(1.0, abs=1e-12)
    assert kernel.min() >= 0


def test_motion_runs_from_lower_left_to_upper_right():
    image = np.zeros((99, 99), np.uint8)
    image[49, 49] = 255
    rows, columns = np.nonzero(degradations.apply(image, "motion_blur", severity=2))
    assert np.corrcoef(rows, columns)[0, 1] < -0.8


def test_sixteen_bits_are_not_cut_to_eight():
    image = generator("blur test").integers(0, 65536, (40, 40), dtype=np.uint16)
    record = degradations.sample("motion_blur", severity=1, seed=0, size=(40, 40))
    expected = ndimage.convolve(image.astype(np.float64), _rotated_row(record.length, record.angle))
    result = degradations.apply(image, "motion_blur", severity=1)
    assert np.abs(result - expected).max() <= 1.2


@pytest.mark.parametrize(
    ("modality", "side", "expected"),
    [
        (None, 1024, (8, 11)),
        (None, 44, (8, 11)),
        (None, 28, (5, 7)),
        ("X-ray", 1024, (12, 40)),
        ("X-ray", 320, (12, 40)),
        ("X-ray", 224, (8, 28)),
        ("X-ray", 64, (3, 8)),
    ],
)
def test_motion_is_shorter_on_small_images(modality, side, expected):
    lengths = [
        degradations.sample("motion_blur", severity=level, seed=0, size=(side, 2 * side), modality=modality).length
        for level in (1, 2)
    ]
    assert tuple(lengths) == expected


@pytest.mark.parametrize(("side", "expected"), [(483, (3.0, 7.0)), (224, (3.0, 7.0)), (56, (0.75, 1.75))])
def test_gaussian_is_narrower_on_small_images(side, expected):
    sigmas = [
        degradations.sample("gaussian_blur", severity=level, seed=0, size=(2 * side, side)).sigma for level in (1, 2)
    ]
    assert tuple(sigmas) == expected


def test_unknown_kernel():
    with pytest.raises(UserError, match="rotated_row"):
        motion_blur(np.zeros((3, 3), np.float32), MotionBlurParameters("rotated_raw", 8, 45.0))
