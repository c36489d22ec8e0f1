"""The question browser's data: for each suite its tasks, for each task an index, scores a model, shards of questions.

All are scripts that hand a JSON value to the browser's code: a page that was opened as a file may load a script beside
it, but not fetch a file.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from lmms_medtasks.board.entries import Entry, all_ids
from lmms_medtasks.board.site import question_index, suite_words
from lmms_medtasks.board.site.exports import harmless
from lmms_medtasks.board.site.folder import Folder
from lmms_medtasks.board.site.question_data import QuestionData
from lmms_medtasks.board.site.question_scores import Scores, scores_of
from lmms_medtasks.board.site.question_shards import TaskQuestions, reply_length
from lmms_medtasks.natural_order import natural_order
from lmms_medtasks.report.csv_writer import csv_line, number_text

_BLOCK = 2048
"""Questions whose line in the CSV file is in memory at one time."""
_DIGITS = 3
_HEAD, _KIND = "question", "run"


class Browser:
    """Writes the data of a suite's question browser into ``folder``, below ``questions/<suite>/``."""

    def __init__(
        self, folder: Folder, data: QuestionData, files: Mapping[str, str], models: Mapping[str, tuple[str, str]]
    ) -> None:
        """``files``: task -> its folder's name. ``models``: key -> title, and the name of its page."""
        self._folder = folder
        self._data = data
        self._files = files
        self._models = models

    def write(self, suite: str, entries: Sequence[Entry]) -> list[str]:
        """Write all files, for each task also the scores as CSV in ``data/questions/``; returns the tasks.

        The task that stands for the benchmark on the board comes first.
        """
        tasks = []
        cut, about = reply_length(entries), suite_words.about(suite)
        head = about.headline_of([entry for entry in entries if entry.ranked] or entries)
        for task in about.tasks(entries, head[0] if head else ""):
            own = [entry for entry in entries if entry.task == task]
            known = all_ids(own)
            order = natural_order(known)
            ids = known[order]
            scores = [scores_of(entry, known).ordered(order) for entry in own]
            withheld = self._data.withheld(own)
            materials = {} if withheld else self._data.of(own, ids.tolist())
            questions = TaskQuestions(own, ids, order, scores, materials, self._data, cut)
            self._task(f"questions/{suite}/{self._files[task]}", questions)
            tasks.append(
                {
                    "task": task,
                    "name": about.name_of(task),
                    "folder": self._files[task],
                    "entries": [self._entry(entry) for entry in own],
                    "withheld": withheld,
                }
            )
            lines = _csv_lines([self._models[entry.model.key][0] for entry in own], ids, scores)
            self._folder.texts(f"data/questions/{suite}-{self._files[task]}.csv", lines)
        index = harmless({"suite": suite, "tasks": tasks, "cut": cut})
        self._folder.text(f"questions/{suite}/index.js", f"medtasks.index({index});\n")
        return [str(each["task"]) for each in tasks]

    def _entry(self, entry: Entry) -> dict[str, Any]:
        title, page = self._models[entry.model.key]
        return {"name": title, "page": page, "ranked": entry.ranked, "data": entry.data}

    def _task(self, folder: str, questions: TaskQuestions) -> None:
        starts: list[int] = []
        heads: list[str] = []
        for number, shard in enumerate(questions.shards()):
            self._folder.text(f"{folder}/{number}.js", f"medtasks.shard({number},{harmless(shard.content)});\n")
            starts.append(shard.first)
            heads += map(question_index.beginning, shard.heads)
        for number, each in enumerate(questions.scores):
            script = f'medtasks.scores({number},"{question_index.digits(each.shares, each.places)}");\n'
            self._folder.text(f"{folder}/model-{number}.js", script)
        anyone, together = question_index.verdicts((each.normal for each in questions.scores), len(questions.ids))
        index = {
            "ids": questions.ids.tolist(),
            "heads": question_index.coded(heads),
            "tags": question_index.tags(questions.entries, questions.known, questions.order),
            "any": anyone,
            "together": together,
            "shards": starts,
        }
        self._folder.text(f"{folder}/index.js", f"medtasks.task({harmless(index)});\n")


def _csv_lines(names: Sequence[str], ids: np.ndarray, found: Sequence[Scores]) -> Iterator[str]:
    """The score of each question: a line a question, a column a model. No table of cells: there may be millions."""
    yield csv_line((_HEAD, *names, "row"))
    texts = [np.array([number_text(value, _DIGITS) for value in each.distinct.tolist()], object) for each in found]
    for start in range(0, len(ids), _BLOCK):
        rows = slice(start, start + _BLOCK)
        columns = [text[each.places[rows]].tolist() for text, each in zip(texts, found, strict=True)]
        kinds = itertools.repeat(_KIND)
        lines = zip(ids[rows].tolist(), *columns, kinds, strict=False)
        yield "".join(csv_line((id, *cells), safe=1) for id, *cells in lines)
