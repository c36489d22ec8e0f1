"""The ``lmms-medtasks`` command with all its subcommands."""

from __future__ import annotations

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
    app.add_typer(data.app, name="data")
    app.command(context_settings=run.CONTEXT)(run.run)
    app.add_typer(judge.app, name="judge")
    for command in (
        reread.reread,
        report.report,
        report.view,
        compare.compare,
        compare.gate,
        compare.power,
        pack.pack,
        tasks.path,
        tasks.metrics,
        degrade.degrade,
        degrade.preview,
        tasks.new,
        tasks.validate,
        tasks.smoke,
    ):
        app.command()(command)
    app.add_typer(agreement.app, name="agreement")
    app.add_typer(grids.app, name="grids")
    app.add_typer(leaderboard.app, name="leaderboard")
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
