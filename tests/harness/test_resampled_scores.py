"""Which aggregations' resamples are believed, and what the result file is told of them."""

import itertools
import json

import pytest

from lmms_medtasks.harness import resampled_scores
from lmms_medtasks.harness.resampled_scores import resampled
from lmms_medtasks.statistics.paired_resampling import resampled_change
from tests.statistics.test_paired_resampling import macro_f1, rows_of

RIGHT = "AABBCCABCABCAABB"
CLEAN = rows_of(RIGHT, "AABBCCABCABBAABA")
DEGRADED = rows_of(RIGHT, "ABBBCAABCACBABBA")
UNITS = [str(number // 2) for number in range(len(RIGHT))]
NAMED = [
    [{"id": number, "hit": right == given} for number, (right, given) in enumerate(rows)] for rows in (CLEAN, DEGRADED)
]


def by_name(values):
    """Not the mean over questions, and each is kept once."""
    return (sum({each["id"]: each["hit"] for each in values}.values()) / len({each["id"] for each in values})) ** 2


def the_largest(values):
    return max(values)


def in_the_middle(values):
    return values[len(values) // 2]


def emptied(values):
    return sum(each.pop("hit", False) for each in values) / len(values)


def written(values):
    with open("scores.json", "w") as file:
        json.dump(values, file)
    return macro_f1(values)


def of(aggregation, clean, degraded, **given):
    reported = (aggregation(clean), aggregation(degraded))
    return resampled(aggregation, clean, degraded, UNITS, reported, seed="f1,none", **given)


def test_a_macro_f1_has_interval_and_test_over_pictures():
    found = of(macro_f1, CLEAN, DEGRADED)
    wanted = resampled_change(macro_f1, CLEAN, DEGRADED, UNITS, seed="f1,none")
    assert {key: found[key] for key in ("low", "high", "p", "units", "rows", "resamples")} == {
        key: getattr(wanted, key) for key in ("low", "high", "p", "units", "rows", "resamples")
    }
    assert found["low"] < macro_f1(DEGRADED) - macro_f1(CLEAN) < found["high"] and found["units"] == 8
    assert json.loads(json.dumps(found)) == found


def test_fewer_resamples_where_a_call_is_slow_and_none_where_it_is_too_slow(monkeypatch):
    """A call takes 10 ms by this clock: 4 calls a resample are 40 s for 1,000, 20 s for 500."""
    clock = itertools.count()
    monkeypatch.setattr(resampled_scores.time, "perf_counter", lambda: next(clock) / 100)
    assert of(macro_f1, CLEAN, DEGRADED, seconds=20.1)["resamples"] == 500
    assert of(macro_f1, CLEAN, DEGRADED, seconds=7.9) is None


@pytest.mark.parametrize(
    ("aggregation", "clean", "degraded"),
    [
        (by_name, *NAMED),
        (the_largest, [number / 7 for number in range(16)], [number / 9 for number in range(16)]),
        (in_the_middle, [number / 7 for number in range(16)], [number / 9 for number in range(16)]),
    ],
)
def test_one_that_drops_what_is_drawn_twice_or_goes_by_order_is_not_believed(aggregation, clean, degraded):
    assert of(aggregation, clean, degraded) is None


def test_one_that_changes_its_records_or_gives_another_value_is_not_believed():
    reported = (0.5, 0.5)
    assert resampled(emptied, *([dict(each) for each in rows] for rows in NAMED), UNITS, reported, seed="") is None
    assert resampled(macro_f1, CLEAN, DEGRADED, UNITS, reported, seed="") is None


def test_one_that_writes_is_not_called(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert resampled(written, CLEAN, DEGRADED, UNITS, (macro_f1(CLEAN), macro_f1(DEGRADED)), seed="") is None
    assert not list(tmp_path.iterdir())
