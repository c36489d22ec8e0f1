"""Pictures of degradations side by side: one PNG, or one HTML page that needs no other file."""

from __future__ import annotations

import base64
import html
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from lmms_medtasks.degradations.similarity import psnr, ssim

_TEXT, _PAPER, _FAINT = (24, 24, 24), (255, 255, 255), (110, 110, 110)
_GAP = 10
_LINE = 15
_PER_LINE = 6


@dataclass(frozen=True)
class Tile:
    """A picture (8-bit RGB) with a title above it and lines of text under it."""

    picture: Image.Image
    title: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Section:
    """A picture and what became of it, under one heading."""

    heading: str
    first: Tile
    tiles: tuple[Tile, ...]


def distance(clean: Image.Image, degraded: Image.Image) -> str:
    """``PSNR 23.4 dB, SSIM 0.81`` of two 8-bit RGB pictures of the same size."""
    before, after = np.asarray(clean), np.asarray(degraded)
    decibels, likeness = psnr(before, after), ssim(before, after)
    first = "equal" if math.isinf(decibels) else f"PSNR {decibels:.1f} dB"
    return first if math.isnan(likeness) or math.isinf(decibels) else f"{first}, SSIM {likeness:.2f}"


def sheet(sections: Sequence[Section], side: int = 190, per_line: int = _PER_LINE) -> Image.Image:
    """All sections on one picture, each tile shrunk into ``side`` x ``side`` pixels (small ones are not enlarged).

    The first tile of a section stands to the left, the others beside it, ``per_line`` to a line.
    """
    font, bold = ImageFont.load_default(12), ImageFont.load_default(17)
    width = _GAP + (1 + per_line) * (side + _GAP)
    placed: list[tuple[int, int, int, Tile, Image.Image]] = []
    headings: list[tuple[int, str]] = []
    y = _GAP
    for section in sections:
        headings.append((y, section.heading))
        y += 2 * _LINE
        for start in range(0, len(section.tiles), per_line):
            row = list(enumerate(section.tiles[start : start + per_line], start=1))
            row = [(0, section.first), *row] if start == 0 else row
            fitted = [(column, tile, _fitted(tile.picture, side)) for column, tile in row]
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


def page(title: str, introduction: str, sections: Sequence[Section], side: int = 320) -> str:
    """All sections as one HTML page, pictures and style inside it, each picture at most ``side`` pixels a side."""
    body = []
    for section in sections:
        tiles = "".join(_figure(tile, side) for tile in (section.first, *section.tiles))
        body.append(f"<section><h2>{html.escape(section.heading)}</h2><div class=tiles>{tiles}</div></section>")
    return _PAGE.format(
        title=html.escape(title), introduction=html.escape(introduction), sections="\n".join(body), side=side
    )


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body {{ font: 15px/1.4 system-ui, sans-serif; margin: 2rem; color: #181818; background: #fff }}
.tiles {{ display: flex; flex-wrap: wrap; gap: 1rem }}
figure {{ margin: 0; width: {side}px }}
img {{ max-width: 100%; display: block }}
figcaption {{ font-size: 13px }}
figcaption span {{ color: #6e6e6e; display: block }}
</style></head><body>
<h1>{title}</h1>
<p>{introduction}</p>
{sections}
</body></html>
"""


def _figure(tile: Tile, side: int) -> str:
    buffer = io.BytesIO()
    _fitted(tile.picture, side).save(buffer, "PNG", optimize=True)
    source = "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
    lines = "".join(f"<span>{html.escape(line)}</span>" for line in tile.lines)
    name = html.escape(tile.title)
    return f'<figure><img alt="{name}" src="{source}"><figcaption>{name}{lines}</figcaption></figure>'


def _fitted(picture: Image.Image, side: int) -> Image.Image:
    small = picture.copy()
    small.thumbnail((side, side), Image.Resampling.LANCZOS)
    return small
