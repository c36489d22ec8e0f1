"""The options of a release's row: up to the last that is filled, without gaps."""

import pytest

from lmms_medtasks.data.release_options import filled
from lmms_medtasks.data.sources import RejectedRow


def test_options_end_at_the_last_that_is_filled():
    assert filled(["a", "b", "", ""]) == ["a", "b"]


@pytest.mark.parametrize(
    ("texts", "said"), [(["a", "", "c"], "option B is empty, but C is not"), (["a", ""], "1 options")]
)
def test_gaps_and_single_options_are_refused(texts, said):
    with pytest.raises(RejectedRow, match=said):
        filled(texts)
