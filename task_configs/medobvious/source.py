"""MedObvious: 1,880 questions about grids of medical images in which one panel may not belong.

The release is a git repository: a JSON line for each question, and the images. An item is eight questions: five formats
about a grid with an outlier, three about grids without one. Its text (all_tasks.jsonl) was read here in parts; nobody
has tried this reader on the whole of the release with its images.
"""

from __future__ import annotations

import functools
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from lmms_medtasks.data.documents import LETTERS
from lmms_medtasks.data.image_bytes import image_id
from lmms_medtasks.data.release_counts import Expected
from lmms_medtasks.data.releases import MissingFileError, Release, checked_name
from lmms_medtasks.data.sources import Candidate, DataSource, RejectedRow, Split
from lmms_medtasks.errors import UserError
from lmms_medtasks.grid_positions import NONE_OPTION, Size, parse_size
from lmms_medtasks.progress import say

ROOT = "benchmark_refined"
TASKS = "all_tasks.jsonl"
FORMATS = ("detection_mcq", "detection_open", "referring_mcq", "referring_open", "visual_referring")
NONE = "none"

TAGS: Mapping[str, str] = {
    "tier": "integer",
    "task_type": "text",
    "kind": "text",
    "item": "text",
    "negative": "integer",
    "grid": "text",
    "answer_position": "text",
    "answer_keywords": "text",
    "explanation": "text",
}
"""``item``: what the eight questions of an item share; ``kind``: what its outlier is, by the middle of the id;
``grid``: "2x2"; ``answer_position``: where the outlier is, "none" without one, "" where the release does not say (of a
highlighted panel whose item has no other question)."""

_FIELDS = ("id", "image_path", "task_type", "question", "answer", "is_negative")
_ID = re.compile(r"v([1-5])_(.+)_(\d+)_((?:det|ref)_(?:mcq|open)(?:_neg)?|vis_(?:pos|neg))")
_TYPES = {"det_mcq": FORMATS[0], "det_open": FORMATS[1], "ref_mcq": FORMATS[2], "ref_open": FORMATS[3],
          "vis": FORMATS[4]}  # fmt: skip
_SIZE = re.compile(r"(?<!\d)(\d{1,2}) ?[×xX] ?(\d{1,2})(?!\d)")
_LISTED = 20


class Id(NamedTuple):
    """What an id says: ``v1_mri_vs_ct_0_det_mcq_neg`` is tier 1, kind mri_vs_ct, item v1_mri_vs_ct_0."""

    tier: int
    kind: str
    item: str
    task_type: str
    negative: bool


def parsed_id(text: str) -> Id:
    """The parts of an id; ``RejectedRow`` if it is not of the release's form."""
    match = _ID.fullmatch(text)
    if not match:
        raise RejectedRow(f"id {text[:80]!r} is not of the form v1_KIND_NUMBER_FORM (FORM: det_mcq, vis_neg ...)")
    tier, kind, number, form = match.groups()
    return Id(
        int(tier), kind, f"v{tier}_{kind}_{number}", _TYPES[re.sub("_(neg|pos)$", "", form)], form.endswith("neg")
    )


def document(row: Mapping[str, Any], image: bytes, outlier: str = "") -> dict[str, Any]:
    """The canonical document of a line of the release, without its ``data`` field.

    ``outlier`` is the position of the outlier as the item's other questions give it, for a highlighted panel.

    Raises:
        RejectedRow: a field is missing or contradicts another; the text says which.
    """
    for field in _FIELDS:
        if row.get(field) is None or row[field] == "":
            raise RejectedRow(f"{field} is missing")
    named, task_type = parsed_id(str(row["id"])), row["task_type"]
    if task_type not in FORMATS:
        raise RejectedRow(f"task_type {str(task_type)[:60]!r} is unknown, allowed: {', '.join(FORMATS)}")
    if not isinstance(row["is_negative"], bool):
        raise RejectedRow(f"is_negative is {row['is_negative']!r}, expected true or false")
    if (named.task_type, named.negative) != (task_type, row["is_negative"]):
        raise RejectedRow(
            f"id {row['id']!r} contradicts task_type {task_type!r} or is_negative {str(row['is_negative']).lower()}"
        )
    options = _options(row, task_type)
    size = _size(row, len(options))
    answer, position = _answer(row, named, options, size)
    return {
        "id": row["id"],
        "image": {"bytes": image, "path": None},
        "images": [],
        "question": str(row["question"]).strip(),
        "options": options,
        "answer": answer,
        "image_id": image_id([image]),
        "data": "",
        "tier": named.tier,
        "task_type": task_type,
        "kind": named.kind,
        "item": named.item,
        "negative": int(named.negative),
        "grid": str(size),
        "answer_position": position or outlier,
        "answer_keywords": "; ".join(str(word) for word in row.get("answer_keywords") or []),
        "explanation": str(row.get("explanation") or ""),
    }


