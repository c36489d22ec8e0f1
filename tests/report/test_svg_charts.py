"""Charts that are written as SVG: where marks stand, what is said of them, and texts that could be markup."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.svg_charts import (
    WIDTH,
    HeatCell,
    HeatRow,
    PointRow,
    RangeRow,
    heat_chart,
    point_chart,
    range_chart,
)

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '</svg><script>alert("&")</script>'


def marks(text, kind):
    """The marks of a kind that have a tooltip: each with its place from left and what is said."""
    found = []
    for each in ElementTree.fromstring(text):
        title = each.find(f"{SVG}title")
        if each.get("class") == kind and title is not None and each.tag != f"{SVG}text":
            x = each.get("cx") or each.get("x") or (each.get("points") or "").partition(",")[0]
            found.append((float(x), title.text))
    return found


def test_range_chart_places_numbers_in_proportion():
    rows = [
        RangeRow("own", (100.0, 75.0, 50.0), 40.0, 60.0),
        RangeRow("paper", (100.0, None, 20.0), published=True),
    ]
    text = range_chart("t", ("clean", "mild", "severe"), rows, chance=25.0)
    ((ring, _),), ((disc, said),) = marks(text, "ring"), marks(text, "disc")
    (diamond, _), *_ = marks(text, "between")
    assert said == "own, severe: 50.0 %"
    # The mild number is halfway; a diamond's first point is its tip, in the middle.
    assert diamond == pytest.approx((ring + disc) / 2, abs=0.2)
    assert [said for _, said in marks(text, "published")] == ["paper, clean: 100.0 %", "paper, severe: 20.0 %"]
    assert "−50.0" in text and "guessing, 25.0" in text
    assert marks(text, "published")[1][0] < disc < marks(text, "published")[0][0] == pytest.approx(ring)


def test_point_chart_shows_each_source_and_what_is_missing():
    rows = [
        PointRow("I", (Cell(50.0, 40.0, 60.0), Cell(None)), (("GPT", 80.0),), 25.0),
        PointRow("II", (Cell(None),) * 2),
    ]
    text = point_chart("t", ["a", "b"], rows, "percent")
    assert [said for _, said in marks(text, "disc")] == ["a: 50.0 % [40.0, 60.0]"]
    assert marks(text, "ring") == []
    assert [said for _, said in marks(text, "published")] == ["GPT, published: 80.0 %"]
    assert "–" in point_chart("t", ["a"], [PointRow("I", (Cell(None),))], "percent")


def test_heat_chart_marks_what_few_questions_stand_behind():
    rows = [
        HeatRow(
            "ghosting", (HeatCell(-57.0, 20, 0.95, "said"), HeatCell(-100.0, 4, 1.0), HeatCell(None, 0, 0.0)), "33.3"
        )
    ]
    text = heat_chart("t", ["A", "B", "C"], rows, "right (%)")
    boxes = [each for each in ElementTree.fromstring(text) if each.tag == f"{SVG}rect"]
    # 0.72 x 0.95 = 0.684; half of 0.72 where there are fewer than five questions.
    assert [each.get("fill-opacity") for each in boxes] == ["0.68", "0.36"]
    texts = {each.text: each.get("class") for each in ElementTree.fromstring(text) if each.tag == f"{SVG}text"}
    assert texts["−57"] == "value" and texts["−100"] == "few" and texts["·"] == "soft" and texts["33.3"] == "strong"


@pytest.mark.parametrize(
    "text",
    [
        range_chart(HOSTILE, ("a", HOSTILE), [RangeRow(HOSTILE, (1.0, 2.0))]),
        point_chart(HOSTILE, [HOSTILE], [PointRow(HOSTILE, (Cell(1.0),), ((HOSTILE, 2.0),))], HOSTILE),
        heat_chart(HOSTILE, [HOSTILE], [HeatRow(HOSTILE, (HeatCell(1.0, 9, 0.5, HOSTILE),), HOSTILE)], HOSTILE),
    ],
)
def test_texts_are_no_markup(text):
    found = ElementTree.fromstring(text)
    assert "script" not in {each.tag.removeprefix(SVG) for each in found.iter()}
    assert found.get("viewBox").split()[2] == f"{WIDTH}"


def test_chart_of_a_model_that_is_always_right_has_an_axis():
    """Without a lower number the axis began at 100 and had no length."""
    drawn = range_chart("t", ["clean", "severe"], [RangeRow("model", (100.0, 100.0), None, None)])
    assert ElementTree.fromstring(drawn).tag == f"{SVG}svg"
