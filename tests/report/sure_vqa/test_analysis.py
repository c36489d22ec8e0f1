"""One run's numbers by hand."""

import json

import pytest

from lmms_medtasks.report.sure_vqa.analysis import analyse
from lmms_medtasks.report.sure_vqa.methods import methods, split_seed
from lmms_medtasks.report.sure_vqa.reading import TRADITIONAL, Shift, sources
from lmms_medtasks.samples import result_files as results
from lmms_medtasks.statistics import coverage
from lmms_medtasks.task_configs.sure_vqa import scoring

MODALITY = Shift("slake", "modality")


@pytest.fixture
def analyses(write_sure_run):
    """Writes a run and analyses its sources."""

    def of_run(**chosen):
        (file,) = results.files(write_sure_run(**chosen))
        return [analyse(source, resamples=50) for source in sources(results.read(file))]

    return of_run


def test_scores_and_robustness(analyses):
    (found,) = analyses()
    closed, stars = found.get(MODALITY, "closed"), found.get(MODALITY, "open")
    # Closed: i.i.d. (1 + 1 + 0.5) / 3, OoD (1 + 0) / 2: RR = 0.5 / (5/6) = 0.6. Open: 3 / ((5 + 4) / 2) = 2/3.
    assert closed.robustness.iid.estimate == pytest.approx(5 / 6)
    assert closed.robustness.ratio.estimate == pytest.approx(0.6)
    assert stars.robustness.ratio.estimate == pytest.approx(2 / 3)
    assert closed.robustness.shared == 1  # image b
    assert stars.robustness.shared == 0
    assert closed.is_small and stars.is_small
    assert closed.missing == 0
    assert found.get(Shift("slake", "question_type"), "closed") is None


def test_what_is_missing_gives_bounds(analyses):
    # Closed i.i.d. 1, ?, 0.5: bounds 1.5/3 and 2.5/3; OoD 1, ?: 1/2 and 2/2. RR from (1/2)/(5/6) to 1/(1/2).
    labels = {"c1": "1", "c2": "?", "c3": "0.5", "c4": "1", "c5": "?"}
    (found,) = analyses(labels=labels)
    closed = found.get(MODALITY, "closed")
    assert closed.rr_bounds == pytest.approx((0.6, 2.0))
    assert closed.robustness.ratio.estimate == pytest.approx(1 / 0.75)
    iid = closed.sides["iid"]
    assert (iid.asked, iid.judged, iid.wanted, iid.coverage) == (3, 2, 3, pytest.approx(2 / 3))
    assert closed.missing == 2


def test_what_was_answered_at_all(analyses):
    labels = {"c1": "1", "c2": "_", "c3": "!", "c4": "_", "c5": "_"}
    (found,) = analyses(labels=labels)
    sides = found.get(MODALITY, "closed").sides
    # Of two replies one is empty and counts as 0: 1/2 over all, 1 over the answered.
    assert (sides["iid"].failed, sides["iid"].empty, sides["iid"].answered_share) == (1, 1, 0.5)
    assert sides["iid"].answered == 1.0
    assert found.get(MODALITY, "closed").robustness.iid.estimate == 0.5
    assert (sides["ood"].answered, sides["ood"].answered_share) == (None, 0.0)


def test_traditional_metrics_are_over_replies(analyses):
    (found,) = analyses(
        labels={"o1": "5", "o2": "!", "o3": "3"}, more={"o3": {"traditional": [dict.fromkeys(TRADITIONAL, 0.75)]}}
    )
    sides = found.get(MODALITY, "open").sides
    assert sides["iid"].text["bleu"] == 0.25 and sides["ood"].text["bleu"] == 0.75
    (without,) = analyses(name="without", text=None)
    assert without.get(MODALITY, "open").sides["iid"].text["bleu"] is None


def test_one_test_alone_has_no_ratio(analyses):
    (found,) = analyses(labels={"c1": "1", "c2": "0"}, tasks=["sure_slake_modality_iid"])
    closed = found.get(MODALITY, "closed")
    assert (closed.robustness.ratio.estimate, closed.rr_bounds) == (None, (None, None))
    assert closed.sides["ood"].asked == 0 and not closed.is_small


def test_an_iid_score_of_zero_has_no_ratio(analyses):
    (found,) = analyses(labels={"c1": "0", "c2": "0", "c4": "1"})
    assert found.get(MODALITY, "closed").robustness.ratio.estimate is None


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


