"""From any table of questions to our documents: ``documents = from_columns(image="img", question="q", ...)``.

A contributed task with other column names has this line in its ``adapter.py``, and ``process_docs: !function
adapter.documents`` in its YAML. For our own names there is :func:`documents`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmms_medtasks.data import table_cells
from lmms_medtasks.data.conversations import PLACEHOLDERS, questions_from_conversations
from lmms_medtasks.data.documents import FIELDS, images_of
from lmms_medtasks.data.listed_options import split_listed_options
from lmms_medtasks.data.picture_files import PictureFiles, is_inside_path
from lmms_medtasks.data.table_cells import (
    ANSWER_IS,
    KINDS,
    SEVERAL,
    AnswerIs,
    RowKind,
    Several,
    not_text_problem,
    with_label_names,
)
from lmms_medtasks.data.table_pictures import TablePictures
from lmms_medtasks.errors import UserError, unknown_name_error
from lmms_medtasks.pictures import image_id as digest_of
from lmms_medtasks.pictures import read_encoded

if TYPE_CHECKING:
    from datasets import Dataset

REFERENCES = "references"  # The column of documents with all references of an open question that has several
TAGS = ("modality", "degradation", "severity", "question_id", "grid")
"""Columns that our hooks know: kept where the data has them."""
_LIST_AS_TEXT = re.compile(r"""\[\s*(['"]).*\1\s*,?\s*\]""", re.DOTALL)
_OPTIONS_ARE_TEXTS = 'Write the options of a question as a list of texts: ["cat", "dog"].'


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The adapter of a table with these columns: a hook for ``process_docs`` that makes documents of it.

    Instances hold no state and can be pickled. UserError for an unknown ``answer_is`` or ``several``.

    Args:
        image: An image column, encoded bytes, base64 text, a file's path from the YAML's folder on, or the id of
            another row that has the picture. A cell may hold a list of these; several columns are several pictures, in
            their order. "image" is also a column `images`. None, or an empty cell: no picture.
        question: The question's text, or a whole number: other values can be written in several ways.
        options: One column for each option, or one column with lists (or lists as JSON text); None: open questions.
            Options that are empty at the end of a row are left out. The question's own column: its text ends with them,
            as in "Which side? (a) left (b) right".
        answer: The right answer. With options: a letter ("B"), the option's text, its index from 0, or its number
            from 1; ``answer_is`` ("letter", "text", "index", "number") says which, and must if several fit.
            Without options: one reference, which the judge compares with.
        id: A name for each question; default: the row's number.
        tags: Further columns to keep for analyses. They stand in the sample log: name none that the data's terms
            keep out of it.
        several: Several right answers in a cell (a list, or letters as in "A, C"). "all": options that are right
            together, for ``parser: several_letters``. "any": each is right, options for ``parser: any_letter`` or
            references of an open question.
        lettered: The options' texts begin with their letters ("A. cat"), which are taken off: the prompt adds them.
        rows: Of a table with both kinds of questions those taken: "with_options" or the open ones, "without_options".
        conversations: A column with question and answer as LLaVA's files have them, in place of these columns, or with
            `messages`; the images in them too if the data has no column of images.
        images_in: The folder, from the YAML's on, where the names of images start.
        image_ending: What is put behind the names of images, such as ".jpg"; of several, the one that gives a file.
        folder: Where relative paths of images start: the YAML's folder, which the plugin fills in
            (:mod:`lmms_medtasks.harness.template_hooks.binding`).
        line_of: The line of a row in its file, for messages; the plugin fills it in.

    >>> from_columns(image="img", question="q", options=["a", "b"], answer="label").options
    ('a', 'b')
    """

    image: str | Sequence[str] | None = "image"
    question: str = "question"
    options: str | Sequence[str] | None = "options"
    answer: str = "answer"
    answer_is: AnswerIs = ""
    id: str | None = None
    tags: Sequence[str] = ()
    several: Several = ""
    lettered: bool = False
    rows: RowKind = ""
    conversations: str | None = None
    images_in: str = ""
    image_ending: str | Sequence[str] = ""
    folder: str = ""
    line_of: Callable[[int], int] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.answer_is and self.answer_is not in ANSWER_IS:
            raise unknown_name_error("answer_is", self.answer_is, ANSWER_IS, "from_columns")
        if self.several and self.several not in ("all", "any"):
            raise unknown_name_error("several", self.several, ("all", "any"), "from_columns")
        if self.rows and self.rows not in KINDS:
            raise unknown_name_error("rows", self.rows, KINDS, "from_columns")
        for ending in _column_names(self.image_ending or None):
            if "." not in ending or "/" in ending:
                raise UserError(f"--image-ending {ending!r} (image_ending in adapter.py): expected one such as .jpg.")
        if not is_inside_path(self.images_in):
            raise UserError(
                f"--images-in {self.images_in!r} (images_in in adapter.py) leads out of the task's folder. Put the "
                "images into a folder in it, and name that."
            )
        for name in ("image", "image_ending", "options", "tags"):
            if not isinstance(listed := getattr(self, name), str | None):
                object.__setattr__(self, name, tuple(listed))

    @property
    def digested(self) -> str:
        """What the digest of a task's own code covers: the names, not where the folder lies."""
        return repr(replace(self, folder=""))

    def __call__(self, dataset: Dataset) -> Dataset:
        """``dataset`` as documents, in its order. Raises UserError with column and row (from 1, without the header)."""
        labelled = with_label_names(dataset)
        if self.conversations is None:
            return TableDocuments(self, labelled).documents()
        questions = questions_from_conversations(labelled, self.conversations, bool(self.images(labelled.column_names)))
        answer = self.answer if self.answer in labelled.column_names else "answer"
        return TableDocuments(replace(self, question="question", answer=answer), questions).documents()

    def columns_used(self, names: Sequence[str]) -> list[str]:
        """Those of the columns ``names`` that documents are made of."""
        used_names: set[str | None] = {self.question, self.answer, self.id or "id", *TAGS, *self.tags}
        used_names |= {*_column_names(self.options), *self.images(names), self.conversations or ""}
        return [name for name in names if name in used_names]

    def images(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those of the columns ``names`` that hold pictures; ``image`` stands for ``image`` and ``images``."""
        if self.image == "image":
            return tuple(name for name in ("image", "images") if name in names)
        return tuple(name for name in _column_names(self.image) if name in names)

    def in_folder(self, folder: Path, tags: Sequence[str] = (), line_of: Callable[[int], int] | None = None) -> Columns:
        """The same for a task in ``folder``, with further tags, and the lines of rows (from 0) in their file."""
        return replace(self, folder=str(folder), tags=tuple(dict.fromkeys((*self.tags, *tags))), line_of=line_of)


def _column_names(value: str | Sequence[str] | None) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value or ())


from_columns = Columns  # What an ``adapter.py`` says.


def read_options(columns: Columns, dataset: Dataset) -> list[list[str]]:
    """Each row's options as documents would have them. Raises UserError for malformed ones."""
    return TableDocuments(columns, with_label_names(dataset)).options()


def has_options(columns: Columns, dataset: Dataset) -> list[bool]:
    """Whether each row has an option. Raises UserError for cells that hold neither options nor nothing."""
    return TableDocuments(replace(columns, rows=""), dataset).has_options()


def check_answers(documents: Dataset) -> None:
    """Raise UserError for documents of any adapter whose answers are lists or mappings."""
    import datasets

    feature = documents.features.get("answer")
    if feature is None or isinstance(feature, datasets.Value):
        return
    for row in range(len(documents)):
        answer = documents[row]["answer"]
        if isinstance(answer, list | Mapping):
            known = f" (id {documents[row]['id']!r})" if "id" in documents.column_names else ""
            raise UserError(f"Column 'answer', row {row + 1}{known}: {not_text_problem(answer)}")


documents = from_columns()  # The adapter of a table that has our names: image, question, options, answer


class TableDocuments:
    """One reading of a data set."""

    def __init__(self, columns: Columns, dataset: Dataset) -> None:
        self._columns = columns
        self._dataset = self._table = dataset
        self._names = dataset.column_names
        self._rows: Sequence[int] = range(len(dataset))
        self._check_names()
        if columns.rows:
            wanted = columns.rows == "with_options"
            self._rows = [row for row, has in enumerate(self.has_options()) if has == wanted]
            self._dataset = dataset.select(self._rows)

    def documents(self) -> Dataset:
        import datasets

        columns, count = self._columns, len(self._dataset)
        if not count:
            raise UserError(f"The data has no rows{' '[: bool(columns.rows)]}{columns.rows.replace('_', ' ')}.")
        options = self.options()
        ids = self._read_ids()
        pictures = self._picture_columns()
        # One row at a time: a table's pictures may be larger than memory likes.
        shown = [_count_and_digest(images_of(row)) for row in pictures or ()] or [(0, "")] * count
        for row, (text, (images, _)) in enumerate(zip(self._required_texts(columns.question), shown, strict=True)):
            if problem := table_cells.question_problem(text, images if columns.images(self._names) else None):
                raise UserError(f"{self._cell_location(columns.question, row)}: {problem}")
        questions = self._questions()
        if self._lists_options and columns.rows != "without_options":
            questions = [question for question, _ in self._listed_options()]
        answers, references = self._read_answers(options)
        fields: dict[str, Any] = {
            "id": ids,
            "question": questions,
            "options": options,
            "answer": answers,
            "image_id": [digest or f"none-{row}" for row, (_, digest) in zip(self._rows, shown, strict=True)],
            "data": ["full"] * count,
            **{tag: self._tag_values(tag) for tag in self._tag_names()},
            **({REFERENCES: references} if references else {}),
        }
        made = datasets.Dataset.from_dict(fields)
        if made.features["options"].feature.dtype == "null":  # all empty: open questions
            made = made.cast_column("options", datasets.Sequence(datasets.Value("string")))
        # Joined as they are: the bytes of an image column are not copied.
        return made if pictures is None else datasets.concatenate_datasets([made, pictures], axis=1)

    @property
    def _lists_options(self) -> bool:
        """Whether options stand in the questions' texts."""
        return self._columns.options == self._columns.question

    def _questions(self) -> list[str]:
        """The questions' texts as they are asked: those of conversations without ``<image>`` at their ends."""
        texts = self._required_texts(self._columns.question)
        if self._columns.conversations is None:
            return texts
        questions = [PLACEHOLDERS.sub("", text) for text in texts]
        if "" in questions:
            raise UserError(f"Row {questions.index('') + 1}: the conversation asks nothing beside its image.")
        return questions

    def _listed_options(self) -> list[tuple[str, list[str]]]:
        """Each question without the options that its text ends with, and these."""
        name, split = self._columns.question, []
        for row, text in enumerate(self._questions()):
            split.append(split_listed_options(text))
            if split[row] is None:
                raise UserError(
                    f"{self._cell_location(name, row)}: {text[-80:]!r} ends with no list of options, expected one such "
                    'as "(a) left (b) right". An open question? Put those into a second table: --dataset once for each.'
                )
        return split  # type: ignore[return-value]  # None was refused

    def _option_cells(self) -> list[list[Any]]:
        """The cells of each row's options, which may be empty; none without a column of options."""
        if self._lists_options:
            return [split[1] if (split := split_listed_options(text)) else [] for text in self._questions()]
        names = self._columns.options
        if names is None or (isinstance(names, str) and names not in self._names):
            return []
        if not isinstance(names, str):
            return [list(values) for values in zip(*(self._column_values(name) for name in names), strict=True)]
        return [
            table_cells.parse_options(value, functools.partial(self._cell_location, names, row))
            for row, value in enumerate(self._column_values(names))
        ]

    def has_options(self) -> list[bool]:
        """Whether a row has an option."""
        return [any(cell is not None and str(cell).strip() for cell in cells) for cells in self._option_cells()] or (
            [False] * len(self._dataset)
        )

    def options(self) -> list[list[str]]:
        rows: list[list[Any]] = []
        if self._columns.rows != "without_options":
            listed = self._listed_options() if self._lists_options else []
            rows = [options for _, options in listed] or self._option_cells()
        if not rows:
            return [[] for _ in range(len(self._dataset))]
        column_label = ", ".join(_column_names(self._columns.options))
        all_options = []
        for row, cells in enumerate(rows):
            location = functools.partial(self._cell_location, column_label, row)
            texts = [self._cell_text(cell, column_label, row, _OPTIONS_ARE_TEXTS) for cell in cells]
            texts = table_cells.trim_options(texts, location)
            all_options.append(table_cells.without_letters(texts, location) if self._columns.lettered else texts)
        return all_options

    def _column_values(self, name: str) -> list[Any]:
        """A column's values, read at once: row by row takes ten times as long."""
        values: list[Any] = self._dataset[name][:]
        return values

    def _picture_columns(self) -> Dataset | None:
        columns = self._columns
        names, id_column = columns.images(self._names), columns.id or "id"
        if not names:
            return None
        # Of all rows: a cell may hold the id of a row of the other kind.
        known = [str(value).strip() for value in self._table[id_column][:]] if id_column in self._names else ()
        files = PictureFiles(columns.folder, columns.images_in, _column_names(columns.image_ending or None))
        pictures = TablePictures(self._table, names, files, known, self._row_location).columns()
        return pictures.select(self._rows) if columns.rows else pictures

    def _check_names(self) -> None:
        columns = self._columns
        wanted = [columns.question, columns.answer, *columns.tags, *filter(None, [columns.id])]
        # With the standard names a table may lack options or pictures: open questions, questions without a picture.
        for listed in (columns.image, columns.options):
            wanted += _column_names(None if listed in ("options", "image") else listed)
        for name in wanted:
            if name not in self._names:
                raise unknown_name_error("column", name, self._names, "the data")

    def _tag_names(self) -> list[str]:
        known = [tag for tag in (*TAGS, *self._columns.tags) if tag in self._names]
        return [tag for tag in dict.fromkeys(known) if tag not in FIELDS]

    def _tag_values(self, name: str) -> list[Any]:
        values = self._column_values(name)
        if name == "severity":
            return [
                table_cells.parse_severity(value, functools.partial(self._cell_location, name, row))
                for row, value in enumerate(values)
            ]
        return ["" if value is None else str(value) for value in values]

    def _cell_location(self, name: str, row: int) -> str:
        return self._row_location(name, self._rows[row])

    def _row_location(self, name: str, row: int) -> str:
        """As ``_cell_location``, by the row's number in the whole table."""
        column = self._columns.id or "id"
        known = f" (id {self._table[column][row]!r})" if column in self._names and column != name else ""
        return f"Column {name!r}, {self._row_number(row)}{known}"

    def _row_number(self, row: int) -> str:
        line_of = self._columns.line_of
        return f"row {row + 1}" + (f" (line {line_of(row)} with the header)" if line_of else "")

    def _cell_text(self, value: Any, name: str, row: int, way_out: str = SEVERAL) -> str:
        """A cell's text, blanks at its ends left out; "" for an empty one."""
        if value is None or (isinstance(value, str | int) and not isinstance(value, bool)):
            return "" if value is None else str(value).strip()
        raise UserError(f"{self._cell_location(name, row)}: {not_text_problem(value, way_out)}")

    def _read_ids(self) -> list[str]:
        name = self._columns.id or ("id" if "id" in self._names else None)
        if name is None:
            return [str(row) for row in self._rows]
        ids = self._required_texts(name)
        seen: dict[str, int] = {}
        for row, each in zip(self._rows, ids, strict=True):
            if each in seen:
                first, again = self._row_number(seen[each]), self._row_number(row)
                raise UserError(f"Column {name!r}: {each!r} is the id of {first} and of {again}.")
            seen[each] = row
        return ids

    def _required_texts(self, name: str) -> list[str]:
        texts = [self._cell_text(value, name, row) for row, value in enumerate(self._column_values(name))]
        for row, text in enumerate(texts):
            if not text:
                raise UserError(f"{self._cell_location(name, row)}: empty. Every question needs one.")
        return texts

    def _read_answers(self, options: list[list[str]]) -> tuple[list[str], list[list[str]]]:
        """Letters, or references; and all references of open questions with several."""
        columns, name = self._columns, self._columns.answer
        values = [table_cells.one_of_one(value) for value in self._column_values(name)]
        if not any(options):
            return self._read_references(values)
        parts = [
            table_cells.split_answers(value, offered, columns.several) if columns.several else [value]
            for value, offered in zip(values, options, strict=True)
        ]
        for row, each in enumerate(parts):
            for value in each:
                self._cell_text(value, name, row)  # refuses what is no text
        texts = [["" if value is None else str(value) for value in part] for part in parts]
        flat = [(text, options[row]) for row, each in enumerate(texts) for text in each]
        kind = columns.answer_is or table_cells.answer_kind(
            [text for text, _ in flat], [offered for _, offered in flat], name
        )
        letters = []
        for row, each in enumerate(texts):
            if not any(each) and (len(each) < 2):
                raise UserError(f"{self._cell_location(name, row)}: empty. Every question needs one.")
            letters_named = [self._answer_letter(text, options[row], kind, row) for text in each]
            if len(set(letters_named)) < len(letters_named):
                raise UserError(f"{self._cell_location(name, row)}: {each} names an option twice.")
            letters.append("".join(sorted(letters_named)))
        return letters, []

    def _answer_letter(self, text: str, options: list[str], kind: str, row: int) -> str:
        try:
            return table_cells.letter_of(text, options, kind)
        except UserError as error:
            raise UserError(f"{self._cell_location(self._columns.answer, row)}: {error}") from error

    def _read_references(self, values: list[Any]) -> tuple[list[str], list[list[str]]]:
        name = self._columns.answer
        for row, value in enumerate(values if self._columns.rows else ()):
            table_cells.check_no_letter(value, functools.partial(self._cell_location, name, row))
        if self._columns.several == "all":
            raise UserError(
                f'Column {name!r}: several="all" is for options that are right together, and these questions are open. '
                'Say several="any" where each reference is right by itself, or write all that is expected as one text.'
            )
        if self._columns.several != "any":
            texts = [self._cell_text(value, name, row) for row, value in enumerate(values)]
            return [self._check_reference(text, row) for row, text in enumerate(texts)], []
        all_references = []
        for row, value in enumerate(values):
            listed = table_cells.parse_references(value)
            texts = list(dict.fromkeys(filter(None, (self._cell_text(each, name, row) for each in listed))))
            if not texts:
                raise UserError(f"{self._cell_location(name, row)}: empty. Every question needs one.")
            all_references.append(texts)
        return [" OR ".join(reference) for reference in all_references], all_references

    def _check_reference(self, text: str, row: int) -> str:
        """An open question's answer; a list that was written as text (as pandas does in CSV) is refused too."""
        location = functools.partial(self._cell_location, self._columns.answer, row)
        if not text:
            raise UserError(f"{location()}: empty. Every question needs one.")
        if _LIST_AS_TEXT.fullmatch(text):
            raise UserError(f"{location()}: {text!r} is a list written as text, expected one text. {SEVERAL}")
        return text


def _count_and_digest(images: Sequence[Mapping[str, Any]]) -> tuple[int, str]:
    return len(images), digest_of([read_encoded(image) or b"" for image in images]) if images else ""
