"""From any table of questions to our documents: ``documents = from_columns(image="img", question="q", ...)``.

A contributed task whose columns are called otherwise has this one line in its ``adapter.py``, and
``process_docs: !function adapter.documents`` in its YAML. With our own names :func:`documents` of this module will do.
"""

from __future__ import annotations

import ast
import datetime
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lmms_medtasks import parsing
from lmms_medtasks.data import conversations
from lmms_medtasks.data.documents import FIELDS, images_of
from lmms_medtasks.data.image_bytes import image_id as digest_of
from lmms_medtasks.data.table_pictures import TablePictures
from lmms_medtasks.errors import UserError, unknown

if TYPE_CHECKING:
    from datasets import Dataset

AnswerIs = Literal["letter", "text", "index", "number", ""]
ANSWER_IS = ("letter", "text", "index", "number")
Several = Literal["all", "any", ""]
REFERENCES = "references"
"""The column of documents with all references of an open question that has several."""
TAGS = ("modality", "degradation", "severity", "question_id", "grid")
"""Columns that our hooks know: kept where the data has them."""
_WHOLE = re.compile(r"-?[0-9]+")
_LIST_AS_TEXT = re.compile(r"""\[\s*(['"]).*\1\s*,?\s*\]""", re.DOTALL)
_PLACEHOLDER = re.compile(r"<image[ _]?([0-9]*)>")
_SEVERAL = (
    'Where options can be right together, say several="all" and `parser: several_letters`: a reply then must name all '
    'of them and no other. Where an open question has several references, say several="any".'
)
_COUNTS = 'Say whether they count options from 0 (answer_is="index") or from 1 (answer_is="number").'


@dataclass(frozen=True)
class Columns:
    """A hook for ``process_docs``: makes documents of a table whose columns are called as its fields say.

    Instances hold no state and can be pickled. ``folder`` is where relative paths of images start: the YAML's folder,
    which the plugin fills in (:mod:`lmms_medtasks.harness.template_hooks.binding`).
    """

    image: str | tuple[str, ...] | None = "image"
    question: str = "question"
    options: str | tuple[str, ...] | None = "options"
    answer: str = "answer"
    answer_is: AnswerIs = ""
    id: str | None = None
    image_id: str | None = None
    tags: tuple[str, ...] = ()
    several: Several = ""
    lettered: bool = False
    conversations: str | None = None
    folder: str = ""

    @property
    def fingerprint(self) -> str:
        """What a task's fingerprint takes in: the names, not where the folder lies."""
        return repr(replace(self, folder=""))

    def __call__(self, dataset: Dataset) -> Dataset:
        """``dataset`` as documents, in its order; raises UserError that names column and row where it can't be.

        Rows count from 1, a header does not count.
        """
        if self.conversations is None:
            return _Table(self, dataset).documents()
        asked = conversations.as_questions(dataset, self.conversations)
        return _Table(replace(self, question="question", answer="answer", options=None), asked).documents()

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


def from_columns(
    *,
    image: str | Sequence[str] | None = "image",
    question: str = "question",
    options: str | Sequence[str] | None = "options",
    answer: str = "answer",
    answer_is: AnswerIs = "",
    id: str | None = None,  # noqa: A002 (the field's name)
    image_id: str | None = None,
    tags: Sequence[str] = (),
    several: Several = "",
    lettered: bool = False,
    conversations: str | None = None,
) -> Columns:
    """The adapter of a table with these columns.

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
            right together, for ``parser: several_letters``. "any": references of an open question, each of them right.
        lettered: The options' texts begin with their letters ("A. cat"), which are taken off: the prompt puts letters.
        conversations: A column with question and answer as LLaVA's files have them, in place of these columns.

    Raises:
        UserError: an unknown ``answer_is`` or ``several``.

    >>> from_columns(image="img", question="q", options=["a", "b"], answer="label").options
    ('a', 'b')
    """
    if answer_is and answer_is not in ANSWER_IS:
        raise unknown("answer_is", answer_is, ANSWER_IS, "from_columns")
    if several and several not in ("all", "any"):
        raise unknown("several", several, ("all", "any"), "from_columns")
    pictures = image if image is None or isinstance(image, str) else tuple(image)
    columns = options if options is None or isinstance(options, str) else tuple(options)
    return Columns(
        pictures, question, columns, answer, answer_is, id, image_id, tuple(tags), several, lettered, conversations
    )


