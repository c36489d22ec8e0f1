"""Med-CMR: 16,655 multiple-choice and 3,999 open questions on images of real cases, in seven dimensions.

The release is one ``dataset.zip``: a JSON list for each kind of question and the images. It is read packed or unpacked.
This reader was not tried on the real release: it was written against the fields that public code reads.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from lmms_medtasks import folders
from lmms_medtasks.data import any_tables, row_reader, sources
from lmms_medtasks.data.release_counts import ExpectedCounts
from lmms_medtasks.data.release_images import StoredImages
from lmms_medtasks.data.releases import Release, ZipFolder
from lmms_medtasks.errors import UserError, unknown_name_error
from lmms_medtasks.pictures import stored_images

ARCHIVE = "dataset.zip"
LISTS: Mapping[str, str] = {"mcq": "cmed.copy.mcq_cate.cleaned.json", "open": "cmed.copy.open_taged.cleaned.json"}
"""Split -> the file with its questions."""

PAPER: Mapping[str, int] = {"mcq": 16_655, "open": 3_998}

RELEASE: Mapping[str, int] = {"mcq": 16_655, "open": 3_999}
"""Split -> its questions in the release as others counted them (revision a9b2d6e6)."""

OPTIONS = ("a", "b", "c", "d", "e")
_TAGS = ("subtype", "question_type", "modality", "organ_system", "visual_description")
_FIELDS = ("index", "question", "image_path", "answer", "task", *_TAGS)
_LISTED = 15


class MedCMRReader(row_reader.RowReader):
    """Reads one of the two lists. Field names are compared in lower case, with ``_`` for a space."""

    def __init__(self, release: Release, split: sources.SourceSplit) -> None:
        """Read the list; ``UserError`` if fields or dimensions are not as expected."""
        self._split = split.name
        files, name, content = _open_release(release, split)
        folder = PurePosixPath(name).parent

        def image_file(path: str) -> str:
            """Images are in the list's folder (``dataset/imgs/...``)."""
            parts = PurePosixPath(path).parts
            return str(folder.joinpath(*(parts[1:] if parts[:1] == ("dataset",) else parts)))

        self._images = StoredImages(files, "image_path", image_file)
        self._rows = [*map(_fold_record, any_tables.iter_json_items(PurePosixPath(name), content))]
        self.records = len(self._rows)
        if not self._rows:
            raise UserError(f"{name} is an empty list, expected questions.")
        rows = [row for row in self._rows if not isinstance(row, row_reader.RejectedRow)]
        fields = list(dict.fromkeys(field for row in rows for field in row))
        row_reader.check_fields(name, (*_FIELDS, *(OPTIONS[:2] if self._split == "mcq" else ())), fields)
        spellings = row_reader.Spellings({"task": dimension_name})
        for number, row in self.read_rows():
            if not isinstance(row, row_reader.RejectedRow):
                spellings.look(number, {"task": _readable_text(row, "task")})
        spellings.check(name)
        self.dimension_counts = Counter(dimension_name(text) for row in rows if (text := _readable_text(row, "task")))
        indices = Counter[str]()
        for row in rows:
            index = _readable_text(row, "index")
            indices[index] += 1
            # A repeated index may be another question: its document gets an id of its own.
            row["id"] = f"{self._split}-{index}" + (f"-{indices[index]}" if indices[index] > 1 else "")
        self.notes = {
            "file": name,
            "fields": fields,
            "records": self.records,
            "paper": PAPER[self._split],
            "repeated_indices": sum(count - 1 for index, count in indices.items() if index),
        }

    def read_rows(self) -> Iterator[tuple[int, dict[str, Any] | row_reader.RejectedRow]]:
        return enumerate(self._rows, start=1)

    def read_name(self, row: row_reader.Row) -> str:
        return _readable_text(row, "index")

    def find_missing(self, row: row_reader.Row) -> list[str]:
        return self._images.missing(_image_paths(row))

    def make_document(self, row: row_reader.Row) -> dict[str, Any]:
        for field in ("index", "question", "answer", "task"):
            row_reader.reject_unless(_field_text(row, field), f"{field} is empty")
        options = []
        if self._split == "mcq":
            options = row_reader.filled_options([_field_text(row, field) for field in OPTIONS])
        answer = _field_text(row, "answer")
        return {
            "id": row["id"],
            **stored_images([self._images.read(path) for path in _image_paths(row)]),
            "question": _field_text(row, "question"),
            "options": options,
            "answer": row_reader.right_letter(answer, options) if options else answer,
            "dimension": dimension_name(_field_text(row, "task")),
            "index": _field_text(row, "index"),
            **{tag: _field_text(row, tag) for tag in _TAGS},
        }


def _open_release(release: Release, split: sources.SourceSplit) -> tuple[Release | ZipFolder, str, bytes]:
    """The folder or zip with questions and images, the name of the list in it, and the list's bytes."""
    files = split.files_in(release)
    if files is not None and files != (ARCHIVE,):
        path = release.file(files[0])
        try:
            return release, files[0], path.read_bytes()
        except OSError as error:
            raise UserError(f"{path} cannot be read: {error.strerror}.") from error
    zipped, name = ZipFolder(release.file(ARCHIVE)), LISTS[split.name]
    paths = zipped.find(name)
    if f"dataset/{name}" in paths:  # its usual path, whatever backups are elsewhere
        paths = [f"dataset/{name}"]
    if len(paths) > 1:
        raise UserError(f"{zipped.path} has {name} in {len(paths)} places: {', '.join(paths)}.")
    if not paths:
        names = sorted(zipped.names, key=lambda name: not name.endswith(".json"))
        shown = ", ".join(names[:_LISTED]) or "nothing"
        more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
        raise UserError(f"{zipped.path} has no {name}. It holds {shown}{more}. Is this Med-CMR's dataset.zip?")
    return zipped, paths[0], zipped.read(paths[0])


