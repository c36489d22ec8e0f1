"""Documents on a terminal: a report, and the screen of a comparison, a gate, a plan or a submission."""

from __future__ import annotations

import io
import textwrap
from typing import TYPE_CHECKING

from lmms_medtasks.report import degradation_loss, terminal_first_screen
from lmms_medtasks.report.document import Document, Frame, Kind, Part
from lmms_medtasks.report.terminal_first_screen import WIDTH
from lmms_medtasks.samples.runs import printable
from lmms_medtasks.short_texts import cut_apart
from lmms_medtasks.visible_text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

MOST_ROWS = 24
"""Rows that a screen has room for; who makes its table says what is left out."""
_MOST_LINES = 3
"""Of a remark on a screen."""
_STYLES: dict[Kind, str] = {"run": "bold", "counts": "italic", "average": "dim italic", "reference": "dim"}


def show(document: Document, console: Console, *, everything: bool = False) -> None:
    """Print the report: its first screen alone, or with ``everything`` all tables behind it.

    Of a document without a first screen the first part is printed; its long tables, the published models' rows, and the
    other parts are named. ``everything``: they are printed too.
    """
    for text in document.unread:
        for line in terminal_first_screen.wrapped(_text(f"! Left out: {text}", style="bold yellow")):
            console.print(line, soft_wrap=True)
    if document.first is not None:
        for line in terminal_first_screen.lines(document.first, document.title):
            console.print(line, soft_wrap=True)
        console.print()
        if not everything:
            if any(part.suite == degradation_loss.TITLE for part in document.parts):
                said = f'What was lost on degraded images: --suite "{degradation_loss.TITLE}"'
                console.print(_text(said, style="bold"))
            console.print(
                _text(
                    "All tables: --all     One benchmark: --suite NAME     Pages with charts and CSV files: -o FOLDER",
                    style="dim",
                )
            )
            return
    else:
        console.print(_text(document.title, style="bold"))
    shown = document.parts if everything else document.parts[:1]
    for part in shown:
        _part(part, console, everything)
    if len(shown) < len(document.parts):
        names = "; ".join(part.title for part in document.parts[len(shown) :])
        console.print(_text(f"More: {names}. --all shows them.", style="dim"))


def screen(document: Document) -> str:
    """A short document in lines of at most :data:`WIDTH` columns: title, facts, remarks, then its sections."""
    return "".join(f"{line}\n" for line in _screen_lines(document))


def _screen_lines(document: Document) -> Iterator[str]:
    yield from _filled(document.title)
    for part in document.parts:
        widest = max((len(name) for name, _ in part.facts), default=0)
        yield from ("",) if part.facts or part.flags else ()
        for name, value in part.facts:
            yield from _filled(f"{name:<{widest}}  {value}")
        for flag in part.flags:
            yield from _filled(f"! {flag.text}", _MOST_LINES)
        for section in part.sections:
            if not (section.paragraphs or section.items or section.tables):
                continue
            yield ""
            yield from _filled(f"{section.title}:") if section.title else ()
            for text in section.paragraphs:
                yield from _filled(text)
            for text in section.items:
                yield from _filled(f"  {text}" if section.title else text, _MOST_LINES)
            for table in section.tables:
                yield from _screen_table(table)


def _screen_table(table: Frame) -> Iterator[str]:
    from rich.console import Console

    console = Console(file=io.StringIO(), width=WIDTH, color_system=None, force_terminal=False)
    for number, block in enumerate(_blocks(table, console, is_screen=True) if table.rows else ()):
        console.print(*[""] * bool(number), block, sep="\n")
    yield from (line.rstrip() for line in console.file.getvalue().splitlines())  # type: ignore[attr-defined]
    for note in table.all_notes:
        yield from _filled(note)


def _filled(text: str, most: int = 0) -> Iterator[str]:
    """The text in lines of at most :data:`WIDTH`; of more than ``most`` lines the first ones."""
    text = printable(text)
    indent = " " * (len(text) - len(text.lstrip()))
    lines = textwrap.wrap(
        text.strip(), WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ", break_on_hyphens=False
    )
    if most and len(lines) > most:
        last = textwrap.shorten(" ".join(lines[most - 1 :]), WIDTH - 4, placeholder=" …")
        lines = [*lines[: most - 1], f"{indent}  {last}"]
    yield from lines


def _text(text: str, style: str = "") -> Text:
    """A text as it is: what can't be seen made visible, and square brackets no markup."""

    import rich.text

    return rich.text.Text(visible(text), style=style)


def _part(part: Part, console: Console, everything: bool) -> None:
    console.print()
    console.rule(_text(part.title))
    console.print(_text("   ".join(f"{name}: {value}" for name, value in part.facts), style="dim"))
    for flag in part.flags:
        style = "bold yellow" if flag.kind == "warning" else "cyan"
        console.print(_text(f"{flag.kind.upper()}: ", style) + _text(flag.text))
    left_out: list[str] = []
    published: list[str] = []
    for section in part.sections:
        for paragraph in (*section.paragraphs, *section.items):
            console.print(_text(paragraph))
        for table in section.tables:
            if table.long and not everything:
                left_out.append(table.title)
                continue
            if not everything and any(row.kind == "reference" for row in table.rows):
                published = ["the published models"]
            console.print()
            shown = table if everything else table.without("reference")
            for block in _blocks(shown, console):
                console.print(block)
            for note in shown.all_notes:
                console.print(_text(note, style="dim"))
    if left_out or published:
        said = f"Not shown: {'; '.join([*left_out, *published])}. --all shows them, -o FOLDER writes them."
        console.print(_text(said, style="dim"))


def _blocks(table: Frame, console: Console, *, is_screen: bool = False) -> Iterator[RichTable]:
    """A table; one that is too wide as several, each with the texts that its rows begin with."""
    columns = [(place, column) for place, column in enumerate(table.columns) if not (is_screen and column.long)]
    heads = next((place for place, (_, column) in enumerate(columns) if column.kind != "text"), len(columns))
    names, left = [place for place, _ in columns[:heads]], [place for place, _ in columns[heads:]]
    wide = console.options.update(max_width=10_000)
    while True:
        count, gap = len(left), 2 * is_screen
        while True:
            made = _rich_table(table, [*names, *left[:count]], gap)
            if count <= 1 or console.measure(made, options=wide).maximum <= console.width:
                break
            count, gap = (count, 1) if gap == 2 else (count - 1, gap)
        yield made
        left = left[count:]
        if not left:
            break


def _rich_table(table: Frame, places: Sequence[int], gap: int) -> RichTable:
    """The columns at these places; on a screen with so many blanks between them, 0: as a report has it."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable

    look = {"box": None, "padding": (0, gap, 0, 0), "pad_edge": False} if gap else {"box": SIMPLE_HEAD}
    title = _text(table.title, style="bold") if table.title else None
    shown = RichTable(title=title, title_justify="left", header_style="", **look)
    texts = []
    for place in places:
        column = table.columns[place]
        head = _text(column.head)
        shown.add_column(head, justify="left" if column.kind == "text" else "right")
        own = [visible(column.text(row.cells[place])) for row in table.rows]
        cut = cut_apart(own, column.letters) if gap and column.letters else {}
        texts.append([cut.get(text, text) for text in own])
    for row, cells in zip(table.rows, zip(*texts, strict=True), strict=True):
        shown.add_row(*(_text(text, style=_STYLES[row.kind]) for text in cells))
    return shown
