"""Images as they come in, as float arrays for the operators, and back in the same kind, size and mode.

What is kept and what is computed again, by kind:

- 8-bit (L, RGB) and 16-bit (I;16, I, uint16): divided by 255 or 65535, degraded in float32 (whose 24-bit mantissa
  holds 16 bits), rounded once at the end, as the operator says: floor (the authors' operators truncate) or half up.
  16-bit grey that has a window (12 bits in 16, see :mod:`lmms_medtasks.pictures`) is degraded within it, in its own
  values, and the result carries the window.
- F and float arrays: must be in [0, 1]; the result is not rounded, only clipped.
- 1 and bool: degraded as 0 and 1, thresholded at 0.5.
- Transparent pixels (LA, RGBA, P, a transparent colour, arrays with an alpha channel) are laid on white or black by
  the rule of :mod:`lmms_medtasks.pictures`: what is degraded is what is seen. The result has the same mode and is
  opaque.
- P: degraded as RGB; a palette is computed again where the result has more than 256 colours.
- CMYK: degraded as RGB (255 - ink, less black) and written back without black ink.
- Grey stored as RGB is computed once and stays grey, unless the operator degrades channels independently.

No image is re-encoded as JPEG or anything else here: pixels in, pixels out. ``Image.info`` (resolution, profile) stays.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from lmms_medtasks.degradations.base import Annotations, Channels, FloatImage, Rounding
from lmms_medtasks.errors import UserError
from lmms_medtasks.pictures import (
    MODES,
    WIDE_MODES,
    Window,
    flatten_alpha,
    on_background,
    refusing_truncated,
    window_info,
    window_of,
)

# A few float32 operations are wrong by a few 1e-7 together; without this margin 100/255 would floor to 99.
_ROUNDING_MARGIN = 1e-6

# A pixel is coloured when its channels differ by more than 8 of 255 (JPEG's chroma error on grey is below that); an
# image is grey with annotations when at most this share of it is coloured (the authors' outlines: 0.1 to 1.5 %).
_COLOURED = 8 / 255
_ANNOTATED_SHARE = 0.10

# From here on a pixel belongs to a drawing that is pasted back (HSV saturation and value; OpenCV's masks count to 255).
_STRONG = 100 / 255


@dataclass(frozen=True)
class DecodedImage:
    """An image's samples without alpha, and how to make an image of the same kind from degraded ones.

    ``samples``: (H, W) or (H, W, 3), in the integer or float type that they came in. ``encode`` takes an array of the
    same shape and type. ``window``: what black and white are among the samples; None: 0 and the type's full scale.
    """

    samples: NDArray[Any]
    encode: Callable[[NDArray[Any]], Any]
    window: Window | None = None


def degrade(
    image: Any,
    transform: Callable[[FloatImage], FloatImage],
    *,
    rounding: Rounding = "floor",
    channels: Channels = "shared",
    annotations: Annotations = "degrade",
    paste_back: bool = False,
) -> Any:
    """``transform`` applied to the samples of ``image``; the same kind, size and mode comes back.

    ``annotations="keep"`` gives ``transform`` a grey image with coloured drawings as grey; ``paste_back`` puts the
    drawings back afterwards. Both concern grey images with drawings only (:func:`annotation_mask`).

    Raises UserError for anything but an image, an unsupported mode or type, no pixels, or floats outside [0, 1].
    """
    decoded = decode_image(image)
    samples = decoded.samples
    window = decoded.window or (0.0, _full_scale(samples.dtype))
    if samples.ndim == 2:
        return decoded.encode(_transform_samples(samples, transform, rounding, window))
    if channels == "shared" and _is_grey(samples):
        grey = _transform_samples(np.ascontiguousarray(samples[..., 0]), transform, rounding, window)
        return decoded.encode(np.repeat(grey[..., None], 3, axis=2))
    drawings = (
        annotation_mask(_unit_samples(samples, window) if decoded.window else samples)
        if paste_back or annotations == "keep"
        else None
    )
    if drawings is not None and annotations == "keep":
        grey = _transform_samples(_luma_of_samples(samples), transform, rounding, window)
        result = np.repeat(grey[..., None], 3, axis=2)
    else:
        result = _transform_samples(samples, transform, rounding, window)
    if drawings is not None and paste_back:
        result[drawings] = samples[drawings]
    return decoded.encode(result)


def size_of(image: Any) -> tuple[int, int]:
    """Height and width in pixels of a PIL image or an array.

    Raises UserError for anything but an image, or an image without pixels.
    """
    if isinstance(image, Image.Image):
        height, width = image.size[1], image.size[0]
    elif isinstance(image, np.ndarray) and image.ndim in (2, 3):
        height, width = image.shape[:2]
    else:
        kind = f"an array of shape {image.shape}" if isinstance(image, np.ndarray) else type(image).__name__
        raise UserError(f"An image must be a PIL image or an array (H, W) or (H, W, C), got {kind}.")
    if height == 0 or width == 0:
        raise UserError(f"An image of {height} x {width} pixels has nothing to degrade.")
    return height, width


def decode_image(image: Any) -> DecodedImage:
    """The samples of ``image`` without alpha, and the way back; see the module for what happens to each kind."""
    size_of(image)
    return _decode_array(image) if isinstance(image, np.ndarray) else _decode_pil(image)


def copy_image(image: Any) -> Any:
    """``image`` bit for bit, checked like any other input. Raises UserError for what :func:`degrade` refuses."""
    decode_image(image)
    return image.copy()


def annotation_mask(samples: NDArray[Any]) -> NDArray[np.bool_] | None:
    """The drawings in a grey image stored as (H, W, 3) that are pasted back; None where it is not such an image.

    As the authors' images show it (exactly, on their low_dose image): what is strongly coloured, 100 of 255 or more in
    HSV's saturation and value, closed and then opened by 3 x 3 pixels. So gaps between strokes are part of a drawing,
    and strokes thinner than 3 pixels are none and are degraded with the image. Their drawings are red; here any hue
    counts.

    >>> image = np.zeros((20, 20, 3), np.uint8)
    >>> image[3:7, 4:9] = (255, 0, 0)
    >>> int(annotation_mask(image).sum())
    20
    """
    from scipy import ndimage

    if samples.dtype == np.bool_:
        return None
    red, green, blue = samples[..., 0], samples[..., 1], samples[..., 2]
    value = np.maximum(np.maximum(red, green), blue)
    spread = value - np.minimum(np.minimum(red, green), blue)
    full = _full_scale(samples.dtype)
    share = float((spread > _COLOURED * full).mean())
    if not 0 < share <= _ANNOTATED_SHARE:
        return None
    strong = (spread >= _STRONG * value.astype(np.float32)) & (value >= _STRONG * full)
    # Pixels outside the image count for neither step, as in OpenCV.
    closed = ndimage.grey_closing(strong.view(np.uint8), size=(3, 3), mode="nearest")
    return ndimage.grey_opening(closed, size=(3, 3), mode="nearest").view(np.bool_)


def _transform_samples(
    samples: NDArray[Any],
    transform: Callable[[FloatImage], FloatImage],
    rounding: Rounding,
    window: Window,
) -> NDArray[Any]:
    result = transform(_unit_samples(samples, window))
    if result.shape != samples.shape:
        raise RuntimeError(f"The operator returned shape {result.shape} for {samples.shape}.")
    return _quantise_samples(result, samples.dtype, window, rounding)


def _unit_samples(samples: NDArray[Any], window: Window) -> FloatImage:
    if samples.dtype == np.float32:
        return samples.copy()
    low, high = window
    unit = samples.astype(np.float32)
    if low:
        unit -= np.float32(low)
    if high - low != 1.0:
        unit /= np.float32(high - low)
    if samples.dtype == np.uint16:
        np.clip(unit, 0.0, 1.0, out=unit)  # what is outside of a stated window
    return unit


def _quantise_samples(result: FloatImage, dtype: np.dtype[Any], window: Window, rounding: Rounding) -> NDArray[Any]:
    if dtype.kind == "f":
        return np.clip(result, 0.0, 1.0).astype(dtype)
    if dtype == np.bool_:
        return result >= 0.5
    low, high = window
    shift = low + _ROUNDING_MARGIN * (high - low) + (0.5 if rounding == "nearest" else 0.0)
    scaled = result * np.float32(high - low)
    scaled += np.float32(shift)
    # The cast truncates, which is floor for what is not negative.
    np.clip(scaled, max(low, 0.0), min(high, _full_scale(dtype)), out=scaled)
    return scaled.astype(dtype)


def _full_scale(dtype: np.dtype[Any]) -> float:
    return float(np.iinfo(dtype).max) if dtype.kind == "u" else 1.0


def _is_grey(samples: NDArray[Any]) -> bool:
    first = samples[..., 0]
    return bool((first == samples[..., 1]).all() and (first == samples[..., 2]).all())


def _luma_of_samples(samples: NDArray[Any]) -> NDArray[Any]:
    """ITU-R 601 luma, what Pillow's and OpenCV's conversion to grey compute, in the type of ``samples``."""
    grey = samples.astype(np.float32) @ np.array([0.299, 0.587, 0.114], np.float32)
    return (grey if samples.dtype.kind == "f" else np.rint(grey)).astype(samples.dtype)


def _decode_array(image: NDArray[Any]) -> DecodedImage:
    if image.dtype.kind == "f":
        _check_unit_range(image, "A float array")
    elif image.dtype not in (np.dtype(bool), np.dtype(np.uint8), np.dtype(np.uint16)):
        raise UserError(f"Arrays must be bool, uint8, uint16 or float in [0, 1], got {image.dtype!s}.")
    window = window_of(image) if image.dtype == np.uint16 else None
    if image.ndim == 2:
        return DecodedImage(image, lambda result: result, window)
    channels = image.shape[2]
    if channels not in (1, 2, 3, 4):
        raise UserError(f"Arrays must have 1 to 4 channels (grey, grey and alpha, RGB, RGBA), got shape {image.shape}.")
    colours = channels - 1 if channels in (2, 4) else channels
    samples = image[..., 0] if colours == 1 else image[..., :colours]
    full = _full_scale(image.dtype)
    if colours < channels:
        window = window_of(samples) if image.dtype == np.uint16 else None
        samples, _ = on_background(samples, image[..., -1], full)

    def encode_samples(result: NDArray[Any]) -> NDArray[Any]:
        result = result[..., None] if result.ndim == 2 else result
        if colours == channels:
            return result
        return np.concatenate([result, np.full((*result.shape[:2], 1), full, result.dtype)], axis=2)

    return DecodedImage(samples, encode_samples, window)


def _check_unit_range(values: NDArray[Any], label: str) -> None:
    low, high = float(values.min()), float(values.max())
    if not (low >= 0.0 and high <= 1.0):  # also true when either is NaN
        problem = "holds NaN or infinity" if not np.isfinite(values).all() else f"holds values from {low:g} to {high:g}"
        raise UserError(f"{label} {problem}; it must be in [0, 1]. Divide by its full scale (255 or 65535) first.")


def _decode_pil(image: Image.Image) -> DecodedImage:
    mode = image.mode
    if mode not in MODES:
        raise UserError(f"Images of mode {mode!r} are not supported, only {', '.join(MODES)}. Convert it first.")
    try:
        with refusing_truncated():
            image.load()
    except (OSError, SyntaxError, ValueError) as error:
        raise UserError(f"The image could not be read to its end ({error}); it is truncated or damaged.") from error
    if mode in WIDE_MODES:
        return _decode_wide(image)
    if mode == "P":
        return DecodedImage(flatten_alpha(image)[0], lambda result: keep_info(image, _to_palette(result)))
    pixels = np.asarray(image.convert("RGB") if mode == "CMYK" else image)
    if mode == "F":
        _check_unit_range(pixels, "An image of mode 'F'")
    elif image.has_transparency_data and mode != "CMYK":
        pixels = flatten_alpha(image)[0]
        if mode in ("1", "L", "LA"):
            pixels = pixels[..., 0] if mode != "1" else pixels[..., 0] >= 128
    return DecodedImage(pixels, lambda result: keep_info(image, Image.fromarray(result).convert(mode)))


def keep_info(image: Image.Image, output: Image.Image) -> Image.Image:
    """``output``, made of ``image``, with its resolution, profile and the like, and its window; it is opaque."""
    output.info = {key: value for key, value in image.info.items() if key != "transparency"}
    output.info.update(window_info(image))
    return output


def _decode_wide(image: Image.Image) -> DecodedImage:
    pixels = np.asarray(image)
    if pixels.size and (int(pixels.min()) < 0 or int(pixels.max()) > 65535):
        raise UserError(
            f"An image of mode {image.mode!r} holds values from {pixels.min()} to {pixels.max()}; 16-bit images (0 to "
            "65535) are supported. Rescale it first."
        )

    def encode_samples(result: NDArray[Any]) -> Image.Image:
        if image.mode == "I":
            return keep_info(image, Image.fromarray(result.astype(np.int32)))
        order = ">u2" if image.mode == "I;16B" else "<u2"
        return keep_info(image, Image.frombytes(image.mode, image.size, result.astype(order).tobytes()))

    return DecodedImage(pixels.astype(np.uint16), encode_samples, window_of(image))


def _to_palette(result: NDArray[Any]) -> Image.Image:
    """(H, W, 3) uint8 as mode P: exactly where its colours fit, else with a median-cut palette."""
    packing = np.array([65536, 256, 1], np.uint32)
    colours, index = np.unique(result.astype(np.uint32) @ packing, return_inverse=True)
    if len(colours) > 256:
        return Image.fromarray(result).quantize(256, Image.Quantize.MEDIANCUT)
    output = Image.frombytes("P", result.shape[1::-1], index.astype(np.uint8).tobytes())
    channels = np.stack([(colours >> shift) & 255 for shift in (16, 8, 0)], axis=1).astype(np.uint8)
    output.putpalette(channels.tobytes())
    return output


_DIGEST_BYTES = 8
_SAME_AS_PIL = {("|u1", 1), ("|u1", 2), ("|u1", 3), ("|u1", 4), ("|b1", 1), ("<u2", 1), ("<f4", 1)}
"""Types and channels of arrays that Pillow holds in a mode of its own (L, LA, RGB, RGBA, 1, I;16, F)."""


def pixel_digest(picture: Image.Image | np.ndarray) -> str:
    """16 hexadecimal digits of a picture's pixels.

    A PIL image of mode L, LA, RGB, RGBA, 1, I;16 or F has the digest of the array (H, W) or (H, W, C) of its pixels.

    >>> pixel_digest(Image.new("RGB", (4, 2), "red")) == pixel_digest(np.array(Image.new("RGB", (4, 2), "red")))
    True
    """
    if isinstance(picture, np.ndarray):
        channels = picture.shape[2] if picture.ndim == 3 else 1
        if (picture.dtype.str, channels) not in _SAME_AS_PIL:
            header = f"{picture.dtype.str} {picture.shape}"
            return _hash_contents(header, np.ascontiguousarray(picture).tobytes())
        picture = Image.fromarray(picture[..., 0] if picture.ndim == 3 and channels == 1 else picture)
    palette = picture.palette.tobytes() if picture.mode == "P" and picture.palette is not None else b""
    return _hash_contents(f"{picture.mode} {picture.size}", palette, picture.tobytes())


def make_image_seed(known_as: str | int, seed: int | str) -> str:
    """The seed of a picture's draw: what it is known as (its :func:`pixel_digest`, or an id), and a seed for all
    pictures."""
    return f"{known_as}/{seed}"


def _hash_contents(header: str, *contents: bytes) -> str:
    hashed = hashlib.blake2b(header.encode(), digest_size=_DIGEST_BYTES)
    for content in contents:
        hashed.update(content)
    return hashed.hexdigest()
