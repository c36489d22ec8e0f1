"""Votes: what the T replies to each multiple-choice question say, counted into arrays once for all metrics."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lmms_medtasks.errors import UserError
from lmms_medtasks.parsing import option_letters
from lmms_medtasks.record import FAILED, NO_ANSWER

Record = Mapping[str, Any]
_NEEDED = ("id", "image_id", "trials", "answer", "option_count")
_LETTERS = {count: frozenset(option_letters(count)) for count in range(1, 27)}


@dataclass(frozen=True)
class VoteTable:
    """The votes on n questions, row by row in the order of the records.

    Attributes:
        ids, question_ids, image_ids: n strings each. ``question_ids`` joins the forms of a question at the levels of
            severity; ``image_ids`` are the clusters.
        counts: (n, K + 1) integers, K the most options of any question here. Column k counts the votes for option k,
            the last column the replies without an answer (:data:`~lmms_medtasks.record.NO_ANSWER`), together one more
            outcome of the vote.
        option_counts: (n,) integers, each question's own number of options.
        answers: (n,) integers, the column of the right option.
        failed: (n,) integers, the trials whose request failed. They are no votes.
    """

    ids: tuple[str, ...]
    question_ids: tuple[str, ...]
    image_ids: tuple[str, ...]
    counts: np.ndarray
    option_counts: np.ndarray
    answers: np.ndarray
    failed: np.ndarray

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def replies(self) -> np.ndarray:
        """(n,) integers: the trials that got a reply, readable or not."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def trials(self) -> int:
        """T: the most trials of any question, with a reply or not; 0 without questions."""
        return int((self.replies + self.failed).max(initial=0))

    @property
    def scores(self) -> np.ndarray:
        """(n,) floats in [0, 1]: share of the replies that are right (equation 2 over trials), NaN without a reply."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.right / self.replies)

    @property
    def right(self) -> np.ndarray:
        """(n,) integers: the votes for the right option."""
        return np.asarray(self.counts[np.arange(len(self)), self.answers])

    def take(self, rows: Sequence[int] | np.ndarray) -> VoteTable:
        """The table of these rows (integers, or a boolean mask of length n), in this order.

        It has as many columns as :func:`count_votes` gives these rows.
        """
        chosen = np.asarray(rows)
        chosen = np.flatnonzero(chosen) if chosen.dtype == bool else chosen.astype(np.intp)
        option_counts, last = self.option_counts[chosen], self.counts.shape[1] - 1
        most = int(option_counts.max(initial=0))
        counts, row_numbers = self.counts[chosen], chosen.tolist()
        if most < last:
            counts = np.ascontiguousarray(counts[:, [*range(most), last]])
        return VoteTable(
            ids=tuple(map(self.ids.__getitem__, row_numbers)),
            question_ids=tuple(map(self.question_ids.__getitem__, row_numbers)),
            image_ids=tuple(map(self.image_ids.__getitem__, row_numbers)),
            counts=counts,
            option_counts=option_counts,
            answers=self.answers[chosen],
            failed=self.failed[chosen],
        )


def count_votes(records: Iterable[Record]) -> VoteTable:
    """Count the votes of each record: ``trials`` holds an option's letter or a status for each trial.

    Every record becomes a row, with or without a reply: nothing is dropped here. ``question_id`` is the record's own,
    or its ``id`` where it has none. No records give a table of no rows.

    Raises:
        UserError: a record lacks ``id``, ``image_id``, ``trials``, ``answer`` or ``option_count``, has no options, or
            a trial or the answer is no option of the question.
    """
    records = list(records)
    for record in records:
        _check_record(record)
    option_counts = np.array([record["option_count"] for record in records], dtype=np.int32)
    most = int(option_counts.max(initial=0))
    column = {letter: number for number, letter in enumerate(option_letters(most) if most else "")}
    answers = np.array([column[record["answer"]] for record in records], dtype=np.int32)
    # All trials in one line: a column each, and beside those of options one for no answer and one for a failure.
    outcome = {**column, **dict.fromkeys(NO_ANSWER, most), FAILED: most + 1}
    lengths = [len(record["trials"]) for record in records]
    rows = np.repeat(np.arange(len(records)), lengths)
    trials = itertools.chain.from_iterable(record["trials"] for record in records)
    outcomes = np.fromiter(map(outcome.get, trials, itertools.repeat(-1)), dtype=np.int64, count=len(rows))
    wrong = (outcomes < 0) | ((outcomes >= option_counts[rows]) & (outcomes < most))
    if wrong.any():
        first_wrong = int(np.flatnonzero(wrong)[0])
        record = records[rows[first_wrong]]
        raise _wrong_option_error("trial", record["trials"][first_wrong - sum(lengths[: rows[first_wrong]])], record)
    counts = np.bincount(rows * (most + 2) + outcomes, minlength=len(records) * (most + 2))
    counts = counts.reshape(len(records), most + 2)
    return VoteTable(
        ids=tuple(str(record["id"]) for record in records),
        question_ids=tuple(str(record.get("question_id") or record["id"]) for record in records),
        image_ids=tuple(str(record["image_id"]) for record in records),
        counts=counts[:, :-1].astype(np.int32),
        option_counts=option_counts,
        answers=answers,
        failed=counts[:, -1].astype(np.int32),
    )


def take_common_questions(tables: Mapping[str, VoteTable]) -> dict[str, VoteTable]:
    """Each table cut to the records (by ``id``) that all tables have, in the order of their ids.

    Models must be compared on the same questions: a run with ``--limit`` or of one level holds others.
    """
    shared = sorted(set.intersection(*(set(table.ids) for table in tables.values()))) if tables else []
    rows = {name: {record: row for row, record in enumerate(table.ids)} for name, table in tables.items()}
    return {name: table.take([rows[name][record] for record in shared]) for name, table in tables.items()}


def _check_record(record: Record) -> None:
    if missing := [name for name in _NEEDED if record.get(name) in (None, "")]:
        raise UserError(
            f"Record {record.get('id')!r} has no {', '.join(missing)}: votes are counted only on records that a "
            "multiple-choice task of lmms-medtasks wrote."
        )
    if not 1 <= record["option_count"] <= 26:
        raise UserError(f"Record {record['id']!r} has option_count {record['option_count']!r}, allowed are 1 to 26.")
    if record["answer"] not in _LETTERS[record["option_count"]]:
        raise _wrong_option_error("answer", record["answer"], record)


def _wrong_option_error(kind: str, got: object, record: Record) -> UserError:
    letters = ", ".join(option_letters(record["option_count"]))
    statuses = f", {', '.join(NO_ANSWER)}, {FAILED}" if kind == "trial" else ""
    return UserError(f"Record {record['id']!r} has the {kind} {got!r}. Allowed: {letters}{statuses}.")
