"""The first screen says what was found with its interval, and which checks fail."""

from __future__ import annotations

import html
import io

import pytest
from rich.console import Console

from lmms_medtasks.report import Options, build
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.findings import Bar, Finding, lost, whole
from lmms_medtasks.report.first_screen import ModelFindings
from lmms_medtasks.report.markdown import markdown
from lmms_medtasks.report.quotable import Check, verdict
from lmms_medtasks.report.report_page import page
from lmms_medtasks.report.terminal import show
from lmms_medtasks.report.terminal_first_screen import WIDTH, lines
from lmms_medtasks.statistics.intervals import Interval


def screen(document):
    return [line.plain for line in lines(document.first, document.title)]


@pytest.fixture
def document(write_run):
    return build([write_run()], Options(resamples=0, drawn=False))


def test_numbers_are_those_of_the_tables(document):
    (model,) = document.first.models
    (finding,) = model.findings
    values = {bar.title: bar.cell.value for bar in finding.bars}
    levels = next(table for _, table in document.tables() if table.key == "levels")
    assert list(values.values()) == [row.cells[3].value for row in levels.rows]
    # Four options and two: (1/4 + 1/2) / 2 = 0.375.
    assert finding.bars[0].chance == pytest.approx(37.5)
    assert finding.bars[0].published == pytest.approx((42.92, 74.03), abs=5)


def test_no_line_is_wider_than_a_hundred_columns(write_run):
    runs = [write_run(name, model="a" * 80 + name, metadata={"data": "mini"}) for name in "abcde"]
    for found in (build(runs[:1], Options(resamples=0, drawn=False)), build(runs, Options(resamples=0, drawn=False))):
        assert max(map(len, screen(found))) <= WIDTH


def test_terminal_shows_the_screen_and_all_tables_on_demand(document):
    shown = {}
    for everything in (False, True):
        console = Console(width=200, file=io.StringIO(), force_terminal=False)
        show(document, console, everything=everything)
        shown[everything] = console.file.getvalue()
    assert "May these numbers be quoted?" in shown[False]
    assert "Requests and replies" not in shown[False]
    assert shown[True].startswith(shown[False][:200])
    assert "Requests and replies" in shown[True]


def test_mini_data_and_limits_are_no_reason_to_quote(write_run):
    first = build([write_run(metadata={"data": "mini"}, original=9)], Options(resamples=0, drawn=False)).first
    states = {check.title: check.state for check in first.checks}
    assert states["full data"] == "no"
    assert states["complete"] == "partly"
    assert first.verdict == "Not yet: full data."


def test_every_form_has_the_verdict(document):
    for text in (markdown(document), html.unescape(page(document))):
        assert document.first.verdict in text
        assert "clean pictures" in text


@pytest.mark.parametrize(
    ("states", "said"),
    [(["yes", "yes"], "Yes."), (["yes", "partly"], "With care: b."), (["no", "partly"], "Not yet: a.")],
)
def test_verdict_is_that_of_the_worst(states, said):
    assert verdict([Check(name, state, "") for name, state in zip("ab", states, strict=True)]) == said


def bar(value, low, high, chance, higher=True):
    return Bar("of", Cell(value, low, high), chance=chance, higher_is_better=higher)


@pytest.mark.parametrize(
    ("made", "beats"),
    [
        (bar(30.0, 26.0, 34.0, 25.0), True),
        (bar(30.0, 24.0, 36.0, 25.0), False),
        (bar(20.0, 16.0, 24.0, 25.0, higher=False), True),
        (bar(30.0, None, None, 25.0), True),
        (bar(20.0, None, None, None), True),
    ],
)
def test_better_than_guessing_is_what_the_interval_says(made, beats):
    assert made.beats_chance is beats


def finding(suite, clause, chance, loss=""):
    return Finding(suite, (bar(50.0, 40.0, 60.0, chance),), "", clause, f"what {suite} asks", loss)


def test_sentence_names_strengths_then_what_is_guessed():
    found = (finding("a", "right on 50 % of a", 25.0), finding("b", "right on 50 % of b", 45.0))
    assert ModelFindings("m", found).sentence == "Right on 50 % of a, but no better than guessing at what b asks."
    assert ModelFindings("m", found[1:]).sentence == "No better than guessing at what b asks."


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (Interval(-0.2, -0.25, -0.15, 10, 10), "loses 20.0 points [15.0, 25.0] here"),
        (Interval(-0.01, -0.05, 0.03, 10, 10), "loses nothing that is told apart from chance here (1.0 points [-3.0, 5.0])"),  # noqa: E501
        (Interval(0.1, 0.05, 0.15, 10, 10), "gains 10.0 points [5.0, 15.0] here"),
        (Interval(-0.2, None, None, 2, 2), "loses 20.0 points here, over too few pictures for an interval"),
    ],
)  # fmt: skip
def test_loss_in_words(change, said):
    assert lost(change, "here") == said


def test_a_number_on_a_short_scale_keeps_a_decimal_in_a_clause():
    made = Bar("a", Cell(0.667, 0.5, 0.8), "of 1.5", 1.5)
    assert whole(made) == "0.7 of 1.5" and whole(bar(69.4, 60.0, 75.0, 50.0)) == "69 %"
