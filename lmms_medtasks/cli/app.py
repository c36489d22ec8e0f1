"""Puts the commands together."""

from __future__ import annotations

import typer

from lmms_medtasks.cli import (
    agreement,
    compare,
    data,
    degrade,
    fingerprint,
    gate,
    grids,
    judge,
    leaderboard,
    metrics,
    new,
    pack,
    path,
    report,
    run,
    smoke,
    validate,
)


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
    compare.register(app)
    gate.register(app)
    pack.register(app)
    path.register(app)
    fingerprint.register(app)
    metrics.register(app)
    degrade.register(app)
    new.register(app)
    validate.register(app)
    smoke.register(app)
    app.add_typer(agreement.app, name="agreement")
    app.add_typer(grids.app, name="grids")
    app.add_typer(leaderboard.app, name="leaderboard")
    return app