def test_seeds_are_joined(analyses):
    # OoD closed 1/2, 2/2, 0/2 of i.i.d. 5/6: RR 0.6, 1.2, 0: mean 0.6, deviation 0.6.
    labels = {"c1": "1", "c2": "1", "c3": "0.5", "c4": "1"}
    runs = [
        analyses(name=f"s{seed}", checkpoint=f"lora_seed{seed}", labels={**labels, "c4": c4, "c5": c5})[0]
        for seed, (c4, c5) in enumerate([("1", "0"), ("1", "1"), ("0", "0")])
    ]
    (method,) = methods(runs)
    assert (method.name, method.seeds, method.cell.value) == ("lora", ("0", "1", "2"), "lora (3 seeds)")
    cell = method.joined(MODALITY, "closed", "rr")
    assert (cell.value, cell.sd, cell.low) == (pytest.approx(0.6), pytest.approx(0.6), None)
    (alone,) = methods(runs[:1])
    assert alone.name == "lora_seed0" and alone.joined(MODALITY, "closed", "rr").low is not None


def test_a_seed_without_a_value_leaves_the_joined_cell_empty(analyses):
    runs = [
        analyses(name=f"s{n}", checkpoint=f"lora_seed{n}", labels={"c1": iid, "c4": "1"})[0]
        for n, iid in enumerate("10")
    ]
    (method,) = methods(runs)
    assert method.joined(MODALITY, "closed", "rr").value is None  # the second run's i.i.d. score is 0
    assert method.joined(MODALITY, "closed", "iid").value == 0.5


def test_the_same_seed_twice_is_two_methods(analyses):
    runs = [analyses(name=f"r{n}", checkpoint="lora_seed1", date=f"2026010{n}_000000")[0] for n in (1, 2)]
    names = [method.name for method in methods(runs)]
    assert names == ["lora_seed1 [20260101_000000]", "lora_seed1 [20260102_000000]"]


def test_with_and_without_images_are_two_methods(analyses):
    runs = analyses(tasks=["sure_slake_modality", "sure_slake_modality_noimage"])
    assert [(method.name, method.image_shown) for method in methods(runs)] == [
        ("some_model", True),
        ("some_model, no image", False),
    ]


def test_exact_matches_alone_are_no_score(analyses):
    # No judge: c1 was settled by the exact match, c2 is missing. The mean of what was settled would be 1.
    exact = {"verdicts": [[{"status": "exact", "labels": {"correct": "1"}, "reason": "exact match", "reply": ""}]]}
    labels = {"c1": "1", "c2": "?", "c4": "1", "c5": "0"}
    (found,) = analyses(labels=labels, more={"c1": exact})
    closed = found.get(MODALITY, "closed")
    assert (closed.robustness.iid.estimate, closed.robustness.ratio.estimate) == (None, None)
    assert (closed.sides["iid"].low, closed.sides["iid"].high, closed.sides["iid"].judged) == (0.5, 1.0, 1)
    assert closed.robustness.ood.estimate == 0.5  # the other test was judged
    (all_exact,) = analyses(name="b", labels={"c1": "1", "c4": "1"}, more={"c1": exact, "c4": exact})
    assert all_exact.get(MODALITY, "closed").robustness.ratio.estimate == 1.0  # nothing is missing there


def test_what_rules_settle_is_no_mean_where_no_judge_judged(analyses, write_sure_run):
    labels = {"c1": "_", "c2": "?", "c4": "_", "c5": "?", "o1": "_", "o2": "?", "o3": "?"}
    (found,) = analyses(labels=labels, judge="none")
    for kind, worst, best in (("closed", 0, 0.5), ("open", 1, 3)):
        result = found.get(MODALITY, kind)
        assert [getattr(result.robustness, name).estimate for name in ("iid", "ood", "ratio")] == [None, None, None]
        iid = result.sides["iid"]
        assert (iid.judged, iid.wanted, iid.low, iid.high) == (1, 2, worst, best)
    (method,) = methods([found])
    assert {method.joined(MODALITY, "closed", name).value for name in ("iid", "ood", "rr")} == {None}
    # The task's own metrics of the same log.
    (log,) = write_sure_run("again", labels=labels, judge="none").glob("*.jsonl")
    rows = [scoring.metrics_of(json.loads(line)["metric"]) for line in log.read_text("utf-8").splitlines()]
    for name in ("closed_iid", "closed_ood", "open_iid"):
        assert coverage.judged_mean([row[name] for row in rows]) is None
    assert scoring.PAIRED["closed_rr"]([row["closed_rr"] for row in rows]) is None
