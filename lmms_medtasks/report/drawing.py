"""Matplotlib figures as SVG elements for a page: the same bytes each time, text as text, the page's own colours."""

from __future__ import annotations

import functools
import html
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, FAINT = "#010203", "#040506"
SERIES = ("#070809", "#0a0b0c", "#0d0e0f")
"""Stand-ins for the page's own colours: replaced by CSS variables, which have other values on a dark page."""

MARKERS = ("o", "s", "^")
DASHES = ("-", "--", ":")
_VARIABLES = {INK: "--ink", FAINT: "--faint", **{colour: f"--level{number}" for number, colour in enumerate(SERIES)}}
_PAGE = dict(zip((INK, FAINT, *SERIES), ("#1b1f24", "#b4bac2", "#0072b2", "#b87700", "#b3438a"), strict=True))
"""The colours of a light page (page.css)."""

_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "lmms-medtasks",
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "grid.color": FAINT,
    "grid.alpha": 0.35,
    "grid.linewidth": 0.6,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
}


@contextmanager
def canvas(width: float, height: float) -> Iterator[Figure]:
    """A figure of this size in inches under our settings, whatever a matplotlibrc says; not known to pyplot."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasSVG(figure)
        yield figure


class Svg(str):
    """An <svg> element for inline use, and the Matplotlib figure that it was made of."""

    figure: Figure

    @classmethod
    def of(cls, text: str, figure: Figure) -> Svg:
        """``text``, made of ``figure``."""
        made = cls(text)
        made.figure = figure
        return made


def svg(figure: Figure, key: str, title: str) -> Svg:
    """The figure as an <svg> element for inline use; ``key`` keeps its ids apart from other figures' on the page."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{key}-", text)
    # The size is the style sheet's; the view box keeps the shape.
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
    width = figure.get_figwidth()
    opening = f'<svg role="img" aria-label="{html.escape(title)}" style="max-width:{width:.1f}in"'
    text = text.replace("<svg", opening, 1).replace("'DejaVu Sans'", "system-ui")
    return Svg.of(_coloured(text).strip(), figure)


def in_colour(figure: Figure) -> Figure:
    """``figure`` itself on white, in the colours that a light page gives it, for use without a page.

    Its lines, texts, bars and points get them once; doing it again changes nothing.
    """
    figure.draw_without_rendering()  # makes the ticks
    figure.set_facecolor("white")
    for artist in figure.findobj():
        for name in ("color", "facecolor", "edgecolor", "markerfacecolor", "markeredgecolor"):
            get, change = (getattr(artist, f"{verb}_{name}", None) for verb in ("get", "set"))
            if get and change and (colours := _real_colours(get())) is not None:
                change(colours)
    return figure


def _real_colours(colours: Any) -> Any:
    """(n, 4) or (4,) floats with the stand-ins among ``colours`` replaced; None where there is none."""
    from matplotlib import colors

    try:
        rows = colors.to_rgba_array(colours)
    except (TypeError, ValueError):
        return None
    found = [_PAGE.get(colors.to_hex(row[:3])) for row in rows]
    if not any(found):
        return None
    for row, real in zip(rows, found, strict=True):
        if real:
            row[:3] = colors.to_rgb(real)
    return rows[0] if len(rows) == 1 else rows


def _coloured(text: str) -> str:
    return _stand_ins().sub(lambda match: f"var({_VARIABLES[match.group(0)]})", text)


@functools.cache
def _stand_ins() -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, _VARIABLES)))
