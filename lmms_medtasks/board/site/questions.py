"""A suite's questions: their page, and the files that it loads, each made on request.

A leaderboard writes all of them into its site, the page of one run makes those that somebody looks at. All are scripts
that pass a JSON value to the browser's code: a page that was opened as a file may load scripts, but not fetch files.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lmms_medtasks.board.entries import LeaderboardEntry, all_ids
from lmms_medtasks.board.shown_answers import ShownAnswer
from lmms_medtasks.board.site import suite_words
from lmms_medtasks.board.site.file_names import file_name
from lmms_medtasks.board.site.pages import PageWriter
from lmms_medtasks.board.site.question_cards import mark_replies, question_content
from lmms_medtasks.board.site.question_data import QuestionData, QuestionTexts
from lmms_medtasks.board.site.question_scores import QuestionScores, score_characters, score_verdicts, scores_of
from lmms_medtasks.report.csv_writer import csv_line, number_text
from lmms_medtasks.short_texts import shorten_text
from lmms_medtasks.visible_text import replace_invisible

SHARD_BYTES = 200_000
"""Bytes of a file of questions, about, as estimated from the first ones."""

_BLOCK = 64
_MOST_KNOWN = 2**16
"""Marked replies that are cached at most."""
_LONGEST, _SHORTEST, _SUITE_BYTES = 2_000, 60, 60_000_000
_TAG_VALUES = 40
_DIGITS = 3
_Replies = str | tuple[tuple[str, str], ...] | None
_Answer = tuple[tuple[str, str], _Replies]


def write_question_pages(
    pages: PageWriter,
    suite: str,
    entries: Sequence[LeaderboardEntry],
    data: QuestionData,
    models: Mapping[str, tuple[str, str]],
    *,
    single: bool = False,
    terms: str = "",
) -> Iterator[tuple[str, Callable[[], Iterable[str]]]]:
    """Write the page of these entries' questions, all of one suite; yields its other files, with a function to make
    each.

    The headline's task comes first. The scores of each task are CSV in ``data/questions/``. ``models``: key -> title,
    and the name of its page. ``single``: see :class:`TaskQuestions`. ``terms``: a note on the data's terms, for the
    page of one run.
    """
    about = suite_words.suite_texts(suite)
    cut, head = reply_length(entries), about.headline_of([entry for entry in entries if entry.ranked] or entries)
    tasks, csv = [], []
    for task in about.tasks(entries, head[0] if head else ""):
        file = file_name(task)
        own = [entry for entry in entries if entry.task == task]
        titles = [models[entry.model.key] for entry in own]
        questions = TaskQuestions(own, data, cut, single=single)
        for name, make in questions.files():
            yield f"questions/{suite}/{file}/{name}", make
        path = f"data/questions/{suite}-{file}.csv"
        yield path, functools.partial(_csv_lines, [title for title, _ in titles], questions.ids, questions.scores)
        csv.append((about.name_of(task), f"../{path}"))
        shown = [
            {"name": title, "page": page, "ranked": entry.ranked}
            for entry, (title, page) in zip(own, titles, strict=True)
        ]
        said = {"task": task, "name": about.name_of(task), "folder": file, "withheld": questions.withheld}
        tasks.append({**said, "entries": shown})
    index = data_script("index", {"suite": suite, "tasks": tasks, "single": single})
    yield f"questions/{suite}/index.js", lambda: index
    pages.page(
        f"questions/{suite}.html", "questions.html", f"questions/{suite}",
        name=suite, about=about, csv=csv, local=single, terms=terms,
        withheld=all(each["withheld"] for each in tasks),
    )  # fmt: skip


def _csv_lines(names: Sequence[str], ids: np.ndarray, found: Sequence[QuestionScores]) -> Iterator[str]:
    """The scores: a line a question, a column a model. Made line by line, because there may be millions of cells."""
    yield csv_line(("question", *names, "row"))
    texts = [[number_text(value, _DIGITS) for value in each.distinct.tolist()] for each in found]
    for row, id in enumerate(ids.tolist()):
        cells = [text[each.places[row]] for text, each in zip(texts, found, strict=True)]
        yield csv_line((id, *cells, "run"), safe=1)


def reply_length(entries: Sequence[LeaderboardEntry]) -> int:
    """Characters that a reply is cut to, so that all replies of a suite together stay below 60 MB."""
    count = sum(len(entry.questions) for entry in entries)
    return max(_SHORTEST, min(_LONGEST, _SUITE_BYTES // max(count, 1)))


def data_script(name: str, *values: object) -> tuple[str]:
    """A script that passes values to the browser's code."""
    return (f"medtasks.{name}({','.join(map(script_safe_json, values))});\n",)


