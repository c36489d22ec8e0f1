"""A number on its scale as an SVG element: positions in percent of the width, so that no text shrinks on a phone."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

Span = tuple[float, float]

_HEIGHT = 46
_TOP, _BOTTOM = 8, 26
_MIDDLE = (_TOP + _BOTTOM) / 2
_NEAR = 14
"""Percent of the width below which two labels would touch on a phone."""


def bullet(
    said: str,
    ends: Span,
    value: float,
    interval: tuple[float | None, float | None] = (None, None),
    *,
    quartiles: tuple[float, float, float] | None = None,
    chance: float | None = None,
    published: Span | None = None,
    digits: int = 1,
) -> str:
    """``value`` on a scale with these ``ends``, in their unit; ``said`` are its numbers in words, for who can't see it.

    A grey band is the range of published models, a blue one the field's middle half with a line at its median, a dashed
    line what guessing gets.
    """

    def x(number: float) -> float:
        return 100 * min(max((number - ends[0]) / (ends[1] - ends[0]), 0.0), 1.0)

    parts = [f'<rect x="0" width="100%" y="{_TOP}" height="{_BOTTOM - _TOP}" class="track-of"/>']
    if published:
        parts.append(_band(x(published[0]), x(published[1]), _TOP + 1, _BOTTOM - _TOP - 2, "range"))
    if quartiles:
        parts.append(_band(x(quartiles[0]), x(quartiles[2]), _TOP, _BOTTOM - _TOP, "quartiles"))
        parts.append(_line(x(quartiles[1]), x(quartiles[1]), _TOP, _BOTTOM, "median"))
    if chance is not None:
        parts.append(_line(x(chance), x(chance), _TOP - 5, _BOTTOM + 5, "guess"))
    low, high = interval
    if low is not None and high is not None:
        parts.append(_line(x(low), x(high), _MIDDLE, _MIDDLE, "interval"))
        parts += [_line(x(end), x(end), _MIDDLE - 5, _MIDDLE + 5, "interval") for end in (low, high)]
    parts.append(f'<circle cx="{x(value):.2f}%" cy="{_MIDDLE:g}" r="6" class="disc"/>')
    # Labels of the line below the scale, the more telling first; one that would touch another is left to the legend.
    wanted = [] if chance is None else [(x(chance), f"guessing {chance:.{digits}f}")]
    wanted += [(0.0, f"{ends[0]:g}"), (100.0, f"{ends[1]:g}")]
    taken: list[Span] = []
    for place, text in wanted:
        start, end = _extent(place, text)
        if all(end < other[0] or start > other[1] for other in taken):
            taken.append((start, end))
            parts.append(
                f'<text x="{place:.2f}%" y="{_HEIGHT - 5}" text-anchor="{_anchor(place)}">{escape(text)}</text>'
            )
    head = f'<svg class="chart bullet" xmlns="http://www.w3.org/2000/svg" width="100%" height="{_HEIGHT}" role="img"'
    return f"{head} aria-label={quoteattr(said)}>{''.join(parts)}</svg>"


def _anchor(place: float) -> str:
    return "start" if place < _NEAR else "end" if place > 100 - _NEAR else "middle"


def _extent(place: float, text: str) -> Span:
    """From where to where a label goes on a phone, in percent."""
    width = 2.4 * len(text)
    start = {"start": place, "middle": place - width / 2, "end": place - width}[_anchor(place)]
    return start, start + width


def _band(start: float, end: float, y: float, height: float, kind: str) -> str:
    return f'<rect x="{start:.2f}%" width="{max(end - start, 0.4):.2f}%" y="{y:g}" height="{height:g}" class="{kind}"/>'


def _line(x1: float, x2: float, y1: float, y2: float, kind: str) -> str:
    return f'<line x1="{x1:.2f}%" x2="{x2:.2f}%" y1="{y1:g}" y2="{y2:g}" class="{kind}"/>'
