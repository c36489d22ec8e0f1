"""SVG elements of charts; places across are percent, so that texts keep their size on a phone.

Places down and all sizes are pixels. Colours are classes of the style sheet (``charts.css``), for dark pages and print
too. All texts are escaped here. An axis leads from a number to its place, in percent.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal
from xml.sax.saxutils import escape, quoteattr

from lmms_medtasks.short_texts import cut_apart
from lmms_medtasks.visible_text import replace_invisible

Shape = Literal["circle", "diamond", "square", "triangle", "cross"]
_ON_A_LINE = 12
"""Letters on a line of a column's head."""
LINE = 18
"""Height of a line of a legend."""
PHONE = 340
"""Width that a chart has on a phone, in pixels; texts are placed so that they do not touch there either."""


@dataclass(frozen=True)
class Look:
    """How a mark looks.

    ``kind``: "own" (measured), "own-open", "light", "harm", "published" (hollow, grey) or "guess".
    """

    shape: Shape
    kind: str


_SHAPES: tuple[Shape, ...] = ("circle", "diamond", "square", "triangle")
MODELS = tuple(Look(shape, kind) for shape in _SHAPES for kind in ("own", "own-open"))
"""Looks that tell models apart without colour."""
DISC, RING = MODELS[0], MODELS[1]
BETWEEN, OTHER, PUBLISHED = Look("diamond", "light"), Look("circle", "light"), Look("circle", "published")
GUESS, WORST = Look("cross", "guess"), Look("circle", "harm")
PUBLISHED_GROUPS = tuple(Look(shape, "published") for shape in _SHAPES)

_PATHS = {
    "diamond": "M0-{0}L{0} 0 0 {0} -{0} 0Z",
    "square": "M-{0}-{0}H{0}V{0}H-{0}Z",
    "triangle": "M0-{0}L{0} {0}H-{0}Z",
    "cross": "M-{0}-{0}L{0} {0}M{0}-{0}L-{0} {0}",
}
_NARROW = frozenset("iljtfrI.,:;|'!/-()[] ")
_WEIGHTS = {"diamond": 1.2, "square": 0.88}
"""So that shapes of one size look alike in size."""


def text_width(text: str) -> float:
    """About how wide a text of 12 pixels is."""
    wide = {**dict.fromkeys(_NARROW, 4.0), **dict.fromkeys("mwMW%@", 10.0)}
    return sum(wide.get(each, 8.3 if each.isupper() else 6.8) for each in text)


