"""Forms of a text in which words are looked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.parsing.texts import fold_text, normalise_characters, to_plain_text, without_accents


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ｂ", "B"),
        ("③", "3"),
        ("答案是B", "答案是 B"),
        ("~~A~~ B", "  B"),
        ("<del>A</del>B", " B"),
        ("<b>C</b>", "C"),
        ("\\text{C}", "C"),
        ("<|begin_of_box|>C<|end_of_box|>", "<answer>C</answer>"),
        ("「B」", '"B"'),
        ("【答案】C", "[答案]C"),
        (".5", "0.5"),
        ("< .5 cm", "< 0.5 cm"),
        ("v1.5 and x.5", "v1.5 and x.5"),
        ("B</s>", "B "),
    ],
)
def test_normalised(text, expected):
    assert normalise_characters(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Top\u2013Left", "top-left"),
        ("the CENTRE", "the center"),
        ("**Central**  image", "center image"),
        ("a\n\n b ", "a\nb"),
        ("don\u2019t", "don't"),
    ],
)
def test_plain(text, expected):
    assert to_plain_text(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PET/CT", "pet ct"),
        ("β-Thalassaemia", "beta thalassemia"),
        ("Tumour of the oesophagus", "tumor of the esophagus"),
        ("non-displaced", "nondisplaced"),
        ("non malignant", "nonmalignant"),
        ("1-2", "1-2"),
        ("5\u201310 mm", "5-10 mm"),
        ("**Colour**", "color"),
        ("ischaemic fibre", "ischemic fiber"),
    ],
)
def test_folded(text, expected):
    assert fold_text(text) == expected


@given(st.text())
def test_accents_go_and_places_stay(text):
    assert len(without_accents(text)) == len(text)


def test_without_accents():
    assert without_accents("ÉPANCHEMENT à côté, Größe") == "EPANCHEMENT a cote, Große"
