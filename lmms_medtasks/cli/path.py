"""``lmms-medtasks path``: where the task YAMLs are."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command()(path)


def path() -> None:
    """Print the folder with our task YAMLs.

    For the harness's subcommands that never load plugins: lmms-eval tasks list --include-path "$(lmms-medtasks path)".
    """
    from lmms_medtasks.harness.plugin import task_folder

    typer.echo(task_folder())