def _options(row: Mapping[str, Any], task_type: str) -> list[str]:
    """The options' texts in the order of their letters; none for open formats."""
    found = row.get("options")
    if not task_type.endswith("mcq"):
        if found:
            raise RejectedRow(f"there are options, but {task_type} has none")
        return []
    if not isinstance(found, Mapping) or list(found) != list(LETTERS[: len(found)]):
        raise RejectedRow(f"options are not texts by the letters A, B, ...: {str(found)[:60]!r}")
    return [str(text).strip() for text in found.values()]


def _size(row: Mapping[str, Any], options: int) -> Size:
    """The grid's size: a field ``grid`` if there is one, else the question's "2×2", else the number of options."""
    stated = _SIZE.search(str(row["question"]))
    text = str(row.get("grid") or (stated[0] if stated else ""))
    if not text and options:
        side = round((options - 1) ** 0.5)
        text = f"{side}x{side}"
    if not text:
        raise RejectedRow("neither a field grid nor the question says how large the grid is (2×2 ...)")
    try:
        size = parse_size(text)
    except UserError as error:
        raise RejectedRow(str(error)) from error
    return size


def _answer(row: Mapping[str, Any], named: Id, options: list[str], size: Size) -> tuple[str, str]:
    """The answer (letter, position, "none", "yes" or "no") and the outlier's position ("" where it is not given)."""
    answer, given = str(row["answer"]).strip(), str(row.get("answer_position") or "").strip()
    allowed = (*size.positions, NONE)
    if given and given not in allowed:
        raise RejectedRow(f"answer_position {given[:60]!r} is no position of a {size} grid, nor none")
    position = given
    if options:
        if options != [*size.positions, NONE_OPTION]:
            raise RejectedRow(f"options do not fit a {size} grid: {', '.join(options)[:120]!r}")
        if len(answer) != 1 or answer not in LETTERS[: len(options)]:
            raise RejectedRow(f"answer {answer[:40]!r} is not among the options A to {LETTERS[len(options) - 1]}")
        position = allowed[LETTERS.index(answer)]
    elif named.task_type == "visual_referring":
        answer = answer.lower()
        if answer not in ("yes", "no"):
            raise RejectedRow(f"answer {answer[:40]!r} is neither yes nor no")
        position = NONE if named.negative else given
    else:
        if answer not in allowed:
            raise RejectedRow(f"answer {answer[:60]!r} is no position of a {size} grid, nor none")
        position = answer
    if given and given != position:
        raise RejectedRow(f"answer {answer!r} and answer_position {given!r} contradict each other")
    says_none = answer == "no" if named.task_type == "visual_referring" else position == NONE
    if says_none != named.negative:
        raise RejectedRow(f"answer {answer!r} contradicts is_negative {str(named.negative).lower()}")
    return answer, position


class MedObviousReader:
    """Reads ``all_tasks.jsonl`` and the images beside it."""

    def __init__(self, release: Release, split: Split) -> None:
        """Look the file through; ``UserError`` if no line has the fields that are wanted, or it cannot be read."""
        self._release = release
        name = (split.files_in(release) or split.files)[0]
        self._folder = name.removesuffix(TASKS)
        self._lines = _lines(release, name)
        self.records = len(self._lines)
        rows = [row for _, row, _ in self._lines if row is not None]
        if not any(set(_FIELDS) <= set(row) for row in rows):
            found = sorted({field for row in rows[:50] for field in row})
            raise UserError(
                f"{name} lacks required fields. Required: {', '.join(_FIELDS)}. "
                f"Found: {', '.join(found) or 'no JSON object'}."
            )
        self._positions = _positions(rows)
        self.notes: Mapping[str, Any] = {**counted(rows), **self._missing(rows)}

    def _missing(self, rows: list[dict[str, Any]]) -> dict[str, Any]:
        names = {_inside(str(row["image_path"])) for row in rows if row.get("image_path")}
        missing = sorted(name for name in names if not self._has(name))
        if missing:
            shown = ", ".join(missing[:_LISTED]) + (" ..." if len(missing) > _LISTED else "")
            say(
                f"{len(missing):,} of {len(names):,} images are missing; their questions are rejected (once the images "
                f"are there, prepare with --force): {shown}"
            )
        return {"images": len(names), "missing_images": missing}

    def _has(self, name: str) -> bool:
        try:
            return self._release.has(self._folder + checked_name(name))
        except MissingFileError:
            return False

    def missing_images(self) -> Iterator[tuple[str, ...]]:
        """For each question whose image is not there: its name."""
        for _, row, _ in self._lines:
            if row is not None and row.get("image_path") and not self._has(name := _inside(str(row["image_path"]))):
                yield (name,)

    def candidates(self) -> Iterator[Candidate]:
        """Every line as a document without its ``data`` field, or with the reason why it is none."""
        for number, row, problem in self._lines:
            if row is None:
                yield Candidate(number, "", reason=problem)
                continue
            name = str(row.get("id") or "")
            try:
                image = self._image(row)
                yield Candidate(number, name, document(row, image, self._positions.get(_item(name), "")))
            except RejectedRow as reason:
                yield Candidate(number, name, reason=str(reason))

    def _image(self, row: Mapping[str, Any]) -> bytes:
        if not row.get("image_path"):
            raise RejectedRow("image_path is missing")
        name = _inside(str(row["image_path"]))
        try:
            return self._release.file(self._folder + checked_name(name)).read_bytes()
        except MissingFileError as error:
            raise RejectedRow(f"image is missing: {error}") from error
        except OSError as error:
            raise RejectedRow(f"image {name!r} cannot be read: {error.strerror}") from error


