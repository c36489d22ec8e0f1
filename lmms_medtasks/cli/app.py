"""Puts the commands together."""

from __future__ import annotations

import typer

from lmms_medtasks.cli import agreement, data, degrade, fingerprint, grids, judge, path, report, run


def build() -> typer.Typer:
    """The command with all its subcommands."""
    app = typer.Typer(
        name="lmms-medtasks",
        help="Medical vision-language benchmarks as a plugin of the lmms-eval harness.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
    )
    app.add_typer(data.app, name="data")
    run.register(app)
    judge.register(app)
    report.register(app)
    path.register(app)
    fingerprint.register(app)
    degrade.register(app)
    app.add_typer(agreement.app, name="agreement")
    app.add_typer(grids.app, name="grids")
    return app
