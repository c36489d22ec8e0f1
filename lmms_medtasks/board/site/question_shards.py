"""The questions of a task in files of bounded size, with what each model answered; the page loads what it shows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.shown_answers import Shown
from lmms_medtasks.board.site.question_cards import content, read_replies
from lmms_medtasks.board.site.question_data import Material, QuestionData
from lmms_medtasks.board.site.question_scores import Scores

SHARD_BYTES = 200_000
"""Bytes of a shard at which the next one begins; a single question may have more."""

_BLOCK = 64
_MOST_KNOWN = 2**16
"""Readings of replies that are remembered at most."""
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
        places: dict[str, np.ndarray] = {}
        for start in range(0, len(self.ids), _BLOCK):
            rows = slice(start, start + _BLOCK)
            ids = [str(id) for id in self.ids[rows]]
            blocks = []
            for entry, may, scores in zip(self.entries, telling, self.scores, strict=True):
                asked = entry.questions
                if asked.digest not in places:
                    places[asked.digest] = _places(asked.ids, known_ids)[self.order]
                blocks.append(_Block(entry, places[asked.digest][rows], scores, rows, self.data, ids if may else ()))
            if len(known) > _MOST_KNOWN:
                known.clear()
            for row, id in enumerate(ids):
                yield self._question(row, id, blocks, known)

    def _question(self, row: int, id: str, blocks: Sequence[_Block], known: dict[Any, _Replies]) -> dict[str, Any]:
        """As :meth:`shards` describes; an answer has its score itself. ``known``: replies that were read before."""
        texts = [each.shown.get(id) for each in blocks]
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
        for own, shown in zip(blocks, texts, strict=True):
            if not own.asked[row]:
                who.append(-1)
                continue
            replies = None if shown is None else self._replies(own, row, shown, right, known)
            who.append(answers.setdefault((own.said[row], replies), len(answers)))
        return {**question, "answers": list(answers), "who": who}

    def _replies(self, own: _Block, row: int, shown: Shown, right: str, known: dict[Any, _Replies]) -> _Replies:
        trials, expected, normal = own.trials[row] or (), own.expected[row], own.normal[row]
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


class _Block:
    """An entry's part of some questions: which it was asked, its scores, and what was read of its replies."""

    def __init__(
        self, entry: Entry, places: np.ndarray, scores: Scores, rows: slice, data: QuestionData, told: Sequence[str]
    ) -> None:
        """``places``: (n,) where the entry has each question. ``rows``: where all of the task's questions have it.

        ``told``: the ids of those whose texts and replies may be shown; () for none, of which none is read.
        """
        self.asked: list[bool] = (places >= 0).tolist()
        self.said = scores.said(rows)
        self.shown: Mapping[str, Shown] = data.logs.of(entry, told) if told else {}
        if self.shown:
            self.normal: list[float] = scores.shares[scores.places[rows]].tolist()
            self.trials = _values(entry.answers, "trials", places)
            self.expected = _values(entry.questions.table, "expected", places)


def _places(own: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """(n,) where each of ``ids`` stands among ``own``, -1 for nowhere; both are sorted."""
    found = np.full(len(ids), -1, dtype=np.int32)
    found[np.searchsorted(ids, own)] = np.arange(len(own))
    return found


def _values(table: pa.Table, name: str, places: np.ndarray) -> list[Any]:
    """The values of a column in these rows, None where there is none; only these are decoded."""
    if name not in table.column_names:
        return [None] * len(places)
    column = table.column(name).combine_chunks()
    codes = column.indices.take(pa.array(places, mask=places < 0))
    distinct = pc.dictionary_encode(codes)
    values = [*column.dictionary.take(distinct.dictionary).to_pylist(), None]
    return [values[code] for code in distinct.indices.fill_null(len(values) - 1).to_pylist()]
