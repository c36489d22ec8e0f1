"""What the readers of SURE-VQA's three data sets share: a JSON list of questions beside a folder of images, and the
paper's cleaning of closed questions.

SLAKE's was tried on the published annotation files, not on its images; those of OVQA and MIMIC-CXR-VQA were written
against the fields that the authors' public code reads and tried on nothing real.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lmms_medtasks.data import json_lists
from lmms_medtasks.data.documents import CHOICES_SEPARATOR as SEPARATOR
from lmms_medtasks.data.image_files import Pictures
from lmms_medtasks.data.releases import MissingFileError
from lmms_medtasks.data.sources import Candidate, RejectedRow, counted
from lmms_medtasks.errors import UserError
from lmms_medtasks.progress import say

Row = Mapping[str, Any]

TAGS: Mapping[str, str] = {"split": "text", "answer_type": "text", "choices": "text"}
"""Tags of all three: ``split`` (train, validate, test); ``answer_type`` (open, closed, multilabel); ``choices``, the
answers that a closed question allows as "yes | no", empty where the release does not say."""

YES_NO = ("yes", "no")


@dataclass(frozen=True)
class Form:
    """How the records of a data set look.

    ``fields`` must be in every record, by one of several names each. ``vocabulary``: field -> what it may be, in lower
    case. ``left_out`` says why a record is no part of the benchmark, "" if it is one; so does ``cleaned``, for records
    that are to be listed by number. ``document`` gives the document's fields without its image and ``data``; ``image``
    the name of its image.
    """

    fields: tuple[tuple[str, ...], ...]
    vocabulary: Mapping[str, tuple[str, ...]]
    document: Callable[[Row, str], dict[str, Any]]
    image: Callable[[Row], str]
    left_out: Callable[[Row], str] = lambda row: ""
    cleaned: Callable[[Row], str] = lambda row: ""
    notes: Mapping[str, Any] = field(default_factory=dict)


class SureReader:
    """Reads one split. ``rows`` gives its documents without looking at an image.

    ``notes`` has ``left_out`` (reason -> how many records) and, where the paper's cleaning drops any, ``cleaned``
    (reason -> the numbers of the questions) and ``number_of_a_dropped_question``: numbers that a record which stays
    shares with one that is dropped.
    """

    def __init__(self, path: Path, split: str, form: Form, pictures: Pictures | None) -> None:
        """Look the file through; ``UserError`` if fields or answer types are not as expected, or nothing is left."""
        self._path, self._split, self._form, self._pictures = path, split, form, pictures
        left_out, cleaned, shared = self._look_through()
        by_number = {"cleaned": cleaned, "number_of_a_dropped_question": shared} if cleaned else {}
        self.notes: Mapping[str, Any] = {**form.notes, "left_out": dict(left_out), **by_number}
        if not self.records:
            found = ", ".join(f"{reason}: {count:,}" for reason, count in left_out.items()) or "it is empty"
            raise UserError(f"{path.name} has no record of this benchmark. {found}.")

    def _look_through(self) -> tuple[Counter[str], dict[str, list[str]], list[str]]:
        left_out: Counter[str] = Counter()
        cleaned: dict[str, list[str]] = {}
        kept: list[str] = []
        unknown: dict[tuple[str, str], list[int]] = {}
        self.records = 0
        for number, row in enumerate(json_lists.records(self._path), start=1):
            self._check_fields(row, number)
            reason = self._form.left_out(row)
            if not reason and (reason := self._form.cleaned(row)):
                cleaned.setdefault(reason, []).append(number_of(row))
            if reason:
                left_out[reason] += 1
                continue
            self.records += 1
            kept.append(number_of(row))
            for name, allowed in self._form.vocabulary.items():
                if str(row[name]).strip().lower() not in allowed:
                    unknown.setdefault((name, str(row[name])), []).append(number)
        if unknown:
            raise UserError(self._unknown(unknown))
        dropped_numbers = {number for numbers in cleaned.values() for number in numbers}
        return left_out, cleaned, [number for number in kept if number in dropped_numbers]

    def _check_fields(self, row: Any, number: int) -> None:
        if not isinstance(row, dict):
            raise UserError(
                f"{self._path.name}, record {number} is {type(row).__name__}, expected an object with fields."
            )
        missing = [" or ".join(names) for names in self._form.fields if not any(name in row for name in names)]
        if missing:
            wanted = ", ".join(" or ".join(names) for names in self._form.fields)
            raise UserError(
                f"{self._path.name}, record {number} lacks required fields: is it of another release, or "
                f"one without answers? Missing: {', '.join(missing)}. Required: {wanted}. Found: {', '.join(row)}."
            )

    def _unknown(self, found: Mapping[tuple[str, str], list[int]]) -> str:
        lines = [
            f"{name} {value[:40]!r}, {counted(len(numbers), 'record')}, first record {numbers[0]}. "
            f"Allowed, in any case: {', '.join(self._form.vocabulary[name])}."
            for (name, value), numbers in found.items()
        ]
        return (
            f"{self._path.name} has values that are not known; nothing was prepared from it. If the release really "
            "has them, please report it.\n  " + "\n  ".join(lines)
        )

    def rows(self) -> Iterator[tuple[int, Row, dict[str, Any] | RejectedRow]]:
        """Number, record, and the document without its image (or why it is none) of each record of the benchmark.

        A document may have no question or answer yet (:func:`empty`): it counts in the paper's sizes.
        """
        for number, row in enumerate(json_lists.records(self._path), start=1):
            if self._form.left_out(row) or self._form.cleaned(row):
                continue
            try:
                yield number, row, self._form.document(row, self._split)
            except RejectedRow as reason:
                yield number, row, reason

    def candidates(self) -> Iterator[Candidate]:
        """Every record of the benchmark as a document without its ``data`` field, or with the reason why it is none.

        What is left out is said first.
        """
        for line in left_out_lines(self.notes):
            say(f"{self._path.name}: {line}")
        for number, row, document in self.rows():
            name = number_of(row)
            reason = str(document) if isinstance(document, RejectedRow) else empty(document)
            if reason or isinstance(document, RejectedRow):
                yield Candidate(number, name, reason=reason)
                continue
            try:
                yield Candidate(number, name, {**document, **self._image(row)})
            except RejectedRow as reason:
                yield Candidate(number, name, reason=str(reason))

    def missing_images(self) -> Iterator[tuple[str, ...]]:
        """For each question whose image is not there: its name. A number that comes again is no other question."""
        known: set[str] = set()
        for _, row, document in self.rows():
            if isinstance(document, RejectedRow) or empty(document) or document["id"] in known:
                continue
            known.add(document["id"])
            if not self._has_image(row):
                yield (self.image_name(row),)

    def image_name(self, row: Row) -> str:
        """The name of a record's image in the release, which no other image has."""
        return self._form.image(row)

    def _has_image(self, row: Row) -> bool:
        """Whether the file of a record's image is there; it is not read."""
        try:
            return self._pictures is not None and self._pictures.has(self._form.image(row))
        except MissingFileError:  # a name that leaves the folder
            return False

    def _image(self, row: Row) -> dict[str, Any]:
        if self._pictures is None:
            raise RejectedRow("there are no images")
        image, name = self._pictures.of(self._form.image(row))
        return {"image": image, "images": [], "image_id": name}