def options_of(columns: Columns, dataset: Dataset) -> list[list[str]]:
    """Each row's options as documents would have them; raises UserError where they can't be."""
    return _Table(columns, dataset).options()


class _Table:
    """One reading of a data set."""

    def __init__(self, columns: Columns, dataset: Dataset) -> None:
        self._columns = columns
        self._dataset = dataset
        self._names = dataset.column_names
        self._check_names()

    def documents(self) -> Dataset:
        import datasets

        columns, count = self._columns, len(self._dataset)
        if not count:
            raise UserError("The data has no rows.")
        options = self.options()
        ids = self._ids()
        pictures = self._pictures(ids)
        # One row at a time: a table's pictures may be larger than memory likes.
        shown = [_counted(images_of(row)) for row in pictures or ()] or [(0, "")] * count
        questions = self._texts(columns.question)
        for row, (question, (images, _)) in enumerate(zip(questions, shown, strict=True)):
            self._check_question(question, images, row)
        answers, references = self._answers(options)
        fields: dict[str, Any] = {
            "id": ids,
            "question": questions,
            "options": options,
            "answer": answers,
            "image_id": self._texts(columns.image_id)
            if columns.image_id
            else [digest or f"none-{row}" for row, (_, digest) in enumerate(shown)],
            "data": ["full"] * count,
            **{tag: self._tag(tag) for tag in self._tags()},
            **({REFERENCES: references} if references else {}),
        }
        made = datasets.Dataset.from_dict(fields)
        if made.features["options"].feature.dtype == "null":  # all empty: open questions
            made = made.cast_column("options", datasets.Sequence(datasets.Value("string")))
        # Joined as they are: the bytes of an image column are not copied.
        return made if pictures is None else datasets.concatenate_datasets([made, pictures], axis=1)

    def _pictures(self, ids: Sequence[str]) -> Dataset | None:
        """The pictures as columns of documents; None without a column of pictures."""
        columns = self._columns
        names = columns.images(self._names)
        if not names:
            return None
        known = ids if (columns.id or "id") in self._names else ()
        return TablePictures(self._dataset, names, columns.folder, known, self._place).columns()

    def _check_question(self, question: str, images: int, row: int) -> None:
        """Refuse a question that speaks of pictures it has not, or that is itself the name of its picture."""
        name = self._columns.question
        for number in _PLACEHOLDER.findall(question):
            if number and int(number) > images:
                raise UserError(
                    f"{self._place(name, row)}: it speaks of <image {number}>, the row has {images} pictures."
                )
        if _is_file_name(question):
            raise UserError(f"{self._place(name, row)}: {question!r} is a picture's name, no question.")

    def _check_names(self) -> None:
        columns = self._columns
        wanted = [columns.question, columns.answer, *columns.tags]
        wanted += [each for each in (columns.id, columns.image_id) if each]
        # With the standard names a table may lack options or pictures: open questions, questions without a picture.
        standard = (None, "options", "image")
        if columns.image not in standard:
            wanted += [columns.image] if isinstance(columns.image, str) else list(columns.image or ())
        if columns.options not in standard:
            wanted += [columns.options] if isinstance(columns.options, str) else list(columns.options or ())
        for name in wanted:
            if name not in self._names:
                raise unknown("column", name, self._names, "the data")

    def _tags(self) -> list[str]:
        known = [tag for tag in (*TAGS, *self._columns.tags) if tag in self._names]
        return [tag for tag in dict.fromkeys(known) if tag not in FIELDS]

    def _tag(self, name: str) -> list[Any]:
        values = list(self._dataset[name])
        if name == "severity":
            return [self._level(value, row) for row, value in enumerate(values)]
        return ["" if value is None else str(value) for value in values]

    def _level(self, value: Any, row: int) -> Any:
        """A severity; in a CSV table it is text."""
        if not isinstance(value, str):
            return value
        text = value.strip()
        if not text:
            return None
        if not _WHOLE.fullmatch(text):
            raise UserError(f"{self._place('severity', row)}: {value!r}, wanted a whole number from 0 to 2.")
        return int(text)

    def _place(self, name: str, row: int) -> str:
        """Where a value stands: column, row, and the row's id if it has one."""
        column = self._columns.id or "id"
        known = f" (id {self._dataset[column][row]!r})" if column in self._names and column != name else ""
        return f"Column {name!r}, row {row + 1}{known}"

    def _text(self, value: Any, name: str, row: int) -> str:
        """A cell's text, blanks at its ends left out; "" for an empty one."""
        if value is None or (isinstance(value, str | int) and not isinstance(value, bool)):
            return "" if value is None else str(value).strip()
        raise UserError(f"{self._place(name, row)}: {_no_text(value)}")

    def _ids(self) -> list[str]:
        name = self._columns.id or ("id" if "id" in self._names else None)
        if name is None:
            return [str(row) for row in range(len(self._dataset))]
        ids = self._texts(name)
        seen: dict[str, int] = {}
        for row, each in enumerate(ids):
            if each in seen:
                raise UserError(f"Column {name!r}: {each!r} is the id of row {seen[each] + 1} and of row {row + 1}.")
            seen[each] = row
        return ids

    def _texts(self, name: str) -> list[str]:
        texts = [self._text(value, name, row) for row, value in enumerate(self._dataset[name])]
        for row, text in enumerate(texts):
            if not text:
                raise UserError(f"Column {name!r}, row {row + 1}: empty. Every question needs one.")
        return texts

    def options(self) -> list[list[str]]:
        """Each row's options."""
        names = self._columns.options
        if names is None or (isinstance(names, str) and names not in self._names):
            return [[] for _ in range(len(self._dataset))]
        if isinstance(names, str):
            rows = [_list(value, names, row) for row, value in enumerate(self._dataset[names])]
        else:
            rows = [list(values) for values in zip(*(self._dataset[name] for name in names), strict=True)]
        named = names if isinstance(names, str) else ", ".join(names)
        texts = [_trimmed([self._text(each, named, row) for each in options], row) for row, options in enumerate(rows)]
        return [_without_letters(each, row) for row, each in enumerate(texts)] if self._columns.lettered else texts

    def _answers(self, options: list[list[str]]) -> tuple[list[str], list[list[str]]]:
        """Letters, or references; and of open questions with several references all of them."""
        columns, name = self._columns, self._columns.answer
        values = [_one_of_one(value) for value in self._dataset[name]]
        if not any(options):
            return self._references(values)
        several = columns.several == "all"
        parts = [_parts(value, offered) if several else [value] for value, offered in zip(values, options, strict=True)]
        for row, each in enumerate(parts):
            for value in each:
                self._text(value, name, row)  # refuses what is no text
        texts = [["" if value is None else str(value) for value in each] for each in parts]
        flat = [(text, options[row]) for row, each in enumerate(texts) for text in each]
        kind = columns.answer_is or self._kind([text for text, _ in flat], [offered for _, offered in flat])
        letters = []
        for row, each in enumerate(texts):
            named = [_letter(text, options[row], kind, name, row) for text in each]
            if len(set(named)) < len(named) or not named:
                raise UserError(f"{self._place(name, row)}: {each} names an option twice, or none.")
            letters.append("".join(sorted(named)))
        return letters, []

    def _references(self, values: list[Any]) -> tuple[list[str], list[list[str]]]:
        name = self._columns.answer
        if self._columns.several != "any":
            texts = [self._text(value, name, row) for row, value in enumerate(values)]
            return [self._reference(text, row) for row, text in enumerate(texts)], []
        found = []
        for row, value in enumerate(values):
            listed = _written_list(value) or (value if isinstance(value, list) else [value])
            texts = list(dict.fromkeys(filter(None, (self._text(each, name, row) for each in listed))))
            if not texts:
                raise UserError(f"{self._place(name, row)}: empty. Every question needs one.")
            found.append(texts)
        return [" OR ".join(each) for each in found], found

    def _reference(self, text: str, row: int) -> str:
        """An open question's answer; a list that was written as text (as pandas does in CSV) is a list all the same."""
        if not text:
            raise UserError(f"{self._place(self._columns.answer, row)}: empty. Every question needs one.")
        if _LIST_AS_TEXT.fullmatch(text):
            raise UserError(
                f"{self._place(self._columns.answer, row)}: {text!r} is a list written as text, wanted one text. "
                f"{_SEVERAL}"
            )
        return text

    def _kind(self, values: list[str], options: list[list[str]]) -> str:
        """What the answers are, where only one reading fits all of them."""
        pairs = list(zip(values, options, strict=True))
        name = self._columns.answer
        places = {kind: [_option_place(value, offered, kind) for value, offered in pairs] for kind in ANSWER_IS}
        fitting = [kind for kind in ANSWER_IS if None not in places[kind]]
        if "text" in fitting and "letter" in fitting:
            raise UserError(
                f'Column {name!r} could be letters or options\' texts. Say answer_is="letter" or answer_is="text".'
            )
        whole = all(_WHOLE.fullmatch(value.strip()) for value in values)
        if whole and "text" not in fitting:
            raise UserError(f"Column {name!r} holds whole numbers such as {values[0]!r}. {_COUNTS}")
        others = [kind for kind in ("index", "number") if kind in fitting and places[kind] != places.get("text")]
        if whole and others:
            raise UserError(
                f"Column {name!r} holds whole numbers such as {values[0]!r}, which could be options' texts or count "
                f'options. Say answer_is="text"{"".join(f" or answer_is={kind!r}" for kind in others)}.'
            )
        letters = sum(place is not None for place in places["letter"])
        return "text" if "text" in fitting or letters < len(pairs) / 2 else "letter"


