"""Charts with a row a name: where marks stand, what is said of them, and texts that could be markup."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import replace

import pytest

from lmms_medtasks.report.cells import label_column
from lmms_medtasks.report.charts import Chart
from lmms_medtasks.report.charts.row_charts import MOST, name_lines
from lmms_medtasks.report.charts.svg import lines_of, text_width
from lmms_medtasks.report.document import Cell, Frame, FrameColumn, FrameRow, Kind

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '</svg><script>alert("&")</script>'


def row(name: str, *cells: Cell | float | None, kind: Kind = "run") -> FrameRow:
    made = (each if isinstance(each, Cell) else Cell(each) for each in cells)
    return FrameRow((Cell(name, href=f"models/{name}.html" if kind == "run" else ""), *made), kind)


def svg(
    kind: str, names: Sequence[str], rows: Sequence[FrameRow], *, unit: str = "%", small: bool = False, **more: object
) -> str:
    columns = (
        label_column("name"),
        *(FrameColumn(name, digits=1, unit=unit, signed=unit == "points") for name in names),
    )
    shown = names[:1] if kind == "bullets" else names
    chart = Chart(kind, "key", str(more.pop("title", "Title")), "", "table", shown, **more)  # type: ignore[arg-type]
    return chart.drawn(chart.marks_of(Frame("table", "Table", columns, tuple(rows))), small=small)


def marks(text: str, kind: str) -> list[tuple[float, str]]:
    """The marks of a kind that have a tooltip: each with its percent from the plot's left end and what is said."""
    found = []
    root = ElementTree.fromstring(text)
    above = {child: parent for parent in root.iter() for child in parent}
    for each in root.iter():
        title = each.find(f"{SVG}title")
        if each.get("class") == kind and title is not None:
            x = each.get("cx") or each.get("x") or above[each].get("x")
            found.append((float(str(x).rstrip("%")), str(title.text)))
    return found


def texts(text: str) -> dict[str | None, str | None]:
    return {each.text: each.get("class") for each in ElementTree.fromstring(text).iter(f"{SVG}text")}


def places(text: str, tag: str, kind: str, *names: str) -> list[tuple[str | None, ...]]:
    found = (each for each in ElementTree.fromstring(text).iter(f"{SVG}{tag}") if each.get("class") == kind)
    return [tuple(each.get(name) for name in names) for each in found]


def test_range_chart_places_numbers_in_proportion() -> None:
    rows = [
        row("own", 100, 75, Cell(50.0, 40.0, 60.0)),
        row("paper", 100, None, 20, kind="reference"),
        row("guessing", None, None, 25, kind="counts"),
    ]
    text = svg("ranges", ("clean", "mild", "severe"), rows)
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
    # From 40 to 60, and two caps.
    assert places(text, "line", "interval", "x1", "x2") == [("25%", "50%"), ("25%", "25%"), ("50%", "50%")]
    assert "−50.0" in text and "guessing, 25.0" in text
    assert re.findall(r'<a href="([^"]+)"', text) == ["models/own.html"]


def test_a_chart_says_its_gist_to_who_cannot_see_it() -> None:
    rows = [row("own", 90, 50), row("guessing", None, 25, kind="counts")]
    root = ElementTree.fromstring(svg("ranges", ("clean", "severe"), rows, title="Fall"))
    assert root.get("role") == "img"
    assert root.get("aria-label") == "Fall. Percent: own clean 90.0, severe 50.0. Guessing gets 25.0."


def test_point_chart_shows_each_series_and_what_is_missing() -> None:
    rows = [
        row("a", Cell(50.0, 40.0, 60.0), None),
        row("b", None, None),
        row("GPT", 80, None, kind="reference"),
        row("guessing", 25, None, kind="counts"),
    ]
    text = svg("points", ("I", "II"), rows, turned=True)
    assert marks(text, "own") == [(50.0, "I: a, 50.0 % [40.0, 60.0]")]
    assert marks(text, "own-open") == []
    assert marks(text, "published") == [(80.0, "I: GPT, published, 80.0 %")]
    assert "–" in texts(svg("points", ("I", "II"), [row("a", 50, None)], turned=True))


def test_point_chart_of_changes_has_a_scale_of_its_own() -> None:
    text = svg("points", ("level 1", "level 2"), [row("noise", Cell(-0.3, -0.4, -0.2), -0.05)], unit="points")
    # From -0.4 to 0 in steps of 0.1: -0.3 stands at a quarter, -0.05 at seven eighths.
    assert marks(text, "own") == [(25.0, "noise: level 1, -0.30 [-0.40, -0.20]")]
    assert marks(text, "own-open") == [(87.5, "noise: level 2, -0.05")]


def test_of_many_models_the_best_are_named_and_the_others_have_tooltips() -> None:
    rows = [row(f"model {number}", 10 * number) for number in range(MOST + 3)]
    text = svg("points", ("I",), rows, turned=True)
    assert {said for _, said in marks(text, "light")} == {
        f"I: model {number}, {10 * number}.0 %" for number in range(3)
    }
    assert "3 more" in texts(text) and "model 0" not in texts(text) and "model 9" in texts(text)