def _lines(release: Release, name: str) -> list[tuple[int, dict[str, Any] | None, str]]:
    """(line number, the object or None, why it is none) of every line that is not empty."""
    try:
        texts = release.file(name).read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise UserError(f"{name} is not UTF-8 text: {error.reason} at byte {error.start:,}.") from error
    except OSError as error:
        raise UserError(f"{name} cannot be read: {error.strerror}.") from error
    found: list[tuple[int, dict[str, Any] | None, str]] = []
    for number, text in enumerate(texts, start=1):
        if not text.strip():
            continue
        try:
            row = json.loads(text)
        except (ValueError, RecursionError) as error:
            found.append((number, None, f"line {number} is not JSON: {error}"))
            continue
        problem = "" if isinstance(row, dict) else f"line {number} is no JSON object"
        found.append((number, None if problem else row, problem))
    if not found:
        raise UserError(f"{name} is empty.")
    return found


def _inside(path: str) -> str:
    """The part of an image's path below the release's folder; the release has paths of the authors' machine."""
    return path.replace("\\", "/").rpartition(f"{ROOT}/")[2]


def _item(name: str) -> str:
    """The item that a positive question belongs to, "" for others."""
    match = _ID.fullmatch(name)
    return f"v{match[1]}_{match[2]}_{match[3]}" if match and not match[4].endswith("neg") else ""


def _positions(rows: list[dict[str, Any]]) -> dict[str, str]:
    """Item -> where its outlier is, where its questions agree on one place."""
    found: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        item = _item(str(row.get("id") or ""))
        place = row.get("answer_position") or (row.get("answer") if row.get("task_type") in FORMATS[1::2] else None)
        if item and isinstance(place, str):
            found[item].add(place)
    return {item: places.pop() for item, places in found.items() if len(places) == 1}


@functools.cache
def paper() -> Mapping[str, Any]:
    """The paper's counts of tasks: ``tasks``, ``items``, and by ``tier``, ``format`` and ``sign``."""
    counts: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("source.yml").read_text(encoding="utf-8"))
    return counts


def counted(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The numbers of questions by tier, format and sign, and where they differ from the paper's, which is said too."""
    ids = [match for row in rows if (match := _ID.fullmatch(str(row.get("id") or "")))]
    counts: dict[str, Any] = {
        "tasks": len(rows),
        "items": len({(match[1], match[2], match[3]) for match in ids}),
        "tier": dict(sorted(Counter(int(match[1]) for match in ids).items())),
        "format": dict(sorted(Counter(str(row.get("task_type")) for row in rows).items())),
        "sign": dict(Counter("negative" if row.get("is_negative") else "positive" for row in rows)),
    }
    differences = [f"{what}: {counts[what]:,}, the paper has {paper()[what]:,}" for what in ("tasks", "items")
                   if counts[what] != paper()[what]]  # fmt: skip
    for what in ("tier", "format", "sign"):
        for key in sorted({*counts[what], *paper()[what]}, key=str):
            found, wanted = counts[what].get(key, 0), paper()[what].get(key, 0)
            if found != wanted:
                differences.append(f"{what} {key}: {found:,}, the paper has {wanted:,}")
    if differences:
        more = f" and {len(differences) - 3} more" if len(differences) > 3 else ""
        say(f"MedObvious: other counts than the paper's: {'; '.join(differences[:3])}{more} (all are in the manifest)")
    # The keys of a manifest are texts.
    counts["tier"] = {f"T{tier}": count for tier, count in counts["tier"].items()}
    return {"counts": counts, "differences_from_paper": differences}


MEDOBVIOUS = DataSource(
    name="medobvious",
    title="MedObvious",
    splits=(Split("test", (f"{ROOT}/{TASKS}",), "all five tiers and formats", instead=((TASKS,),)),),
    tags=TAGS,
    hub_repository="",
    revision="",
    obtain="Get it with git: git clone https://github.com/Ufaqkhan/MedObvious (about 600 MB), and give the clone's "
    "folder, or benchmark_refined in it.",
    licence="not stated in what we have seen; see the repository",
    terms="not stated in what we have seen; its images come from ROCO and Kvasir, whose own terms hold",
    paper={"tasks": 1880, "positive tasks": 1175, "negative tasks": 705, "items": 235},
    expected=(Expected(("test",), 1880),),
    open_split=MedObviousReader,
    notes=(
        "Only the text of the release was read by us, in parts; the reader was never tried on its images.",
        "The wording of a question gives away whether there is an outlier; the task medobvious_neutral asks alike.",
    ),
    unit="item",
    strata=("tier", "kind"),
)

SOURCES = (MEDOBVIOUS,)
