"""The first screen of a report in a terminal: at most 100 columns, the finding first, then bars, then what to trust."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lmms_medtasks.report import best_models
from lmms_medtasks.report.findings import Number, titles
from lmms_medtasks.report.first_screen import FirstScreen, ModelFindings
from lmms_medtasks.short_texts import cut_apart, without_common_start
from lmms_medtasks.statistics import confidence

if TYPE_CHECKING:
    from rich.text import Text

WIDTH = 100
"""Of a screen, in columns."""
_BAR = 24
_SUITE, _TITLE, _SCORE, _INTERVAL, _PUBLISHED = 17, 26, 7, 17, 9
_LONGEST_NAME = 60
_MOST_MODELS = 4
"""Models whose numbers stand side by side; of more the comparison has the rest."""

_SIGNS = {"yes": ("✓", "green"), "unknown": ("?", "yellow"), "partly": ("~", "yellow"), "no": ("✕", "red")}


def lines(first: FirstScreen, title: str) -> Iterator[Text]:
    """The lines of the screen, none longer than :data:`WIDTH`."""
    from rich.text import Text

    one = first.models[0] if len(first.models) == 1 else None
    names = cut_apart([each.model for each in first.models], _LONGEST_NAME)
    whose = names[one.model] if one else title
    yield from wrapped(Text.assemble((whose, "bold"), "   ", (", ".join(first.facts), "dim")))
    yield Text()
    if first.leader:
        yield from wrapped(Text(first.leader, style="bold"), indent=0)
    for each in first.ranked[:_MOST_MODELS]:
        whose = "" if one else f"{names[each.model]}: "
        yield from wrapped(Text(f"{whose}{each.sentence}", style="" if first.leader else "bold"), indent=0)
    for text in first.others[:_MOST_MODELS]:
        yield from wrapped(Text(f"! {text}", style="yellow"))
    if len(first.others) > _MOST_MODELS:
        yield Text(f"! and {len(first.others) - _MOST_MODELS} more of other runs: --all", style="yellow")
    yield Text()
    if first.models:
        yield from _numbers(first.ranked)
    else:
        yield Text(first.no_finding, style="bold")
    for suite, said in [*first.empty.items(), *first.best.items()]:
        yield from wrapped(Text(f"{suite}: {said}"))
    if first.best:
        yield from wrapped(Text(best_models.MEANING, style="dim"))
    for mark, text in first.marks.items():
        yield from wrapped(Text(f"{mark} {text}", style="dim"))
    losses = [f"{each.suite} {each.loss}" for each in one.findings if each.loss] if one else []
    if losses:
        yield Text()
    for text in losses:
        yield from wrapped(Text(text))
    if first.checks:
        yield Text()
        yield from wrapped(Text.assemble(("May these numbers be quoted?  ", "bold"), first.verdict))
    for check in first.checks:
        (sign, style), mend = _SIGNS[check.state], f" → {check.mend}" if check.mend else ""
        head = Text.assemble("  ", (sign, style), f" {check.title:<23}")
        yield from wrapped(Text.assemble(check.reason, (mend, "dim")), len(head), head)


def _numbers(models: Sequence[ModelFindings]) -> Iterator[Text]:
    """A line a number: of one model with its bar, of several side by side."""
    from rich.text import Text

    shown = models[:_MOST_MODELS]
    width = (WIDTH - _SUITE - _TITLE) // len(shown)
    if len(models) == 1:
        heads = "".join(f"{mark:<{_BAR // 4}}" for mark in ("0", "25", "50", "75"))[: _BAR - 3] + "100"
        heads += f"{'score':>{_SCORE}}{f'{confidence.percent()} interval':^{_INTERVAL}}{'published':>{_PUBLISHED}}"
    else:
        # Better without what all names begin with than cut in the middle.
        plain = without_common_start([each.model for each in shown])
        cut = cut_apart(plain.values(), width - 2)
        heads = "".join(f"{cut[plain[each.model]]:>{width}}" for each in shown)
    yield Text(f"{'':{_SUITE + _TITLE}}{heads}", style="dim")
    suites = cut_apart([finding.suite for each in models for finding in each.findings], _SUITE - 1)
    named = cut_apart([_title(bar) for each in shown for own in each.findings for bar in own.bars], _TITLE - 1)
    for suite in suites:
        own = [[finding for finding in each.findings if finding.suite == suite] for each in shown]
        found = [{bar.title: bar for finding in each for bar in finding.bars} for each in own]
        for number, title in enumerate(titles([finding for each in own for finding in each])):
            bars = [each.get(title) for each in found]
            name = named[_title(next(filter(None, bars)))]
            start = Text.assemble((f"{suites[suite] if number == 0 else '':<{_SUITE}}", "bold"), f"{name:<{_TITLE}}")
            if len(models) == 1 and bars[0]:
                yield start + _bar(bars[0])
                continue
            scores, intervals = (
                ["–" if bar is None else _score(bar) for bar in bars],
                [bar.interval if bar else "" for bar in bars],
            )
            if all(len(score + interval) < width for score, interval in zip(scores, intervals, strict=True)):
                scores, intervals = [score + interval for score, interval in zip(scores, intervals, strict=True)], []
            yield start + "".join(f"{score:>{width}}" for score in scores)
            if any(intervals):
                yield Text(f"{'':{_SUITE + _TITLE}}{''.join(f'{each:>{width}}' for each in intervals)}", style="dim")
    if len(models) > len(shown):
        yield Text(f"and {len(models) - len(shown)} models more: --all", style="dim")
    signs = (
        ["█ up to the interval  ▒ the interval  │ guessing  published: the paper's models"] if len(models) == 1 else []
    )
    if any(not bar.higher_is_better for each in shown for own in each.findings for bar in own.bars):
        signs.append("↓ less is better")
    if signs:
        yield Text("  ".join(signs), style="dim")


def _bar(bar: Number) -> Text:
    from rich.text import Text

    published = "" if bar.published is None else f"{bar.published[0]:.0f} to {bar.published[1]:.0f}"
    return Text.assemble(
        (_drawn(bar), "dark_orange3" if bar.guessing else "blue"),
        (f"{_score(bar):>{_SCORE}}", "bold"),
        f"{bar.interval:^{_INTERVAL}}",
        (f"{published:>{_PUBLISHED}}", "dim"),
    )


def _score(bar: Number) -> str:
    """``46.9◊``."""
    return f"{bar.value:.{bar.digits}f}{bar.cell.mark}"


def _title(bar: Number) -> str:
    scale = f", {bar.scale}" if bar.scale else ""
    return f"{bar.title}{scale}{'' if bar.higher_is_better else ' ↓'}"


def _drawn(bar: Number) -> str:
    """The bar in :data:`_BAR` cells over its scale."""
    low, high = (bar.value if end is None else end for end in (bar.cell.low, bar.cell.high))
    start, end = round(_BAR * bar.place(low)), round(_BAR * bar.place(high))
    if high > low:
        start = min(start, _BAR - 1)
        end = max(end, start + 1)
    cells = ["█" * start, "▒" * (end - start), "·" * (_BAR - end)]
    drawn = "".join(cells)
    if bar.chance is None:
        return drawn
    chance = min(int(_BAR * bar.place(bar.chance)), _BAR - 1)
    return f"{drawn[:chance]}│{drawn[chance + 1 :]}"


def wrapped(text: Text, indent: int = 2, head: Text | None = None) -> Iterator[Text]:
    """The text in lines of at most :data:`WIDTH`, behind ``head`` and below it moved in."""
    from io import StringIO

    from rich.console import Console
    from rich.text import Text

    console = Console(width=WIDTH, file=StringIO())
    for number, line in enumerate(text.wrap(console, WIDTH - indent) or [text]):
        line.rstrip()
        yield (Text(" " * indent) if number else head or Text()) + line
