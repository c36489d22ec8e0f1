"""Charts with a row a name: where marks stand, what is said of them, and texts that could be markup."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from html import unescape
from urllib.parse import parse_qsl

import pytest

from lmms_medtasks.report.charts import (
    HeatCell,
    HeatRow,
    PointRow,
    RangeRow,
    ShareRow,
    axis_of,
    heat_chart,
    point_chart,
    range_chart,
    share_chart,
    with_links,
)
from lmms_medtasks.report.charts.points import MOST
from lmms_medtasks.report.charts.svg import lines_of
from lmms_medtasks.report.document import Cell

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '</svg><script>alert("&")</script>'


def marks(text, kind):
    """The marks of a kind that have a tooltip: each with its percent from the plot's left end and what is said."""
    found = []
    root = ElementTree.fromstring(text)
    above = {child: parent for parent in root.iter() for child in parent}
    for each in root.iter():
        title = each.find(f"{SVG}title")
        if each.get("class") == kind and title is not None:
            x = each.get("cx") or each.get("x") or above[each].get("x")
            found.append((float(x.rstrip("%")), title.text))
    return found


def texts(text):
    return {each.text: each.get("class") for each in ElementTree.fromstring(text).iter(f"{SVG}text")}


def test_range_chart_places_numbers_in_proportion():
    rows = [
        RangeRow("own", (100.0, 75.0, 50.0), 40.0, 60.0),
        RangeRow("paper", (100.0, None, 20.0), published=True),
    ]
    text = range_chart("t", ("clean", "mild", "severe"), rows, chance=25.0)
    # The least number is 20, so the scale is from 20 to 100: 75 stands at 55 / 80, 50 at 30 / 80.
    assert marks(text, "own-open") == [(100.0, "own, clean: 100.0 %")]
    assert marks(text, "light") == [(68.75, "own, mild: 75.0 %")]
    assert marks(text, "own") == [(37.5, "own, severe: 50.0 % [40.0, 60.0]")]
    assert marks(text, "published") == [(100.0, "paper, clean: 100.0 %"), (0.0, "paper, severe: 20.0 %")]
    # The line of guessing leaves out the row that says what the rows below it are.
    (said,) = re.findall(r'y="(\d+)" class="soft">published in the paper', text)
    lines = re.findall(r'<line x1="[^"]+" y1="(\d+)" x2="[^"]+" y2="(\d+)" class="guess"/>', text)
    assert len([each for each in lines if int(each[1]) - int(each[0]) > 14]) == 2
    assert not any(int(top) < int(said) < int(bottom) for top, bottom in lines)
    bars = [each for each in ElementTree.fromstring(text).iter(f"{SVG}line") if each.get("class") == "interval"]
    assert (bars[0].get("x1"), bars[0].get("x2")) == ("25%", "50%")  # 40 and 60, and two caps
    assert len(bars) == 3
    assert "−50.0" in text and "guessing, 25.0" in text


def test_a_chart_says_its_gist_to_who_cannot_see_it():
    text = range_chart("Fall", ("clean", "severe"), [RangeRow("own", (90.0, 50.0))], chance=25.0)
    root = ElementTree.fromstring(text)
    assert root.get("role") == "img"
    assert root.get("aria-label") == "Fall. Percent: own clean 90.0, severe 50.0. Guessing gets 25.0."


def test_point_chart_shows_each_source_and_what_is_missing():
    rows = [
        PointRow("I", (Cell(50.0, 40.0, 60.0), Cell(None)), (("GPT", 80.0),), 25.0),
        PointRow("II", (Cell(None),) * 2),
    ]
    text = point_chart("t", ["a", "b"], rows, "percent")
    assert marks(text, "own") == [(50.0, "I: a, 50.0 % [40.0, 60.0]")]
    assert marks(text, "own-open") == []
    assert marks(text, "published") == [(80.0, "I: GPT, published, 80.0 %")]
    assert "–" in texts(point_chart("t", ["a"], [PointRow("I", (Cell(None),))], "percent"))


def test_point_chart_of_changes_has_a_scale_of_its_own():
    rows = [PointRow("noise", (Cell(-0.3, -0.4, -0.2), Cell(-0.05)))]
    text = point_chart("t", ["level 1", "level 2"], rows, axis_of((0.0, -0.4)), zero=0.0)
    # From -0.4 to 0 in steps of 0.1: -0.3 stands at a quarter, -0.05 at seven eighths.
    assert marks(text, "own") == [(25.0, "noise: level 1, -0.30 [-0.40, -0.20]")]
    assert marks(text, "own-open") == [(87.5, "noise: level 2, -0.05")]


def test_of_many_models_the_best_are_named_and_the_others_have_tooltips():
    names = [f"model {number}" for number in range(MOST + 3)]
    rows = [PointRow("I", tuple(Cell(float(10 * number)) for number in range(MOST + 3)))]
    text = point_chart("t", names, rows, "percent")
    assert {said for _, said in marks(text, "light")} == {
        f"I: model {number}, {10 * number}.0 %" for number in range(3)
    }
    assert "3 more" in texts(text) and "model 0" not in texts(text) and "model 9" in texts(text)


