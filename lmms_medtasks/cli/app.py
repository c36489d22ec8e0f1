"""The ``lmms-medtasks`` command with all its subcommands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import metadata
from typing import Annotated

import typer

from lmms_medtasks.cli import (
    agreement,
    compare,
    data,
    degrade,
    grids,
    judge,
    leaderboard,
    pack,
    report,
    reread,
    run,
    tasks,
)

_PANELS: Mapping[str, tuple[typer.Typer | Callable[..., None], ...]] = {
    "Run": (tasks.tasks, data.app, run.run, judge.app),
    "Look at a run": (report.report, report.view),
    "Compare": (compare.compare, compare.gate, compare.power, agreement.app),
    "Contribute a benchmark": (tasks.new, tasks.validate, tasks.smoke),
    "Publish": (pack.pack, leaderboard.app),
    "Make images": (degrade.degrade, degrade.preview, grids.app),
    "Maintain": (reread.reread, tasks.metrics, tasks.path),
}
"""Heading in the list of commands -> its commands, and its groups of commands."""


def build_app() -> typer.Typer:
    """The command with all its subcommands."""
    app = typer.Typer(
        name="lmms-medtasks",
        help="Medical vision-language benchmarks as a plugin of the lmms-eval harness.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
        rich_markup_mode="markdown",
    )
    app.callback()(_root_options)
    for panel, commands in _PANELS.items():
        for command in commands:
            if isinstance(command, typer.Typer):
                app.add_typer(command, name=command.info.name, rich_help_panel=panel)
            else:
                more = run.COMMAND if command is run.run else {}
                app.command(rich_help_panel=panel, **more)(command)
    return app


def _print_versions(requested: bool) -> None:
    if not requested:
        return
    typer.echo(f"lmms-medtasks {metadata.version('lmms-medtasks')}")
    try:
        typer.echo(f"lmms-eval {metadata.version('lmms_eval')}")
    except metadata.PackageNotFoundError:
        typer.echo("lmms-eval is not installed")
    raise typer.Exit()


_VERSION_HELP = "Print the versions of lmms-medtasks and lmms-eval, and exit."


def _root_options(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_versions, help=_VERSION_HELP)
    ] = False,
) -> None:
    """Options of ``lmms-medtasks`` itself, before any command."""
