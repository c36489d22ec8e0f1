"""Intervals of a source are kept by names that another process gives too; what has no such name is made again."""

import functools
from dataclasses import replace

import numpy as np
import pytest

from lmms_medtasks.build_cache import BuildCache
from lmms_medtasks.report.kept_intervals import KeptIntervals, stable_name
from lmms_medtasks.report.views import Source
from lmms_medtasks.statistics.intervals import Interval
from lmms_medtasks.statistics.sums import mean, mean_of_means
from lmms_medtasks.suites.estimates import Contrast, Custom, Mean
from tests.board.made_up_entries import made_up_entry

FOUND = {"mean": Interval(0.1 + 0.2, 1e-300, None, 3, 2, reason="few"), "change": Interval(None, None, None, 0, 0)}


def first_two(rows):
    return rows.take([0, 1])


def never():
    raise AssertionError("made again")


@pytest.fixture
def cache(tmp_path):
    return BuildCache.at(tmp_path / "cache")


def test_what_was_kept_is_known_to_the_next_build_and_not_to_a_source_of_other_rows(cache):
    first = KeptIntervals(cache, ["rows"])
    assert first.of("a", lambda: FOUND) == FOUND and first.of("a", never) == FOUND
    assert KeptIntervals(cache, ["rows"]).of("a", dict) == {}  # not written before the end
    first.keep()
    assert KeptIntervals(cache, ["rows"]).of("a", never) == FOUND
    assert KeptIntervals(cache, ["other rows"]).of("a", dict) == {}
    assert KeptIntervals(cache, ["rows"]).of("b", dict) == {}


def test_more_of_a_later_build_stands_beside_what_was_kept(cache):
    for name in ("a", "b"):
        kept = KeptIntervals(cache, ["rows"])
        kept.of(name, lambda: FOUND)
        kept.keep()
    last = KeptIntervals(cache, ["rows"])
    assert last.of("a", never) == last.of("b", never) == FOUND


def test_without_a_name_or_a_cache_it_is_made_each_time(cache):
    kept = KeptIntervals(cache, ["rows"])
    kept.of(None, lambda: FOUND)
    kept.keep()
    assert KeptIntervals(cache, ["rows"]).of(None, dict) == {}
    with pytest.raises(AssertionError, match="made again"):
        kept.of(None, never)
    nowhere = KeptIntervals()
    nowhere.of("a", lambda: FOUND)
    nowhere.keep()
    assert KeptIntervals().of("a", dict) == {}


def test_estimates_that_differ_in_anything_have_other_names():
    names = [
        stable_name((), Mean(), {}),
        stable_name((), Mean(measure="shift"), {}),
        stable_name((), Mean(bounds=(0, 1)), {}),
        stable_name((), Mean(where={"level": 1}), {}),
        stable_name((), Mean(where={"level": "1"}), {}),
        stable_name((), Mean(), {"level": 1}),
        stable_name((mean,), Mean(), {}),
        stable_name((mean_of_means,), Mean(), {}),
        stable_name((functools.partial(mean, column=1),), Mean(), {}),
        stable_name((), Custom(function=mean), {}),
        stable_name((), Contrast(first={"level": 0}, second={"level": 2}), {}),
        stable_name((), Contrast(first={"level": 2}, second={"level": 0}), {}),
    ]
    assert None not in names and len(set(names)) == len(names)


def test_the_order_of_a_restriction_is_no_part_of_the_name():
    assert stable_name({"a": 1, "b": (2, None)}) == stable_name({"b": (2, None), "a": 1})


@pytest.mark.parametrize(
    "value", [lambda rows: rows, functools.partial(lambda: 0), np.zeros(2), object(), {1, 2}, Mean]
)
def test_what_is_of_this_process_alone_has_no_name(value):
    assert stable_name(value) is None and stable_name(Custom(function=value)) is None


def test_a_restriction_to_a_run_by_its_number_has_no_name():
    """When another run joins, the number is another run's."""
    assert stable_name((), Mean(), {"run": 3}) is None and stable_name((), Contrast(first={"run": 3}), {}) is None
    assert stable_name((), Mean(), {"level": 3}) is not None


def test_a_copy_of_a_source_with_other_rows_has_no_interval_of_its_rows(cache):
    def source(scores, kept=None):
        rows = made_up_entry("m", {f"q{place}": score for place, score in enumerate(scores)}).scored("accuracy")
        found = Source("m", rows, rows, 1)
        return replace(found, kept=KeptIntervals(cache, ["rows"], rows)) if kept is None else found

    own = source([1.0, 1.0, 0.0, 1.0, 0.0])
    assert own.interval(Mean()).estimate == 0.6 and own.derived(first_two).interval(Mean()).estimate == 1.0
    own.kept.keep()
    # From the cache: the names are those of the first build, with a table of pairs apart from the source's own.
    again = source([1.0, 1.0, 0.0, 1.0, 0.0])
    assert again.interval(Mean()).estimate == 0.6 and again.derived(first_two).interval(Mean()).estimate == 1.0
    assert not again.kept._more
    other = source([0.0, 0.0, 0.0, 0.0, 1.0], kept=False)
    for copied in (
        replace(own, rows=other.rows, _known={}),
        replace(own.derived(first_two), rows=other.rows, _known={}),
    ):
        assert copied.interval(Mean()).estimate == 0.2
