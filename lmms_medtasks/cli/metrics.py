"""``lmms-medtasks metrics``: for maintainers, after a change of a benchmark's declaration."""

from __future__ import annotations

from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command()(metrics)


def metrics(
    write: Annotated[bool, typer.Option("--write", help="Write the lists into the templates.")] = False,
) -> None:
    """Compare the metric lists in the task templates with measures.py, and the cards' lists of differences from the
    papers with paper.yml; exit with 1 if any differs.
    """
    from lmms_medtasks import folders
    from lmms_medtasks.suites import metric_lists, paper, registry
    from lmms_medtasks.writing import write_text

    stale = 0
    for name in registry.names():
        suite = registry.get(name)
        for kind in suite.tasks:
            path = metric_lists.template(folders.folder() / name, kind)
            content = path.read_text("utf-8")
            wanted = metric_lists.written(content, metric_lists.text(suite, kind))
            if wanted != content:
                stale += 1
                typer.echo(f"{path}: {'written' if write else 'differs from measures.py'}")
                if write:
                    write_text(path, wanted)
        own, card = paper.of(name), folders.folder() / name / "README.md"
        if own is not None:
            content = card.read_text("utf-8")
            wanted = paper.card_with_list(content, own, str(card))
            if wanted != content:
                stale += 1
                typer.echo(f"{card}: {'written' if write else 'differs from paper.yml'}")
                if write:
                    write_text(card, wanted)
    if not stale:
        typer.echo(
            "All metric lists are those of the declarations, and the cards' lists of differences those of paper.yml."
        )
    elif not write:
        raise typer.Exit(1)