def _counted(images: Sequence[Mapping[str, Any]]) -> tuple[int, str]:
    """How many pictures a row has, and a digest of their bytes, "" without any."""
    return len(images), digest_of([_bytes(each) for each in images]) if images else ""


def _bytes(picture: Mapping[str, Any]) -> bytes:
    found: bytes = picture["bytes"] if picture["bytes"] is not None else Path(picture["path"]).read_bytes()
    return found


def _is_file_name(text: str) -> bool:
    return re.fullmatch(r"\S+\.(png|jpe?g|bmp|gif|tiff?|webp|dcm)", text, re.IGNORECASE) is not None


def _one_of_one(value: Any) -> Any:
    """A value that stands alone in a list, without the list."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _written_list(value: Any) -> list[Any] | None:
    """The items of a list that is written as JSON text; None for anything else."""
    if not isinstance(value, str) or not value.strip().startswith("["):
        return None
    try:
        found = json.loads(value, parse_int=str, parse_float=str)
    except ValueError:
        return None
    return found if isinstance(found, list) else None


def _parts(value: Any, options: Sequence[str]) -> list[Any]:
    """The single answers in a cell with several: items of a list, or letters and numbers with signs between them."""
    if isinstance(value, list):
        return value
    listed = _written_list(value)
    if listed is not None:
        return listed
    text = str(value).strip()
    if text in options:
        return [text]
    if re.fullmatch(r"[A-Z]{2,26}", text) and all(_is_letter(each, options) for each in text):
        return list(text)
    parts = [each for each in re.split(r"\s*(?:[,;/|]|\band\b|\s)\s*", text) if each]
    return parts if all(_is_letter(each, options) or _WHOLE.fullmatch(each) for each in parts) else [text]


_LETTERED = re.compile(r"\(?([A-Za-z])[.):]\)?\s*(.*)", re.DOTALL)


def lettered(options: Sequence[str]) -> list[str]:
    """The letters that the options' texts begin with, in capitals ("A. cat"); [] unless all do."""
    found = [_LETTERED.fullmatch(text) for text in options]
    return [each[1].upper() for each in found if each] if found and all(found) else []


