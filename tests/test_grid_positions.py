"""Sizes of grids, and the names of their positions."""

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.grid_positions import GridSize, parse_size


@pytest.mark.parametrize(("text", "side"), [("2x2", 2), (" 3×3 ", 3), ("4*4", 4), ("5X5", 5)])
def test_sizes(text, side):
    assert parse_size(text) == GridSize(side)
    assert str(parse_size(text)) == f"{side}x{side}"


@pytest.mark.parametrize("text", ["1x1", "6x6", "2x3", "four", "", "2x"])
def test_other_sizes_are_refused(text):
    with pytest.raises(UserError, match="2x2, 3x3, 4x4, 5x5"):
        parse_size(text)


def test_positions_in_reading_order():
    assert GridSize(2).positions == ("top-left", "top-right", "bottom-left", "bottom-right")
    assert GridSize(3).positions[4] == "middle-center"
    # 4×4: index 6 is in the second row (6 = 4 + 2), third column.
    assert GridSize(4).positions[6] == "row 2, column 3"
    assert len(set(GridSize(5).positions)) == 25
