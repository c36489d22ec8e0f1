"""``lmms-medtasks path``: where the task YAMLs are."""

from __future__ import annotations

import typer

from lmms_medtasks import folders


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command()(path)


def path() -> None:
    """Print the folder with our task YAMLs.

    For the harness's subcommands that never load plugins: lmms-eval tasks list --include-path "$(lmms-medtasks path)".
    """
    typer.echo(folders.folder())
