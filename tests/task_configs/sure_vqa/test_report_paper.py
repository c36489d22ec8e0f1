"""Several methods: RR on common questions, Table 20's analysis against scipy, and who is better than its baselines."""

import numpy as np
import pytest
import scipy.stats

from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.statistics.significance import adjust_p_values
from lmms_medtasks.task_configs.sure_vqa.report_paper import (
    ComparedMethods,
    f_test,
    on_common_questions,
    spread_over_seeds,
    variance_tables,
)
from lmms_medtasks.task_configs.sure_vqa.report_published import (
    PublishedShift,
    ShiftCondition,
    group_methods,
    shift_estimate,
)

MODALITY = PublishedShift("slake", "modality")
CLOSED = ShiftCondition(MODALITY, "closed")
MANY = {
    f"q{n}": (f"image {n // 2}", "iid" if n < 60 else "ood", "open" if n % 3 == 0 else "closed") for n in range(120)
}


@pytest.fixture
def read(write_sure_run, sources_of):
    """Writes runs and reads their sources."""

    def of_runs(**runs):
        folders = [write_sure_run(**{"name": name, "checkpoint": name, **chosen}) for name, chosen in runs.items()]
        return [source for folder in folders for source in sources_of(folder)]

    return of_runs


@pytest.fixture
def method(read):
    """Writes runs and gives their methods."""
    return lambda **runs: group_methods(read(**runs))


def labels(seed, iid, ood):
    rng = seeded_generator("test", seed)
    found = {}
    for name, (_, side, kind) in MANY.items():
        chance = iid if side == "iid" else ood
        found[name] = str(1 + rng.binomial(4, chance)) if kind == "open" else str(int(rng.random() < chance))
    return found


def test_on_questions_that_all_have_a_score_for(method):
    both = method(a={}, b={"labels": {"c1": "1", "c2": "?", "c3": "0.5", "c4": "1", "o1": "5", "o3": "5"}})
    found = on_common_questions(CLOSED, both)
    # Common: c1, c3 and c4. a: i.i.d. 0.75, OoD 1. Left out: c2 (no judgement) and c5 (not asked of b).
    assert found.rr == {"a": pytest.approx(1 / 0.75), "b": pytest.approx(1 / 0.75)}
    assert (found.questions, found.left_out) == (3, 2)


def test_seeds_of_a_method_are_joined(method):
    two = method(
        x_seed1={"questions": MANY, "labels": labels(1, 0.8, 0.6)},
        x_seed2={"questions": MANY, "labels": labels(2, 0.8, 0.6)},
        y={"questions": MANY, "labels": labels(3, 0.8, 0.6)},
    )
    single = [shift_estimate(two[0].sources[n], MODALITY, "closed", "rr").estimate for n in (0, 1)]
    assert on_common_questions(CLOSED, two).rr["x"] == pytest.approx(np.mean(single))


def test_what_robustness_depends_on(read):
    tasks = ["sure_slake_modality", "sure_slake_question_type", "sure_slake_corrupted_low"]
    both = read(
        a={"questions": MANY, "labels": labels(1, 0.8, 0.6), "tasks": tasks},
        b={"questions": MANY, "labels": labels(2, 0.8, 0.4), "tasks": tasks},
    )
    compared = ComparedMethods.of(both)
    assert len(compared.conditions) == 4  # corruptions are no shifts
    first = variance_tables(both).rows[0]
    common = [on_common_questions(each, compared.competing) for each in compared.conditions]
    values = np.array([list(each.rr.values()) for each in common])
    expected = scipy.stats.f_oneway(*values)
    assert [cell.value for cell in first.cells[:5]] == [
        "SLAKE", "a, b", 4, pytest.approx(expected.statistic), pytest.approx(expected.pvalue),
    ]  # fmt: skip
    assert first.cells[-2].value == pytest.approx(values.mean(axis=1).std(ddof=1))


def test_a_condition_in_which_a_method_has_no_robustness_is_in_no_analysis(read):
    failed = dict.fromkeys(MANY, "!")
    runs = {"a": {"questions": MANY, "labels": failed}, "b": {"questions": MANY, "labels": labels(2, 0.8, 0.4)}}
    assert variance_tables(read(**runs)) is None


def test_f_by_hand():
    # Means 0.7 and 1.0, of all 0.85: between = 3 (0.15^2 + 0.15^2) / 1 = 0.135; within = 4 x 0.1^2 / 4 = 0.01.
    f, p = f_test(np.array([[0.7, 0.8, 0.6], [0.9, 1.0, 1.1]]))
    assert (f, p) == pytest.approx((13.5, scipy.stats.f.sf(13.5, 1, 4)))