def script_safe_json(value: Any) -> str:
    """JSON that neither ends nor starts a script element, whatever its texts."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


class TaskQuestions:
    """The questions of a task in natural order, with the scores of each entry.

    ``ids``: (n,) strings. ``scores``: of each entry. ``withheld``: why no text is shown, "" if texts are.
    """

    def __init__(
        self, entries: Sequence[LeaderboardEntry], data: QuestionData, cut: int, *, single: bool = False
    ) -> None:
        """``cut``: characters of a reply at most. ``single``: a file for each question, with the replies' words."""
        self._entries = entries
        self._data = data
        self._cut = cut
        self._single = single
        self._known = all_ids(entries)
        self._order = natural_order(self._known)
        self.ids = self._known[self._order]
        self.scores = [scores_of(entry, self._known).ordered(self._order) for entry in entries]
        self.withheld = data.withheld(entries)
        self._places: dict[str, np.ndarray] = {}
        self._read_once = functools.lru_cache(_MOST_KNOWN)(self._read)

    def files(self) -> Iterator[tuple[str, Callable[[], Iterable[str]]]]:
        """Each file's name and a function that makes its text."""
        yield "index.js", self._index
        for number in range(len(self.scores)):
            yield f"model-{number}.js", functools.partial(self._digits, number)
        for number in range(-(-len(self.ids) // self._size)):
            rows = range(number * self._size, min((number + 1) * self._size, len(self.ids)))
            yield f"{number}.js", functools.partial(self._shard, number, rows)
        if self._single:
            # Without images, so that a search for words is fast.
            every = range(len(self.ids))
            yield "all.js", lambda: self._shard("all", every, pictures=False)

    @functools.cached_property
    def _size(self) -> int:
        if self._single or not len(self.ids):
            return 1
        rows = range(min(_BLOCK, len(self.ids)))
        length = len(json.dumps(list(self._questions(rows, self._materials))))
        return max(1, SHARD_BYTES * len(rows) // length)

    @functools.cached_property
    def _materials(self) -> Mapping[str, QuestionTexts]:
        return self._material(range(len(self.ids)))

    def _material(self, rows: range, pictures: bool = True) -> Mapping[str, QuestionTexts]:
        ids = self.ids[rows.start : rows.stop].tolist()
        return {} if self.withheld else self._data.of(self._entries, ids, pictures)

    def _index(self) -> tuple[str]:
        index = {
            "ids": self.ids.tolist(),
            "tags": shown_tags(self._entries, self._known, self._order),
            "any": score_verdicts((score.normal for score in self.scores), len(self.ids)),
            "size": self._size,
        }
        return data_script("task", index)

    def _digits(self, number: int) -> tuple[str]:
        each = self.scores[number]
        return data_script("scores", number, score_characters(each.shares, each.places))

    def _shard(self, name: int | str, rows: range, pictures: bool = True) -> tuple[str]:
        """Some of the questions, in the order of the list.

        ``scores``: pairs of a score's text and digit. ``questions``: mappings of ``id``, ``text``, ``options``,
        ``right``, ``pictures`` (path, label, alternative text, width, height), ``note``, ``answers`` and ``who``.
        ``answers``: distinct pairs of the index of a score and replies: null if none may be shown, a text of letters of
        which the right one is ``right`` (those first), or pairs of text and mark. ``who``: for each entry the index of
        its answer, -1 if it was not asked.
        """
        materials = self._material(rows, pictures) if self._single else self._materials
        scores: dict[tuple[str, str], int] = {}
        questions = []
        for question in self._questions(rows, materials):
            answers = [[scores.setdefault(said, len(scores)), replies] for said, replies in question["answers"]]
            questions.append({**question, "answers": answers})
        return data_script("shard", name, {"scores": list(scores), "questions": questions})

    def _questions(self, asked: range, materials: Mapping[str, QuestionTexts]) -> Iterator[dict[str, Any]]:
        """As :meth:`_shard` describes; answers have the score in place of its index."""
        telling = [self._data.may_tell(entry) for entry in self._entries]
        for start in range(asked.start, asked.stop, _BLOCK):
            rows = slice(start, min(start + _BLOCK, asked.stop))
            ids = [str(id) for id in self.ids[rows]]
            blocks = []
            for entry, may, scores in zip(self._entries, telling, self.scores, strict=True):
                own = entry.questions
                if own.digest not in self._places:
                    self._places[own.digest] = _find_positions(own.ids, self._known)[self._order]
                places = self._places[own.digest][rows]
                blocks.append(_Block(entry, places, scores, rows, self._data, ids if may else ()))
            for row, id in enumerate(ids):
                yield self._question(row, id, blocks, materials.get(id))

    def _question(self, row: int, id: str, blocks: Sequence[_Block], material: QuestionTexts | None) -> dict[str, Any]:
        texts = [block.shown.get(id) for block in blocks]
        text, options, right = question_content(material, next(filter(None, texts), None))
        pictures, note = ([astuple(picture) for picture in material.pictures], material.note) if material else ([], "")
        fields = {"text": text, "right": right, "options": options, "pictures": pictures, "note": note}
        question = {"id": id, **{name: value for name, value in fields.items() if value}}
        answers: dict[_Answer, int] = {}
        who = []
        for own, shown in zip(blocks, texts, strict=True):
            if not own.asked[row]:
                who.append(-1)
                continue
            replies = None if shown is None else self._replies(own, row, shown, right)
            who.append(answers.setdefault((own.said[row], replies), len(answers)))
        return {**question, "answers": list(answers), "who": who}

    def _replies(self, own: _Block, row: int, shown: ShownAnswer, right: str) -> _Replies:
        trials, expected, normal = tuple(own.trials[row] or ()), own.expected[row], own.normal[row]
        if expected is None:
            return self._read(trials, expected, normal, shown.replies, right)
        if self._single and len(shown.replies) == len(trials):
            read = mark_replies(trials, expected, normal, ())
            pairs = zip(read, shown.replies, strict=True)
            return tuple((self._in_words(reply.text, words), reply.mark) for reply, words in pairs)
        return self._read_once(trials, expected, normal, (), right)

    def _read(
        self, trials: Sequence[str], expected: str | None, normal: float, texts: Sequence[str], right: str
    ) -> _Replies:
        replies = mark_replies(trials, expected, normal, texts, self._cut)
        if replies and all(len(reply.text) == 1 and reply.mark == "✗✓"[reply.text == right] for reply in replies):
            # The order of trials has no meaning; sorted, more models share their replies.
            return "".join(sorted((reply.text for reply in replies), key=lambda text: (text != right, text)))
        return replies

    def _in_words(self, read: str, reply: str) -> str:
        """The parsed answer, with the reply if it says more."""
        said = shorten_text(replace_invisible(reply).strip(), self._cut)
        return read if said.rstrip(".") in ("", read) else f"{read} – {said}"


class _Block:
    """An entry's part of some questions: whether they were asked, scores, and parsed replies."""

    def __init__(
        self,
        entry: LeaderboardEntry,
        places: np.ndarray,
        scores: QuestionScores,
        rows: slice,
        data: QuestionData,
        told: Sequence[str],
    ) -> None:
        """``places``: (n,) rows of the questions in the entry. ``rows``: their rows in the task.

        ``told``: ids whose texts may be shown. If empty, no text is read from disk.
        """
        self.asked: list[bool] = (places >= 0).tolist()
        self.said = scores.said(rows)
        self.shown: Mapping[str, ShownAnswer] = data.logs.of(entry, told) if told else {}
        if self.shown:
            self.normal: list[float] = scores.shares[scores.places[rows]].tolist()
            self.trials = _decoded_values(entry.answers, "trials", places)
            self.expected = _decoded_values(entry.questions.table, "expected", places)


def _find_positions(own: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """(n,) index of each of ``ids`` in ``own``, -1 if missing; both are sorted."""
    found = np.full(len(ids), -1, dtype=np.int32)
    found[np.searchsorted(ids, own)] = np.arange(len(own))
    return found


def _decoded_values(table: pa.Table, name: str, places: np.ndarray) -> list[Any]:
    """The values of a column in these rows, None for none; only these are decoded."""
    if name not in table.column_names:
        return [None] * len(places)
    column = table.column(name).combine_chunks()
    codes = column.indices.take(pa.array(places, mask=places < 0))
    distinct = pc.dictionary_encode(codes)
    values = [*column.dictionary.take(distinct.dictionary).to_pylist(), None]
    return [values[code] for code in distinct.indices.fill_null(len(values) - 1).to_pylist()]


def shown_tags(
    entries: Sequence[LeaderboardEntry], ids: np.ndarray, order: np.ndarray
) -> dict[str, dict[str, list[Any]]]:
    """The tags that divide the questions into a few groups: their values, "" first for none, and each question's code.

    ``words``: the values for people. Of the entry with most questions. ``ids``: sorted. ``order``: their indices in the
    list of the codes.
    """
    most = max(entries, key=lambda entry: len(entry.questions)).questions
    tags = {}
    about = suite_words.suite_texts(entries[0].suite)
    positions = np.searchsorted(ids, most.ids)
    for name in most.tags:
        question_codes = most.codes(name)
        if 1 < len(np.unique(question_codes)) <= _TAG_VALUES:
            codes = np.zeros(len(ids), dtype=int)
            codes[positions] = question_codes
            values = ["", *(str(value) for value in most.tag(name).dictionary.to_pylist())]
            words = [about.value_of(name, value) for value in values]
            tags[name] = {"values": values, "words": words, "codes": codes[order].tolist()}
    return tags


def natural_order(names: Sequence[str] | np.ndarray) -> np.ndarray:
    """(n,) integers: the indices of ``names`` in natural order: q2 before q10."""
    keys = [(re.sub("[0-9]+", _sorted_as, str(name)), str(name)) for name in names]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=int)


def _sorted_as(number: re.Match[str]) -> str:
    """A number after the count of its digits: it may be too long for an integer."""
    figures = number[0].lstrip("0")
    return f"{len(figures):09}{figures}"
