"""A chart as a Vega-Lite specification: a plain dictionary that notebooks and other viewers read.

All values are in it, and names are data of text layers only: as a scale's domain, a title or an expression a name such
as "toString", or one with a line feed, would stop the viewer. Rows and columns are placed by number, so that two of one
name are two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lmms_medtasks.visible_text import replace_invisible

Record = Mapping[str, Any]
Spec = dict[str, Any]
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
_OWN, _GREY, _HARM = "#0b5cad", "#6b7480", "#b4500f"
_SHAPES = ("circle", "diamond", "square", "triangle-up", "cross")
_ROW, _WIDTH, _HEIGHT = 26, 420, 240
_POINT = {"type": "point", "filled": True, "size": 50}
_CATEGORIES = ("ranges", "points", "bullets")


def vega_lite_specification(kind: str, title: str, records: Sequence[Record]) -> Spec:
    """The specification of a chart of one of the kinds; ``records``: its frame, see :class:`Mark`."""
    rows = [_vega_row(record) for record in records if record["value"] is not None]
    for name in ("panel", "name", "series", "place"):
        order = {text: number for number, text in enumerate(dict.fromkeys(row[name] for row in rows))}
        for row in rows:
            row[f"{name} number"] = order[row[name]]
    made = _heat_layers(rows) if kind == "heat" else _row_layers(rows) if kind in _CATEGORIES else _panel_layers(rows)
    return {"$schema": SCHEMA, "description": replace_invisible(title), "data": {"values": rows}, **made,
            "config": {"view": {"stroke": None}, "aria": False}}  # fmt: skip


def _vega_row(record: Record) -> Spec:
    texts = {name: replace_invisible(text) if isinstance(text, str) else text for name, text in record.items()}
    shade = _GREY if record["whose"] != "run" else _HARM if record["unit"] == "points" else _OWN
    return texts | {"colour": shade}


def _place_scale(field: str, count: int, *, reverse: bool = False) -> Spec:
    scale = {"domain": [-0.5, max(count, 1) - 0.5]} | ({"reverse": True} if reverse else {})
    return {"field": field, "type": "quantitative", "scale": scale, "axis": None}


def _number_scale(field: str) -> Spec:
    return {"field": field, "type": "quantitative", "scale": {"zero": False}, "axis": {"title": None}}


def _text_layer(field: str, channel: str, at: float, count: int, **mark: Any) -> Spec:
    other = "y" if channel == "x" else "x"
    scale = _place_scale(f"{field} number", count, reverse=channel == "y")
    return {
        "transform": [{"aggregate": [{"op": "min", "field": field, "as": "said"}], "groupby": [f"{field} number"]}],
        "mark": {"type": "text", "limit": 180, **mark},
        "encoding": {channel: scale, other: {"value": at}, "text": {"field": "said"}},
    }


def _count_values(rows: Sequence[Record], field: str) -> int:
    return len({row[field] for row in rows})


def _mark_looks(rows: Sequence[Record]) -> Spec:
    for row in rows:
        row["shape"] = _SHAPES[row["series number"] % len(_SHAPES)]  # type: ignore[index]
    return {
        "color": {"field": "colour", "type": "nominal", "scale": None},
        "shape": {"field": "shape", "type": "nominal", "scale": None},
        "tooltip": [{"field": name} for name in ("name", "series", "place", "value", "low", "high", "n")],
    }


def _row_layers(rows: list[Spec]) -> Spec:
    count = _count_values(rows, "name")
    y = _place_scale("name number", count, reverse=True)
    looks = _mark_looks(rows)
    ends = {"x": _number_scale("low"), "x2": {"field": "high"}, "y": y, "color": looks["color"]}
    layers: list[Spec] = [{"mark": "rule", "encoding": ends}]
    layers.append({"mark": _POINT, "encoding": {"x": _number_scale("value"), "y": y, **looks}})
    layers.append(_text_layer("name", "y", -8, count, align="right", baseline="middle"))
    return {"width": _WIDTH, "height": _ROW * max(count, 1), "layer": layers}


def _heat_layers(rows: list[Spec]) -> Spec:
    names, places = _count_values(rows, "name"), _count_values(rows, "place")
    y, x = _place_scale("name number", names, reverse=True), _place_scale("place number", places)
    most = max((abs(row["value"]) for row in rows), default=0) or 1
    for row in rows:
        is_change = row["unit"] == "points"
        row["strength"] = max(0.0, -row["value"] / most) if is_change else abs(row["value"]) / most
        row["said number"] = f"{row['value']:.0f}"
    where = {"x": x, "y": y}
    tint = {"color": {"field": "colour", "type": "nominal", "scale": None},
            "opacity": {"field": "strength", "type": "quantitative", "scale": None}}  # fmt: skip
    box = {"type": "rect", "width": _WIDTH / max(places, 1) - 2, "height": _ROW - 2}
    layers = [
        {"mark": box, "encoding": where | tint},
        {"mark": "text", "encoding": where | {"text": {"field": "said number"}}},
        _text_layer("name", "y", -8, names, align="right", baseline="middle"),
        _text_layer("place", "x", -10, places),
    ]
    return {"width": _WIDTH, "height": _ROW * max(names, 1), "layer": layers}


def _panel_layers(rows: list[Spec]) -> Spec:
    looks = _mark_looks(rows)
    panels = [[row for row in rows if row["panel number"] == number] for number in range(_count_values(rows, "panel"))]
    return {"hconcat": [_panel_layer(number, own, looks) for number, own in enumerate(panels)]}


def _panel_layer(number: int, rows: Sequence[Record], looks: Spec) -> Spec:
    is_number = any(row["x"] is not None for row in rows)
    count = 1 + max((row["place number"] for row in rows), default=0)
    x = _number_scale("x") if is_number else _place_scale("place number", count)
    upright = {"x": x, "y": _number_scale("low"), "y2": {"field": "high"}, "color": looks["color"]}
    along = {
        "y": _number_scale("value"),
        "x": _number_scale("x low"),
        "x2": {"field": "x high"},
        "color": looks["color"],
    }
    line = {"x": x, "y": _number_scale("value"), "detail": [{"field": "series number"}, {"field": "name number"}]}
    layers: list[Spec] = [{"mark": "rule", "encoding": upright}]
    layers += [{"mark": "rule", "encoding": along}] if is_number else []
    layers += [{"mark": {"type": "line", "color": _GREY, "strokeWidth": 1}, "encoding": line}] if not is_number else []
    layers.append({"mark": _POINT, "encoding": {"x": x, "y": _number_scale("value"), **looks}})
    if any(row["panel"] for row in rows):
        title = {"x": {"value": _WIDTH / 4}, "y": {"value": -10}, "text": {"field": "said"}}
        layers.append(_text_layer("panel", "x", -10, 1) | {"encoding": title})
    if not is_number:
        layers.append(_text_layer("place", "x", _HEIGHT + 14, count))
    return {
        "transform": [{"filter": f"datum['panel number'] === {number}"}],
        "width": _WIDTH / 2,
        "height": _HEIGHT,
        "layer": layers,
    }
