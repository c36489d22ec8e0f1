"""MedQ-Deg: 24,894 questions about medical images under 18 degradations at three levels (clean, mild, severe).

Two tables a part, one row a question: ``MedQ-Robust-good-*.tsv`` has the clean images, ``MedQ-Robust-simulate-*.tsv``
the authors' own degraded ones. Nobody has tried this reader on the real release: it was written against the columns
that public code reads, and tried on 19 real questions in that form.

The paper's names of capabilities (Table 4) and degradations (Table 5) are in ``taxonomy.yml``, what the source datasets
call the same capabilities in ``capability_names.yml``, spellings of the release in ``source.yml``.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from lmms_medtasks import folders
from lmms_medtasks.data.documents import LETTERS
from lmms_medtasks.data.release_counts import Expected
from lmms_medtasks.data.release_images import ImageCells
from lmms_medtasks.data.releases import Release
from lmms_medtasks.data.row_reader import RejectedRow, RowReader, Spellings, filled, need, require
from lmms_medtasks.data.sources import REVISION_NOT_KNOWN, DataSource, Split
from lmms_medtasks.data.tsv_records import Table
from lmms_medtasks.errors import UserError
from lmms_medtasks.pictures import stored
from lmms_medtasks.progress import bar

OPTION_COLUMNS = ("A", "B", "C", "D", "E")
REFERENCE_LENGTH = 64
"""An image cell of this many characters or fewer is no image but another row's index (the format's convention)."""

_KEY = ("question", "options", "answer", "modality", "source")  # what question_key takes

Cells = Mapping[str, str]


# --- Names of the paper -----------------------------------------------------------------------------------------------


def read_file(name: str) -> Mapping[str, Any]:
    """A YAML file of this folder."""
    content: Mapping[str, Any] = folders.read_yaml(Path(__file__).with_name(name))
    return content


@functools.cache
def _mid_rows() -> Mapping[str, Mapping[str, Any]]:
    """The entries of the mid-level capabilities in taxonomy.yml, by name."""
    return {mid["name"]: mid for high in read_file("taxonomy.yml")["capabilities"]["high"] for mid in high["mids"]}


@functools.cache
def mids() -> Mapping[str, str]:
    """The six mid-level capabilities, in the order of Table 2's columns, each with the head of its column."""
    return MappingProxyType({name: str(row["short"]) for name, row in _mid_rows().items()})


@functools.cache
def fines() -> Mapping[str, str]:
    """The thirty fine-grained capabilities, in the order of Table 4, each with its mid-level capability."""
    return MappingProxyType({fine["name"]: name for name, row in _mid_rows().items() for fine in row["fines"]})


@functools.cache
def categories() -> Mapping[str, str]:
    """The keys of the five categories of degradations, in the order of Table 5, each with its printed title."""
    rows = read_file("taxonomy.yml")["degradations"]["categories"]
    return MappingProxyType({key: str(row["title"]) for key, row in rows.items()})


def mid_of_name(name: str) -> str | None:
    """The mid-level capability that ``name`` stands for, or None where that is not known.

    ``name`` is one of Table 4 or of a source dataset; case, spaces and punctuation do not count.

    >>> mid_of_name("Organ Recognition - Thorax"), mid_of_name("Modality Recognition")
    ('Anatomical Recognition', None)
    """
    return _places().get(_folded(name))


@functools.cache
def _places() -> Mapping[str, str | None]:
    """Folded name -> mid-level capability, None where it has none. Table 4's names stand above all others."""
    table: dict[str, str | None] = {}
    for dataset in read_file("capability_names.yml")["datasets"].values():
        for name, row in dataset["names"].items():
            table[_folded(name)] = fines()[row["fine"]] if "fine" in row else row.get("mid")
    for mid, row in _mid_rows().items():
        table.update({_folded(name): mid for name in (mid, *row["called"])})
    table.update({_folded(fine): mid for fine, mid in fines().items()})
    return MappingProxyType(table)


