"""A report on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmms_medtasks.report import degradation_loss, terminal_first_screen
from lmms_medtasks.report.document import Document, Kind, Part, Table

if TYPE_CHECKING:
    from rich.console import Console

_STYLES: dict[Kind, str] = {"run": "bold", "counts": "italic", "average": "dim italic", "reference": "dim"}


def show(document: Document, console: Console, *, everything: bool = False) -> None:
    """Print the report: its first screen alone, or with ``everything`` all tables behind it.

    A document without a first screen is printed whole; without ``everything`` its long tables and the published models'
    rows are left out, and named.
    """
    from rich.text import Text

    for text in document.unread:
        for line in terminal_first_screen.wrapped(Text(f"! Left out: {text}", style="bold yellow")):
            console.print(line, soft_wrap=True)
    if document.first is not None:
        for line in terminal_first_screen.lines(document.first, document.title):
            console.print(line, soft_wrap=True)
        console.print()
        if not everything:
            if any(part.suite == degradation_loss.TITLE for part in document.parts):
                said = f'What was lost on degraded images: --suite "{degradation_loss.TITLE}"'
                console.print(Text(said, style="bold"))
            console.print(
                Text(
                    "All tables: --all     One benchmark: --suite NAME     Pages with charts and CSV files: -o FOLDER",
                    style="dim",
                )
            )
            return
    else:
        console.print(Text(document.title, style="bold"))
    for part in document.parts:
        _part(part, console, everything)


def _part(part: Part, console: Console, everything: bool) -> None:
    from rich.text import Text

    console.print()
    console.rule(Text(part.title))
    console.print(Text("   ".join(f"{name}: {value}" for name, value in part.facts), style="dim"))
    for flag in part.flags:
        style = "bold yellow" if flag.kind == "warning" else "cyan"
        console.print(Text.assemble((f"{flag.kind.upper()}: ", style), flag.text))
    left_out: list[str] = []
    published: list[str] = []
    for section in part.sections:
        for paragraph in section.paragraphs:
            console.print(Text(paragraph))
        for table in section.tables:
            if table.long and not everything:
                left_out.append(table.title)
                continue
            if not everything and any(row.kind == "reference" for row in table.rows):
                published = ["the published models"]
            _table(table if everything else table.without("reference"), console)
    if left_out or published:
        said = f"Not shown: {'; '.join([*left_out, *published])}. --all shows them, -o FOLDER writes them."
        console.print(Text(said, style="dim"))


def _table(table: Table, console: Console) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    console.print()
    # Text, not str: square brackets in a model's name are no markup.
    shown = RichTable(title=Text(table.title, style="bold"), title_justify="left", header_style="", box=SIMPLE_HEAD)
    for column in table.columns:
        shown.add_column(Text(column.head), justify="left" if column.kind == "text" else "right")
    for row in table.rows:
        cells = zip(table.columns, row.cells, strict=True)
        shown.add_row(*(Text(column.text(cell), style=_STYLES[row.kind]) for column, cell in cells))
    console.print(shown)
    for note in table.all_notes:
        console.print(Text(note, style="dim"))
