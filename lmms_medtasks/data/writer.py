"""Documents in, a parquet file and a list of rejected records out, in bounded memory."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmms_medtasks.data import documents
from lmms_medtasks.data.documents import Data, RowsDigest
from lmms_medtasks.data.image_bytes import image_problem
from lmms_medtasks.data.sources import Candidate, DataSource

if TYPE_CHECKING:
    import pyarrow.parquet as pq

GROUP_BYTES = 32 * 1024 * 1024
GROUP_ROWS = 500
"""A row group is written when it has this many bytes of images or this many rows, whichever comes first."""


@dataclass
class Written:
    """What came out of a split: rows, their digest, how many image_ids they have, and what was rejected and why."""

    rows: int = 0
    digest: str = ""
    image_ids: set[str] = field(default_factory=set)
    rejected: list[dict[str, Any]] = field(default_factory=list)


def write_documents(candidates: Iterable[Candidate], path: Path, suite: DataSource, data: Data) -> Written:
    """Write the documents among ``candidates`` to ``path`` as parquet, in order; what is none is returned as rejected.

    Nobody should read the file before this returns; an ``OSError`` of writing passes through.
    """
    import pyarrow.parquet as pq

    schema = documents.schema(suite.tags)
    # Images do not compress, and a dictionary or statistics of them would only be copies.
    texts = [name for name in schema.names if name not in ("image", "images")]
    written, digest, ids = Written(), RowsDigest(), set[str]()
    with path.open("wb") as handle:
        with pq.ParquetWriter(handle, schema, compression="none", use_dictionary=texts, write_statistics=texts) as out:
            group = _Group(out)
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
    """Fill in ``data``; why the document cannot be taken, or None."""
    document["data"] = data
    reason = documents.problem(document, suite.tags, images_optional=suite.images_optional)
    if reason is not None:
        return reason
    if document["id"] in ids:
        return f"id {document['id']!r} was there before"
    # The reader looks at files that stay where they are, once a file.
    stored = [image for image in documents.images_of(document) if not documents.is_reference(image)]
    problems = (image_problem(image["bytes"]) for image in stored)
    return next((reason for reason in problems if reason is not None), None)


class _Group:
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
