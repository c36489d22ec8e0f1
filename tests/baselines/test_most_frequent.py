"""The most frequent answer."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lmms_medtasks.baselines.most_frequent import MostFrequentAnswer, read_pairs
from lmms_medtasks.errors import UserError

PAIRS = [("Where?", "left"), ("Where?", "right"), ("where? ", "Right"), ("How many?", "two")]


def prompt(question, *options):
    return "\n".join(
        [question, *(f"{letter}. {text}" for letter, text in zip("ABCDE", options, strict=False)), "Answer:"]
    )


def test_most_frequent_answer_to_the_same_question():
    # right 2, left 1 (case and spacing ignored).
    assert MostFrequentAnswer(PAIRS).answer(prompt("Where?", "left", "right")) == ("B", True)


def test_answer_must_be_an_option():
    assert MostFrequentAnswer(PAIRS).answer(prompt("Where?", "left", "middle")) == ("A", True)


def test_unknown_question_gets_the_most_frequent_answer_of_all():
    # right 2, two 1, left 1.
    assert MostFrequentAnswer(PAIRS).answer(prompt("Which?", "two", "right")) == ("B", False)


def test_nothing_known_gives_the_alphabetically_first_option():
    assert MostFrequentAnswer(PAIRS).answer(prompt("Which?", "zebra", "ape")) == ("B", False)


def test_order_of_training_does_not_matter():
    model, reverse = MostFrequentAnswer(PAIRS), MostFrequentAnswer(PAIRS[::-1])
    for question in ("Where?", "How many?", "Which?"):
        asked = prompt(question, "left", "two", "right")
        assert model.answer(asked) == reverse.answer(asked)


def test_looking_up_does_not_teach():
    model = MostFrequentAnswer(PAIRS)
    first = model.answer(prompt("Which?", "zebra", "ape"))
    assert model.answer(prompt("Which?", "zebra", "ape")) == first
    assert not first.known


def test_reads_prepared_rows(tmp_path):
    rows = {"question": ["a", "b", "c"], "options": [["x", "y"], [], ["x", "y"]], "answer": ["B", "text", "E"]}
    pq.write_table(pa.table(rows), tmp_path / "train.parquet")
    # An open question's answer is its text; a letter beyond the options names nothing.
    assert read_pairs(tmp_path / "train.parquet") == [("a", "y"), ("b", "text")]


def test_not_a_parquet_file(tmp_path):
    (tmp_path / "train.parquet").write_text("no")
    with pytest.raises(UserError, match=r"train\.parquet"):
        read_pairs(tmp_path / "train.parquet")
