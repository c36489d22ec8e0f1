"""Several methods: on common questions only, seeds paired, against scipy on the same resamples."""

import numpy as np
import pytest
import scipy.stats

from lmms_medtasks.seeding import generator
from lmms_medtasks.statistics.significance import adjust
from lmms_medtasks.task_configs.sure_vqa.report_across import Condition, across, duels, with_and_without
from lmms_medtasks.task_configs.sure_vqa.report_methods import methods
from lmms_medtasks.task_configs.sure_vqa.report_shifts import Shift, statistic

MODALITY = Shift("slake", "modality")
CLOSED = Condition(MODALITY, "closed")
MANY = {
    f"q{n}": (f"image {n // 2}", "iid" if n < 60 else "ood", "open" if n % 3 == 0 else "closed") for n in range(120)
}


@pytest.fixture
def method(write_sure_run, sources_of):
    """Writes runs and gives their methods."""

    def of_runs(**runs):
        folders = [write_sure_run(**{"name": name, "checkpoint": name, **chosen}) for name, chosen in runs.items()]
        return methods([source for folder in folders for source in sources_of(folder)])

    return of_runs


def labels(seed, iid, ood):
    rng = generator("test", seed)
    found = {}
    for name, (_, side, kind) in MANY.items():
        chance = iid if side == "iid" else ood
        found[name] = str(1 + rng.binomial(4, chance)) if kind == "open" else str(int(rng.random() < chance))
    return found


def test_on_questions_that_all_have_a_score_for(method):
    one, other = method(a={}, b={"labels": {"c1": "1", "c2": "?", "c3": "0.5", "c4": "1", "o1": "5", "o3": "5"}})
    found = across([one, other], resamples=20).compared[CLOSED]
    # Common: c1, c3 and c4. a: i.i.d. 0.75, OoD 1. Left out: c2 (no judgement) and c5 (not asked of b).
    assert found.rr == {"a": pytest.approx(1 / 0.75), "b": pytest.approx(1 / 0.75)}
    assert (found.questions, found.left_out) == (3, 2)
    assert found.differences["a", "b"].estimate == 0


def test_the_paper_s_welch_test_is_of_the_resampled_ratios(method):
    found = across(
        method(
            robust={"questions": MANY, "labels": labels(1, 0.8, 0.75)},
            fragile={"questions": MANY, "labels": labels(2, 0.8, 0.3)},
        ),
        resamples=200,
    )
    values = found.compared[CLOSED].values
    assert {name: len(each) for name, each in values.items()} == {"robust": 100, "fragile": 100}
    (test,) = (each for each in found.welch if each.condition == CLOSED)
    expected = scipy.stats.ttest_ind(values["robust"], values["fragile"], equal_var=False, nan_policy="omit")
    assert test.p == pytest.approx(expected.pvalue)
    assert found.welch_wins.wins.tolist() == [[0, 2], [0, 0]]


def test_the_paired_test_swaps_images_and_is_corrected_with_holm(method):
    found = across(
        method(
            robust={"questions": MANY, "labels": labels(1, 0.8, 0.75)},
            fragile={"questions": MANY, "labels": labels(2, 0.8, 0.3)},
        ),
        resamples=20,
    )
    tests = {each.condition: each for each in found.tests}
    assert len(tests) == 2 and tests[CLOSED].difference == pytest.approx(
        found.compared[CLOSED].differences["robust", "fragile"].estimate
    )
    assert found.compared[CLOSED].swaps["robust", "fragile"].images == 60
    smaller, larger = sorted(tests.values(), key=lambda each: each.p)
    assert smaller.adjusted == 2 * smaller.p and larger.adjusted == max(larger.p, smaller.adjusted)
    assert tests[CLOSED].p < 0.01


def test_equal_methods_are_called_different_by_welch_and_not_by_the_paired_test(method):
    """Before, the report led with Welch's test of resamples: it finds a difference where there is none."""
    found = across(
        method(
            one={"questions": MANY, "labels": labels(4, 0.8, 0.6)},
            other={"questions": MANY, "labels": labels(7, 0.8, 0.6)},
        ),
        resamples=100,
    )
    assert found.welch_wins.wins.sum() >= 1 and all(each.adjusted > 0.05 for each in found.tests)


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
def compared(method):
    """The comparison of the methods with images among these runs, resampled 20 times."""

    def of_runs(runs):
        every = method(**runs)
        competing = [each for each in every if each.image_shown and not each.baseline]
        return across(competing, resamples=20, every=every)

    return of_runs


def test_a_guesser_gets_no_robustness_rank(compared):
    """Before, who guesses was "most robust": nothing is lost where there was nothing."""
    found = compared(
        {**with_blind("good", 1, 0.95, 0.6, 0.5), **with_blind("fair", 2, 0.9, 0.5, 0.5),
         **with_blind("guesser", 3, 0.5, 0.56, 0.5), **FREQUENT}
    )  # fmt: skip
    rr = found.compared[CLOSED].rr
    assert rr["guesser"] > max(rr["good"], rr["fair"])  # the highest RR of all
    assert set(found.ranks[CLOSED]) == {"good", "fair"}
    standing = found.standings[CLOSED, "guesser"]
    assert not standing.better and standing.lacking == () and standing.adjusted > 0.05
    assert all(found.standings[CLOSED, name].better for name in ("good", "fair"))
    assert len(found.tests) == 2 * 3
    for name, each in found.ranks[CLOSED].items():
        assert 1 <= each.low <= each.rank <= each.high <= 2, name