def svg_number(value: float) -> str:
    """A place with two decimals at most."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def signed_number(value: float, digits: int = 1) -> str:
    """A change with its sign; none where it is rounded to nothing."""
    text = f"{value:+.{digits}f}"
    return text.lstrip("+-") if not text.strip("+-0.") else text.replace("-", "−")


class Elements:
    """Elements that are written one after the other; x is percent of the width, y pixels."""

    def __init__(self) -> None:
        self.parts: list[str] = []

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str, said: str = "") -> None:
        """A line of the style ``kind``; ``said`` is its tooltip."""
        ends = f'x1="{svg_number(x1)}%" y1="{svg_number(y1)}" x2="{svg_number(x2)}%" y2="{svg_number(y2)}"'
        self.parts.append(_with_title(f'line {ends} class="{kind}"', "line", said))

    def mark(self, x: float, y: float, look: Look, said: str = "", size: float = 5) -> None:
        """A mark with its middle at a place; ``said`` is its tooltip."""
        if look.shape == "circle":
            place = f'cx="{svg_number(x)}%" cy="{svg_number(y)}" r="{size:g}" class="{look.kind}"'
            self.parts.append(_with_title(f"circle {place}", "circle", said))
        else:
            path = _PATHS[look.shape].format(f"{size * _WEIGHTS.get(look.shape, 1):.3g}")
            self.at(x, y, _with_title(f'path d="{path}" class="{look.kind}"', "path", said))

    def box(self, x: float, y: float, width: float, height: float, kind: str, opacity: float, said: str = "") -> None:
        """A rectangle, 0 to 1 opaque; ``width`` is percent."""
        place = f'x="{svg_number(x)}%" y="{svg_number(y)}" width="{svg_number(width)}%" height="{svg_number(height)}"'
        self.parts.append(_with_title(f'rect {place} class="{kind}" fill-opacity="{opacity:.2f}"', "rect", said))

    def text(self, x: float, y: float, said: str, kind: str = "", anchor: str = "start", dx: float = 0) -> None:
        """A text whose baseline is at ``y``; ``dx``: pixels to the right of ``x``."""
        style = f' class="{kind}"' if kind else ""
        more = f' dx="{svg_number(dx)}"' if dx else ""
        side = f' text-anchor="{anchor}"' if anchor != "start" else ""
        self.parts.append(f'<text x="{svg_number(x)}%" y="{svg_number(y)}"{more}{side}{style}>{escape(said)}</text>')

    def head(self, x: float, y: float, said: str) -> None:
        """A text in the middle of a column, of many letters on two lines; on a phone the style sheet turns it."""
        lines = lines_of(said, _ON_A_LINE, len(said))
        spans = (f'<tspan x="0" y="{13 * (place + 1 - len(lines))}">{escape(each)}</tspan>'
                 for place, each in enumerate(lines))  # fmt: skip
        if len(lines) > 1:
            self.at(x, y, f'<text text-anchor="middle" class="wide">{"".join(spans)}</text>')
        kind = "head narrow" if len(lines) > 1 else "head"
        self.at(x, y, f'<text text-anchor="middle" class="{kind}">{escape(said)}</text>')

    def interval(self, low: float, high: float, y: float, kind: str = "interval") -> None:
        """A thin bar across with caps."""
        self.line(low, y, high, y, kind)
        for end in (low, high):
            self.line(end, y - 4, end, y + 4, kind)

    def upright(self, x: float, low: float, high: float, kind: str = "interval") -> None:
        """A thin bar upwards with caps; ``low`` and ``high`` are pixels."""
        self.line(x, low, x, high, kind)
        for end in (low, high):
            self.at(x, end, f'<path d="M-4 0H4" class="{kind}"/>')

    def frame(self, inner: Elements, x: float, width: float, height: float = 0) -> None:
        """Other elements within a part of the width, both percent; with a ``height`` they are cut at its edges."""
        cut = f'height="{svg_number(height)}" overflow="hidden"' if height else 'overflow="visible"'
        self.parts.append(f'<svg x="{svg_number(x)}%" width="{svg_number(width)}%" {cut}>{"".join(inner.parts)}</svg>')

    @contextmanager
    def within(self, tag: Literal["a href", "g data-model"], value: str) -> Iterator[None]:
        """What is written meanwhile is inside a link, or belongs to a model that a page can hide; not for ""."""
        start = len(self.parts)
        yield
        if value and len(self.parts) > start:
            self.parts[start:] = [f"<{tag}={quoteattr(value)}>{''.join(self.parts[start:])}</{tag[0]}>"]

    def at(self, x: float, y: float, text: str) -> None:
        """An element that is drawn around (0, 0), at a place."""
        self.parts.append(f'<svg x="{svg_number(x)}%" y="{svg_number(y)}" overflow="visible">{text}</svg>')


class Svg(Elements):
    """An SVG element that is being written; ``said``: what it shows, for who can't see it."""

    def __init__(self, said: str, kind: str = "") -> None:
        super().__init__()
        self._said, self._kind = said, f"chart {kind}".strip()

    def written(self, height: float) -> str:
        """The element, ``height`` pixels high."""
        head = (
            f'<svg class="{self._kind}" xmlns="http://www.w3.org/2000/svg" width="100%" height="{svg_number(height)}"'
        )
        return replace_invisible(f'{head} role="img" aria-label={quoteattr(self._said)}>{"".join(self.parts)}</svg>')


def _with_title(start: str, tag: str, said: str) -> str:
    return f"<{start}><title>{escape(said)}</title></{tag}>" if said else f"<{start}/>"


Entry = tuple[Look | Literal["interval", "guess", "line"], str]
"""What a legend says: a look, or a line, and its meaning."""


