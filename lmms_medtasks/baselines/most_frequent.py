"""The most frequent training answer to the same question: what knowing the answers without looking gets."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from lmms_medtasks.baselines.prompts import read_prompt
from lmms_medtasks.errors import UserError


class Guess(NamedTuple):
    """A letter, and whether the question was among the training questions ("" and False for an open question)."""

    letter: str
    known: bool


class MostFrequentAnswer:
    """Looks answers up by the question's text, case and spacing ignored.

    ``pairs`` are (question, text of the right answer) of the training questions. An unknown question, or one none of
    whose training answers is an option here, gets the option that is the most frequent answer over all training
    questions, the first option if none ever was. Ties go to the answer that comes first in the alphabet.
    """

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._by_question: dict[str, Counter[str]] = defaultdict(Counter)
        self._overall: Counter[str] = Counter()
        for question, answer in pairs:
            self._by_question[_key(question)][_key(answer)] += 1
            self._overall[_key(answer)] += 1

    def answer(self, prompt: str) -> Guess:
        """The letter of the most frequent training answer among the prompt's options."""
        question, options = read_prompt(prompt)
        if not options:
            return Guess("", False)
        # .get: looking up must not add to the table.
        counts = self._by_question.get(_key(question), Counter())
        known = any(counts[_key(text)] for text in options.values())
        chosen = counts if known else self._overall
        return Guess(min(options, key=lambda letter: (-chosen[_key(options[letter])], _key(options[letter]))), known)


def read_pairs(path: Path) -> list[tuple[str, str]]:
    """(question, text of the right answer) of every multiple-choice row of a prepared parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path, columns=["question", "options", "answer"])
    except (OSError, pa.ArrowInvalid) as error:
        raise UserError(f"Can't read the training questions from {path}: {error}") from error
    rows = zip(*(table.column(name).to_pylist() for name in ("question", "options", "answer")), strict=True)
    return [
        (question, options[ord(letter) - ord("A")])
        for question, options, letter in rows
        if options and len(letter) == 1 and 0 <= ord(letter) - ord("A") < len(options)
    ]


def _key(text: str) -> str:
    return " ".join(text.casefold().split())
