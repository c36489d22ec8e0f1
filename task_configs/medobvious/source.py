"""MedObvious: 1,880 questions about grids of medical images in which one panel may not belong.

The release is a git repository: a JSON line for each question, and the images. An item is eight questions: five formats
about a grid with an outlier, three about grids without one. This reader was tried on parts of the release's text
(all_tasks.jsonl), not on its images.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from lmms_medtasks.data.documents import LETTERS
from lmms_medtasks.data.release_counts import ExpectedCounts
from lmms_medtasks.data.release_images import StoredImages
from lmms_medtasks.data.releases import Release
from lmms_medtasks.data.row_reader import RejectedRow, Row, RowReader, check_fields, reject_unless
from lmms_medtasks.data.sources import DataSource, SourceSplit
from lmms_medtasks.errors import UserError
from lmms_medtasks.grid_positions import NONE_OPTION, GridSize, parse_size

ROOT = "benchmark_refined"
TASKS = "all_tasks.jsonl"
FORMATS = ("detection_mcq", "detection_open", "referring_mcq", "referring_open", "visual_referring")
NONE = "none"

TAGS: Mapping[str, str] = {
    "tier": "integer",
    **dict.fromkeys(("task_type", "kind", "item"), "text"),
    "negative": "integer",
    **dict.fromkeys(("grid", "answer_position", "answer_keywords", "explanation"), "text"),
}
"""``item``: shared by the eight questions of an item; ``kind``: of its outlier, from the middle of the id; ``grid``:
"2x2"; ``answer_position``: of the outlier, "none" without one, "" if the release does not state it (a highlighted panel
whose item has no other question)."""

_FIELDS = ("id", "image_path", "task_type", "question", "answer", "is_negative")
TIERS = (1, 2, 3, 4, 5)
"""The paper's. The authors' site shows questions of a sixth."""

# v1_mri_vs_ct_0_det_mcq_neg is tier 1, kind mri_vs_ct, item v1_mri_vs_ct_0.
_ID = re.compile(
    r"(?P<item>v(?P<tier>[1-9][0-9]?)_(?P<kind>.+)_\d+)_(?P<form>(?:det|ref)_(?:mcq|open)(?:_neg)?|vis_(?:pos|neg))"
)
_FORMS = dict(
    zip(("det_mcq", "det_open", "ref_mcq", "ref_open", "vis_pos", "vis"), (*FORMATS, FORMATS[4]), strict=True)
)
_SIZE = re.compile(r"(?<!\d)(\d{1,2}) ?[×xX] ?(\d{1,2})(?!\d)")


class MedObviousReader(RowReader):
    """Reads ``all_tasks.jsonl`` and the images beside it."""

    def __init__(self, release: Release, split: SourceSplit) -> None:
        """Read the file; ``UserError`` if it cannot be read or no line has the required fields."""
        name = (split.files_in(release) or split.files)[0]
        folder = name.removesuffix(TASKS)
        self._images = StoredImages(release, "image_path", lambda path: folder + path)
        lines = list(_read_lines(release, name))
        tiers = [_tier_of(row) for _, row in lines]
        others = Counter(tier for tier in tiers if tier and tier not in TIERS)
        if split.apart_from and not others:
            raise UserError(f"{name} has no question of another tier than the paper's: {', '.join(map(str, TIERS))}.")
        self.apart = {} if split.apart_from else {f"tier {tier}": others[tier] for tier in sorted(others)}
        self._lines = [
            line for line, tier in zip(lines, tiers, strict=True) if (tier in others) == bool(split.apart_from)
        ]
        self.records = len(self._lines)
        objects = [row for _, row in lines if not isinstance(row, RejectedRow)]
        check_fields(name, _FIELDS, max(objects, key=lambda row: len(set(_FIELDS) & set(row)), default=()))
        self._outliers = _outlier_positions(objects)
        self.notes: dict[str, Any] = {}

    def read_rows(self) -> list[tuple[int, Row | RejectedRow]]:
        """The lines that are not empty."""
        return self._lines

    def read_name(self, row: Row) -> str:
        return str(row.get("id") or "")

    def find_missing(self, row: Row) -> list[str]:
        return self._images.missing([_path_in_release(row)] if row.get("image_path") else [])

    def make_document(self, row: Row) -> dict[str, Any]:
        reject_unless(row.get("image_path"), "image_path is missing")
        outlier = self._outliers.get(_item_of_question(row), "")
        return question_document(row, self._images.fields(_path_in_release(row)), outlier)


def question_document(row: Row, image: Mapping[str, Any], outlier: str = "") -> dict[str, Any]:
    """The document of a line; ``image``: the fields of its image; ``outlier``: its position, if no field states it.

    Raises:
        RejectedRow: a field is missing or contradicts another; the text says which.
    """
    for field in _FIELDS:
        reject_unless(row.get(field) is not None and row[field] != "", f"{field} is missing")
    wrong = f"id {str(row['id'])[:80]!r} is not of the form vTIER_KIND_NUMBER_FORM, as v1_mri_vs_ct_0_det_mcq is"
    parts, form, negative = reject_unless(_ID.fullmatch(str(row["id"])), wrong), row["task_type"], row["is_negative"]
    reject_unless(form in FORMATS, f"task_type {str(form)[:60]!r} is unknown, allowed: {', '.join(FORMATS)}")
    reject_unless(isinstance(negative, bool), f"is_negative is {negative!r}, expected true or false")
    stated = (_FORMS[parts["form"].removesuffix("_neg")], parts["form"].endswith("_neg"))
    wrong = f"id {row['id']!r} contradicts task_type {form!r} or is_negative {str(negative).lower()}"
    reject_unless(stated == (form, negative), wrong)
    options = _option_texts(row)
    size = _grid_size(row, len(options))
    answer, position = _answer_and_position(row, options, size)
    keywords = row.get("answer_keywords") or []
    reject_unless(isinstance(keywords, list | str), f"answer_keywords is no list: {str(keywords)[:60]!r}")
    return {
        "id": row["id"],
        **image,
        "question": str(row["question"]).strip(),
        "options": options,
        "answer": answer,
        "tier": int(parts["tier"]),
        "task_type": form,
        "kind": parts["kind"],
        "item": parts["item"],
        "negative": int(negative),
        "grid": str(size),
        "answer_position": position or outlier,
        "answer_keywords": keywords if isinstance(keywords, str) else "; ".join(map(str, keywords)),
        "explanation": str(row.get("explanation") or ""),
    }


def _read_lines(release: Release, name: str) -> Iterator[tuple[int, Row | RejectedRow]]:
    """Number and object (or why there is none) of every line that is not empty; ``UserError`` without any."""
    try:
        texts = release.file(name).read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise UserError(f"{name} is not UTF-8 text: {error.reason} at byte {error.start:,}.") from error
    except OSError as error:
        raise UserError(f"{name} cannot be read: {error.strerror}.") from error
    if not any(map(str.strip, texts)):
        raise UserError(f"{name} is empty.")
    for number, text in enumerate(texts, start=1):
        if text.strip():
            try:
                row = json.loads(text)
            except (ValueError, RecursionError) as error:
                yield number, RejectedRow(f"line {number} is not JSON: {error}")
                continue
            yield number, row if isinstance(row, dict) else RejectedRow(f"line {number} is no JSON object")


def _option_texts(row: Row) -> list[str]:
    """The options' texts in the order of their letters; [] for open formats."""
    options = row.get("options")
    if not row["task_type"].endswith("mcq"):
        reject_unless(not options, f"there are options, but {row['task_type']} has none")
        return []
    if not isinstance(options, Mapping) or list(options) != list(LETTERS[: len(options)]):
        raise RejectedRow(f"options are not texts by the letters A, B, ...: {str(options)[:60]!r}")
    return [str(text).strip() for text in options.values()]


