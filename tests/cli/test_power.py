"""lmms-medtasks power, before any run."""

import pytest
from typer.testing import CliRunner

from lmms_medtasks.cli.app import build


def call(*arguments):
    return CliRunner().invoke(build(), ["power", *arguments])


def test_from_the_data_of_tasks(monkeypatch):
    monkeypatch.setenv("MEDTASKS_DATA", "mini")
    done = call("--tasks", "medq_deg_l2,medobvious", "--difference", "3")
    assert done.exit_code == 0, done.output
    rows = {line.split()[0]: line.split() for line in done.output.splitlines() if " overall " in line}
    # The mini data: 140 images with 1,218 degraded questions and three trials, 17 items with 136 questions.
    assert rows["medq_deg_l2"][2:5] == ["140", "1,218", "3"]
    assert rows["medobvious"][2:5] == ["17", "136", "1"]


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
