"""The geometry of a grid: where its panels lie, and the red box."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lmms_medtasks.grid_positions import Size

if TYPE_CHECKING:
    from PIL.Image import Image

GUTTER = 8
"""Pixels between panels and around them."""

GUTTER_COLOUR = (255, 255, 255)
BOX_COLOUR = (255, 0, 0)
BOX_WIDTH = 5
"""The red box lies in the gutter: it covers no pixel of a panel."""


def panel_box(size: Size, index: int, panel: int) -> tuple[int, int, int, int]:
    """Left, top, right, bottom (exclusive) in pixels of panel ``index`` (reading order, from 0)."""
    row, column = divmod(index, size.side)
    left, top = GUTTER + column * (panel + GUTTER), GUTTER + row * (panel + GUTTER)
    return left, top, left + panel, top + panel


def compose(panels: Sequence[Image], size: Size) -> Image:
    """One RGB picture of square panels of the same side, in reading order, with gutters."""
    from PIL import Image as Images

    panel = panels[0].width
    whole = GUTTER + size.side * (panel + GUTTER)
    grid = Images.new("RGB", (whole, whole), GUTTER_COLOUR)
    for index, picture in enumerate(panels):
        grid.paste(picture.convert("RGB"), panel_box(size, index, panel)[:2])
    return grid


def boxed(grid: Image, size: Size, index: int, panel: int) -> Image:
    """A copy of ``grid`` with a red box around panel ``index``."""
    from PIL import ImageDraw

    marked = grid.copy()
    left, top, right, bottom = panel_box(size, index, panel)
    corners = (left - BOX_WIDTH, top - BOX_WIDTH, right - 1 + BOX_WIDTH, bottom - 1 + BOX_WIDTH)
    ImageDraw.Draw(marked).rectangle(corners, outline=BOX_COLOUR, width=BOX_WIDTH)
    return marked
