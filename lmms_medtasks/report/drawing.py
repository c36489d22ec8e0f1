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


def svg(figure: Figure, key: str, title: str) -> str:
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
    return _coloured(text).strip()


def _coloured(text: str) -> str:
    return _stand_ins().sub(lambda match: f"var({_VARIABLES[match.group(0)]})", text)


@functools.cache
def _stand_ins() -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, _VARIABLES)))
