"""Several models: common questions, equation 6 and ranks. Numbers by hand."""

import pytest

from lmms_medtasks.report import ReportOptions, build_report
from lmms_medtasks.task_configs.medq_deg.report_paper import (
    INTER_MODEL,
    RANKS,
    compared_caveats,
    model_names,
    shared_conditions,
)

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
MILD, SEVERE = "mild (our degradations, 2 trials)", "severe (our degradations, 2 trials)"


@pytest.fixture
def analyses(write_run, task_sets_of):
    def of(**changed):
        runs = []
        for name, trials in {**MODELS, **changed}.items():
            runs.append(write_run(name, trials=trials, questions=QUESTIONS, levels=trials, model=name))
        return task_sets_of(*runs, resamples=20)

    return of


def records(sources):
    """The tables of the comparison of these sources: a record a row, by the key of the table; and their notes."""
    shown = [section for view in (RANKS, INTER_MODEL) if (section := view.section(sources, False))]
    tables = {table.key: table for section in shown for table in section.tables}
    rows = {
        key: [
            dict(zip((column.name for column in table.columns), (cell.value for cell in row.cells), strict=True))
            for row in table.rows
        ]
        for key, table in tables.items()
    }
    return rows, {key: table.all_notes for key, table in tables.items()}


def test_equation_6_stands_beside_what_alike_models_show(analyses):
    found, _ = records(analyses())
    rows = {row["level and task set"]: row for row in found["inter_model_dke"]}
    # Mild: accuracies 1, 0.5, 0 and shifts 0, 0.5, 1: all three pairs fulfil it.
    mild = rows[MILD]
    assert (mild["pairs"], mild["fulfilled"], mild["Spearman (the paper's)"]) == (3, 3, -1)
    assert mild["share if all models are alike"] == 100  # C is 1 of all: shift is 1 less accuracy in every exchange
    # Severe: good 0.5, shift 1 - 0.5 = 0.5; fair 0.75, shift 0.5 - 0.75 = -0.25; poor 0, shift 1: all three again.
    severe = rows[SEVERE]
    assert (severe["fulfilled"], severe["share (the paper's)"]) == (3, 100)
    points = {row["model"]: row for row in found["inter_model_points"] if row["level and task set"] == SEVERE}
    assert {model: row["shift"] for model, row in points.items()} == {"good": 0.5, "fair": -0.25, "poor": 1}


def test_ranks_and_order(analyses):
    found, _ = records(analyses())
    (order,) = found["rank_consistency"]
    # Mild: good, fair, poor. Severe: fair, good, poor. One swap of three pairs: tau (2 - 1) / 3.
    assert order["Kendall"] == pytest.approx(1 / 3)
    assert (order["swaps"], order["swaps beyond chance"]) == (1, None)


def test_only_questions_that_all_were_asked_are_compared(analyses):
    sets = analyses(poor={1: {"q1": "AA"}, 2: {"q1": "BB"}})
    mild, _ = shared_conditions(sets)
    assert [flag.kind for flag in compared_caveats(sets)] == ["warning", "warning"]
    assert (mild.questions, mild.left_out) == (1, 1)
    # On q1 alone all three are right.
    assert set(mild.accuracies().values()) == {1}
    assert records(sets)[0]["inter_model_dke"][0]["share (the paper's)"] is None


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
    assert records(sets) == ({}, {})
    assert [flag.kind for flag in compared_caveats(sets)] == ["note"]


def repeated(trials, times):
    return {level: {name: letters * times for name, letters in own.items()} for level, own in trials.items()}


def test_runs_of_different_t_share_no_row(write_run):
    runs = [
        write_run(f"{model}{times}", trials=repeated(trials, times), questions=QUESTIONS, levels=(1, 2), model=model)
        for times in (1, 2)
        for model, trials in MODELS.items()
    ]
    part = build_report(runs, ReportOptions(resamples=20, drawn=False)).parts[0]
    tables = {table.key: table for section in part.sections for table in section.tables}
    assert not any("shift" in column.name for column in tables["models"].columns)
    for key in ("inter_model_dke", "inter_model_points"):
        assert {row.cells[0].value.rpartition(", ")[2] for row in tables[key].rows} == {"2 trials)", "4 trials)"}


def test_questions_of_fewer_trials_are_not_compared_by_confidence(analyses):
    # On q1, the only question that all were asked at L1, one model has one trial in place of two. At L2 that model has
    # T = 1 throughout: a task set of its own.
    short = {level: {"q1": "A"} | ({"q2": "AA"} if level == 1 else {}) for level in (1, 2)}
    whole = {level: {"q1": "AB"} for level in (1, 2)}
    sets = analyses(good=whole, fair=short, poor=whole)
    mild = [flag.text for flag in compared_caveats(sets) if "equation 6 is left out" in flag.text]
    assert len(mild) == 1 and mild[0].startswith(MILD)
    points = records(sets)[0]["inter_model_points"]
    assert {(row["level and task set"], row["model"]) for row in points} == {(SEVERE, "good"), (SEVERE, "poor")}