def _folded(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


# --- Spellings of the release -----------------------------------------------------------------------------------------


def severity_level(text: str) -> int:
    """0, 1 or 2 for a spelling of a severity (``L1``, ``1``, ``mild`` ... in any case).

    Raises:
        UserError: any other text; the allowed ones are in the message.
    """
    for level, spellings in read_file("source.yml")["severity"].items():
        if text.strip().lower() in spellings:
            return int(level)
    allowed = [spelling for spellings in read_file("source.yml")["severity"].values() for spelling in spellings]
    raise UserError(f"Unknown severity {text!r}. Allowed, in any case: {', '.join(allowed)}.")


def degradation_name(text: str) -> str:
    """The paper's name of a degradation for a release's spelling of it; the empty text for a spelling of "none".

    Raises:
        UserError: no degradation is called so; the allowed names are in the message.
    """
    from lmms_medtasks.degradations import registry

    folded = text.strip().lower()
    if folded in read_file("source.yml")["no_degradation"]:
        return ""
    return registry.canonical_name(folded.replace(" ", "_").replace("-", "_"))


def modality_name(text: str) -> str:
    """One of the paper's seven modalities for a release's spelling of it; ``UserError`` for anything else."""
    from lmms_medtasks.degradations import registry

    return registry.canonical_modality(text.strip())


def question_key(question: str, options: list[str], answer: str, modality: str, source: str) -> str:
    """What the degraded forms of one clean question have in common: ``q-`` and 16 hexadecimal digits.

    The release does not say which clean image a degraded one was made from, and its bytes cannot tell. Texts are
    compared in lower case and with single spaces. Questions about different images that agree in all of this (some
    pools ask by template) share a key: clusters can be too large, never too small by a degraded form of the question.
    """
    folded = [" ".join(text.lower().split()) for text in (question, answer, modality, source, *options)]
    return "q-" + hashlib.sha256(json.dumps(folded).encode()).hexdigest()[:16]


# --- The reader -------------------------------------------------------------------------------------------------------


class MedQDegReader(RowReader):
    """Reads one table of the release. ``degraded`` says which of the two kinds it is."""

    def __init__(self, release: Release, split: Split) -> None:
        """Look the table through; ``UserError`` if columns or spellings are not as expected, or it has no rows."""
        self._degraded = split.name.startswith("release")
        self._file = split.files[0]
        self._images = ImageCells(release)
        self._table = Table(release.file(self._file))
        self._labels = ("degradation_type", "degradation_severity") if self._degraded else ()
        path, columns = self._table.path, self._table.columns
        wanted = ("image or image_path", "index", "question", "A", "B", "answer", "modality", "source", *self._labels)
        require(path.name, wanted, columns, "columns")
        spellings = Spellings({
            "modality": modality_name, "degradation_type": degradation_name, "degradation_severity": self._severity,
        })  # fmt: skip
        self._places: dict[str, int] = {}
        self.records = 0
        with bar(path.stat().st_size, f"{path.name}: looking through", "B") as progress:
            for place, record in self._table.placed(progress):
                self.records = record.number
                if index := self.read_name(record.cells or {}):
                    self._places.setdefault(index, place)
                spellings.look(record.number, record.cells or {})
        if not self.records:
            raise UserError(f"{path.name} has a header and no rows.")
        self._capability = next(
            (name for name in read_file("source.yml")["capability_columns"] if name in columns), None
        )
        self.notes = {"columns": list(columns), "capability_column": self._capability}
        spellings.check(path.name)

    def _severity(self, text: str) -> int:
        return 0 if not self._degraded and not text.strip() else severity_level(text)

    def read_rows(self) -> Iterator[tuple[int, Cells | RejectedRow]]:
        """The rows of the table, in memory one at a time."""
        for record in self._table.records():
            wrong = f"the row has {record.width} cells, the header has {len(self._table.columns)}"
            yield record.number, RejectedRow(wrong) if record.cells is None else record.cells

    def read_name(self, row: Cells) -> str:
        """The row's index."""
        return row.get("index", "").strip()

    def find_missing(self, row: Cells) -> list[str]:
        """The files that are not there, or the row that the image cell refers to."""
        cell = row.get("image", "").strip()
        if not cell:
            return self._images.missing([row.get("image_path")], self._file)
        try:
            self._followed(cell)
        except RejectedRow:
            return [cell]
        return []

    def make_document(self, row: Cells) -> dict[str, Any]:
        """The document of a row; RejectedRow with the reason why it is none."""
        for column in ("index", "question", "answer", "modality", *self._labels):
            need(row[column].strip(), f"{column} is empty")
        options = filled([row.get(column, "").strip() for column in OPTION_COLUMNS])
        answer, letters = row["answer"].strip().upper(), LETTERS[: len(options)]
        wrong = f"answer {row['answer'][:40]!r} is not among the options A to {letters[-1]}"
        need(len(answer) == 1 and answer in letters, wrong)
        severity = self._severity(row.get("degradation_severity", ""))
        degradation = degradation_name(row.get("degradation_type", ""))
        if self._degraded:
            had = f"severity {severity} and degradation {degradation!r}"
            need(severity and degradation, f"the row has {had}, but stands among the degraded ones")
        else:
            need(not severity, f"the row has severity {severity}, but stands among the clean ones")
        cell = row.get("image", "").strip()
        images = self._images.images([self._followed(cell) if cell else row.get("image_path")], self._file)
        need(images, "there is no image")
        found = {
            "id": self.read_name(row),
            **stored(images),
            "question": row["question"].strip(),
            "options": options,
            "answer": answer,
            "modality": modality_name(row["modality"]),
            "degradation": degradation if severity else "",
            "severity": severity,
            "capability": row[self._capability].strip() if self._capability else "",
            "source": row["source"].strip(),
        }
        if self._degraded:
            found["image_id"] = question_key(*(found[name] for name in _KEY))
        return found

    def _followed(self, cell: str) -> str:
        """The image cell that ``cell`` stands for: itself, or that of the row whose index it is."""
        seen: list[str] = []
        while len(cell) <= REFERENCE_LENGTH:
            need(cell in self._places, f"image {cell!r} is neither an image nor the index of a row")
            need(cell not in seen, f"image refers to itself by way of the rows {', '.join(map(repr, seen))}")
            seen.append(cell)
            other = self._table.record_at(self._places[cell]).cells or {}
            cell = other.get("image", "").strip()
            need(cell, f"image refers to row {seen[-1]!r}, which has none")
        return cell


MEDQ_DEG = DataSource(
    name="medq_deg",
    title="MedQ-Deg",
    splits=(
        Split("clean", ("MedQ-Robust-good-test.tsv",), "clean questions (L0), test part"),
        Split("release", ("MedQ-Robust-simulate-test.tsv",), "the authors' own degraded images (L1, L2), test part"),
        Split("clean_dev", ("MedQ-Robust-good-dev.tsv",), "clean questions (L0), dev part", default=False),
        Split("release_dev", ("MedQ-Robust-simulate-dev.tsv",), "degraded images (L1, L2), dev part", default=False),
        Split("train", ("MedQ-Robust-good-dev.tsv",), "answered questions for medtasks_most_frequent", default=False),
    ),
    tags={
        **dict.fromkeys(("modality", "degradation", "severity", "capability", "source"), "text"),
        "severity": "integer",
    },
    hub_repository="jiyaoliufd/MedQ-DEG-Bench",
    revision="main",
    licence="not stated in what we have seen; see the dataset page",
    terms="not stated in what we have seen; see the dataset page, and the pages of OmniMedVQA, GMAI-MMBench and "
    "MedXpertQA, which the questions come from",
    paper={"question-answer pairs": 24_894, "clean images": 4_306},
    # The paper has the sums over test and dev part. Its Table 6 is over about half of them (reference/README.md): every
    # accuracy at L0 is a multiple of 1/2,153, every one at L1 and L2 of 1/5,098 or of 1/4,902.
    expected=(
        *(Expected((split,), 4_306 // 2) for split in ("clean", "clean_dev", "train")),
        *(Expected(("release",), 2 * level) for level in (5_098, 4_902)),
        Expected(("clean", "clean_dev"), 4_306),
        Expected(("clean", "train"), 4_306),
        Expected(("release", "release_dev"), 24_894 - 4_306),
    ),
    open_split=MedQDegReader,
    preview="clean",
    notes=(
        "The paper counts questions over all levels and both parts; the numbers by which a single table is known to be "
        "whole are worked out from its Table 6.",
        REVISION_NOT_KNOWN,
    ),
    strata=("modality", "source", "capability"),
)

SOURCES = (MEDQ_DEG,)
