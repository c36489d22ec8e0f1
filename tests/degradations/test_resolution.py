"""Low resolution against SciPy's zoom, and by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from lmms_medtasks import degradations
from lmms_medtasks.degradations.resolution import ResolutionParameters, reduce_resolution
from lmms_medtasks.seeding import generator


@settings(deadline=None, max_examples=40)
@given(height=st.integers(2, 90), width=st.integers(2, 90), rows=st.integers(2, 60), columns=st.integers(2, 60))
def test_it_is_zoom_there_and_back(height, width, rows, columns):
    image = generator("resolution", height, width).integers(0, 256, (height, width), dtype=np.uint8)
    small = ndimage.zoom(image, (rows / height, columns / width), order=1, mode="nearest")
    expected = ndimage.zoom(small, (height / rows, width / columns), order=0, mode="nearest")
    record = ResolutionParameters(rows=rows, columns=columns)
    result = degradations.apply_parameters(image, "low_resolution", record)
    assert np.mean(result != expected) <= 0.002


def test_by_hand():
    # 5 pixels on a grid of 3: samples at 0, 2, 4; pixels 1 and 3 are half-way and take the sample above.
    image = np.array([[0, 10, 20, 30, 40]], np.float32) / 100
    result = reduce_resolution(image, ResolutionParameters(rows=1, columns=3))
    assert (result * 100).round(3).tolist() == [[0, 20, 20, 40, 40]]


@pytest.mark.parametrize(
    ("modality", "severity", "grid"),
    [("MRI", 1, 190), ("MRI", 2, 89), ("X-ray", 1, 611), ("X-ray", 2, 61)],
)
def test_grids_of_the_authors_images(modality, severity, grid):
    side = 266 if modality == "MRI" else 1024
    record = degradations.sample("low_resolution", severity=severity, seed=0, size=(side, side), modality=modality)
    assert record == ResolutionParameters(rows=grid, columns=grid)


@pytest.mark.parametrize("side", [64, 128, 266])
def test_the_last_row_and_column_are_not_black(side):
    # SciPy's default border loses them at 128 pixels: 90 steps of 127/90 end above 127.
    image = np.full((side, side), 200, np.uint8)
    assert (degradations.apply(image, "low_resolution", severity=1, modality="MRI") == 200).all()


@pytest.mark.parametrize("shape", [(1, 1), (1, 300), (300, 1), (3, 2)])
def test_tiny_sides(shape):
    image = generator("resolution").integers(0, 256, shape, dtype=np.uint8)
    assert degradations.apply(image, "low_resolution", severity=2, modality="X-ray").shape == shape
