"""MRI artefacts against the textbook way to compute them, by hand, and in what must hold for any image."""

import multiprocessing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from lmms_medtasks.degradations import mri, registry
from lmms_medtasks.degradations.mri import (
    BiasFieldParameters,
    GhostingParameters,
    UndersamplingParameters,
)
from lmms_medtasks.degradations.mri_motion import MovementParameters, apply_movement, band_weights
from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import seeded_generator

NAMES = ("bias_field_artifact", "undersampling_artifact", "ghosting_artifact", "object_movement")


def drawn(name, level, seed, shape):
    """The record that ``name`` draws; both levels from the same generator."""
    return registry.get(name, "MRI").sample(
        seeded_generator("mri", seed), registry.get_settings(name, level, "MRI"), shape
    )


def degraded(image, name, level, seed):
    return registry.get(name, "MRI").apply(image, drawn(name, level, seed, image.shape[:2]))


# --- What holds for each of them -----------------------------------------------------------------------------------


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_gets_the_same(broad_set):
    image = broad_set["natural 1.0"].astype(np.float32) / 255
    for name in NAMES:
        degraded(image, name, 2, 0)  # what a library starts on first use must not stop the child
    with multiprocessing.get_context("fork").Pool(1) as pool:
        theirs = pool.starmap_async(degraded, [(image, name, 2, 0) for name in NAMES]).get(timeout=60)
    for name, result in zip(NAMES, theirs, strict=True):
        assert np.array_equal(result, degraded(image, name, 2, 0))


# --- Bias field ----------------------------------------------------------------------------------------------------


def test_bias_field_by_hand():
    # P = 1 + x / 2 at x = -1, 0, 1 is 1/2, 1, 3/2; divided by its maximum 1/3, 2/3, 1.
    coefficients = tuple(0.5 if powers == (1, 0) else 0.0 for powers in mri.POWERS)
    field = mri.bias_field((2, 3), BiasFieldParameters(coefficients, floor=0.0))
    assert np.allclose(field, [[1 / 3, 2 / 3, 1.0]] * 2)
    floored = mri.bias_field((2, 3), BiasFieldParameters(coefficients, floor=0.5))
    assert np.allclose(floored, [[0.5, 2 / 3, 1.0]] * 2)


@settings(deadline=None, max_examples=25)
@given(height=st.integers(2, 40), width=st.integers(2, 40), seed=st.integers(0, 2**32))
def test_bias_field_is_the_polynomial(height, width, seed):
    coefficients = seeded_generator("bias", seed).uniform(-0.4, 0.4, len(mri.POWERS))
    x, y = np.meshgrid(np.linspace(-1, 1, width), np.linspace(-1, 1, height))
    polynomial = 1 + sum(c * x**i * y**j for c, (i, j) in zip(coefficients, mri.POWERS, strict=True))
    field = mri.bias_field((height, width), BiasFieldParameters(tuple(coefficients), floor=0.3))
    assert np.allclose(field, np.maximum(0.3, polynomial / polynomial.max()), atol=1e-5)


def test_bias_field_level_2_is_darker_everywhere():
    for seed in range(30):
        mild, severe = (
            mri.bias_field((31, 44), drawn("bias_field_artifact", level, seed, (31, 44))) for level in (1, 2)
        )
        assert mild.max() == pytest.approx(1.0) and severe.max() == pytest.approx(1.0)
        assert (severe <= mild + 1e-6).all()
        assert severe.min() >= 0.3 - 1e-6


def test_bias_fields_spread_around_the_authors():
    # Their fields have mean gains of 0.50 and 0.385 over the body, near the middle of the image.
    for level, theirs in ((1, 0.50), (2, 0.385)):
        gains = [
            mri.bias_field((33, 33), drawn("bias_field_artifact", level, seed, (33, 33)))[8:25, 8:25].mean()
            for seed in range(200)
        ]
        low, high = np.percentile(gains, [5, 95])
        assert low < theirs < high
    signs = np.sign([drawn("bias_field_artifact", 1, seed, (9, 9)).coefficients for seed in range(300)])
    assert (signs > 0).mean() == pytest.approx(0.83, abs=0.03)


# --- Undersampling -------------------------------------------------------------------------------------------------


def mask_of(lines, width):
    return np.unpackbits(np.frombuffer(bytes.fromhex(lines), np.uint8), count=width, bitorder="little").astype(bool)


