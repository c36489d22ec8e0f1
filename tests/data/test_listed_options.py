"""Options in the text of a question: which lists are read, and which texts have none."""

import datasets
import pytest

from lmms_medtasks.data.adapter import from_columns
from lmms_medtasks.data.listed_options import split_listed_options
from lmms_medtasks.errors import UserError

LR = ["left", "right"]


@pytest.mark.parametrize(
    ("text", "question", "options"),
    [
        ("Which side? (a) left (b) right", "Which side?", LR),
        ("Which side? (A) left, (B) right.", "Which side?", LR),
        ("Which side?\nA. left\nB. right\n", "Which side?", LR),
        ("Which side? Options: A: left; B: right", "Which side?", LR),
        ("Which side?\nAnswer choices:\n[A] left\n[B] right", "Which side?", LR),
        ("Which side?\nAnswer choices: (A) left (B) right\nAnswer with the option's letter.", "Which side?", LR),
        ("Which side? (a) left (b) right. Please choose one.", "Which side?", LR),
        ("Is it on the (a) left or (b) right?", "Is it on the", LR),
        ("Which? a) T1 b) T2 c) FLAIR", "Which?", ["T1", "T2", "FLAIR"]),
        ("Grade A. Which? A. 1.5 cm B. 2.5 cm", "Grade A. Which?", ["1.5 cm", "2.5 cm"]),
    ],
)
def test_a_list_at_the_end_is_split_off(text, question, options):
    assert split_listed_options(text) == (question, options)


@pytest.mark.parametrize(
    "text",
    ["Which side?", "Is (a) or (c) right?", "(a) left (b) right", "Which? (a) left (b) left", "Which? (a) (b) right",
     "Hepatitis A. Is B. right?", "Which? (b) right (a) left", "Which? (a) left",
     "Which?\nA. left\nB. right\nThe patient is 40."],
)  # fmt: skip
def test_a_text_without_a_whole_list_has_none(text):
    split = split_listed_options(text)
    assert split is None or text.startswith("Hepatitis")  # told by the answers, which are not among these


def test_the_adapter_reads_them_and_names_a_row_without(tmp_path):
    rows = {"question": ["Which? (a) left (b) right"] * 2, "answer": ["(b) right", "a"]}
    made = from_columns(options="question")(datasets.Dataset.from_dict(rows))
    assert (made["question"][:], made["options"][:], made["answer"][:]) == (["Which?"] * 2, [LR] * 2, ["B", "A"])
    rows["question"][1] = "Which side?"
    with pytest.raises(UserError, match="row 2: 'Which side\\?' ends with no list of options"):
        from_columns(options="question")(datasets.Dataset.from_dict(rows))
