"""The panel whose pixel statistics are furthest."""

import numpy as np
import pytest
from PIL import Image

from lmms_medtasks.baselines import pixel_outlier
from lmms_medtasks.grid_positions import NONE_OPTION, SIDES, GridSize
from lmms_medtasks.grids import panels
from lmms_medtasks.grids.tasks import list_options, make_question
from lmms_medtasks.seeding import seeded_generator

PANEL = 96


def panel(seed, level=100, noise=6):
    rng = seeded_generator("test panel", seed)
    grey = level + noise * rng.standard_normal((PANEL, PANEL)) + np.linspace(-20, 20, PANEL)
    return Image.fromarray(np.clip(grey, 0, 255).astype(np.uint8)).convert("RGB")


def grid(size, outlier=None):
    return panels.compose_grid([panel(i, *((170, 25) if i == outlier else ())) for i in range(size.panels)], size)


@pytest.mark.parametrize("side", SIDES)
def test_all_five_formats(side):
    size = GridSize(side)
    outlier = size.panels - 2
    with_one, without = grid(size, outlier), grid(size)
    letters = list_options(size)
    for task_type in ("detection_mcq", "referring_mcq"):
        letter = pixel_outlier.answer_grid_question(with_one, make_question(task_type, size, "another modality"))
        assert letters[letter] == size.positions[outlier]
    for task_type in ("detection_open", "referring_open"):
        assert pixel_outlier.answer_grid_question(with_one, make_question(task_type, size)) == size.positions[outlier]
    asked = make_question("visual_referring", size)
    assert pixel_outlier.answer_grid_question(panels.draw_box(with_one, size, outlier, PANEL), asked) == "yes"
    assert pixel_outlier.answer_grid_question(panels.draw_box(with_one, size, 0, PANEL), asked) == "no"
    assert pixel_outlier.answer_grid_question(panels.draw_box(without, size, 1, PANEL), asked) == "no"
    assert letters[pixel_outlier.answer_grid_question(without, make_question("detection_mcq", size))] == NONE_OPTION
    assert pixel_outlier.answer_grid_question(without, make_question("detection_open", size)) == "none"
    # The question says that there is one.
    assert pixel_outlier.answer_grid_question(without, make_question("referring_open", size)) in size.positions


def test_the_size_from_the_prompt_the_options_or_the_gutters():
    image = grid(GridSize(3), 4)
    assert pixel_outlier.side_of(image, "In this 3 x 3 grid", {}) == 3
    assert pixel_outlier.side_of(image, "Which?", list_options(GridSize(4))) == 4
    for side in SIDES:
        assert pixel_outlier.side_of(grid(GridSize(side), 1), "Where is the outlier?", {}) == side
    assert pixel_outlier.side_of(panel(0), "What is shown?", {}) is None
    assert pixel_outlier.answer_grid_question(panel(0), "What is shown?") == ""


@pytest.mark.parametrize("side", SIDES)
def test_the_red_box_is_found_around_every_panel(side):
    size = GridSize(side)
    plain = grid(size)
    assert pixel_outlier.boxed_cell(plain, side) == -1
    found = [pixel_outlier.boxed_cell(panels.draw_box(plain, size, index, PANEL), side) for index in range(size.panels)]
    assert found == list(range(size.panels))


def test_the_answer_does_not_depend_on_where_the_outlier_is():
    size = GridSize(2)
    assert [
        pixel_outlier.answer_grid_question(grid(size, i), make_question("detection_mcq", size)) for i in range(4)
    ] == list("ABCD")


def test_distances_by_hand():
    # Points 0, 1, 2, 10 on a line: medians of (1, 2, 10), (1, 1, 9), (2, 1, 8), (10, 9, 8).
    assert pixel_outlier.median_distances(np.array([[0.0], [1.0], [2.0], [10.0]])).tolist() == [2, 1, 2, 9]
    assert pixel_outlier.is_far_enough(np.array([2.0, 1.0, 2.0, 9.0]))
    assert not pixel_outlier.is_far_enough(np.array([2.0, 2.0, 2.0, 3.0]))
    assert not pixel_outlier.is_far_enough(np.zeros(4))


def test_no_picture_no_answer():
    from lmms_medtasks.harness.baseline_models import PixelOutlierModel

    model = PixelOutlierModel()
    rng = seeded_generator("test")
    assert model.reply(make_question("detection_open", GridSize(2)), [], 0.0, rng) == ""
    asked = make_question("detection_mcq", GridSize(2))
    assert model.reply(asked, [grid(GridSize(2), 3)], 0.0, rng) == "D"
