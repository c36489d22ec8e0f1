"""Shared by the readers of SURE-VQA's three data sets: a JSON list of questions with a folder of images, and the
paper's cleaning of closed questions.

SLAKE's reader was tried on the published annotation files, not on its images. Those of OVQA and MIMIC-CXR-VQA were
written against the fields that the authors' public code reads, and not tried on real data.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from lmms_medtasks.data import any_tables
from lmms_medtasks.data.documents import CHOICES_SEPARATOR as SEPARATOR
from lmms_medtasks.data.release_images import Images, folder_of_images
from lmms_medtasks.data.releases import LocalRelease, Release
from lmms_medtasks.data.row_reader import CandidateDocument, Row, RowReader, Spellings, check_fields, reject_unless
from lmms_medtasks.data.sources import ReleaseFinding, SourceSplit
from lmms_medtasks.errors import UserError
from lmms_medtasks.progress import print_message
from lmms_medtasks.short_texts import count_noun

TAGS: Mapping[str, str] = {"split": "text", "answer_type": "text", "choices": "text"}
"""Tags of all three: ``split`` (train, validate, test); ``answer_type`` (open, closed, multilabel); ``choices``, the
options of a closed question as "yes | no", empty if the release does not list them."""

YES_NO = ("yes", "no")

NOT_COPIED = "Images are not copied: the prepared data refers to the files in the source folder, which must stay there."
"""A note of data sets whose images are not copied."""


class SureReader(RowReader):
    """Reads one split: a list of records and their images.

    A data set declares the ``fields`` of every record, ``vocabulary`` (field -> allowed values, in lower case), and the
    ``folders`` or the ``archive`` of its images. ``notes`` has ``left_out`` (reason -> number of records) and, if the
    paper's cleaning drops any, ``cleaned`` (reason -> the numbers of the questions) and
    ``number_of_a_dropped_question``: numbers that a retained record shares with a dropped one.
    """

    fields: ClassVar[tuple[str, ...]]
    vocabulary: ClassVar[Mapping[str, tuple[str, ...]]]
    folders: ClassVar[tuple[str, ...]]
    archive: ClassVar[str] = ""

    def __init__(self, release: Release, split: SourceSplit) -> None:
        """Read the file; ``UserError`` if fields or answer types are not as expected, or no record is left."""
        self._path, self._split = release.file(split.files[0]), split.name
        folder = folder_of_images(release.folder, self.folders) if isinstance(release, LocalRelease) else None
        self._images = self.images(release, folder)
        left_out = Counter[str]()
        cleaned: dict[str, list[str]] = {}
        retained: list[str] = []
        checks = {name: functools.partial(_check_value, name, allowed) for name, allowed in self.vocabulary.items()}
        unknown = Spellings(checks)
        for number, row in enumerate(any_tables.iter_json_items(self._path), start=1):
            where = f"{self._path.name}, record {number}"
            if not isinstance(row, dict):
                raise UserError(f"{where} is {type(row).__name__}, expected an object with fields.")
            check_fields(where, self.fields, row, hint=" (is it of another release, or one without answers?)")
            reason = self.left_out(row)
            if not reason and (reason := self.cleaned(row)):
                cleaned.setdefault(reason, []).append(self.read_name(row))
            if reason:
                left_out[reason] += 1
            else:
                retained.append(self.read_name(row))
                unknown.look(number, row)
        unknown.check(self._path.name)
        self.records = len(retained)
        self.notes = {"left_out": dict(left_out)}
        if cleaned:
            dropped_numbers = {number for numbers in cleaned.values() for number in numbers}
            shared = [number for number in retained if number in dropped_numbers]
            self.notes = {**self.notes, "cleaned": cleaned, "number_of_a_dropped_question": shared}
        if not retained:
            reasons = ", ".join(f"{reason}: {count:,}" for reason, count in left_out.items()) or "it is empty"
            raise UserError(f"{self._path.name} has no record of this benchmark. {reasons}.")

    def images(self, release: Release, folder: Path | None) -> Images:
        """The images, of the ``folder`` if there is one; UserError if there are none."""
        raise NotImplementedError

    def left_out(self, row: Row) -> str:
        """Why a record is not part of the benchmark, "" if it is."""
        return ""

    def cleaned(self, row: Row) -> str:
        """As :meth:`left_out`, for records that are listed by number."""
        return ""

    def texts(self, row: Row) -> dict[str, Any]:
        """The fields of a document without its image. Question and answer may be empty: the paper counts these too."""
        raise NotImplementedError

    def image_name(self, row: Row) -> str:
        """The name of a record's image in the release, which no other image has."""
        raise NotImplementedError

    def question_fields(self, row: Row, kind: str, answer: str, choices: tuple[str, ...], *tags: str) -> dict[str, Any]:
        """The fields that all three data sets have, and these tags of the record."""
        number = first_text(row, "idx" if "idx" in self.fields else "qid")
        shared = document_fields(number, self._split, first_text(row, "question"), answer, kind, choices)
        return {**shared, **{tag: first_text(row, tag) for tag in tags}}

    def read_rows(self) -> Iterator[tuple[int, Row]]:
        rows = enumerate(any_tables.iter_json_items(self._path), start=1)
        return ((number, row) for number, row in rows if not self.left_out(row) and not self.cleaned(row))

    def read_name(self, row: Row) -> str:
        return str(row.get("qid", row.get("idx", "")))

    def make_document(self, row: Row) -> dict[str, Any]:
        document = self.texts(row)
        reject_unless(not empty_fields(document), empty_fields(document))
        return {**document, **self._images.fields(self.image_name(row))}

    def find_missing(self, row: Row) -> list[str]:
        """The name of the question's image, if it is missing. A repeated number is the same question."""
        document, name = self.texts(row), self.image_name(row)
        if empty_fields(document) or document["id"] in self._checked:
            return []
        self._checked.add(document["id"])
        return [] if self._images.has(name) else [name]

    def missing_images(self) -> Iterator[tuple[str, ...]]:
        self._checked = set[str]()
        return super().missing_images()

    def candidates(self) -> Iterator[CandidateDocument]:
        """As for every reader, after a message about the records left out."""
        for line in left_out_lines(self.notes):
            print_message(f"{self._path.name}: {line}")
        return super().candidates()

    @classmethod
    def looked_for(cls) -> str:
        """The places searched for images, for messages."""
        return f"looked for {cls.archive and f'{cls.archive} and for '}the folders {', '.join(cls.folders)}"

    @classmethod
    def diagnose(cls, release: LocalRelease) -> list[ReleaseFinding]:
        """Whether the images are there."""
        folder = folder_of_images(release.folder, cls.folders)
        if folder is not None:
            return [ReleaseFinding("images", "there", f"folder {folder.relative_to(release.folder)}")]
        if cls.archive and release.has(cls.archive):
            return [ReleaseFinding("images", "there", cls.archive)]
        return [ReleaseFinding("images", "missing", cls.looked_for())]