def _grid_size(row: Row, options: int) -> GridSize:
    """The grid's size: a field ``grid`` if there is one, else the question's "2×2", else the number of options."""
    stated, side = _SIZE.search(str(row["question"])), round(max(0, options - 1) ** 0.5)
    text = str(row.get("grid") or (stated[0] if stated else f"{side}x{side}" if options else ""))
    reject_unless(text, "neither a field grid nor the question says how large the grid is (2×2 ...)")
    try:
        return parse_size(text)
    except UserError as error:
        raise RejectedRow(str(error)) from error


def _answer_and_position(row: Row, options: list[str], size: GridSize) -> tuple[str, str]:
    """The answer (letter, position, "none", "yes" or "no") and the outlier's position ("" if not given)."""
    answer, given = str(row["answer"]).strip(), str(row.get("answer_position") or "").strip()
    positions, negative, panel = (*size.positions, NONE), row["is_negative"], row["task_type"] == FORMATS[4]
    wrong = f"answer_position {given[:60]!r} is no position of a {size} grid, nor none"
    reject_unless(not given or given in positions, wrong)
    if options:
        shown = ", ".join(options)[:120]
        reject_unless(options == [*size.positions, NONE_OPTION], f"options do not fit a {size} grid: {shown!r}")
        letters = LETTERS[: len(options)]
        wrong = f"answer {answer[:40]!r} is not among the options A to {letters[-1]}"
        reject_unless(len(answer) == 1 and answer in letters, wrong)
        position = positions[LETTERS.index(answer)]
    elif panel:
        answer = answer.lower()
        reject_unless(answer in ("yes", "no"), f"answer {answer[:40]!r} is neither yes nor no")
        position = NONE if negative else given
    else:
        reject_unless(answer in positions, f"answer {answer[:60]!r} is no position of a {size} grid, nor none")
        position = answer
    reject_unless(given in ("", position), f"answer {answer!r} and answer_position {given!r} contradict each other")
    says_none = answer == "no" if panel else position == NONE
    reject_unless(says_none == negative, f"answer {answer!r} contradicts is_negative {str(negative).lower()}")
    return answer, position


