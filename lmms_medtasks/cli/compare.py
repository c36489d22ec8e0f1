"""``lmms-medtasks compare``: two runs on the same questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from lmms_medtasks.cli.confidence_option import Confidence
from lmms_medtasks.cli.include_path import IncludePath
from lmms_medtasks.errors import UserError
from lmms_medtasks.statistics.confidence import DEFAULT

if TYPE_CHECKING:
    from lmms_medtasks.board.comparison.measure_comparison import Compared


Format = Literal["terminal", "md", "csv", "json"]
_BY_SUFFIX: dict[str, Format] = {".md": "md", ".csv": "csv", ".json": "json"}


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command()(compare)


def compare(
    first: Annotated[
        Path, typer.Argument(metavar="A", help="Result folder, *_results.json or submission of one model.")
    ],
    second: Annotated[Path, typer.Argument(metavar="B", help="The same of the model to compare with it.")],
    task: Annotated[list[str] | None, typer.Option("--task", help="Only this task; may be given again.")] = None,
    pins: Annotated[Path | None, typer.Option(help="A board's pins.yml: say what is not as pinned.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Write to this file; its suffix (.md, .csv, .json) says the format."),
    ] = None,
    format: Annotated[Format | None, typer.Option("--format", help="What to print: a screen, or all of it.")] = None,
    questions: Annotated[
        int, typer.Option(min=0, help="How many of the questions that differ most to show for each task.")
    ] = 20,
    confidence: Confidence = DEFAULT,
    include_path: IncludePath = None,
) -> None:
    """Compare two models question by question, on each task that both were run on.

    Differences are B minus A over the same questions, with intervals and tests over images, Holm-corrected over all
    rows. For credentialed data questions are named by their ids only.
    """
    from lmms_medtasks.board.comparison import compared_entries, measure_comparison
    from lmms_medtasks.suites import registry
    from lmms_medtasks.writing import write_text

    registry.give(include_path or ())
    sides = compared_entries.read_both(first, second, tasks=task or (), pins=pins)
    compared = measure_comparison.compare(*sides, telling=questions)
    chosen = format or (_of_file(output) if output else "terminal")
    text = _text(compared, chosen)
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_text(output, text)
        typer.echo(f"Written: {output}", err=True)


def _of_file(output: Path) -> Format:
    if output.suffix not in _BY_SUFFIX:
        raise UserError(f"--output {output}: its suffix says no format. Use {', '.join(_BY_SUFFIX)}, or --format.")
    return _BY_SUFFIX[output.suffix]


def _text(compared: Compared, chosen: Format) -> str:
    from lmms_medtasks.board.comparison.comparison_document import document, screen, to_json
    from lmms_medtasks.report import terminal

    if chosen == "json":
        return json.dumps(to_json(compared), indent=1, allow_nan=False) + "\n"
    if chosen == "terminal":
        return terminal.screen(screen(compared))
    return terminal.document_text(document(compared), chosen)
