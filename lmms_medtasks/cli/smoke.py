"""``lmms-medtasks smoke``: does a contributed task run?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command()(smoke)


def smoke(
    path: Annotated[Path, typer.Argument(help="The task's folder, or a YAML in it.")],
    limit: Annotated[int, typer.Option(help="Questions of each task.", min=1)] = 5,
    model: Annotated[list[str] | None, typer.Option(help="A built-in model; may be given several times.")] = None,
) -> None:
    """Run a folder's tasks through the real harness with the built-in models on five questions.

    Executes the folder's code. Open answers are judged by MEDTASKS_JUDGE, by token overlap if that names none. The
    values say nothing of the task: built-in models guess, and five questions are few. medtasks_most_frequent runs where
    a task has a training_split.
    """
    from lmms_medtasks.contribute.smoke_run import smoke as run

    for row in run(path, limit, tuple(model) if model else None):
        value = f"{row.value:.3f}" if isinstance(row.value, float) else row.value
        typer.echo(f"{row.task:32} {row.model:24} {row.metric:28} {value}")
