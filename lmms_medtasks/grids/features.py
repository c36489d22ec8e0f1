"""The trivial features of panels: what may not tell the outlier, since no understanding is needed to measure it."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from PIL.Image import Image

RESOLUTION: Mapping[str, float] = {
    "file size": 0.005,
    "mean brightness": 0.5,
    "standard deviation": 0.5,
    "entropy": 0.02,
    "colourfulness": 0.5,
    "image size": 0.5,
    "aspect ratio": 0.01,
    "JPEG quality": 0.5,
    "letterboxed": 0.5,
    "source file size": 0.005,
    "source image size": 0.5,
}
"""Feature -> the difference below which two panels count as equal: levels, bits, pixels (image size is the geometric
mean of the sides); for file sizes a part of the size."""

INVISIBLE = ("source file size", "source image size")
"""What is known about a source file but not in the picture any more once all panels have one resolution."""

CONTENT = ("entropy", "colourfulness")
"""What follows from what a picture shows (how much air, how much tissue, stained or not), and cannot be taken from it
without changing that: where the outlier shows something else by intention, it is the signal, and told only."""

SAME_CONTENT = ("orientation", "integrity")
"""The kinds of outlier that show the same as the inliers, where these have nothing to tell."""


class Measured(NamedTuple):
    """Of the luminance: file size in bytes as a PNG alone, mean and standard deviation in levels, entropy in bits."""

    bytes: int
    mean: float
    deviation: float
    entropy: float


def measured(panel: Image) -> Measured:
    """The features of a panel's pixels."""
    grey = np.asarray(panel.convert("L"))
    share = np.bincount(grey.ravel(), minlength=256) / grey.size
    share = share[share > 0]
    entropy = float(-(share * np.log2(share)).sum())
    return Measured(file_size(panel), float(grey.mean()), float(grey.std()), entropy)


def file_size(panel: Image) -> int:
    """Bytes of the picture's luminance as a PNG file: its colours are a feature of their own."""
    buffer = io.BytesIO()
    panel.convert("L").save(buffer, "PNG", compress_level=1)
    return len(buffer.getvalue())


def colourfulness(panel: Image) -> float:
    """Mean difference of the largest and the smallest channel, in levels."""
    pixels = np.asarray(panel, dtype=np.int16)
    return float((pixels.max(axis=2) - pixels.min(axis=2)).mean())


def of_panel(panel: Image, record: Mapping[str, Any]) -> dict[str, float]:
    """All features of a panel: from its pixels, and from what the manifest says of its source and its making."""
    pixels = measured(panel)
    content, source = record["content"], record["source"]
    return {
        "file size": float(np.log(pixels.bytes)),
        "mean brightness": pixels.mean,
        "standard deviation": pixels.deviation,
        "entropy": pixels.entropy,
        "colourfulness": colourfulness(panel),
        "image size": float(np.sqrt(content["width"] * content["height"])),
        "aspect ratio": float(np.log(content["width"] / content["height"])),
        "JPEG quality": float(content["quality"]),
        "letterboxed": float(content["letterboxed"]),
        "source file size": float(np.log(source["bytes"])),
        "source image size": float(np.sqrt(source["width"] * source["height"])),
    }
