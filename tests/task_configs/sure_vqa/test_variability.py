"""Analysis of variance against scipy and by hand; spreads, ranks and joined seeds by hand."""

import doctest
import math

import pytest
import scipy.stats

from lmms_medtasks.errors import UserError
from lmms_medtasks.task_configs.sure_vqa import variability
from lmms_medtasks.task_configs.sure_vqa.variability import Anova, Joined, anova, anova_of_methods, join, ranks, spread

TABLE = {
    ("modality", "closed"): {"x": 0.7, "y": 0.8, "z": 0.6},
    ("modality", "open"): {"x": 0.9, "y": 1.0, "z": 1.1},
}


def test_examples_in_docstrings():
    assert doctest.testmod(variability).failed == 0


def test_anova_by_hand():
    # Means 0.7 and 1.0, of all 0.85: between = 3 (0.15^2 + 0.15^2) / 1 = 0.135; within = 4 x 0.1^2 / 4 = 0.01.
    found = anova(TABLE)
    assert found.f == pytest.approx(13.5)
    assert (found.between, found.within) == (1, 4)
    assert found.p == pytest.approx(scipy.stats.f.sf(13.5, 1, 4))


def test_anova_of_methods_is_scipys():
    expected = scipy.stats.f_oneway([0.7, 0.9], [0.8, 1.0], [0.6, 1.1])
    found = anova_of_methods(TABLE)
    assert (found.f, found.p) == pytest.approx((expected.statistic, expected.pvalue))
    assert (found.between, found.within) == (2, 3)


@pytest.mark.parametrize(
    ("table", "degrees"),
    [
        ({"s": {"x": 1.0, "y": 2.0}}, (0, 1)),
        ({"s": {"x": 1.0}, "t": {"x": 2.0}}, (1, 0)),
        ({"s": {"x": 1.0, "y": 1.0}, "t": {"x": 1.0, "y": 1.0}}, (1, 2)),
        ({"s": {"x": 1.0, "y": 1.0}, "t": {"x": 2.0, "y": 2.0}}, (1, 2)),
        ({}, (-1, 0)),
    ],
)
def test_anova_without_enough_to_compare(table, degrees):
    assert anova(table) == Anova(None, None, *degrees)


def test_spread_by_hand():
    # Conditions' means 0.7 and 1.0: 0.3 / sqrt 2. Methods' means 0.8, 0.9, 0.85: 0.05.
    found = spread(TABLE)
    assert found.conditions == pytest.approx(0.3 / math.sqrt(2))
    assert found.methods == pytest.approx(0.05)
    assert spread({"s": {"x": 1.0, "y": 2.0}}).conditions is None
    assert spread({"s": {"x": 1.0}, "t": {"x": 3.0}}).methods is None


def test_ranks_with_ties():
    assert ranks({"s": {"x": 0.5, "y": 0.9, "z": 0.5}}) == {"s": {"x": 2.5, "y": 1.0, "z": 2.5}}


@pytest.mark.parametrize("gap", [{"x": 0.5}, {"x": 0.5, "y": math.nan}, {"x": 0.5, "y": None}])
@pytest.mark.parametrize("of", [anova, spread, ranks])
def test_a_table_with_a_gap_is_refused(of, gap):
    with pytest.raises(UserError, match=r"No value of 'y' for 't'.*Leave the method or the shift out"):
        of({"s": {"x": 0.5, "y": 0.6}, "t": gap})


def test_seeds_are_joined_with_their_sample_deviation():
    # 1, 2, 6: mean 3, deviations -2, -1, 3: 14 / 2 = 7.
    found = join([1.0, None, 2.0, 6.0])
    assert (found.mean, found.n) == (3.0, 3)
    assert found.sd == pytest.approx(math.sqrt(7))
    assert join([0.5]) == Joined(0.5, None, 1)
    assert join([None]) is None and join([]) is None
