"""The page of a suite's questions, with its data and the scores as CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.site import file_names, suite_words
from lmms_medtasks.board.site.folder import Folder
from lmms_medtasks.board.site.pages import Pages
from lmms_medtasks.board.site.question_data import QuestionData
from lmms_medtasks.board.site.questions import Browser


def write(
    folder: Folder,
    pages: Pages,
    suite: str,
    entries: Sequence[Entry],
    data: QuestionData,
    models: Mapping[str, tuple[str, str]],
) -> None:
    """Write the page of these entries' questions, all of one suite.

    ``models``: key -> title, and the name of its page.
    """
    files = file_names.slugs(entry.task for entry in entries)
    tasks = Browser(folder, data, files, models).write(suite, entries)
    about = suite_words.about(suite)
    csv = [(about.name_of(task), f"../data/questions/{suite}-{files[task]}.csv") for task in tasks]
    pages.page(
        f"questions/{suite}.html", "questions.html", f"questions/{suite}",
        name=suite, about=about, csv=csv,
    )  # fmt: skip