def _check_value(name: str, allowed: Sequence[str], value: str) -> None:
    if value.strip().lower() not in allowed:
        raise UserError(f"Unknown {name} {value[:40]!r}. Allowed, in any case: {', '.join(allowed)}.")


def empty_fields(document: Mapping[str, Any]) -> str:
    """Why a well-formed document without its image is unusable; "" if it is usable."""
    return next((f"{name} is empty" for name in ("question", "answer") if not document[name]), "")


def list_numbers(numbers: Sequence[str], most: int = 60) -> str:
    """Numbers of questions (the manifest has all of them) or files, for a message."""
    return ", ".join(numbers[:most]) + (f" and {len(numbers) - most:,} more" if len(numbers) > most else "")


def left_out_lines(notes: Mapping[str, Any]) -> Iterator[str]:
    """A line for each reason in ``notes`` to leave records out, with the numbers of the questions if known."""
    cleaned: Mapping[str, Sequence[str]] = notes.get("cleaned") or {}
    for reason, count in notes["left_out"].items():
        numbers = f": questions {list_numbers(cleaned[reason])}" if reason in cleaned else ""
        yield f"{count_noun(count, 'record')} left out, {reason}{numbers}"


def first_text(row: Row, *names: str) -> str:
    """The text of the first of these fields that the record has; "" for null."""
    value = next((row[name] for name in names if name in row), None)
    reject_unless(not isinstance(value, dict | list), f"{names[0]} is no text")
    return "" if value is None else str(value).strip()


