"""Several methods: on common questions only, seeds paired, against scipy on the same resamples."""

import numpy as np
import pytest
import scipy.stats

from lmms_medtasks.seeding import generator
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
        folders = [write_sure_run(name=name, checkpoint=name, **chosen) for name, chosen in runs.items()]
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


def test_welch_and_ranks_are_of_the_resampled_ratios(method):
    found = across(
        method(
            robust={"questions": MANY, "labels": labels(1, 0.8, 0.75)},
            fragile={"questions": MANY, "labels": labels(2, 0.8, 0.3)},
        ),
        resamples=200,
    )
    values = found.compared[CLOSED].values
    assert {name: len(each) for name, each in values.items()} == {"robust": 100, "fragile": 100}
    (test,) = (each for each in found.tests if each.condition == CLOSED)
    expected = scipy.stats.ttest_ind(values["robust"], values["fragile"], equal_var=False, nan_policy="omit")
    assert test.p == pytest.approx(expected.pvalue)
    assert found.ranks[CLOSED] == {"robust": 1.0, "fragile": 2.0}
    assert found.win_loss.wins.tolist() == [[0, 2], [0, 0]]


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
    assert across(both, resamples=0).tests == ()


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
