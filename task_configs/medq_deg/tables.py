"""MedQ-Deg's tables, one row a question: what their columns hold, as documents and images."""

from __future__ import annotations

import ast
import base64
import binascii
import functools
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from lmms_medtasks.data.documents import LETTERS
from lmms_medtasks.data.image_bytes import image_id
from lmms_medtasks.data.release_options import filled
from lmms_medtasks.data.releases import MissingFileError, Release
from lmms_medtasks.data.sources import Candidate, RejectedRow, Split
from lmms_medtasks.data.tsv_records import REFERENCE_LENGTH, Record, Spelling, Table
from lmms_medtasks.errors import UserError
from lmms_medtasks.progress import bar

OPTION_COLUMNS = ("A", "B", "C", "D", "E")


@functools.cache
def _spellings() -> dict[str, Any]:
    table: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("source.yml").read_text(encoding="utf-8"))
    return table


def severity_level(text: str) -> int:
    """0, 1 or 2 for a spelling of a severity (``L1``, ``1``, ``mild`` ... in any case).

    Raises:
        UserError: any other text; the allowed ones are in the message.
    """
    for level, spellings in _spellings()["severity"].items():
        if text.strip().lower() in spellings:
            return int(level)
    allowed = [spelling for spellings in _spellings()["severity"].values() for spelling in spellings]
    raise UserError(f"Unknown severity {text!r}. Allowed, in any case: {', '.join(allowed)}.")


def degradation_name(text: str) -> str:
    """The paper's name of a degradation for a release's spelling of it; the empty text for a spelling of "none".

    Raises:
        UserError: no degradation is called so; the allowed names are in the message.
    """
    from lmms_medtasks.degradations import registry

    folded = text.strip().lower()
    if folded in _spellings()["no_degradation"]:
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


