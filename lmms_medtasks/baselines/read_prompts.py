"""Read the question and its options back from one of our prompts, as any model has to; answer at random."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from lmms_medtasks.errors import UserError

_YES_NO = re.compile(r"\byes (?:or|/) no\b|\byes/no\b", re.IGNORECASE)
_GRID = re.compile(r"(?<![\d×x])(\d) ?[×x] ?(\d)(?![\d×x])(?=[\w ]*\bgrid\b)")
_OPTION = re.compile(r"^([A-Z])[.)]\s+(.*)$")
_LABEL = re.compile(r"^Question:\s*", re.IGNORECASE)


class PromptQuestion(NamedTuple):
    """The question's line and the options by letter, in the order of the prompt; no options if it is open."""

    question: str
    options: dict[str, str]


def read_prompt(prompt: str) -> PromptQuestion:
    """Find the options (the last run of lines "A. …" or "A) …" that starts with A) and the question.

    The question is the line before the options, a line "Options:" apart; without options the line that begins with
    "Question:", and without that too all of the prompt but a last line that only asks for yes or no. The word
    "Question:" is no part of it.
    """
    lines = [line.strip() for line in prompt.splitlines()]
    starts = [number for number, line in enumerate(lines) if line[:2] in {"A.", "A)"}]
    for start in reversed(starts):
        options: dict[str, str] = {}
        for expected, line in zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", lines[start:], strict=False):
            match = _OPTION.match(line)
            if not match or match.group(1) != expected:
                break
            options[expected] = match.group(2)
        before = [line for line in lines[:start] if line and line.casefold() != "options:"]
        if len(options) >= 2 and before:
            return PromptQuestion(_LABEL.sub("", before[-1]), options)
    labelled = [line for line in lines if _LABEL.match(line)]
    return PromptQuestion(_LABEL.sub("", labelled[-1]) if labelled else _without_instruction(prompt.strip()), {})


def _without_instruction(prompt: str) -> str:
    *above, last = prompt.splitlines() or [""]
    return "\n".join(above).strip() if above and _YES_NO.search(last) and "?" not in last else prompt


def wants_reasoning(prompt: str) -> bool:
    """Whether a prompt asks for an open answer as two lines, "Reasoning: …" and "Answer: …"."""
    return (
        re.search(r"^Reasoning:.*\n+\s*Answer:", prompt, re.MULTILINE) is not None and not read_prompt(prompt).options
    )


def open_reply(prompt: str, reasoning: str, answer: str) -> str:
    """An answer in the form that the prompt asks for: the two lines, or the answer alone."""
    return f"Reasoning: {reasoning}\nAnswer: {answer}" if wants_reasoning(prompt) else answer


def spoken_answers(prompt: str) -> list[str]:
    """The answers that an open prompt says are possible, [] if it says nothing of the kind.

    A prompt that asks for yes or no: these. One about a "2×2 grid" (medical images, say): its positions and "none".
    """
    if _YES_NO.search(prompt):
        return ["yes", "no"]
    grid = _GRID.search(prompt)
    if not grid:
        return []
    from lmms_medtasks.grid_positions import parse_size

    try:
        return [*parse_size(f"{grid[1]}x{grid[2]}").positions, "none"]
    except UserError:  # a grid of a size that we have no names for
        return []


def answer_at_random(prompt: str, rng: np.random.Generator) -> str:
    """One of the prompt's options by its letter; else one of the answers that it says are possible: "yes" or "no", or a
    position in a grid or "none".

    Any other open question has nothing to draw from. Where it asks for reasoning and answer, the reply has both parts
    and says that there is no answer, which a judge should find wrong; else it is "".
    """
    if wants_reasoning(prompt):
        return open_reply(prompt, "there are no options to draw one from at random.", "I cannot answer.")
    answers = list(read_prompt(prompt).options) or spoken_answers(prompt)
    return answers[int(rng.integers(len(answers)))] if answers else ""
