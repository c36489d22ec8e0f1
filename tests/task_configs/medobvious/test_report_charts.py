"""MedObvious: the charts show the numbers of their tables, at the places that those say."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

from lmms_medtasks.report.report_options import ReportOptions
from lmms_medtasks.report.reported_suites import build_report

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def charts(write):
    """Key -> element, of one run."""
    (part,) = build_report([write()], ReportOptions(resamples=20)).parts
    return {each.key: ElementTree.fromstring(each.svg) for section in part.sections for each in section.figures}


def discs(svg):
    """Tooltip of each filled disc -> percent across, pixels down."""
    return {
        each.find(f"{SVG}title").text: (float(each.get("cx").rstrip("%")), float(each.get("cy")))
        for each in svg.iter(f"{SVG}circle")
        if each.get("class") == "own" and each.find(f"{SVG}title") is not None
    }


def test_what_was_found_stands_against_what_was_wrong_where_there_is_none(charts):
    # Positives: 6 of 10 right; negatives: 3 of 6, so 50 % wrong.
    (((said, (x, y)),)) = discs(charts["plane"]).items()
    assert re.search(r": 50( \[.*\])?, 60\.0 %( \[.*\])?$", said) and x == 50.0
    ticks = {
        each.text: float(each.get("y")) - 4 for each in charts["plane"].iter(f"{SVG}text") if each.get("dx") == "-6"
    }
    assert y == pytest.approx(ticks["0"] - 0.6 * (ticks["0"] - ticks["100"]), abs=0.1)


def test_the_guessing_line_is_what_naming_an_outlier_at_a_random_place_finds(charts):
    (line,) = [each for each in charts["plane"].iter(f"{SVG}line") if each.get("class") == "guess"]
    ticks = {
        each.text: float(each.get("y")) - 4 for each in charts["plane"].iter(f"{SVG}text") if each.get("dx") == "-6"
    }
    found = (ticks["0"] - float(line.get("y2"))) / (ticks["0"] - ticks["100"])
    assert (line.get("x1"), float(line.get("y1")), line.get("x2")) == ("0%", ticks["0"], "100%")
    # Ten outliers: four in 2x2 and four in 3x3 grids, whose place has to be right, and two that are said to be there.
    assert found == pytest.approx((4 / 4 + 4 / 9 + 2) / 10, abs=0.002)


def test_each_format_has_its_accuracy_and_what_guessing_gets(charts):
    found = {said.partition(":")[0]: x for said, (x, _) in discs(charts["formats"]).items()}
    assert found == {"A detection MCQ": 50, "B detection open": 75, "C referring MCQ": 50, "D referring open": 50,
                     "E visual referring": 50}  # fmt: skip
    guesses = [each for each in charts["formats"].iter(f"{SVG}line") if each.get("class") == "guess" and len(each)]
    # 2x2: one of four places or none; 3x3: one of nine or none; visual: yes or no.
    assert {float(each.get("x1").rstrip("%")) for each in guesses} == {15.0, 50.0}


def test_accuracy_stands_over_the_number_of_panels(charts):
    places = {x for x, _ in discs(charts["scaling"]).values()}
    # From 3.5 to 9.5: 4 at 0.5 / 6, 9 at 5.5 / 6.
    assert places == {8.33, 91.67}


@pytest.mark.usefixtures("any_share_read")
def test_the_first_screens_chart_has_the_same_point(charts, write):
    drawn = build_report([write("again")], ReportOptions(resamples=20)).first.models[0].findings[0].sketch()
    root = ElementTree.fromstring(drawn.svg)
    (((small, (x, _)),)) = discs(root).items()
    (((large, (other, _)),)) = discs(charts["plane"]).items()
    assert (small.partition(": ")[2], x) == (large.partition(": ")[2], other)
    # The line below it says what is dashed; there is no room for names.
    assert {each.text for each in root.iter(f"{SVG}text")} == {
        "0",
        "25",
        "50",
        "75",
        "100",
    } and "guessing" in drawn.said
