"""Puts the commands together."""

from __future__ import annotations

import importlib.metadata
from typing import Annotated

import typer

from lmms_medtasks import __version__
from lmms_medtasks.cli import (
    agreement,
    compare,
    data,
    degrade,
    gate,
    grids,
    judge,
    leaderboard,
    metrics,
    new,
    pack,
    path,
    power,
    report,
    reread,
    run,
    smoke,
    validate,
    view,
)


def build() -> typer.Typer:
    """The command with all its subcommands."""
    app = typer.Typer(
        name="lmms-medtasks",
        help="Medical vision-language benchmarks as a plugin of the lmms-eval harness.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
        rich_markup_mode="markdown",
    )
    app.callback()(_options)
    app.add_typer(data.app, name="data")
    run.register(app)
    app.add_typer(judge.app, name="judge")
    reread.register(app)
    report.register(app)
    view.register(app)
    compare.register(app)
    gate.register(app)
    power.register(app)
    pack.register(app)
    path.register(app)
    metrics.register(app)
    degrade.register(app)
    new.register(app)
    validate.register(app)
    smoke.register(app)
    app.add_typer(agreement.app, name="agreement")
    app.add_typer(grids.app, name="grids")
    app.add_typer(leaderboard.app, name="leaderboard")
    return app


def _print_versions(requested: bool) -> None:
    """Print both versions, a line each, and exit with status 0."""
    if not requested:
        return
    typer.echo(f"lmms-medtasks {__version__}")
    try:
        typer.echo(f"lmms-eval {importlib.metadata.version('lmms_eval')}")
    except importlib.metadata.PackageNotFoundError:
        typer.echo("lmms-eval is not installed")
    raise typer.Exit()


_VERSION_HELP = "Print the versions of lmms-medtasks and lmms-eval, and exit."


def _options(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_versions, help=_VERSION_HELP)
    ] = False,
) -> None:
    """Options of ``lmms-medtasks`` itself, before any command."""
