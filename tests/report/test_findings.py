"""What a finding says of one model in words: its numbers, what is guessed, and what is lost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.findings import Change, Number, SuiteFinding, headline_titles, loss_clause
from lmms_medtasks.report.first_screen import (
    ModelFindings,
)
from lmms_medtasks.statistics.intervals import FEW, IntervalEstimate


def bar(value, low, high, chance, higher=True):
    return Number("of", cell=Cell(value, low, high), chance=chance, higher_is_better=higher)


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
    assert made.guessing == "" if beats else made.guessing


def finding(suite, chance, *changes):
    made = replace(bar(50.0, 40.0, 60.0, chance), words=f"on {suite}")
    return SuiteFinding(suite, (made,), f"what {suite} asks", changes)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (IntervalEstimate(-0.2, -0.25, -0.15, 10, 10), "loses 20.0 points [15.0, 25.0] here"),
        (IntervalEstimate(-0.01, -0.05, 0.03, 10, 10), "shows no change beyond chance (-1.0 points [-5.0, 3.0]) here"),  # noqa: E501
        (IntervalEstimate(-0.2, None, None, 99, 99), "loses 20.0 points here, without an interval"),
        (IntervalEstimate(0.1, 0.05, 0.15, 10, 10), "gains 10.0 points [5.0, 15.0] here"),
        (
            IntervalEstimate(-0.2, None, None, 2, 2, reason=FEW),
            "loses 20.0 points here, over too few images for an interval",
        ),
        (
            IntervalEstimate(0.036, None, None, 2, 2, reason=FEW),
            "gains 3.6 points here, over too few images for an interval",
        ),
    ],
)
def test_loss_in_words(change, said):
    assert loss_clause(change, "here") == said


@pytest.mark.parametrize(
    ("suites", "said"),
    [
        ({"a": 25.0, "b": 45.0}, "50 % correct on a, but no better than guessing at what b asks."),
        ({"b": 45.0}, "No better than guessing at what b asks."),
        ({"a": None, "b": 45.0}, "50 % correct on a; no better than guessing at what b asks."),
        (dict.fromkeys("abcd", 45.0), "what d asks."),
        (dict.fromkeys("abcde", 45.0), "what c asks and 2 more benchmarks."),
    ],
)
def test_sentence_names_strengths_then_what_is_guessed_and_counts_the_rest(suites, said):
    found = tuple(finding(*each) for each in suites.items())
    assert ModelFindings("m", found).sentence.endswith(said)


def test_what_lies_below_guessing_with_its_whole_interval_is_said_to():
    below = replace(finding("c", 25.0), bars=(bar(10.0, 5.0, 20.0, 25.0),))
    assert (below.guessing, bar(20.0, 15.0, 26.0, 25.0).guessing, bar(30.0, 26.0, 34.0, 25.0).guessing) == (
        "below guessing", "no better than guessing", "",
    )  # fmt: skip
    assert ModelFindings("m", (below,)).sentence == "Below guessing at what c asks."
    weak = finding("b", 45.0)
    said = "No better than guessing at what b asks and below guessing at what c asks."
    assert ModelFindings("m", (below, weak)).sentence == said
    assert replace(below, bars=(*below.bars, *weak.bars)).guessing == "no better than guessing"


def test_the_sentence_has_every_number_its_level_of_guessing_once_the_loss_and_who_judged():
    bars = (
        replace(bar(60.0, 55.0, 65.0, 25.0), words="on clean images"),
        replace(bar(26.0, 22.0, 30.0, 25.0), title="mild", words="under mild degradation", main=False),
        replace(bar(20.0, 15.0, 24.0, 25.0), title="severe", words="under severe degradation", judge="scored by J"),
    )
    change = Change(IntervalEstimate(-0.4, -0.45, -0.35, 9, 9), "under L2", "under fog (by 50.0 points)")
    made = SuiteFinding(
        "S", bars, "pictures", (change, Change(IntervalEstimate(0.01, -0.1, 0.2, 9, 9), "elsewhere", "in x"))
    )
    assert made.sentence == (
        "60.0 % [55.0, 65.0] correct on clean images; "
        "26.0 % [22.0, 30.0] under mild degradation, no better than guessing (25.0 %); "
        "20.0 % [15.0, 24.0] under severe degradation, below guessing (25.0 %); "
        "loses 40.0 points [35.0, 45.0] under L2, most under fog (by 50.0 points); "
        "shows no change beyond chance (+1.0 points [-10.0, 20.0]) elsewhere; most is lost in x; severe: scored by J."
    )
    assert made.clause == ("60 % correct on clean images (below guessing at severe)")
    trial = replace(made, trial="trial of 2 questions a task")
    assert trial.sentence.startswith("Trial of 2 questions a task: 60.0 %")
    assert trial.loss.endswith("in x (trial of 2 questions a task).")


@pytest.mark.parametrize(
    ("made", "said", "short"),
    [
        (
            Number("of", cell=Cell(3.456, 2.0, 4.0), unit="of 5", top=5.0, bottom=1.0),
            "3.46 of 5 [2.00, 4.00]",
            "3.46 of 5",
        ),
        (Number("of", cell=Cell(0.62), unit="", top=1.0), "0.620", "0.620"),
        (Number("of", cell=Cell(0.667, 0.5, 0.8), unit="of 1.5", top=1.5), "0.67 of 1.5 [0.50, 0.80]", "0.67 of 1.5"),
        (Number("of", cell=Cell(68.2, 65.3, 71.0)), "68.2 % [65.3, 71.0]", "68 %"),
        (Number("of", cell=Cell(69.4, 60.0, 75.0)), "69.4 % [60.0, 75.0]", "69 %"),
    ],
)
def test_number_on_a_short_scale_keeps_its_decimals(made, said, short):
    assert (made.shown, made.whole) == (said, short)


def test_a_sentence_says_of_which_numbers_and_benchmarks_it_is():
    weak, good = (Number(name, f"on {name}", cell=Cell(60.0, low, 70.0), chance=50.0, main=low < 50)
                  for name, low in (("one, shift", 40.0), ("mean", 55.0)))  # fmt: skip
    found = (
        SuiteFinding("A", (weak, good), "shifted questions"),
        SuiteFinding("B", (replace(good, main=True),), "choices"),
    )
    said = '60 % correct on mean (B), but no better than guessing at shifted questions ("one, shift").'
    assert ModelFindings("m", found).sentence == said
    assert replace(found[0], unread="Nothing read").guessing == ""


def test_a_benchmarks_title_stands_in_the_brackets_at_the_end_of_a_clause():
    made = replace(finding("S", 20.0), bars=(replace(bar(50.0, 40.0, 60.0, 20.0), words="shifted (by age)"),))
    said = ModelFindings("m", (made, finding("T", 20.0))).sentence
    assert said == "50 % correct shifted (S, by age); 50 % correct on T."


def test_without_an_interval_nothing_is_said_of_guessing():
    few = Number("few", "on few", cell=Cell(0.0, reason=FEW), chance=50.0)
    found = SuiteFinding("A", (few,), "closed questions")
    assert found.sentence == "0.0 % correct on few, too few images for an interval (guessing: 50.0 %)."
    assert ModelFindings("m", (found,)).sentence == "Too few images for an interval at closed questions."
    # With one that an interval is known of, its own words are said of that one alone.
    both = replace(found, bars=(few, replace(few, title="most", cell=Cell(49.0, 40.0, 58.0))))
    assert ModelFindings("m", (both,)).sentence == "No better than guessing at closed questions (most)."
    above = replace(found, suite="B", bars=(replace(few, cell=Cell(51.0, reason=FEW)),))
    said = "51 % correct on few (B); no better than guessing at closed questions (most)."
    assert ModelFindings("m", (both, above)).sentence == said


def test_a_sentence_names_the_tasks_that_are_guessed_beside_one_without_a_level():
    weak, best = bar(0.0, 0.0, 40.0, 25.0), replace(bar(100.0, None, None, None), title="IV")
    found = SuiteFinding("A", (replace(weak, title="III"), best, replace(weak, title="V")), "cases")
    assert ModelFindings("m", (found,)).sentence == "No better than guessing at cases (III and V)."


def test_numbers_that_only_one_model_has_keep_their_place():
    def of(*names):
        return SuiteFinding("suite", tuple(Number(name, cell=Cell(50.0)) for name in names), "")

    assert headline_titles([of("L0", "L2"), of("L0", "L1", "L2")]) == ["L0", "L1", "L2"]