def test_cells_of_a_heat_chart_lead_to_their_questions_where_there_are_pages_of_them():
    cell = HeatCell(-3.0, 9, 0.5, "said", "a_task", (("mid", "A & B"), ("kind", HOSTILE)))
    text = heat_chart("t", ["A", "B"], [HeatRow("r", (cell, HeatCell(1.0, 9, 0.5)))])
    assert "href" not in text and text.count("<a ") == 1
    linked = with_links(text, lambda query: f"../q.html?model=m&{query}")
    [address] = re.findall(r'href="([^"]*)"', linked)
    asked = parse_qsl(unescape(address).partition("?")[2])
    assert asked == [("model", "m"), ("task", "a_task"), ("tag", "mid:A & B"), ("tag", f"kind:{HOSTILE}")]


def test_heat_chart_marks_what_few_questions_stand_behind():
    rows = [
        HeatRow(
            "ghosting", (HeatCell(-57.0, 20, 0.95, "said"), HeatCell(-100.0, 4, 1.0), HeatCell(None, 0, 0.0)), "33.3"
        )
    ]
    text = heat_chart("t", ["A", "B", "C"], rows, "right (%)")
    boxes = list(ElementTree.fromstring(text).iter(f"{SVG}rect"))
    # 0.72 x 0.95 = 0.684; half of 0.72 where there are fewer than five questions.
    assert [each.get("fill-opacity") for each in boxes] == ["0.68", "0.36"]
    assert [each.get("x") for each in boxes] == ["0.2%", "33.53%"]
    found = texts(text)
    assert found["−57"] == "value" and found["−100"] == "few" and found["·"] == "soft" and found["33.3"] == "strong"


def test_shares_are_bars_one_after_the_other():
    text = share_chart("t", ("win", "tie", "loss"), [ShareRow("SLAKE", (50.0, 30.0, 20.0))])
    bars = [each for each in ElementTree.fromstring(text).iter(f"{SVG}rect") if each.find(f"{SVG}title") is not None]
    assert [(each.get("x"), each.get("width")) for each in bars] == [("0%", "50%"), ("50%", "30%"), ("80%", "20%")]


@pytest.mark.parametrize(
    "text",
    [
        range_chart(HOSTILE, ("a", HOSTILE), [RangeRow(HOSTILE, (1.0, 2.0))]),
        point_chart(HOSTILE, [HOSTILE], [PointRow(HOSTILE, (Cell(1.0),), ((HOSTILE, 2.0),))], HOSTILE),
        heat_chart(HOSTILE, [HOSTILE], [HeatRow(HOSTILE, (HeatCell(1.0, 9, 0.5, HOSTILE),), HOSTILE)], HOSTILE),
        share_chart(HOSTILE, (HOSTILE,) * 3, [ShareRow(HOSTILE, (50.0, 30.0, 20.0))]),
    ],
)
def test_texts_are_no_markup(text):
    found = ElementTree.fromstring(text)
    assert "script" not in {each.tag.removeprefix(SVG) for each in found.iter()}


def test_places_across_are_percent_so_that_texts_do_not_shrink():
    text = range_chart("t", ("a", "b"), [RangeRow("own", (90.0, 50.0), 40.0, 60.0)])
    root = ElementTree.fromstring(text)
    assert root.get("viewBox") is None and root.get("width") == "100%"
    for each in root.iter():
        assert all((each.get(name) or "0%").endswith("%") for name in ("x1", "x2", "cx")), each.attrib


def test_all_right_still_has_a_scale():
    ((place, said),) = marks(range_chart("t", ("a", "b"), [RangeRow("own", (100.0, 100.0))]), "own")
    assert said == "own, b: 100.0 %" and place == 100.0


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("III Radiological Image Interpretation", ["III Radiological", "Image Interpretation"]),
        ("medtasks_observer", ["medtasks_", "observer"]),
        ("a" * 18, ["a" * 15, "aaa"]),
        ("medtasks_observer (10 trials)", ["medtasks_observer", "(10 trials)"]),
        ("medtasks_observers (10 trials)", ["medtasks_", "observers (10 trials)"]),
    ],
)
def test_a_long_name_is_broken_where_a_word_ends(name, lines):
    assert lines_of(name, 15, 27) == lines


def test_a_long_name_has_a_shorter_form_for_a_phone_that_keeps_its_end():
    rows = [RangeRow(f"InternVL3-Instruct({size}B)", (1.0, 2.0), published=True) for size in (38, 78)]
    found = list(ElementTree.fromstring(range_chart("t", ("a", "b"), rows)).iter(f"{SVG}text"))
    narrow = ["".join(each.itertext()) for each in found if "narrow" in (each.get("class") or "")]
    shown = [text.partition("InternVL3-Instruct")[0] for text in narrow]
    assert len(set(shown)) == 2 and all(len(each) <= 18 and "…" in each for each in shown)
    assert any(text.endswith("8B)") for text in shown)
