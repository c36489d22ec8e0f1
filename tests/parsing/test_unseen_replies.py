"""Replies that were written before their readers were looked at: none is misread, and most are read.

``option_replies_unseen.json`` was then used to mend the reader, ``option_replies_held_back.json`` only to count.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from lmms_medtasks.grid_positions import NONE_OPTION, parse_size
from lmms_medtasks.parsing.option import read_first_capital, read_option
from lmms_medtasks.parsing.positions import read_option_position, read_position
from lmms_medtasks.parsing.yes_no import read_yes_no

CASES = Path(__file__).parent / "cases"
UNREADABLE = "unreadable"


def counts(cases, read):
    """right; wrong: another answer; invented: an answer where none was given; missed; left: rightly none."""
    found, bad = Counter(), []
    for case in cases:
        reading, wanted = read(case), case["read"]
        value = reading.value if reading.status == "ok" else UNREADABLE
        if wanted == UNREADABLE:
            outcome = "left" if value == UNREADABLE else "invented"
        else:
            outcome = "right" if value == wanted else "missed" if value == UNREADABLE else "wrong"
        found[outcome] += 1
        if outcome in ("wrong", "invented"):
            bad.append((case["reply"], wanted, value))
    return found, bad


def share(found):
    return found["right"] / (found["right"] + found["wrong"] + found["missed"])


def option_cases(name):
    data = json.loads((CASES / name).read_text("utf-8"))
    return [{**case, "options": data["questions"][case["options"]]} for case in data["replies"]]


def by_option(case):
    return read_option(case["reply"], case["options"])


@pytest.mark.parametrize("name", ["option_replies_unseen.json", "option_replies_held_back.json"])
def test_options_are_read_in_five_languages_without_a_wrong_letter(name):
    cases = option_cases(name)
    assert len(cases) == len({(case["reply"], *case["options"]) for case in cases}) >= 100
    for language in ("en", "zh", "es", "fr", "de"):
        found, bad = counts([case for case in cases if case["lang"] == language], by_option)
        assert not bad
        assert share(found) >= 0.85


def test_descriptions_denials_and_conditions_are_no_answers():
    # Written against the mended reader, to find letters that it invents.
    cases = option_cases("option_replies_traps.json")
    assert len(cases) >= 100
    _, bad = counts(cases, by_option)
    assert not bad


def test_the_papers_rule_misreads_more_than_a_fifth_of_the_same_replies():
    cases = option_cases("option_replies_unseen.json")
    found, _ = counts(cases, lambda case: read_first_capital(case["reply"], len(case["options"])))
    assert found["wrong"] + found["invented"] > len(cases) / 5
    assert share(found) < 0.5


def test_yes_and_no_are_read_in_five_languages_and_hedges_are_not():
    cases = json.loads((CASES / "yes_no_replies_unseen.json").read_text("utf-8"))
    found, bad = counts(cases, lambda case: read_yes_no(case["reply"], case["question"]))
    assert not bad
    assert share(found) >= 0.85
    # Written against the mended reader, to make it invent answers.
    traps = json.loads((CASES / "yes_no_replies_traps.json").read_text("utf-8"))
    assert not counts(traps, lambda case: read_yes_no(case["reply"], case["question"]))[1]


def test_medobvious_replies_are_read_in_all_formats():
    def read(case):
        if case["format"] == "visual_referring":
            return read_yes_no(case["reply"], panel=True)
        size = parse_size(case["grid"])
        if case["format"].endswith("_mcq"):
            return read_option_position(case["reply"], [*size.positions, NONE_OPTION], size)
        return read_position(case["reply"], size)

    cases = json.loads((CASES / "medobvious_replies.json").read_text("utf-8"))
    assert len(cases) >= 60
    found, bad = counts(cases, read)
    assert not bad
    assert share(found) >= 0.85