@pytest.mark.parametrize("width", [12, 13])
def test_undersampling_is_zero_filled_k_space(width):
    image = seeded_generator("undersampling").random((9, width, 3), dtype=np.float32)
    record = drawn("undersampling_artifact", 2, 4, (9, width))
    for channel, result in enumerate(np.moveaxis(mri.apply_undersampling(image, record), 2, 0)):
        k_space = np.fft.fft2(image[..., channel].astype(np.float64)) * mask_of(record.lines[channel], width)
        assert np.allclose(result, np.fft.ifft2(k_space).real, atol=1e-6)
    # A grey image is measured with the first channel's lines.
    assert np.array_equal(
        mri.apply_undersampling(image[..., 0], record), mri.apply_undersampling(image, record)[..., 0]
    )


def test_undersampling_lines_by_hand():
    # Of eight frequencies (0, 1, 2, 3, 4, -3, -2, -1), 0, 2 and -1 are kept: bits 0, 2 and 7, 1 + 4 + 128 = 0x85.
    # 1 and 2 are kept on one side only, which is half of them in the real part.
    assert mri.line_weights("85", 8).tolist() == [1.0, 0.5, 0.5, 0.0, 0.0]


@pytest.mark.parametrize(("level", "seen"), [(1, {45, 51}), (2, {39, 40, 44})])
def test_undersampling_keeps_the_share_and_the_centre(level, seen):
    # The authors' image: 0.184 and 0.154 of 266 lines are 49 and 41, with a spread; 8 % of them are 21.
    counts = []
    for seed in range(60):
        masks = [mask_of(lines, 266) for lines in drawn("undersampling_artifact", level, seed, (10, 266)).lines]
        counts += [int(mask.sum()) for mask in masks]
        assert all(mask[:11].all() and mask[-10:].all() for mask in masks)
        assert not np.array_equal(masks[0], masks[1])
    assert np.median(counts) == (49, 41)[level - 1]
    assert min(counts) <= max(seen) and max(counts) >= max(seen) and min(counts) <= min(seen) + 1


def test_undersampling_lines_are_denser_near_the_centre():
    frequency = np.abs(np.fft.fftfreq(266) * 266)
    outer = [
        frequency[np.flatnonzero(mask_of(lines, 266) & (frequency > 10))]
        for seed in range(30)
        for lines in drawn("undersampling_artifact", 1, seed, (10, 266)).lines
    ]
    # In the authors' image their root mean square is 36 lines.
    assert np.sqrt(np.square(np.concatenate(outer)).mean()) == pytest.approx(36, abs=4)


def test_undersampling_level_2_keeps_a_subset():
    for seed in range(20):
        mild, severe = (drawn("undersampling_artifact", level, seed, (5, 180)) for level in (1, 2))
        for first, second in zip(mild.lines, severe.lines, strict=True):
            assert (mask_of(second, 180) <= mask_of(first, 180)).all() and first != second


def test_undersampling_wants_the_width_it_was_drawn_for():
    record = UndersamplingParameters(width=8, lines=("85",))
    with pytest.raises(UserError, match="8 columns and 1 channels do not fit an image of shape"):
        mri.apply_undersampling(np.zeros((4, 9), np.float32), record)
    with pytest.raises(UserError, match="do not fit"):
        mri.apply_undersampling(np.zeros((4, 8, 3), np.float32), record)


# --- Ghosting ------------------------------------------------------------------------------------------------------


def test_ghosting_by_hand():
    # Two ghosts of intensity 0.3 on six rows: step 6 // 3 = 2, weights 0.3 * 2/3 = 0.2 and 0.3 * 1/3 = 0.1.
    # First ghost: row 2 gets 0.2 of row 0 (1), row 3 gets 0.2 of row 1 (0.5). In place: row 4 gets 0.2 of row 2 as it
    # was (0). Second ghost, 4 rows down: row 4 gets 0.1, row 5 gets 0.05.
    column = np.array([1, 0.5, 0, 0, 0, 0], np.float32)[:, None]
    assert np.allclose(mri.add_ghosts(column, GhostingParameters(2, 0.3))[:, 0], [1, 0.5, 0.2, 0.1, 0.1, 0.05])


def test_ghosts_have_ghosts():
    # Three ghosts of intensity 0.8 on eight rows: step 2, weights 0.6, 0.4, 0.2 at 2, 4, 6 rows down.
    # Row 0 holds 1. After the first: row 2 is 0.6. After the second: row 4 is 0.4, row 6 is 0.4 * 0.6 = 0.24.
    # After the third: row 6 is 0.24 + 0.2 = 0.44.
    column = np.zeros((8, 1), np.float32)
    column[0] = 1
    assert np.allclose(mri.add_ghosts(column, GhostingParameters(3, 0.8))[:, 0], [1, 0, 0.6, 0, 0.4, 0, 0.44, 0])


