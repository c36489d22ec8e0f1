"""Prepared data on disk: ``HOME/<suite>/<data>/<split>.parquet`` beside ``manifest.json`` and ``rejected.jsonl``.

A split exists once the manifest, which is written last, names it. A file that does not fit the manifest is never
served.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lmms_medtasks import writing
from lmms_medtasks.data.documents import DATA, SCHEMA_VERSION, Data
from lmms_medtasks.errors import UserError, unknown_name_error

MANIFEST = "manifest.json"
REJECTED = "rejected.jsonl"


class BadManifestError(UserError):
    """A manifest that is broken, or of another schema version."""


@dataclass(frozen=True, kw_only=True)
class LocatedSplit:
    """A split that can be read.

    ``path``: a parquet file of documents. ``data``: its variant. ``digest``: that of its rows
    (:func:`lmms_medtasks.data.documents.rows_digest`). ``counts``: what differs from the whole release, or "".
    ``created``: the time of its preparation (ISO 8601), or "".
    """

    path: Path
    data: Data
    digest: str
    rows: int
    counts: str = ""
    created: str = ""


@dataclass(frozen=True, kw_only=True)
class PreparedSplit:
    """A manifest's entry for one split. The times spare a checksum; ``counts``: as in :class:`LocatedSplit`."""

    file: str
    rows: int
    rejected: int
    images: int
    counts: str
    digest: str
    sha256: str
    bytes: int
    mtime_ns: int
    ctime_ns: int
    source: Mapping[str, Any]
    notes: Mapping[str, Any]
    created: str

    @property
    def records(self) -> int:
        return self.rows + self.rejected


def data_home() -> Path:
    """The data folder: ``MEDTASKS_HOME``, or ``lmms-medtasks`` in the user's cache folder."""
    import platformdirs

    chosen = os.environ.get("MEDTASKS_HOME", "")
    return Path(chosen).expanduser().absolute() if chosen else Path(platformdirs.user_cache_dir("lmms-medtasks"))


def prepared_data_folder(suite: str, data: str) -> Path:
    return data_home() / suite / data


def chosen_data() -> Data | None:
    """The variant that ``MEDTASKS_DATA`` asks for, or None if it is not set; ``UserError`` if it is misspelt."""
    value = os.environ.get("MEDTASKS_DATA", "")
    if not value:
        return None
    for data in DATA:
        if value == data:
            return data
    raise unknown_name_error("data", value, DATA, "the environment variable MEDTASKS_DATA")


def read_prepared_splits(suite: str, data: str) -> dict[str, PreparedSplit]:
    """The prepared splits of a variant by name; {} without a manifest. BadManifestError: broken, another schema."""
    return {name: PreparedSplit(**entry) for name, entry in read_manifest(suite, data).get("splits", {}).items()}


def read_manifest(suite: str, data: str) -> dict[str, Any]:
    """The manifest of a variant, {} if there is none; errors as for :func:`read_prepared_splits`."""
    path = prepared_data_folder(suite, data) / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        version = manifest["schema_version"]
        if version == SCHEMA_VERSION:  # entries of another one have other fields
            for entry in manifest["splits"].values():
                PreparedSplit(**entry)
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadManifestError(
            f"{path} is not a manifest of ours ({error!r}). Prepare again: lmms-medtasks data prepare {suite}"
        ) from error
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from error
    if version != SCHEMA_VERSION:
        raise BadManifestError(
            f"{path} has schema version {version!r}, this version of lmms-medtasks reads {SCHEMA_VERSION}. "
            f"Prepare again: lmms-medtasks data prepare {suite} (with --source DIR if it came from a folder)."
        )
    result: dict[str, Any] = manifest
    return result


