"""From any table of questions to our documents: ``documents = from_columns(image="img", question="q", ...)``.

A contributed task whose columns are called otherwise has this one line in its ``adapter.py``, and
``process_docs: !function adapter.documents`` in its YAML. With our own names :func:`documents` of this module will do.
"""

from __future__ import annotations

import base64
import binascii
import datetime
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lmms_medtasks import parsing
from lmms_medtasks.data.documents import FIELDS
from lmms_medtasks.data.image_bytes import image_id as digest_of
from lmms_medtasks.errors import UserError, unknown

if TYPE_CHECKING:
    from datasets import Dataset

AnswerIs = Literal["letter", "text", "index", "number", ""]
ANSWER_IS = ("letter", "text", "index", "number")
TAGS = ("modality", "degradation", "severity", "question_id", "grid")
"""Columns that our hooks know: kept where the data has them."""
_WHOLE = re.compile(r"-?[0-9]+")
_LIST_AS_TEXT = re.compile(r"""\[\s*(['"]).*\1\s*,?\s*\]""", re.DOTALL)
_ONE = (
    "A question has one right answer and one reference: write one row for each, or join several in words "
    '("liver, also called hepar").'
)
_COUNTS = 'Say whether they count options from 0 (answer_is="index") or from 1 (answer_is="number").'


@dataclass(frozen=True)
class Columns:
    """A hook for ``process_docs``: makes documents of a table whose columns are called as its fields say.

    Instances hold no state and can be pickled. ``folder`` is where relative paths of images start: the YAML's folder,
    which the plugin fills in (:mod:`lmms_medtasks.harness.template_hooks.binding`).
    """

    image: str | None = "image"
    question: str = "question"
    options: str | tuple[str, ...] | None = "options"
    answer: str = "answer"
    answer_is: AnswerIs = ""
    id: str | None = None
    image_id: str | None = None
    tags: tuple[str, ...] = ()
    folder: str = ""

    @property
    def fingerprint(self) -> str:
        """What a task's fingerprint takes in: the names, not where the folder lies."""
        return repr(replace(self, folder=""))

    def __call__(self, dataset: Dataset) -> Dataset:
        """``dataset`` as documents, in its order; raises UserError that names column and row where it can't be.

        Rows count from 1, a header does not count.
        """
        return _Table(self, dataset).documents()

    def columns_used(self, names: Sequence[str]) -> list[str]:
        """Those of the columns ``names`` that documents are made of."""
        listed = [self.options] if isinstance(self.options, str) else list(self.options or ())
        own = {self.image, self.question, self.answer, self.id or "id", self.image_id, *listed, *TAGS, *self.tags}
        return [name for name in names if name in own]

    def in_folder(self, folder: Path, tags: Sequence[str] = ()) -> Columns:
        """The same for a task in ``folder``, with these columns kept as well."""
        return replace(self, folder=str(folder), tags=tuple(dict.fromkeys((*self.tags, *tags))))