def test_ranks_are_those_that_the_paired_tests_leave_open(compared):
    runs = {**with_blind("robust", 1, 0.95, 0.93, 0.4), **with_blind("fragile", 2, 0.95, 0.3, 0.4),
            "frequent": {**FREQUENT["frequent"], "labels": labels(9, 0.4, 0.4)}}  # fmt: skip
    found = compared(runs)
    assert [(each.low, each.high) for each in found.ranks[CLOSED].values()] == [(1, 1), (2, 2)]


def test_the_larger_p_of_both_baselines_counts_and_all_are_corrected(compared):
    found = compared({**with_blind("good", 1, 0.95, 0.6, 0.5), **with_blind("other", 2, 0.6, 0.5, 0.5), **FREQUENT})
    standings = list(found.standings.values())
    assert [each.p for each in standings] == [max(each.no_image.p, each.most_frequent.p) for each in standings]
    assert [each.adjusted for each in standings] == pytest.approx(adjust([each.p for each in standings]))
    assert standings[0].no_image.n == 40 and standings[0].no_image.images == 30


def test_without_a_baseline_there_is_no_rank_and_it_is_named(compared):
    runs = {**with_blind("good", 1, 0.95, 0.6, 0.5), **sure("unpaired", 2, 0.95, 0.6)}
    found = compared(runs)
    assert found.ranks == {}
    assert found.standings[CLOSED, "good"].lacking == ("most frequent",)
    assert found.standings[CLOSED, "unpaired"].lacking == ("no image", "most frequent")


def test_a_most_frequent_baseline_that_answers_nothing_does_not_count(compared):
    silent = {name: "_" for name in MANY}
    frequent = {"frequent": {**FREQUENT["frequent"], "labels": silent}}
    runs = {**with_blind("good", 1, 0.95, 0.6, 0.5), **with_blind("fair", 2, 0.9, 0.5, 0.5), **frequent}
    found = compared(runs).standings[CLOSED, "good"]
    assert found.silent and found.lacking == () and found.better


def test_a_most_frequent_baseline_is_met_on_the_questions_that_it_answers(compared):
    half = {name: "_" if n % 2 else "1" for n, name in enumerate(MANY)}
    frequent = {"frequent": {**FREQUENT["frequent"], "labels": half}}
    found = compared({**with_blind("good", 1, 0.95, 0.6, 0.5), **sure("other", 2, 0.9, 0.5), **frequent})
    standing = found.standings[CLOSED, "good"]
    assert standing.most_frequent.baseline == 1.0 and standing.most_frequent.n < standing.no_image.n
    assert not standing.better


def test_seeds_of_a_method_are_one_row_and_all_its_resamples(method):
    two = method(
        x_seed1={"questions": MANY, "labels": labels(1, 0.8, 0.6)},
        x_seed2={"questions": MANY, "labels": labels(2, 0.8, 0.6)},
        y={"questions": MANY, "labels": labels(3, 0.8, 0.6)},
    )
    found = across(two, resamples=100).compared[CLOSED]
    assert {name: len(each) for name, each in found.values.items()} == {"x": 200, "y": 100}
    single = [statistic(two[0].sources[n], MODALITY, "closed", "rr").estimate for n in (0, 1)]
    assert found.rr["x"] == pytest.approx(np.mean(single))


def test_what_robustness_depends_on(method):
    tasks = ["sure_slake_modality", "sure_slake_question_type", "sure_slake_corrupted_low"]
    both = method(
        a={"questions": MANY, "labels": labels(1, 0.8, 0.6), "tasks": tasks},
        b={"questions": MANY, "labels": labels(2, 0.8, 0.4), "tasks": tasks},
    )
    (found,) = across(both, resamples=0).depends
    assert (found.dataset, found.methods, found.conditions) == ("slake", ("a", "b"), 4)  # corruptions are no shifts
    groups = [list(each.rr.values()) for each in across(both, resamples=0).compared.values()]
    expected = scipy.stats.f_oneway(*groups)
    assert (found.between_shifts.f, found.between_shifts.p) == pytest.approx((expected.statistic, expected.pvalue))
    assert across(both, resamples=0).tests == across(both, resamples=0).welch == ()


def test_with_images_against_without(method):
    both = method(m={"tasks": ["sure_slake_modality", "sure_slake_modality_noimage"]}, other={})
    ((first, second),) = with_and_without(both)
    assert (first.name, second.name) == ("m", "m, no image")
    found = duels([(first, second)])
    assert [(each.condition.kind, each.side) for each in found] == [
        ("closed", "iid"), ("closed", "ood"), ("open", "iid"), ("open", "ood"),
    ]  # fmt: skip
    assert all(each.versus.tie.estimate == 1 for each in found)
    assert [each.versus.n for each in found] == [3, 2, 2, 1]


def test_duels_pair_runs_by_seed(method):
    # Seed 1 of x wins c1, seed 2 ties; the runs were given in another order for y.
    x, y = method(
        x_seed1={"labels": {"c1": "1"}},
        x_seed2={"labels": {"c1": "0"}},
        y_seed2={"labels": {"c1": "0"}},
        y_seed1={"labels": {"c1": "0"}},
    )
    (found,) = duels([(x, y)])
    assert (found.versus.win.estimate, found.versus.tie.estimate, found.versus.n) == (0.5, 0.5, 2)


def test_duels_pair_corrupted_forms_of_a_question_by_its_id(method):
    more = {"c1": {"pair": "q"}}
    questions = {"c1": ("a", "iid", "closed"), "c9": ("a", "iid", "closed")}
    x, y = method(
        x={"questions": questions, "labels": {"c1": "1"}, "more": more},
        y={"questions": questions, "labels": {"c9": "0"}, "more": {"c9": {"pair": "q"}}},
    )
    (found,) = duels([(x, y)])
    assert found.versus.win.estimate == 1
