"""Charts of one number against another: where points, lines and names stand."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from lmms_medtasks.report.charts import (
    DISC,
    Axis,
    Guide,
    Panel,
    Point,
    Series,
    axis_of,
    logarithmic_axis,
    percent_axis,
    places_axis,
    plane_chart,
)
from lmms_medtasks.report.charts.labels import box_of, name_places, spread

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '</svg><script>alert("&")</script>'


def circles(text):
    """Percent across, pixels down and tooltip of each disc."""
    return [
        (float(each.get("cx").rstrip("%")), float(each.get("cy")), each.find(f"{SVG}title").text)
        for each in ElementTree.fromstring(text).iter(f"{SVG}circle")
        if each.find(f"{SVG}title") is not None
    ]


def lines(text, kind):
    found = (each for each in ElementTree.fromstring(text).iter(f"{SVG}line") if each.get("class") == kind)
    return [(each.get("x1"), float(each.get("y1")), each.get("x2"), float(each.get("y2"))) for each in found]


def test_points_bars_and_guides_stand_in_proportion():
    point = Point(25, 75, "said", low=50, high=100, x_low=0, x_high=50)
    panel = Panel(percent_axis(), percent_axis(), (Series("own", (point,)),), guides=(Guide(0, 0, 100, 100),))
    text = plane_chart("t", [panel], height=200)
    # Without titles and legend the plot begins at 14 pixels: 75 % is a quarter of 200 further down.
    assert circles(text) == [(25.0, 64.0, "said")]
    assert ("25%", 114.0, "25%", 14.0) in lines(text, "interval")  # from 50 up to 100
    assert ("0%", 64.0, "50%", 64.0) in lines(text, "interval")
    assert lines(text, "guess") == [("0%", 214.0, "100%", 14.0)]


def test_ranks_have_the_first_on_top_and_lines_join_points():
    x, y = places_axis(["a", "b"]), Axis(0.5, 2.5, (1.0, 2.0))
    series = Series("own", (Point(0, 1, "one"), Point(1, 2, "two")), DISC, "joined", True)
    text = plane_chart("t", [Panel(x, y, (series,), upside_down=True)], height=100)
    assert circles(text) == [(25.0, 39.0, "one"), (75.0, 89.0, "two")]
    assert lines(text, "joined") == [("25%", 39.0, "75%", 89.0)]
    names = [each for each in ElementTree.fromstring(text).iter(f"{SVG}text") if each.text == "own"]
    assert [(each.get("x"), each.get("y")) for each in names] == [("75%", "93")]


def test_axes_have_round_ticks_and_ratios():
    assert axis_of((0.0, 0.37)).ticks == (0.0, 0.1, 0.2, 0.3, 0.4)
    assert axis_of((-12.0, 3.0)).ticks == (-15.0, -10.0, -5.0, 0.0, 5.0)
    assert axis_of(()).ticks[0] == 0.0 and axis_of((5.0,)).low < 5.0 < axis_of((5.0,)).high
    axis = logarithmic_axis((2.0, 8.0))
    assert axis.place(4.0) == pytest.approx(50.0)  # as far from 2 as from 8
    assert axis.ticks == (3.0, 10.0)


def test_numbers_beyond_an_axis_stand_at_its_end():
    assert (percent_axis().place(120), percent_axis().place(-5)) == (100.0, 0.0)


@pytest.mark.parametrize(
    "points",
    [
        [(50.0, 50.0), (56.0, 50.0)],  # another mark to the right
        [(50.0, 50.0), (56.0, 50.0), (44.0, 50.0), (54.0, 54.0)],
        [(98.0, 98.0), (1.0, 1.0)],  # at the edges
        [(60.9, 70.7), (62.0, 71.0), *((float(x), 71.0) for x in range(52, 72))],  # within a bar
    ],
)
@pytest.mark.parametrize("width", [290.0, 600.0], ids=["phone", "wide"])
def test_a_name_touches_no_mark_and_no_other_name(points, width):
    height = 320.0
    marked = [(x, height * (1 - y / 100)) for x, y in points]
    named = [("Some-Model-7B\n12.3, loses 4.5", *marked[0]), ("Other-Model-8B", *marked[1])]
    places = name_places(named, marked, [290.0, 600.0], height)
    boxes = [box_of(name, width * x / 100, y, place) for (name, x, y), place in zip(named, places, strict=True)]
    for left, top, right, bottom in boxes:
        assert 0 <= left and right <= width and 0 <= top and bottom <= height
        assert not [(x, y) for x, y in marked if left - 3 < width * x / 100 < right + 3 and top - 3 < y < bottom + 3]
    one, other = boxes
    assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def test_names_at_lines_ends_keep_their_order_and_distance():
    moved = spread([10.0, 11.0, 12.0, 90.0], 14.0, 0.0, 100.0)
    assert moved == [10.0, 24.0, 38.0, 90.0]
    assert spread([99.0, 98.0], 14.0, 0.0, 100.0) == [100.0, 86.0]
    assert spread([50.0] * 11, 14.0, 0.0, 100.0)[-1] <= 100.0


def test_texts_are_no_markup():
    series = Series(HOSTILE, (Point(1, 2, HOSTILE, label=HOSTILE),), DISC, "joined", True)
    x = Axis(0, 2, (1,), HOSTILE, (HOSTILE,))
    text = plane_chart(HOSTILE, [Panel(x, x, (series, Series("b", ())), HOSTILE, (Guide(0, 0, 1, 1, HOSTILE),))])
    assert "script" not in {each.tag.removeprefix(SVG) for each in ElementTree.fromstring(text).iter()}
