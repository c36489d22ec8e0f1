"""Every kind of image in, the same kind out."""

import numpy as np
import pytest
from PIL import Image

from lmms_medtasks import degradations, pictures
from lmms_medtasks.degradations import images, picture_cache
from lmms_medtasks.degradations.images import annotation_mask
from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import seeded_generator

SIZE = (23, 17)  # width, height


def colours():
    rng = seeded_generator("image modes")
    return Image.fromarray(rng.integers(0, 256, (SIZE[1], SIZE[0], 3), dtype=np.uint8))


def of_mode(mode):
    image = colours()
    if mode in ("I;16", "I;16B", "I"):
        wide = np.asarray(image.convert("L")).astype(np.uint16) * 257
        if mode == "I":
            return Image.fromarray(wide.astype(np.int32))
        return Image.frombytes(mode, SIZE, wide.astype(">u2" if mode == "I;16B" else "<u2").tobytes())
    if mode == "F":
        return Image.fromarray(np.asarray(image.convert("L"), dtype=np.float32) / 255)
    if mode in ("LA", "RGBA"):
        result = image.convert(mode)
        result.putalpha(Image.linear_gradient("L").resize(SIZE))
        return result
    return image.quantize(32) if mode == "P" else image.convert(mode)


MODES = ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16", "I;16B", "I", "F"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["adjust_brightness", "gaussian_noise", "motion_blur", "object_rotation"])
def test_mode_and_size_come_back(mode, name):
    image = of_mode(mode)
    before = image.tobytes()
    result = degradations.apply(image, name, severity=2, seed=3)
    assert (result.mode, result.size) == (mode, SIZE)
    assert image.tobytes() == before
    if (mode, name) != ("1", "adjust_brightness"):  # 1 - 113/255 is still nearer to white
        assert result.tobytes() != before


@pytest.mark.parametrize("mode", MODES)
def test_level_0_is_the_image_bit_for_bit(mode):
    image = of_mode(mode)
    result = degradations.apply(image, "gaussian_blur", severity=0)
    assert (result.mode, result.tobytes(), result.getpalette()) == (mode, image.tobytes(), image.getpalette())
    assert result is not image


@pytest.mark.parametrize("mode", ["P", "CMYK", "RGBA"])
def test_colour_modes_are_degraded_as_what_is_seen(mode):
    image = of_mode(mode)
    expected = degradations.apply(pictures.to_rgb8(image), "exposure", severity=1)
    result = degradations.apply(image, "exposure", severity=1).convert("RGB")
    assert np.array_equal(np.asarray(result), np.asarray(expected))


@pytest.mark.parametrize(("mode", "full"), [("LA", 255), ("I;16", 65535), ("I;16B", 65535), ("I", 65535), ("F", 1)])
def test_grey_modes_are_degraded_alike(mode, full):
    image = of_mode(mode)
    if mode == "LA":
        image.putalpha(255)
    expected = np.asarray(degradations.apply(colours().convert("L"), "exposure", severity=1)) / 255
    result = np.asarray(degradations.apply(image, "exposure", severity=1))
    result = (result[..., 0] if mode == "LA" else result) / full
    # 8 bits are truncated, up to a level below.
    assert result.shape == expected.shape
    assert (result - expected).min() > -1e-6
    assert (result - expected).max() < 1.01 / 255


def see_through(mode):
    """Mid-dark noise (mean below 127), its left third transparent with bright colours hidden under it."""
    grey = seeded_generator("see-through").integers(0, 120, (24, 30), dtype=np.uint8)
    grey[:, :10] = 250
    image = Image.fromarray(grey)
    alpha = Image.fromarray(np.where(np.arange(30) < 10, 0, 255)[None].repeat(24, axis=0).astype(np.uint8))
    if mode == "P":
        image = image.convert("RGB").quantize(200)
        image.info["transparency"] = np.asarray(image)[0, 0].item()
    elif mode in ("L", "RGB"):
        image = image.convert(mode)
        image.info["transparency"] = 250 if mode == "L" else (250, 250, 250)
    else:
        image = image.convert(mode)
        image.putalpha(alpha)
    return image


@pytest.mark.parametrize("mode", ["LA", "RGBA", "P", "L", "RGB"])
@pytest.mark.parametrize("name", ["gaussian_blur", "object_rotation", "adjust_brightness"])
def test_transparent_pixels_are_laid_on_a_background_first(mode, name):
    """What is degraded is what a model is shown: the colours that nobody sees don't bleed into the image."""
    image = see_through(mode)
    seen = pictures.to_rgb8(image)
    assert (np.asarray(seen)[:, :10] == 255).all()
    result = degradations.apply(image, name, severity=1, seed=1)
    expected = degradations.apply(seen, name, severity=1, seed=1)
    assert result.mode == mode and "transparency" not in result.info
    assert np.array_equal(pictures.to_rgb8(result), expected)


