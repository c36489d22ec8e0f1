"""Where panels lie, and the red box."""

import numpy as np
import pytest
from PIL import Image

from lmms_medtasks.grid_positions import SIDES, Size
from lmms_medtasks.grids import layout


@pytest.mark.parametrize("side", SIDES)
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
