"""``lmms-medtasks view``: a run's questions in the browser."""

from __future__ import annotations

import threading
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from lmms_medtasks.cli.include_path import IncludePath
from lmms_medtasks.visible_text import visible


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command()(view)


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
    from lmms_medtasks.suites import registry

    registry.give(include_path or ())
    entries, problems = run_server.read(run, task or [])
    server = run_server.RunServer(run_server.RunFiles(entries), port)
    for reason in problems:
        typer.echo(visible(f"lmms-medtasks: {reason}"), err=True)
    typer.echo(server.address)
    typer.echo("For this machine alone. Ctrl-C ends it.", err=True)
    if not no_browser:
        # A browser in the terminal keeps the call until it is left.
        threading.Thread(target=webbrowser.open, args=(server.address,), daemon=True).start()
    server.serve()
