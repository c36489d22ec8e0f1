"""``lmms-medtasks gate``: ends with 1 when a model has got worse, with 3 when that can't be told."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from lmms_medtasks.cli.confidence_option import Confidence
from lmms_medtasks.cli.include_path import IncludePath
from lmms_medtasks.statistics.confidence import DEFAULT

_STATUS = {"passed": 0, "failed": 1, "undecided": 3}
"""2 is a user's mistake, as everywhere: nothing to read, a damaged baseline, bad rules."""


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command()(gate)


def gate(
    baseline: Annotated[
        Path, typer.Argument(metavar="BASELINE", help="Runs or submissions to compare with: a folder or a file.")
    ],
    candidate: Annotated[
        Path, typer.Argument(metavar="CANDIDATE", help="The new runs or submissions: a folder or a file.")
    ],
    rules: Annotated[Path | None, typer.Option("--rules", help="YAML with rules, before the built-in ones.")] = None,
    margin: Annotated[
        float | None,
        typer.Option(help="Largest drop that counts as not worse, a share of the measure's range. Default: 0.02."),
    ] = None,
    cannot_tell: Annotated[
        Literal["fail", "warn", "pass"] | None,
        typer.Option(help="If neither is shown: fail (status 3, the default), warn, pass (both status 0)."),
    ] = None,
    task: Annotated[list[str] | None, typer.Option("--task", help="Only this task; may be given again.")] = None,
    pins: Annotated[Path | None, typer.Option(help="A board's pins.yml: say what is not as pinned.")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the Markdown summary here too.")] = None,
    format: Annotated[
        Literal["terminal", "md"], typer.Option(help="What to print; md for a pull request.")
    ] = "terminal",
    confidence: Confidence = DEFAULT,
    include_path: IncludePath = None,
) -> None:
    """Tell whether the candidate is worse than the baseline by more than a margin, or its runs are not sound.

    Exits with 0 if every measure is shown to be not worse, with 1 if one is shown to be worse or a run is not sound,
    with 3 if neither can be shown, and with 2 if nothing could be compared (unreadable files, bad rules). --margin and
    --cannot-tell are for measures that --rules does not name.
    """
    from lmms_medtasks.board.comparison import compared_entries, gate_summary
    from lmms_medtasks.board.comparison.gate import gate as decided
    from lmms_medtasks.board.comparison.gate import read_rules
    from lmms_medtasks.report.markdown import markdown
    from lmms_medtasks.report.terminal import screen
    from lmms_medtasks.suites import registry
    from lmms_medtasks.writing import write_text

    registry.give(include_path or ())
    chosen = read_rules(rules, margin=margin, on_cannot_tell=cannot_tell)
    sides = compared_entries.read_both(baseline, candidate, tasks=task or (), rules=chosen.board, pins=pins)
    found = decided(*sides, chosen)
    text = markdown(gate_summary.document(found))
    printed = text if format == "md" else screen(gate_summary.document(found, is_screen=True))
    typer.echo(printed, nl=False)
    if output is not None:
        write_text(output, text)
    if status := _STATUS[found.decision]:
        raise typer.Exit(status)
