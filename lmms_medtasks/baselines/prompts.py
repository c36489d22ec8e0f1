"""What a prompt of ours says: the question and its options, read back as any model would have to."""

from __future__ import annotations

import re
from typing import NamedTuple

_OPTION = re.compile(r"^([A-Z])[.)]\s+(.*)$")


class Asked(NamedTuple):
    """The question's line and the options by letter, in the order of the prompt; no options if it is open."""

    question: str
    options: dict[str, str]


def read_prompt(prompt: str) -> Asked:
    """Find the options (the last run of lines "A. …", "B. …" that starts with A) and the line before them."""
    lines = [line.strip() for line in prompt.splitlines()]
    starts = [number for number, line in enumerate(lines) if line[:2] in {"A.", "A)"}]
    for start in reversed(starts):
        options: dict[str, str] = {}
        for expected, line in zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", lines[start:], strict=False):
            match = _OPTION.match(line)
            if not match or match.group(1) != expected:
                break
            options[expected] = match.group(2)
        before = [line for line in lines[:start] if line]
        if len(options) >= 2 and before:
            return Asked(before[-1], options)
    return Asked(prompt.strip(), {})
