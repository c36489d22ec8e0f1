"""New image grids with an outlier, in the form of MedObvious: building, writing, and checking them for leaks."""

from __future__ import annotations

from lmms_medtasks.grid_positions import GridSize, parse_size
from lmms_medtasks.grids.build_grids import GridItem, build_items
from lmms_medtasks.grids.plan import KINDS
from lmms_medtasks.grids.pool import Category, Picture
from lmms_medtasks.grids.write_grids import write_grid_set

__all__ = ["KINDS", "Category", "GridItem", "Picture", "GridSize", "build_items", "parse_size", "write_grid_set"]