@pytest.mark.parametrize("values", [[[1.0, 2.0]], [[1.0], [2.0]], [[1.0, 1.0], [1.0, 1.0]], [[1.0, 1.0], [2.0, 2.0]]])
def test_without_enough_to_compare(values):
    assert f_test(np.array(values)) == (None, None)


def test_the_spread_of_one_value_is_none():
    assert spread_over_seeds(np.array([1.0])) is None and spread_over_seeds(np.array([1.0, 3.0])) == pytest.approx(
        2**0.5
    )


# --- Baselines --------------------------------------------------------------------------------------------------------

SHIFT = "sure_slake_modality"


def sure(name, seed, iid, ood, **chosen):
    return {name: {"questions": MANY, "labels": labels(seed, iid, ood), **chosen}}


def with_blind(name, seed, iid, ood, blind):
    """A model's run with images, and without."""
    return {
        **sure(name, seed, iid, ood),
        f"{name}-blind": {"questions": MANY, "labels": labels(seed + 100, blind, blind), "checkpoint": name,
                          "tasks": [f"{SHIFT}_noimage"]},
    }  # fmt: skip


FREQUENT = {"frequent": {"questions": MANY, "labels": labels(9, 0.5, 0.5), "model": "medtasks_most_frequent",
                         "checkpoint": ""}}  # fmt: skip


@pytest.fixture
def standing(read):
    """The standings of the methods with images among these runs, by kind of question and name."""

    def of_runs(runs):
        found = ComparedMethods.of(read(**runs)).standings
        return {(each.condition.kind, each.method): each for each in found}

    return of_runs


def test_a_guesser_is_not_better_than_its_baselines(standing):
    found = standing(
        {**with_blind("good", 1, 0.95, 0.6, 0.5), **with_blind("fair", 2, 0.9, 0.5, 0.5),
         **with_blind("guesser", 3, 0.5, 0.56, 0.5), **FREQUENT}
    )  # fmt: skip
    guesser = found["closed", "guesser"]
    assert not guesser.better and guesser.lacking == () and guesser.adjusted > 0.05
    assert all(found["closed", name].better for name in ("good", "fair"))


def test_the_larger_p_of_both_baselines_counts_and_all_are_corrected(standing):
    runs = {**with_blind("good", 1, 0.95, 0.6, 0.5), **with_blind("other", 2, 0.6, 0.5, 0.5), **FREQUENT}
    found = list(standing(runs).values())
    assert [each.p for each in found] == [max(test.p for test in each.tests.values()) for each in found]
    assert [each.adjusted for each in found] == pytest.approx(adjust_p_values([each.p for each in found]))
    assert list(found[0].tests) == ["no image", "most frequent"] and found[0].tests["no image"].n == 40


def test_a_baseline_that_was_not_run_is_named(standing):
    found = standing({**with_blind("good", 1, 0.95, 0.6, 0.5), **sure("unpaired", 2, 0.95, 0.6)})
    assert found["closed", "good"].lacking == ("most frequent",)
    assert found["closed", "unpaired"].lacking == ("no image", "most frequent")
    assert not any(each.better for each in found.values())


def test_a_most_frequent_baseline_that_answers_nothing_does_not_count(standing):
    frequent = {"frequent": {**FREQUENT["frequent"], "labels": {name: "_" for name in MANY}}}
    runs = {**with_blind("good", 1, 0.95, 0.6, 0.5), **with_blind("fair", 2, 0.9, 0.5, 0.5), **frequent}
    found = standing(runs)["closed", "good"]
    assert found.tests["most frequent"].n == 0 and found.lacking == () and found.better


def test_a_most_frequent_baseline_is_met_on_the_questions_that_it_answers(standing):
    half = {name: "_" if n % 2 else "1" for n, name in enumerate(MANY)}
    frequent = {"frequent": {**FREQUENT["frequent"], "labels": half}}
    found = standing({**with_blind("good", 1, 0.95, 0.6, 0.5), **sure("other", 2, 0.9, 0.5), **frequent})
    good = found["closed", "good"]
    assert good.tests["most frequent"].baseline == 1.0 and good.tests["most frequent"].n < good.tests["no image"].n
    assert not good.better


def test_seeds_count_by_the_mean_of_their_scores(standing):
    # On q1 seed 1 is right and seed 2 wrong: half a point against the model without the image.
    asked = {"q1": ("a", "iid", "closed"), "q2": ("b", "ood", "closed")}
    runs = {f"m_seed{n}": {"questions": asked, "labels": {"q1": first, "q2": "1"}} for n, first in ((1, "1"), (2, "0"))}
    blind = {"m-blind": {"questions": asked, "labels": {"q1": "0", "q2": "0"}, "checkpoint": "m_seed1",
                         "tasks": [f"{SHIFT}_noimage"]}}  # fmt: skip
    (found,) = standing({**runs, **blind}).values()
    assert found.tests["no image"][:3] == (1, 0.5, 0.0)
