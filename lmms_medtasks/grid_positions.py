"""A square grid's size and the names of its positions, for makers of grids and parsers of replies."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lmms_medtasks.errors import UserError

SIDES = (2, 3, 4, 5)

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
class GridSize:
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


def parse_size(text: str) -> GridSize:
    """The size that "2x2", "3×3" or "4*4" names; UserError for anything but a square of 2 to 5 panels a side."""
    match = re.fullmatch(r"\s*(\d+)\s*[x×X*]\s*(\d+)\s*", text)
    if not match or match.group(1) != match.group(2) or int(match.group(1)) not in SIDES:
        raise UserError(f"A grid of size {text!r} cannot be made. Allowed: {', '.join(f'{n}x{n}' for n in SIDES)}.")
    return GridSize(int(match.group(1)))
