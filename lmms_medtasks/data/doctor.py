"""Looking at a source folder before anything is prepared: what is there, what is missing, do the sizes fit the paper.

Nothing is written and no picture is opened: an image is missing where its file (or the row that it refers to) is not
there. One that is there and can't be decoded is found by the preparation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from lmms_medtasks.data import sources
from lmms_medtasks.data.release_counts import OPTION, SplitCounts, describe_difference
from lmms_medtasks.data.releases import LocalRelease
from lmms_medtasks.data.row_reader import RowReader
from lmms_medtasks.data.sources import DataSource, ReleaseFinding, SourceSplit, SplitSize
from lmms_medtasks.errors import UserError
from lmms_medtasks.short_texts import count_noun

_LISTED = 20


@dataclass
class ReleaseDiagnosis:
    """``shared``: images in both of a shift's tests. ``incomplete``: optional splits without all images."""

    suite: str
    source: str
    findings: list[ReleaseFinding] = field(default_factory=list)
    sizes: list[SplitSize] = field(default_factory=list)
    shared: dict[str, int] = field(default_factory=dict)
    incomplete: list[str] = field(default_factory=list)
    how: str = ""

    @property
    def complete(self) -> bool:
        return all(finding.state != "missing" for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "complete": self.complete}


def diagnose_release(suite: str, source: Path) -> ReleaseDiagnosis:
    """Examine a folder with the release of a suite. Raises UserError for an unknown suite or no readable folder."""
    record = sources.get(suite)
    release = LocalRelease(Path(source), record.elsewhere, may_be_empty=True)
    from_hub = f"From the hub: dataset {record.hub_repository}, or leave --source out of lmms-medtasks data prepare."
    diagnosis = ReleaseDiagnosis(record.name, str(source), how=record.obtain or from_hub)
    diagnosis.findings += _file_findings(record, release)
    if record.diagnose:
        diagnosis.findings += record.diagnose(release)
    readers: dict[str, RowReader] = {}
    for split in record.splits:
        if split.apart_from or not split.files_in(release):
            continue
        try:
            readers[split.name] = record.open_split(release, split)
        except UserError as error:
            diagnosis.findings.append(ReleaseFinding(f"split {split.name}", "missing", str(error)))
        else:
            _miss_images(split, readers[split.name], diagnosis)
            if apart := readers[split.name].describe_apart():
                diagnosis.findings.append(ReleaseFinding(f"split {split.name}", "note", f"keeps apart {apart}"))
    diagnosis.findings += _release_counts(record, readers)
    if record.examine and readers:
        examined = record.examine(record, readers)
        diagnosis.findings += examined.findings
        diagnosis.sizes += examined.sizes
        diagnosis.shared.update(examined.shared)
    elif not record.examine:
        diagnosis.sizes += [SplitSize(name, each.records, each.notes.get("paper")) for name, each in readers.items()]
    return diagnosis


def _release_counts(record: DataSource, readers: Mapping[str, RowReader]) -> Iterator[ReleaseFinding]:
    counts = {name: SplitCounts(reader.records) for name, reader in readers.items()}
    for split in record.splits:
        if split.name in counts and (changed := describe_difference(record.expected, split.name, counts)):
            detail = f"{changed}: would be prepared as a sample ({OPTION} calls it full)"
            yield ReleaseFinding(f"split {split.name}", "note", detail)


def _file_findings(record: DataSource, release: LocalRelease) -> Iterator[ReleaseFinding]:
    uses: dict[str, list[SourceSplit]] = {}
    for split in (each for each in record.splits if not each.apart_from):
        for name in split.files_in(release) or split.files:
            uses.setdefault(name, []).append(split)
    for name, splits in uses.items():
        needed = f"for {', '.join(split.name for split in splits)}"
        if release.has(name):
            yield ReleaseFinding(name, "there", f"{release.file(name).relative_to(release.folder)}, {needed}")
        else:
            # What is not prepared unless asked for is not needed.
            yield ReleaseFinding(
                name, "missing" if any(split.default for split in splits) else "note", f"not there, {needed}"
            )
    # A split that is made from whatever table has its questions.
    for split in record.splits:
        if not split.files and not split.files_in(release):
            yield ReleaseFinding(
                f"split {split.name}", "missing" if split.default else "note", f"not there: {split.wanted()}"
            )


def _miss_images(split: SourceSplit, reader: RowReader, diagnosis: ReleaseDiagnosis) -> None:
    missing = list(reader.missing_images())
    if missing:
        costs = Counter(name for names in missing for name in dict.fromkeys(names))
        listed = ", ".join(f"{name!r} ({count:,})" for name, count in list(costs.items())[:_LISTED])
        more = f" and {len(costs) - _LISTED:,} more" if len(costs) > _LISTED else ""
        are = "is" if len(costs) == 1 else "are"
        cost = count_noun(len(missing), "question")
        detail = f"{count_noun(len(costs), 'image')} {are} not there, which costs {cost}: {listed}{more}"
        state: Literal["missing", "note"] = "missing" if split.default else "note"
        diagnosis.findings.append(ReleaseFinding(f"split {split.name}", state, detail))
        if not split.default:
            diagnosis.incomplete.append(split.name)
