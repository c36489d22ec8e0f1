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

from lmms_medtasks.data import suites, sure_shifts
from lmms_medtasks.data.releases import LocalRelease
from lmms_medtasks.data.suites import Finding, Split, SplitReader, Suite
from lmms_medtasks.data.sure_reader import SureReader, empty, listed
from lmms_medtasks.errors import UserError


@dataclass(frozen=True)
class Size:
    """How many questions something has here and in the paper (None: the paper does not say)."""

    what: str
    here: int
    paper: int | None = None


@dataclass
class Diagnosis:
    """What was found about a folder. ``shared``: images that a shift's i.i.d. and OoD tests have in common."""

    suite: str
    source: str
    findings: list[Finding] = field(default_factory=list)
    sizes: list[Size] = field(default_factory=list)
    shared: dict[str, int] = field(default_factory=dict)
    how: str = ""

    @property
    def complete(self) -> bool:
        """Whether nothing that is needed is missing."""
        return all(finding.state != "missing" for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """The diagnosis as a plain dictionary."""
        return {**asdict(self), "complete": self.complete}


def diagnose(suite: str, source: Path) -> Diagnosis:
    """Look at a folder with the release of a suite.

    Raises:
        UserError: an unknown suite, or no folder that can be read.
    """
    record = suites.get(suite)
    release = LocalRelease(Path(source), record.elsewhere)
    found = Diagnosis(record.name, str(source), how=_how(record))
    found.findings += _files(record, release)
    if record.diagnose:
        found.findings += record.diagnose(release)
    rows: dict[str, list[Mapping[str, Any]]] = {}
    for split in record.splits:
        if split.files_in(release):
            _look_into(record, release, split, found, rows)
    if rows:
        _compare(record, rows, found)
    return found


def _how(record: Suite) -> str:
    if record.obtain:
        return record.obtain
    return f"From the hub: dataset {record.hub_repository}, or leave --source out of lmms-medtasks data prepare."


def _files(record: Suite, release: LocalRelease) -> Iterator[Finding]:
    """The tables, each once, with the splits that are made from them."""
    uses: dict[str, list[Split]] = {}
    for split in record.splits:
        for name in split.files_in(release) or split.files:
            uses.setdefault(name, []).append(split)
    for name, splits in uses.items():
        needed = f"for {', '.join(split.name for split in splits)}"
        if release.has(name):
            yield Finding(name, "there", f"{release.file(name).relative_to(release.folder)}, {needed}")
        else:
            # What is not prepared unless asked for is not needed.
            yield Finding(name, "missing" if any(split.default for split in splits) else "note", f"not there, {needed}")
    # A split that is made from whatever table has its questions.
    for split in record.splits:
        if not split.files and not split.files_in(release):
            yield Finding(f"split {split.name}", "missing" if split.default else "note", f"not there: {split.wanted()}")


def _look_into(
    record: Suite, release: LocalRelease, split: Split, found: Diagnosis, rows: dict[str, list[Mapping[str, Any]]]
) -> None:
    try:
        reader = record.open_split(release, split)
    except UserError as error:
        found.findings.append(Finding(f"split {split.name}", "missing", str(error)))
        return
    _miss_images(split, reader, found)
    if not isinstance(reader, SureReader):
        found.sizes.append(Size(split.name, reader.records, reader.notes.get("paper")))
        return
    rows[split.name] = []
    reasons: Counter[str] = Counter()
    known = set()
    for _, row, document in reader.rows():
        if isinstance(document, Exception):
            reasons[str(document)] += 1
        elif document["id"] in known:
            reasons["a record with its number was there before"] += 1
        else:
            known.add(document["id"])
            # The paper's sizes have one question without an answer, which no task can ask.
            rows[split.name].append({**_tags(record, document), "image": reader.image_name(row)})
            if reason := empty(document):
                reasons[f"{reason} (the sizes below have it)"] += 1
    for reason, count in reasons.items():
        found.findings.append(Finding(f"split {split.name}", "note", f"{count:,} records would be rejected: {reason}"))
    for name, value in reader.notes.items():
        if name == "cleaned":
            found.findings += [
                Finding(f"split {split.name}", "note", f"questions left out, {reason}: {listed(numbers)}")
                for reason, numbers in value.items()
            ]
        elif value:
            found.findings.append(Finding(f"split {split.name}", "note", f"{name}: {value}"))


def _miss_images(split: Split, reader: SplitReader, found: Diagnosis) -> None:
    """Say how many images are not there, and how many questions that costs."""
    missing = list(reader.missing_images())
    if missing:
        images = list(dict.fromkeys(name for names in missing for name in names))
        detail = f"{len(images):,} images are not there, which costs {len(missing):,} questions"
        state: Literal["missing", "note"] = "missing" if split.default else "note"
        found.findings.append(Finding(f"split {split.name}", state, f"{detail}; the first: {images[0]!r}"))


def _tags(record: Suite, document: Mapping[str, Any]) -> dict[str, Any]:
    """What the shifts of the suite look at."""
    wanted = {"split", *(name for shift in sure_shifts.of_suite(record.name) for name in shift.fields)}
    return {tag: document[tag] for tag in record.tags if tag in wanted}


def _compare(record: Suite, rows: Mapping[str, list[Mapping[str, Any]]], found: Diagnosis) -> None:
    """The sizes of Tables 1 to 3 and ours. A shift is left out where a split that it is made from is not there."""
    paper = sure_shifts.paper_sizes(record.name)
    for split, got in rows.items():
        found.sizes.append(Size(f"{split}, all", len(got), paper["all"].get(split)))
    for shift in sure_shifts.of_suite(record.name):
        if "test" not in rows or (shift.join_train and "train" not in rows):
            continue
        all_rows = [row for name in ("train", "test") for row in rows.get(name, [])]
        sides = [shift.tests(row) for row in all_rows]
        printed = paper["shifts"].get(shift.name, {})
        for name, count in sure_shifts.sizes(shift, all_rows).items():
            if name != "train_iid" or "train" in rows:
                found.sizes.append(Size(f"{shift.name}, {_LONG[name]}", count, printed.get(name)))
        images = [{row["image"] for row, each in zip(all_rows, sides, strict=True) if each == side} for side in _SIDES]
        found.shared[shift.name] = len(images[0] & images[1])
        for side in set(_SIDES) - set(sides):
            values = sure_shifts.present(shift, all_rows)
            found.findings.append(
                Finding(shift.name, "missing", f"no {_NAMES[side]} test question. Values present: {values}")
            )


_SIDES = ("iid", "ood")
_NAMES = {"iid": "i.i.d.", "ood": "OoD"}
_LONG = {"train_iid": "train i.i.d.", "test_iid": "test i.i.d.", "test_ood": "test OoD"}