def number_of(row: Row) -> str:
    """What the release calls a question."""
    return str(row.get("qid", row.get("idx", "")))


def empty(document: Mapping[str, Any]) -> str:
    """Why a document without its image can't be used although its fields are right; "" if it can."""
    return next((f"{name} is empty" for name in ("question", "answer") if not document[name]), "")


def listed(numbers: Sequence[str], most: int = 60) -> str:
    """Numbers of questions for a message; the manifest has all of them."""
    return ", ".join(numbers[:most]) + (f" and {len(numbers) - most:,} more" if len(numbers) > most else "")


def left_out_lines(notes: Mapping[str, Any]) -> Iterator[str]:
    """What a reader's ``notes`` say of records that are left out: a line for each reason, with numbers where kept."""
    cleaned: Mapping[str, Sequence[str]] = notes.get("cleaned") or {}
    for reason, count in notes["left_out"].items():
        numbers = f": questions {listed(cleaned[reason])}" if reason in cleaned else ""
        yield f"{counted(count, 'record')} left out, {reason}{numbers}"


def text(row: Row, *names: str) -> str:
    """The first of the fields that the record has, as text; "" for null."""
    value = next((row[name] for name in names if name in row), None)
    if isinstance(value, dict | list):
        raise RejectedRow(f"{names[0]} is no text")
    return "" if value is None else str(value).strip()


def document(
    number: str, split: str, question: str, answer: str, answer_type: str, choices: tuple[str, ...]
) -> dict[str, Any]:
    """The fields that the documents of all three data sets have; ``number`` is the question's number in its split."""
    return {
        "id": f"{split}/{number}",
        "question": question,
        "options": [],
        "answer": answer,
        "data": "",
        "split": split,
        "answer_type": answer_type,
        "choices": SEPARATOR.join(choices),
    }


def yes_no(answer: str) -> tuple[str, ...]:
    """The choices of a closed question by its answer: yes and no, or none that we know."""
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
    asking = [place for place, part in enumerate(parts) if _ASKS.search(part) or _VERB_FIRST.match(part)]
    first = asking[-1] if asking else 0
    # "Which is bigger, A or B": the options start after the comma. "Is this A or B": the first one ends the part.
    if first < len(separators) and separators[first] == "," and _ASKS.search(parts[first]):
        first += 1
    return len(parts) - first


def dropped(question: str, answer: str, kept: Sequence[str] | None = None) -> str:
    """Why the cleaning leaves a *closed* question out; "" for one that stays.

    A question that is answered by yes or no stays. Of the others the paper's sentence above drops
    those that name more than two options, and those whose answer is not in the question. We differ in two things:

    - "exactly contained" is read as the answer's words in a row, in any case. Most of SLAKE's answers differ from the
      question in case alone ("Lung" of "heart or lung"), and Table 1's sizes have them.
    - ``kept`` (OVQA): where it is given, a question stays only if it contains one of these texts, whatever its answer.
      That is how the authors' public code cleans OVQA. We have not seen OVQA: which of the two gives Table 2's sizes is
      not known.

    It judges a record by itself. The authors' code drops by number: of a question that goes, every record of the file
    with its number. Where numbers are unique the two are one; where one comes twice, nothing is wrong with the other
    record, so it stays (and is listed, ``number_of_a_dropped_question``).
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
    found = re.search(rf"(?<!\w){re.escape(words)}(?!\w)", " ".join(question.split()).casefold())
    return "" if found else NOT_NAMED
