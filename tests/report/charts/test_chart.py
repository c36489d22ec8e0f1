"""Declared charts: what is drawn of a table, whatever its names and numbers are; what is wrong with a declaration."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from xml.etree import ElementTree

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.report.cells import label_column, percent_column, points_column
from lmms_medtasks.report.charts import Chart
from lmms_medtasks.report.charts.chart_spec import KINDS
from lmms_medtasks.report.charts.planes import box_of, boxes_touch
from lmms_medtasks.report.charts.vega import vega_lite_specification
from lmms_medtasks.report.document import Cell, Frame, FrameRow, Kind

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    "</svg><script>alert(1)</script>", "\"'` quotes", "constructor", "\u202eright to left", "a\nb\x07\ufffe", "x" * 200,
)  # fmt: skip


def table(names: Sequence[str], values: Sequence[float | None] | None = None, kind: Kind = "run") -> Frame:
    numbers = values or [10.0 + 80 * place / max(len(names), 1) for place in range(len(names))]
    rows = []
    for name, number in zip(names, numbers, strict=True):
        known = (number, number and 100 - number, number and 0.05 * number)
        rows.append(FrameRow((Cell(name), *(Cell(one, one and one - 3, one and one + 3) for one in known)), kind))
    return Frame(
        "numbers",
        "Numbers",
        (label_column("model"), percent_column("a"), percent_column("b"), points_column("change")),
        tuple(rows),
    )


def chart(kind: str, **more: object) -> Chart:
    across = {"x": "a"} if kind == "plane" else {}
    columns = {"plane": ("b",), "bullets": ("a",)}.get(kind, ("a", "b"))
    return Chart(kind, "key", "Title", "About.", "numbers", columns, **across, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_draws_one_row_and_two_hundred_and_none_of_no_rows(kind: str) -> None:
    assert chart(kind).of(table([])) is None
    assert chart(kind).of(table(["published alone"], kind="reference")) is None
    for count in (1, 3, 40, 200):
        names = [f"org/model-{number:03}" for number in range(count)]
        figure = chart(kind).of(table(names))
        assert figure is not None and {each["name"] for each in figure.marks} == set(names)
        ElementTree.fromstring(figure.svg)
        assert "nan" not in figure.svg


@pytest.mark.parametrize("kind", KINDS)
def test_names_are_text_and_nothing_else(kind: str) -> None:
    figure = chart(kind, **({"names": "points"} if kind == "plane" else {})).of(table(HOSTILE))
    assert figure is not None
    root = ElementTree.fromstring(figure.svg)
    assert not [each for each in root.iter() if each.tag.endswith("script")]
    assert not re.search("[\x00-\x08\u202e\ufffe]", figure.svg)
    spec = vega_lite_specification(figure.kind, figure.title, figure.marks)
    said = json.dumps({name: part for name, part in spec.items() if name != "data"})
    assert not [name for name in HOSTILE if name[:5] in said]
    assert not re.search("[\x00-\x08\u202e\ufffe]", "".join(str(each) for each in spec["data"]["values"]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [math.nan, math.inf, None])
def test_a_number_that_is_none_has_no_mark(kind: str, value: float | None) -> None:
    figure = chart(kind).of(table(["whole", "lacks"], [50.0, value]))
    assert figure is not None and not re.search("nan|inf ?%", figure.svg)
    json.dumps(vega_lite_specification(figure.kind, figure.title, figure.marks), allow_nan=False)
    assert chart(kind).of(table(["lacks"], [value])) is None


def test_what_is_not_there_is_said_with_file_and_line() -> None:
    with pytest.raises(UserError, match=r"Unknown kind of chart 'pie' in .*test_chart\.py, line \d+\..*heat"):
        chart("pie")
    with pytest.raises(UserError, match=r"test_chart\.py, line \d+: a chart of bullets has one column"):
        replace(chart("bullets"), columns=("a", "b"))
    wrong = replace(chart("points"), columns=("a", "accuracy"))
    with pytest.raises(UserError, match=r"column of table 'numbers' 'accuracy' in .*test_chart\.py, line \d+.*change"):
        wrong.of(table(["m"]))


@pytest.mark.parametrize("kind", sorted({*KINDS} - {"plane"}))
def test_two_rows_of_one_name_are_both_drawn(kind: str) -> None:
    figure = chart(kind).of(table(["same", "same", "other"]))
    assert figure is not None and {each["name"] for each in figure.marks} == {"same", "same (2)", "other"}
    assert "same (2)" in figure.svg


def test_own_rows_are_sorted_and_published_ones_evenly_spaced_by_rank() -> None:
    printed = table([f"p{number}" for number in range(9)], kind="reference")
    made = replace(
        table(["low", "high"], [20.0, 70.0]), rows=(*table(["low", "high"], [20.0, 70.0]).rows, *printed.rows)
    )
    figure = chart("ranges", sort="falling", printed=3).of(made)
    assert figure is not None
    names = [each.text for each in ElementTree.fromstring(figure.svg).iter(f"{SVG}tspan")]
    # By the last column, which falls as the first one rises.
    assert names == ["low", "high", "p0", "p4", "p8"]


@pytest.mark.parametrize("count", [3, 8, 40, 200])
def test_names_beside_marks_touch_no_other_name_and_lead_to_their_own_mark(count: int) -> None:
    own, printed = (table([f"org/{kind}-model-{number:03}" for number in range(count)], kind=kind)  # type: ignore[arg-type]
                    for kind in ("run", "reference"))  # fmt: skip
    figure = chart("plane", names="points", scale="fitted").of(replace(own, rows=(*own.rows, *printed.rows)))
    assert figure is not None
    names = [
        each
        for group in ElementTree.fromstring(figure.svg).iter(f"{SVG}g")
        for each in group.iter(f"{SVG}text")
        if group.get("data-model")
    ]
    assert 1 <= len([each for each in names if each.get("class") == "label"]) <= 8
    for width in (0.88 * 340, 0.88 * 700):
        boxes = []
        for each in names:
            place = (float(each.get("dx", 0)), 0.0, each.get("text-anchor", "start"))
            boxes.append(box_of(str(each.text), width * float(str(each.get("x")).rstrip("%")) / 100,
                                float(str(each.get("y"))), place))  # fmt: skip
        assert not [pair for pair in combinations(boxes, 2) if boxes_touch(*pair)]


def test_a_plane_of_a_model_that_lacks_one_of_both_numbers_is_none() -> None:
    """As where a run was asked no grid without an outlier: only the published models would stand there."""
    made, printed = table(["ours"]), table(["printed"], kind="reference")
    (row,) = made.rows
    lacking = replace(row, cells=tuple(Cell(None) if n == 1 else each for n, each in enumerate(row.cells)))
    plane = replace(chart("plane"), x=made.columns[1].name, columns=(made.columns[2].name,))
    assert plane.of(replace(made, rows=(row, *printed.rows))) is not None
    assert plane.of(replace(made, rows=(lacking, *printed.rows))) is None
