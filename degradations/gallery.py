"""Pictures of degradations side by side: one PNG, or one HTML page that needs no other file; PSNR and SSIM."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

_TEXT, _PAPER, _FAINT = (24, 24, 24), (255, 255, 255), (110, 110, 110)
_GAP = 10
_LINE = 15
_PER_LINE = 6
_CURVE_SIZE = 460, 130


@dataclass(frozen=True)
class GalleryTile:
    """A picture (8-bit RGB) with a title above it and lines of text under it."""

    picture: Image.Image
    title: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class GalleryRow:
    """What one degradation does at growing levels: tiles that stay side by side, and (level, PSNR in dB) of a curve."""

    tiles: tuple[GalleryTile, ...]
    points: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class GallerySection:
    """A picture and what became of it, under one heading."""

    heading: str
    first: GalleryTile
    rows: tuple[GalleryRow, ...]


def describe_distance(clean: Image.Image, degraded: Image.Image) -> str:
    """``PSNR 23.4 dB, SSIM 0.81`` of two 8-bit RGB pictures of the same size."""
    before, after = np.asarray(clean), np.asarray(degraded)
    decibels, likeness = psnr(before, after), ssim(before, after)
    first = "unchanged" if math.isinf(decibels) else f"PSNR {decibels:.1f} dB"
    return first if math.isnan(likeness) or math.isinf(decibels) else f"{first}, SSIM {likeness:.2f}"


def render_sheet(sections: Sequence[GallerySection], side: int = 190, per_line: int = _PER_LINE) -> Image.Image:
    """All sections on one picture, each tile shrunk into ``side`` x ``side`` pixels (small ones are not enlarged).

    The first tile of a section stands to the left, the others beside it, ``per_line`` to a line; a row is broken only
    where it has more tiles than that.
    """
    font, bold = ImageFont.load_default(12), ImageFont.load_default(17)
    width = _GAP + (1 + per_line) * (side + _GAP)
    placed: list[tuple[int, int, int, GalleryTile, Image.Image]] = []
    headings: list[tuple[int, str]] = []
    y = _GAP
    for section in sections:
        headings.append((y, section.heading))
        y += 2 * _LINE
        for line_number, tiles in enumerate(_wrap_rows(section.rows, per_line)):
            row = list(enumerate(tiles, start=1))
            row = [(0, section.first), *row] if line_number == 0 else row
            fitted = [(column, tile, _fit_image(tile.picture, side)) for column, tile in row]
            below = y + _LINE + max(small.height for _, _, small in fitted)
            placed += [(_GAP + column * (side + _GAP), y, below, tile, small) for column, tile, small in fitted]
            y = below + _LINE * max(len(tile.lines) for _, tile in row) + _GAP
    page = Image.new("RGB", (width, y), _PAPER)
    pen = ImageDraw.Draw(page)
    for top, heading in headings:
        pen.text((_GAP, top), heading, _TEXT, bold)
    for left, top, below, tile, small in placed:
        pen.text((left, top), tile.title, _TEXT, font)
        page.paste(small, (left, top + _LINE))
        for number, line in enumerate(tile.lines):
            pen.text((left, below + number * _LINE), line, _FAINT, font)
    return page


def _wrap_rows(rows: Sequence[GalleryRow], per_line: int) -> list[list[GalleryTile]]:
    """The tiles of each line: as many whole rows as fit, and rows that are longer cut."""
    lines: list[list[GalleryTile]] = [[]]
    for row in rows:
        if lines[-1] and len(lines[-1]) + len(row.tiles) > per_line:
            lines.append([])
        for start in range(0, len(row.tiles), per_line):
            if start:
                lines.append([])
            lines[-1] += row.tiles[start : start + per_line]
    return lines


def render_page(title: str, introduction: str, sections: Sequence[GallerySection], side: int = 320) -> str:
    """All sections as one HTML page, pictures and style inside it, each picture at most ``side`` pixels a side.

    The tiles of a row stay side by side at any width and shrink with it; a row of more than four breaks in the middle
    on a narrow screen. Links to the sections stay at the top.
    """
    from jinja2 import Environment, StrictUndefined

    def encode_source(tile: GalleryTile) -> str:
        buffer = io.BytesIO()
        _fit_image(tile.picture, side).save(buffer, "PNG", optimize=True)
        return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()

    def tile_width(row: GalleryRow) -> int:
        return max(side // 2, *(_fit_image(tile.picture, side).width for tile in row.tiles))

    text = resources.files("lmms_medtasks.degradations").joinpath("gallery.html").read_text("utf-8")
    return (
        Environment(autoescape=True, undefined=StrictUndefined)
        .from_string(text)
        .render(
            title=title,
            introduction=introduction,
            sections=sections,
            side=side,
            source=encode_source,
            width=tile_width,
            curve_svg=curve_svg,
        )
    )


def curve_svg(points: Sequence[tuple[float, float]]) -> str:
    """PSNR in dB over strength as an SVG element; what is equal to the clean picture (infinite) is left out."""
    finite = [(level, decibels) for level, decibels in points if math.isfinite(decibels)]
    if not finite:
        return ""
    low, high = (function(decibels for _, decibels in finite) for function in (min, max))
    width, height = _CURVE_SIZE
    low, high = math.floor(low / 5) * 5, math.ceil((high + 0.01) / 5) * 5
    left, right, top, bottom = 48, width - 10, 8, height - 30
    last = max(level for level, _ in points)

    def point_at(level: float, decibels: float) -> tuple[float, float]:
        return left + (right - left) * level / last, bottom - (bottom - top) * (decibels - low) / (high - low)

    places = [point_at(*point) for point in finite]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5"/>' for x, y in places)
    ticks = "".join(
        f'<text x="{point_at(level, low)[0]:.1f}" y="{bottom + 13}" text-anchor="middle">{level:g}</text>'
        for level, _ in points
    )
    return (
        f'<svg role="img" aria-label="PSNR over strength" viewBox="0 0 {width} {height}">'
        f'<path d="M{left} {top}V{bottom}H{right}" fill="none" stroke="#999"/>'
        f'<text x="{left - 5}" y="{top + 8}" text-anchor="end">{high} dB</text>'
        f'<text x="{left - 5}" y="{bottom}" text-anchor="end">{low} dB</text>{ticks}'
        f'<text x="{(left + right) / 2}" y="{height - 3}" text-anchor="middle">strength</text>'
        f'<polyline points="{line}" fill="none" stroke="#06c" stroke-width="1.5"/><g fill="#06c">{dots}</g></svg>'
    )


def _fit_image(picture: Image.Image, side: int) -> Image.Image:
    small = picture.copy()
    small.thumbnail((side, side), Image.Resampling.LANCZOS)
    return small


_WINDOW = 7
_K1, _K2 = 0.01, 0.03


def psnr(clean: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    """Peak signal-to-noise ratio in dB for a full scale of 255; infinity for equal images.

    >>> psnr(np.zeros((2, 2), np.uint8), np.full((2, 2), 255, np.uint8))
    0.0
    """
    error = float(np.square(clean.astype(np.float64) - other).mean())
    return math.inf if error == 0 else 10 * math.log10(255**2 / error)


def ssim(clean: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    """Mean structural similarity (Wang et al. 2004): 7 x 7 uniform window, K1 0.01, K2 0.03, sample covariance.

    (H, W) or (H, W, C): the mean over the channels. The outer three pixels, where the window does not fit, are left
    out; an image smaller than the window is NaN.
    """
    if clean.ndim == 3:
        return float(np.mean([ssim(clean[..., c], other[..., c]) for c in range(clean.shape[2])]))
    if min(clean.shape) < _WINDOW:
        return math.nan
    from scipy.ndimage import uniform_filter

    x, y = clean.astype(np.float64), other.astype(np.float64)
    mean_x, mean_y = uniform_filter(x, _WINDOW), uniform_filter(y, _WINDOW)
    sample = _WINDOW**2 / (_WINDOW**2 - 1)
    variance_x = sample * (uniform_filter(x * x, _WINDOW) - mean_x**2)
    variance_y = sample * (uniform_filter(y * y, _WINDOW) - mean_y**2)
    covariance = sample * (uniform_filter(x * y, _WINDOW) - mean_x * mean_y)
    c1, c2 = (_K1 * 255) ** 2, (_K2 * 255) ** 2
    quality = (2 * mean_x * mean_y + c1) * (2 * covariance + c2)
    quality /= (mean_x**2 + mean_y**2 + c1) * (variance_x + variance_y + c2)
    edge = _WINDOW // 2
    return float(quality[edge:-edge, edge:-edge].mean())
