"""The questions about the phantoms of the mini data: those of ``phantom_questions.yml``, and those that a benchmark's
folder adds in a file of that name."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from lmms_medtasks import folders

FILE = "phantom_questions.yml"

Condition = Mapping[str, tuple[str, ...]]
"""Fact -> the values that fit; all facts have to."""


@dataclass(frozen=True)
class Question:
    """One question and the rule that makes an option right.

    ``options`` maps each option's text, in the file's order, to its condition; the first that fits is right.
    """

    name: str
    modalities: tuple[str, ...]
    capability: str
    text: str
    options: Mapping[str, Condition]

    @property
    def facts(self) -> tuple[str, ...]:
        """The facts that the answer depends on, in the order in which the options name them."""
        return tuple(dict.fromkeys(fact for condition in self.options.values() for fact in condition))

    def answer(self, facts: Mapping[str, str]) -> str | None:
        """The right option for a picture that shows ``facts``; None when the question cannot be asked about it."""
        for option, condition in self.options.items():
            if all(facts[fact] in allowed for fact, allowed in condition.items()):
                return option
        return None

    def cases(self, values: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[dict[str, str], str]]:
        """Every combination of the values of this question's facts that has an answer, and that answer."""
        for combination in product(*(values[fact] for fact in self.facts)):
            facts = dict(zip(self.facts, combination, strict=True))
            option = self.answer(facts)
            if option is not None:
                yield facts, option


@functools.cache
def all_questions() -> tuple[Question, ...]:
    """The questions of every benchmark's mini data, in the file's order."""
    return _read(Path(__file__).with_name(FILE))


@functools.cache
def added_questions() -> tuple[Question, ...]:
    """The questions that the folders of the installed benchmarks add."""
    return tuple(question for folder in folders.having(FILE) for question in _read(folder / FILE))


def _read(path: Path) -> tuple[Question, ...]:
    return tuple(question_of({"capability": "", **entry}) for entry in yaml.safe_load(path.read_text("utf-8")))


def question_of(entry: Mapping[str, Any]) -> Question:
    """A question from its entry in a file of the form of phantom_questions.yml."""
    return Question(
        name=entry["name"],
        modalities=tuple(entry.get("any of") or [entry["modality"]]),
        capability=entry["capability"],
        text=" ".join(entry["question"].split()),
        options={
            option: {fact: (value,) if isinstance(value, str) else tuple(value) for fact, value in condition.items()}
            for option, condition in entry["options"].items()
        },
    )
