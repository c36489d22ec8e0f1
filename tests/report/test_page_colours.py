"""The colours of a report's page can be told apart in light and dark, by the ratios of WCAG 2.2."""

import importlib.resources

import pytest
import yaml

COLOURS = yaml.safe_load(importlib.resources.files("lmms_medtasks.report").joinpath("colours.yml").read_text("utf-8"))
HEAT = 0.72
"""How much of its colour the strongest cell of a heat map has."""
TEXT, MARK = 4.5, 3.0


def parts(colour):
    return [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]


def luminance(rgb):
    red, green, blue = (each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in rgb)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def ratio(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("front", "back", "least"),
    [
        ("ink", "page", TEXT), ("soft", "page", TEXT), ("soft", "card", TEXT), ("soft", "own", TEXT),
        ("accent", "page", TEXT), ("harm", "page", TEXT), ("warn", "warnback", TEXT), ("yes", "card", MARK),
        ("no", "card", MARK), ("warn", "card", MARK), ("published", "page", MARK), ("published", "grid", MARK),
        ("accent", "grid", MARK), ("harm", "grid", MARK), ("accent-light", "page", MARK),
    ],
)  # fmt: skip
def test_text_and_marks_stand_out(front, back, least, mode):
    assert ratio(parts(COLOURS[front][mode]), parts(COLOURS[back][mode])) >= least


@pytest.mark.parametrize("mode", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("heat", ["heat-harm", "heat-score"])
def test_numbers_on_the_strongest_cell_of_a_heat_map_can_be_read(heat, mode):
    mixed = [
        HEAT * front + (1 - HEAT) * back
        for front, back in zip(parts(COLOURS[heat][mode]), parts(COLOURS["page"][mode]), strict=True)
    ]
    assert ratio(parts(COLOURS["ink"][mode]), mixed) >= 4.49
