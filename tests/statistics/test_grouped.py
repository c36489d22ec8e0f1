"""Means by tags and their changes: by hand, with every record accounted for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmms_medtasks.errors import UserError
from lmms_medtasks.statistics import accuracy
from lmms_medtasks.statistics.grouped import by_tags, changes, scores


def record(question, score=None, **tags):
    """A record of a question at L0, or of its form "question/form" if it has a degradation."""
    form = f"{question}/{tags['degradation']}" if tags.get("degradation") else question
    found = {"id": form, "question_id": question, "image_id": f"image of {question}", **tags}
    return found if score is None else {**found, "score": score}


RECORDS = [
    record("a", 1.0, modality="CT", capability="CU"),
    record("b", 0.5, modality="CT", capability="AR"),
    record("c", 0.0, modality="CT", capability="CU"),
    record("d", None, modality="CT", capability="CU"),
    record("e", None, modality="MRI", capability="CU"),
    record("f", 1.0, modality="MRI"),
]


def test_means_by_hand():
    found = by_tags(RECORDS, ["modality"])
    assert list(found) == [("CT",), ("MRI",)]
    assert found[("CT",)].mean.estimate == pytest.approx(0.5)  # (1 + 0.5 + 0) / 3
    assert (found[("CT",)].mean.n, found[("CT",)].unscored) == (3, 1)
    assert (found[("MRI",)].mean.estimate, found[("MRI",)].mean.n, found[("MRI",)].unscored) == (1, 1, 1)


def test_records_without_a_tag_or_a_score_have_their_group():
    found = by_tags(RECORDS, ["capability", "modality"])
    assert list(found) == [("AR", "CT"), ("CU", "CT"), ("CU", "MRI"), (None, "MRI")]
    empty = found[("CU", "MRI")]
    assert (empty.mean.estimate, empty.mean.low, empty.mean.n, empty.unscored) == (None, None, 0, 1)
    assert sum(group.mean.n + group.unscored for group in found.values()) == len(RECORDS)


def test_no_tags_is_all_records():
    found = by_tags(RECORDS, [])
    assert list(found) == [()]
    assert found[()].mean.estimate == pytest.approx(accuracy.accuracy(RECORDS))
    assert (found[()].mean.n, found[()].unscored) == (4, 2)
    assert (by_tags([], [])[()].mean.estimate, by_tags([], [])[()].mean.n) == (None, 0)
    assert by_tags([], ["modality"]) == {}


def test_other_values_than_scores():
    found = by_tags(RECORDS, ["modality"], [0.1, np.nan, 0.3, 0.2, 0.4, np.nan])
    assert found[("CT",)].mean.estimate == pytest.approx(0.2)
    assert (found[("CT",)].unscored, found[("MRI",)].unscored) == (1, 1)
    with pytest.raises(ValueError, match="6 records"):
        by_tags(RECORDS, ["modality"], [1.0])


def test_a_tag_that_no_record_has_is_refused():
    with pytest.raises(UserError, match="'modalty'"):
        by_tags(RECORDS, ["modalty"])


def test_numbers_can_be_tags():
    records = [record("a", 1.0, severity=2), record("b", 0.0, severity=10), record("c", 0.0)]
    assert list(by_tags(records, ["severity"])) == [(2,), (10,), (None,)]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("xyz"), st.none() | st.integers(0, 10)), max_size=20), st.randoms())
def test_the_order_of_records_does_not_matter(rows, random):
    records = [
        record(str(number // 2), None if value is None else value / 10, tag=tag)
        for number, (tag, value) in enumerate(rows)
    ]
    expected = by_tags(records, ["tag"], resamples=20)
    random.shuffle(records)
    assert by_tags(records, ["tag"], resamples=20) == expected
    assert sum(group.mean.n for group in expected.values()) == (~np.isnan(scores(records))).sum()


CLEAN = [record("a", 1.0), record("b", 0.5), record("c", 0.0), record("d", None)]
DEGRADED = [
    record("a", 0.5, degradation="blur"),
    record("b", 0.5, degradation="blur"),
    record("a", 0.0, degradation="noise"),
    record("c", None, degradation="noise"),
    record("d", 1.0, degradation="noise"),
    record("x", 1.0, degradation="noise"),
]


def test_paired_changes_by_hand():
    found = changes(CLEAN, DEGRADED, ["degradation"])
    # Blurred were a and b: clean (1 + 0.5) / 2, blurred 0.5. With noise only a has a value on both sides: c was not
    # answered, d not when clean, x has no clean form.
    blur, noise = found[("blur",)], found[("noise",)]
    assert [each.estimate for each in (blur.before, blur.after, blur.change)] == [0.75, 0.5, -0.25]
    assert [each.estimate for each in (noise.before, noise.after, noise.change)] == [1, 0, -1]
    assert (blur.left_out, noise.left_out) == (0, 3)
    assert (noise.before.n, noise.after.n, noise.change.clusters) == (1, 1, 1)


def test_a_clean_question_weighs_as_often_as_it_was_degraded():
    # All together: clean a twice and b once, (1 + 1 + 0.5) / 3; degraded (0.5 + 0.5 + 0) / 3.
    found = changes(CLEAN, DEGRADED, [])[()]
    assert found.before.estimate == pytest.approx(2.5 / 3)
    assert found.change.estimate == pytest.approx(-1.5 / 3)
    assert found.left_out == 3


def test_pairs_are_drawn_by_their_clean_image():
    # A release's degraded images have ids of their own; what they were made from is the clean question's image.
    clean = [{**record(str(number), number % 3 / 2), "image_id": str(number // 2)} for number in range(12)]
    degraded = [{**record(str(number), 0.0, degradation="blur"), "image_id": f"own {number}"} for number in range(12)]
    found = changes(clean, degraded, [])[()]
    assert found.after.clusters == found.change.clusters == 6
    assert found.change.n == 24


def test_changes_of_whole_sets():
    clean = [record("a", 1.0, capability="CU"), record("b", 0.0, capability="CU"), record("c", None, capability="AR")]
    degraded = [record("a", 0.0, capability="CU"), record("c", 1.0, capability="AR"), record("z", 1.0, capability="IP")]
    found = changes(clean, degraded, ["capability"], paired=False)
    assert list(found) == [("AR",), ("CU",), ("IP",)]
    assert found[("CU",)].change.estimate == -0.5
    assert (found[("AR",)].before.estimate, found[("AR",)].change.estimate, found[("AR",)].left_out) == (None, None, 1)
    assert (found[("IP",)].before.n, found[("IP",)].after.estimate) == (0, 1)


def test_identical_levels_do_not_change_at_all():
    clean = [record(str(number), number / 7, modality="CT") for number in range(8)]
    for paired in (True, False):
        change = changes(clean, clean[::-1], ["modality"], paired=paired)[("CT",)].change
        assert (change.estimate, change.low, change.high) == (0, 0, 0)


def test_nothing_to_compare():
    for degraded in ([], [record("x", 1.0)]):
        found = changes(CLEAN, degraded, [])[()]
        assert (found.change.estimate, found.change.low, found.change.n) == (None, None, 0)
        assert found.left_out == len(degraded)
