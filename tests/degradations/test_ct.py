"""Limited angle, sparse view and low dose: their records, their physics, and what they do to images."""

import dataclasses
import json

import numpy as np
import pytest
from scipy import stats

from lmms_medtasks import degradations
from lmms_medtasks.degradations import ct, registry, tomography
from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import generator

NAMES = ("limited_angle", "sparse_view", "low_dose")


def record(name, severity, size=(64, 64), seed=0):
    return degradations.sample(name, severity=severity, seed=seed, size=size, modality="CT")


def head(side=64):
    """A bright ring around mid-grey on black, within the field of view."""
    y, x = np.mgrid[:side, :side] - (side - 1) / 2
    radius = np.hypot(y / 0.42, x / 0.36) / side
    return np.where(radius < 0.85, 0.45, np.where(radius < 1, 1.0, 0.0)).astype(np.float32)


def squared_error(clean, degraded):
    return float(np.square(clean.astype(np.float64) - degraded).mean())


# --- Records -------------------------------------------------------------------------------------------------------


def test_the_authors_scans():
    # 180 degrees in steps of 0.5 with both ends: 361 views; 100 degrees: 201. 672 and 975 detectors for 650 pixels.
    for name, severity, views, last, detectors in (
        ("limited_angle", 1, 361, 210.0, 672),
        ("limited_angle", 2, 201, 100.0, 975),
        ("sparse_view", 1, 144, 357.5, 672),
        ("sparse_view", 2, 36, 350.0, 672),
    ):
        scan = ct.scan_of(record(name, severity, (650, 650)), (650, 650))
        assert (len(scan.angles), scan.detectors) == (views, detectors)
        assert np.rad2deg(scan.angles[-1]) == pytest.approx(last)
        assert scan.source_distance == pytest.approx(detectors, abs=0.01)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("severity", [1, 2])
def test_records_survive_json_and_give_the_same_pixels(name, severity):
    found = record(name, severity)
    back = type(found)(**json.loads(json.dumps(found.to_json())))
    assert back == found
    image = head()
    assert degradations.get(name).apply(image, found).tobytes() == degradations.get(name).apply(image, back).tobytes()


def test_only_the_photons_are_random():
    for name in ("limited_angle", "sparse_view"):
        assert record(name, 1, seed=0) == record(name, 1, seed=1)
    first, second = record("low_dose", 1, seed=0), record("low_dose", 1, seed=1)
    assert first.seed != second.seed and dataclasses.replace(first, seed=second.seed) == second
    image = head()
    results = [ct.apply_low_dose(image, r) for r in (first, second, first)]
    assert results[0].tobytes() == results[2].tobytes() != results[1].tobytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"beam": "cone"}, "beam must be one of fan, parallel, got 'cone'"),
        ({"views": 0}, "views=0"),
        ({"detector_width": 0.0}, "detector_width=0.0"),
        ({"source_distance": 0.5}, "above 0.7071 sides.*0.5"),
    ],
)
def test_impossible_scans(change, message):
    with pytest.raises(UserError, match=message):
        ct.apply_partial_scan(head(), dataclasses.replace(record("sparse_view", 1), **change))


@pytest.mark.parametrize("change", [{"photons": 0.0}, {"attenuation": -1.0}])
def test_impossible_doses(change):
    with pytest.raises(UserError, match="must be above 0"):
        ct.apply_low_dose(head(), dataclasses.replace(record("low_dose", 1), **change))


# --- Missing views -------------------------------------------------------------------------------------------------


def test_brightness_inside():
    # Of a 4 x 4 canvas, radius 0.3 sides = 1.2 pixels holds the four pixels at distance 0.71: 4 of 16.
    assert ct.brightness_inside(np.ones((4, 4), np.float32), 0.3) == pytest.approx(0.25)
    assert ct.brightness_inside(np.zeros((4, 4), np.float32), 0.3) == 1.0
    # An oblong image: the canvas is 4 x 4, the pixels' distances are 1.58, 0.71, 0.71, 1.58 in both rows.
    assert ct.brightness_inside(np.ones((2, 4), np.float32), 0.3) == pytest.approx(0.5)
    assert ct.brightness_inside(np.ones((4, 4, 3), np.float32), 0.3) == pytest.approx(0.25)


def test_which_scanner():
    narrow = record("sparse_view", 1)
    scan, weights = ct.fitting_scan(head(), narrow)
    assert (scan.detectors, weights) == (66, "plain")  # 1.03385 * 64 = 66.2
    scan, weights = ct.fitting_scan(np.ones((64, 64), np.float32), narrow)
    assert (scan.detectors, weights) == (96, "exact")  # 1.5 * 64


