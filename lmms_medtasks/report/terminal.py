"""Documents on a terminal: a report, and the screen of a comparison, a gate, a plan or a submission.

The first screen of a report has at most 100 columns: the finding first, then bars, then what to trust.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lmms_medtasks.report import degradation_loss
from lmms_medtasks.report.document import Frame, Kind, ReportChapter
from lmms_medtasks.report.findings import Number, headline_titles
from lmms_medtasks.report.first_screen import BEST_MEANING, FirstScreen, ModelFindings, ReportDocument
from lmms_medtasks.samples.runs import make_printable
from lmms_medtasks.short_texts import cut_apart, without_common_start
from lmms_medtasks.statistics import confidence
from lmms_medtasks.visible_text import replace_invisible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

MOST_ROWS = 24
"""Rows that a screen has room for; who makes its table says what is left out."""
_WIDE = 240
"""Columns where a text has no width of its own: wide enough that no table of a comparison is cut."""
_MOST_LINES = 3
"""Of a remark on a screen."""
_STYLES: dict[Kind, str] = {"run": "bold", "counts": "italic", "average": "dim italic", "reference": "dim"}


def print_report(document: ReportDocument, console: Console, *, everything: bool = False, command: str = "") -> None:
    """Print the report: its first screen alone, or with ``everything`` all tables behind it.

    Of a document without a first screen the first part is printed, without its long tables and the published rows.
    ``command``: the one that prints this report again, "" where it was just given.
    """
    for text in document.unread:
        for line in wrap_text(_plain_text(f"! Left out: {text}", style="bold yellow")):
            console.print(line, soft_wrap=True)
    again = _plain_text(f"Again, and more: {command}", style="dim") if command else None
    if document.first is not None:
        for line in first_screen_lines(document.first, document.title):
            console.print(line, soft_wrap=True)
        console.print()
        if not everything:
            if again:
                console.print(again, soft_wrap=True)
            if any(part.suite == degradation_loss.TITLE for part in document.parts):
                said = f'Each degradation and level: --suite "{degradation_loss.TITLE}"'
                console.print(_plain_text(said, style="dim"))
            console.print(
                _plain_text(
                    "All tables: --all     One benchmark: --suite NAME     Pages with charts and CSV files: -o FOLDER",
                    style="dim",
                )
            )
            return
    else:
        console.print(_plain_text(document.title, style="bold"))
    shown = document.parts if everything else document.parts[:1]
    for part in shown:
        _print_part(part, console, everything)
    if len(shown) < len(document.parts):
        names = "; ".join(part.title for part in document.parts[len(shown) :])
        console.print(_plain_text(f"More: {names}. --all shows them.", style="dim"))
    if again:
        console.print(again, soft_wrap=True)


def document_text(document: ReportDocument, form: str) -> str:
    """The document as "md", "csv", "html", or "terminal": all of it, without colours."""
    if form == "md":
        from lmms_medtasks.report.markdown import render_markdown

        return render_markdown(document)
    if form == "csv":
        from lmms_medtasks.report.csv_writer import all_csv

        return all_csv(document)
    if form == "html":
        from lmms_medtasks.report.report_page import render_html

        return render_html(document)
    from rich.console import Console

    buffer = io.StringIO()
    print_report(document, Console(file=buffer, width=_WIDE), everything=True)
    return buffer.getvalue()


def screen_text(document: ReportDocument) -> str:
    """A short document in lines of at most :data:`WIDTH` columns: title, facts, remarks, then its sections."""
    return "".join(f"{line}\n" for line in _screen_lines(document))


def _screen_lines(document: ReportDocument) -> Iterator[str]:
    yield from _fill_lines(document.title)
    for part in document.parts:
        widest = max((len(name) for name, _ in part.facts), default=0)
        yield from ("",) if part.facts or part.flags else ()
        for name, value in part.facts:
            yield from _fill_lines(f"{name:<{widest}}  {value}")
        for flag in part.flags:
            yield from _fill_lines(f"! {flag.text}", _MOST_LINES)
        for section in part.sections:
            if not (section.paragraphs or section.items or section.tables):
                continue
            yield ""
            yield from _fill_lines(f"{section.title}:") if section.title else ()
            for text in section.paragraphs:
                yield from _fill_lines(text)
            for text in section.items:
                yield from _fill_lines(f"  {text}" if section.title else text, _MOST_LINES)
            for table in section.tables:
                yield from _screen_table(table)


def _screen_table(table: Frame) -> Iterator[str]:
    from rich.console import Console

    console = Console(file=io.StringIO(), width=WIDTH, color_system=None, force_terminal=False)
    for number, block in enumerate(_table_blocks(table, console, is_screen=True) if table.rows else ()):
        console.print(*[""] * bool(number), block, sep="\n")
    yield from (line.rstrip() for line in console.file.getvalue().splitlines())  # type: ignore[attr-defined]
    for note in table.all_notes:
        yield from _fill_lines(note)


def _fill_lines(text: str, most: int = 0) -> Iterator[str]:
    """The text in lines of at most :data:`WIDTH`; of more than ``most`` lines the first ones."""
    text = make_printable(text)
    indent = " " * (len(text) - len(text.lstrip()))
    lines = textwrap.wrap(
        text.strip(), WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ", break_on_hyphens=False
    )
    if most and len(lines) > most:
        last = textwrap.shorten(" ".join(lines[most - 1 :]), WIDTH - 4, placeholder=" …")
        lines = [*lines[: most - 1], f"{indent}  {last}"]
    yield from lines


def _plain_text(text: str, style: str = "") -> Text:
    """The text with invisible characters shown, and without rich's markup."""
    import rich.text

    return rich.text.Text(replace_invisible(text), style=style)