def _fold_record(record: Any) -> dict[str, Any] | row_reader.RejectedRow:
    if not isinstance(record, dict):
        return row_reader.RejectedRow("the record is no object")
    return {"_".join(str(name).lower().replace("_", " ").split()): value for name, value in record.items()}


def _field_text(row: row_reader.Row, field: str) -> str:
    """A field as text: numbers as they are written, lists joined by "; ", nothing for null."""
    value = row.get(field)
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(item, str | int | float) for item in value):
        return "; ".join(str(item).strip() for item in value)
    row_reader.reject_unless(not isinstance(value, dict | list), f"{field} is no text: {str(value)[:60]!r}")
    return str(value).strip()


def _readable_text(row: row_reader.Row, field: str) -> str:
    """As :func:`_field_text`, "" for a field that is not a text: its record is rejected later."""
    try:
        return _field_text(row, field)
    except row_reader.RejectedRow:
        return ""


def _image_paths(row: row_reader.Row) -> list[str]:
    value = row.get("image_path")
    paths: list[Any] = value if isinstance(value, list) else [value]
    if not paths or not all(isinstance(path, str) and path.strip() for path in paths):
        raise row_reader.RejectedRow(
            "image_path is empty" if not value else f"image_path is no text: {str(value)[:60]!r}"
        )
    return [path.strip().replace("\\", "/") for path in paths]


# --- Dimensions -------------------------------------------------------------------------------------------------------
def dimension_name(text: str) -> str:
    """The short name ("SOD" ... "MSI") for a release's spelling of a dimension; UserError for an unknown one."""
    short = _short_names().get(_fold_text(text))
    if short is None:
        allowed = [f"{dimension} ({row['name']})" for dimension, row in _dimension_names().items()]
        raise unknown_name_error("dimension", text, allowed)
    return short


def _dimension_names() -> Mapping[str, Any]:
    return folders.read_yaml(Path(__file__).with_name("dimensions.yml"))["dimensions"]


@functools.cache
def _short_names() -> Mapping[str, str]:
    """Every spelling, folded -> the short name."""
    return {
        _fold_text(spelling): short
        for short, row in _dimension_names().items()
        for name in (row["name"], *row["also"])
        for spelling in (short, name, name + short, short + name)
    }


def _fold_text(text: str) -> str:
    return re.sub("[^a-z0-9]", "", text.lower())


def dimension_counts(of: str) -> Mapping[str, int]:
    """Multiple-choice questions by dimension: in the "release", or as the paper's table implies ("mcq")."""
    return folders.read_yaml(Path(__file__).with_name("reference") / "counts.yml")[of]


# --- The source -------------------------------------------------------------------------------------------------------
def examine_release(
    record: sources.DataSource, readers: Mapping[str, row_reader.RowReader]
) -> sources.ReleaseExamination:
    """The numbers of questions here, in the release and in the paper; multiple choice also by dimension."""
    sizes, findings = [], []
    for name, reader in readers.items():
        assert isinstance(reader, MedCMRReader)
        sizes.append(sources.SplitSize(name, reader.records, PAPER[name], RELEASE[name]))
        if name == "mcq":
            paper, release = dimension_counts("mcq"), dimension_counts("release")
            sizes += [
                sources.SplitSize(f"mcq, {dimension}", reader.dimension_counts[dimension], paper[dimension], count)
                for dimension, count in release.items()
            ]
            findings.append(sources.ReleaseFinding("paper's table", "note", _SWAPPED))
    return sources.ReleaseExamination(findings, sizes)


_SWAPPED = (
    "its counts by dimension are worked out from the accuracies that it prints. Its columns SU and MSI look swapped: "
    "the release has 371 and 709 questions of them, the table fits 709 and 371. Questions here have the release's own"
)


MED_CMR = sources.DataSource(
    name="med_cmr",
    title="Med-CMR",
    splits=tuple(
        sources.SourceSplit(
            split, (ARCHIVE,), f"{kind} questions", instead=((f"dataset/{LISTS[split]}",), (LISTS[split],))
        )
        for split, kind in (("mcq", "multiple-choice"), ("open", "open"))
    ),
    tags={"dimension": "text", "index": "text", **dict.fromkeys(_TAGS, "text")},
    hub_repository="aaassddaadf/Med-CMR",
    revision="main",
    licence="Apache-2.0, as the hub's dataset page states",
    terms="those of the licence; the cases come from journals, whose own terms hold for their images",
    paper={"multiple-choice questions": PAPER["mcq"], "open questions": PAPER["open"]},
    expected=tuple(ExpectedCounts((split,), questions) for split, questions in RELEASE.items()),
    open_split=MedCMRReader,
    examine=examine_release,
    notes=(
        "The release has 3,999 open questions, the paper says 3,998. Nothing is dropped.",
        "The dimension of a question is what the release says. The paper's columns SU and MSI look swapped against it "
        "(371 and 709 questions in the release; the paper's table fits 709 and 371).",
        "There is no split of training or development: all of it is the test set.",
        sources.REVISION_NOT_KNOWN,
    ),
    strata=("dimension", "modality"),
)

SOURCES = (MED_CMR,)
