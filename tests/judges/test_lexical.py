"""The judge that counts words."""

import dataclasses

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.judges import lexical
from lmms_medtasks.judges.protocol import JudgedItem, ScoreDimension


@pytest.mark.parametrize(
    ("answer", "reference", "f1"),
    [
        ("Pleural effusion.", "pleural effusion", 1.0),
        ("The effusion", "effusion", 1.0),
        ("a large effusion", "small effusion", 0.5),  # 1 common word, 2 and 2: 2 * 1 / 4
        ("effusion effusion", "effusion", 2 / 3),  # as multisets: 1 common, 2 and 1
        ("pneumothorax", "effusion", 0.0),
        ("", "effusion", 0.0),
        ("", "", 1.0),
        ("the", "a", 1.0),
    ],
)
def test_token_f1(answer, reference, f1):
    assert lexical.token_f1(answer, reference) == pytest.approx(f1)


@pytest.mark.parametrize(
    ("answer", "label"), [("effusion", "5"), ("small effusion", "4"), ("x", "1"), ("a b c d e effusion", "2")]
)
def test_on_the_scale(protocol, answer, label):
    # F1 2/3 -> 1 + 4 * 2/3 = 3.67 -> 4; "a" is an article: 1 common, 5 and 1 -> F1 1/3 -> 2.33 -> 2
    item = JudgedItem("q", {"question": "q", "reference": "effusion", "answer": answer})
    found = lexical.lexical_verdict(protocol, item)
    assert found.labels == {"correctness": label}
    assert found.reason == "lexical: not a language model"


def test_labels_in_any_order(protocol):
    kinds = ScoreDimension("kind", {"Incorrect": 0.0, "Correct": 1.0, "Unclear": 0.5})
    other = dataclasses.replace(protocol, dimensions=(kinds,))
    item = JudgedItem("q", {"question": "q", "reference": "small effusion", "answer": "large effusion"})
    assert lexical.lexical_verdict(other, item).labels == {"kind": "Unclear"}


def test_without_a_reference(protocol):
    with pytest.raises(UserError, match="has no 'reference'. Name another judge"):
        lexical.check_lexical_fields(dataclasses.replace(protocol, fields=("question", "answer")))
