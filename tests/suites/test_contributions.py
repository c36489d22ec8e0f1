"""Contributions to a number, image by image: what says that it is a sum and is none."""

import numpy as np
import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.record import MeasureValue, Record
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.statistics.sums import Statistic, group
from lmms_medtasks.suites.contributions import contributions
from lmms_medtasks.suites.estimates import Custom, Draw

ROWS = Samples.of_records(
    Record(f"q{n}", f"i{n}", ("A",), "A", {"accuracy": MeasureValue(float(n % 3 > 0))}, {}) for n in range(12)
)


def custom(function, mean=True):
    """A statistic of the scores and of ones."""
    columns = ROWS.column("accuracy.score"), np.ones(12)
    rows = group(ROWS.column("cluster").tolist(), *columns)
    return Custom(function=lambda _: Draw({"": rows}, {"mean": Statistic(function, ("",), (0, 1), mean=mean)}))


def of_square(sums):
    return (sums[..., 1].sum(-1) / sums[..., 0].sum(-1)) ** 2


def of_ratio(sums):
    return sums[..., 1].sum(-1) / sums[..., 2].sum(-1)


@pytest.mark.parametrize(("function", "made"), [(of_square, r"0.0555\d*"), (of_ratio, "nan")])
def test_a_function_that_says_it_is_linear_and_is_not_is_refused_with_both_numbers(function, made):
    value = f"{(4 / 9 if function is of_square else 2 / 3):.9g}"
    with pytest.raises(
        UserError, match=rf"metric 'own' says that it is linear.*They give {made}, its value is {value}"
    ):
        contributions([lambda: ROWS], custom(function), "own")
    assert not contributions([lambda: ROWS], custom(function, mean=False), "own").linear
