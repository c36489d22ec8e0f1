"""The questions of a task in files of bounded size, with what each model answered; the page loads what it shows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.shown_answers import Shown
from lmms_medtasks.board.site.question_cards import content, read_replies
from lmms_medtasks.board.site.question_data import Material, QuestionData
from lmms_medtasks.board.site.question_index import digit
from lmms_medtasks.board.site.question_scores import Scores

SHARD_BYTES = 200_000
"""Bytes of a shard at which the next one begins; a single question may have more."""

_BLOCK = 64
_LONGEST, _SHORTEST, _SUITE_BYTES = 2_000, 60, 60_000_000
_Replies = str | tuple[tuple[str, str], ...] | None
_Answer = tuple[tuple[str, str], _Replies]


def reply_length(entries: Sequence[Entry]) -> int:
    """Characters that a reply is cut to, so that all replies of a suite together stay below 60 MB."""
    count = sum(len(entry.questions) for entry in entries)
    return max(_SHORTEST, min(_LONGEST, _SUITE_BYTES // max(count, 1)))


@dataclass(frozen=True)
class Shard:
    """A file of questions. ``first``: the row of its first one. ``heads``: the text of each, for the index."""

    first: int
    content: Mapping[str, Any]
    heads: Sequence[str]


@dataclass(frozen=True)
class TaskQuestions:
    """The questions of a task in the order of their list, with the scores of each entry.

    ``order``: the places that ``ids`` have when they are sorted as texts.
    """

    entries: Sequence[Entry]
    ids: np.ndarray
    order: np.ndarray
    scores: Sequence[Scores]
    materials: Mapping[str, Material]
    data: QuestionData
    cut: int

    @property
    def known(self) -> np.ndarray:
        """The ids, sorted as texts."""
        found = np.empty_like(self.ids)
        found[self.order] = self.ids
        return found

    def shards(self) -> Iterator[Shard]:
        """The shards, in the order of the list.

        Each is ``scores``: pairs of a score's text and its digit, and ``questions``: mappings of ``id``, ``text``,
        ``options``, ``right``, ``pictures`` (path, label, alternative text, width, height), ``note``, ``answers`` and
        ``who``.
        ``answers`` are distinct pairs of the place of a score and of replies: null where there are none to show, a
        text of letters of which the right one is ``right`` (those first), or a list of pairs of text and mark. ``who``
        has for each entry the place of its answer, -1 where it was not asked.
        """
        rows: list[dict[str, Any]] = []
        heads: list[str] = []
        scores: dict[tuple[str, str], int] = {}
        first = size = 0
        for row, question in enumerate(self._questions()):
            length = len(json.dumps(question))
            if rows and size + length > SHARD_BYTES:
                yield Shard(first, {"scores": list(scores), "questions": rows}, heads)
                rows, heads, scores, first, size = [], [], {}, row, 0
            answers = [[scores.setdefault(said, len(scores)), replies] for said, replies in question["answers"]]
            rows.append({**question, "answers": answers})
            heads.append(question.get("text", ""))
            size += length
        yield Shard(first, {"scores": list(scores), "questions": rows}, heads)

    def _questions(self) -> Iterator[dict[str, Any]]:
        known: dict[Any, _Replies] = {}
        telling = [self.data.may_tell(entry) for entry in self.entries]
        known_ids = self.known
        columns = [_Columns(entry, known_ids, self.order) for entry in self.entries]
        for start in range(0, len(self.ids), _BLOCK):
            block = [str(id) for id in self.ids[start : start + _BLOCK]]
            texts = [
                self.data.logs.of(entry, block) if may else {}
                for entry, may in zip(self.entries, telling, strict=True)
            ]  # fmt: skip
            for row, id in enumerate(block, start):
                found = [each.get(id) for each in texts]
                yield self._question(row, id, found, columns, known)

    def _question(
        self,
        row: int,
        id: str,
        texts: Sequence[Shown | None],
        columns: Sequence[_Columns],
        known: dict[Any, _Replies],
    ) -> dict[str, Any]:
        """As :meth:`shards` describes; an answer has its score itself. ``known``: replies that were read before."""
        material = self.materials.get(id)
        text, options, right = content(material, next(filter(None, texts), None))
        question: dict[str, Any] = {"id": id}
        if text:
            question |= {"text": text, "right": right}
        if options:
            question["options"] = options
        if material and material.pictures:
            question["pictures"] = [astuple(each) for each in material.pictures]
        if material and material.note:
            question["note"] = material.note
        answers: dict[_Answer, int] = {}
        who = []
        for scores, shown, own in zip(self.scores, texts, columns, strict=True):
            if own.place[row] < 0:
                who.append(-1)
                continue
            said = scores.text(row) or "–", digit(float(scores.normal[row]))
            replies = None if shown is None else self._replies(own, row, float(scores.normal[row]), shown, right, known)
            who.append(answers.setdefault((said, replies), len(answers)))
        return {**question, "answers": list(answers), "who": who}

    def _replies(
        self, own: _Columns, row: int, normal: float, shown: Shown, right: str, known: dict[Any, _Replies]
    ) -> _Replies:
        trials, expected = own.read(row)
        if expected is None:
            return self._read(trials, expected, normal, shown.replies, right)
        key = tuple(trials), expected, right, normal
        if key not in known:
            known[key] = self._read(trials, expected, normal, (), right)
        return known[key]

    def _read(
        self, trials: Sequence[str], expected: str | None, normal: float, texts: Sequence[str], right: str
    ) -> _Replies:
        replies = read_replies(trials, expected, normal, texts, self.cut)
        if replies and all(len(each.text) == 1 and each.mark == "✗✓"[each.text == right] for each in replies):
            # Trials have no order that means anything, and so fewer models have replies of their own.
            return "".join(sorted((each.text for each in replies), key=lambda text: (text != right, text)))
        return tuple((each.text, each.mark) for each in replies)


class _Columns:
    """Where an entry has each question, -1 for nowhere, and what was read of its replies there."""

    def __init__(self, entry: Entry, ids: np.ndarray, order: np.ndarray) -> None:
        """``ids``: sorted. ``order``: the list's."""
        place = np.full(len(ids), -1)
        place[np.searchsorted(ids, entry.questions.ids)] = np.arange(len(entry.questions))
        self.place = place[order]
        self._trials: Callable[[int], Any] = _reader(entry.answers, "trials")
        self._expected: Callable[[int], Any] = _reader(entry.questions.table, "expected")

    def read(self, row: int) -> tuple[Sequence[str], str | None]:
        place = int(self.place[row])
        return self._trials(place) or (), self._expected(place)


def _reader(table: Any, name: str) -> Callable[[int], Any]:
    if name not in table.column_names:
        return lambda place: None
    column = table.column(name).combine_chunks()
    values, codes = column.dictionary.to_pylist(), column.indices.fill_null(len(column.dictionary)).to_numpy()
    values.append(None)
    return lambda place: values[codes[place]]
