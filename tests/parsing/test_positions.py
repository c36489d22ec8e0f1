"""Replies to questions about grids and what is read from them; the cases are data."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.grid_positions import NONE_OPTION, SIDES, GridSize, parse_size
from lmms_medtasks.parsing.positions import NONE, read_option_position, read_position
from lmms_medtasks.parsing.reply import ParsedAnswer
from lmms_medtasks.parsing.yes_no import read_yes_no
from lmms_medtasks.record import FAILED, NO_ANSWER

CASES = json.loads((Path(__file__).parent / "cases" / "position_replies.json").read_text("utf-8"))
SIZES = st.sampled_from([GridSize(side) for side in SIDES])


def options(size):
    return [*size.positions, NONE_OPTION]


def reading(case):
    if case["ask"] == "yes_no":
        return read_yes_no(case["reply"], panel=True)
    size = parse_size(case["grid"])
    if case["ask"] == "option":
        return read_option_position(case["reply"], options(size), size)
    return read_position(case["reply"], size)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['ask']}-{case['grid']}-{case['reply']}"[:48])
def test_case(case):
    found = reading(case)
    assert (found.status, found.value) == (case["status"], case["value"])


def test_the_table_is_large_and_has_no_reply_twice():
    keys = {(case["ask"], case["grid"], case["reply"]) for case in CASES}
    assert len(CASES) == len(keys) >= 120
    assert {case["status"] for case in CASES} == {"ok", *NO_ANSWER, FAILED}


@given(st.text(), SIZES)
def test_reads_a_position_of_the_grid_or_nothing(reply, size):
    for answer in (read_position(reply, size), read_option_position(reply, options(size), size)):
        assert (answer.value in (*size.positions, NONE)) == (answer.status == "ok")


WORDS = (
    "the", "not", "top-left", "none", "image 3", "A", "(B)", "answer:", ".", "but", "center", "unlike", "all", "same",
    "row 1", "column 2", "or", "is", "are", "\n",
)  # fmt: skip


@given(st.lists(st.sampled_from(WORDS), max_size=12), SIZES)
def test_any_words_give_an_outcome(words, size):
    reply = " ".join(words)
    for answer in (
        read_position(reply, size),
        read_option_position(reply, options(size), size),
        read_yes_no(reply, panel=True),
    ):
        assert bool(answer.value) == (answer.status == "ok")


TEMPLATES = (
    "{}", "{}.", "**{}**", "The {} image.", "The outlier is in the {} position.", "Answer: {}", "The answer is {}.",
    "{}: it differs from the others.", "All images are the same except the {} one.",
)  # fmt: skip


@given(SIZES, st.data(), st.sampled_from(TEMPLATES))
def test_every_position_is_read_back(size, data, template):
    position = data.draw(st.sampled_from(size.positions))
    assert read_position(template.format(position), size) == ParsedAnswer("ok", position)
    assert read_position(template.format(position.upper()), size) == ParsedAnswer("ok", position)


@given(SIZES, st.data())
def test_every_letter_is_read_back_and_a_conflict_is_ambiguous(size, data):
    place, other = data.draw(st.permutations(range(size.panels + 1)))[:2]
    texts = options(size)
    values = [*size.positions, NONE]
    letter = chr(ord("A") + place)
    for reply in (letter, f"({letter})", f"Answer: {letter}", f"{letter}) {texts[place]}", texts[place]):
        assert read_option_position(reply, texts, size) == ParsedAnswer("ok", values[place]), reply
    assert read_option_position(f"{letter}) {texts[other]}", texts, size).status == "ambiguous"


@given(SIZES, st.data())
def test_numbers_count_in_reading_order(size, data):
    number = data.draw(st.integers(1, size.panels))
    row, column = divmod(number - 1, size.side)
    for reply in (f"image {number}", f"{number}", f"row {row + 1}, column {column + 1}", f"R{row + 1}C{column + 1}"):
        assert read_position(reply, size) == ParsedAnswer("ok", size.positions[number - 1]), reply


@given(SIZES, st.data())
def test_a_position_that_is_ruled_out_is_no_answer(size, data):
    one, other = data.draw(st.permutations(size.positions))[:2]
    assert read_position(f"not the {one}", size).status == "unreadable"
    for reply in (f"Not the {one}; the {other}.", f"Unlike the {one}, the {other} image differs.",
                  f"{one} seems odd, but the answer is {other}."):  # fmt: skip
        assert read_position(reply, size) == ParsedAnswer("ok", other), reply
    assert read_position(f"{one} or {other}", size).status == "ambiguous"


@pytest.mark.parametrize(
    "reply",
    ["Option ③", "<answer>C</answer>", "\\boxed{C}", '{"answer": "C"}', "Ｃ", "The outlier is C"],
)
def test_letters_have_the_wrappers_that_other_readers_know(reply):
    size = GridSize(2)
    assert read_option_position(reply, options(size), size).value == "bottom-left"


@pytest.mark.parametrize(
    ("reply", "place"),
    [
        ("abajo a la derecha", "bottom-right"), ("en haut à gauche", "top-left"), ("unten rechts", "bottom-right"),
        ("第二行第三列", "middle-right"), ("segunda fila, tercera columna", "middle-right"), ("en el centro", "center"),
        ("oben mittig", "top-center"), ("其中左上", "top-left"), ("第5张", "center"), ("ninguna", "none"),
        ("Alle Bilder sind gleich", "none"), ("todas son iguales", "none"),
        ("nicht oben links, sondern unten rechts", "bottom-right"),
        ("(3,3)", "bottom-right"), ("(0,0)", "top-left"), ("(1,3)", ""),
    ],
)  # fmt: skip
def test_places_in_other_languages_and_numbers(reply, place):
    size = GridSize(3)
    named = {"center": size.positions[4]}
    assert read_position(reply, size).value == named.get(place, place)


def test_a_slight_difference_leaves_open_whether_there_is_an_outlier():
    assert (
        read_position("All look the same, but the top-left one is slightly darker.", GridSize(2)).status == "ambiguous"
    )
    assert read_position("All look the same, but the top-left one is rotated.", GridSize(2)).value == "top-left"
