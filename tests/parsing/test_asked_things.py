"""What sentences say of the thing that a question asks for."""

import pytest

from lmms_medtasks.parsing.asked_things import read_about


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("there is a pleural effusion", "yes"),
        ("the image shows an effusion", "yes"),
        ("there is no pleural effusion", "no"),
        ("no evidence of effusion", "no"),
        ("no acute effusion is seen", "no"),
        ("an effusion is not seen", "no"),
        ("no large effusion", None),
        ("the effusion is not large", None),
        ("the effusion may be small", None),
        ("the heart is not enlarged", None),
        ("there is an effusion, but no effusion is seen", None),
        ("", None),
    ],
)
def test_in_english(sentence, said):
    assert read_about(sentence, "is there a pleural effusion in this image?") == said


@pytest.mark.parametrize(
    ("sentence", "asked", "said"),
    [
        ("no hay derrame", "¿hay derrame en la imagen?", "no"),
        ("il n'y a pas de fracture", "y a-t-il une fracture sur cette image ?", "no"),
        ("keine fraktur erkennbar", "zeigt das bild eine fraktur?", "no"),
        ("eine fraktur ist sichtbar", "zeigt das bild eine fraktur?", "yes"),
        ("未见结节", "是否有结节?", "no"),
        ("可见结节", "有没有结节?", "yes"),
        ("结节不明显", "是否有结节?", "no"),
        ("可能有结节", "是否有结节?", None),
        ("无积液", "肺是否正常?", None),
    ],
)
def test_in_other_languages(sentence, asked, said):
    assert read_about(sentence, asked) == said


def test_a_question_that_turns_is_answered_by_no_finding():
    assert read_about("there is no nodule", "is the lung without a nodule?") is None
    assert read_about("the lung is normal", "is the lung normal?") == "yes"
