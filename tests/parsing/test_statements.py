"""Where replies state an answer: what announces one, what does not, and which one stands."""

import pytest

from lmms_medtasks.parsing.statements import (
    MOST,
    find_statements,
    gives_up,
    is_left_open,
    is_negated,
    is_taken_back,
    last_standing,
)


def stated(text, **asked):
    """Each statement's rule, and the first word of what it states."""
    return [(each.rule, text[each.said : each.end].split()[0]) for each in find_statements(text, **asked)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The answer is C.", ("statement", "C.")),
        ("I choose B", ("statement", "B")),
        ("Answer - C", ("statement", "C")),
        ("\\boxed{D}", ("boxed", "D")),
        ('{"answer": "A"}', ("boxed", "A")),
        ("<answer>B</answer>", ("boxed", "B")),
        ("It grows, so C.", ("so", "C.")),
        ("I think it is B.", ("it_is", "B.")),
        ("It looks like a cyst.\nB", ("last", "B")),
        ("答案是B", ("statement", "B")),
        ("La respuesta correcta es B", ("statement", "B")),
        ("La réponse est B", ("statement", "B")),
        ("Die Antwort lautet B", ("statement", "B")),
        ("答えは B", ("statement", "B")),
        ("정답은 B", ("statement", "B")),
        ("A resposta é B", ("statement", "B")),
        ("La risposta è B", ("statement", "B")),
        ("Ответ: B", ("statement", "B")),
        ("الإجابة هي B", ("statement", "B")),
    ],
)
def test_what_states_an_answer(text, found):
    assert found in stated(text)


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect answer is B",
        "I would not choose B",
        "If it grew, the answer is B",
        "Some would say the answer is B",
        "I doubt that the answer is B",
        "The answer is B if the patient is a child",
        "Maybe answer is B",
        "So what does it show?",
        "I was told that A nodule grows.",
    ],
)
def test_what_states_none(text):
    assert stated(text) == []


def test_a_correction_states_what_comes_after_it():
    assert stated("The answer is B. No, wait, C.") == [("statement", "B."), ("correction", "C."), ("last", "C.")]


def test_without_letters_so_announces_all_and_no_letter_does():
    assert stated("It grows, so yes", letters=False) == [("so", "yes")]
    assert stated("It grows.\nB", letters=False) == []


def test_in_a_grid_the_outlier_is_announced():
    assert stated("The outlier is C") == []
    assert stated("The outlier is C", grid=True) == [("statement", "C")]


def test_a_word_for_an_option_says_that_a_number_counts():
    assert [each.names_option for each in find_statements("I choose option 2")] == [True]
    assert [each.names_option for each in find_statements("I choose 2")] == [False]


def test_the_last_statement_that_says_something_stands():
    text = "The answer is A. The answer is C. The answer is hard."

    def letter(statement):
        said = text[statement.said]
        return (said, statement.said + 1) if said.isupper() else None

    found = last_standing(text, find_statements(text), letter)
    assert (found.value, found.taken_back) == ("C", False)
    assert last_standing(text, [], letter) is None


@pytest.mark.parametrize("words", ["Scratch that.", "Wait, no.", "不对,", "Perdón,", "Non, ", "Nein, "])
def test_what_takes_an_answer_back(words):
    assert is_taken_back(f"B. {words} hm", 1)
    assert not is_taken_back(f"{words} B. It fits.", len(words) + 2)


def test_a_note_beside_an_answer_takes_nothing_back():
    assert not is_taken_back("B. No pneumothorax is seen. Actually this is a textbook case.", 2)


def test_doubts_negations_and_giving_up():
    assert is_left_open("I doubt that it is B") and not is_left_open("It is B")
    assert is_negated("It is not the B", 14) and not is_negated("It is no cyst, B", 15)
    assert gives_up("A or B? I give up.") and not gives_up("B. I give reasons.")


def test_of_endless_statements_the_last_ones_are_enough():
    assert len(find_statements("answer is C. " * (2 * MOST))) == MOST