def _without_letters(options: list[str], row: int) -> list[str]:
    letters = list(parsing.option_letters(len(options)))
    if lettered(options) != letters:
        raise UserError(
            f"Row {row + 1}: lettered=True takes letters off, but the options {options} do not begin with "
            f"{', '.join(letters)} in this order."
        )
    texts = [_LETTERED.fullmatch(text)[2].strip() for text in options]  # type: ignore[index]  # lettered() has matched
    return _trimmed(texts, row)


def _list(value: Any, name: str, row: int) -> list[Any]:
    """The options in a cell: a list, a mapping from letters, or either as JSON or as Python writes it."""
    given = value
    if isinstance(value, str):
        value = _read(value)
    if isinstance(value, Mapping):
        filled = {key: each for key, each in value.items() if each is not None}
        letters = [str(key).strip().upper() for key in filled]
        if letters != list(parsing.option_letters(len(letters))):
            raise UserError(
                f"Column {name!r}, row {row + 1}: the options are called {', '.join(map(str, filled))}, wanted A, B, C "
                "... in this order."
            )
        value = list(filled.values())
    if not isinstance(value, list | tuple):
        raise UserError(
            f"Column {name!r}, row {row + 1}: wanted a list of options, as a list or as JSON, got {str(given)[:80]!r}."
        )
    return list(value)


