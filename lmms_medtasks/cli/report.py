"""``lmms-medtasks report``: the tables of each benchmark's paper for runs of ours; ``view``: a run's questions."""

from __future__ import annotations

import shutil
import sys
import threading
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lmms_medtasks.cli.options import Confidence, IncludePath, ReportFormat, Resamples
from lmms_medtasks.errors import UserError
from lmms_medtasks.statistics.confidence import DEFAULT
from lmms_medtasks.visible_text import replace_invisible

if TYPE_CHECKING:
    from lmms_medtasks.report import ReportDocument


def report(
    runs: Annotated[list[Path], typer.Argument(help="Result folders of runs, or their *_results.json files.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="Write report.md, report.html and a CSV file for each table into this folder."
        ),
    ] = None,
    format: Annotated[ReportFormat, typer.Option("--format", help="What to print.")] = "terminal",
    everything: Annotated[
        bool, typer.Option("--all", help="In the terminal, all tables, with the published models.")
    ] = False,
    suite: Annotated[
        str | None, typer.Option("--suite", metavar="BENCHMARK", help="In the terminal, the tables of this benchmark.")
    ] = None,
    resamples: Resamples = 1000,
    pair: Annotated[
        list[str] | None,
        typer.Option(metavar="BASE=TUNED", help="Compare two models, by the names the report gives them. Repeatable."),
    ] = None,
    parameters: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=NUMBER",
            help="A model's number of parameters (7B, 7e9). Repeatable.",
        ),
    ] = None,
    confidence: Confidence = DEFAULT,
    include_path: IncludePath = None,
) -> None:
    """Report runs: each benchmark's tables beside its paper's, judged answers, and several models side by side.

    The runs need their sample logs (--log_samples). They may be of any task, whole or in part. The report begins
    with what is missing. Intervals are over images (docs/intervals_and_tests.md). The same runs give the same
    report. Exits with 2 if a log can't be read, also where it reports the tasks of the other logs.
    """
    if output is not None and output.exists() and not output.is_dir():
        raise UserError(f"--output {output} is a file. Name a folder.")
    from lmms_medtasks.report import ReportOptions, build_report, report_options
    from lmms_medtasks.report.run_report import RunReport

    drawn = output is not None or format == "html"
    options = ReportOptions(
        resamples=resamples,
        drawn=drawn,
        pairs=tuple(report_options.parse_model_pair(text) for text in pair or ()),
        parameters=report_options.parse_model_sizes(parameters or ()),
    )
    if log := next((run for run in runs if run.suffix == ".jsonl"), None):
        raise UserError(f"{log} is a sample log. Give the *_results.json beside it, or their folder.")
    document = build_report(runs, options)
    if output is not None:
        files = RunReport(document).save(output)
        more = f" ({len(files)} files; start with report.html)" if len(files) > 1 else ""
        typer.echo(f"Written: {output}{more}", err=True)
    else:
        document = _select_benchmark(document, suite) if suite else document
        if format == "terminal":
            print_on_terminal(document, everything=everything)
        else:
            from lmms_medtasks.report.terminal import document_text

            typer.echo(document_text(document, format), nl=False)
    if document.unread:
        if output is not None or format != "terminal":
            typer.echo("\n".join(f"Left out: {text}" for text in document.unread), err=True)
        raise typer.Exit(2)


def _select_benchmark(document: ReportDocument, suite: str) -> ReportDocument:
    """The parts of a benchmark, by its title or its folder's name, without the first screen."""
    from dataclasses import replace

    from lmms_medtasks.errors import unknown_name_error

    def fold_name(text: str) -> str:
        return "".join(filter(str.isalnum, text.casefold()))

    parts = tuple(part for part in document.parts if fold_name(part.suite) == fold_name(suite))
    if not parts:
        raise unknown_name_error("benchmark", suite, {part.suite for part in document.parts}, "this report")
    return replace(document, parts=parts, first=None)


def print_on_terminal(document: ReportDocument, *, everything: bool = False, command: str = "") -> None:
    """As :func:`lmms_medtasks.report.terminal.print_report`, on standard output."""
    from rich.console import Console

    from lmms_medtasks.report.terminal import print_report

    # A pipe has no width of its own: wide enough for most tables, unless COLUMNS says another.
    console = Console() if sys.stdout.isatty() else Console(width=shutil.get_terminal_size((240, 0)).columns)
    print_report(document, console, everything=everything, command=command)


def view(
    run: Annotated[Path, typer.Argument(help="Result folder of a run, made with --log_samples.")],
    task: Annotated[list[str] | None, typer.Option("--task", help="Only this task; may be given again.")] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen at; 0: any that is free.")] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address, and open nothing.")] = False,
    include_path: IncludePath = None,
) -> None:
    """Look at a run's questions in the browser: first what was wrong in any trial, each image as the model saw it.

    The page is for this machine alone, and has data that must not be shown to others too. Nothing is written. Ctrl-C,
    or closing the terminal, ends it.
    """
    from lmms_medtasks.board.site import run_server

    entries, problems = run_server.read_run_to_view(run, task or [])
    server = run_server.RunServer(run_server.RunFiles(entries), port)
    for reason in problems:
        typer.echo(replace_invisible(f"lmms-medtasks: {reason}"), err=True)
    typer.echo(server.address)
    typer.echo("For this machine alone. Ctrl-C ends it.", err=True)
    if not no_browser:
        # A browser in the terminal keeps the call until it is left.
        threading.Thread(target=webbrowser.open, args=(server.address,), daemon=True).start()
    server.serve()