def test_ghosts_spread_around_the_authors_and_level_2_is_stronger():
    pairs = [[drawn("ghosting_artifact", level, seed, (9, 9)) for level in (1, 2)] for seed in range(200)]
    assert {(mild.ghosts, severe.ghosts) for mild, severe in pairs} == {(4, 5), (5, 6), (6, 7)}
    for level, theirs in ((0, 0.15), (1, 0.60)):
        drawn_here = [pair[level].intensity for pair in pairs]
        assert 0.8 * theirs <= min(drawn_here) < 0.85 * theirs and 1.15 * theirs < max(drawn_here) <= 1.2 * theirs
    assert all(severe.intensity == pytest.approx(4 * mild.intensity) for mild, severe in pairs)


# --- Movement ------------------------------------------------------------------------------------------------------


def moved_the_long_way(image, poses):
    """Every band of rows of the centred two-dimensional spectrum from SciPy's affine transform of the image."""
    height, width = image.shape
    spectrum = np.zeros(image.shape, complex)
    centre = np.array([(height - 1) / 2, (width - 1) / 2])
    for band, (turn, right, down) in enumerate(poses):
        cos, sin = np.cos(np.radians(turn)), np.sin(np.radians(turn))
        matrix = np.array([[cos, sin], [-sin, cos]])
        offset = centre - matrix @ (centre + [down, right])
        copy = ndimage.affine_transform(image.astype(np.float64), matrix, offset, order=1, mode="reflect")
        each = height // len(poses)
        rows = slice(band * each, (band + 1) * each if band < len(poses) - 1 else height)
        spectrum[rows] = np.fft.fftshift(np.fft.fft2(copy))[rows]
    return np.fft.ifft2(np.fft.ifftshift(spectrum)).real


@settings(deadline=None, max_examples=25)
@given(height=st.integers(1, 40), width=st.integers(1, 40), bands=st.integers(1, 6), seed=st.integers(0, 2**32))
def test_movement_is_bands_of_k_space(height, width, bands, seed):
    rng = seeded_generator("movement", seed)
    image = rng.random((height, width), dtype=np.float32)
    poses = tuple(tuple(map(float, rng.uniform(-1, 1, 3) * [15, 9, 9])) for _ in range(bands))
    assert np.allclose(apply_movement(image, MovementParameters(poses)), moved_the_long_way(image, poses), atol=2e-5)


def test_movement_without_movement_is_the_image():
    image = seeded_generator("still").random((33, 20), dtype=np.float32)
    assert np.allclose(apply_movement(image, MovementParameters(((0.0, 0.0, 0.0),) * 3)), image, atol=1e-6)


def test_poses_by_hand():
    image = np.zeros((9, 9), np.float32)
    image[4, 7] = 1.0  # to the right of the centre
    shifted = apply_movement(image, MovementParameters(((0.0, -2.0, 1.0),)))
    assert np.unravel_index(shifted.argmax(), shifted.shape) == (5, 5)
    turned = apply_movement(image, MovementParameters(((90.0, 0.0, 0.0),)))
    assert np.unravel_index(turned.argmax(), turned.shape) == (1, 4)  # above the centre


def test_band_weights_by_hand():
    # Seven rows, three bands: rows of the centred spectrum are ky = -3 .. 3, bands of 7 // 3 = 2 rows and the rest:
    # (-3, -2), (-1, 0), (1, 2, 3). So 0 comes from the second, 1 from the second and the third, 2 and 3 from the
    # first and the third.
    assert band_weights(7, 3).tolist() == [[0, 0, 0.5, 0.5], [1, 0.5, 0, 0], [0, 0.5, 0.5, 0.5]]


def test_the_central_band_may_hardly_move():
    # The authors' level 1: (-1.58 degrees, 1.05, 1.27) of 224 pixels, and (-1, 0.7, 0.15) of 220 on another image.
    centres = np.abs([drawn("object_movement", 1, seed, (224, 224)).poses[1] for seed in range(400)])
    assert (centres.max(axis=0) <= [2.0, 0.0115 * 224, 0.0115 * 224]).all()
    further = np.hypot(centres[:, 1], centres[:, 2])
    assert np.percentile(further, 5) < 0.72 < np.hypot(1.05, 1.27) < np.percentile(further, 95)


def test_movement_is_the_same_direction_at_both_levels_and_further():
    for seed in range(30):
        mild, severe = (drawn("object_movement", level, seed, (100, 80)).poses for level in (1, 2))
        assert (len(mild), len(severe)) == (3, 5)
        assert np.array_equal(np.sign(mild[1]), np.sign(severe[2]))
        assert (np.abs(mild[1]) < np.abs(severe[2])).all()
        assert np.abs(np.array(mild)).max(axis=0)[0] <= 2.0
        assert np.abs(np.array(severe))[:, 1:].max() <= 0.058 * 80
