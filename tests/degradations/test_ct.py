"""Limited angle, sparse view and low dose: their records, their physics, and what they do to images."""

import dataclasses

import numpy as np
import pytest

from lmms_medtasks import degradations
from lmms_medtasks.degradations import ct, registry, tomography
from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import seeded_generator

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
    for name, severity, arc, views, last, detectors in (
        ("limited_angle", 1, 180.0, 361, 210.0, 672),
        ("limited_angle", 2, 100.0, 201, 130.0, 975),
        ("sparse_view", 1, None, 144, 357.5, 672),
        ("sparse_view", 2, None, 36, 350.0, 672),
    ):
        settings = dict(registry.get_settings(name, severity, "CT"))
        if arc:
            settings |= {"start_range": [30.0, 30.0], "arc_range": [arc, arc]}
        found = registry.get(name).sample(seeded_generator("scans"), settings, (650, 650))
        scan = ct.scan_of(found, (650, 650), ct.fitting_scanner(head(), found))
        assert (len(scan.angles), scan.detectors) == (views, detectors)
        assert np.rad2deg(scan.angles[-1]) == pytest.approx(last)
        assert scan.source_distance == pytest.approx(detectors, abs=0.01)


def test_what_is_drawn_and_that_levels_share_it():
    assert record("sparse_view", 1, seed=0) == record("sparse_view", 1, seed=1)
    seen = [[record("limited_angle", level, seed=seed) for seed in range(40)] for level in (1, 2)]
    starts, arcs = ([[getattr(one, key) for one in level] for level in seen] for key in ("start", "views"))
    assert starts[0] == starts[1] and 0 <= min(starts[0]) < 60 and 300 < max(starts[0]) <= 360
    for level, shortest, longest in ((0, 165, 195), (1, 85, 115)):
        assert 2 * shortest < min(arcs[level]) < 2 * shortest + 12
        assert 2 * longest - 10 < max(arcs[level]) <= 2 * longest + 1
    # A longer arc at level 1 is a longer one at level 2, and level 2's views are among level 1's.
    assert np.argsort(arcs[0], kind="stable").tolist() == np.argsort(arcs[1], kind="stable").tolist()


def test_photons_and_attenuation_are_random():
    first, second = record("low_dose", 1, seed=0), record("low_dose", 1, seed=1)
    assert first.seed != second.seed and first.attenuation != second.attenuation
    assert dataclasses.replace(first, seed=second.seed, attenuation=second.attenuation) == second
    other = record("low_dose", 2, seed=0)
    assert (first.seed, first.attenuation) == (other.seed, other.attenuation)
    drawn = [record("low_dose", 1, seed=seed).attenuation for seed in range(40)]
    assert 0.029 <= min(drawn) < 0.030 and 0.038 < max(drawn) <= 0.039
    image = head()
    results = [ct.apply_low_dose(image, r) for r in (first, second, first)]
    assert results[0].tobytes() == results[2].tobytes() != results[1].tobytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"views": 0}, "views=0"),
        ({"scanner": 0.5}, "above 0.7071 sides.*0.5"),
        ({"ends_to": 0.1}, "ends_to must be above ends_from, got 0.1 and 0.1"),
    ],
)
def test_impossible_scans(change, message):
    with pytest.raises(UserError, match=message):
        ct.apply_partial_scan(head(), dataclasses.replace(record("sparse_view", 1), **change))


@pytest.mark.parametrize("change", [{"photons": 0.0}, {"attenuation": -1.0}, {"background": 0}, {"largest_side": 0}])
def test_impossible_doses(change):
    with pytest.raises(UserError, match="must be above 0"):
        ct.apply_low_dose(head(), dataclasses.replace(record("low_dose", 1), **change))


# --- Missing views -------------------------------------------------------------------------------------------------


def field(air, body=0.8, side=96, radius=0.5):
    """A body in a round field of grey air that touches the sides, as a scanner's reconstruction has it."""
    y, x = np.mgrid[:side, :side] - (side - 1) / 2
    round_field = np.hypot(y, x) < radius * side
    image = np.where(head(side) > 0, body * head(side), air * round_field)
    return image.astype(np.float32)


def test_signal_at_the_ends_of_the_detector():
    narrow = record("sparse_view", 1)
    assert ct.signal_at_ends(np.zeros((64, 64), np.float32), narrow) == 0
    assert ct.signal_at_ends(head(), narrow) == 0  # all of it is seen
    # A white square: rays at 0.4624 sides from the centre, over all angles, against a canvas of one side.
    full = ct.signal_at_ends(np.ones((64, 64), np.float32), narrow)
    assert 0.5 < full < 0.9
    for image in (field(0.2), np.stack([field(0.2)] * 3, axis=2), 0.3 * field(0.2)):
        assert ct.signal_at_ends(image, narrow) == pytest.approx(ct.signal_at_ends(field(0.2), narrow), rel=1e-5)
    large = np.kron(field(0.2), np.ones((4, 4), np.float32))
    assert ct.signal_at_ends(large, narrow) == pytest.approx(ct.signal_at_ends(field(0.2), narrow), rel=0.05)


