"""From any table of questions to our documents: ``documents = from_columns(image="img", question="q", ...)``.

A contributed task whose columns are called otherwise has this one line in its ``adapter.py``, and
``process_docs: !function adapter.documents`` in its YAML. With our own names :func:`documents` of this module will do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmms_medtasks.data.answer_cells import ANSWER_IS, AnswerIs, Several
from lmms_medtasks.data.cell_texts import no_text
from lmms_medtasks.data.table_documents import TAGS, TableDocuments
from lmms_medtasks.errors import UserError, unknown

if TYPE_CHECKING:
    from datasets import Dataset


_ASKING = ("human", "user")
_ANSWERING = ("gpt", "assistant", "model")
_PICTURE = re.compile(r"^\s*(?:<image>\s*)+|(?:\s*<image>)+\s*$")


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The adapter of a table with these columns: a hook for ``process_docs`` that makes documents of it.

    Instances hold no state and can be pickled. UserError for an unknown ``answer_is`` or ``several``.

    Args:
        image: The picture: an image column, encoded bytes, base64 text, a file's path from the YAML's folder on, or the
            id of another row that has it. A cell may hold a list of these; several columns are several pictures, in
            their order. "image" is also a column `images`. None: the questions have none. An empty cell: this question
            has none.
        question: The question's text. Texts are texts, or whole numbers: other values can be written in several ways.
        options: One column for each option, or one column with lists (or lists as JSON text); None: open questions.
            Options that are empty at the end of a row are left out.
        answer: The right answer. With options: a letter ("B"), the option's text, its index from 0, or its number
            from 1; ``answer_is`` ("letter", "text", "index", "number") says which, and must where it is not plain.
            Without options: one reference, which the judge compares with.
        id: A name for each question; the row's number where there is none.
        image_id: What questions on one picture (or patient) share, for standard errors; a digest of the picture where
            there is none.
        tags: Further columns to keep for analyses. They stand in the sample log: name none that the data's terms
            keep out of it.
        several: What several right answers in a cell (a list, or letters as in "A, C") mean. "all": options that are
            right together, for ``parser: several_letters``. "any": each of them is right, options for ``parser:
            any_letter`` or references of an open question.
        lettered: The options' texts begin with their letters ("A. cat"), which are taken off: the prompt puts letters.
        conversations: A column with question and answer as LLaVA's files have them, in place of these columns.
        folder: Where relative paths of images start: the YAML's folder, which the plugin fills in
            (:mod:`lmms_medtasks.harness.template_hooks.binding`).

    >>> from_columns(image="img", question="q", options=["a", "b"], answer="label").options
    ('a', 'b')
    """

    image: str | Sequence[str] | None = "image"
    question: str = "question"
    options: str | Sequence[str] | None = "options"
    answer: str = "answer"
    answer_is: AnswerIs = ""
    id: str | None = None
    image_id: str | None = None
    tags: Sequence[str] = ()
    several: Several = ""
    lettered: bool = False
    conversations: str | None = None
    folder: str = ""

    def __post_init__(self) -> None:
        """Lists become tuples."""
        if self.answer_is and self.answer_is not in ANSWER_IS:
            raise unknown("answer_is", self.answer_is, ANSWER_IS, "from_columns")
        if self.several and self.several not in ("all", "any"):
            raise unknown("several", self.several, ("all", "any"), "from_columns")
        for name in ("image", "options", "tags"):
            if not isinstance(listed := getattr(self, name), str | None):
                object.__setattr__(self, name, tuple(listed))

    @property
    def digested(self) -> str:
        """What the digest of a task's own code takes in: the names, not where the folder lies."""
        return repr(replace(self, folder=""))

    def __call__(self, dataset: Dataset) -> Dataset:
        """``dataset`` as documents, in its order; raises UserError that names column and row where it can't be.

        Rows count from 1, a header does not count.
        """
        named = with_label_names(dataset)
        if self.conversations is None:
            return TableDocuments(self, named).documents()
        asked = as_questions(named, self.conversations)
        return TableDocuments(replace(self, question="question", answer="answer", options=None), asked).documents()

    def columns_used(self, names: Sequence[str]) -> list[str]:
        """Those of the columns ``names`` that documents are made of."""
        listed = [self.options] if isinstance(self.options, str) else list(self.options or ())
        own = {self.question, self.answer, self.id or "id", self.image_id, *listed, *TAGS, *self.tags}
        own |= {*self.images(names), self.conversations}
        return [name for name in names if name in own]

    def images(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those of the columns ``names`` that hold pictures; ``image`` stands for ``image`` and ``images``."""
        if self.image == "image":
            return tuple(name for name in ("image", "images") if name in names)
        listed = [self.image] if isinstance(self.image, str) else list(self.image or ())
        return tuple(name for name in listed if name in names)

    def in_folder(self, folder: Path, tags: Sequence[str] = ()) -> Columns:
        """The same for a task in ``folder``, with these columns kept as well."""
        return replace(self, folder=str(folder), tags=tuple(dict.fromkeys((*self.tags, *tags))))


from_columns = Columns
"""What an ``adapter.py`` says."""


def options_of(columns: Columns, dataset: Dataset) -> list[list[str]]:
    """Each row's options as documents would have them; raises UserError where they can't be."""
    return TableDocuments(columns, with_label_names(dataset)).options()


def check_answers(documents: Dataset) -> None:
    """Raise UserError for documents of any adapter whose answers are lists or mappings, with the first one."""
    import datasets

    feature = documents.features.get("answer")
    if feature is None or isinstance(feature, datasets.Value):
        return
    for row in range(len(documents)):
        answer = documents[row]["answer"]
        if isinstance(answer, list | Mapping):
            known = f" (id {documents[row]['id']!r})" if "id" in documents.column_names else ""
            raise UserError(f"Column 'answer', row {row + 1}{known}: {no_text(answer)}")


def with_label_names(dataset: Dataset) -> Dataset:
    """``dataset`` with names in place of the numbers of its ``ClassLabel`` columns, and of lists of them.

    A number that stands for none (-1) becomes None.
    """
    import datasets

    for name, feature in dict(dataset.features).items():
        inner = feature[0] if isinstance(feature, list) else getattr(feature, "feature", None)
        label = next((each for each in (feature, inner) if isinstance(each, datasets.ClassLabel)), None)
        if label is None:
            continue
        names = [_named(value, label.names) for value in dataset[name][:]]
        dataset = dataset.remove_columns([name]).add_column(name, names)
    return dataset


def _named(value: Any, names: list[str]) -> Any:
    if isinstance(value, list):
        return [_named(each, names) for each in value]
    return names[value] if isinstance(value, int) and 0 <= value < len(names) else None


def as_questions(dataset: Dataset, column: str) -> Dataset:
    """``dataset`` with the columns ``question`` and ``answer`` in place of conversations.

    ``<image>`` at either end of a question, which says where the picture goes, is left out: the harness puts pictures.

    Raises:
        UserError: no such column, or a conversation of more than one question, with row.
    """
    if column not in dataset.column_names:
        raise UserError(f"The data has no column {column!r}. It has: {', '.join(dataset.column_names)}.")
    turns = [_turns(value, column, row) for row, value in enumerate(dataset[column])]
    for name in ("question", "answer"):
        if name in dataset.column_names:
            dataset = dataset.remove_columns([name])
    questions = dataset.remove_columns([column]).add_column("question", [asked for asked, _ in turns])
    return questions.add_column("answer", [answered for _, answered in turns])


def _turns(value: Any, column: str, row: int) -> tuple[str, str]:
    where = f"Column {column!r}, row {row + 1}"
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise UserError(f"{where}: expected a list of turns, got {value[:80]!r}.") from error
    if isinstance(value, Mapping):  # a list of mappings, as some versions of `datasets` turn it round
        value = [dict(zip(value, each, strict=True)) for each in zip(*value.values(), strict=True)]
    turns = [(str(each.get("from", each.get("role"))), each.get("value", each.get("content")))
             for each in value or () if isinstance(each, Mapping)]  # fmt: skip
    turns = [(who, said) for who, said in turns if who != "system"]
    if len(turns) != 2 or turns[0][0] not in _ASKING or turns[1][0] not in _ANSWERING:
        found = ", ".join(who for who, _ in turns) or "nothing"
        raise UserError(
            f"{where}: expected one turn of human and one of gpt, got {found}. Write one row for each question: "
            f"each is "
            "asked by itself."
        )
    if not all(isinstance(said, str) for _, said in turns):
        raise UserError(f"{where}: a turn is no text.")
    return _PICTURE.sub("", turns[0][1]), turns[1][1]


documents = from_columns()
"""The adapter of a table that has our names: image, question, options, answer."""
