"""The geometry of a grid: its sizes, the names of its positions, where its panels lie, and the red box."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lmms_medtasks.errors import UserError

if TYPE_CHECKING:
    from PIL.Image import Image

SIDES = (2, 3, 4, 5)
GUTTER = 8
"""Pixels between panels and around them."""

GUTTER_COLOUR = (255, 255, 255)
BOX_COLOUR = (255, 0, 0)
BOX_WIDTH = 5
"""The red box lies in the gutter: it covers no pixel of a panel."""

NONE_OPTION = "None — all images are the same"
"""The last option of every multiple-choice question, as in the release."""

_NAMES = {
    2: ("top-left", "top-right", "bottom-left", "bottom-right"),
    3: (
        "top-left", "top-center", "top-right", "middle-left", "middle-center", "middle-right",
        "bottom-left", "bottom-center", "bottom-right",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Size:
    """A square grid of ``side`` by ``side`` panels; ``str`` gives "2x2", ``shown`` the "2×2" of the questions."""

    side: int

    @property
    def panels(self) -> int:
        return self.side * self.side

    @property
    def shown(self) -> str:
        return f"{self.side}×{self.side}"

    @property
    def positions(self) -> tuple[str, ...]:
        """The positions' names in reading order: the release's for 2×2 and 3×3, "row 1, column 2" beyond."""
        if self.side in _NAMES:
            return _NAMES[self.side]
        return tuple(f"row {r}, column {c}" for r in range(1, self.side + 1) for c in range(1, self.side + 1))

    def __str__(self) -> str:
        return f"{self.side}x{self.side}"


def parse_size(text: str) -> Size:
    """The size that "2x2", "3×3" or "4*4" names; UserError for anything but a square of 2 to 5 panels a side."""
    match = re.fullmatch(r"\s*(\d+)\s*[x×X*]\s*(\d+)\s*", text)
    if not match or match.group(1) != match.group(2) or int(match.group(1)) not in SIDES:
        raise UserError(f"A grid of size {text!r} cannot be made. Allowed: {', '.join(f'{n}x{n}' for n in SIDES)}.")
    return Size(int(match.group(1)))


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
