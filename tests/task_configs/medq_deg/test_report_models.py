"""Several models: common questions, equation 6, ranks. Figures by hand."""

import pytest

from lmms_medtasks.report import Options, build
from lmms_medtasks.task_configs.medq_deg.report_models import caveats, compare, model_names, sections

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
    paper = mild.dke["entropy"].paper
    assert (paper.pairs, paper.fulfilled, paper.spearman) == (3, 3, -1)
    # Severe: good 0.5, shift 1 - 0.5 = 0.5; fair 0.75, shift 0.5 - 0.75 = -0.25; poor 0, shift 1: all three again.
    shifts = {model: point.shift for model, point in severe.points["entropy"].items()}
    assert shifts == {"good": 0.5, "fair": -0.25, "poor": 1}
    assert (severe.dke["entropy"].paper.fulfilled, severe.dke["entropy"].paper.share) == (3, 1)
    # Agreement: good AA BB 1, fair AA AB 1 and 0, poor 1; less accuracy 0.5, -0.25, 1.
    agreeing = {model: point.confidence for model, point in severe.points["agreement"].items()}
    assert agreeing == {"good": 1, "fair": 0.5, "poor": 1}


def test_ranks_and_bump(analyses):
    found = compare(analyses(), resamples=20)
    (agreement,) = found.agreements
    # Mild: good, fair, poor. Severe: fair, good, poor. One swap of three pairs: tau (2 - 1) / 3.
    assert agreement.ranks.kendall == pytest.approx(1 / 3)
    assert [(swap.first_better, swap.second_better) for swap in agreement.ranks.swaps] == [("good", "fair")]
    assert found.bump == {
        "mild (our degradations, 2 trials)": {"good": 1, "fair": 2, "poor": 3},
        "severe (our degradations, 2 trials)": {"good": 2, "fair": 1, "poor": 3},
    }


def test_only_questions_that_all_were_asked_are_compared(analyses):
    sets = analyses(poor={1: {"q1": "AA"}, 2: {"q1": "BB"}})
    mild, _ = compare(sets, resamples=0).overconfidence
    assert [flag.kind for flag in caveats(sets)] == ["warning", "warning"]
    assert (mild.condition.questions, mild.condition.left_out) == (1, 1)
    # On q1 alone all three are right.
    assert set(mild.condition.accuracies().values()) == {1}
    assert mild.dke["entropy"].paper.share is None


def test_model_that_lacks_a_level_is_not_in_the_bump_chart(analyses):
    found = compare(analyses(poor={1: {"q1": "BB", "q2": "BB"}}), resamples=0)
    assert found.not_in_bump == ("poor",)
    assert set(found.bump["severe (our degradations, 2 trials)"]) == {"good", "fair"}


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


@pytest.fixture
def compared(write_run):
    """The tables of the comparison of these runs, by key."""

    def of(*runs, drawn=False):
        part = build(list(runs), Options(resamples=20, drawn=drawn)).parts[0]
        tables = {table.key: table for section in part.sections for table in section.tables}
        return tables, [figure.key for section in part.sections for figure in section.figures], part

    return of


def repeated(trials, times):
    return {level: {name: letters * times for name, letters in own.items()} for level, own in trials.items()}


def test_runs_of_different_t_share_no_column_and_no_figure_of_c(write_run, compared):
    runs = [
        write_run(f"{model}{times}", trials=repeated(trials, times), questions=QUESTIONS, levels=(1, 2), model=model)
        for times in (1, 2)
        for model, trials in MODELS.items()
    ]
    tables, figures, part = compared(*runs, drawn=True)
    names = [column.name for column in tables["models"].columns]
    shifts = [name for name in names if name.startswith("shift")]
    assert shifts == ["shift L0 (T = 2)", "shift L2 (T = 2)", "shift L0 (T = 4)", "shift L2 (T = 4)"]
    for row in tables["models"].rows:
        filled = {name for name in shifts if row.cells[names.index(name)].value is not None}
        assert filled == {f"shift L2 ({'T = 4' if '4 trials' in row.cells[0].value else 'T = 2'})"}
        assert row.cells[names.index("agreement less accuracy, L2")].value is not None
    for trials in (2, 4):
        for key in (f"inter_model_dke_t{trials}", f"inter_model_points_t{trials}"):
            assert {f"{trials} trials" in row.cells[0].value for row in tables[key].rows} == {True}
    assert {"inter-model-t2", "inter-model-t4"} <= set(figures)
    assert any("T = 2 and T = 4" in flag.text for flag in part.flags)


def test_the_papers_figures_stand_beside_what_alike_models_show(write_run, compared):
    runs = [write_run(name, trials=own, questions=QUESTIONS, levels=(1, 2), model=name) for name, own in MODELS.items()]
    tables, _, _ = compared(*runs)
    found = tables["inter_model_dke_t2"]
    names = [column.name for column in found.columns]
    # Mild, C: three pairs of three fulfil it, as in most exchanges of unanimous replies.
    row = dict(zip(names, (cell.value for cell in found.rows[0].cells), strict=True))
    assert (row["fulfilled"], row["share (the paper's)"], row["Spearman (the paper's)"]) == (3, 100, -1)
    assert row["share if all models are alike"] == 100  # C is 1 of all: shift is 1 less accuracy in every exchange


def test_questions_of_fewer_trials_are_not_compared_by_confidence(analyses):
    # On q1, the only question that all were asked at L1, one model has one trial in place of two. At L2 that model has
    # T = 1 throughout: a task set of its own.
    short = {level: {"q1": "A"} | ({"q2": "AA"} if level == 1 else {}) for level in (1, 2)}
    whole = {level: {"q1": "AB"} for level in (1, 2)}
    sets = analyses(good=whole, fair=short, poor=whole)
    mild = [flag.text for flag in caveats(sets) if "equation 6 is left out" in flag.text]
    assert len(mild) == 1 and "2 trials" in mild[0]
    (severe,) = compare(sets, resamples=20).overconfidence
    assert severe.condition.label.startswith("severe") and set(severe.condition.tables) == {"good", "poor"}


def test_a_model_that_the_bump_chart_lacks_is_named(analyses):
    sets = analyses(poor={1: {"q1": "BB", "q2": "BB"}})
    said = [text for each in sections(sets, Options(resamples=0, drawn=False)) for text in each.paragraphs]
    assert "poor was not run on all task sets, so the chart leaves it out." in said
