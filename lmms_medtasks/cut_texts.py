"""Texts cut to a width so that those that differ still do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_CUT = "…"


def cut_apart(texts: Iterable[str], width: int) -> Mapping[str, str]:
    """Each text in at most ``width`` characters, at least 8; two that differ are never cut to the same.

    A long text keeps its start and its end, as far as that tells all apart; else it ends in a number.

    >>> list(cut_apart(["question_type, closed_iid", "question_type, closed_ood"], 16).values())
    ['questio…osed_iid', 'questio…osed_ood']
    """
    names = list(dict.fromkeys(texts))
    for end in (width // 2, 2 * width // 3, width // 4, 0, width - 1):
        found = {name: _cut(name, width, end) for name in names}
        if len(set(found.values())) == len(names):
            return found
    # A number that no other text ends in: what is whole stays whole.
    found, used = {}, {name for name in names if len(name) <= width}
    for name in names:
        short, number = name, 1
        while len(name) > width and (short == name or short in used):
            short, number = f"{name[: width - 1 - len(str(number))]}{_CUT}{number}", number + 1
        found[name] = short
        used.add(short)
    return found


def _cut(text: str, width: int, end: int) -> str:
    if len(text) <= width:
        return text
    return f"{text[: width - 1 - end]}{_CUT}{text[len(text) - end :]}"
