"""Taking a written chain of reasoning apart into its steps."""

from __future__ import annotations

import re

_MARK = r"(?:step\s*\d+\s*[:.)\-]*|[(\[]?\d{1,2}[.)\]:\u3001](?!\d)|[\u2460-\u2473]|[-*\u2022\u00b7])"
_LEADING = re.compile(rf"^\s*{_MARK}\s*", re.IGNORECASE)
_INLINE = re.compile(
    r"(?:(?<=\s)|^)(?:step\s*\d+\s*[:.)]|[(\[]\d{1,2}[)\]]|\d{1,2}[.)](?=\s))|[\u2460-\u2473]", re.IGNORECASE
)
_ARROW = re.compile(r"\s*(?:->|=>|\u2192|\u21d2)\s*")
_SENTENCE = re.compile(r"(?<=[.;!?])\s+(?=[^\W\d_a-z]|[\u4e00-\u9fff])|(?<=[\u3002\uff1b])|(?<=;)\s+")


def split_steps(text: str) -> list[str]:
    """The steps of ``text``, in order, without their marks; [] for a text without a word.

    Taken is the first of these that gives two steps or more: its lines; numbers within a line ("1. ... 2. ...", "Step
    1: ...", "(1) ..."); arrows; sentences. Else the whole text is one step.

    >>> split_steps("1. A fall. 2. A gap in the cortex.")
    ['A fall.', 'A gap in the cortex.']
    >>> split_steps("a fall -> a gap -> a fracture")
    ['a fall', 'a gap', 'a fracture']
    """
    for pieces in (text.splitlines(), _INLINE.split(text), _ARROW.split(text), _SENTENCE.split(text)):
        steps = [step for piece in pieces if (step := _bare(piece))]
        if len(steps) > 1:
            return steps
    return [step] if (step := _bare(text)) else []


def _bare(piece: str) -> str:
    step = _LEADING.sub("", piece.strip()).strip()
    return step if re.search(r"[^\W\d]", step) else ""
