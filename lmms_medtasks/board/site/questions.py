"""The question browser's data: an index a suite, and shards of questions with every model's answer.

Both are scripts that hand a JSON value to the browser's code: a page that was opened as a file may load a script beside
it, but not fetch a file.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import IO, Any

import numpy as np

from lmms_medtasks.board.columns import codes_of
from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.shown_answers import Shown
from lmms_medtasks.board.site import suite_words
from lmms_medtasks.board.site.exports import harmless
from lmms_medtasks.board.site.folder import Folder
from lmms_medtasks.board.site.question_data import QuestionData
from lmms_medtasks.board.site.question_scores import Scores, scores_of
from lmms_medtasks.report.document import Cell, Column, Row, Table
from lmms_medtasks.visible_text import visible

SHARD = 100
"""Questions in a file."""
_TAG_VALUES = 40
Texts = Mapping[str, tuple[str, str, list[str]]]
"""By question: prompt, right answer, replies."""
Tag = tuple[list[Any], np.ndarray]
"""The values of a tag, the first of them None, and for each question the place of its own."""


class Browser:
    """Writes the data of a suite's question browser into ``folder``, below ``questions/<suite>/``."""

    def __init__(
        self, folder: Folder, data: QuestionData, names: Mapping[str, str], title: Callable[[Entry], str]
    ) -> None:
        self._folder = folder
        self._data = data
        self._files = names
        self._title = title

    def write(self, suite: str, entries: Sequence[Entry]) -> list[Table]:
        """Write index and shards; returns the scores of each task as a table, for CSV and JSON."""
        tasks, tables = [], []
        for task in suite_words.about(suite).tasks(entries):
            own = [entry for entry in entries if entry.task == task]
            ids = np.unique(np.concatenate([entry.questions.ids for entry in own]))
            found = [scores_of(entry, ids) for entry in own]
            tags = _tags(own, ids)
            tasks.append(self._task(suite, task, own, ids, found, tags))
            tables.append(_table(task, [self._title(entry) for entry in own], ids, found))
        index = harmless({"suite": suite, "shard": SHARD, "tasks": tasks})
        self._folder.text(f"questions/{suite}/index.js", f"medtasks.index({index});\n")
        return tables

    def _task(
        self,
        suite: str,
        task: str,
        entries: Sequence[Entry],
        ids: np.ndarray,
        found: Sequence[Scores],
        tags: Mapping[str, Tag],
    ) -> dict[str, Any]:
        name = self._files[task]
        heads = self._shards(suite, name, entries, ids, found)
        return {
            "task": task,
            "file": name,
            "entries": [{"name": self._title(entry), "ranked": entry.ranked, "data": entry.data} for entry in entries],
            "ids": ids.tolist(),
            "heads": heads,
            "scores": [_digits(each.normal) for each in found],
            "tags": {
                tag: {"values": [_text(value) for value in values], "codes": codes.tolist()}
                for tag, (values, codes) in tags.items()
            },
            "withheld": self._data.withheld(entries),
        }

    def _shards(
        self, suite: str, name: str, entries: Sequence[Entry], ids: np.ndarray, found: Sequence[Scores]
    ) -> list[str]:
        """Write a task's shards; returns the beginning of each question's text."""
        materials = {} if self._data.withheld(entries) else self._data.of(entries, ids.tolist())
        images = {id: [each.path for each in found.pictures] for id, found in materials.items() if found.pictures}
        heads: list[str] = []
        with ExitStack() as stack:
            spools = [_Spool(stack, self._texts(entry), ids) for entry in entries]
            for number, start in enumerate(range(0, len(ids), SHARD)):
                rows = range(start, min(start + SHARD, len(ids)))
                texts = [spool.shard(number) for spool in spools]
                questions = [_question(row, str(ids[row]), texts, found, images) for row in rows]
                heads += [_head(each.get("prompt", "")) for each in questions]
                shard = harmless(questions)
                self._folder.text(f"questions/{suite}/{name}-{number}.js", f"medtasks.shard({number},{shard});\n")
        return heads

    def _texts(self, entry: Entry) -> dict[str, Shown]:
        return self._data.logs.of(entry, entry.questions.ids.tolist()) if self._data.may_tell(entry) else {}


