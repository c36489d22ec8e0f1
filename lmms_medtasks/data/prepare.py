"""From a release to prepared data: choose the splits, skip those that are there, decide full or sample, write them.

Data is *full* if each requested split has the number of questions that the benchmark declares (``DataSource.expected``,
:mod:`.release_counts`), before and after the unusable ones were rejected. Anything else is a *sample*, and so is what
``sample=True`` asks for; the user may accept other counts as full. The word is in every row and in the manifest, and it
names the folder; the manifest says what differs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

from lmms_medtasks.data import any_tables, committing, release_counts, sources, store
from lmms_medtasks.data.committing import WrittenSplit, write_documents
from lmms_medtasks.data.documents import SCHEMA_VERSION, Data
from lmms_medtasks.data.hub import Download, HubRelease
from lmms_medtasks.data.release_counts import SplitCounts
from lmms_medtasks.data.releases import LocalRelease, Release, SourceFile, source_file
from lmms_medtasks.data.row_reader import RowReader
from lmms_medtasks.data.sources import DataSource, SourceSplit
from lmms_medtasks.data.store import PreparedSplit
from lmms_medtasks.errors import ConcurrentPreparation, UserError
from lmms_medtasks.progress import iter_with_progress, print_message
from lmms_medtasks.short_texts import count_noun

WAIT_SECONDS = 3600.0  # How long a second process waits for the first


def prepare_splits(
    suite: str,
    *,
    source: Path | None = None,
    revision: str | None = None,
    splits: Sequence[str] | None = None,
    force: bool = False,
    sample: bool = False,
    accept_counts: bool | None = None,
    keep: bool = False,
    wait: float = WAIT_SECONDS,
    download: Download | None = None,
) -> dict[str, Any]:
    """Prepare splits of a suite; return the manifest of the variant that they belong to.

    ``source``: a folder with the release's files; without it they come from the hub at ``revision`` (default: the
    suite's). ``splits``: default: those that a suite prepares by default and the source has. A split that was prepared
    from the same files is left alone unless ``force``, with ``keep`` also one from other files. ``sample``: the data is
    a part of the benchmark. ``accept_counts``: call other numbers of questions than the release's full (None: as
    ``MEDTASKS_ACCEPT_COUNTS`` says). ``wait``: seconds to wait for another process that prepares the suite.
    ``download``: see :class:`HubRelease`.

    Raises:
        UserError: an unknown suite or split, files that are missing or malformed, no usable row, an unwritable folder.
        ConcurrentPreparation: the other process did not finish in time.
    """
    record = sources.get(suite)
    if sample and accept_counts:
        raise UserError("--sample and --accept-counts contradict each other: give one of both.")
    accept = not sample and release_counts.accepts_other_counts(accept_counts)
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
        wanted = _present_splits(record, wanted, release, all_of_them=bool(splits))
    with _locked_suite(record.name, wait):
        with store.user_error_on_write(store.data_home() / record.name):
            committing.remove_leftovers(record.name)
        work = _Preparation(record, release, accept)
        if not force:
            work.stay_with_commit()
        data, why = work.choose_variant(wanted, sample)
        if data == "sample" and not sample:
            work.take_back_acceptance(wanted)
        try:
            work.prepare_all(wanted, data, why, force=force, keep=keep)
        except _FewerThanExpected:
            data = "sample"
            work.prepare_all(wanted, data, "", force=force, keep=keep)
        work.prepare_all(work.splits_apart(), "sample", "", force=force, keep=keep)
    return store.read_manifest(record.name, data)


class _FewerThanExpected(Exception):
    """A split taken for the whole one has more unusable questions than the release."""


class _Preparation:
    """One call of :func:`prepare_splits`. ``accept``: other counts than the release's are called full."""

    def __init__(self, suite: DataSource, release: Release, accept: bool) -> None:
        self._suite, self._release, self._accept = suite, release, accept
        self._readers: dict[str, RowReader] = {}
        self._files: dict[str, list[SourceFile]] = {}
        self._differing: dict[str, str] = {}  # split -> what is other in it than in the release

    def choose_variant(self, wanted: Sequence[SourceSplit], sample: bool) -> tuple[Data, str]:
        """Full or sample (the rule stands at the top of this file), and why; "" if the splits' counts say that."""
        if sample:
            return "sample", "it was asked for as a sample"
        self._differing = {split.name: difference for split in wanted if (difference := self._count_difference(split))}
        return "full" if self._accept or not self._differing else "sample", ""

    def _explain_variant(self, data: Data, prepared: Iterable[tuple[str, PreparedSplit]]) -> str:
        known = {name: entry.counts for name, entry in prepared if entry.counts} | self._differing
        differences = "; ".join(
            f"{split.name}: {known[split.name]}" for split in self._suite.splits if split.name in known
        )
        if not differences:
            return "it has the release's number of questions"
        return f"other counts than the release's were accepted: {differences}" if data == "full" else differences

    def prepare_all(self, wanted: Sequence[SourceSplit], data: Data, why: str, *, force: bool, keep: bool) -> None:
        for split in wanted:
            if force or not self.is_prepared(split, data, keep=keep):
                self.prepare_split(split, data, why)

    def splits_apart(self) -> list[SourceSplit]:
        """The splits for rows that the opened ones leave apart."""
        leaving = [name for name, reader in self._readers.items() if reader.apart]
        return [split for split in self._suite.splits if split.apart_from in leaving]

    def _count_difference(self, split: SourceSplit, counts: SplitCounts | None = None) -> str:
        """What differs in a split from the release; ``counts``: its own if known by now."""
        if split.apart_from:
            found = (counts or self._split_counts(split)).questions
            return f"{count_noun(found, 'question')} of groups that the paper does not have"
        counts_by_split = {split.name: counts or self._split_counts(split)}
        partners = {name for each in self._suite.expected if split.name in each.splits for name in each.splits}
        for other in self._suite.splits:
            if other.name in partners and other.name not in counts_by_split and self._is_there(other):
                if not release_counts.describe_difference(self._suite.expected, split.name, counts_by_split):
                    break
                counts_by_split[other.name] = self._split_counts(other)
        return release_counts.describe_difference(self._suite.expected, split.name, counts_by_split)

    def _is_there(self, split: SourceSplit) -> bool:
        """Whether a split that was not requested can be counted without a download."""
        if isinstance(self._release, LocalRelease):
            return split.files_in(self._release) is not None
        return self._earlier_entry(split) is not None

    def _earlier_entry(self, split: SourceSplit) -> PreparedSplit | None:
        for data in ("full", "sample"):
            entry = _usable_entries(self._suite.name, data).get(split.name)
            if entry is not None and self._same_source(entry, split):
                return entry
        return None

    def _split_counts(self, split: SourceSplit) -> SplitCounts:
        entry = self._earlier_entry(split)
        return SplitCounts(entry.records, entry.rejected) if entry else SplitCounts(self._open_reader(split).records)

    def _open_reader(self, split: SourceSplit) -> RowReader:
        if split.name not in self._readers:
            self._readers[split.name] = self._suite.open_split(self._release, split)
        return self._readers[split.name]

    def _source_files(self, split: SourceSplit) -> list[SourceFile]:
        if split.name not in self._files:
            names = split.files_in(self._release) or split.files
            self._files[split.name] = [source_file(self._release, name) for name in names]
        return self._files[split.name]

    def _same_source(self, entry: PreparedSplit, split: SourceSplit) -> bool:
        """Whether a split was prepared from what it would be prepared from now; the hub is not asked for that."""
        if isinstance(self._release, HubRelease):
            return all(entry.source.get(key) == value for key, value in self._release.describe().items())
        return bool(entry.source.get("files") == [file.to_json() for file in self._source_files(split)])

    def take_back_acceptance(self, wanted: Sequence[SourceSplit]) -> None:
        """Remove full splits whose counts are not the release's and no longer accepted."""
        for split in wanted:
            entry = _usable_entries(self._suite.name, "full").get(split.name)
            if entry is not None and entry.counts:
                print_message(f"{self._suite.name}/{split.name} (full): removed, its counts are no longer accepted")
                committing.remove_split(self._suite.name, "full", split.name)

    def stay_with_commit(self) -> None:
        """Take the rest from the commit from which the first splits of a branch were prepared."""
        if isinstance(self._release, HubRelease):
            for entry in (
                usable_entry
                for data in ("sample", "full")
                for usable_entry in _usable_entries(self._suite.name, data).values()
            ):
                if all(entry.source.get(key) == value for key, value in self._release.describe().items()):
                    self._release.commit = entry.source.get("commit", "")

    def is_prepared(self, split: SourceSplit, data: Data, *, keep: bool) -> bool:
        """Whether a split is there, whole, and from the same source (from any, with ``keep``)."""
        entry = _usable_entries(self._suite.name, data).get(split.name)
        if entry is None or not (keep or self._same_source(entry, split)):
            return False
        try:
            store.verify_split(self._suite.name, data, split.name)
        except UserError as error:
            print_message(f"Preparing again: {error}")
            return False
        print_message(
            f"{self._suite.name}/{split.name} ({data}): already prepared, {_counts_text(entry.rows, entry.rejected)}"
        )
        return True

    def prepare_split(self, split: SourceSplit, data: Data, why: str) -> None:
        name = f"{self._suite.name}/{split.name} ({data})"
        folder = store.prepared_data_folder(self._suite.name, data)
        files, reader = self._source_files(split), self._open_reader(split)
        with store.user_error_on_write(folder), committing.part_file(folder, split.name) as part:
            candidates = iter_with_progress(reader.candidates(), reader.records, name)
            written = write_documents(candidates, part, self._suite, data)
            if not written.rows:
                reason = f"{name}: all {reader.records:,} rows were rejected, none is left.{_describe_reasons(written)}"
                if split.apart_from:  # the paper's rows are prepared, and nothing reads this split
                    print_message(reason)
                    return
                raise UserError(reason + (f" The files have {reader.describe_apart()}." if reader.apart else ""))
            rejected = len(written.rejected)
            counts = self._count_difference(split, SplitCounts(written.rows + rejected, rejected))
            if counts:
                self._differing[split.name] = counts
            if counts and data == "full" and not self._accept:
                print_message(f"{name}: {counts}. It is prepared as a sample.{_describe_reasons(written)}")
                raise _FewerThanExpected
            source = {**self._release.describe(), "files": [file.to_json() for file in files]}
            entries = _usable_entries(self._suite.name, data)
            others = ((other, entry) for other, entry in entries.items() if other != split.name)
            header = _manifest_header(self._suite, data, why or self._explain_variant(data, others))
            notes = {**reader.notes, **({"apart": dict(reader.apart)} if reader.apart else {})}
            described = {"source": source, "notes": notes, "counts": counts}
            committing.commit_split(part, split.name, written, header, entries, described)
        print_message(
            f"{name}: prepared, {_counts_text(written.rows, len(written.rejected))}, "
            f"{count_noun(len(written.image_ids), 'image')}"
        )
        if reader.apart:
            print_message(f"  Kept apart, in a split of their own: {reader.describe_apart()}")
        if written.rejected:
            print_message(f"  The rejected rows are listed in {folder / store.REJECTED}.{_describe_reasons(written)}")


