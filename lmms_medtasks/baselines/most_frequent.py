"""The most frequent training answer to the same question: the score of a model that sees no image."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from lmms_medtasks.baselines.read_prompts import read_prompt
from lmms_medtasks.data.sources import TrainingRule
from lmms_medtasks.data.table_cells import fold_cell
from lmms_medtasks.errors import UserError


class FrequentAnswer(NamedTuple):
    """An option's letter, or the text of an answer, and whether the question was among the training questions.

    To a question without options that was not among them there is no answer: "" and False.
    """

    answer: str
    known: bool


class MostFrequentAnswer:
    """Looks answers up by the question's text, case and spacing ignored.

    ``pairs`` are (question, text of the right answer) of the training questions. An unknown question, or one none of
    whose training answers is an option here, gets the option that is the most frequent answer over all training
    questions, the first option if none ever was. Ties go to the answer that comes first in the alphabet.

    A question without options gets its own most frequent training answer or none: an answer to other questions would
    be no baseline (SURE-VQA, section 2, R3).
    """

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._by_question: dict[str, Counter[str]] = defaultdict(Counter)
        self._overall: Counter[str] = Counter()
        self._spelt: dict[str, str] = {}
        for question, answer in pairs:
            self._spelt.setdefault(fold_cell(answer), answer)
            self._by_question[fold_cell(question)][fold_cell(answer)] += 1
            self._overall[fold_cell(answer)] += 1

    def answer(self, prompt: str) -> FrequentAnswer:
        """The letter of the most frequent training answer among the prompt's options; without options, its text."""
        question, options = read_prompt(prompt)
        if not options:
            own_answers = self._by_question.get(fold_cell(question))
            if not own_answers:
                return FrequentAnswer("", False)
            return FrequentAnswer(self._spelt[min(own_answers, key=lambda text: (-own_answers[text], text))], True)
        # .get: looking up must not add to the table.
        counts = self._by_question.get(fold_cell(question), Counter())
        option_texts = {letter: fold_cell(text) for letter, text in options.items()}
        known = any(counts[text] for text in option_texts.values())
        chosen = counts if known else self._overall
        return FrequentAnswer(
            min(option_texts, key=lambda letter: (-chosen[option_texts[letter]], option_texts[letter])), known
        )


def read_pairs(path: Path, rule: TrainingRule | None = None) -> list[tuple[str, str]]:
    """(question, text of the right answer) of the rows of a prepared parquet file.

    ``rule``: only the rows that it says train. What is out of distribution is never trained on:
    some of it is tested.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    tags = list(dict.fromkeys([*rule.fields, "split"])) if rule else []
    try:
        table = pq.read_table(path, columns=["question", "options", "answer", *tags])
    except (OSError, pa.ArrowInvalid) as error:
        raise UserError(f"Can't read the training questions from {path}: {error}") from error
    rows = [row for row in table.to_pylist() if rule is None or rule.trains(row)]
    return [(row["question"], text) for row in rows if (text := answer_text(row["options"], row["answer"]))]


def answer_text(options: list[str], answer: str) -> str:
    """The text of the right answer: of the option that ``answer`` names, or ``answer`` itself; "" if it names none."""
    if not options:
        return answer
    index = ord(answer) - ord("A") if len(answer) == 1 else -1
    return options[index] if 0 <= index < len(options) else ""
