"""How a written split comes into being: file, list of rejected rows, and the manifest last."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmms_medtasks import writing
from lmms_medtasks.data import documents, store
from lmms_medtasks.data.documents import DATA, Data, RowsDigest
from lmms_medtasks.data.row_reader import CandidateDocument
from lmms_medtasks.data.sources import DataSource
from lmms_medtasks.data.store import PreparedSplit, file_sha256
from lmms_medtasks.pictures import image_problem

if TYPE_CHECKING:
    import pyarrow.parquet as pq

GROUP_BYTES = 32 * 1024 * 1024
GROUP_ROWS = 500
"""A row group is written when it has this many bytes of images or this many rows, whichever comes first."""


def remove_leftovers(suite: str) -> None:
    """Remove what killed processes left behind; only under the suite's lock."""
    for data in DATA:
        for part in store.prepared_data_folder(suite, data).glob("*.part"):
            part.unlink(missing_ok=True)


@contextmanager
def part_file(folder: Path, split: str) -> Iterator[Path]:
    """The path to write a split to; removed at the end unless it was committed."""
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{split}.parquet.part"
    try:
        yield part
    finally:
        part.unlink(missing_ok=True)


def commit_split(
    part: Path,
    split: str,
    written: WrittenSplit,
    header: Mapping[str, Any],
    entries: Mapping[str, PreparedSplit],
    described: Mapping[str, Any],
) -> None:
    """Put a written split in its place.

    ``header``: the manifest's, ``entries``: its splits so far. ``described``: source, notes and counts of the
    new entry. Killed at any point, either the manifest does not name the split, or all of it is there.
    """
    path = part.with_name(f"{split}.parquet")
    others = {name: entry for name, entry in entries.items() if name != split}
    digest = file_sha256(part)
    if split in entries:
        store.write_manifest(header, others)
    os.replace(part, path)
    try:
        _write_rejected(path.with_name(store.REJECTED), split, others, written)
        status = path.stat()
        entry = PreparedSplit(
            file=path.name,
            rows=written.rows,
            rejected=len(written.rejected),
            images=len(written.image_ids),
            digest=written.digest,
            sha256=digest,
            bytes=status.st_size,
            mtime_ns=status.st_mtime_ns,
            ctime_ns=status.st_ctime_ns,
            created=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            **described,
        )
        store.write_manifest(header, {**others, split: entry})
    except BaseException:
        path.unlink(missing_ok=True)  # without a manifest it would only take room
        raise


def remove_split(suite: str, data: Data, split: str) -> None:
    """Remove a prepared split, its entry in the manifest first."""
    header = {name: value for name, value in store.read_manifest(suite, data).items() if name != "splits"}
    entries = store.read_prepared_splits(suite, data)
    entry = entries.pop(split)
    store.write_manifest(header, entries)
    (store.prepared_data_folder(suite, data) / entry.file).unlink(missing_ok=True)


def _write_rejected(path: Path, split: str, others: Mapping[str, PreparedSplit], written: WrittenSplit) -> None:
    other_lines = [line for line in store.read_rejected(path) if line["split"] in others]
    lines = other_lines + [{"split": split, **record} for record in written.rejected]
    writing.write_text_atomically(path, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))


@dataclass
class WrittenSplit:
    """A split's rows, their digest, their distinct image_ids, and what was rejected and why."""

    rows: int = 0
    digest: str = ""
    image_ids: set[str] = field(default_factory=set)
    rejected: list[dict[str, Any]] = field(default_factory=list)


def write_documents(candidates: Iterable[CandidateDocument], path: Path, suite: DataSource, data: Data) -> WrittenSplit:
    """Write the documents among ``candidates`` as parquet; the others are returned as rejected. Raises OSError."""
    import pyarrow.parquet as pq

    schema = documents.document_schema(suite.tags)
    # Images do not compress, and a dictionary or statistics of them would only be copies.
    texts = [name for name in schema.names if name not in ("image", "images")]
    written, digest, ids = WrittenSplit(), RowsDigest(), set[str]()
    with path.open("wb") as handle:
        with pq.ParquetWriter(handle, schema, compression="none", use_dictionary=texts, write_statistics=texts) as out:
            group = _RowGroup(out)
            for candidate in candidates:
                document = candidate.document
                reason = candidate.reason if document is None else _reason_against(document, data, suite, ids)
                if document is None or reason is not None:
                    written.rejected.append({"row": candidate.number, "id": candidate.id, "reason": reason})
                    continue
                ids.add(document["id"])
                written.rows += 1
                written.image_ids.add(document["image_id"])
                digest.update(document)
                group.add(document)
            group.flush()
        handle.flush()
        os.fsync(handle.fileno())
    written.digest = digest.hexdigest()
    return written


def _reason_against(document: dict[str, Any], data: Data, suite: DataSource, ids: set[str]) -> str | None:
    """Fill in ``data``; why the document is rejected, or None."""
    document["data"] = data
    reason = documents.document_problem(document, suite.tags, images_optional=suite.images_optional)
    if reason is not None:
        return reason
    if document["id"] in ids:
        return f"id {document['id']!r} was there before"
    # The reader looks at files that stay where they are, once a file.
    stored = [image for image in documents.images_of(document) if not documents.is_reference(image)]
    problems = (image_problem(image["bytes"]) for image in stored)
    return next((f"image {problem}" for problem in problems if problem), None)


class _RowGroup:
    """Documents on their way into the next row group."""

    def __init__(self, out: pq.ParquetWriter) -> None:
        self._out, self._documents, self._bytes = out, list[dict[str, Any]](), 0

    def add(self, document: dict[str, Any]) -> None:
        self._documents.append(document)
        self._bytes += sum(len(image["bytes"] or b"") for image in documents.images_of(document))
        if self._bytes >= GROUP_BYTES or len(self._documents) >= GROUP_ROWS:
            self.flush()

    def flush(self) -> None:
        import pyarrow as pa

        if self._documents:
            self._out.write_table(pa.Table.from_pylist(self._documents, self._out.schema))
        self._documents, self._bytes = [], 0
