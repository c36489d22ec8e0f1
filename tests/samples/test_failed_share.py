"""Failed requests of a run: few are a warning, a share above the board's is a failure."""

import pytest

from lmms_medtasks.board import rules
from lmms_medtasks.samples import failed_share

MOST = rules.read().thresholds["failure_rate"]


def content(*counts, repeats=1):
    """A result file's content of tasks with (failed, questions)."""
    names = [f"t{number}" for number in range(len(counts))]
    results = {
        name: {"alias": name, **({} if failed is None else {"failed_requests,none": failed})}
        for name, (failed, _) in zip(names, counts, strict=True)
    }
    samples = {name: {"effective": count} for name, (_, count) in zip(names, counts, strict=True)}
    return {"results": results, "n-samples": samples, "configs": {name: {"repeats": repeats} for name in names}}


@pytest.mark.parametrize(
    ("counts", "tasks"),
    [
        ([(0, 10)], []),
        ([(1, 10)], []),  # one says nothing of a share
        ([(2, 200)], []),  # 1 %, as many as may
        ([(2, 199)], ["t0"]),
        ([(3, 10), (0, 10), (None, 10)], ["t0"]),
        ([(1, 10), (1, 10)], ["all tasks"]),
        ([(1, 150), (1, 150)], []),
        ([(float("nan"), 10)], []),
    ],
)
def test_which_are_too_many(counts, tasks):
    assert [each.task for each in failed_share.too_many([content(*counts)], MOST)] == tasks


def test_trials_are_requests_and_several_files_are_one_run():
    assert failed_share.too_many([content((2, 40), repeats=5)], MOST) == []
    (found,) = failed_share.too_many([content((1, 10)), content((1, 10))], MOST)
    assert str(found) == "2 of 20 requests of all tasks failed (10.0%)"
    assert failed_share.too_many([{"results": {"a": {}}}, {"configs": {"a": None}}], MOST) == []
