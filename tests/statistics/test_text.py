"""Against nltk's BLEU and a naive count of tokens; normalisation by hand."""

import doctest
import math
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmms_medtasks.statistics import text
from lmms_medtasks.statistics.text import TokenScores, bleu_1, exact_match, split_tokens, token_scores

nltk_bleu = pytest.importorskip("nltk.translate.bleu_score")
WORDS = st.lists(st.sampled_from(["left", "right", "lung", "no", "ct"]), max_size=7).map(" ".join)


def test_examples_in_docstrings():
    assert doctest.testmod(text).failed == 0


@pytest.mark.parametrize(
    ("given_text", "expected"),
    [
        ("The X-Ray.", ("x", "ray")),
        ("Left lung, right lung", ("left", "lung", "right", "lung")),
        ("two", ("2",)),
        ("3.5 cm", ("3.5", "cm")),
        ("A", ("a",)),  # an option's letter is no article
        ("  \n", ()),
        ("", ()),
    ],
)
def test_normalisation(given_text, expected):
    assert split_tokens(given_text) == expected


@pytest.mark.parametrize(
    ("answer", "reference", "same"),
    [
        ("Yes.", "yes", True),
        ("yes, no", "yes", False),
        ("not enlarged", "enlarged", False),
        ("a", "the", False),
        ("", "yes", False),
        ("lung left", "left lung", False),
    ],
)
def test_exact_match_is_equality_after_normalisation(answer, reference, same):
    assert exact_match(answer, reference) is same


def naive(answer, reference):
    """Strike each matched token out of the reference, one by one."""
    left, matched = list(split_tokens(reference)), 0
    for token in split_tokens(answer):
        if token in left:
            left.remove(token)
            matched += 1
    if not matched:
        return 0, 0, 0
    precision, recall = matched / len(split_tokens(answer)), matched / len(split_tokens(reference))
    return precision, recall, 2 / (1 / precision + 1 / recall)


@settings(max_examples=100, deadline=None)
@given(WORDS, WORDS)
def test_token_scores_are_those_of_striking_out(answer, reference):
    assert token_scores(answer, reference) == pytest.approx(naive(answer, reference))


def test_token_scores_by_hand():
    # "right lung opacity right" against "right lung": right matches once, lung once: 2/4, 2/2, 2*0.5*1/1.5 = 2/3.
    assert token_scores("right lung opacity right", "Right lung") == TokenScores(0.5, 1.0, pytest.approx(2 / 3))
    assert token_scores("", "yes") == TokenScores(0.0, 0.0, 0.0)


@settings(max_examples=100, deadline=None)
@given(WORDS, WORDS)
def test_bleu_is_nltks(answer, reference):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nltk warns when nothing overlaps
        expected = nltk_bleu.sentence_bleu([reference.split()], answer.split(), weights=[1]) if reference else 0
    assert bleu_1(answer, reference) == pytest.approx(expected, abs=1e-12)


def test_bleu_by_hand():
    # 1 of 2 unigrams, the reference has 4: 1/2 * exp(1 - 4/2).
    assert bleu_1("fractured tibia", "fracture of left tibia") == pytest.approx(math.exp(-1) / 2)
    assert bleu_1("tibia tibia", "tibia") == pytest.approx(0.5)  # clipped
    assert bleu_1("Tibia!", "tibia") == 1.0
    assert bleu_1("", "tibia") == bleu_1("tibia", "") == 0.0


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=20), st.text(max_size=20))
def test_any_text_has_scores_in_range(answer, reference):
    numbers = [*token_scores(answer, reference), bleu_1(answer, reference)]
    assert all(0 <= number <= 1 for number in numbers)
    if split_tokens(answer) and exact_match(answer, reference):
        assert numbers == pytest.approx([1, 1, 1, 1])
