"""Projection and filtered back-projection against formulas, a naive definition and scikit-image."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skimage.transform import iradon, radon

from lmms_medtasks.degradations import tomography
from lmms_medtasks.degradations.tomography import ScanGeometry
from lmms_medtasks.seeding import seeded_generator

FULL = tuple(np.linspace(0, 2 * np.pi, 360, endpoint=False).tolist())
HALF = tuple(np.linspace(0, np.pi, 240, endpoint=False).tolist())


def ellipse(shape, centre, half_axes, turn=0.0, samples=6):
    """An ellipse of intensity 1, each pixel the mean of ``samples`` squared points; (x, y) from the centre, y down."""
    fine = [(np.arange(n * samples) + 0.5) / samples - n / 2 for n in shape]
    x, y = fine[1][None, :] - centre[0], fine[0][:, None] - centre[1]
    along, across = x * np.cos(turn) + y * np.sin(turn), y * np.cos(turn) - x * np.sin(turn)
    inside = (along / half_axes[0]) ** 2 + (across / half_axes[1]) ** 2 <= 1
    return inside.reshape(shape[0], samples, shape[1], samples).mean(axis=(1, 3)).astype(np.float32)


def rays(scan):
    """Where each ray passes at distance 0 from the centre's plane and its unit direction: (V, M, 2) each, y down.

    Written down from the description alone: source below at angle 0, counter-clockwise; detector square to the central
    ray, spacing one at the centre.
    """
    angle = np.array(scan.angles)[:, None]
    towards_source = np.stack(np.broadcast_arrays(np.sin(angle), np.cos(angle)), axis=-1)
    along_detector = np.stack(np.broadcast_arrays(-np.cos(angle), np.sin(angle)), axis=-1)
    u = (np.arange(scan.detectors) - (scan.detectors - 1) / 2)[None, :, None]
    points = u * along_detector
    if np.isinf(scan.source_distance):
        directions = np.broadcast_to(-towards_source, points.shape)
    else:
        directions = points - scan.source_distance * towards_source
    return points, directions / np.linalg.norm(directions, axis=-1, keepdims=True)


def smooth_image(*seed, side=64):
    """Random, smooth, zero at the border."""
    from scipy import ndimage

    image = ndimage.gaussian_filter(seeded_generator("smooth", *seed).random((side, side)) - 0.2, 2.5)
    y, x = np.mgrid[:side, :side] - (side - 1) / 2
    return (image * np.clip(1.5 - np.hypot(y, x) / (0.3 * side), 0, 1)).astype(np.float32)


SCANS = [
    ScanGeometry(FULL[::9], np.inf, 129),
    ScanGeometry(FULL[::9], 1.4 * 96, 131),
    ScanGeometry((0.3, 1.9, 4.0), 1.035 * 96, 140),
]


@pytest.mark.parametrize("scan", SCANS)
@pytest.mark.parametrize(
    ("centre", "half_axes", "turn"), [((0, 0), (30, 30), 0.0), ((11.3, -7.2), (24, 24), 0.0), ((-6, 9), (30, 14), 0.6)]
)
def test_ellipse_against_its_chords(scan, centre, half_axes, turn):
    image = ellipse((96, 96), centre, half_axes, turn)
    points, directions = rays(scan)
    # In the ellipse's own axes, scaled to the unit circle, a ray is p + t d; its chord is the length of |p + t d| <= 1.
    rotation = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]) / np.array(half_axes)[:, None]
    p, d = (points - np.array(centre)) @ rotation.T, directions @ rotation.T
    a, b, c = (d * d).sum(-1), (p * d).sum(-1), (p * p).sum(-1) - 1
    discriminant = b * b - a * c
    chords = 2 * np.sqrt(np.maximum(discriminant, 0)) / a
    error = np.abs(tomography.project_image(image, scan) - chords)
    # Where chords are short they change fast from ray to ray, and a pixel is not a point.
    assert error[chords > 16].max() < 1.5  # of up to 60; from ray to ray they change by up to 3
    nearest = np.sqrt(np.maximum(c + 1 - b * b / a, 0))  # to the unit circle's centre
    assert error[nearest > 1.1].max() < 0.5
    assert error.mean() < 0.15


@pytest.mark.parametrize(
    "scan", [ScanGeometry((0.0, 0.4, 1.3, 2.2, 5.0), np.inf, 15), ScanGeometry((0.0, 0.4, 1.3, 2.2), 11.0, 14)]
)
def test_equals_joseph_written_naively(scan):
    image = seeded_generator("naive").random((7, 10)).astype(np.float32)
    points, directions = rays(scan)
    expected = np.zeros((len(scan.angles), scan.detectors))
    for v, m in np.ndindex(expected.shape):
        (px, py), (dx, dy) = points[v, m], directions[v, m]
        grid = image if abs(dy) >= abs(dx) else image.T
        if abs(dy) < abs(dx):
            px, py, dx, dy = py, px, dy, dx
        for row in range(grid.shape[0]):
            y = row - (grid.shape[0] - 1) / 2
            column = px + (y - py) * dx / dy + (grid.shape[1] - 1) / 2
            for near in (int(np.floor(column)), int(np.floor(column)) + 1):
                if 0 <= near < grid.shape[1]:
                    expected[v, m] += grid[row, near] * (1 - abs(column - near)) / abs(dy)
    np.testing.assert_allclose(tomography.project_image(image, scan), expected, rtol=1e-5, atol=1e-5)


def test_back_projection_equals_its_definition():
    scan = ScanGeometry((0.0, 0.9, 3.3), 12.0, 13)
    views = seeded_generator("views").random((3, 13)).astype(np.float32)
    expected = np.zeros((6, 9))
    for row, column in np.ndindex(expected.shape):
        x, y = column - 4, row - 2.5
        for view, angle in zip(views, scan.angles, strict=True):
            # Similar triangles: the pixel is at depth `near` before the source, and the centre at 12.
            near = 12 - (x * np.sin(angle) + y * np.cos(angle))
            u = (y * np.sin(angle) - x * np.cos(angle)) * 12 / near
            value = np.interp(u + 6, np.arange(-1, 14), np.pad(view, 1))
            expected[row, column] += value * 12 / near
    np.testing.assert_allclose(tomography.back_project(views, scan, (6, 9)), expected, rtol=1e-4, atol=1e-4)


def test_ramp_filter_is_a_sum_over_kak_and_slaneys_taps():
    # Equation 61: h(0) = 1/4, h(n) = 0 for even n, -1 / (n pi)^2 for odd n.
    views = seeded_generator("ramp").random((2, 37)).astype(np.float32)
    lags = np.arange(37)[:, None] - np.arange(37)[None, :]
    taps = np.where(lags == 0, 0.25, np.where(lags % 2 == 0, 0.0, -1 / (np.pi * np.where(lags == 0, 1, lags)) ** 2))
    np.testing.assert_allclose(tomography.ramp_filter(views), views @ taps, atol=1e-6)


def test_parallel_views_hold_all_of_the_image():
    image = smooth_image("mass")
    views = tomography.project_image(image, ScanGeometry(HALF, np.inf, 95))
    np.testing.assert_allclose(views.sum(axis=1), image.sum(), rtol=2e-3)


def test_parallel_views_are_scikit_images():
    image = smooth_image("radon", side=96)
    degrees = np.linspace(0, 180, 30, endpoint=False)
    theirs = radon(image, theta=degrees, circle=True)
    # scikit-image turns about pixel N // 2; an odd side has the same centre as ours.
    image, theirs = np.pad(image, ((0, 1), (0, 1))), radon(np.pad(image, ((0, 1), (0, 1))), theta=degrees, circle=True)
    ours = tomography.project_image(image, ScanGeometry(tuple(np.deg2rad(degrees)), np.inf, 97))
    assert np.abs(ours[:, ::-1] - theirs.T).max() < 0.01 * theirs.max()


def test_parallel_reconstruction_is_scikit_images():
    image = ellipse((97, 97), (5, -8), (28, 17), 0.4)
    degrees = np.linspace(0, 180, 240, endpoint=False)
    scan = ScanGeometry(tuple(np.deg2rad(degrees)), np.inf, 97)
    views = tomography.project_image(image, scan)
    ours = tomography.reconstruct_image(views, scan, image.shape)
    theirs = iradon(views[:, ::-1].T, theta=degrees, circle=True, output_size=97)
    inside = np.hypot(*(np.mgrid[:97, :97] - 48)) < 47
    assert np.abs(ours - theirs)[inside].max() < 5e-3


def test_full_data_give_the_image_back():
    scan = ScanGeometry(HALF, np.inf, 139)
    image = smooth_image("phantom", side=97)
    back = tomography.reconstruct_image(tomography.project_image(image, scan), scan, image.shape)
    assert np.abs(back - image).max() < 0.03 * image.max()
    disc = ellipse((97, 97), (9, 5), (25, 25))
    flat = ellipse((97, 97), (9, 5), (20, 20)) == 1
    back = tomography.reconstruct_image(tomography.project_image(disc, scan), scan, disc.shape)
    assert abs(back[flat].mean() - 1) < 0.004
    assert back[flat].std() < 0.02


def test_a_fan_beam_is_shaded_as_the_authors_images_are():
    # Without cosine and with the magnification once, tissue comes back at 0.92 to 0.97 of itself, as in theirs.
    disc = ellipse((97, 97), (0, 0), (34, 34))
    scan = ScanGeometry(FULL, 1.034 * 97, 100)
    back = tomography.reconstruct_image(tomography.project_image(disc, scan), scan, disc.shape)
    assert 0.94 < back[48, 48] < 1.0
    assert 0.90 < back[48, 48 + 28] < back[48, 48]


@settings(max_examples=20, deadline=None)
@given(a=st.floats(-3, 3), b=st.floats(-3, 3), seed=st.integers(0, 10), distance=st.sampled_from([np.inf, 40.0]))
def test_linear(a, b, seed, distance):
    scan = ScanGeometry((0.2, 1.1, 2.9), distance, 45)
    first, second = (seeded_generator("linear", seed, k).random((21, 30)).astype(np.float32) for k in range(2))

    def both(image):
        views = tomography.project_image(image, scan)
        return views, tomography.reconstruct_image(views, scan, image.shape)

    for mixed, x, y in zip(
        both(np.float32(a) * first + np.float32(b) * second), both(first), both(second), strict=True
    ):
        np.testing.assert_allclose(mixed, a * x + b * y, atol=2e-3)


def test_back_projection_is_nearly_the_adjoint_of_projection():
    # Two discretisations of one pair of operators: equal in the limit, within a hundredth on what is smooth.
    image = smooth_image("adjoint", side=64) + np.float32(0)
    scan = ScanGeometry(HALF, np.inf, 91)
    views = tomography.project_image(smooth_image("other", side=64), scan)
    left = float((tomography.project_image(image, scan) * views).sum(dtype=np.float64))
    right = float((image * tomography.back_project(views, scan, image.shape)).sum(dtype=np.float64))
    assert left == pytest.approx(right, rel=0.01)


@pytest.mark.parametrize("distance", [np.inf, 50.0])
def test_turning_the_image_turns_the_views(distance):
    image = seeded_generator("turn").random((33, 33)).astype(np.float32)
    angles = tuple(np.deg2rad([0, 30, 90, 120, 180, 210, 270, 300]).tolist())
    views = tomography.project_image(image, ScanGeometry(angles, distance, 41))
    turned = tomography.project_image(np.rot90(image).copy(), ScanGeometry(angles, distance, 41))
    np.testing.assert_allclose(turned, np.roll(views, 2, axis=0)[[0, 1, 2, 3, 4, 5, 6, 7]], atol=1e-4)


def test_oblong_images_stand_on_a_square_canvas():
    image = seeded_generator("oblong").random((20, 60)).astype(np.float32)
    scan = ScanGeometry(FULL[::20], 80.0, 80)
    on_canvas = tomography.project_image(np.pad(image, ((20, 20), (0, 0))), scan)
    np.testing.assert_allclose(tomography.project_image(image, scan), on_canvas, atol=1e-4)
    whole = tomography.back_project(on_canvas, scan, (60, 60))
    np.testing.assert_allclose(tomography.back_project(on_canvas, scan, (20, 60)), whole[20:40], atol=1e-4)


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (2, 3)])
def test_tiny_images(shape):
    scan = ScanGeometry(FULL[::30], 1.035 * max(shape), max(1, round(1.035 * max(shape))))
    back = tomography.reconstruct_image(tomography.project_image(np.ones(shape, np.float32), scan), scan, shape)
    assert back.shape == shape and back.dtype == np.float32 and np.isfinite(back).all()


def test_black_stays_black():
    scan = ScanGeometry(FULL[::30], 20.0, 20)
    views = tomography.project_image(np.zeros((16, 16), np.float32), scan)
    assert not views.any() and not tomography.reconstruct_image(views, scan, (16, 16)).any()


def test_the_same_bytes_with_any_number_of_threads(monkeypatch):
    image = seeded_generator("threads").random((70, 50)).astype(np.float32)
    scan = ScanGeometry(FULL[::7], 75.0, 75)
    results = set()
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        results.add(tomography.reconstruct_image(tomography.project_image(image, scan), scan, image.shape).tobytes())
    assert len(results) == 1


@pytest.mark.parametrize("distance", [np.inf, 1.035 * 300])
def test_rows_that_are_left_out_add_nothing(distance, monkeypatch):
    # A ray is followed only through rows where it can meet filled columns; all rows give the same bytes.
    image = np.zeros((300, 260), np.float32)
    image[90:170, 40:200] = seeded_generator("rows left out").random((80, 160))
    scan = ScanGeometry(FULL[::7], distance, 420)
    quick = tomography.project_image(image, scan)
    filled = tomography._pad_rows

    def everywhere(part):
        padded, _, origin = filled(part)
        return padded, (-10_000, 10_000), origin

    monkeypatch.setattr(tomography, "_pad_rows", everywhere)
    assert quick.any() and quick.tobytes() == tomography.project_image(image, scan).tobytes()


def test_neighbours_are_each_value_and_the_next():
    from lmms_medtasks.degradations import kernels

    values = seeded_generator("neighbours").random((3, 7)).astype(np.float32)
    pairs = np.ascontiguousarray(kernels.pair_neighbours(values)).view(np.float32).reshape(3, 6, 2)
    np.testing.assert_array_equal(pairs[..., 0], values[:, :-1])
    np.testing.assert_array_equal(pairs[..., 1], values[:, 1:])


@pytest.mark.parametrize(("distance", "detectors"), [(np.inf, 40), (1.035, 62), (1.5, 20), (0.72, 1)])
def test_columns_that_are_left_out_add_nothing(distance, detectors, monkeypatch):
    # A view adds to the pixels whose shadows fall on its detector; all columns give the same bytes.
    from lmms_medtasks.degradations import kernels

    shape = (45, 60)
    scan = ScanGeometry((*FULL[::20], *np.deg2rad([0.0, 90.0, 180.0, 33.3])), distance * 60, detectors)
    views = seeded_generator("columns left out").normal(size=(len(scan.angles), detectors)).astype(np.float32)
    quick = tomography.back_project(views, scan, shape)
    compiled, left_out = kernels._columns_seen, []

    def everywhere(first_row, final_row, last, width):
        low, high = compiled(first_row, final_row, last, width)
        left_out.append(width - (high - low))
        return 0, width

    monkeypatch.setattr(kernels, "_columns_seen", everywhere)
    # In Python itself, where the compiled part can be replaced. Compiled functions give Python 64-bit floats.
    monkeypatch.setattr(kernels, "_row_terms", kernels._row_terms.py_func)
    monkeypatch.setattr(kernels, "back_project", kernels.back_project.py_func)
    assert quick.any() and quick.tobytes() == tomography.back_project(views, scan, shape).tobytes()
    assert sum(left_out) > 0 and min(left_out) >= 0
