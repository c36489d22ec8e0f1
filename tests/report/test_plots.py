"""Figures from tables: where names stand beside points."""

import pytest

from lmms_medtasks.report.drawing import canvas
from lmms_medtasks.report.plots import name_points


def boxes(figure, texts):
    """The boxes of texts in pixels, as drawn."""
    figure.draw_without_rendering()
    return [text.get_window_extent() for text in texts]


@pytest.mark.parametrize(
    "points",
    [
        [[50.0, 50.0], [56.0, 50.0]],  # another marker to the right
        [[50.0, 50.0], [56.0, 50.0], [44.0, 50.0], [54.0, 54.0]],
        [[98.0, 98.0], [1.0, 1.0]],  # at the edges
        [[60.9, 70.7], [62.0, 71.0], *([float(x), 71.0] for x in range(52, 72))],  # within a bar
    ],
)
def test_a_name_touches_no_marker_and_no_other_name(points):
    with canvas(6.4, 4.9) as figure:
        axes = figure.subplots()
        axes.set(xlim=(0, 102), ylim=(0, 102))
        named = {"Some-Model-7B": points[0], "Other-Model-8B": points[1]}
        name_points(figure, axes, named, points)
        first, second = boxes(figure, axes.texts)
        window = axes.get_window_extent()
        for x, y in axes.transData.transform(points):
            for box in (first, second):
                assert not (box.x0 - 3 < x < box.x1 + 3 and box.y0 - 3 < y < box.y1 + 3)
        assert not first.overlaps(second)
        assert all(window.x0 <= box.x0 and box.x1 <= window.x1 + 2 for box in (first, second))
