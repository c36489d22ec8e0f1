"""``lmms-medtasks power``: what difference a comparison can show."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lmms_medtasks.cli.confidence_option import Confidence
from lmms_medtasks.cli.include_path import IncludePath
from lmms_medtasks.errors import UserError
from lmms_medtasks.statistics.confidence import DEFAULT


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command()(power)


def power(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[A B]", help="Two runs (or submissions) of one model each, to plan from."),
    ] = None,
    tasks: Annotated[
        str | None,
        typer.Option("--tasks", help="Tasks, with commas: before any run, or only these of A and B."),
    ] = None,
    difference: Annotated[float, typer.Option(help="The difference to be shown, in points.")] = 2.0,
    trials: Annotated[str, typer.Option(help="Numbers of trials to plan for, where A and B have several.")] = "1,3,10",
    probability: Annotated[float, typer.Option("--power", help="With what probability it is to be shown.")] = 0.8,
    confidence: Confidence = DEFAULT,
    comparisons: Annotated[int, typer.Option(help="Comparisons that are corrected for.")] = 1,
    changed: Annotated[
        float, typer.Option(help="Without runs, assumed: share of questions that one model has right, the other wrong.")
    ] = 0.2,
    correlation: Annotated[
        float, typer.Option(help="Without runs, assumed: correlation of the changes of two questions of one image.")
    ] = 0.2,
    include_path: IncludePath = None,
) -> None:
    """Say what difference between two models can be shown, and how many images a given difference takes.

    With two runs A and B their own changes say how much images, questions and trials vary. Without runs the images and
    questions of the tasks' data are taken, and what would vary is assumed (--changed, --correlation).

    Questions of one image are not taken as independent, nor the trials of one question.
    """
    from lmms_medtasks.board.comparison import compared_entries, planning
    from lmms_medtasks.report.terminal import screen
    from lmms_medtasks.statistics.power import Criterion
    from lmms_medtasks.suites import registry

    registry.give(include_path or ())
    asked = [each.strip() for each in (tasks or "").split(",") if each.strip()]
    plan = planning.Plan(difference / 100, Criterion(power=probability, comparisons=comparisons), _numbers(trials))
    if runs and len(runs) != 2:
        raise UserError(f"Got {len(runs)} run(s): expected two, A and B, or none and --tasks.")
    if runs:
        one, other = compared_entries.read_both(*runs, tasks=asked)
        found = planning.of_runs(one, other, plan)
        notes: tuple[str, ...] = (
            f"From the changes between {one.name} and {other.name}. T: the trials of these runs; another number is "
            "planned from the variance among them.",
        )
    elif asked:
        from lmms_medtasks.harness import in_process

        found = planning.assumed(in_process.count_task_sizes(asked, include_path or ()), plan, changed, correlation)
        notes = (
            f"Assumed: the models differ on {100 * changed:g} % of the questions, and the changes of two questions of "
            f"one image correlate by {correlation:g}. Overall: all questions of a task, right or wrong in one trial "
            "each (T is what the task asks). More trials, graded scores, or a measure of some of the questions, such "
            "as those of one level, need other numbers. Two short runs give a better plan: lmms-medtasks "
            "power A B.",
            "Images and questions are those of the data that MEDTASKS_DATA chooses, or else of what is prepared.",
        )
    else:
        raise UserError("Give two runs to plan from (lmms-medtasks power A B), or --tasks TASK,TASK before any run.")
    typer.echo(screen(planning.document(found, plan, notes)), nl=False)


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(each) for each in text.split(",") if each.strip())
    except ValueError:
        raise UserError(f"--trials is {text!r}, expected whole numbers with commas: 1,3,10.") from None
