"""lmms-medtasks power, before any run."""

import pytest
from typer.testing import CliRunner

from lmms_medtasks.board.comparison.planning import PlannedPower, PowerPlan, power_report
from lmms_medtasks.cli.app import build_app
from lmms_medtasks.report.terminal import screen_text
from lmms_medtasks.statistics.power import TestCriterion


def call(*arguments):
    return CliRunner().invoke(build_app(), ["power", *arguments])


def test_from_the_data_of_tasks(monkeypatch):
    monkeypatch.setenv("MEDTASKS_DATA", "mini")
    done = call("--tasks", "medq_deg_l2,medobvious", "--difference", "3")
    assert done.exit_code == 0, done.output
    rows = {line.partition(",")[0]: line.split() for line in done.output.splitlines() if " overall " in line}
    # The mini data: 140 images with 1,218 degraded questions and three trials, 17 items with 136 questions.
    assert rows["medq_deg_l2"][2:5] == ["140", "1,218", "3"]
    assert rows["medobvious"][2:5] == ["17", "136", "1"]
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_the_screen_has_at_most_a_hundred_columns_whatever_is_planned_for():
    names = [f"a_long_name_of_a_task_{'x' * 40}_{end}" for end in ("iid", "ood")]
    trials = (1, 2, 3, 10, 30, 100, 1000)
    needed = dict.fromkeys(trials, 10_000_000)
    found = [PlannedPower(name, "accuracy", 100_000, 999_999, 100, 0.9999, "", needed) for name in names]
    lines = screen_text(power_report(found, PowerPlan(0.02, TestCriterion(), trials), ["a note " * 30])).splitlines()
    assert max(map(len, lines)) <= 100
    rows = [line for line in lines if "10,000,000" in line]
    assert len(rows) == 2 * 2 and len({line.partition(",")[0] for line in rows}) == 2
    heads = [each for line in lines if line.startswith("task, measure") for each in line.split() if each[:2] == "T="]
    assert heads == [f"T={each}" for each in trials]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "Give two runs"),
        (("one",), "expected two"),
        (("--tasks", "medobvious", "--trials", "many"), "whole numbers"),
        (("--tasks", "no_such_task"), "Unknown task"),
    ],
    ids=["nothing", "one run", "trials", "task"],
)
def test_mistakes(arguments, said):
    done = call(*arguments)
    assert done.exit_code != 0
    assert said in f"{done.output} {done.exception}"
