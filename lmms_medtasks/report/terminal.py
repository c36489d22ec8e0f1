"""A report on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmms_medtasks.report import degradation_loss, terminal_first_screen
from lmms_medtasks.report.document import Document, Kind, Part, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table as RichTable

_STYLES: dict[Kind, str] = {"run": "bold", "counts": "italic", "average": "dim italic", "reference": "dim"}


def show(document: Document, console: Console, *, everything: bool = False) -> None:
    """Print the report: its first screen alone, or with ``everything`` all tables behind it.

    Of a document without a first screen the first part is printed; its long tables, the published models' rows, and the
    other parts are named. ``everything``: they are printed too.
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
    shown = document.parts if everything else document.parts[:1]
    for part in shown:
        _part(part, console, everything)
    if len(shown) < len(document.parts):
        names = "; ".join(part.title for part in document.parts[len(shown) :])
        console.print(Text(f"More: {names}. --all shows them.", style="dim"))


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
    """A table; one that is too wide as several, each with the texts that its rows begin with."""
    from rich.text import Text

    console.print()
    heads = next((place for place, column in enumerate(table.columns) if column.kind != "text"), len(table.columns))
    names, left = list(range(heads)), list(range(heads, len(table.columns)))
    while True:
        count = len(left)
        while count > 1 and _width(table, [*names, *left[:count]], console) > console.width:
            count -= 1
        console.print(_rich_table(table, [*names, *left[:count]]))
        left = left[count:]
        if not left:
            break
    for note in table.all_notes:
        console.print(Text(note, style="dim"))


def _width(table: Table, places: Sequence[int], console: Console) -> int:
    return console.measure(_rich_table(table, places), options=console.options.update(max_width=10_000)).maximum


def _rich_table(table: Table, places: Sequence[int]) -> RichTable:
    """The columns at these places."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    # Text, not str: square brackets in a model's name are no markup.
    shown = RichTable(title=Text(table.title, style="bold"), title_justify="left", header_style="", box=SIMPLE_HEAD)
    columns = [table.columns[place] for place in places]
    for column in columns:
        shown.add_column(Text(column.head), justify="left" if column.kind == "text" else "right")
    for row in table.rows:
        cells = zip(columns, (row.cells[place] for place in places), strict=True)
        shown.add_row(*(Text(column.text(cell), style=_STYLES[row.kind]) for column, cell in cells))
    return shown
