"""Texts where there is little room: cut, or listed with what is left out counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def short(text: str, most: int = 28, mark: str = "…", *, from_end: bool = False) -> str:
    """The text, cut to so many characters with the ``mark`` of what is missing; ``from_end``: its end is kept."""
    if len(text) <= most:
        return text
    kept = most - len(mark)
    return mark + text[len(text) - kept :] if from_end else text[:kept] + mark


def shorts(names: Sequence[str], most: int = 28) -> list[str]:
    """The names, each cut to so many characters: at its end, or in the middle where two would else read the same."""
    cut = [short(each, most) for each in names]
    head = most // 2
    return [
        f"{name[:head]}…{name[head + 1 - most :]}" if len(name) > most and cut.count(own) > 1 else own
        for name, own in zip(names, cut, strict=True)
    ]


def listed(texts: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts)


def first_listed(texts: Sequence[str], most: int = 8) -> str:
    """``a; b; and 3 more``: the first ones, and how many more there are."""
    more = f"; and {len(texts) - most} more" if len(texts) > most else ""
    return "; ".join(texts[:most]) + more


def listed_or_counted(texts: Sequence[str], most: int, what: str, join: Callable[[Sequence[str]], str] = listed) -> str:
    """``a, b and c`` of few, ``12 models`` (``what``) of more than ``most``."""
    return join(texts) if len(texts) <= most else f"{len(texts)} {what}"


def interval_text(low: float | None, high: float | None, digits: int = 1) -> str:
    """`` [66.4, 71.9]``, as it stands behind a number; "" without an interval."""
    return "" if low is None or high is None else f" [{low:.{digits}f}, {high:.{digits}f}]"
