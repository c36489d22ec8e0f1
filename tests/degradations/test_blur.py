"""Blurs against SciPy's direct sums, low resolution against SciPy's zoom, and hand-worked kernels."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import ndimage

from lmms_medtasks import degradations
from lmms_medtasks.degradations.blur import (
    GaussianBlurParameters,
    MotionBlurParameters,
    ResolutionParameters,
    _line_kernel,
    _rotated_row_kernel,
    gaussian_blur,
    motion_blur,
    reduce_resolution,
)
from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import seeded_generator

shapes = st.tuples(st.integers(1, 70), st.integers(1, 70))


def picture(shape, seed=0):
    return seeded_generator("blur test", seed).integers(0, 256, shape, dtype=np.uint8)


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
    kernel = {"line": _line_kernel, "rotated_row": _rotated_row_kernel}[record.kernel](record.length, record.angle)
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
    rows, columns = np.nonzero(_line_kernel(12, -15.0))
    assert sorted(zip(columns.tolist(), rows.tolist(), strict=True)) == [
        (0, 4), (1, 4), (2, 4), (3, 5), (4, 5), (5, 5), (6, 6), (7, 6), (8, 6), (9, 7), (10, 7), (11, 7)
    ]  # fmt: skip


@pytest.mark.parametrize(
    "kernel",
    [_line_kernel(12, -15.0), _line_kernel(40, -15.0), _rotated_row_kernel(8, 45.0), _rotated_row_kernel(11, 45.0)],
)
def test_kernels_keep_the_mean(kernel):
    assert kernel.sum() == pytest.approx(1.0, abs=1e-12)
    assert kernel.min() >= 0


def test_motion_runs_from_lower_left_to_upper_right():
    image = np.zeros((99, 99), np.uint8)
    image[49, 49] = 255
    rows, columns = np.nonzero(degradations.apply(image, "motion_blur", severity=2))
    assert np.corrcoef(rows, columns)[0, 1] < -0.8


def test_sixteen_bits_are_not_cut_to_eight():
    image = seeded_generator("blur test").integers(0, 65536, (40, 40), dtype=np.uint16)
    record = degradations.sample("motion_blur", severity=1, seed=0, size=(40, 40))
    expected = ndimage.convolve(image.astype(np.float64), _rotated_row_kernel(record.length, record.angle))
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


@settings(deadline=None, max_examples=60)
@given(height=st.integers(9, 90), width=st.integers(9, 90), factor=st.floats(1.2, 4.4))
def test_it_is_zoom_there_and_back_cut_or_with_the_last_pixel_repeated(height, width, factor):
    # Half a pixel may go either way too: 9 / 1.2000000000000002 is less than 7.5, which SciPy takes, 9 * (1 / 1.2...2).
    for side in (height, width):
        for length in (side / factor, round(side / factor) * factor):
            assume(abs(length % 1 - 0.5) > 1e-9)
    image = seeded_generator("resolution", height, width).random((height, width), dtype=np.float32)
    small = ndimage.zoom(image, 1 / factor, order=1, mode="nearest")
    large = ndimage.zoom(small, factor, order=0, mode="nearest")
    more = [(0, max(0, side - found)) for side, found in zip(image.shape, large.shape, strict=True)]
    expected = np.pad(large, more, mode="edge")[:height, :width]
    # Halves between two samples may go either way: SciPy multiplies in another order.
    assert np.mean(np.abs(reduce_resolution(image, record(factor)) - expected) > 1e-5) <= 0.02


def record(factor):
    return ResolutionParameters(factor=factor, unlimited_factor=factor)


def test_by_hand():
    # 6 pixels by 2.4: a grid of round(2.5) = 2 samples, at 0 and 5. They enlarge to round(4.8) = 5 pixels, of which
    # pixel 2 is half-way and takes the sample above; the sixth repeats the last.
    image = np.array([[0, 10, 20, 30, 40, 50]], np.float32) / 100
    assert (reduce_resolution(image, record(2.4)) * 100).round(3).tolist() == [[0, 0, 50, 50, 50, 50]]
    # 6 pixels by 1.5: samples at 0, 5/3, 10/3, 5, which enlarge to six: 0, .6, 1.2, 1.8, 2.4, 3 are nearest to
    # 0, 1, 1, 2, 2, 3.
    thirds = np.array([0, 1, 1, 2, 2, 3]) / 6
    assert np.allclose(reduce_resolution(image, record(1.5)), thirds)


@pytest.mark.parametrize(
    ("modality", "severity", "side", "grid", "enlarged"),
    [
        ("MRI", 1, 266, 190, 266),
        ("MRI", 2, 266, 89, 266),
        ("X-ray", 1, 1024, 611, 1024),
        ("X-ray", 2, 1024, 61, 1024),
        ("Histopathology", 1, 256, 183, 256),
        ("Histopathology", 2, 256, 86, 257),
        ("Ultrasound", 1, 472, 338, 473),
        ("Ultrasound", 2, 472, 158, 472),
        ("CT", 1, 640, 427, 640),
        ("CT", 2, 640, 142, 638),
    ],
)
def test_grids_of_the_authors_images(modality, severity, side, grid, enlarged):
    factor = sampled(severity, side, modality).factor
    ramp = np.arange(side, dtype=np.float32)[None] / side
    # One sample fewer where the picture is cut.
    assert len(np.unique(reduce_resolution(ramp, record(factor)))) in (grid, grid - (enlarged > side))
    assert (round(side / factor), round(grid * factor)) == (grid, enlarged)


def test_the_second_half_is_a_pixel_further_where_the_grid_enlarges_to_one_more():
    # Seen in the authors' histopathology at level 2: 86 samples, 257 pixels for 256; blocks of three, one of four.
    ramp = np.arange(256, dtype=np.float32)[None] / 255
    result = degradations.apply(ramp, "low_resolution", severity=2, modality="Histopathology")
    widths = np.unique(result, return_counts=True)[1]
    assert widths.tolist() == [2] + 42 * [3] + [4] + 41 * [3] + [1]


def sampled(severity, side, modality):
    return degradations.sample("low_resolution", severity=severity, seed=0, size=(side, side), modality=modality)


@pytest.mark.parametrize(
    ("side", "factor"), [(1024, 16.79), (1008, 16.79), (512, 512 / 60), (224, 224 / 60), (180, 3.0), (64, 2.985)]
)
def test_a_small_radiograph_keeps_sixty_samples_or_the_factor_of_other_modalities(side, factor):
    severe = sampled(2, side, "X-ray")
    assert severe.factor == pytest.approx(factor)
    assert severe.unlimited_factor == 16.79  # the record says what the level asks for
    assert sampled(1, side, "X-ray").factor == 1.676 < severe.factor


@pytest.mark.parametrize("side", [64, 128, 266])
def test_the_last_row_and_column_are_not_black(side):
    # SciPy's default border loses them at 128 pixels: 90 steps of 127/90 end above 127.
    image = np.full((side, side), 200, np.uint8)
    assert (degradations.apply(image, "low_resolution", severity=1, modality="MRI") == 200).all()
