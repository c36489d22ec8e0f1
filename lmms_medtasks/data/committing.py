"""How a split that was written becomes one that exists: file, list of rejected rows, and the manifest last."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from lmms_medtasks.data import store
from lmms_medtasks.data.documents import DATA, Data
from lmms_medtasks.data.store import Entry, checksum
from lmms_medtasks.data.writer import Written


def remove_leftovers(suite: str) -> None:
    """Remove what killed processes left behind; only for the process that holds the suite's lock."""
    for data in DATA:
        for part in store.folder(suite, data).glob("*.part"):
            part.unlink(missing_ok=True)


@contextmanager
def part_file(folder: Path, split: str) -> Iterator[Path]:
    """The path to write a split to; what is left there at the end is removed."""
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{split}.parquet.part"
    try:
        yield part
    finally:
        part.unlink(missing_ok=True)


def commit(
    suite: str,
    data: Data,
    split: str,
    part: Path,
    written: Written,
    source: Mapping[str, Any],
    notes: Mapping[str, Any],
    counts: str,
    header: Mapping[str, Any],
    kept: Mapping[str, Entry],
) -> None:
    """Put a written split in its place. ``kept`` are the entries of the manifest so far, ``counts`` is the entry's.

    Killed at any point, either the manifest does not name the split, or all of it is there.
    """
    folder = store.folder(suite, data)
    path = folder / f"{split}.parquet"
    others = {name: entry for name, entry in kept.items() if name != split}
    digest = checksum(part)
    if split in kept:
        store.write_manifest(suite, data, header, others)
    os.replace(part, path)
    try:
        _write_rejected(folder / store.REJECTED, split, others, written)
        entry = _entry(path, written, digest, source, notes, counts)
        store.write_manifest(suite, data, header, {**others, split: entry})
    except BaseException:
        path.unlink(missing_ok=True)  # without a manifest it would only take room
        raise


def remove(suite: str, data: Data, split: str) -> None:
    """Remove a prepared split, its entry in the manifest first."""
    header = {name: value for name, value in store.read_manifest(suite, data).items() if name != "splits"}
    kept = store.entries(suite, data)
    entry = kept.pop(split)
    store.write_manifest(suite, data, header, kept)
    (store.folder(suite, data) / entry.file).unlink(missing_ok=True)


def _entry(
    path: Path, written: Written, digest: str, source: Mapping[str, Any], notes: Mapping[str, Any], counts: str
) -> Entry:
    status = path.stat()
    return Entry(
        file=path.name,
        rows=written.rows,
        rejected=len(written.rejected),
        images=len(written.image_ids),
        counts=counts,
        digest=written.digest,
        sha256=digest,
        bytes=status.st_size,
        mtime_ns=status.st_mtime_ns,
        ctime_ns=status.st_ctime_ns,
        source=source,
        notes=notes,
        created=datetime.now(timezone.utc).isoformat(timespec="seconds"),
    )


def _write_rejected(path: Path, split: str, others: Mapping[str, Entry], written: Written) -> None:
    """Replace the lines of ``split``, keep those of the other splits that exist."""
    kept = [line for line in store.read_rejected(path) if line["split"] in others]
    lines = kept + [{"split": split, **record} for record in written.rejected]
    store.write_text(path, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