def _print_part(part: ReportChapter, console: Console, everything: bool) -> None:
    console.print()
    console.rule(_plain_text(part.title))
    console.print(_plain_text("   ".join(f"{name}: {value}" for name, value in part.facts), style="dim"))
    for flag in part.flags:
        style = "bold yellow" if flag.kind == "warning" else "cyan"
        console.print(_plain_text(f"{flag.kind.upper()}: ", style) + _plain_text(flag.text))
    left_out: list[str] = []
    published: list[str] = []
    for section in part.sections:
        for paragraph in (*section.paragraphs, *section.items):
            console.print(_plain_text(paragraph))
        for table in section.tables:
            if table.long and not everything:
                left_out.append(table.title)
                continue
            if not everything and any(row.kind == "reference" for row in table.rows):
                published = ["the published models"]
            console.print()
            shown = table if everything else table.without("reference")
            for block in _table_blocks(shown, console):
                console.print(block)
            for note in shown.all_notes:
                console.print(_plain_text(note, style="dim"))
    if left_out or published:
        said = f"Not shown: {'; '.join([*left_out, *published])}. --all shows them, -o FOLDER writes them."
        console.print(_plain_text(said, style="dim"))


def _table_blocks(table: Frame, console: Console, *, is_screen: bool = False) -> Iterator[RichTable]:
    """A table; if it is too wide, several, each with the texts at the beginning of the rows."""
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
    """The columns at these places; ``gap``: blanks between them on a screen, 0 for the look of a report."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable

    look = {"box": None, "padding": (0, gap, 0, 0), "pad_edge": False} if gap else {"box": SIMPLE_HEAD}
    title = _plain_text(table.title, style="bold") if table.title else None
    shown = RichTable(title=title, title_justify="left", header_style="", **look)
    texts = []
    for place in places:
        column = table.columns[place]
        head = _plain_text(column.head)
        shown.add_column(head, justify="left" if column.kind == "text" else "right")
        own = [replace_invisible(column.text(row.cells[place])) for row in table.rows]
        cut = cut_apart(own, column.letters) if gap and column.letters else {}
        texts.append([cut.get(text, text) for text in own])
    for row, cells in zip(table.rows, zip(*texts, strict=True), strict=True):
        shown.add_row(*(_plain_text(text, style=_STYLES[row.kind]) for text in cells))
    return shown


WIDTH = 100
"""Of a screen, in columns."""
_BAR = 24
_SUITE, _TITLE, _SCORE, _INTERVAL, _PUBLISHED = 17, 26, 7, 17, 9
_LONGEST_NAME = 60
_MOST_MODELS = 4
"""Models whose numbers stand side by side; of more the comparison has the rest."""

_SIGNS = {"yes": ("✓", "green"), "unknown": ("?", "yellow"), "partly": ("~", "yellow"), "no": ("✕", "red")}


def first_screen_lines(first: FirstScreen, title: str) -> Iterator[Text]:
    """The lines of the screen, none longer than :data:`WIDTH`."""
    from rich.text import Text

    one = first.models[0] if len(first.models) == 1 else None
    names = cut_apart([model.model for model in first.models], _LONGEST_NAME)
    whose = names[one.model] if one else title
    yield from wrap_text(Text.assemble((whose, "bold"), "   ", (", ".join(first.facts), "dim")))
    yield Text()
    if first.leader:
        yield from wrap_text(Text(first.leader, style="bold"), indent=0)
    for each in first.ranked[:_MOST_MODELS]:
        whose = "" if one else f"{names[each.model]}: "
        yield from wrap_text(Text(f"{whose}{each.sentence}", style="" if first.leader else "bold"), indent=0)
    for text in first.others[:_MOST_MODELS]:
        yield from wrap_text(Text(f"! {text}", style="yellow"))
    if len(first.others) > _MOST_MODELS:
        yield Text(f"! and {len(first.others) - _MOST_MODELS} more of other runs: --all", style="yellow")
    yield Text()
    if first.models:
        yield from _number_lines(first.ranked)
    else:
        yield Text(first.no_finding, style="bold")
    for suite, said in [*first.empty.items(), *first.best.items()]:
        yield from wrap_text(Text(f"{suite}: {said}"))
    if first.best:
        yield from wrap_text(Text(BEST_MEANING, style="dim"))
    for mark, text in first.marks.items():
        yield from wrap_text(Text(f"{mark} {text}", style="dim"))
    losses = [f"{finding.suite} {finding.loss}" for finding in one.findings if finding.loss] if one else []
    losses += [f"On degraded images, {text}" for text in first.losses]
    yield from (Text(),) if losses else ()
    for text in losses:
        yield from wrap_text(Text(text))
    if first.checks:
        yield Text()
        yield from wrap_text(Text.assemble(("May these numbers be quoted?  ", "bold"), first.verdict))
    for check in first.checks:
        (sign, style), mend = _SIGNS[check.state], f" → {check.mend}" if check.mend else ""
        head = Text.assemble("  ", (sign, style), f" {check.title:<23}")
        yield from wrap_text(Text.assemble(check.reason, (mend, "dim")), len(head), head)


def _number_lines(models: Sequence[ModelFindings]) -> Iterator[Text]:
    from rich.text import Text

    shown = models[:_MOST_MODELS]
    width = (WIDTH - _SUITE - _TITLE) // len(shown)
    has_published = any(bar.published for each in models for own in each.findings for bar in own.bars)
    if len(models) == 1:
        heads = "".join(f"{mark:<{_BAR // 4}}" for mark in ("0", "25", "50", "75"))[: _BAR - 3] + "100"
        interval = f"{confidence.format_current_level()} interval"
        heads += f"{'score':>{_SCORE}}{interval:^{_INTERVAL}}{'published' * has_published:>{_PUBLISHED}}"
    else:
        # Better without what all names begin with than cut in the middle.
        plain = without_common_start([each.model for each in shown])
        cut = cut_apart(plain.values(), width - 2)
        heads = "".join(f"{cut[plain[each.model]]:>{width}}" for each in shown)
    yield Text(f"{'':{_SUITE + _TITLE}}{heads}", style="dim")
    suites = cut_apart([finding.suite for model in models for finding in model.findings], _SUITE - 1)
    named = cut_apart([_title_text(bar) for each in shown for own in each.findings for bar in own.bars], _TITLE - 1)
    for suite in suites:
        own = [[finding for finding in each.findings if finding.suite == suite] for each in shown]
        found = [{bar.title: bar for finding in each for bar in finding.bars} for each in own]
        for number, title in enumerate(headline_titles([finding for each in own for finding in each])):
            bars = [each.get(title) for each in found]
            name = named[_title_text(next(filter(None, bars)))]
            start = Text.assemble((f"{suites[suite] if number == 0 else '':<{_SUITE}}", "bold"), f"{name:<{_TITLE}}")
            if len(models) == 1 and bars[0]:
                yield start + _write_bar(bars[0])
                continue
            scores = ["–" if bar is None else _score_text(bar) for bar in bars]
            intervals = [bar.interval if bar else "" for bar in bars]
            if all(len(score + interval) < width for score, interval in zip(scores, intervals, strict=True)):
                scores, intervals = [score + interval for score, interval in zip(scores, intervals, strict=True)], []
            yield start + "".join(f"{score:>{width}}" for score in scores)
            if any(intervals):
                yield Text(f"{'':{_SUITE + _TITLE}}{''.join(f'{each:>{width}}' for each in intervals)}", style="dim")
    if len(models) > len(shown):
        yield Text(f"and {len(models) - len(shown)} models more: --all", style="dim")
    bar_signs = "█ up to the interval  ▒ the interval  │ guessing"
    bar_signs += "  published: the paper's models" if has_published else ""
    signs = [bar_signs] if len(models) == 1 else []
    if any(not bar.higher_is_better for each in shown for own in each.findings for bar in own.bars):
        signs.append("↓ less is better")
    if signs:
        yield Text("  ".join(signs), style="dim")


def _write_bar(bar: Number) -> Text:
    from rich.text import Text

    published = " to ".join(dict.fromkeys(f"{end:.0f}" for end in bar.published or ()))
    return Text.assemble(
        (_draw_bar(bar), _bar_style(bar)),
        (f"{_score_text(bar):>{_SCORE}}", "bold"),
        f"{bar.interval:^{_INTERVAL}}",
        (f"{published:>{_PUBLISHED}}", "dim"),
    )


def _bar_style(bar: Number) -> str:
    """Orange where it is not above guessing, blue where it is; no colour without an interval, which would tell."""
    if bar.cell.low is None or bar.cell.high is None:
        return ""
    return "dark_orange3" if bar.is_weak else "blue"


def _score_text(bar: Number) -> str:
    """``46.9◊``."""
    return f"{bar.value:.{bar.digits}f}{bar.cell.mark}"


def _title_text(bar: Number) -> str:
    scale = f", {bar.scale}" if bar.scale else ""
    return f"{bar.title}{scale}{'' if bar.higher_is_better else ' ↓'}"


def _draw_bar(bar: Number) -> str:
    """The bar in :data:`_BAR` cells over its scale."""
    low, high = (bar.value if end is None else end for end in (bar.cell.low, bar.cell.high))
    start, end = round(_BAR * bar.place(low)), round(_BAR * bar.place(high))
    if high > low:
        start = min(start, _BAR - 1)
        end = max(end, start + 1)
    drawn = f"{'█' * start}{'▒' * (end - start)}{'·' * (_BAR - end)}"
    if bar.chance is None:
        return drawn
    chance = min(int(_BAR * bar.place(bar.chance)), _BAR - 1)
    return f"{drawn[:chance]}│{drawn[chance + 1 :]}"


def wrap_text(text: Text, indent: int = 2, head: Text | None = None) -> Iterator[Text]:
    """The text in lines of at most :data:`WIDTH`, behind ``head`` and below it moved in."""
    from rich.console import Console
    from rich.text import Text

    console = Console(width=WIDTH, file=io.StringIO())
    for number, line in enumerate(text.wrap(console, WIDTH - indent) or [text]):
        line.rstrip()
        yield (Text(" " * indent) if number else head or Text()) + line
