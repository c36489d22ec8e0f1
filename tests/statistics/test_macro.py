"""Macro means by hand: missing groups are named and left out, never counted as zero."""

import numpy as np
import pytest

from lmms_medtasks.seeding import generator
from lmms_medtasks.statistics.macro import macro_change, macro_mean

GROUPS = ["CU", "IP", "AR"]


def record(question, score, group=None, image=None):
    found = {"id": question, "question_id": question.split("/")[0], "image_id": image or question}
    found |= {} if score is None else {"score": score}
    return found | ({} if group is None else {"group": group})


def test_groups_weigh_alike():
    records = [record(str(number), 1.0, "CU") for number in range(9)] + [record("x", 0.0, "IP"), record("y", 0.5, "AR")]
    found = macro_mean(records, "group", GROUPS)
    assert found.mean.estimate == pytest.approx((1 + 0 + 0.5) / 3)  # over all records it would be 9.5 / 11
    assert found.n == {"CU": 9, "IP": 1, "AR": 1}
    assert found.used == ("CU", "IP", "AR") and found.missing == () and found.unnamed == {}


def test_missing_and_unnamed_groups_are_named():
    records = [
        record("a", 1.0, "CU"),
        record("b", 0.0, "CU"),
        record("c", None, "IP"),
        record("d", 1.0, "other"),
        record("e", 1.0),
    ]
    found = macro_mean(records, "group", GROUPS)
    assert found.mean.estimate == 0.5
    assert (found.used, found.missing, found.unnamed) == (("CU",), ("IP", "AR"), {"other": 1, "None": 1})


@pytest.mark.parametrize("records", [[], [record("a", None, "CU")], [record("a", 1.0, "other")]])
def test_no_group_is_none_not_zero(records):
    found = macro_mean(records, "group", GROUPS)
    assert (found.mean.estimate, found.mean.low, found.mean.n, found.n) == (None, None, 0, {})
    assert found.missing == ("CU", "IP", "AR")


def test_interval_is_that_of_written_out_draws():
    rng = generator("test", "macro")
    records = [
        record(f"{number:02d}", float(rng.random()), GROUPS[number % 3], image=f"{number // 2:02d}")
        for number in range(60)
    ]
    drawn = generator("bootstrap", 3).integers(0, 30, (200, 30))
    expected = []
    for images in drawn:
        rows = [row for image in images for row in records[2 * image : 2 * image + 2]]
        expected.append(np.mean([np.mean([row["score"] for row in rows if row["group"] == group]) for group in GROUPS]))
    found = macro_mean(records, "group", GROUPS, seed=3, resamples=200).mean
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(expected, [0.025, 0.975])))
    assert (found.n, found.clusters, found.undefined) == (60, 30, 0)


def test_resamples_without_a_group_are_counted():
    records = [record(str(number), number % 2, "CU") for number in range(9)] + [record("x", 0.0, "IP")]
    found = macro_mean(records, "group", GROUPS, resamples=1000).mean
    assert found.undefined / 1000 == pytest.approx(0.9**10, abs=0.06)  # 0.349, 4 standard errors


def test_paired_change_takes_groups_from_the_degraded():
    # a was degraded twice, b once, c not at all; the clean records have no group.
    clean = [record("a", 1.0), record("b", 0.0), record("c", 1.0)]
    degraded = [record("a/1", 0.5, "CU"), record("a/2", 0.0, "IP"), record("b/1", 1.0, "CU")]
    found = macro_change(clean, degraded, "group", GROUPS)
    # CU: clean (1 + 0) / 2, degraded (0.5 + 1) / 2. IP: 1, 0.
    assert found.before.estimate == pytest.approx((0.5 + 1) / 2)
    assert found.after.estimate == pytest.approx((0.75 + 0) / 2)
    assert found.change.estimate == pytest.approx(-0.375)
    assert (found.n, found.missing) == ({"CU": 2, "IP": 1}, ("AR",))


def test_change_of_whole_sets_is_over_groups_that_both_have():
    clean = [record("a", 1.0, "CU"), record("b", 0.0, "IP")]
    degraded = [record("c", 0.5, "CU"), record("d", 0.0, "AR"), record("e", 0.0, "other")]
    found = macro_change(clean, degraded, "group", GROUPS, paired=False)
    assert (found.before.estimate, found.after.estimate, found.change.estimate) == (1, 0.5, -0.5)
    assert (found.n, found.missing, found.unnamed) == ({"CU": 1}, ("IP", "AR"), {"other": 1})


def test_identical_levels_do_not_change_at_all():
    records = [record(str(number), number / 7, GROUPS[number % 3]) for number in range(12)]
    change = macro_change(records, records[::-1], "group", GROUPS).change
    assert (change.estimate, change.low, change.high) == (0, 0, 0)
