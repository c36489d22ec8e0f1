"""What the readers of all releases share: a row becomes a document, or is rejected with the reason."""

from __future__ import annotations

import contextlib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar

from lmms_medtasks.data.documents import LETTERS
from lmms_medtasks.errors import UserError, nearest_name
from lmms_medtasks.short_texts import count_noun

Row = Mapping[str, Any]
T = TypeVar("T")

_LISTED = 12
_LIKE_A_MISSPELLING = 0.8


class RejectedRow(Exception):
    """A record that cannot become a document; the text is the reason."""


@dataclass(frozen=True)
class CandidateDocument:
    """One record of a release: a document, or the reason why it is none.

    ``number``: the record's place in its file, from 1 without the header; ``id``: the source's, possibly empty. Exactly
    one of ``document`` and ``reason`` is set. The document's ``data`` and images are checked later.
    """

    number: int
    id: str
    document: dict[str, Any] | None = None
    reason: str = ""


class RowReader(ABC):
    """A split of a release that was looked through once: its form is known to be right, its size is known.

    Subclasses raise UserError in ``__init__`` for files of another form. Rows may be of any type but RejectedRow.
    """

    records: int
    """How many records the release has for this split, good or bad."""

    notes: Mapping[str, Any]
    """What was found and is worth keeping in the manifest (columns used, for instance)."""

    apart: Mapping[str, int] = MappingProxyType({})
    """Groups that the paper does not have, with how many rows of the files are of each; another split has these."""

    known_groups: Sequence[str] = ()
    """The paper's groups; one that a group apart may be a misspelling of is named."""

    def describe_apart(self) -> str:
        """The rows that this split leaves to another one, in a sentence; "" if there are none."""
        if not self.apart:
            return ""
        near = {name: nearest_name(name, self.known_groups, _LIKE_A_MISSPELLING) for name in self.apart}
        groups = ", ".join(
            f"{name} ({count:,}{near[name] and f'; did you mean {near[name]!r}?'})"
            for name, count in self.apart.items()
        )
        return f"{count_noun(sum(self.apart.values()), 'row')} of groups that the paper does not have: {groups}"

    @abstractmethod
    def read_rows(self) -> Iterable[tuple[int, Any]]:
        """Number, from 1, and row of every record; where one is no row, a RejectedRow with the reason."""

    @abstractmethod
    def read_name(self, row: Any) -> str:
        """What the release calls a row, "" where it has no name."""

    @abstractmethod
    def make_document(self, row: Any) -> dict[str, Any]:
        """The canonical document of a row without its ``data`` field; raises RejectedRow where it can be none."""

    def find_missing(self, row: Any) -> Iterable[str]:
        """The images that a row names and the release lacks; none is read. May raise RejectedRow: it names none."""
        return ()

    def candidates(self) -> Iterator[CandidateDocument]:
        """Every record as a document without its ``data`` field, or with the reason why it is none."""
        for number, row in self.read_rows():
            name = "" if isinstance(row, RejectedRow) else self.read_name(row)
            try:
                if isinstance(row, RejectedRow):
                    raise row
                yield CandidateDocument(number, name, {"data": "", **self.make_document(row)})
            except RejectedRow as reason:
                yield CandidateDocument(number, name, reason=str(reason))

    def missing_images(self) -> Iterator[tuple[str, ...]]:
        for _, row in self.read_rows():
            with contextlib.suppress(RejectedRow):
                if not isinstance(row, RejectedRow) and (missing := tuple(self.find_missing(row))):
                    yield missing


def reject_unless(value: T | None, reason: str) -> T:
    """``value``; rejects the row for ``reason`` if it is false, empty or None."""
    if not value:
        raise RejectedRow(reason)
    return value


def check_fields(
    where: str, wanted: Iterable[str], present: Iterable[str], noun: str = "fields", hint: str = ""
) -> None:
    """UserError unless all fields ``wanted`` are in ``present``; "image or image_path" wants one of two."""
    wanted, present = list(wanted), list(present)
    missing = [names for names in wanted if not set(names.split(" or ")) & set(present)]
    if missing:
        raise UserError(
            f"{where} lacks required {noun}{hint}. Missing: {', '.join(missing)}. Required: {', '.join(wanted)}. "
            f"Found: {', '.join(present) or 'none'}."
        )


class Spellings:
    """The unknown texts in some fields of a table. ``readers``: field -> what raises UserError for such a text."""

    def __init__(self, readers: Mapping[str, Callable[[str], object]]) -> None:
        self._readers = readers
        self._errors: dict[tuple[str, str], str] = {}
        self._rows: dict[tuple[str, str], list[int]] = {}

    def look(self, number: int, row: Row) -> None:
        """Take in the row ``number``. An empty text is no spelling."""
        for field in self._readers:
            text = "" if row.get(field) is None else str(row[field])
            if not text.strip():
                continue
            if (field, text) not in self._errors:
                self._errors[field, text] = ""
                try:
                    self._readers[field](text)
                except UserError as error:
                    self._errors[field, text] = str(error)
            if self._errors[field, text]:
                self._rows.setdefault((field, text), []).append(number)

    def check(self, where: str) -> None:
        """UserError that names every unknown text, the most frequent first."""
        by_frequency = sorted(self._rows.items(), key=lambda item: -len(item[1]))
        lines = [
            f"{field}, {count_noun(len(rows), 'row')}, first in row {rows[0]}: {self._errors[field, text]}"
            for (field, text), rows in by_frequency[:_LISTED]
        ]
        if lines:
            more = [f"and {len(by_frequency) - _LISTED} more"] if len(by_frequency) > _LISTED else []
            raise UserError(
                f"{where} has spellings that are not known; nothing was prepared from it. If the release really spells "
                "them so, please report it.\n  " + "\n  ".join([*lines, *more])
            )


def filled_options(texts: Sequence[str]) -> list[str]:
    """The texts of the columns A, B, C ... up to the last that is filled; ``RejectedRow`` for a gap or one option."""
    trimmed = list(texts)
    while trimmed and not trimmed[-1]:
        trimmed.pop()
    gaps = [LETTERS[index] for index, text in enumerate(trimmed) if not text]
    reject_unless(not gaps, f"option {', '.join(gaps)} is empty, but {LETTERS[len(trimmed) - 1]} is not")
    reject_unless(len(trimmed) > 1, f"there are {len(trimmed)} options, expected at least 2")
    return trimmed


def right_letter(answer: str, options: Sequence[str]) -> str:
    """The letter of the right option. ``answer``: a letter ("B", "(B)"), "B. text", or the text. RejectedRow."""
    letters = LETTERS[: len(options)]
    bare = re.fullmatch(r"[(\[]?([A-Za-z])[)\].:]?", answer)
    if bare and bare.group(1).upper() in letters:
        return bare.group(1).upper()
    texts = [" ".join(option.casefold().split()) for option in options]
    wanted = " ".join(answer.casefold().split())
    labelled = re.fullmatch(r"[(\[]?([a-z])[)\].:]\s*(.+)", wanted)
    if labelled and labelled.group(1).upper() in letters:
        letter = labelled.group(1).upper()
        if texts[letters.index(letter)] == labelled.group(2):
            return letter
    places = [letter for letter, text in zip(letters, texts, strict=True) if text == wanted]
    reject_unless(len(places) < 2, f"answer {answer[:40]!r} is the text of several options: {', '.join(places)}")
    reject_unless(places, f"answer {answer[:40]!r} is not among the options A to {letters[-1]}, nor one's text")
    return places[0]
