"""From a release to prepared data: which splits, are they there already, is it the whole benchmark; then write them.

Whether a folder holds the benchmark or a part of it is settled by counting the records, good or bad, of the release's
tables in the folder: those of the splits asked for, and the others too if these do not suffice. Fewer than
``DataSource.full_records`` (the paper's count) make it a *sample*, and so does ``sample=True``. What comes from the hub
is *full*. The word is in every row and in the manifest, and it names the folder.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import lmms_medtasks
from lmms_medtasks.data import committing, sources, store
from lmms_medtasks.data.documents import SCHEMA_VERSION, Data
from lmms_medtasks.data.hub import Download, HubRelease
from lmms_medtasks.data.releases import LocalRelease, Release, SourceFile, source_file
from lmms_medtasks.data.sources import Candidate, DataSource, Split, SplitReader
from lmms_medtasks.data.store import Entry
from lmms_medtasks.data.writer import Written, write_documents
from lmms_medtasks.errors import ConcurrentPreparation, UserError
from lmms_medtasks.progress import bar, say

WAIT_SECONDS = 3600.0
"""How long a second process waits for the first."""


def prepare(
    suite: str,
    *,
    source: Path | None = None,
    revision: str | None = None,
    splits: Sequence[str] | None = None,
    force: bool = False,
    sample: bool = False,
    keep: bool = False,
    wait: float = WAIT_SECONDS,
    download: Download | None = None,
) -> dict[str, Any]:
    """Prepare splits of a suite; return the manifest of the variant that they belong to.

    ``source`` is a folder with the release's files; without it they come from the hub at ``revision`` (default: the
    suite's). ``splits`` defaults to those that a suite prepares by default and the source has. A split that was
    prepared from the same files is left alone unless ``force``. ``sample`` marks the data as a part of the benchmark.
    With ``keep`` a split that is prepared from anything is left alone.
    ``wait`` is how many seconds another process that prepares the same suite is waited for; ``download`` stands in
    for ``huggingface_hub.hf_hub_download`` in tests.

    Raises:
        UserError: an unknown suite or split, files that are missing or not of the form expected, no usable row, a
            folder that cannot be written.
        ConcurrentPreparation: the other process did not finish in time.
    """
    record = sources.get(suite)
    wanted = [record.split(name) for name in splits] if splits else [s for s in record.splits if s.default]
    if source is None and not record.hub_repository:
        raise UserError(
            f"{record.title} is on no hub. {record.obtain} Then: lmms-medtasks data prepare {record.name} --source DIR"
        )
    if source is None:
        release: Release = HubRelease(record.hub_repository, revision or record.revision, download)
    elif revision is not None:
        raise UserError("A folder has no revision: give a source folder or a revision, not both.")
    else:
        release = LocalRelease(Path(source), record.elsewhere)
        wanted = _present(record, wanted, release, all_of_them=bool(splits))
    with _lock(record.name, wait):
        with store.writing(store.home() / record.name):
            committing.remove_leftovers(record.name)
        work = _Preparation(record, release)
        data, why = work.variant(wanted, sample)
        if not force:
            work.stay_with_commit(data)
        for split in wanted:
            if force or not work.is_prepared(split, data, keep):
                work.prepare_split(split, data, why)
    return store.read_manifest(record.name, data)


class _Preparation:
    """One call of :func:`prepare`: a suite, where its files are, and what was found out about them so far."""

    def __init__(self, suite: DataSource, release: Release) -> None:
        self._suite, self._release = suite, release
        self._readers: dict[str, SplitReader] = {}
        self._files: dict[str, list[SourceFile]] = {}

    def variant(self, wanted: Sequence[Split], sample: bool) -> tuple[Data, str]:
        """Full or sample, and why (the rule stands at the top of this file)."""
        if sample:
            return "sample", "it was asked for as a sample"
        if not isinstance(self._release, LocalRelease):
            return "full", "it is the hub's release"
        there = [s for s in self._suite.splits if s.counted and s.files_in(self._release)]
        records, full = 0, self._suite.full_records
        for split in sorted(there, key=lambda split: split not in wanted):
            records += self._records(split)
            if records >= full:
                return "full", f"the source's tables have at least {records:,} records, the paper has {full:,}"
        return "sample", f"the source's tables have {records:,} records, the paper has {full:,}"

    def _records(self, split: Split) -> int:
        for data in ("full", "sample"):
            entry = _entries(self._suite.name, data).get(split.name)
            if entry is not None and self._same_source(entry, split):
                return entry.records
        return self._reader(split).records

    def _reader(self, split: Split) -> SplitReader:
        if split.name not in self._readers:
            self._readers[split.name] = self._suite.open_split(self._release, split)
        return self._readers[split.name]

    def _source_files(self, split: Split) -> list[SourceFile]:
        if split.name not in self._files:
            names = split.files_in(self._release) or split.files
            self._files[split.name] = [source_file(self._release, name) for name in names]
        return self._files[split.name]

    def _same_source(self, entry: Entry, split: Split) -> bool:
        """Whether a split was prepared from what it would be prepared from now; the hub is not asked for that."""
        if isinstance(self._release, HubRelease):
            return all(entry.source.get(key) == value for key, value in self._release.describe().items())
        return bool(entry.source.get("files") == [file.to_json() for file in self._source_files(split)])

    def stay_with_commit(self, data: Data) -> None:
        """Take the rest from the commit that a branch stood for when the first splits were prepared from it."""
        if isinstance(self._release, HubRelease):
            for entry in _entries(self._suite.name, data).values():
                if all(entry.source.get(key) == value for key, value in self._release.describe().items()):
                    self._release.commit = entry.source.get("commit", "")

    def is_prepared(self, split: Split, data: Data, keep: bool) -> bool:
        """Whether a split is there, whole, and from the same source (from any, with ``keep``)."""
        entry = _entries(self._suite.name, data).get(split.name)
        if entry is None or not (keep or self._same_source(entry, split)):
            return False
        try:
            store.verify(self._suite.name, data, split.name)
        except UserError as error:
            say(f"Preparing anew: {error}")
            return False
        say(f"{self._suite.name}/{split.name} ({data}): already prepared, {_counts(entry.rows, entry.rejected)}")
        return True

    def prepare_split(self, split: Split, data: Data, why: str) -> None:
        """Prepare one split as ``data``."""
        name = f"{self._suite.name}/{split.name} ({data})"
        folder = store.folder(self._suite.name, data)
        files, reader = self._source_files(split), self._reader(split)
        with store.writing(folder), committing.part_file(folder, split.name) as part:
            with bar(reader.records, name, "rows") as step:
                written = write_documents(_stepping(reader, step), part, self._suite, data)
            if not written.rows:
                raise UserError(f"{name}: all {reader.records:,} rows were rejected, none is left.{_reasons(written)}")
            source = {**self._release.describe(), "files": [file.to_json() for file in files]}
            header = _header(self._suite, data, why)
            kept = _entries(self._suite.name, data)
            committing.commit(self._suite.name, data, split.name, part, written, source, reader.notes, header, kept)
        say(f"{name}: prepared, {_counts(written.rows, len(written.rejected))}, {len(written.image_ids):,} images")
        if written.rejected:
            say(f"  The rejected rows are listed in {folder / store.REJECTED}.{_reasons(written)}")


def _stepping(reader: SplitReader, step: Any) -> Iterator[Candidate]:
    for candidate in reader.candidates():
        step(1)
        yield candidate


def _counts(rows: int, rejected: int) -> str:
    return f"{rows:,} rows, {rejected:,} rejected"


def _reasons(written: Written) -> str:
    """The most common reasons, with how often and in which row first."""
    counts = Counter(record["reason"] for record in written.rejected)
    first = {record["reason"]: record["row"] for record in reversed(written.rejected)}
    return "".join(f"\n  {n:,} times, first in row {first[reason]}: {reason}" for reason, n in counts.most_common(3))


def _header(suite: DataSource, data: Data, why: str) -> dict[str, Any]:
    """The part of a manifest that all splits share."""
    return {
        "suite": suite.name,
        "title": suite.title,
        "data": data,
        "data_because": why,
        "schema_version": SCHEMA_VERSION,
        "tool_version": lmms_medtasks.__version__,
        "licence": suite.licence,
        "terms": suite.terms,
        "paper": dict(suite.paper),
        "notes": list(suite.notes),
    }


def _entries(suite: str, data: str) -> Mapping[str, Entry]:
    """What is prepared, where a manifest that cannot be used counts as none: it is about to be replaced."""
    try:
        return store.entries(suite, data)
    except store.BadManifestError as error:
        say(f"Preparing anew: {error}")
        return {}


def _present(suite: DataSource, wanted: Sequence[Split], release: LocalRelease, all_of_them: bool) -> list[Split]:
    """The splits whose files the folder has; says which it has not; ``UserError`` if it has none, or not all."""
    present = [split for split in wanted if split.files_in(release)]
    missing = [split for split in wanted if split not in present]
    if missing and (all_of_them or not present):
        files = ", ".join(split.wanted() for split in missing)
        raise UserError(
            f"The source folder {str(release.folder)!r} has not the files of {suite.title} that are wanted: {files}. "
            f"Found: {release.listing()}."
        )
    for split in missing:
        say(f"{suite.name}/{split.name}: not prepared, the source has not {split.wanted()}")
    return present


@contextmanager
def _lock(suite: str, wait: float) -> Iterator[None]:
    """Only one process prepares a suite at a time; the lock goes with its process, also when that is killed."""
    from filelock import FileLock, Timeout

    place = store.home() / suite
    with store.writing(place):
        place.mkdir(parents=True, exist_ok=True)
        lock = FileLock(place / "prepare.lock")
        try:
            try:
                lock.acquire(timeout=0)
            except Timeout:
                say(f"Another process is preparing {suite}: waiting for it, {wait:.0f} s at most ({lock.lock_file}).")
                lock.acquire(timeout=wait)
        except Timeout as error:
            raise ConcurrentPreparation(
                f"Another process is preparing {suite} and did not finish within {wait:.0f} s. It holds the lock file "
                f"{lock.lock_file}. Wait for it to end, or end it, and run the command again."
            ) from error
        except NotImplementedError as error:
            raise UserError(f"{place} is on a file system without locks. Set MEDTASKS_HOME to another.") from error
    try:
        yield
    finally:
        lock.release()
