"""Multiple-choice questions with their options rotated, for CircularEval (Liu et al., MMBench, 2023).

Over all K rotations of K options every option stands at every place once: a preference for a letter is no knowledge.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lmms_medtasks.errors import UserError

if TYPE_CHECKING:
    from datasets import Dataset


def rotate_documents(dataset: Dataset) -> Dataset:
    """Each question with K options K times: rotation r begins with option r. The forms of a question follow each other,
    so that a prefix of the rows (``--limit``) has whole questions, except the last.

    New columns: ``question_id`` and ``rotation`` (0 to K - 1; 0 is the original). Options in the question's own text
    are rotated too. Images are not copied.

    Raises UserError for a question without options, and for one that shows its options in lines that can't be found.
    """
    import datasets

    names = ("id", "options", "answer", "question")
    ids, options, answers, questions = (list(dataset[name]) for name in names)
    counts = [len(offered) for offered in options]
    if 0 in counts:
        raise UserError(f"Question {ids[counts.index(0)]!r} has no options: there is nothing to rotate.")
    bare = dataset.remove_columns([*names, *({"question_id"} & set(dataset.column_names))])
    parts = []
    for rotation in range(max(counts, default=0)):
        turned = [
            rotate_question_options(each, answer, rotation) for each, answer in zip(options, answers, strict=True)
        ]
        shown = [
            question_with_options(question, before, after, name)
            for question, before, (after, _), name in zip(questions, options, turned, ids, strict=True)
        ]
        parts.append(
            bare.add_column("id", [f"{name}/r{rotation}" for name in ids])
            .add_column("question", shown)
            .add_column("question_id", ids)
            .add_column("rotation", [rotation] * len(ids))
            .add_column("options", [each for each, _ in turned])
            .add_column("answer", [answer for _, answer in turned])
        )
    rows = [rotation * len(ids) + row for row, number in enumerate(counts) for rotation in range(number)]
    return datasets.concatenate_datasets(parts).select(rows) if parts else dataset


def rotate_question_options(options: Sequence[str], answer: str, rotation: int) -> tuple[list[str], str]:
    """The options beginning with number ``rotation`` (from 0, around the end), and the right one's letter there.

    >>> rotate_question_options(["cyst", "stone", "scar"], "A", 1)
    (['stone', 'scar', 'cyst'], 'C')
    """
    start = rotation % len(options)
    index = (ord(answer) - ord("A") - start) % len(options)
    return [*options[start:], *options[:start]], chr(ord("A") + index)


def question_with_options(question: str, before: Sequence[str], after: Sequence[str], name: str = "") -> str:
    """A question whose text shows its options in lines ("A) cyst"), with the options ``after`` in place of ``before``.

    A text without a lettered option stays. ``name``: the question's id, for the message. Raises UserError if an option
    stands elsewhere than in a line of its own, or in several.
    """
    lines = question.split("\n")
    places: list[list[int]] = []
    shown = False
    for number, option in enumerate(before):
        lettered = rf"[(\[]?{chr(ord('A') + number)}[).:\]]\s*{re.escape(option)}"
        places.append([index for index, line in enumerate(lines) if re.fullmatch(rf"\s*{lettered}\s*", line)])
        shown = shown or re.search(rf"(?<!\w){lettered}(?!\w)", question) is not None
    if not shown:
        return question
    if any(len(line_indices) != 1 for line_indices in places):
        raise UserError(
            f"Question {name!r} shows options with their letters in its text, and not each in one line of its own: "
            "their order can't be changed there. Expected a line such as 'A) text' for each option, or for none."
        )
    for (index,), option, turned in zip(places, before, after, strict=True):
        head = lines[index].rpartition(option)[0]
        lines[index] = f"{head}{turned}"
    return "\n".join(lines)
