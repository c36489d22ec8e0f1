"""Several models: common questions, equation 6, ranks. Figures by hand."""

import pytest

from lmms_medtasks.task_configs.medq_deg.report_models import caveats, compare, model_names

QUESTIONS = {
    "q1": ("image a", "CT", "Counting", "gaussian_noise", 2, "A"),
    "q2": ("image b", "MRI", "Disease Diagnosis", "motion_blur", 2, "A"),
}
# L1: good AA AA is right in 4 of 4, fair AA BB in 2, poor BB BB in 0; all unanimous, C = 1.
# L2: good AA BB 2 of 4, fair AA AB 3 of 4 with C = 1 and 0, poor BB BB 0.
MODELS = {
    "good": {1: {"q1": "AA", "q2": "AA"}, 2: {"q1": "AA", "q2": "BB"}},
    "fair": {1: {"q1": "AA", "q2": "BB"}, 2: {"q1": "AA", "q2": "AB"}},
    "poor": {1: {"q1": "BB", "q2": "BB"}, 2: {"q1": "BB", "q2": "BB"}},
}


@pytest.fixture
def analyses(write_run, task_sets_of):
    def of(**changed):
        runs = []
        for name, trials in {**MODELS, **changed}.items():
            runs.append(write_run(name, trials=trials, questions=QUESTIONS, levels=trials, model=name))
        return task_sets_of(*runs, resamples=20)

    return of


def test_equation_6(analyses):
    mild, severe = compare(analyses(), resamples=20).overconfidence
    # Mild: accuracies 1, 0.5, 0 and shifts 0, 0.5, 1: all three pairs fulfil it.
    assert (mild.dke.pairs, mild.dke.fulfilled, mild.dke.spearman) == (3, 3, -1)
    # Severe: good 0.5, shift 1 - 0.5 = 0.5; fair 0.75, shift 0.5 - 0.75 = -0.25; poor 0, shift 1: all three again.
    assert {model: point.shift for model, point in severe.points.items()} == {"good": 0.5, "fair": -0.25, "poor": 1}
    assert (severe.dke.fulfilled, severe.dke.share) == (3, 1)


def test_ranks_and_bump(analyses):
    found = compare(analyses(), resamples=20)
    (agreement,) = found.agreements
    # Mild: good, fair, poor. Severe: fair, good, poor. One swap of three pairs: tau (2 - 1) / 3.
    assert agreement.ranks.kendall == pytest.approx(1 / 3)
    assert [(swap.first_better, swap.second_better) for swap in agreement.ranks.swaps] == [("good", "fair")]
    assert found.bump == {
        "mild (simulated, T = 2)": {"good": 1, "fair": 2, "poor": 3},
        "severe (simulated, T = 2)": {"good": 2, "fair": 1, "poor": 3},
    }


def test_only_questions_that_all_were_asked_are_compared(analyses):
    sets = analyses(poor={1: {"q1": "AA"}, 2: {"q1": "BB"}})
    mild, _ = compare(sets, resamples=0).overconfidence
    assert [flag.kind for flag in caveats(sets)] == ["warning", "warning"]
    assert (mild.condition.questions, mild.condition.left_out) == (1, 1)
    # On q1 alone all three are right.
    assert set(mild.condition.accuracies().values()) == {1}
    assert mild.dke.share is None


def test_model_that_lacks_a_level_is_not_in_the_bump_chart(analyses):
    found = compare(analyses(poor={1: {"q1": "BB", "q2": "BB"}}), resamples=0)
    assert found.not_in_bump == ("poor",)
    assert set(found.bump["severe (simulated, T = 2)"]) == {"good", "fair"}


def test_two_runs_of_one_model_are_told_apart(write_run, task_sets_of):
    runs = [write_run("a"), write_run("b"), write_run("c", date="20260202_000000")]
    assert model_names(task_sets_of(*runs, resamples=0)) == [
        "some_model [20260101_000000] #1",
        "some_model [20260101_000000] #2",
        "some_model [20260202_000000]",
    ]


def test_no_two_models_on_one_task_set(write_run, task_sets_of):
    runs = [write_run("a", model="a"), write_run("b", model="b", stem="medq_deg_release", together=True)]
    sets = task_sets_of(*runs, resamples=0)
    found = compare(sets, resamples=0)
    assert (found.overconfidence, found.agreements, found.bump) == ((), (), {})
    assert [flag.kind for flag in caveats(sets)] == ["note"]