def draw_legend(svg: Elements, entries: Sequence[Entry]) -> float:
    """What marks mean, in columns from the top; returns the height that it takes."""
    if not entries:
        return 0.0
    longest = 20 + max(text_width(said) for _, said in entries)
    columns = next((count for count in (3, 2) if longest < PHONE / count), 1)
    lines = -(-len(entries) // columns)
    for place, (look, said) in enumerate(entries):
        x, y = 100 / columns * (place % columns), 9.0 + LINE * (place // columns)
        own = Elements()
        if isinstance(look, Look):
            own.mark(0, y, look, size=3.5 if look.kind == "published" else 5)
        elif look == "guess":
            own.line(0, y - 7, 0, y + 7, "guess")
        else:
            own.at(0, y, f'<path d="M-6 0H6" class="{look}"/>')
        own.text(0, y + 4, said, dx=12)
        entry = f'<g class="entry" transform="translate(7)">{"".join(own.parts)}</g>'
        svg.parts.append(f'<svg x="{svg_number(x)}%" overflow="visible">{entry}</svg>')
    return LINE * lines + 6.0


def lines_of(name: str, first: int, second: int, longest: int = 0) -> list[str]:
    """A name on two lines of so many letters at most, broken where a word or a part of it ends; the second is cut.

    The first is up to three letters longer (up to ``longest`` ones) where it would else end within a word, and a little
    longer to end before a bracket.
    """
    if len(name) <= first:
        return [name]
    breaks = [
        place
        for place in range(first // 3, min(max(first + 3, longest) + 1, len(name)))
        if name[place] in " (" or (name[place - 1] in " -_/.:" and not re.match(r"\.\d", name[place - 1 :]))
    ]
    end = max((place for place in breaks if place <= first), default=min(breaks, default=first))
    end = next((place for place in breaks if name[place : place + 2] == " (" and place <= 1.15 * first), end)
    rest = name[end:].lstrip()
    return [name[:end].rstrip(), cut_apart([rest], second)[rest]]


_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_SAME = 1e-9


@dataclass(frozen=True)
class Axis:
    """A scale.

    Attributes:
        low, high: its ends. ticks: numbers that have a line. title: what it is.
        labels: texts of the ticks; the numbers by default. unit, digits: how a tooltip writes a number.
    """

    low: float
    high: float
    ticks: tuple[float, ...] = ()
    title: str = ""
    labels: tuple[str, ...] = ()
    unit: str = ""
    digits: int = 1

    def place(self, value: float) -> float:
        """Percent of the axis from its lower end; not beyond its ends."""
        return min(100.0, max(0.0, 100 * (value - self.low) / (self.high - self.low)))

    def text(self, value: float) -> str:
        return f"{value:.{self.digits}f}{self.unit}"

    @property
    def texts(self) -> tuple[tuple[float, str], ...]:
        return tuple(
            zip(self.ticks, self.labels or tuple(f"{tick:g}".replace("-", "−") for tick in self.ticks), strict=True)
        )


def percent_axis(title: str = "") -> Axis:
    return quarters_axis(0, 100, title, unit=" %")


def quarters_axis(low: float, high: float, title: str = "", *, unit: str = "", digits: int = 1) -> Axis:
    """A whole scale, with a tick each quarter."""
    return Axis(low, high, tuple(low + (high - low) * part / 4 for part in range(5)), title, unit=unit, digits=digits)


def places_axis(labels: Sequence[str], title: str = "") -> Axis:
    """A place for each label, from 0 on, with half a place of room at the ends."""
    return Axis(-0.5, len(labels) - 0.5, tuple(map(float, range(len(labels)))), title, tuple(labels))


def axis_of(values: Iterable[float | None], title: str = "", *, most: int = 5) -> Axis:
    """An axis with round ticks around all values; None are left out."""
    known = [value for value in values if value is not None and math.isfinite(value)] or [0.0, 1.0]
    low, high = min(known), max(known)
    if high - low < _SAME * max(1.0, abs(low), abs(high)):
        # Of a difference that rounding left in place of 0 a tenth is no scale.
        room = abs(low) / 10 if abs(low) > _SAME else 0.5
        low, high = low - room, high + room
    step = step_of(high - low, most)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(round(step * number, 2 - math.floor(math.log10(step))) + 0.0 for number in range(first, last + 1))
    return Axis(ticks[0], ticks[-1], ticks, title, digits=max(1, 1 - math.floor(math.log10(step))))


def step_of(width: float, most: int) -> float:
    """The round step that makes at most so many parts of a width."""
    base = 10.0 ** math.floor(math.log10(width / most))
    return next((base * each for each in _STEPS if width / (base * each) <= most + 1e-9), 10 * base)
