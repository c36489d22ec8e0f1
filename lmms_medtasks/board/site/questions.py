"""A suite's questions: their page, and what it loads; each file is made when it is asked for.

A leaderboard writes all of them into its site, the page of one run makes those that somebody looks at.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.site import suite_words
from lmms_medtasks.board.site.file_names import file_name
from lmms_medtasks.board.site.pages import Pages
from lmms_medtasks.board.site.question_data import QuestionData
from lmms_medtasks.board.site.question_scores import Scores
from lmms_medtasks.board.site.question_shards import TaskQuestions, reply_length, script
from lmms_medtasks.report.csv_writer import csv_line, number_text

_DIGITS = 3


def write(
    pages: Pages,
    suite: str,
    entries: Sequence[Entry],
    data: QuestionData,
    models: Mapping[str, tuple[str, str]],
    *,
    single: bool = False,
    terms: str = "",
) -> Iterator[tuple[str, Callable[[], Iterable[str]]]]:
    """Write the page of these entries' questions, all of one suite; yields its other files, with what makes each.

    The task that stands for the benchmark on the board comes first. The scores of each task are CSV in
    ``data/questions/``. ``models``: key -> title, and the name of its page. ``single``: see :class:`TaskQuestions`.
    ``terms``: of a page of one run, what it says of the data's terms.
    """
    about = suite_words.about(suite)
    cut, head = reply_length(entries), about.headline_of([entry for entry in entries if entry.ranked] or entries)
    tasks, csv = [], []
    for task in about.tasks(entries, head[0] if head else ""):
        file = file_name(task)
        own = [entry for entry in entries if entry.task == task]
        titles = [models[entry.model.key] for entry in own]
        questions = TaskQuestions(own, data, cut, single)
        for name, make in questions.files():
            yield f"questions/{suite}/{file}/{name}", make
        path = f"data/questions/{suite}-{file}.csv"
        yield path, functools.partial(_csv_lines, [title for title, _ in titles], questions.ids, questions.scores)
        csv.append((about.name_of(task), f"../{path}"))
        shown = [
            {"name": title, "page": page, "ranked": entry.ranked, "data": entry.data}
            for entry, (title, page) in zip(own, titles, strict=True)
        ]
        tasks.append(
            {
                "task": task,
                "name": about.name_of(task),
                "folder": file,
                "entries": shown,
                "withheld": questions.withheld,
            }
        )
    index = script("index", {"suite": suite, "tasks": tasks, "cut": cut})
    yield f"questions/{suite}/index.js", lambda: index
    pages.page(
        f"questions/{suite}.html", "questions.html", f"questions/{suite}",
        name=suite, about=about, csv=csv, local=single, terms=terms,
    )  # fmt: skip


def _csv_lines(names: Sequence[str], ids: np.ndarray, found: Sequence[Scores]) -> Iterator[str]:
    """The score of each question: a line a question, a column a model. No table of cells: there may be millions."""
    yield csv_line(("question", *names, "row"))
    texts = [[number_text(value, _DIGITS) for value in each.distinct.tolist()] for each in found]
    for row, id in enumerate(ids.tolist()):
        cells = [text[each.places[row]] for text, each in zip(texts, found, strict=True)]
        yield csv_line((id, *cells, "run"), safe=1)