def test_a_palette_is_made_for_more_than_256_colours():
    image = Image.fromarray(seeded_generator("palette").integers(0, 256, (64, 64, 3), dtype=np.uint8)).quantize(256)
    exact = degradations.apply(image.convert("RGB"), "gaussian_blur", severity=1)
    result = degradations.apply(image, "gaussian_blur", severity=1)
    assert len(np.unique(np.asarray(exact).reshape(-1, 3), axis=0)) > 256
    assert np.abs(np.asarray(result.convert("RGB")).astype(int) - np.asarray(exact)).mean() < 5


def test_sixteen_bits_survive_the_arithmetic():
    image = np.arange(65536, dtype=np.uint16).reshape(256, 256)
    result = degradations.apply(image, "reduce_contrast", severity=1)
    # m + 0.65 (v - m) with m = 32767.5; a float32 knows 65535 to 0.004.
    expected = 32767.5 + 0.65 * (np.arange(65536) - 32767.5)
    assert np.abs(result.ravel() - np.floor(expected)).max() <= 1
    assert len(np.unique(result)) > 42_000


def test_info_is_kept():
    image = colours()
    image.info["dpi"] = (300, 300)
    assert degradations.apply(image, "gaussian_blur", severity=1).info["dpi"] == (300, 300)


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.uint16, np.float16, np.float32, np.float64])
@pytest.mark.parametrize("channels", [None, 1, 2, 3, 4])
def test_arrays(dtype, channels):
    shape = (12, 9) if channels is None else (12, 9, channels)
    values = seeded_generator("arrays").random(shape)
    full = np.iinfo(dtype).max if np.dtype(dtype).kind == "u" else 1
    image = (values > 0.5) if dtype is np.bool_ else (values * full).astype(dtype)
    before = image.copy()
    result = degradations.apply(image, "motion_blur", severity=1)
    assert (result.shape, result.dtype) == (image.shape, image.dtype)
    assert np.array_equal(image, before)
    if channels in (2, 4):
        assert (result[..., -1] == full).all()


@pytest.mark.parametrize(("dtype", "full"), [(bool, 1), (np.uint8, 255), (np.uint16, 65535), (np.float32, 1)])
@pytest.mark.parametrize("level", [0, 1])
def test_arrays_with_alpha_are_laid_on_a_background_first(dtype, full, level):
    """White behind what is dark, black behind what is bright; in the array's own scale."""
    image = np.zeros((8, 9, 4), dtype)
    image[:, 3:, :3] = level * full
    image[:, 3:, 3] = full
    result = degradations.apply(image, "object_movement", strength=0.001)
    assert (result[..., 3] == full).all()
    assert (result[:, :3, :3] == (1 - level) * full).all() and (result[:, 3:, :3] == level * full).all()


def twelve_bits(kind):
    """12 bits in 16: values from 100 to 4000, rising to the right."""
    values = np.linspace(100, 4000, 64).astype(np.uint16)[None].repeat(48, axis=0)
    if kind == "array":
        return values
    if kind == "I":
        return Image.fromarray(values.astype(np.int32))
    return Image.frombytes(kind, (64, 48), values.astype(">u2" if kind == "I;16B" else "<u2").tobytes())


@pytest.mark.parametrize("kind", ["array", "I", "I;16", "I;16B"])
@pytest.mark.parametrize("name", ["adjust_brightness", "gaussian_noise", "exposure", "reduce_contrast"])
def test_twelve_bits_are_degraded_in_their_own_range(kind, name):
    """On the scale of 65535 a shift by 75 of 255 was 19,275: every pixel became 0."""
    image = twelve_bits(kind)
    with pytest.warns(pictures.WindowWarning, match="12"):
        result = np.asarray(degradations.apply(image, name, severity=1)).astype(float)
    unit = (np.asarray(image).astype(np.float32) - 100) / np.float32(3900)
    expected = 100 + 3900 * degradations.apply(unit, name, severity=1).astype(float)
    assert np.abs(result - expected).max() <= 1.01
    assert len(np.unique(result)) > 30


@pytest.mark.filterwarnings("ignore::lmms_medtasks.pictures.WindowWarning")
def test_a_degraded_picture_keeps_the_window_of_the_clean_one():
    """Shown in its own range, a picture made darker would be made bright again."""
    image = twelve_bits("I;16")
    result = degradations.apply(image, "adjust_brightness", severity=2)
    assert result.info["WindowCenter"] == "2050.5" and result.info["WindowWidth"] == "3901"
    clean, darker = (np.asarray(pictures.to_rgb8(each)).astype(int) for each in (image, result))
    assert np.abs(darker - np.maximum(clean - 113, 0)).max() <= 1
    kept = picture_cache.DegradedImageCache(10_000_000)
    for _ in range(2):
        cached = picture_cache.apply(image, "adjust_brightness", severity=2, cache=kept)
        assert np.array_equal(pictures.to_rgb8(cached), darker)


