"""Commands about two runs on the same questions: ``compare``, ``gate`` and ``power``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from lmms_medtasks.cli.options import Confidence, IncludePath
from lmms_medtasks.errors import UserError
from lmms_medtasks.statistics.confidence import DEFAULT

if TYPE_CHECKING:
    from lmms_medtasks.board.comparison.measure_comparison import RunsComparison


Format = Literal["terminal", "md", "csv", "json"]
_BY_SUFFIX: dict[str, Format] = {".md": "md", ".csv": "csv", ".json": "json"}


def compare(
    first: Annotated[
        Path, typer.Argument(metavar="A", help="Result folder, *_results.json or submission of one model.")
    ],
    second: Annotated[Path, typer.Argument(metavar="B", help="The same of the model to compare with it.")],
    task: Annotated[list[str] | None, typer.Option("--task", help="Only this task; may be given again.")] = None,
    pins: Annotated[Path | None, typer.Option(help="A board's pins.yml: say what is not as pinned.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Write to this file; its suffix (.md, .csv, .json) says the format."),
    ] = None,
    format: Annotated[Format | None, typer.Option("--format", help="What to print: a screen, or all of it.")] = None,
    questions: Annotated[
        int, typer.Option(min=0, help="How many of the questions that differ most to show for each task.")
    ] = 20,
    confidence: Confidence = DEFAULT,
    include_path: IncludePath = None,
) -> None:
    """Compare two models question by question.

    Each task that both were run on is compared. Differences are B minus A over the same questions, with intervals and
    tests over images, Holm-corrected over all rows. For credentialed data questions are named by their ids only.
    """
    from lmms_medtasks.board.comparison import compared_entries, measure_comparison
    from lmms_medtasks.writing import write_text_atomically

    sides = compared_entries.read_both(first, second, tasks=task or (), pins=pins)
    compared = measure_comparison.compare(*sides, telling=questions)
    chosen = format or (_format_of_file(output) if output else "terminal")
    text = _render_comparison(compared, chosen)
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_text_atomically(output, text)
        typer.echo(f"Written: {output}", err=True)


def _format_of_file(output: Path) -> Format:
    if output.suffix not in _BY_SUFFIX:
        raise UserError(f"--output {output}: its suffix says no format. Use {', '.join(_BY_SUFFIX)}, or --format.")
    return _BY_SUFFIX[output.suffix]


def _render_comparison(compared: RunsComparison, chosen: Format) -> str:
    from lmms_medtasks.board.comparison.comparison_document import (
        comparison_report,
        comparison_screen,
        comparison_to_json,
    )
    from lmms_medtasks.report import terminal

    if chosen == "json":
        return json.dumps(comparison_to_json(compared), indent=1, allow_nan=False) + "\n"
    if chosen == "terminal":
        return terminal.screen_text(comparison_screen(compared))
    return terminal.document_text(comparison_report(compared), chosen)


_STATUS = {"passed": 0, "failed": 1, "undecided": 3}
"""2 is a user's mistake, as everywhere: nothing to read, a damaged baseline, bad rules."""


def gate(
    baseline: Annotated[
        Path, typer.Argument(metavar="BASELINE", help="Runs or submissions to compare with: a folder or a file.")
    ],
    candidate: Annotated[
        Path, typer.Argument(metavar="CANDIDATE", help="The new runs or submissions: a folder or a file.")
    ],
    rules: Annotated[Path | None, typer.Option("--rules", help="YAML with rules, before the built-in ones.")] = None,
    margin: Annotated[
        float | None,
        typer.Option(help="Largest drop that counts as not worse, a share of the measure's range. Default: 0.02."),
    ] = None,
    cannot_tell: Annotated[
        Literal["fail", "warn", "pass"] | None,
        typer.Option(help="If neither is shown: fail (status 3, the default), warn, pass (both status 0)."),
    ] = None,
    task: Annotated[list[str] | None, typer.Option("--task", help="Only this task; may be given again.")] = None,
    pins: Annotated[Path | None, typer.Option(help="A board's pins.yml: say what is not as pinned.")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the Markdown summary here too.")] = None,
    format: Annotated[
        Literal["terminal", "md"], typer.Option(help="What to print; md for a pull request.")
    ] = "terminal",
    confidence: Confidence = DEFAULT,
    include_path: IncludePath = None,
) -> None:
    """Fail if a candidate is worse than the baseline.

    Each measure has a margin: the largest loss that is tolerated. Exits with 0 if every measure is shown to be not
    worse, with 1 if one is shown to be worse or a run is not sound, with 3 if neither can be shown, and with 2 if
    nothing could be compared (unreadable files, bad rules). --margin and --cannot-tell are for measures that --rules
    does not name.
    """
    from lmms_medtasks.board.comparison import compared_entries, gate_summary
    from lmms_medtasks.board.comparison.gate import read_rules
    from lmms_medtasks.board.comparison.gate import run_gate as decided
    from lmms_medtasks.report.markdown import render_markdown
    from lmms_medtasks.report.terminal import screen_text
    from lmms_medtasks.writing import write_text_atomically

    chosen = read_rules(rules, margin=margin, on_cannot_tell=cannot_tell)
    sides = compared_entries.read_both(baseline, candidate, tasks=task or (), rules=chosen.board, pins=pins)
    outcome = decided(*sides, chosen)
    text = render_markdown(gate_summary.gate_report(outcome))
    printed = text if format == "md" else screen_text(gate_summary.gate_report(outcome, is_screen=True))
    typer.echo(printed, nl=False)
    if output is not None:
        write_text_atomically(output, text)
    if status := _STATUS[outcome.decision]:
        raise typer.Exit(status)


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
    """Say what difference so many images can show.

    It also says how many images a given difference between two models takes. With two runs A and B their own changes
    say how much images, questions and trials vary. Without runs the images and questions of the tasks' data are taken,
    and what would vary is assumed (--changed, --correlation).

    Questions of one image are not taken as independent, nor the trials of one question.
    """
    from lmms_medtasks.board.comparison import compared_entries, planning
    from lmms_medtasks.report.terminal import screen_text
    from lmms_medtasks.statistics.power import TestCriterion

    requested_tasks = [name.strip() for name in (tasks or "").split(",") if name.strip()]
    plan = planning.PowerPlan(
        difference / 100, TestCriterion(power=probability, comparisons=comparisons), _parse_trial_counts(trials)
    )
    if runs and len(runs) != 2:
        raise UserError(f"Got {len(runs)} run(s): expected two, A and B, or none and --tasks.")
    if runs:
        first_run, second_run = compared_entries.read_both(*runs, tasks=requested_tasks)
        planned = planning.of_runs(first_run, second_run, plan)
        notes: tuple[str, ...] = (
            f"From the changes between {first_run.name} and {second_run.name}. T: the trials of these runs; another "
            "number is planned from the variance among them.",
        )
    elif requested_tasks:
        from lmms_medtasks.harness import in_process

        planned = planning.plan_before_run(
            in_process.count_task_sizes(requested_tasks, include_path or ()), plan, changed, correlation
        )
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
    typer.echo(screen_text(planning.power_report(planned, plan, notes)), nl=False)


def _parse_trial_counts(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(number) for number in text.split(",") if number.strip())
    except ValueError:
        raise UserError(f"--trials is {text!r}, expected whole numbers with commas: 1,3,10.") from None
