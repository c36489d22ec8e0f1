"""P values are written in one way everywhere, and none as 0."""

import pytest

from lmms_medtasks.report.cells import probability
from lmms_medtasks.statistics.p_values import p_text


@pytest.mark.parametrize(
    ("p", "text"), [(1.0, "1.0000"), (0.0001, "0.0001"), (0.00009, "9.0e-05"), (1e-12, "1.0e-12"), (0.0, "<1e-300")]
)
def test_small_ones_are_written_in_powers_of_ten(p, text):
    assert p_text(p) == text
    cell = probability(p).value
    assert cell == text if p < 0.0001 else cell == p