def _path_in_release(row: Row) -> str:
    """An image's path in the release's folder: the release has paths of the authors' machine."""
    return str(row["image_path"]).replace("\\", "/").rpartition(f"{ROOT}/")[2]


def _item_of_question(row: Row) -> str:
    """The item that a positive question belongs to, "" for others."""
    match = _ID.fullmatch(str(row.get("id") or ""))
    return match["item"] if match and not match["form"].endswith("_neg") else ""


def _tier_of(row: Row | RejectedRow) -> int | None:
    """From the start of the id: a format that only another tier has does not count as the paper's tiers."""
    match = None if isinstance(row, RejectedRow) else re.match(r"v([1-9][0-9]?)_", str(row.get("id") or ""))
    return int(match[1]) if match else None


def _outlier_positions(rows: list[Row]) -> dict[str, str]:
    """Item -> position of its outlier, for items whose questions agree on one."""
    by_item: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        position = row.get("answer_position") or (row.get("answer") if row.get("task_type") in FORMATS[1::2] else None)
        if (item := _item_of_question(row)) and isinstance(position, str):
            by_item[item].add(position)
    return {item: positions.pop() for item, positions in by_item.items() if len(positions) == 1}


MEDOBVIOUS = DataSource(
    name="medobvious",
    title="MedObvious",
    splits=(
        SourceSplit("test", (f"{ROOT}/{TASKS}",), "all five tiers and formats", instead=((TASKS,),)),
        SourceSplit(
            "other_tiers",
            (f"{ROOT}/{TASKS}",),
            "questions of tiers that the paper does not have",
            default=False,
            instead=((TASKS,),),
            apart_from="test",
        ),
    ),
    tags=TAGS,
    hub_repository="",
    revision="",
    obtain="Get it with git: git clone https://github.com/Ufaqkhan/MedObvious (about 600 MB), and give the clone's "
    "folder, or benchmark_refined in it.",
    licence="not stated in what we have seen; see the repository",
    terms="not stated in what we have seen; its images come from ROCO and Kvasir, whose own terms hold",
    paper={"tasks": 1880, "positive tasks": 1175, "negative tasks": 705, "items": 235},
    expected=(ExpectedCounts(("test",), 1880),),
    open_split=MedObviousReader,
    notes=(
        "Only the text of the release was read by us, in parts; the reader was never tried on its images.",
        "The wording of a question gives away whether there is an outlier; the task medobvious_neutral asks alike.",
    ),
    unit="item",
    strata=("tier", "kind"),
)

SOURCES = (MEDOBVIOUS,)