def _read(text: str) -> Any:
    """A list or mapping that is written as JSON, numbers as they stand, or as Python writes lists; None otherwise."""
    try:
        return json.loads(text, parse_int=str, parse_float=str)  # 2.50 stays as it is written
    except json.JSONDecodeError:
        pass
    try:
        found = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    # A number in it would have lost how it was written.
    plain = isinstance(found, list | dict) and all(isinstance(each, str) for each in found)
    return found if plain else None


def _trimmed(texts: list[str], row: int) -> list[str]:
    while texts and not texts[-1]:
        texts.pop()
    if len(texts) < 2 or "" in texts:
        raise UserError(f"Row {row + 1}: the options are {texts}. Wanted two or more, none empty before the last.")
    if len(texts) > 26:
        raise UserError(f"Row {row + 1}: {len(texts)} options, at most 26 have letters.")
    repeated = sorted({each for each in texts if texts.count(each) > 1})
    if repeated:
        raise UserError(f"Row {row + 1}: the option {repeated[0]!r} stands there twice: no answer could be told right.")
    return texts


def _bare(value: str) -> str:
    """A letter without brackets and signs: "(A)" and "A." are "A"."""
    return value.strip().strip("().:").upper()


def _is_letter(value: str, options: Sequence[str]) -> bool:
    text = _bare(value)
    return len(text) == 1 and text in parsing.option_letters(len(options))


def _option_place(value: Any, options: Sequence[str], kind: str) -> int | None:
    """The place of the option that an answer of this kind names, from 0; None if it names none."""
    place: int | None = None
    if kind == "letter" and isinstance(value, str) and _is_letter(value, options):
        place = parsing.option_letters(len(options)).index(_bare(value))
    elif kind == "text" and str(value).strip() in options:
        place = list(options).index(str(value).strip())
    elif kind in ("index", "number") and _WHOLE.fullmatch(str(value).strip()):
        place = int(value) - (kind == "number")
    return place if place is not None and 0 <= place < len(options) else None


def _letter(value: Any, options: Sequence[str], kind: str, column: str, row: int) -> str:
    letters = parsing.option_letters(len(options))
    place = _option_place(value, options, kind)
    if place is None:
        hint = ""
        if re.fullmatch(r"[0-9]+\.0", str(value).strip()):
            hint = " Some programs write whole numbers so where a cell of the column is empty: write them without .0."
        raise UserError(
            f"Column {column!r}, row {row + 1}: the answer {value!r} is not among the options, read as {kind}.{hint} "
            "Options: " + ", ".join(f"{letter}. {text}" for letter, text in zip(letters, options, strict=True))
        )
    return letters[place]


def _no_text(value: Any) -> str:
    """What is wrong with a value that is no text, and the way out."""
    kind = type(value).__name__
    if isinstance(value, list | Mapping):
        return f"{value!r} is a {kind}, wanted one text. {_SEVERAL}"
    if isinstance(value, datetime.date):
        return (
            f"{value!r} is a {kind}, wanted a text: how it was written is lost. The reader of JSON takes the texts of "
            "a column for dates where all look like dates: store the table as CSV, or as parquet with a column of text."
        )
    return (
        f"{value!r} is a {kind}, wanted a text or a whole number: how it was written is lost. Store the column as text "
        "(in JSON: in quotation marks)."
    )


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
            raise UserError(f"Column 'answer', row {row + 1}{known}: {_no_text(answer)}")


documents = from_columns()
"""The adapter of a table that has our names: image, question, options, answer."""
