"""Which option's text a reply is, begins with, says or concludes with; worked by hand."""

import pytest

from lmms_medtasks.parsing.option_texts import Exact, OptionTexts, find_own_parts, signed_key, worded_key

FINDINGS = OptionTexts(["Pneumothorax", "Pleural effusion", "Hodgkin lymphoma", "Non-Hodgkin lymphoma"])
SIZES = OptionTexts(["<5 mm", "5-10 mm", ">10 mm"])
COUNTS = OptionTexts(["1", "2", "3"])
SIGNS = OptionTexts(["HER2+", "HER2-", "ER"])


@pytest.mark.parametrize(
    ("texts", "text", "places"),
    [
        (FINDINGS, "pneumothorax.", [0]),
        (FINDINGS, "a Pleural  Effusion", [1]),
        (FINDINGS, "non Hodgkin lymphoma", [3]),
        (FINDINGS, "effusion", []),
        (SIZES, "5\u201310 mm", [1]),
        (SIZES, "less than 5 mm", [0]),
        (SIZES, "10 mm or more", [2]),
        (SIZES, "7 mm", []),
        (OptionTexts(["HER2+", "HER2-"]), "HER2\u2212", [1]),
        (OptionTexts(["HER2+", "HER2-"]), "HER2", []),
        (OptionTexts(["Strand (+)", "Strand (-)"]), "strand (-)", [1]),
        (OptionTexts(["Strand (+)", "Strand (-)"]), "strand", []),
        (OptionTexts(["-1", "0", "1"]), "\u2013 1", [0]),
        (OptionTexts(["0", "1"]), "- 1", [1]),
        (OptionTexts(["2x3 cm", "3 cm"]), "2 \u00d7 3 cm", [0]),
        (FINDINGS, "pneumothorax (-)", []),
        (SIGNS, "HER2-", [1]),
        (SIGNS, "HER2 +", []),
        (OptionTexts(["cyst", "stone", "Cyst"]), "cyst", [0, 2]),
        (FINDINGS, "", []),
    ],
)
def test_the_options_that_a_text_is(texts, text, places):
    assert texts.find_equal(text) == places


@pytest.mark.parametrize(
    ("text", "lettered", "found"),
    [
        ("Non-Hodgkin lymphoma, stage II", False, Exact(3, 20)),
        ("Hodgkin lymphoma", False, Exact(2, 16)),
        ("A. Pneumothorax", True, Exact(0, 15)),
        ("(B) pleural effusion.", True, Exact(1, 20)),
        ("B, i.e. pleural effusion", True, Exact(1, 24)),
        ("A. Pleural effusion", True, None),
        ("Pneumothoraces", False, None),
    ],
)
def test_the_option_that_a_text_begins_with(text, lettered, found):
    assert FINDINGS.match_beginning(text, lettered) == found


@pytest.mark.parametrize(
    ("texts", "reply", "places"),
    [
        (FINDINGS, "The image shows a pneumothorax.", [0]),
        (FINDINGS, "Pneumothorax, no pleural effusion.", [0]),
        (FINDINGS, "While a pleural effusion is possible, this is a pneumothorax.", [0]),
        (FINDINGS, "It could be a pneumothorax.", []),
        (FINDINGS, "There is no pneumothorax.", []),
        (FINDINGS, "A history of pneumothorax.", []),
        (FINDINGS, "Pneumothorax is excluded.", []),
        (FINDINGS, "Denies pneumothorax.", []),
        (FINDINGS, "Free of pneumothorax.", []),
        (FINDINGS, "I doubt a pneumothorax.", []),
        (FINDINGS, "Less likely pneumothorax.", []),
        (FINDINGS, "Pneumothorax: absent.", []),
        (FINDINGS, "Pneumothorax (-), pleural effusion.", [1]),
        (FINDINGS, "Pneumothorax: negative; this is a pleural effusion.", [1]),
        (FINDINGS, "Pneumothorax would show a line.", []),
        (FINDINGS, "There is a pneumothorax and a pleural effusion.", [0, 1]),
        (FINDINGS, "Non-Hodgkin lymphoma", [3]),
        (FINDINGS, "pneumothorax " * 60, []),
        (SIZES, "The nodule measures 7 mm, so 5\u201310 mm.", [1]),
        (SIZES, "It is more than 10 mm wide.", [2]),
        (SIZES, "It is not > 10 mm.", []),
        (SIZES, "It may be > 10 mm.", []),
        # A number counts only what it is said to count.
        (COUNTS, "There are 2", [1]),
        (COUNTS, "There are 2 mm", []),
        (COUNTS, "More than 2", []),
        # A sign in words is not the other sign; a side of a size is no quantity.
        (OptionTexts(["HER2+", "HER2-"]), "HER2 positive", []),
        (OptionTexts(["HER2+", "HER2-"]), "It is HER2 negative.", []),
        (OptionTexts(["2x3 cm", "3 cm"]), "It measures 2 \u00d7 3 cm.", [0]),
    ],
)
def test_the_options_that_a_reply_says(texts, reply, places):
    assert texts.find_said(reply) == places


def test_a_sentence_concludes_by_its_words_or_as_the_last_one():
    assert FINDINGS.find_concluded("Therefore it is a pneumothorax.", last=False) == [0]
    assert FINDINGS.find_concluded("A pneumothorax.", last=False) == []
    assert FINDINGS.find_concluded("A pneumothorax.", last=True) == [0]
    assert FINDINGS.find_concluded("Is it a pneumothorax?", last=True) == []
    assert FINDINGS.find_concluded("I doubt that it is a pneumothorax", last=True) == []


def test_parts_of_texts_name_an_option_that_alone_has_them():
    vessels = OptionTexts(["Right coronary artery", "Left circumflex artery", "Salter type II", "Salter type III"])
    assert vessels.find_partly_said("It supplies the RCA territory") == [0]
    assert vessels.find_partly_said("the circumflex") == [1]
    assert vessels.find_partly_said("a type III fracture") == [3]
    assert vessels.find_partly_said("an artery") == []
    assert vessels.find_partly_said("not the circumflex") == []
    assert vessels.find_partly_said("the circumflex or the coronary one") == []


def test_own_parts_are_words_initials_and_numbered_kinds():
    shown = ["Right coronary artery", "Left circumflex artery", "Cyst"]
    found = find_own_parts(shown, [worded_key(text) for text in shown])
    assert [place for place, _ in found] == [0, 0, 1, 1]
    assert [pattern.pattern for _, pattern in found if pattern.pattern.isupper()] == ["RCA", "LCA"]


def test_options_that_differ_by_signs_alone_need_their_signs():
    modalities = OptionTexts(["PET-CT", "PET/CT", "Cyst"])
    assert modalities.find_equal("pet/ct") == [1]
    assert modalities.find_equal("pet ct") == []
    assert modalities.find_equal("a cyst") == [2]


def test_keys():
    assert signed_key("**HER2 +**.") == "her2 +"
    assert worded_key("The Épanchement.") == "epanchement"
    assert OptionTexts(["ab", "abcd"]).longest == 4


@pytest.mark.parametrize("count", [0, 27])
def test_the_number_of_options_is_bounded(count):
    with pytest.raises(ValueError, match=str(count)):
        OptionTexts(["x"] * count)
