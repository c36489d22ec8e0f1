"""Reads MedQ-Deg's tables: two a part, one row a question.

``MedQ-Robust-good-*.tsv`` has the clean images, ``MedQ-Robust-simulate-*.tsv`` the authors' own degraded ones. This
reader was not tried on the real release: it was written against the columns that public code reads, and tried on 19
real questions in that form. Spellings of the release are in ``source.yml``.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from lmms_medtasks.data.documents import LETTERS
from lmms_medtasks.data.release_images import ImageCells
from lmms_medtasks.data.releases import Release
from lmms_medtasks.data.row_reader import RejectedRow, RowReader, Spellings, check_fields, filled_options, reject_unless
from lmms_medtasks.data.sources import SourceSplit
from lmms_medtasks.data.tsv_records import TsvTable
from lmms_medtasks.degradations import registry
from lmms_medtasks.errors import UserError
from lmms_medtasks.pictures import stored_images
from lmms_medtasks.progress import progress_bar
from lmms_medtasks.task_configs.medq_deg.source import KEY_FIELDS, question_key, read_file

OPTION_COLUMNS = ("A", "B", "C", "D", "E")
REFERENCE_LENGTH = 64
"""An image cell of at most this many characters is another row's index (the format's convention)."""

Cells = Mapping[str, str]


def severity_level(text: str) -> int:
    """0, 1 or 2 for a spelling of a severity (``L1``, ``1``, ``mild`` ... in any case); UserError for other texts."""
    levels = read_file("source.yml")["severity"]
    for level, spellings in levels.items():
        if text.strip().lower() in spellings:
            return int(level)
    allowed = [spelling for spellings in levels.values() for spelling in spellings]
    raise UserError(f"Unknown severity {text!r}. Allowed, in any case: {', '.join(allowed)}.")


def degradation_name(text: str) -> str:
    """The paper's name of a degradation for a release's spelling, "" for a spelling of "none"; UserError for others."""
    folded = text.strip().lower()
    if folded in read_file("source.yml")["no_degradation"]:
        return ""
    return registry.canonical_name(folded.replace(" ", "_").replace("-", "_"))


@functools.cache
def _is_known_type(text: str) -> bool:
    try:
        degradation_name(text)
    except UserError:
        return False
    return True


def modality_name(text: str) -> str:
    """One of the paper's seven modalities for a release's spelling of it; UserError for any other text."""
    return registry.canonical_modality(text.strip())


class MedQDegReader(RowReader):
    """Reads one table of the release, of clean or of degraded images."""

    def __init__(self, release: Release, split: SourceSplit) -> None:
        """Read the table; ``UserError`` if columns or spellings are not as expected, or it has no rows."""
        self._degraded, self._apart = split.name.startswith("release"), bool(split.apart_from)
        self._file = split.files[0]
        self._images = ImageCells(release)
        self._table = TsvTable(release.file(self._file))
        self._labels = ("degradation_type", "degradation_severity") if self._degraded else ()
        path, columns = self._table.path, self._table.columns
        wanted = ("image or image_path", "index", "question", "A", "B", "answer", "modality", "source", *self._labels)
        check_fields(path.name, wanted, columns, "columns")
        types = Spellings({"degradation_type": degradation_name})
        spellings = Spellings({"modality": modality_name, "degradation_severity": self._severity})
        self._places: dict[str, int] = {}
        others = Counter[str]()
        rows = 0
        with progress_bar(path.stat().st_size, f"{path.name}: looking through", "B") as progress:
            for place, record in self._table.placed(progress):
                rows = record.number
                others[self._other_type(record.cells or {})] += 1
                if index := self.read_name(record.cells or {}):
                    self._places.setdefault(index, place)
                for looking in (types, spellings):
                    looking.look(record.number, record.cells or {})
        if not rows:
            raise UserError(f"{path.name} has a header and no rows.")
        capability_columns = read_file("source.yml")["capability_columns"]
        self._capability = next((name for name in capability_columns if name in columns), None)
        self.notes = {"columns": list(columns), "capability_column": self._capability}
        spellings.check(path.name)
        known = others.pop("", 0)
        if not (self._degraded and known):
            types.check(path.name)
        if self._apart and not others:
            raise UserError(f"{path.name} has no degradation of a type that the paper does not have.")
        self.records = rows - known if self._apart else known
        self.apart = {} if self._apart else dict(others.most_common())
        self.known_groups = registry.known_names()

    def _other_type(self, row: Cells) -> str:
        """The type of a degraded row, in lower case, if the paper does not have it; else "" """
        text = row.get("degradation_type", "").strip().lower() if self._degraded else ""
        return text if text and not _is_known_type(text) else ""

    def _severity(self, text: str) -> int:
        return 0 if not self._degraded and not text.strip() else severity_level(text)

    def read_rows(self) -> Iterator[tuple[int, Cells | RejectedRow]]:
        """The rows of the table that are of the split, in memory one at a time."""
        for record in self._table.records():
            if bool(self._other_type(record.cells or {})) != self._apart:
                continue
            wrong = f"the row has {record.width} cells, the header has {len(self._table.columns)}"
            yield record.number, RejectedRow(wrong) if record.cells is None else record.cells

    def read_name(self, row: Cells) -> str:
        return row.get("index", "").strip()

    def find_missing(self, row: Cells) -> list[str]:
        """The missing image files, or the missing row that the image cell refers to."""
        cell = row.get("image", "").strip()
        if not cell:
            return self._images.missing([row.get("image_path")], self._file)
        try:
            self._followed(cell)
        except RejectedRow:
            return [cell]
        return []

    def make_document(self, row: Cells) -> dict[str, Any]:
        for column in ("index", "question", "answer", "modality", *self._labels):
            reject_unless(row[column].strip(), f"{column} is empty")
        options = filled_options([row.get(column, "").strip() for column in OPTION_COLUMNS])
        answer, letters = row["answer"].strip().upper(), LETTERS[: len(options)]
        wrong = f"answer {row['answer'][:40]!r} is not among the options A to {letters[-1]}"
        reject_unless(len(answer) == 1 and answer in letters, wrong)
        severity = self._severity(row.get("degradation_severity", ""))
        degradation = self._other_type(row) or degradation_name(row.get("degradation_type", ""))
        if self._degraded:
            values = f"severity {severity} and degradation {degradation!r}"
            reject_unless(severity and degradation, f"the row has {values}, but stands among the degraded ones")
        else:
            reject_unless(not severity, f"the row has severity {severity}, but stands among the clean ones")
        cell = row.get("image", "").strip()
        images = self._images.images([self._followed(cell) if cell else row.get("image_path")], self._file)
        reject_unless(images, "there is no image")
        document = {
            "id": self.read_name(row),
            **stored_images(images),
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
            document["image_id"] = question_key(*(document[name] for name in KEY_FIELDS))
        return document

    def _followed(self, cell: str) -> str:
        """The image cell that ``cell`` refers to: itself, or that of the row with this index."""
        seen: list[str] = []
        while len(cell) <= REFERENCE_LENGTH:
            reject_unless(cell in self._places, f"image {cell!r} is neither an image nor the index of a row")
            reject_unless(cell not in seen, f"image refers to itself by way of the rows {', '.join(map(repr, seen))}")
            seen.append(cell)
            other = self._table.record_at(self._places[cell]).cells or {}
            cell = other.get("image", "").strip()
            reject_unless(cell, f"image refers to row {seen[-1]!r}, which has none")
        return cell
