"""A clean question stands once for each of its degraded forms."""

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.statistics.pairing import pairs


def test_pairs_by_hand():
    found = pairs(["a", "b", "c"], ["c", "a", "x", "a"])
    assert found.clean.tolist() == [2, 0, 0]
    assert found.degraded.tolist() == [0, 1, 3]
    assert found.clean_alone == 1  # b
    assert found.degraded_alone == 1  # x


@pytest.mark.parametrize(("clean", "degraded"), [([], []), (["a"], []), ([], ["a"]), (["a"], ["b"])])
def test_no_pairs(clean, degraded):
    found = pairs(clean, degraded)
    assert len(found.clean) == len(found.degraded) == 0
    assert (found.clean_alone, found.degraded_alone) == (len(clean), len(degraded))


def test_a_clean_question_twice_is_refused():
    with pytest.raises(UserError, match="'b'"):
        pairs(["a", "b", "b"], ["a"])
