"""Split a reply that was requested as two lines, ``Reasoning: ...`` and ``Answer: ...``."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lmms_medtasks.parsing.reply import Outcome, Reply
from lmms_medtasks.parsing.words import any_of

Status = Literal["both", "no_reasoning", "no_answer", "neither"] | Outcome
"""Which labelled parts were there. "empty" is also a reply of labels alone."""

_LABELLED_THOUGHTS = ("reasoning", "analysis")
"""Marks of thoughts whose word is the label: ``<reasoning>``."""
_TAG = re.compile(r"<(/?)(answer|final_answer|conclusion)>", re.IGNORECASE)

_MARK = r"(?:step\s*\d+\s*[:.)\-]*|[(\[]?\d{1,2}[.)\]:\u3001](?!\d)|[\u2460-\u2473]|[-*\u2022\u00b7])"
_LEADING = re.compile(rf"^\s*{_MARK}\s*", re.IGNORECASE)
_INLINE = re.compile(
    r"(?:(?<=\s)|^)(?:step\s*\d+\s*[:.)]|[(\[]\d{1,2}[)\]]|\d{1,2}[.)](?=\s))|[\u2460-\u2473]", re.IGNORECASE
)
_ARROW = re.compile(r"\s*(?:->|=>|\u2192|\u21d2)\s*")
_SENTENCE = re.compile(r"(?<=[.;!?])\s+(?=[^\W\d_a-z]|[\u4e00-\u9fff])|(?<=[\u3002\uff1b])|(?<=;)\s+")


@functools.cache
def _label_pattern() -> re.Pattern[str]:
    """A label, in the group of its part: before a colon or in brackets, or (groups "head_...") alone as a heading."""
    # Bounded: a search must not take quadratic time over a long run of marks.
    words = rf"(?P<reasoning>{any_of('reasoning')})|(?P<answer>{any_of('label')})"
    begins = r"(?:^|(?<=[.!?;。])[ \t]{0,3}|[ \t](?=\*\*|__)|(?=【))"
    marks = r"[ \t>*_#-]{0,16}(?:\d[.)][ \t]{0,4})?[*_\[【(]{0,4}"
    ends = r"(?:[\]】)*_]{0,4}[ \t]{0,3}[:：][*_]{0,4}|[\]】])"
    heading = rf"^[ \t]{{0,3}}(?:#{{1,6}}|\*\*|__)[ \t]{{0,3}}(?:{words.replace('(?P<', '(?P<head_')})"
    line_ends = r"[ \t]{0,3}[*_]{0,4}[ \t]{0,3}$"
    return re.compile(rf"{begins}{marks}(?:{words}){ends}|{heading}{line_ends}", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True)
class ReasonedReply:
    """The two parts of a reply. Nothing of it is lost but labels and reasoning tags.

    ``answer`` is what follows the last label "Answer" (to the next label, or the end); without that label it is empty,
    unless there are no labels at all: then it is the whole reply. ``reasoning`` is everything else: the text with the
    label "Reasoning", text without a label, and answers that were given before the last.
    """

    status: Status
    reasoning: str = ""
    answer: str = ""


def read_reasoned(reply: Reply | str | None) -> ReasonedReply:
    """Read the two parts of ``reply``.

    Labels stand at the beginning of a line, perhaps with a number, or after a sentence in the same line, in any case,
    perhaps as a heading, or anywhere if they are bold ("**Answer:**"), in the languages of ``words.yml``; "Final
    answer:" counts as "Answer:". Tags (``<reasoning>``, ``<answer>``) and the keys of a JSON object are labels, too.

    >>> read_reasoned("Reasoning: a dark round area.\\nAnswer: a cyst")
    ReasonedReply(status='both', reasoning='a dark round area.', answer='a cyst')
    """
    reply = Reply.of(reply)
    if reply.outcome:
        return ReasonedReply(reply.outcome)
    text = _as_lines(reply.answer.strip())
    thinking = reply.thinking if any(thought.mark in _LABELLED_THOUGHTS for thought in reply.thoughts) else ""
    if thinking:
        text = f"Reasoning: {thinking}\n{text if _label_pattern().search(text) else f'Answer: {text}'}"
    labels = list(_label_pattern().finditer(text))
    if labels:
        return _split_parts(text, labels)
    return ReasonedReply("cut", reasoning=text) if reply.ended == "length" else ReasonedReply("neither", answer=text)


def _split_parts(text: str, labels: Sequence[re.Match[str]]) -> ReasonedReply:
    """The parts of a text with labels: what follows the last label of an answer, and all else."""
    ends = [match.start() for match in labels[1:]] + [len(text)]
    sections = [text[match.end() : end].strip() for match, end in zip(labels, ends, strict=True)]
    of_answers = [index for index, match in enumerate(labels) if match["answer"] or match["head_answer"]]
    last = of_answers[-1] if of_answers else -1
    answer = sections[last] if of_answers else ""
    rest = [text[: labels[0].start()].strip(), *(part for index, part in enumerate(sections) if index != last)]
    reasoning = "\n".join(part for part in rest if part)
    labelled = any(part for index, part in enumerate(sections) if index not in of_answers)
    if not labelled and not answer:
        return ReasonedReply("neither", answer=reasoning) if reasoning else ReasonedReply("empty")
    return ReasonedReply(
        "both" if labelled and answer else "no_answer" if labelled else "no_reasoning", reasoning, answer
    )


def _as_lines(text: str) -> str:
    """A reply in tags, or as a JSON object of two texts, as labelled lines; any other text as it is."""
    bare = re.sub(r"^```(?:json)?\s*|\s*```$", "", text)
    if bare.startswith("{") and bare.endswith("}"):
        try:
            parts = json.loads(bare)
        except (ValueError, RecursionError):
            return text
        if isinstance(parts, dict) and parts and all(isinstance(part, str) for part in parts.values()):
            return "\n".join(f"{name.replace('_', ' ')}: {part}" for name, part in parts.items())
    return _TAG.sub(lambda match: "\n" if match[1] else "\nAnswer: ", text).strip() if _TAG.search(text) else text


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
        steps = [step for piece in pieces if (step := _bare_step(piece))]
        if len(steps) > 1:
            return steps
    return [step] if (step := _bare_step(text)) else []


def _bare_step(piece: str) -> str:
    step = _LEADING.sub("", piece.strip()).strip()
    return step if re.search(r"[^\W\d]", step) else ""