def document_fields(
    number: str, split: str, question: str, answer: str, answer_type: str, choices: tuple[str, ...]
) -> dict[str, Any]:
    """The fields that the documents of all three data sets have; ``number`` is the question's number in its split."""
    return {
        "id": f"{split}/{number}",
        "question": question,
        "options": [],
        "answer": answer,
        "split": split,
        "answer_type": answer_type,
        "choices": SEPARATOR.join(choices),
    }


def yes_no(answer: str) -> tuple[str, ...]:
    """The choices of a closed question by its answer: yes and no, or () if unknown."""
    return YES_NO if answer.strip().rstrip(".").lower() in YES_NO else ()


# The paper states its cleaning once, in Appendix C.1.2, which is about OVQA: "We removed closed-ended questions with
# more than two categories to choose from and closed-ended questions where the categories to answer were not exactly
# contained in the question." Its text on SLAKE (C.1.1) has no such step. On SLAKE's published annotations the rule
# gives all eight sizes of Table 1 and the test set's 1,050 questions; without it none of the nine is met.
MANY = "closed, names more than two options (the paper's cleaning, C.1.2)"
NOT_NAMED = "closed, its answer does not occur in its question (the paper's cleaning, C.1.2)"
NOT_LISTED = "closed, but its answer is neither yes nor no (the authors' cleaning)"

_BETWEEN = re.compile(r"(,\s*or\b|,|\bor\b)", re.IGNORECASE)
_ASKS = re.compile(r"\b(which|what|where|who|when|how)\b", re.IGNORECASE)
_VERB_FIRST = re.compile(r"\s*(is|are|was|were|does|do|did|has|have|can)\b", re.IGNORECASE)


def options_named(question: str) -> int:
    """How many options a question lists with commas and "or"; 0 for a question without "or".

    >>> options_named("Which is the biggest in this image, spleen,lung, or liver?")
    3
    >>> options_named("Which organ is abnormal, heart or lung?"), options_named("Is this a T1 or T2 weighted image?")
    (2, 2)
    """
    texts = _BETWEEN.split(question)
    parts, separators = texts[::2], texts[1::2]
    if not any("or" in separator.lower() for separator in separators):
        return 0
    asking = [index for index, part in enumerate(parts) if _ASKS.search(part) or _VERB_FIRST.match(part)]
    first = asking[-1] if asking else 0
    # "Which is bigger, A or B": the options start after the comma. "Is this A or B": the first one ends the part.
    if first < len(separators) and separators[first] == "," and _ASKS.search(parts[first]):
        first += 1
    return len(parts) - first


def cleaning_reason(question: str, answer: str, kept: Sequence[str] | None = None) -> str:
    """Why the cleaning leaves a *closed* question out; "" if it stays.

    A question that is answered by yes or no stays. The paper's sentence above drops others that name more than two
    options, or whose answer is not in the question. We differ in two things:

    - "exactly contained" means the answer's words in a row, in any case. Most of SLAKE's answers differ from the
      question in case alone ("Lung" of "heart or lung"), and Table 1's sizes include them.
    - ``kept`` (OVQA): if given, a question stays only if it contains one of these texts, whatever its answer, as in the
      authors' public code. We have not seen OVQA: which rule gives Table 2's sizes is not known.

    The authors' code also drops every other record with the number of a dropped question. Here that record stays and is
    listed (``number_of_a_dropped_question``), since nothing is wrong with it.
    """
    if yes_no(answer):
        return ""
    if kept is not None:
        return "" if any(text in question for text in kept) else NOT_LISTED
    if options_named(question) > 2:
        return MANY
    words = " ".join(answer.split()).rstrip(".").casefold()
    if not words:
        return ""  # the reader rejects it as empty
    named = re.search(rf"(?<!\w){re.escape(words)}(?!\w)", " ".join(question.split()).casefold())
    return "" if named else NOT_NAMED
