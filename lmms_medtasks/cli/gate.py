"""``lmms-medtasks gate``: ends with 1 when a model has got worse."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from lmms_medtasks.cli.include_path import IncludePath


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command()(gate)


def gate(
    baseline: Annotated[Path, typer.Option("--baseline", help="Folder with runs or packs to hold against, or a file.")],
    candidate: Annotated[Path, typer.Option("--candidate", help="Folder with the new runs or packs, or a file.")],
    rules: Annotated[Path | None, typer.Option("--rules", help="YAML with rules, before the built-in ones.")] = None,
    task: Annotated[list[str] | None, typer.Option("--task", help="Only this task; may be given again.")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the Markdown summary here too.")] = None,
    resamples: Annotated[int, typer.Option(min=0, help="Bootstrap resamples; 0 for no intervals.")] = 1000,
    include_path: IncludePath = None,
) -> None:
    """Fail when the candidate is significantly worse than the baseline, or its runs are not sound.

    Prints a Markdown summary. Exits with 0 if nothing fails, 1 if something does, 2 if the question can't be answered.
    """
    from lmms_medtasks.board.comparison import compared_entries, gate_rules, gate_summary
    from lmms_medtasks.board.comparison.gate import gate as decided
    from lmms_medtasks.suites import registry
    from lmms_medtasks.writing import write_text

    registry.give(include_path or ())
    chosen = gate_rules.read(rules)
    cores = os.cpu_count() or 1
    one, other = (
        compared_entries.read(path, tasks=task or (), rules=chosen.board, processes=cores)
        for path in (baseline, candidate)
    )
    found = decided(one, other, chosen, resamples=resamples)
    text = gate_summary.markdown(found)
    if output is not None:
        write_text(output, text)
    typer.echo(text, nl=False)
    if found.failed:
        raise typer.Exit(1)
