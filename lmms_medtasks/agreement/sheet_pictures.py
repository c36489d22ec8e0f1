"""The pictures of the questions on a rating sheet: who rates sees what the model was asked about."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lmms_medtasks.agreement.sheet import Drawn
from lmms_medtasks.data import question_pictures
from lmms_medtasks.errors import UserError
from lmms_medtasks.samples.result_files import Run
from lmms_medtasks.samples.runs import settings_of, splits_of


@dataclass(frozen=True)
class SheetPictures:
    """Pictures of a sheet's questions.

    Attributes:
        files: name -> PNG. A name is made of the pixels, so that it tells nothing of the question.
        of_question: a question's id -> the names of its pictures, in order; without questions whose data is not here.
        problems: what could not be read, a sentence each.
    """

    files: Mapping[str, bytes] = field(default_factory=dict)
    of_question: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    def names(self, drawn: Drawn) -> tuple[str, ...]:
        """The names of the pictures of an answer's question; () without any."""
        return self.of_question.get(drawn.answer.key.id, ())


def read(runs: Iterable[Run], drawn: Sequence[Drawn]) -> SheetPictures:
    """The pictures of the drawn questions: the data's own, not degraded, from data that is on this machine.

    A task that was asked without its images has none here either.
    """
    by_run = {str(run.path): run for run in runs}
    wanted: dict[tuple[str, str, str], set[str]] = {}
    for each in drawn:
        run = by_run[each.answer.run]
        if settings_of(run, each.answer.task).get("no_image"):
            continue
        data = str((run.content["configs"][each.answer.task].get("metadata") or {}).get("data", ""))
        for data_set, split in splits_of(run, each.answer.task):
            wanted.setdefault((data_set, split, data), set()).add(each.answer.key.id)
    files: dict[str, bytes] = {}
    of_question: dict[str, tuple[str, ...]] = {}
    problems: list[str] = []
    for place, ids in wanted.items():
        for document in question_pictures.Split(*place).documents(ids):
            try:
                made = [question_pictures.png(image) for image in document.images]
            except UserError as error:
                problems.append(f"The image of question {document.id!r} is not on the sheet: {error}")
                continue
            names = [f"{hashlib.sha256(content).hexdigest()[:16]}.png" for content in made]
            files.update(zip(names, made, strict=True))
            of_question[document.id] = tuple(names)
    return SheetPictures(files, of_question, tuple(problems))
