"""Every record is counted, whatever became of its trials, and what is no vote is refused by name."""

import numpy as np
import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.statistics.votes import count_votes, take_common_questions


def test_counts_by_hand(question):
    table = count_votes([question("AAB?~_!", "B"), question("CC", "C", id="r", option_count=3)])
    # Two A, one B, and "unreadable", "truncated" and "empty" are one outcome; the failed request is no vote.
    assert table.counts.tolist() == [[2, 1, 0, 0, 3], [0, 0, 2, 0, 0]]
    assert table.replies.tolist() == [6, 2]
    assert table.failed.tolist() == [1, 0]
    assert table.right.tolist() == [1, 2]
    assert table.option_counts.tolist() == [4, 3]


def test_records_without_a_reply_keep_their_row(question):
    table = count_votes([question("!!"), question("AB", id="r")])
    assert len(table) == 2
    assert table.replies.tolist() == [0, 2]
    assert table.failed.tolist() == [2, 0]
    assert np.isnan(table.scores[0]) and table.scores[1] == 0.5


def test_no_records_give_an_empty_table():
    table = count_votes([])
    assert len(table) == 0
    assert table.scores.shape == table.replies.shape == (0,)


def test_question_id_falls_back_to_id(question):
    record = question("A", id="x/blur/L1", question_id="x")
    assert count_votes([record]).question_ids == ("x",)
    del record["question_id"]
    assert count_votes([record]).question_ids == ("x/blur/L1",)


def test_take_by_rows_and_by_mask(question):
    table = count_votes([question("A", id="a"), question("B", id="b"), question("C", id="c")])
    assert table.take([2, 0]).ids == ("c", "a")
    by_mask = table.take(np.array([False, True, True]))
    assert by_mask.ids == ("b", "c") and by_mask.counts[:, 1:3].tolist() == [[1, 0], [0, 1]]


def test_common_keeps_what_all_have(question):
    first = count_votes([question("A", id=name) for name in "cab"])
    second = count_votes([question("B", id=name) for name in "bd c".replace(" ", "")])
    shared = take_common_questions({"x": first, "y": second})
    assert shared["x"].ids == shared["y"].ids == ("b", "c")
    assert shared["y"].counts[:, 1].tolist() == [1, 1]
    assert take_common_questions({}) == {}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"trials": ["A", "E"]}, "'E'"),  # a fifth letter where there are four options
        ({"trials": ["no idea"]}, "'no idea'"),
        ({"answer": "F"}, "answer 'F'"),
        ({"answer": "AB"}, "answer 'AB'"),
        ({"option_count": 27}, "27"),
        ({"option_count": 0}, "0"),
        ({"image_id": ""}, "image_id"),
        ({"trials": None}, "trials"),
    ],
)
def test_what_is_no_vote_is_refused(question, change, said):
    others = question("AAAA", id="five", option_count=5)
    with pytest.raises(UserError) as error:
        count_votes([others, {**question("AB", id="odd"), **change}])
    assert said in str(error.value) and "'odd'" in str(error.value)


def test_rows_of_a_table_are_what_their_votes_alone_give(question):
    """Also where the rows left out have more options, and so one column more."""
    records = [question("AB", id="a", option_count=2), question("ABE", "B", id="b", option_count=5)]
    records += [question("A!B", id="c", option_count=2)]
    for rows in ([0], [2, 0], [1], [], [0, 1, 2]):
        alone, taken = count_votes([records[row] for row in rows]), count_votes(records).take(rows)
        assert (alone.ids, alone.image_ids) == (taken.ids, taken.image_ids)
        for name in ("counts", "option_counts", "answers", "failed"):
            one, other = getattr(alone, name), getattr(taken, name)
            assert one.tolist() == other.tolist() and (one.shape, one.dtype) == (other.shape, other.dtype), (rows, name)
