"""Sizes, positions, panels and the red box."""

import numpy as np
import pytest
from PIL import Image

from lmms_medtasks.errors import UserError
from lmms_medtasks.grids import layout
from lmms_medtasks.grids.layout import Size, parse_size


@pytest.mark.parametrize(("text", "side"), [("2x2", 2), (" 3×3 ", 3), ("4*4", 4), ("5X5", 5)])
def test_sizes(text, side):
    assert parse_size(text) == Size(side)
    assert str(parse_size(text)) == f"{side}x{side}"


@pytest.mark.parametrize("text", ["1x1", "6x6", "2x3", "four", "", "2x"])
def test_other_sizes_are_refused(text):
    with pytest.raises(UserError, match="2x2, 3x3, 4x4, 5x5"):
        parse_size(text)


def test_positions_in_reading_order():
    assert Size(2).positions == ("top-left", "top-right", "bottom-left", "bottom-right")
    assert Size(3).positions[4] == "middle-center"
    # 4×4: index 6 is in the second row (6 = 4 + 2), third column.
    assert Size(4).positions[6] == "row 2, column 3"
    assert len(set(Size(5).positions)) == 25


@pytest.mark.parametrize("side", layout.SIDES)
def test_panels_are_where_they_are_said_to_be_and_the_box_covers_none(side):
    size, panel = Size(side), 40
    colours = [(10 * index, 5, 200 - 5 * index) for index in range(size.panels)]
    grid = layout.compose([Image.new("RGB", (panel, panel), colour) for colour in colours], size)
    boxed = layout.boxed(grid, size, size.panels - 2, panel)
    for picture in (grid, boxed):
        for index, colour in enumerate(colours):
            part = np.asarray(picture.crop(layout.panel_box(size, index, panel)))
            assert (part == colour).all()
    changed = np.argwhere((np.asarray(grid) != np.asarray(boxed)).any(axis=2))
    left, top, right, bottom = layout.panel_box(size, size.panels - 2, panel)
    assert changed.min(axis=0).tolist() == [top - layout.BOX_WIDTH, left - layout.BOX_WIDTH]
    assert changed.max(axis=0).tolist() == [bottom - 1 + layout.BOX_WIDTH, right - 1 + layout.BOX_WIDTH]
    assert (np.asarray(boxed)[tuple(changed.T)] == layout.BOX_COLOUR).all()
