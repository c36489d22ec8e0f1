"""``lmms-medtasks validate``: is a contributed task as it should be?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command()(validate)


def validate(
    path: Annotated[Path, typer.Argument(help="The task's folder, or a YAML in it.")],
    static: Annotated[bool, typer.Option("--static", help="Import and execute nothing of it.")] = False,
    base: Annotated[str, typer.Option(help="A git revision to compare versions with.")] = "",
    show: Annotated[
        Path | None, typer.Option(help="Write a page with the first questions as a model gets them, and open it.")
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="Record the prompts in prompts.json.")] = False,
) -> None:
    """Check a task's folder; exit with 1 if anything is wrong.

    First come the checks that execute nothing: keys and settings, includes, hooks, names, data files, card.
    Then the task's hooks are called on its data: with five questions as a model gets them, the expected answers as
    replies, random replies, and from several threads at once.
    """
    from lmms_medtasks.contribute.validate import validate as run

    found = run(path, static_only=static, base=base, show=show, write=write)
    for line in found.told:
        typer.echo(line)
    for problem in found.problems:
        typer.echo(problem)
    errors, others = len(found.errors), len(found.problems) - len(found.errors)
    how = "Nothing was executed. " if static else ""
    typer.echo(f"{how}{errors} error{'s' * (errors != 1)}, {others} other finding{'s' * (others != 1)}.")
    if show is not None and show.is_file() and sys.stdout.isatty():
        typer.launch(show.resolve().as_uri())
    if errors:
        raise typer.Exit(1)
