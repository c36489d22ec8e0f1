"""Texts cut to little room, or listed with a count of the rest."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence

_WORD_ENDS = " -_/.:"


def shorten_text(text: str, most: int = 28, mark: str = "…") -> str:
    return text if len(text) <= most else text[: most - len(mark)] + mark


def cut_apart(texts: Iterable[str], width: int) -> Mapping[str, str]:
    """Each text in at most ``width`` (8 or more) characters; two that differ are never cut to the same.

    A long text keeps its start and its end, as far as that distinguishes all; else it ends in a number.

    >>> list(cut_apart(["question_type, closed_iid", "question_type, closed_ood"], 16).values())
    ['questio…osed_iid', 'questio…osed_ood']
    """
    names = list(dict.fromkeys(texts))
    for end in (width // 2, 2 * width // 3, width // 4, 0, width - 1):
        shortened = {name: _cut_in_the_middle(name, width, end) for name in names}
        if len(set(shortened.values())) == len(names):
            return shortened
    # A number that no other text ends in: what is whole stays whole.
    shortened, used = {}, {name for name in names if len(name) <= width}
    for name in names:
        short, number = name, 1
        while len(name) > width and (short == name or short in used):
            short, number = f"{name[: width - 1 - len(str(number))]}…{number}", number + 1
        shortened[name] = short
        used.add(short)
    return shortened


def without_common_start(names: Sequence[str]) -> dict[str, str]:
    """Each name without the parts that all begin with, up to a separator ("medtasks_observer": "observer")."""
    start = os.path.commonprefix(list(names)) if len(set(names)) > 1 else ""
    end = max(start.rfind(separator) for separator in "_/-: ") + 1
    return {name: name[end:] or name for name in names}


def _cut_in_the_middle(text: str, width: int, end: int) -> str:
    if len(text) <= width:
        return text
    start, tail = text[: width - 1 - end], text[len(text) - end :]
    # Between words, or parts of one, where that leaves half of what there is room for.
    ends = [index for index in range(1, len(text)) if text[index - 1] in _WORD_ENDS]
    start_end = max((index for index in ends if index <= len(start)), default=0)
    left = min((index for index in ends if index >= len(text) - end), default=len(text))
    start = text[:start_end] if 2 * start_end >= len(start) else start
    return f"{start}…{text[left:] if 2 * (len(text) - left) >= end > 0 else tail}"


def join_with_and(texts: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts)


def first_listed(texts: Sequence[str], most: int = 8) -> str:
    """``a; b; and 3 more``: the first ones, and how many more there are."""
    more = f"; and {len(texts) - most} more" if len(texts) > most else ""
    return "; ".join(texts[:most]) + more


def first_named(texts: Sequence[str], most: int | None) -> str:
    """``a, b and 3 more``: of more than ``most`` the first ones; None: all."""
    if most is None or len(texts) <= most:
        return ", ".join(texts)
    return f"{', '.join(texts[:most])} and {len(texts) - most} more"


def listed_or_counted(
    texts: Sequence[str], most: int, noun: str, join: Callable[[Sequence[str]], str] = join_with_and
) -> str:
    """``a, b and c`` of few, ``12 models`` (``noun``) of more than ``most``."""
    return join(texts) if len(texts) <= most else f"{len(texts)} {noun}"


def interval_text(low: float | None, high: float | None, digits: int = 1) -> str:
    """`` [66.4, 71.9]``, as it stands behind a number; "" without an interval."""
    return "" if low is None or high is None else f" [{low:.{digits}f}, {high:.{digits}f}]"


def count_noun(number: int, noun: str) -> str:
    """``1 record``, ``2,153 records``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def format_duration(seconds: float | None) -> str:
    """Seconds in words, two units at most.

    >>> format_duration(3.21), format_duration(125), format_duration(7_260), format_duration(200_000)
    ('3.2 s', '2 min 5 s', '2 h 1 min', '2 d 7 h')
    """
    if seconds is None:
        return "-"
    if seconds < 60:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    units = ((86_400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s"))
    size, name, part, part_name = next(unit for unit in units if whole >= unit[0])
    return f"{whole // size} {name} {whole % size // part} {part_name}"