def write_manifest(header: Mapping[str, Any], splits: Mapping[str, PreparedSplit]) -> None:
    """Write the manifest, whole or not at all. ``header``: what all splits share, with ``suite`` and ``data``."""
    manifest = {**header, "splits": {name: asdict(splits[name]) for name in sorted(splits)}}
    path = prepared_data_folder(header["suite"], header["data"]) / MANIFEST
    with writing.atomic_write(path) as part, part.open("w", encoding="utf-8", errors="replace") as handle:
        handle.write(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
        handle.flush()
        os.fsync(handle.fileno())  # after a power cut a manifest names no split that the disk lacks


def read_rejected(path: Path) -> list[dict[str, Any]]:
    """The lines of a ``rejected.jsonl``: split, row, id and reason."""
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def find_prepared_split(suite: str, data: Data, split: str) -> LocatedSplit | None:
    """The prepared split, or None. Raises UserError if its file is missing or does not fit the manifest."""
    entry = read_prepared_splits(suite, data).get(split)
    if entry is None:
        return None
    path = prepared_data_folder(suite, data) / entry.file
    _check_file(path, entry, suite, split)
    return LocatedSplit(
        path=path, data=data, digest=entry.digest, rows=entry.rows, counts=entry.counts, created=entry.created
    )


def _check_file(path: Path, entry: PreparedSplit, suite: str, split: str) -> None:
    """``UserError`` if a prepared file is not the one that the manifest describes.

    A file of the recorded size and times is trusted. Other times (a copied folder, an edit) cost one checksum, after
    which they are recorded beside the file. They include the time of the last change of status, which no program can
    set back. ``lmms-medtasks data inspect`` always computes the checksum, against failing disks.
    """
    try:
        status = path.stat()
    except OSError as error:
        raise _corrupt_error(path, f"cannot be read ({error.strerror})", suite, split) from error
    if status.st_size != entry.bytes:
        raise _corrupt_error(path, f"has {status.st_size} bytes, the manifest says {entry.bytes}", suite, split)
    times = (status.st_mtime_ns, status.st_ctime_ns)
    if times == (entry.mtime_ns, entry.ctime_ns) or _was_checked(path, entry.sha256, times):
        return
    if _checksum_once(path, times) != entry.sha256:
        raise _corrupt_error(path, "has not the checksum in the manifest", suite, split)
    # For the next process. A folder that can't be written to costs it a checksum again.
    with contextlib.suppress(OSError):
        writing.write_text_atomically(_checked_file(path), json.dumps([entry.sha256, *times]))


def _was_checked(path: Path, sha256: str, times: tuple[int, int]) -> bool:
    try:
        return bool(json.loads(_checked_file(path).read_text(encoding="utf-8")) == [sha256, *times])
    except (OSError, ValueError):
        return False


def _checked_file(path: Path) -> Path:
    return path.with_name(path.name + ".checked")


def verify_split(suite: str, data: Data, split: str) -> None:
    """``UserError`` unless the prepared file has exactly the checksum in the manifest."""
    located = find_prepared_split(suite, data, split)
    entry = read_prepared_splits(suite, data).get(split)
    if located is None or entry is None:
        raise UserError(f"{suite}/{split} is not prepared as {data}.")
    if file_sha256(located.path) != entry.sha256:
        raise _corrupt_error(located.path, "has not the checksum in the manifest", suite, split)


@functools.lru_cache(maxsize=64)
def _checksum_once(path: Path, times: tuple[int, int]) -> str:
    return file_sha256(path)


def _corrupt_error(path: Path, fault: str, suite: str, split: str) -> UserError:
    return UserError(
        f"The prepared data of {suite}/{split} is damaged: {path} {fault}. Prepare it again: "
        f"lmms-medtasks data prepare {suite} --split {split} (with --source DIR if it came from a folder)."
    )


@contextmanager
def user_error_on_write(target: Path) -> Iterator[None]:
    """Turn an ``OSError`` of writing below ``target`` (full, read-only, forbidden) into one ``UserError``."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise UserError(
            f"Cannot write the prepared data to {target}: {reason}. "
            "Set MEDTASKS_HOME to a folder with room that you may write to, or make room there."
        ) from error


def file_sha256(path: Path) -> str:
    """SHA-256 of a file, as 64 hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as handle:
        while block := handle.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