def test_the_scanner_grows_evenly_with_the_signal_at_its_ends():
    narrow = record("sparse_view", 1)
    assert ct.fitting_scanner(head(), narrow) == narrow.scanner == pytest.approx(672 / 650, abs=1e-4)
    assert ct.fitting_scanner(np.ones((64, 64), np.float32), narrow) == narrow.wide == 1.5
    sizes = np.array([ct.fitting_scanner(field(air), narrow) for air in np.linspace(0, 1, 101)])
    steps = np.diff(sizes)
    assert steps.min() >= 0 and sizes[0] == narrow.scanner and sizes[-1] > 1.3
    assert steps.max() < 0.02  # a hundredth of the grey scale more air moves it by less than two hundredths of a side
    wide = record("limited_angle", 2)
    assert ct.fitting_scanner(head(), wide) == ct.fitting_scanner(field(1.0), wide) == wide.wide
    for air in (0.0, 0.3, 1.0):
        sizes = [ct.fitting_scanner(field(air), dataclasses.replace(wide, widened=part)) for part in (0, 0.3, 0.6, 1)]
        assert sizes == sorted(sizes)


def test_between_the_levels_a_limited_arc_damages_more():
    # As strength does it: the settings go evenly from level 1 to level 2.
    first, second = (registry.get_settings("limited_angle", level, "CT") for level in (1, 2))
    for image in (head(96), field(0.1), field(0.4)):
        errors = []
        for part in np.linspace(0, 1, 6):
            arc = [a + part * (b - a) for a, b in zip(first["arc_range"], second["arc_range"], strict=True)]
            settings = {**second, "arc_range": arc, "widened": part}
            found = registry.get("limited_angle").sample(seeded_generator("between"), settings, image.shape)
            errors.append(squared_error(image, np.clip(ct.apply_partial_scan(image, found), 0, 1)))
        assert (np.diff(errors) > 0).all()


@pytest.mark.parametrize("name", ["limited_angle", "sparse_view"])
def test_a_little_more_air_does_not_switch_the_damage(name):
    # With a threshold of brightness in place of the growing scanner, one step changed the error twelvefold and more.
    records = [record(name, level) for level in (1, 2)]
    errors = []
    for air in np.linspace(0, 0.5, 26):
        image = field(air)
        errors.append([squared_error(image, np.clip(ct.apply_partial_scan(image, one), 0, 1)) for one in records])
    decibels = 10 * np.log10(errors)
    assert np.abs(np.diff(decibels, axis=0)).max() < 2.5
    assert (decibels[:, 1] > decibels[:, 0]).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["grey air", "grey air, dense", "to the corners", "bright with a dark table"])
def test_levels_are_ordered_where_the_scanner_cuts_the_image(name, kind):
    y, x = np.mgrid[:96, :96]
    image = {
        "grey air": field(0.25),
        "grey air, dense": field(0.6, body=1.0),
        "to the corners": np.clip(0.55 + 0.3 * head(96) + 0.1 * np.sin(x / 3), 0, 1).astype(np.float32),
        "bright with a dark table": np.where(y > 80, 0.1, 0.9 - 0.4 * head(96)).astype(np.float32),
    }[kind]
    for size in (1, 4):
        enlarged = np.kron(image, np.ones((size, size), np.float32))
        for seed in range(3):
            first, second = (
                squared_error(
                    enlarged,
                    np.clip(registry.get(name).apply(enlarged, record(name, level, enlarged.shape, seed)), 0, 1),
                )
                for level in (1, 2)
            )
            assert first < second, (size, seed)


def test_all_views_give_the_image_back():
    image = head(97)
    all_views = dataclasses.replace(record("sparse_view", 1), views=720, step=0.5, widened=1.0)
    assert np.sqrt(squared_error(image, ct.apply_partial_scan(image, all_views))) < 0.06


def test_a_limited_arc_loses_the_edges_along_its_missing_rays():
    # An edge is seen by rays along it. Here the sources stand from below (0 degrees) to above the right (100): no ray
    # runs between lower left and upper right, so the edges at the upper left and lower right are lost.
    y, x = np.mgrid[:96, :96] - 47.5
    disc = (np.hypot(y, x) < 30).astype(np.float32)
    arc = dataclasses.replace(record("limited_angle", 2), start=0.0, views=201)
    back = ct.apply_partial_scan(disc, arc)

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


