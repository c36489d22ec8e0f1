"""One run's numbers by hand."""

import pytest

from lmms_medtasks.statistics.intervals import FEW
from lmms_medtasks.suites.judged_measures import judgement_counts
from lmms_medtasks.task_configs.sure_vqa import report
from lmms_medtasks.task_configs.sure_vqa.measures import SUITE
from lmms_medtasks.task_configs.sure_vqa.report_published import (
    PublishedShift,
    group_methods,
    shift_estimate,
    shift_groups,
    split_seed,
)

MODALITY = PublishedShift("slake", "modality")


@pytest.fixture
def read(write_sure_run, sources_of):
    """Writes a run and reads its sources."""
    return lambda **chosen: sources_of(write_sure_run(**chosen), resamples=50)


def of_test(source, table, head, kind, side):
    """A cell of a table with a row for each test."""
    (row,) = (each for each in table.rows_of([source])
              if each.where == MODALITY.where(kind, side))  # fmt: skip
    (column,) = (each for each in table.columns_of([source]) if each.head == head)
    return column.cell(source, row).value


def of_robustness(source, *heads):
    """Cells of closed questions in the table of robustness."""
    row = report.ROBUSTNESS_TABLE.rows_of([source])[0]
    columns = {each.head: each for each in report.ROBUSTNESS_TABLE.columns_of([source])}
    return [columns[head].cell(source, row).value for head in heads]


def test_scores_and_robustness(read):
    (found,) = read()
    # Closed: i.i.d. (1 + 1 + 0.5) / 3, OoD (1 + 0) / 2: RR = 0.5 / (5/6) = 0.6. Open: 3 / ((5 + 4) / 2) = 2/3.
    assert shift_estimate(found, MODALITY, "closed", "iid").estimate == pytest.approx(5 / 6)
    assert shift_estimate(found, MODALITY, "closed", "rr").estimate == pytest.approx(0.6)
    assert shift_estimate(found, MODALITY, "open", "rr").estimate == pytest.approx(2 / 3)
    assert of_test(found, report.TESTS, "score", "closed", "ood") == 0.5
    assert list(shift_groups(found)) == [(MODALITY, "closed"), (MODALITY, "open")]


def test_what_is_missing_gives_bounds(read):
    # Closed i.i.d. 1, ?, 0.5: bounds 1.5/3 and 2.5/3; OoD 1, ?: 1/2 and 2/2.
    labels = {"c1": "1", "c2": "?", "c3": "0.5", "c4": "1", "c5": "?"}
    (found,) = read(labels=labels)
    bounds = [[of_test(found, report.TESTS, f"missing as {end}", "closed", side) for end in ("worst", "best")]
              for side in ("iid", "ood")]  # fmt: skip
    assert bounds == [pytest.approx([1.5 / 3, 2.5 / 3]), [0.5, 1.0]]
    assert shift_estimate(found, MODALITY, "closed", "rr").estimate == pytest.approx(1 / 0.75)
    iid = found.rows.where(MODALITY.where("closed", "iid"))
    assert (len(iid), *judgement_counts(iid, "closed")) == (3, 2, 3)
    assert [of_test(found, report.TESTS, head, "closed", "iid") for head in ("n judged", "n")] == [2, 3]


def test_what_was_answered_at_all(read):
    labels = {"c1": "1", "c2": "_", "c3": "!", "c4": "_", "c5": "_"}
    (found,) = read(labels=labels)
    # Of two replies one is empty and counts as 0: 1/2 over all, 1 over the answered.
    heads = ("score of the answered", "score")
    iid, ood = ([of_test(found, report.TESTS, head, "closed", side) for head in heads] for side in ("iid", "ood"))
    assert iid == [1.0, 0.5]
    assert ood == [None, 0.0]
    assert of_test(found, report.TESTS, "failed", "closed", "iid") == 1
    assert of_test(found, report.TESTS, "empty", "closed", "iid") == 1


def test_one_test_alone_has_no_ratio(read):
    (found,) = read(labels={"c1": "1", "c2": "0"}, tasks=["sure_slake_modality_iid"])
    assert shift_estimate(found, MODALITY, "closed", "rr").estimate is None
    assert of_robustness(found, "n i.i.d.", "n OoD", "RR") == [2, 0, None]
    assert of_test(found, report.TESTS, "asked", "closed", "ood") == 0


def test_an_iid_score_of_zero_has_no_ratio(read):
    (found,) = read(labels={"c1": "0", "c2": "0", "c4": "1"})
    assert shift_estimate(found, MODALITY, "closed", "rr").estimate is None


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("lora_seed1", ("lora", "1")),
        ("adapters/lora-seed-12/final", ("adapters/lora/final", "12")),
        ("LoRA (Seed=3)", ("LoRA", "3")),
        ("seedling", ("seedling", "")),
        ("plain", ("plain", "")),
    ],
)
def test_the_seed_in_a_models_name(model, expected):
    assert split_seed(model) == expected