def test_heat_chart_marks_what_few_questions_stand_behind() -> None:
    chart = Chart("heat", "key", "t", "", "table", ("A", "B", "C"), total="right (%)")
    changes = (FrameColumn(name, signed=True, unit="points") for name in "ABC")
    columns = (label_column("name"), *changes, FrameColumn("right (%)"))
    cells = Cell("ghosting"), Cell(-57.0), Cell(-100.0), Cell(None), Cell(33.3)
    found = chart.marks_of(Frame("table", "t", columns, (FrameRow(cells),)))
    text = chart.drawn([replace(each, n=count) for each, count in zip(found, (20, 4, 0), strict=True)])
    # 0.72 x 57 / 60 = 0.684; half of 0.72 where there are fewer than five questions.
    assert places(text, "rect", "harm", "fill-opacity", "x") == [("0.68", "0.2%"), ("0.36", "33.53%")]
    said = texts(text)
    assert said["−57"] == "value" and said["−100"] == "few" and said["·"] == "soft" and said["33.3"] == "strong"


def test_what_compares_words_has_its_sign_and_no_colour_and_long_heads_are_whole() -> None:
    heads = ("VIII inconsistency", "several sources")
    text = svg("heat", heads, [row("m", Cell(80.0, mark="◊"), Cell(80.0, mark="‖"))])
    assert places(text, "rect", "score", "fill-opacity") == [("0.00",), ("0.58",)]
    assert {"80◊", "80"} <= texts(text).keys()
    narrow = [each for each, kind in texts(text).items() if kind == "head narrow"]
    assert narrow == list(heads) and ">inconsistency</tspan>" in text


def test_a_bullet_has_its_place_guessing_and_the_range_of_published_models() -> None:
    rows = [row("m", Cell(50.0, 40.0, 60.0)), row("guessing", 20, kind="counts")]
    rows += [row("p", number, kind="reference") for number in (30, 180)]
    text = svg("bullets", ("score",), rows, ends=(0.0, 200.0), small=True)
    assert marks(text, "own") == [(25.0, "m 50.0 % [40.0, 60.0], guessing 20.0, published models 30.0 to 180.0")]
    assert places(text, "line", "interval", "x1", "x2")[0] == ("20%", "30%")
    assert places(text, "rect", "range", "x", "width") == [("15%", "75%")]
    assert places(text, "line", "guess", "x1") == [("10%",)] and "guessing 20.0" in texts(text)
    assert 0 < len(marks(svg("bullets", ("score",), rows[:1]), "own")) == 1


@pytest.mark.parametrize(("guess", "has_end"), [(2, False), (50, True)])
def test_labels_of_a_bullet_do_not_touch(guess: float, has_end: bool) -> None:
    text = svg("bullets", ("score",), [row("m", 50), row("guessing", guess, kind="counts")], small=True)
    assert ("0" in texts(text)) is has_end


@pytest.mark.parametrize("kind", ["ranges", "points", "heat", "bullets"])
def test_texts_are_no_markup(kind: str) -> None:
    names = (HOSTILE, f"{HOSTILE}2", f"{HOSTILE}3")
    text = svg(kind, names, [row(HOSTILE, 50, 30, 20), row(HOSTILE, 5, 5, 5, kind="reference")], title=HOSTILE)
    found = ElementTree.fromstring(text)
    assert "script" not in {each.tag.removeprefix(SVG) for each in found.iter()}
    assert str(found.get("aria-label")).startswith(HOSTILE)


def test_places_across_are_percent_so_that_texts_do_not_shrink() -> None:
    root = ElementTree.fromstring(svg("ranges", ("a", "b"), [row("own", 90, Cell(50.0, 40.0, 60.0))]))
    assert root.get("viewBox") is None and root.get("width") == "100%"
    for each in root.iter():
        assert all((each.get(name) or "0%").endswith("%") for name in ("x1", "x2", "cx")), each.attrib


def test_all_right_still_has_a_scale() -> None:
    ((place, said),) = marks(svg("ranges", ("a", "b"), [row("own", 100, 100)]), "own")
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
def test_a_long_name_is_broken_where_a_word_ends(name: str, lines: list[str]) -> None:
    assert lines_of(name, 15, 27) == lines


def test_a_long_name_has_a_shorter_form_for_a_phone_that_keeps_its_end() -> None:
    rows = [row(f"InternVL3-Instruct({size}B)", 1, 2, kind="reference") for size in (38, 78)]
    found = list(ElementTree.fromstring(svg("ranges", ("a", "b"), rows)).iter(f"{SVG}text"))
    narrow = ["".join(each.itertext()) for each in found if "narrow" in (each.get("class") or "")]
    # Cut between words, not within one.
    assert [text.removesuffix(f"InternVL3-Instruct({size}B)") for text, size in zip(narrow, (38, 78), strict=True)] == [
        "InternVL3-…(38B)", "InternVL3-…(78B)",
    ]  # fmt: skip


def test_names_of_one_chart_are_cut_together_and_fit_their_lines() -> None:
    names = [
        "OpenGVLab/InternVL3-8B-hf",
        "OpenGVLab/InternVL3-14B-hf",
        "DeepSeek R1 0528",
        "FreedomIntelligence/HuatuoGPT",
    ]
    for two_lines in (False, True):
        lines = name_lines(names, is_bold=two_lines, two_lines=two_lines)
        for form, room in ((0, 163), (1, 104)):
            shown = [tuple(each[form]) for each in lines.values()]
            assert len(set(shown)) == len(names)
            assert all(text_width(each[-1]) * (1.1 if two_lines else 1) <= room for each in shown)
    assert lines[names[3]][0] == ["FreedomIntelligence/", "HuatuoGPT"]
    assert name_lines(["medtasks_observer"], is_bold=True)["medtasks_observer"][0] == ["medtasks_observer"]