def test_both_levels_use_the_same_scanner_for_an_image():
    for name in ("limited_angle", "sparse_view"):
        first, second = record(name, 1), record(name, 2)
        assert (first.field_of_view, first.least_inside) == (second.field_of_view, second.least_inside)


def test_all_views_give_the_image_back():
    image = head(97)
    all_views = dataclasses.replace(record("sparse_view", 1), views=720, step=0.5)
    back = ct.apply_partial_scan(image, dataclasses.replace(all_views, source_distance=1.5, detector_width=1.5))
    assert np.sqrt(squared_error(image, back)) < 0.06
    parallel = dataclasses.replace(all_views, beam="parallel", step=0.25, detector_width=1.5)
    assert np.sqrt(squared_error(image, ct.apply_partial_scan(image, parallel))) < 0.06


def test_a_limited_arc_loses_the_edges_along_its_missing_rays():
    # An edge is seen by rays along it. Level 2's sources stand from below (0 degrees) to above the right (100): no ray
    # runs between lower left and upper right, so the edges at the upper left and lower right are lost.
    y, x = np.mgrid[:96, :96] - 47.5
    disc = (np.hypot(y, x) < 30).astype(np.float32)
    back = ct.apply_partial_scan(disc, record("limited_angle", 2))

    def step(direction):
        inside, outside = (
            back[round(47.5 + radius * direction[1]), round(47.5 + radius * direction[0])] for radius in (26, 34)
        )
        return inside - outside

    diagonal = np.sqrt(0.5)
    assert step((-diagonal, -diagonal)) < 0.2 and step((diagonal, diagonal)) < 0.5
    assert step((diagonal, -diagonal)) > 0.9 and step((-diagonal, diagonal)) > 0.9


def test_colour_is_channel_by_channel():
    grey = head()
    colour = np.stack([grey, 0.5 * grey, grey.T], axis=2)
    for name in ("limited_angle", "sparse_view"):
        found = record(name, 1)
        result = degradations.get(name).apply(colour, found)
        np.testing.assert_array_equal(result[..., 0], ct.apply_partial_scan(grey, found))
        np.testing.assert_allclose(result[..., 1], 0.5 * result[..., 0], atol=1e-5)


# --- Low dose ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mean", [0.3, 4.0, 300.0, 20_000.0])
def test_photon_counts_are_poisson(mean):
    counts = ct.photon_counts(np.full(40_000, mean), generator("poisson test", 1))
    # Standard errors: sqrt(mean / n) of the mean; of the variance sqrt((2 mean^2 + mean) / n).
    assert abs(counts.mean() - mean) < 4 * np.sqrt(mean / counts.size)
    assert abs(counts.var() - mean) < 4 * np.sqrt((2 * mean**2 + mean) / counts.size)
    if mean < 10:
        seen = np.bincount(counts, minlength=20)[:20]
        expected = stats.poisson.pmf(np.arange(20), mean) * counts.size
        kept = expected > 5
        assert stats.chisquare(seen[kept], expected[kept] * seen[kept].sum() / expected[kept].sum()).pvalue > 1e-4


def test_noise_of_line_integrals_against_theory():
    # Var[-log(N / I0)] is nearly exp(p) / I0; in pixels times intensity it is divided by (attenuation / side)^2.
    side = 120  # not made smaller to project it
    image = np.full((side, side), 0.35, np.float32)
    found = dataclasses.replace(record("low_dose", 2), views=60, step=6.0)
    scale = found.attenuation / side
    p = tomography.project(image, ct.scan_of(found, image.shape)) * scale
    noise = ct.sinogram_noise(image, found) * scale
    for low, high in ((0.0, 0.5), (2.0, 2.5), (3.5, 4.0)):
        chosen = (p >= low) & (p < high)
        normalised = noise[chosen] / np.sqrt(np.exp(p[chosen]) / found.photons)
        assert normalised.size > 400
        assert abs(normalised.mean()) < 4 / np.sqrt(normalised.size) + 0.02
        assert normalised.var() == pytest.approx(1.0, abs=4 * np.sqrt(2 / normalised.size) + 0.02)