def test_seeds_are_joined(read):
    # OoD closed 1/2, 2/2, 0/2 of i.i.d. 5/6: RR 0.6, 1.2, 0: mean 0.6, deviation 0.6.
    labels = {"c1": "1", "c2": "1", "c3": "0.5", "c4": "1"}
    runs = [
        read(name=f"s{seed}", checkpoint=f"lora_seed{seed}", labels={**labels, "c4": c4, "c5": c5})[0]
        for seed, (c4, c5) in enumerate([("1", "0"), ("1", "1"), ("0", "0")])
    ]
    (method,) = group_methods(runs)
    assert (method.name, len(method.sources), method.cell.value) == ("lora", 3, "lora (3 seeds)")
    cell = method.joined(MODALITY, "closed", "rr")
    assert (cell.value, cell.sd, cell.low) == (pytest.approx(0.6), pytest.approx(0.6), None)
    (alone,) = group_methods(runs[:1])
    assert alone.name == "lora_seed0" and alone.joined(MODALITY, "closed", "rr").reason == FEW


def test_a_seed_without_a_value_leaves_the_joined_cell_empty(read):
    runs = [
        read(name=f"s{n}", checkpoint=f"lora_seed{n}", labels={"c1": iid, "c4": "1"})[0] for n, iid in enumerate("10")
    ]
    (method,) = group_methods(runs)
    assert method.joined(MODALITY, "closed", "rr").value is None  # the second run's i.i.d. score is 0
    assert method.joined(MODALITY, "closed", "iid").value == 0.5


def test_the_same_seed_twice_is_two_methods(read):
    runs = [read(name=f"r{n}", checkpoint="lora_seed1", date=f"2026010{n}_000000")[0] for n in (1, 2)]
    names = [method.name for method in group_methods(runs)]
    assert names == ["lora_seed1 [20260101_000000]", "lora_seed1 [20260102_000000]"]


def test_with_and_without_images_are_two_methods(read):
    runs = read(tasks=["sure_slake_modality", "sure_slake_modality_noimage"])
    assert [(method.name, method.image_shown) for method in group_methods(runs)] == [
        ("some_model", True),
        ("some_model, no image", False),
    ]


def test_exact_matches_alone_are_no_score(read):
    # No judge: c1 was settled by the exact match, c2 is missing. The mean of what was settled would be 1.
    verdict = {"status": "exact", "labels": {"correct": "1"}, "reason": "exact match", "reply": ""}
    exact = {"judgement": {"verdicts": [[verdict]]}}
    labels = {"c1": "1", "c2": "?", "c4": "1", "c5": "0"}
    (found,) = read(labels=labels, more={"c1": exact})
    assert shift_estimate(found, MODALITY, "closed", "iid").estimate is None
    assert shift_estimate(found, MODALITY, "closed", "rr").estimate is None
    heads = ("missing as worst", "missing as best", "n judged")
    assert [of_test(found, report.TESTS, head, "closed", "iid") for head in heads] == [0.5, 1.0, 1]
    assert shift_estimate(found, MODALITY, "closed", "ood").estimate == 0.5  # the other test was judged
    (all_exact,) = read(name="b", labels={"c1": "1", "c4": "1"}, more={"c1": exact, "c4": exact})
    assert shift_estimate(all_exact, MODALITY, "closed", "rr").estimate == 1.0  # nothing is missing there


def test_what_rules_settle_is_no_mean_where_no_judge_judged(read):
    labels = {"c1": "_", "c2": "?", "c4": "_", "c5": "?", "o1": "_", "o2": "?", "o3": "?"}
    (found,) = read(labels=labels, judge="none")
    heads = ("n judged", "n", "missing as worst", "missing as best")
    for kind, worst, best in (("closed", 0, 0.5), ("open", 1, 3)):
        assert [shift_estimate(found, MODALITY, kind, name).estimate for name in ("iid", "ood", "rr")] == [None] * 3
        assert [of_test(found, report.TESTS, head, kind, "iid") for head in heads] == [1, 2, worst, best]
    (method,) = group_methods([found])
    assert {method.joined(MODALITY, "closed", name).value for name in ("iid", "ood", "rr")} == {None}
    # The task's own metrics of the same questions.
    for name in ("closed_iid", "closed_ood", "open_iid", "closed_rr"):
        assert SUITE.metric(name).estimate.value(found.rows) is None
