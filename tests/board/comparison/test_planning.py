"""Planning a comparison: from two runs, and before any."""

import numpy as np
import pytest

from lmms_medtasks.board.comparison import compared_entries, planning
from lmms_medtasks.board.comparison.planning import PowerPlan
from lmms_medtasks.errors import UserError
from lmms_medtasks.report.terminal import screen_text
from lmms_medtasks.statistics.power import TestCriterion, standard_errors_needed
from tests.board.made_up_entries import of_every_kind, sides

TASK = "medq_deg_l1"


def plan(points=5.0, **chosen):
    return PowerPlan(points / 100, TestCriterion(), **chosen)


def side(tmp_path, runs, name, answers, images=40):
    rows = runs.choice_rows(answers, images=images)
    return compared_entries.read_compared_runs(runs.write(tmp_path / name, {TASK: rows}, model=name))


def test_the_smallest_difference_from_two_runs_by_hand(tmp_path, runs):
    """40 images with one question each; B is wrong on 10 that A has right, and right on 10 that A has wrong."""
    ids = [f"q{number:02}" for number in range(40)]
    a = {name: "A" if row < 30 else "B" for row, name in enumerate(ids)}
    b = {name: "A" if row >= 30 or row < 20 else "B" for row, name in enumerate(ids)}
    one, other = (side(tmp_path, runs, name, answers) for name, answers in (("a", a), ("b", b)))
    (found,) = [each for each in planning.of_runs(one, other, plan()) if each.measure == "accuracy"]
    assert (found.images, found.questions, found.trials) == (40, 40, 1)
    # Changes: 10 of +1, 10 of -1, 20 of 0. Variance 20 / 39, standard error of the mean sqrt(20 / 39 / 40);
    # a step of the sum is 1, of the mean 1 / 40.
    error = np.sqrt(20 / 39 / 40)
    assert found.shown == pytest.approx(standard_errors_needed(40) * error + 1 / 40)
    assert list(found.needed) == [1]
    # About (1.96 + 0.84)^2 * 0.513 / 0.05^2 = 1609, and a little for the step.
    assert found.needed[1] == pytest.approx(1650, rel=0.03)


def test_more_trials_take_fewer_images_where_trials_vary(tmp_path, runs):
    rng = np.random.default_rng(0)
    draw = lambda share: {  # noqa: E731
        f"q{row:03}": "".join("AB"[int(each > share)] for each in rng.random(3)) for row in range(200)
    }
    one, other = (side(tmp_path, runs, name, draw(share), 200) for name, share in (("a", 0.7), ("b", 0.6)))
    (found,) = [each for each in planning.of_runs(one, other, plan()) if each.measure == "accuracy"]
    assert found.trials == 3
    assert found.needed[1] > 2 * found.needed[3] > 2 * found.needed[10] > 0


def test_too_few_images_have_no_plan(tmp_path, runs):
    answers = {f"q{row}": "A" for row in range(4)}
    one, other = (side(tmp_path, runs, name, answers, 4) for name in "ab")
    (found,) = [each for each in planning.of_runs(one, other, plan()) if each.measure == "accuracy"]
    assert found.shown is None and "fewer than 5" in found.reason and not found.needed


def test_before_a_run_by_hand():
    """400 images with one question: a fifth changes, so the variance is 0.2 - 0.05^2 and the error its root over 20."""
    (found,) = planning.plan_before_run({"x": (400, 400, 3)}, plan(), changed=0.2, correlation=0.3)
    error = np.sqrt((0.2 - 0.05**2) / 400)
    assert found.shown == pytest.approx(standard_errors_needed(400) * error + 1 / 400)
    # So many images show it, and no fewer: the two columns are of one rule.
    (again,) = planning.plan_before_run(
        {"x": (400, 400, 3)}, PowerPlan(found.shown, TestCriterion()), changed=0.2, correlation=0.3
    )
    assert again.needed[1] == pytest.approx(400, rel=0.03)
    # (1.96 + 0.84)^2 * 0.1975 / 0.05^2 = 620; the step of a question takes some more.
    assert found.needed[1] == pytest.approx(660, rel=0.05)


def test_no_difference_is_larger_than_the_share_of_questions_that_change():
    """With 10 images that would be 44 points of 20 that can differ: no number then, but images still."""
    (found,) = planning.plan_before_run({"x": (10, 10, 1)}, plan(), changed=0.2, correlation=0.2)
    assert found.shown is None and found.needed[1] is not None


@pytest.mark.parametrize(
    "call",
    [
        lambda: plan(0),
        lambda: plan(101),
        lambda: plan(trials=(0,)),
        lambda: plan(trials=()),
        lambda: planning.plan_before_run({"x": (10, 10, 1)}, plan(), 0.0, 0.2),
        lambda: planning.plan_before_run({"x": (10, 10, 1)}, plan(), 0.2, 1.5),
        lambda: planning.plan_before_run({"x": (10, 10, 1)}, plan(30), 0.2, 0.2),
    ],
    ids=["nothing", "too much", "no trial", "no trials", "no change", "correlation", "more than changes"],
)
def test_out_of_range(call):
    with pytest.raises(UserError):
        call()


def test_compare_says_what_it_could_have_shown(tmp_path, runs):
    from lmms_medtasks.board.comparison.comparison_document import comparison_report
    from lmms_medtasks.board.comparison.measure_comparison import compare

    rng = np.random.default_rng(1)
    one, other = (
        side(tmp_path, runs, name, {f"q{row:02}": "AB"[int(rng.random() > 0.7)] for row in range(40)}) for name in "ab"
    )
    compared = compare(one, other)
    (table,) = [each for _, each in comparison_report(compared).tables() if each.key == "differences"]
    place = [column.name for column in table.columns].index("detectable")
    least = compared.comparisons[0].detectable
    assert table.rows[0].cells[place].value == pytest.approx(100 * least.difference)
    assert 15 < 100 * least.difference < 45


def test_what_is_no_mean_over_questions_is_planned_by_image():
    """Two trials a question: how they vary is known of a mean alone. The macro mean of two equal halves is the mean."""
    two = {"expected": ["A"] * 24, "trials": [["A", "B"]] * 24}
    answers = (("a", "111111111110", "110011001100"), ("b", "111110111111", "100000001111"))
    both = sides(*(of_every_kind(name, *letters, columns=two) for name, *letters in answers))
    found = {each.measure: each for each in planning.of_runs(*both, plan())}
    assert (found["accuracy"].images, found["accuracy"].questions, set(found["accuracy"].needed)) == (
        12,
        24,
        {1, 3, 10},
    )
    for name in ("balanced", "drop", "robust", "items", "ece"):
        assert (found[name].images, found[name].questions, set(found[name].needed)) == (12, None, {2})
    assert found["balanced"].shown == pytest.approx(found["accuracy"].shown)
    (line,) = [
        line
        for line in screen_text(planning.power_report([found["balanced"]], plan(), ())).splitlines()
        if "balanced" in line
    ]
    assert line.split()[2:5] == ["12", "–", "2"]