def test_line_integrals_saturate():
    # exp(-11.2) * 17000 = 0.23 photons a ray through white from side to side: most of such rays count none, and are
    # read as if one had come through: log(17000) = 9.74 at most.
    found = dataclasses.replace(record("low_dose", 2), views=40, step=9.0)
    image = np.ones((120, 120), np.float32)
    scale = found.attenuation / 120
    p = tomography.project(image, ct.scan_of(found, image.shape)) * scale
    measured = p + ct.sinogram_noise(image, found) * scale
    assert p.max() > 11.2
    assert measured.max() == pytest.approx(np.log(found.photons), abs=1e-3)
    degraded = ct.apply_low_dose(image, found)
    assert degraded[55:65, 55:65].mean() < degraded[5:15, 55:65].mean() - 0.05  # a dark centre


def test_line_integrals_of_a_large_image_are_nearly_those_of_a_small_one():
    image = head(300)
    scan = ct.scan_of(record("low_dose", 1, image.shape), image.shape)
    exact, quick = tomography.project(image, scan), ct.expected_views(image, scan)
    assert quick.shape == exact.shape
    assert np.sqrt(squared_error(exact, quick)) < 0.01 * exact.max()
    assert quick.sum() == pytest.approx(exact.sum(), rel=1e-3)


def test_low_dose_adds_noise_and_subtracts_its_offset():
    image = head(120)
    found = record("low_dose", 1)
    quiet = dataclasses.replace(found, photons=1e12)
    np.testing.assert_allclose(ct.apply_low_dose(image, quiet), image - 0.0354 * image.mean(), atol=2e-4)
    draws = np.stack([ct.apply_low_dose(image, dataclasses.replace(found, seed=seed)) for seed in range(8)]) - image
    assert draws.mean() == pytest.approx(-0.0354 * image.mean(), rel=0.1)
    faint = np.float32(0.1) * image
    of_faint = ct.apply_low_dose(faint, found) - faint
    assert draws[:, 50:70, 50:70].std() > 2 * of_faint[50:70, 50:70].std()  # more attenuation, fewer photons


def test_half_the_views_with_twice_the_photons_is_the_same_noise():
    image = head(100)
    found = record("low_dose", 1)
    half = dataclasses.replace(found, views=180, step=2.0, photons=2 * found.photons)
    all_views, half_of_them = (
        (ct.apply_low_dose(image, one) - image)[30:70, 30:70].std(dtype=np.float64) for one in (found, half)
    )
    assert half_of_them == pytest.approx(all_views, rel=0.08)


def test_low_dose_of_colour_has_one_noise():
    grey = head()
    colour = np.stack([grey, grey, 0.5 * grey], axis=2)
    difference = ct.apply_low_dose(colour, record("low_dose", 2)) - colour
    np.testing.assert_allclose(difference[..., 0], difference[..., 2], atol=1e-6)


def test_the_same_photons_with_any_number_of_threads(monkeypatch):
    image, found, results = head(), record("low_dose", 2), set()
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        results.add(ct.apply_low_dose(image, found).tobytes())
    assert len(results) == 1


# --- All three -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_level_2_is_further(name, broad_set):
    for kind, image in broad_set.items():
        for seed in range(2 if name == "low_dose" else 1):
            first, second = (
                squared_error(image, degradations.apply(image, name, severity=level, seed=seed)) for level in (1, 2)
            )
            assert 0 < first < second, (kind, seed)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (33, 2), (3, 3), (5, 5, 3)])
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_any_size_and_constant_images(name, shape, value):
    for severity in (1, 2):
        image = np.full(shape, value, np.float32)
        result = degradations.get(name).apply(image, record(name, severity, shape[:2]))
        assert result.shape == shape and result.dtype == np.float32 and np.isfinite(result).all()


@pytest.mark.parametrize("name", NAMES)
def test_the_image_is_not_changed(name):
    image = head()
    before = image.copy()
    degradations.get(name).apply(image, record(name, 2))
    np.testing.assert_array_equal(image, before)


@pytest.mark.parametrize("name", ["limited_angle", "sparse_view"])
def test_an_enlarged_image_looks_the_same(name):
    # The scanner scales with the image. (Not so low_dose's noise: photons are per ray, finer rays are noisier.)
    small, large = head(64), np.kron(head(64), np.ones((2, 2), np.float32))
    degrade = registry.get(name).apply
    shrunk = degrade(large, record(name, 2)).reshape(64, 2, 64, 2).mean(axis=(1, 3))
    assert np.corrcoef(degrade(small, record(name, 2)).ravel(), shrunk.ravel())[0, 1] > 0.95