def _counts_text(rows: int, rejected: int) -> str:
    return f"{count_noun(rows, 'row')}, {rejected:,} rejected"


def _describe_reasons(written: WrittenSplit) -> str:
    counts = Counter(record["reason"] for record in written.rejected)
    first = {record["reason"]: record["row"] for record in reversed(written.rejected)}
    return "".join(f"\n  {n:,} times, first in row {first[reason]}: {reason}" for reason, n in counts.most_common(3))


def _manifest_header(suite: DataSource, data: Data, why: str) -> dict[str, Any]:
    return {
        "suite": suite.name,
        "title": suite.title,
        "data": data,
        "data_because": why,
        "schema_version": SCHEMA_VERSION,
        "tool_version": metadata.version("lmms-medtasks"),
        "licence": suite.licence,
        "terms": suite.terms,
        "paper": dict(suite.paper),
        "notes": list(suite.notes),
    }


def _usable_entries(suite: str, data: str) -> Mapping[str, PreparedSplit]:
    """What is prepared; {} for an unusable manifest, which is about to be replaced."""
    try:
        return store.read_prepared_splits(suite, data)
    except store.BadManifestError as error:
        print_message(f"Preparing again: {error}")
        return {}


def _present_splits(
    suite: DataSource, wanted: Sequence[SourceSplit], release: LocalRelease, *, all_of_them: bool
) -> list[SourceSplit]:
    """The splits whose files the folder has; prints which it lacks; ``UserError`` if it has none, or not all."""
    present = [split for split in wanted if split.files_in(release)]
    missing = [split for split in wanted if split not in present]
    hint = any_tables.unpacking_hint(release.names()) if missing else ""
    if missing and (all_of_them or not present):
        files = ", ".join(split.wanted() for split in missing)
        raise UserError(
            f"The source folder {str(release.folder)!r} lacks files of {suite.title}. Expected: {files}. "
            f"Found: {release.listing()}.{hint}"
        )
    for split in missing:
        print_message(f"{suite.name}/{split.name}: not prepared, the source has not {split.wanted()}")
    if hint:
        print_message(hint.strip())
    return present


@contextmanager
def _locked_suite(suite: str, wait: float) -> Iterator[None]:
    """Only one process prepares a suite at a time; the lock ends with its process."""
    from filelock import FileLock, Timeout

    folder = store.data_home() / suite
    with store.user_error_on_write(folder):
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / "prepare.lock")
        try:
            try:
                lock.acquire(timeout=0)
            except Timeout:
                print_message(
                    f"Another process is preparing {suite}: waiting for it, {wait:.0f} s at most ({lock.lock_file})."
                )
                lock.acquire(timeout=wait)
        except Timeout as error:
            raise ConcurrentPreparation(
                f"Another process is preparing {suite} and did not finish within {wait:.0f} s. It holds the lock file "
                f"{lock.lock_file}. Wait for it to end, or end it, and run the command again."
            ) from error
        except NotImplementedError as error:
            raise UserError(f"{folder} is on a file system without locks. Set MEDTASKS_HOME to another.") from error
    try:
        yield
    finally:
        lock.release()