def test_a_stated_window_cuts_what_is_outside():
    image = twelve_bits("I;16")
    image.info |= {"WindowCenter": "1000", "WindowWidth": "401"}  # 799.5 to 1199.5
    result = np.asarray(degradations.apply(image, "adjust_brightness", strength=0.001))
    assert result.min() == 799 and result.max() == 1199


def test_views_and_read_only_arrays():
    image = seeded_generator("views").integers(0, 256, (40, 60, 3), dtype=np.uint8)
    view = image[::-2, 1::3]
    view.flags.writeable = False
    for name in degradations.names():
        result = degradations.apply(view, name, severity=1)
        assert np.array_equal(result, degradations.apply(np.ascontiguousarray(view), name, severity=1)), name


@pytest.mark.parametrize("name", degradations.names())
@pytest.mark.parametrize("shape", [(1, 1), (1, 700), (700, 1), (2, 3), (33, 7, 3), (5, 301, 4)])
def test_odd_and_oblong_and_constant(name, shape):
    for image in (np.full(shape, 128, np.uint8), seeded_generator("odd").integers(0, 256, shape, dtype=np.uint8)):
        for modality in degradations.modalities_of(name):
            result = degradations.apply(image, name, severity=2, modality=modality)
            assert (result.shape, result.dtype) == (image.shape, image.dtype)


def annotated():
    image = np.repeat(seeded_generator("drawn").integers(0, 200, (60, 60, 1), dtype=np.uint8), 3, axis=2)
    image[20:23, 10:50] = image[40:43, 10:50] = (255, 0, 0)  # 2 strokes of 3 x 40 pixels
    return image


def test_annotations_are_found():
    assert annotation_mask(annotated()).sum() == 240
    assert annotation_mask(np.repeat(annotated()[..., :1], 3, axis=2)) is None
    assert annotation_mask(np.asarray(colours())) is None
    # JPEG leaves chroma errors of a few levels on grey.
    jpeg = annotated()
    jpeg[::2, ::2, 2] += 5
    assert annotation_mask(jpeg).sum() == 240


def test_thin_strokes_are_no_drawings_to_paste_back():
    thin = np.repeat(seeded_generator("drawn").integers(0, 200, (60, 60, 1), dtype=np.uint8), 3, axis=2)
    thin[20:22, 10:50] = (255, 0, 0)
    assert annotation_mask(thin).sum() == 0


@pytest.mark.parametrize(
    ("modality", "kept"), [("X-ray", True), ("MRI", True), ("Ultrasound", True), ("CT", True), ("Endoscopy", False)]
)
def test_low_resolution_pastes_drawings_back_where_the_authors_do(modality, kept):
    image = annotated()
    result = degradations.apply(image, "low_resolution", severity=2, modality=modality)
    mask = annotation_mask(image)
    assert np.array_equal(result[mask], image[mask]) is kept


def test_drawings_kept_by_the_operator_reach_it_as_grey():
    seen = []

    def look(unit):
        seen.append(unit)
        return unit * 0

    result = images.degrade(annotated(), look, annotations="keep", paste_back=True)
    assert seen[0].shape == (60, 60)
    assert seen[0][20, 10] == pytest.approx(0.299, abs=0.002)  # the luma of red
    assert result[20, 10].tolist() == [255, 0, 0]
    assert not result[0].any()


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (np.full((3, 3), np.nan), "NaN"),
        (np.full((3, 3), np.inf), "infinity"),
        (np.full((3, 3), 1.5), "from 1.5 to 1.5"),
        (np.full((3, 3), -0.1, np.float32), "-0.1"),
        (np.zeros((0, 3), np.uint8), "0 x 3"),
        (np.zeros((3, 0, 3), np.uint8), "3 x 0"),
        (np.zeros((3, 3), np.int32), "int32"),
        (np.zeros((3, 3, 5), np.uint8), "channels"),
        (np.zeros(3, np.uint8), "shape"),
        (np.zeros((2, 3, 3, 3), np.uint8), "shape"),
        ("scan.png", "str"),
        (None, "NoneType"),
        (Image.new("L", (0, 4)), "4 x 0"),
        (Image.new("HSV", (4, 4)), "HSV"),
        (Image.fromarray(np.full((2, 2), 7.0, np.float32)), "mode 'F'"),
        (Image.fromarray(np.full((2, 2), 70000, np.int32)), "70000"),
    ],
)
@pytest.mark.parametrize("severity", [0, 1])
def test_bad_images(image, message, severity):
    with pytest.raises(UserError, match=message):
        degradations.apply(image, "gaussian_blur", severity=severity)