def from_columns(
    *,
    image: str | None = "image",
    question: str = "question",
    options: str | Sequence[str] | None = "options",
    answer: str = "answer",
    answer_is: AnswerIs = "",
    id: str | None = None,  # noqa: A002 (the field's name)
    image_id: str | None = None,
    tags: Sequence[str] = (),
) -> Columns:
    """The adapter of a table with these columns.

    Args:
        image: The picture: an image column, encoded bytes, base64 text, or a file's path from the YAML's folder on.
            None: the questions have none. An empty cell: this question has none.
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

    Raises:
        UserError: an unknown ``answer_is``.

    >>> from_columns(image="img", question="q", options=["a", "b"], answer="label").options
    ('a', 'b')
    """
    if answer_is and answer_is not in ANSWER_IS:
        raise unknown("answer_is", answer_is, ANSWER_IS, "from_columns")
    several = options if options is None or isinstance(options, str) else tuple(options)
    return Columns(image, question, several, answer, answer_is, id, image_id, tuple(tags))


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
        options = self._options()
        fields: dict[str, Any] = {
            "id": self._ids(),
            "question": self._texts(columns.question),
            "options": options,
            "answer": self._answers(options),
            "image_id": self._texts(columns.image_id) if columns.image_id else self._image_ids(),
            "data": ["full"] * count,
            **{tag: self._tag(tag) for tag in self._tags()},
        }
        made = datasets.Dataset.from_dict(fields)
        if made.features["options"].feature.dtype == "null":  # all empty: open questions
            made = made.cast_column("options", datasets.Sequence(datasets.Value("string")))
        if columns.image is None or columns.image not in self._names:
            return made
        # Joined as it is: the bytes are not copied.
        return datasets.concatenate_datasets([made, self._image_column()], axis=1)

    def _check_names(self) -> None:
        columns = self._columns
        wanted = [columns.question, columns.answer, *columns.tags]
        wanted += [each for each in (columns.id, columns.image_id) if each]
        # With the standard names a table may lack options or pictures: open questions, questions without a picture.
        standard = (None, "options", "image")
        wanted += [each for each in (columns.image,) if each not in standard]
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

    def _options(self) -> list[list[str]]:
        names = self._columns.options
        if names is None or (isinstance(names, str) and names not in self._names):
            return [[] for _ in range(len(self._dataset))]
        if isinstance(names, str):
            rows = [_list(value, names, row) for row, value in enumerate(self._dataset[names])]
        else:
            rows = [list(values) for values in zip(*(self._dataset[name] for name in names), strict=True)]
        named = names if isinstance(names, str) else ", ".join(names)
        return [_trimmed([self._text(each, named, row) for each in options], row) for row, options in enumerate(rows)]

    def _answers(self, options: list[list[str]]) -> list[str]:
        values = list(self._dataset[self._columns.answer])
        if not any(options):
            return [self._reference(text, row) for row, text in enumerate(self._texts(self._columns.answer))]
        for row, value in enumerate(values):
            if isinstance(value, list | Mapping):
                raise UserError(f"{self._place(self._columns.answer, row)}: {_no_text(value)}")
        kind = self._columns.answer_is or self._kind(values, options)
        pairs = enumerate(zip(values, options, strict=True))
        return [_letter(value, offered, kind, self._columns.answer, row) for row, (value, offered) in pairs]

    def _reference(self, text: str, row: int) -> str:
        """An open question's answer; a list that was written as text (as pandas does in CSV) is a list all the same."""
        if _LIST_AS_TEXT.fullmatch(text):
            raise UserError(
                f"{self._place(self._columns.answer, row)}: {text!r} is a list written as text, wanted one text. {_ONE}"
            )
        return text

    def _kind(self, values: list[Any], options: list[list[str]]) -> str:
        """What the answers are, where only one reading fits all of them."""
        pairs = list(zip(values, options, strict=True))
        name = self._columns.answer
        if not all(isinstance(value, str) for value in values):
            raise UserError(f"Column {name!r} holds {type(values[0]).__name__} values such as {values[0]!r}. {_COUNTS}")
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

    def _image_column(self) -> Dataset:
        """The pictures as a column ``image`` of encoded images; relative paths start at the folder."""
        import datasets

        name = str(self._columns.image)
        one = self._dataset.select_columns([name])
        feature = one.features[name]
        stored = datasets.Image(decode=False)
        if isinstance(feature, datasets.Image):
            return one.cast_column(name, stored).rename_columns({} if name == "image" else {name: "image"})
        values = [self._encoded(value, row) for row, value in enumerate(one[name])]
        return datasets.Dataset.from_dict({"image": values}, features=datasets.Features({"image": stored}))

    def _encoded(self, value: Any, row: int) -> dict[str, Any] | None:
        name = self._columns.image
        if value is None or value == "":
            return None
        if isinstance(value, Mapping):
            value = value.get("bytes") or value.get("path")
        if isinstance(value, bytes):
            return {"bytes": value, "path": None}
        if not isinstance(value, str):
            raise UserError(f"Column {name!r}, row {row + 1}: a picture can't be made of a {type(value).__name__}.")
        path = Path(self._columns.folder) / value if len(value) < 1024 else None
        if path is not None and path.is_file():
            return {"bytes": None, "path": str(path)}
        decoded = _base64(value)
        if decoded is None:
            raise UserError(
                f"Column {name!r}, row {row + 1}: no file {value[:200]!r} in {self._columns.folder or Path.cwd()}, and "
                "no base64 of a picture either."
            )
        return {"bytes": decoded, "path": None}

    def _image_ids(self) -> list[str]:
        count = len(self._dataset)
        if self._columns.image is None or self._columns.image not in self._names:
            return [f"none-{row}" for row in range(count)]
        return [f"none-{row}" if each is None else digest_of([_bytes(each)]) for row, each in enumerate(self._stored())]

    def _stored(self) -> Iterator[Any]:
        for row in self._image_column():
            yield row["image"]


def _bytes(picture: Mapping[str, Any]) -> bytes:
    found: bytes = picture["bytes"] if picture["bytes"] is not None else Path(picture["path"]).read_bytes()
    return found


def _base64(text: str) -> bytes | None:
    text = text.partition(",")[2] if text.startswith("data:") else text
    try:
        decoded = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return decoded if len(decoded) > 16 else None


def _list(value: Any, name: str, row: int) -> list[Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value, parse_int=str, parse_float=str)  # 2.50 stays as it is written
        except json.JSONDecodeError as error:
            raise UserError(
                f"Column {name!r}, row {row + 1}: wanted a list of options, as a list or as JSON, got {value[:80]!r}."
            ) from error
    if not isinstance(value, list | tuple):
        raise UserError(f"Column {name!r}, row {row + 1}: wanted a list of options, got {value!r}.")
    return list(value)


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


def _is_letter(value: str, options: Sequence[str]) -> bool:
    text = value.strip().upper()
    return len(text) == 1 and text in parsing.option_letters(len(options))


def _option_place(value: Any, options: Sequence[str], kind: str) -> int | None:
    """The place of the option that an answer of this kind names, from 0; None if it names none."""
    place: int | None = None
    if kind == "letter" and isinstance(value, str) and _is_letter(value, options):
        place = parsing.option_letters(len(options)).index(value.strip().upper())
    elif kind == "text" and str(value).strip() in options:
        place = list(options).index(str(value).strip())
    elif kind in ("index", "number") and _WHOLE.fullmatch(str(value).strip()):
        place = int(value) - (kind == "number")
    return place if place is not None and 0 <= place < len(options) else None


def _letter(value: Any, options: Sequence[str], kind: str, column: str, row: int) -> str:
    letters = parsing.option_letters(len(options))
    place = _option_place(value, options, kind)
    if place is None:
        raise UserError(
            f"Column {column!r}, row {row + 1}: the answer {value!r} is not among the options, read as {kind}. "
            "Options: " + ", ".join(f"{letter}. {text}" for letter, text in zip(letters, options, strict=True))
        )
    return letters[place]


def _no_text(value: Any) -> str:
    """What is wrong with a value that is no text, and the way out."""
    kind = type(value).__name__
    if isinstance(value, list | Mapping):
        return f"{value!r} is a {kind}, wanted one text. {_ONE}"
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
