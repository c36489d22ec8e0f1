"""Records of questions with options, and metrics of questions asked once per rotation of their options.

Questions are copied by :func:`lmms_medtasks.data.rotated_options.rotate_documents`. The record of a copy is paired by
its question's id and has the tags ``rotation`` (0: as the question is) and ``option_count``; its trials are letters.
"""

from __future__ import annotations

import functools
import math
import operator
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lmms_medtasks.parsing.option import read_option
from lmms_medtasks.parsing.reply import Reply
from lmms_medtasks.record import FAILED, QuestionRecord, ScoreValue
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.suites.estimates import Count, Unit, Units
from lmms_medtasks.suites.suite import Metric

ROTATED = "rotated options"
"""How such a task asks."""

LETTERS = "ABCDE"
"""The letters that most benchmarks' options have."""


# --- A question -------------------------------------------------------------------------------------------------------


def option_record(doc: Mapping[str, Any], results: Sequence[str | None], tags: Mapping[str, Any]) -> QuestionRecord:
    """The record of a question whose answer is an option's letter, or of one rotation of it.

    An empty, unreadable, ambiguous or refusing reply is incorrect; a failed request counts for nothing, and without
    another reply there is no score.
    """
    replies = [Reply.of(result) for result in results]
    readings = [read_option(reply, doc["options"]) for reply in replies]
    correct = [reading.value == doc["answer"] for reading in readings if reading.status != FAILED]
    turned = {"rotation": doc["rotation"]} if "rotation" in doc else {}
    return QuestionRecord(
        id=str(doc["id"]),
        cluster=str(doc["image_id"]),
        trials=tuple(reading.value or reading.status for reading in readings),
        expected=str(doc["answer"]),
        measures={"accuracy": ScoreValue(sum(correct) / len(correct) if correct else None)},
        tags={**tags, "option_count": len(doc["options"]), **turned},
        pair=str(doc.get("question_id") or ""),
        replies=tuple(reply.note(each.rule) for reply, each in zip(replies, readings, strict=True)),
    )


# --- Whole questions --------------------------------------------------------------------------------------------------


def whole_questions(rows: QuestionTable, value: Callable[[Sequence[float]], float]) -> list[Unit]:
    """Image and ``value`` of each question's scores in rotation order; None unless every rotation has a reply."""
    copies: dict[str, list[tuple[int, float, str, int]]] = {}
    columns = (rows.column(name) for name in ("pair", "rotation", "accuracy.score", "cluster", "option_count"))
    for question, *copy in zip(*columns, strict=True):
        copies.setdefault(question, []).append(tuple(copy))
    units: list[Unit] = []
    for question_copies in copies.values():
        scores = [score for _, score, *_ in sorted(question_copies)]
        _, _, cluster, option_count = question_copies[0]
        whole = len(scores) == option_count and not any(map(math.isnan, scores))
        units.append((cluster, value(scores) if whole else None))
    return units


EVERY_ROTATION = Units(units=functools.partial(whole_questions, value=lambda scores: float(set(scores) == {1})))
"""Share of the questions that are right under every rotation; None if no question is whole."""

UNROTATED = Units(units=functools.partial(whole_questions, value=operator.itemgetter(0)))
"""Accuracy of the copy that is not rotated, over the whole questions."""

INCOMPLETE_QUESTIONS = Count(function=EVERY_ROTATION.without_value)


# --- Letters ----------------------------------------------------------------------------------------------------------


def position_bias(rows: QuestionTable) -> float | None:
    """Total variation distance between the picked letters and the correct ones.

    Half the sum over letters of the difference between a letter's share among the readable picks and its share as the
    right answer: 0 for a model that picks each letter as often as it is right, 1 - 1/K for one that always picks the
    same of K. None without a readable pick. Where every option stands at every place once, preferring a letter is no
    knowledge.
    """
    picked, right = letter_shares(rows)
    # A set has no order, and a plain sum's last digit would depend on it.
    distances = (abs(picked[letter] - right[letter]) for letter in picked.keys() | right.keys())
    return math.fsum(distances) / 2 if picked else None


def letter_shares(rows: QuestionTable) -> tuple[Counter[str], Counter[str]]:
    """The share of each letter among the readable picks, and among the correct answers of the same copies."""
    pairs = [
        (trial, expected)
        for trials, expected in zip(rows.column("trials"), rows.column("expected"), strict=True)
        for trial in trials
        if len(trial) == 1
    ]
    # The right letters only of questions with a pick, so that an unreadable reply moves neither side.
    counted = (Counter(pick for pick, _ in pairs), Counter(right for _, right in pairs))
    picked, right = (Counter({key: n / len(pairs) for key, n in counts.items()}) for counts in counted)
    return picked, right


def letter_excess(rows: QuestionTable, letter: str) -> float | None:
    """A letter's share among the readable picks less its share among correct answers; None without a pick."""
    picked, right = letter_shares(rows)
    return picked[letter] - right[letter] if picked else None


# --- Metrics ----------------------------------------------------------------------------------------------------------


def rotation_metrics(letters: str = LETTERS) -> tuple[Metric, ...]:
    """The metrics of a circular task beside its accuracy over all copies, with the excess of each of ``letters``."""
    return (
        Metric(
            "circular_accuracy", EVERY_ROTATION, about="Share of the questions that are right under every rotation."
        ),
        Metric(
            "position_bias",
            Count(function=position_bias),
            higher_is_better=False,
            about="Total variation distance of the letters picked from the right ones.",
        ),
        *(
            Metric(
                f"excess_{letter.lower()}",
                Count(function=functools.partial(letter_excess, letter=letter)),
                higher_is_better=None,
                about="The letter's share among the readable picks less its share as the correct answer.",
            )
            for letter in letters
        ),
        Metric(
            "incomplete_questions",
            INCOMPLETE_QUESTIONS,
            higher_is_better=False,
            about="Number of questions that lack a reply to a rotation.",
            unit="count",
        ),
    )


def circular_task(letters: str = LETTERS) -> tuple[str, ...]:
    """The names of a circular task's metrics, without those that every task of its benchmark has."""
    excesses = (f"excess_{letter.lower()}" for letter in letters)
    return ("circular_accuracy", "accuracy", "position_bias", *excesses, "incomplete_questions")
