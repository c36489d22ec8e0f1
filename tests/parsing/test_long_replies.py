"""Replies that repeat themselves: each reader comes back. Where its time grew with the square, it would not."""

import pytest

from lmms_medtasks.grid_positions import NONE_OPTION, GridSize
from lmms_medtasks.parsing.letter_sets import read_letters
from lmms_medtasks.parsing.option import read_first_capital, read_option
from lmms_medtasks.parsing.positions import read_option_position, read_position
from lmms_medtasks.parsing.reasoned import read_reasoned
from lmms_medtasks.parsing.yes_no import read_yes_no

LENGTH = 50_000
GRID = [*GridSize(2).positions, NONE_OPTION]
READERS = {
    "option": lambda reply: read_option(reply, ["Liver", "5-10 mm", "2", "No finding"]),
    "yes_no options": lambda reply: read_option(reply, ["Yes", "No"]),
    "first capital": lambda reply: read_first_capital(reply, 4),
    "yes_no": lambda reply: read_yes_no(reply, "Is there a nodule?", panel=True),
    "true or false": lambda reply: read_yes_no(reply, "True or false: 有结节?"),
    "letters": lambda reply: read_letters(reply, ["fever", "cough", "rash"]),
    "position": lambda reply: read_position(reply, GridSize(3)),
    "option position": lambda reply: read_option_position(reply, GRID, GridSize(2)),
    "reasoned": read_reasoned,
}
# Each is the beginning, or all, of what some pattern looks for.
FILLERS = (
    "A ", "a", "answer is ", "but ", "so, ", "答案", "是 ", "选", "左", "中间", "no ", "no, ", "wait, ", "it is ",
    "It is B. ", "all the same ", "a la ", "all images look the same, but the ", "(1,1) ", "\\boxed{", "\\text{", "<|",
    "<answer>", "'answer': ", "No finding. ", "**", "(", " ", "\n", "\n- ", "?", "1 ", "1-2 ", "5 mm to ", "top-left ",
    "choose the ",
    "the ", "there is no ", "A, B and ", "A. x\n", "answer: A ", "** answer ", "1. ", "true ",
)  # fmt: skip


@pytest.mark.parametrize("filler", FILLERS)
@pytest.mark.parametrize("reader", READERS)
def test_a_long_reply_is_read(reader, filler):
    assert READERS[reader](filler * (LENGTH // len(filler))).status