class _Spool:
    """An entry's texts on disk, shard by shard: those of all entries at once would fill the memory."""

    def __init__(self, stack: ExitStack, texts: Mapping[str, Shown], ids: np.ndarray) -> None:
        self._file: IO[bytes] = stack.enter_context(tempfile.TemporaryFile())
        self._starts: list[int] = []
        for start in range(0, len(ids), SHARD):
            names = [str(id) for id in ids[start : start + SHARD]]
            found = {name: texts[name] for name in names if name in texts}
            self._starts.append(self._file.tell())
            said = {name: [each.prompt, each.expected, each.replies] for name, each in found.items()}
            self._file.write(json.dumps(said).encode() + b"\n")

    def shard(self, number: int) -> Texts:
        """Prompt, right answer and replies of the shard's questions that have them."""
        self._file.seek(self._starts[number])
        found: Texts = json.loads(self._file.readline())
        return found


def _question(
    row: int,
    id: str,
    texts: Sequence[Texts],
    found: Sequence[Scores],
    images: Mapping[str, list[str]],
) -> dict[str, Any]:
    """``answers``: a model each, its score as text and its replies (null: it was not asked, or they are not shown).

    A reply of white space is "", which the page shows as "(empty)".
    """
    first = next((each[id] for each in texts if id in each), None)
    said: dict[str, Any] = {"id": id}
    if first:
        said |= {"prompt": visible(first[0]), "expected": visible(first[1])}
    if id in images:
        said["images"] = images[id]
    said["answers"] = [
        [scores.text(row), [visible(reply) if reply.strip() else "" for reply in each[id][2]] if id in each else None]
        for scores, each in zip(found, texts, strict=True)
    ]
    return said


def _head(prompt: str) -> str:
    """The last line with a question mark, else the end: what stands before is often the same in all prompts."""
    lines = [line.strip() for line in prompt.splitlines() if line.strip()]
    asked = next((line for line in reversed(lines) if "?" in line), lines[0] if lines else "")
    return asked if len(asked) <= 160 else asked[:159] + "…"


def _digits(normal: np.ndarray) -> str:
    """A character a question: 0 worst, 9 best, 1 to 8 between, - none."""
    return "".join(
        "-" if np.isnan(value) else "0" if value <= 0 else "9" if value >= 1 else str(1 + min(7, int(value * 8)))
        for value in normal.tolist()
    )


def _tags(entries: Sequence[Entry], ids: np.ndarray) -> dict[str, Tag]:
    """The tags of the entry with most questions that divide them into a few groups."""
    most = max(entries, key=lambda entry: len(entry.questions)).questions
    found = {}
    place = np.searchsorted(ids, most.ids)
    for name in most.tags:
        column = most.tag(name)
        own = codes_of(column)
        if 1 < len(np.unique(own)) <= _TAG_VALUES:
            codes = np.zeros(len(ids), dtype=int)
            codes[place] = own
            found[name] = [None, *column.dictionary.to_pylist()], codes
    return found


def _text(value: Any) -> str:
    return "–" if value in (None, "") else str(value)


def _table(task: str, names: Sequence[str], ids: np.ndarray, found: Sequence[Scores]) -> Table:
    columns = (Column("question", "text"), *(Column(name, digits=3) for name in names))
    values = [[None if np.isnan(value) else float(value) for value in each.values] for each in found]
    rows = _rows(ids, values)
    return Table(task, f"{task}: score of each question", columns, tuple(rows))


def _rows(ids: np.ndarray, values: Sequence[Sequence[float | None]]) -> Iterator[Row]:
    for row, id in enumerate(ids.tolist()):
        yield Row((Cell(id), *(Cell(each[row]) for each in values)))
