"""Where sentences and clauses end."""

import pytest

from lmms_medtasks.parsing.sentences import (
    WINDOW,
    clause_before,
    first_sentence,
    iter_beginnings,
    sentence_before,
    sentence_end,
    split_clauses,
    split_sentences,
)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It is 3.5 cm. It grew.", ["It is 3.5 cm.", "It grew."]),
        ("One\ntwo\n\nthree", ["One", "two", "three"]),
        ("E. coli grew. So B.", ["E. coli grew.", "So B."]),
        ("Is it? No; never!", ["Is it?", "No;", "never!"]),
        (" \n", []),
    ],
)
def test_sentences(text, sentences):
    assert split_sentences(text) == sentences


def test_the_first_sentence_has_no_mark():
    assert first_sentence("It is 3.5 cm. It grew.") == "It is 3.5 cm"
    assert first_sentence("B\nC") == "B"
    assert first_sentence("no end") == "no end"


def test_what_stands_before_a_place_in_its_sentence():
    text = "It grew. None of A, so B"
    assert sentence_before(text, text.index("B")) == " None of A, so "
    assert clause_before("It grew. None of A, but B", 24) == " "
    assert sentence_end(text, 0) == 7


def test_no_sentence_is_longer_than_the_window():
    text = "a" * 5000
    assert len(sentence_before(text, 3000)) == WINDOW
    assert sentence_end(text, 3000) == 3000 + WINDOW


def test_clauses_end_at_marks_and_at_words_that_turn():
    found = [(clause.text.strip(), clause.mark) for clause in split_clauses("no cyst, but a stone: 3.5 mm? aber nein")]
    assert found == [("no cyst", ","), ("a stone", ":"), ("3.5 mm", "?"), ("", "a"), ("nein", "")]


def test_beginnings_end_with_a_sentence_that_states_something():
    assert list(iter_beginnings("B? No. C; D")) == ["B? No", "B? No. C"]
