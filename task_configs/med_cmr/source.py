"""Med-CMR: 16,655 multiple-choice and 3,999 open questions on images of real cases, in seven dimensions.

The release is one ``dataset.zip``: a JSON list for each kind of question and the images. It is read as it is, or
unpacked in a folder; images are taken out of the zip one at a time. Nobody has tried this reader on the real release:
it was written against the fields that public code reads.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from lmms_medtasks.data.archives import ZipFolder
from lmms_medtasks.data.image_bytes import image_id
from lmms_medtasks.data.release_counts import Expected
from lmms_medtasks.data.release_options import filled, right_letter
from lmms_medtasks.data.releases import MissingFileError, Release
from lmms_medtasks.data.sources import (
    Candidate,
    DataSource,
    Examination,
    Finding,
    RejectedRow,
    Size,
    Split,
    SplitReader,
)
from lmms_medtasks.errors import UserError
from lmms_medtasks.task_configs.med_cmr.dimensions import dimension_counts, dimension_name, dimensions, is_dimension

ARCHIVE = "dataset.zip"
LISTS: Mapping[str, str] = {
    "mcq": "cmed.copy.mcq_cate.cleaned.json",
    "open": "cmed.copy.open_taged.cleaned.json",
}
"""Split -> the file with its questions."""

PAPER: Mapping[str, int] = {"mcq": 16_655, "open": 3_998}

RELEASE: Mapping[str, int] = {"mcq": 16_655, "open": 3_999}
"""Split -> its questions in the release as others counted them (revision a9b2d6e6)."""

OPTIONS = ("a", "b", "c", "d", "e")
_TAGS = ("subtype", "question_type", "modality", "organ_system", "visual_description")
_FIELDS = ("index", "question", "image_path", "answer", "task", *_TAGS)
_LISTED = 15


class _Files:
    """Where the questions and images are: in the zip, or unpacked. Image paths start beside the folder of the list."""

    def __init__(self, release: Release, split: Split) -> None:
        self._release = release
        found = split.files_in(release)
        name = LISTS[split.name]
        self.zip: ZipFolder | None = None
        if found is None or found == (ARCHIVE,):
            self.zip = ZipFolder(release.file(ARCHIVE))
            self.list = self._in_zip(self.zip, name)
            data = self.zip.read(self.list)
        else:
            self.list = found[0]
            data = _bytes(release, self.list)
        self._folder = PurePosixPath(self.list).parent
        self.records = _parsed(data, self.list)

    @staticmethod
    def _in_zip(folder: ZipFolder, name: str) -> str:
        places = folder.find(name)
        if f"dataset/{name}" in places:  # its own place, whatever backups lie elsewhere
            return f"dataset/{name}"
        if len(places) == 1:
            return places[0]
        if places:
            raise UserError(f"{folder.path} has {name} in {len(places)} places: {', '.join(places)}.")
        lists = [each for each in folder.names if each.endswith(".json")]
        rest = [each for each in folder.names if not each.endswith(".json")]
        shown = ", ".join([*lists, *rest][:_LISTED]) or "nothing"
        more = f" and {len(folder.names) - _LISTED:,} more" if len(folder.names) > _LISTED else ""
        raise UserError(f"{folder.path} has no {name}. It holds {shown}{more}. Is this Med-CMR's dataset.zip?")

    def image(self, path: str) -> bytes:
        """The bytes of an image by the path that a question gives (``dataset/imgs/...``)."""
        name = self._name(path)
        try:
            return self.zip.read(name) if self.zip is not None else _bytes(self._release, name)
        except MissingFileError as error:
            raise RejectedRow(f"image_path {path[:200]!r}: {error}") from error

    def has(self, path: str) -> bool:
        """Whether there is an image at the path that a question gives; it is not read."""
        name = self._name(path)
        try:
            return self.zip.has(name) if self.zip is not None else self._release.has(name)
        except MissingFileError:  # a path that leaves the folder
            return False

    def _name(self, path: str) -> str:
        inside = PurePosixPath(path)
        parts = inside.parts[1:] if inside.parts[:1] == ("dataset",) else inside.parts
        return str(self._folder.joinpath(*parts))


def _bytes(release: Release, name: str) -> bytes:
    path = release.file(name)
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from error


def _parsed(data: bytes, name: str) -> list[Any]:
    try:
        records = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{name} is not JSON: {error}. It is cut short or damaged. Fetch it again.") from error
    if not isinstance(records, list) or not records:
        kind = "an empty list" if isinstance(records, list) else type(records).__name__
        raise UserError(f"{name} is {kind}, expected a list of questions.")
    return records


class MedCMRReader:
    """Reads one of the two lists. Field names are compared in lower case, with ``_`` for a space."""

    def __init__(self, release: Release, split: Split) -> None:
        """Look the list through; ``UserError`` if fields or dimensions are not as expected."""
        self._split = split.name
        self._files = _Files(release, split)
        self._rows = [_plain(record) for record in self._files.records]
        self.records = len(self._rows)
        fields = Counter(name for row in self._rows if row is not None for name in row)
        self._check_fields(fields)
        self._check_dimensions()
        indices = Counter(_readable(row, "index") for row in self._rows)
        self.notes: Mapping[str, Any] = {
            "file": self._files.list,
            "fields": list(fields),
            "records": self.records,
            "paper": PAPER[self._split],
            "more_than_the_paper": self.records - PAPER[self._split],
            "repeated_indices": sum(count - 1 for index, count in indices.items() if index),
        }

    def _check_fields(self, found: Mapping[str, int]) -> None:
        wanted = (*_FIELDS, *(OPTIONS[:2] if self._split == "mcq" else ()))
        missing = [name for name in wanted if name not in found]
        if missing:
            raise UserError(
                f"{self._files.list} lacks required fields. Missing: {', '.join(missing)}. "
                f"Required: {', '.join(wanted)}. Found: {', '.join(found) or 'none'}."
            )

    def _check_dimensions(self) -> None:
        """``UserError`` that names every dimension that is none, and in which row it is."""
        counts: Counter[str] = Counter()
        first: dict[str, int] = {}
        for number, row in enumerate(self._rows, start=1):
            text = _readable(row, "task")
            if text and not is_dimension(text):
                counts[text] += 1
                first.setdefault(text, number)
        if counts:
            allowed = ", ".join(f"{each.short} ({each.name})" for each in dimensions())
            lines = [f"{text!r}: {n:,} rows, first in row {first[text]}" for text, n in counts.most_common()]
            raise UserError(
                f"{self._files.list} has dimensions (field task) that are not known; nothing was prepared from it. "
                f"Allowed, in any case: {allowed}. If the release really spells them so, please report it.\n  "
                + "\n  ".join(lines)
            )

    def dimension_counts(self) -> Counter[str]:
        """How many records each dimension has; those without one are not counted."""
        named = (_readable(row, "task") for row in self._rows)
        return Counter(dimension_name(text) for text in named if text)

    def missing_images(self) -> Iterator[tuple[str, ...]]:
        """For each question with images that are not there: their paths."""
        for row in self._rows:
            with contextlib.suppress(RejectedRow):  # no path is no path to a missing image
                paths = _paths(row.get("image_path")) if row is not None else []
                if missing := tuple(path for path in paths if not self._files.has(path)):
                    yield missing

    def candidates(self) -> Iterator[Candidate]:
        """Every record as a document without its ``data`` field, or with the reason why it is none."""
        seen: Counter[str] = Counter()
        for number, row in enumerate(self._rows, start=1):
            index = _readable(row, "index")
            seen[index] += 1
            # An index that comes again is another question as far as we know: its document gets a name of its own.
            name = f"{self._split}-{index}" + (f"-{seen[index]}" if seen[index] > 1 else "")
            try:
                yield Candidate(number, index, self._document(row, name))
            except RejectedRow as reason:
                yield Candidate(number, index, reason=str(reason))

    def _document(self, row: Mapping[str, Any] | None, name: str) -> dict[str, Any]:
        if row is None:
            raise RejectedRow("the record is no object")
        for field in ("index", "question", "answer", "task"):
            if not _text(row, field):
                raise RejectedRow(f"{field} is empty")
        options = filled([_text(row, field) for field in OPTIONS]) if self._split == "mcq" else []
        answer = right_letter(_text(row, "answer"), options) if options else _text(row, "answer")
        images = [self._files.image(path) for path in _paths(row.get("image_path"))]
        stored = [{"bytes": data, "path": None} for data in images]
        return {
            "id": name,
            "image": stored[0] if len(stored) == 1 else None,
            "images": stored if len(stored) > 1 else [],
            "question": _text(row, "question"),
            "options": options,
            "answer": answer,
            "image_id": image_id(images),
            "data": "",
            "dimension": dimension_name(_text(row, "task")),
            "index": _text(row, "index"),
            **{tag: _text(row, tag) for tag in _TAGS},
        }


def _plain(record: Any) -> dict[str, Any] | None:
    """A record with its field names folded; None if it is no object."""
    if not isinstance(record, dict):
        return None
    return {"_".join(str(name).lower().replace("_", " ").split()): value for name, value in record.items()}


def _text(row: Mapping[str, Any] | None, field: str) -> str:
    """A field as text: numbers as they are written, lists joined by "; ", nothing for null."""
    value = (row or {}).get(field)
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(item, str | int | float) for item in value):
        return "; ".join(str(item).strip() for item in value)
    if isinstance(value, dict | list):
        raise RejectedRow(f"{field} is no text: {str(value)[:60]!r}")
    return str(value).strip()


def _readable(row: Mapping[str, Any] | None, field: str) -> str:
    """:func:`_text`, with nothing for what is no text: that is said when the record is read."""
    try:
        return _text(row, field)
    except RejectedRow:
        return ""


def _paths(value: Any) -> Sequence[str]:
    paths = value if isinstance(value, list) else [value]
    if not paths or not all(isinstance(path, str) and path.strip() for path in paths):
        raise RejectedRow("image_path is empty" if not value else f"image_path is no text: {str(value)[:60]!r}")
    return [path.strip().replace("\\", "/") for path in paths]


def examine(record: DataSource, readers: Mapping[str, SplitReader]) -> Examination:
    """The numbers of questions here, in the release and in the paper; of multiple choice for each dimension too."""
    sizes, findings = [], []
    for name, reader in readers.items():
        assert isinstance(reader, MedCMRReader)
        sizes.append(Size(name, reader.records, PAPER[name], RELEASE[name]))
        if name == "mcq":
            paper, release = dimension_counts("mcq"), dimension_counts("release")
            counts = reader.dimension_counts()
            sizes += [Size(f"mcq, {each}", counts[each], paper[each], release[each]) for each in release]
            findings.append(Finding("paper's table", "note", _SWAPPED))
    return Examination(findings, sizes)


_SWAPPED = (
    "its counts by dimension are worked out from the accuracies that it prints. Its columns SU and MSI look swapped: "
    "the release has 371 and 709 questions of them, the table fits 709 and 371. Questions here have the release's own"
)


def _unpacked(name: str) -> tuple[tuple[str, ...], ...]:
    return ((f"dataset/{name}",), (name,))


MED_CMR = DataSource(
    name="med_cmr",
    title="Med-CMR",
    splits=(
        Split("mcq", (ARCHIVE,), "multiple-choice questions", instead=_unpacked(LISTS["mcq"])),
        Split("open", (ARCHIVE,), "open questions", instead=_unpacked(LISTS["open"])),
    ),
    tags={"dimension": "text", "index": "text", **dict.fromkeys(_TAGS, "text")},
    hub_repository="aaassddaadf/Med-CMR",
    revision="main",
    licence="Apache-2.0, as the hub's dataset page states",
    terms="those of the licence; the cases come from journals, whose own terms hold for their images",
    paper={"multiple-choice questions": PAPER["mcq"], "open questions": PAPER["open"]},
    expected=tuple(Expected((split,), questions) for split, questions in RELEASE.items()),
    open_split=MedCMRReader,
    examine=examine,
    notes=(
        "The release has 3,999 open questions, the paper says 3,998. Nothing is dropped; what was found is in each "
        "split's notes (more_than_the_paper).",
        "The dimension of a question is what the release says. The paper's columns SU and MSI look swapped against it "
        "(371 and 709 questions in the release; the paper's table fits 709 and 371).",
        "There is no split of training or development: all of it is the test set.",
        "The revision hash of the hub's dataset was not known when this was written, so 'main' is asked for; the "
        "commit that it stood for is recorded with each split.",
    ),
    strata=("dimension", "modality"),
)

SOURCES = (MED_CMR,)