def test_noise_of_line_integrals_against_theory():
    # Var[-log(N / I0)] is nearly exp(p) / I0; in pixels times intensity it is divided by the attenuation squared.
    side = 120  # not made smaller to project it
    image = np.ones((side, side), np.float32)
    found = dataclasses.replace(record("low_dose", 2), views=60, step=6.0, attenuation=0.034)
    scale = found.attenuation
    p = tomography.project_image(image, ct.scan_of(found, image.shape)) * scale
    noise = ct.sinogram_noise(image, found) * scale
    for low, high in ((0.0, 0.5), (2.0, 2.5), (3.5, 4.0)):
        chosen = (p >= low) & (p < high)
        normalised = noise[chosen] / np.sqrt(np.exp(p[chosen]) / found.photons)
        assert normalised.size > 400
        assert abs(normalised.mean()) < 4 / np.sqrt(normalised.size) + 0.02
        assert normalised.var() == pytest.approx(1.0, abs=4 * np.sqrt(2 / normalised.size) + 0.02)


def test_line_integrals_saturate():
    # The mean count is never below the background of 20: measured line integrals end at log(15000 / 20) = 6.62, with
    # the noise of 20 photons. That makes a dark centre.
    found = dataclasses.replace(record("low_dose", 2), views=40, step=9.0, attenuation=0.07, largest_integral=30.0)
    image = np.ones((120, 120), np.float32)
    p = tomography.project_image(image, ct.scan_of(found, image.shape)) * found.attenuation
    measured = p + ct.sinogram_noise(image, found) * found.attenuation
    starved = p > 7.5
    assert starved.sum() > 500
    assert measured[starved].mean() == pytest.approx(np.log(15_000 / 20), abs=0.06)
    assert measured[starved].std() == pytest.approx(20**-0.5, rel=0.15)
    degraded = ct.apply_low_dose(image, found)
    assert degraded[55:65, 55:65].mean() < degraded[5:15, 55:65].mean() - 0.05


def test_a_ray_of_level_1_is_never_starved():
    first, second = record("low_dose", 1), record("low_dose", 2)
    assert first.largest_integral < np.log(first.photons / first.background) + 0.02
    assert second.largest_integral > np.log(second.photons / second.background) + 1
    assert first.background == second.background


def test_a_dense_image_is_made_thinner():
    # White from side to side at 0.034 a pixel: 400 pixels would be 13.6 and more; the longest ray gets 8.4.
    found = dataclasses.replace(record("low_dose", 1), views=40, step=9.0, attenuation=0.034)
    small, large = np.ones((120, 120), np.float32), np.ones((400, 400), np.float32)
    thinner = dataclasses.replace(found, attenuation=0.02)
    assert ct.sinogram_noise(small, found).tobytes() != ct.sinogram_noise(small, thinner).tobytes()
    np.testing.assert_array_equal(
        ct.sinogram_noise(large, found),
        ct.sinogram_noise(large, dataclasses.replace(found, attenuation=0.06)),
    )


def test_noise_of_very_large_images_is_enlarged():
    # 300 pixels count as 100 enlarged: reduced again, the noise is that of the small image.
    found = dataclasses.replace(record("low_dose", 1), largest_side=100)
    small = head(100)
    large = np.kron(small, np.ones((3, 3), np.float32))
    one, other = ct.apply_low_dose(small, found) - small, ct.apply_low_dose(large, found) - large
    reduced = other.reshape(100, 3, 100, 3).mean(axis=(1, 3))
    assert np.corrcoef(one.ravel(), reduced.ravel())[0, 1] > 0.9
    assert 0.5 < reduced.std() / one.std() < 1
    oblong = large[:150]
    assert ct.apply_low_dose(oblong, found).shape == oblong.shape


def test_a_larger_body_is_noisier():
    found = record("low_dose", 1)
    noise = [(ct.apply_low_dose(head(side), found) - head(side))[side // 3 : -side // 3].std() for side in (96, 384)]
    assert noise[1] > 2 * noise[0]


def test_line_integrals_of_a_large_image_are_nearly_those_of_a_small_one():
    image = head(300)
    scan = ct.scan_of(record("low_dose", 1, image.shape), image.shape)
    exact, quick = tomography.project_image(image, scan), ct.expected_views(image, scan)
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
    assert half_of_them == pytest.approx(all_views, rel=0.1)


def test_low_dose_of_colour_has_one_noise():
    grey = head()
    colour = np.stack([grey, grey, 0.5 * grey], axis=2)
    difference = ct.apply_low_dose(colour, record("low_dose", 2)) - colour
    np.testing.assert_allclose(difference[..., 0], difference[..., 2], atol=1e-6)


# --- All three -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["limited_angle", "sparse_view"])
def test_an_enlarged_image_looks_the_same(name):
    # The scanner scales with the image. (Not so low_dose's noise: photons are per ray, finer rays are noisier.)
    small, large = head(64), np.kron(head(64), np.ones((2, 2), np.float32))
    degrade = registry.get(name).apply
    shrunk = degrade(large, record(name, 2)).reshape(64, 2, 64, 2).mean(axis=(1, 3))
    assert np.corrcoef(degrade(small, record(name, 2)).ravel(), shrunk.ravel())[0, 1] > 0.95
