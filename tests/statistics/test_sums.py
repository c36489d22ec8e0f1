"""Groups of rows, and their sums by cluster and cell."""

import numpy as np
import pytest

from lmms_medtasks.statistics.sums import (
    cluster_sums,
    make_scored_group,
    make_sum_group,
    plain_cluster_sums,
    sums_by_cluster,
)


def test_cells_keep_sums_apart():
    # Cell 0: 1 and 2, cell 2: 5, cell 1 empty; a number of rows and a sum of each.
    rows = make_sum_group(["a", "b", "a"], [1, 2, 5], cells=np.array([0, 0, 2]), cell_count=3)
    found = plain_cluster_sums(rows, {"a": 0, "b": 1})
    assert found.tolist() == [[1, 1, 0, 0, 1, 5], [1, 2, 0, 0, 0, 0]]
    assert cluster_sums(rows, {"a": 0, "b": 1}).toarray().tolist() == found.tolist()


def test_sums_of_several_groups_are_over_the_clusters_of_all():
    found = sums_by_cluster(
        {"a": make_scored_group(["x", "x", "y"], [1.0, 0.0, 1.0]), "b": make_scored_group(["y"], [0.5])}
    )
    assert found[..., :2].tolist() == [[[2, 1], [1, 1]], [[0, 0], [1, 0.5]]]
    assert sums_by_cluster({}).shape[0] == 0


@pytest.mark.parametrize("values", [[0.0, np.nan], [np.inf, 0.0]])
def test_a_part_takes_finite_values_only(values):
    with pytest.raises(ValueError, match="NaN or infinity"):
        make_sum_group(["a", "b"], values)


@pytest.mark.parametrize("cells", [[0, 2], [-1, 0], [0]])
def test_a_part_takes_cells_in_range_only(cells):
    with pytest.raises(ValueError, match="cell from 0 to 1"):
        make_sum_group(["a", "b"], [0, 1], cells=np.array(cells), cell_count=2)
