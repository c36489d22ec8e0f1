"""Names of models: short ones that stay distinct, which look like one another, and which may stand in a ranking."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.board.model_names import confusable_form, model_name_problem, shown_name


@pytest.mark.parametrize(
    ("name", "shown"),
    [("/home/ada/models/tiny", "models/tiny"), ("org/model", "org/model"), ("C:\\models\\x", "models/x"),
     ("gpt", "gpt"), ("~/x", "~/x"), ("./a/b/c/", "b/c"), ("/", "/")],
)  # fmt: skip
def test_of_a_local_checkpoint_two_parts_are_shown(name: str, shown: str) -> None:
    assert shown_name(name) == shown


@pytest.mark.parametrize(
    "name",
    [
        "GPT-4o",
        "gpt-4O",
        "gpt_40",
        "GPT 4o",
        "gpt.4o",
        "ｇｐｔ-4o",
        "gpt\u200b-4o",
        "gpt-4ö",
        "(gpt)-4o",
        "gpt--4o",
        "-gpt-4o-",
    ],
)
def test_what_a_reader_takes_for_one_name_looks_alike(name: str) -> None:
    assert confusable_form(name) == confusable_form("gpt-4o")


@pytest.mark.parametrize(("one", "other"), [("l1|I", "1lIl"), ("rnodern", "modem"), ("vvhat", "what"), ("MÉD", "med")])
def test_letters_that_look_alike_count_as_one(one: str, other: str) -> None:
    assert confusable_form(one) == confusable_form(other)


@pytest.mark.parametrize(("one", "other"), [("gpt-4o", "gpt-4o-mini"), ("qwen2", "qwen3"), ("a/model", "b/model")])
def test_names_that_a_reader_can_tell_apart_differ(one: str, other: str) -> None:
    assert confusable_form(one) != confusable_form(other)


@given(st.text("aZ0lI|-_ /éöß\u200b\u0301ｇ\U0001d400", max_size=20))
def test_neither_case_nor_what_can_not_be_seen_makes_a_look(name: str) -> None:
    assert confusable_form(f"a{name}") == confusable_form(f"a\u200b{name}\u0301")
    plain = "".join(each for each in name if each.isascii() and each.isalnum())
    assert confusable_form(f"x{plain}".upper()) == confusable_form(f"x{plain}".lower())


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "empty"), (" \t", "empty"), ("a\u200bb", "can't be seen"), ("a\x1b[31m", "can't be seen"),
        ("gрt", "U+0440"), ("Médical", "U+00E9"), (" gpt", "blank"), ("gpt ", "blank"), ("a  b", "blank"),
    ],
)  # fmt: skip
def test_a_name_that_may_not_stand_in_a_ranking_is_told_why(name: str, said: str) -> None:
    assert said in model_name_problem(name)


@given(st.lists(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=8), min_size=1))
def test_words_of_visible_ascii_with_single_blanks_may_stand(words: list[str]) -> None:
    assert model_name_problem(" ".join(words)) == ""
    assert model_name_problem("  ".join([*words, "x"])) and model_name_problem(" ".join(words) + "é")