class MedQDegReader:
    """Reads one table of the release. ``degraded`` says which of the two kinds it is."""

    def __init__(self, release: Release, split: Split) -> None:
        """Look the table through; ``UserError`` if columns or spellings are not as expected, or it has no rows."""
        self._release = release
        self._degraded = split.name.startswith("release")
        self._table = Table(release.file(split.files[0]))
        labels = ("degradation_type", "degradation_severity")
        plain = ("index", "question", "A", "B", "answer", "modality", "source", *(labels if self._degraded else ()))
        self._table.require([("image", "image_path"), *((name,) for name in plain)])
        with bar(self._table.path.stat().st_size, f"{self._table.path.name}: looking through", "B") as progress:
            scan = self._table.scan("index", ["modality", *labels], progress)
        if not scan.records:
            raise UserError(f"{self._table.path.name} has a header and no rows.")
        self.records = scan.records
        self._offsets = scan.offsets
        self._capability = next((c for c in _spellings()["capability_columns"] if c in self._table.columns), None)
        self.notes: Mapping[str, Any] = {"columns": list(scan.columns), "capability_column": self._capability}
        self._check_spellings(scan.spellings)

    def _check_spellings(self, found: Mapping[str, Mapping[str, Spelling]]) -> None:
        """``UserError`` that names every modality, degradation and severity that is none, and where it is."""
        readers: dict[str, Callable[[str], object]] = {
            "modality": modality_name,
            "degradation_type": degradation_name,
            "degradation_severity": self._severity,
        }
        wrong = []
        for column, reader in readers.items():
            for text, spelling in found[column].items():
                if not text.strip():
                    continue  # a bad row perhaps, but no vocabulary of its own
                try:
                    reader(text)
                except UserError as error:
                    wrong.append(f"{column}, {spelling.count} rows, first in row {spelling.first}: {error}")
        if wrong:
            raise UserError(
                f"{self._table.path.name} has spellings that are not known; nothing was prepared from it. "
                "If the release really spells them so, please report it.\n  " + "\n  ".join(wrong)
            )

    def _severity(self, text: str) -> int:
        return 0 if not self._degraded and not text.strip() else severity_level(text)

    def missing_images(self) -> Iterator[tuple[str, ...]]:
        """For each question with images that are not there: the files, or the row that its image cell refers to."""
        for record in self._table.records():
            if record.cells is not None and (missing := self._not_there(record.cells)):
                yield missing

    def _not_there(self, cells: Mapping[str, str]) -> tuple[str, ...]:
        cell, paths = cells.get("image", "").strip(), cells.get("image_path", "").strip()
        if cell:
            try:
                self._followed(cell)
            except RejectedRow:
                return (cell,)
            return ()
        try:
            return tuple(path for path in _listed(paths, "image_path") if not self._has(path)) if paths else ()
        except RejectedRow:  # no list of paths
            return ()

    def _has(self, name: str) -> bool:
        try:
            return self._release.has(name)
        except MissingFileError:  # a path that leaves the folder
            return False

    def candidates(self) -> Iterator[Candidate]:
        """Every row of the table as a document without its ``data`` field, or with the reason why it is none."""
        for record in self._table.records():
            index = (record.cells or {}).get("index", "").strip()
            try:
                yield Candidate(record.number, index, self._document(record))
            except RejectedRow as reason:
                yield Candidate(record.number, index, reason=str(reason))

    def _document(self, record: Record) -> dict[str, Any]:
        cells = record.cells
        if cells is None:
            raise RejectedRow(f"the row has {record.width} cells, the header has {len(self._table.columns)}")
        labels = ("degradation_type", "degradation_severity") if self._degraded else ()
        for column in ("index", "question", "answer", "modality", *labels):
            if not cells[column].strip():
                raise RejectedRow(f"{column} is empty")
        options = filled([cells.get(column, "").strip() for column in OPTION_COLUMNS])
        answer = cells["answer"].strip().upper()
        if len(answer) != 1 or answer not in LETTERS[: len(options)]:
            last = LETTERS[len(options) - 1]
            raise RejectedRow(f"answer {cells['answer'][:40]!r} is not among the options A to {last}")
        severity = self._severity(cells.get("degradation_severity", ""))
        degradation = degradation_name(cells.get("degradation_type", ""))
        if self._degraded and (not severity or not degradation):
            raise RejectedRow(
                f"the row has severity {severity} and degradation {degradation!r}, but stands among the degraded ones"
            )
        if not self._degraded and severity:
            raise RejectedRow(f"the row has severity {severity}, but stands among the clean ones")
        images = self._images(cells)
        modality, source = modality_name(cells["modality"]), cells["source"].strip()
        question = cells["question"].strip()
        key = question_key(question, options, answer, modality, source) if self._degraded else image_id(images)
        stored = [{"bytes": data, "path": None} for data in images]
        return {
            "id": cells["index"].strip(),
            "image": stored[0] if len(stored) == 1 else None,
            "images": stored if len(stored) > 1 else [],
            "question": question,
            "options": options,
            "answer": answer,
            "image_id": key,
            "data": "",
            "modality": modality,
            "degradation": degradation if severity else "",
            "severity": severity,
            "capability": cells[self._capability].strip() if self._capability else "",
            "source": source,
        }

    def _images(self, cells: Mapping[str, str]) -> list[bytes]:
        """The bytes of a row's images, its own, those of the row it refers to, or those in files of the release."""
        cell = cells.get("image", "").strip()
        if cell:
            return [_decoded(text) for text in _listed(self._followed(cell), "image")]
        paths = cells.get("image_path", "").strip()
        if not paths:
            raise RejectedRow("there is no image")
        return [self._from_file(path) for path in _listed(paths, "image_path")]

    def _followed(self, cell: str) -> str:
        """The image cell that ``cell`` stands for: itself, or that of the row whose index it is."""
        seen: list[str] = []
        while len(cell) <= REFERENCE_LENGTH:
            if cell not in self._offsets:
                raise RejectedRow(f"image {cell!r} is neither an image nor the index of a row")
            if cell in seen:
                raise RejectedRow(f"image refers to itself by way of the rows {', '.join(map(repr, seen))}")
            seen.append(cell)
            other = self._table.record_at(self._offsets[cell]).cells or {}
            cell = other.get("image", "").strip()
            if not cell:
                raise RejectedRow(f"image refers to row {seen[-1]!r}, which has none")
        return cell

    def _from_file(self, name: str) -> bytes:
        try:
            return self._release.file(name).read_bytes()
        except MissingFileError as error:
            raise RejectedRow(f"image_path: {error}") from error
        except OSError as error:
            raise RejectedRow(f"image_path {name!r} cannot be read: {error.strerror}") from error


def _listed(cell: str, column: str) -> list[str]:
    """The items of a cell that holds a list as JSON or Python writes it, or the cell itself as the only one."""
    if not cell.startswith("["):
        return [cell]
    try:
        items = json.loads(cell) if '"' in cell[:3] else ast.literal_eval(cell)
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise RejectedRow(f"{column} starts like a list and is none: {cell[:40]!r} ...") from error
    if not isinstance(items, list) or not items or not all(isinstance(item, str) and item for item in items):
        raise RejectedRow(f"{column} is not a list of texts: {cell[:40]!r} ...")
    return items


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise RejectedRow(f"image is not base64: {error}") from error
