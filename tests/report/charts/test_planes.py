"""Charts of one number against another: where points, lines and names stand."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from lmms_medtasks.report.charts.planes import Guide, Panel, Point, Series, plane_chart
from lmms_medtasks.report.charts.svg import DISC, Axis, percent_axis, places_axis

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
    assert ">95 % interval<" in plane_chart("t", [panel]).replace("95%", "95 %")  # the legend says what bars are
    text = plane_chart("t", [panel], height=200, entries=())
    # Without titles and legend the plot begins at 14 pixels: 75 % is a quarter of 200 further down.
    assert circles(text) == [(25.0, 64.0, "said")]
    assert ("25%", 114.0, "25%", 14.0) in lines(text, "interval")  # from 50 up to 100
    assert ("0%", 64.0, "50%", 64.0) in lines(text, "interval")
    assert lines(text, "guess") == [("0%", 214.0, "100%", 14.0)]


def test_lines_join_points_and_end_at_their_names():
    x, y = places_axis(["a", "b"]), Axis(0.5, 2.5, (1.0, 2.0))
    series = Series("own", (Point(0, 1, "one"), Point(1, 2, "two")), DISC, "joined", True)
    text = plane_chart("t", [Panel(x, y, (series,))], height=100)
    assert circles(text) == [(25.0, 89.0, "one"), (75.0, 39.0, "two")]
    assert lines(text, "joined") == [("25%", 89.0, "75%", 39.0)]
    names = [each for each in ElementTree.fromstring(text).iter(f"{SVG}text") if each.text == "own"]
    assert [(each.get("x"), each.get("y")) for each in names] == [("75%", "43")]


def test_texts_are_no_markup():
    series = Series(HOSTILE, (Point(1, 2, HOSTILE, label=HOSTILE),), DISC, "joined", True)
    x = Axis(0, 2, (1,), HOSTILE, (HOSTILE,))
    text = plane_chart(HOSTILE, [Panel(x, x, (series, Series("b", ())), HOSTILE, (Guide(0, 0, 1, 1, HOSTILE),))])
    assert "script" not in {each.tag.removeprefix(SVG) for each in ElementTree.fromstring(text).iter()}


def test_a_name_that_stands_far_from_its_mark_has_a_line_that_leads_to_it():
    crowd = tuple(Point(x, y, "") for x, y in ((46, 50), (54, 50), (50, 40), (50, 60)))
    named = Point(50, 50, "said", label="a name")
    panel = Panel(percent_axis(), percent_axis(), (Series("", crowd, DISC), Series("", (named,), DISC)))
    assert 'class="leader"' in plane_chart("t", [panel], height=120)
    alone = Panel(percent_axis(), percent_axis(), (Series("", (named,), DISC),))
    assert "leader" not in plane_chart("t", [alone], height=120)
