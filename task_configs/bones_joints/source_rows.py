"""A row of a Bones and Joints release as a question of one task: its document, or why it is rejected."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lmms_medtasks.data.documents import LETTERS
from lmms_medtasks.data.release_images import ImageCells
from lmms_medtasks.data.row_reader import RejectedRow, filled_options, reject_unless, right_letter
from lmms_medtasks.pictures import stored_images
from lmms_medtasks.task_configs.bones_joints.source_forms import PathwayTask, is_listed, site_named
from lmms_medtasks.task_configs.bones_joints.source_layout import CASE_TEXT, REFERENCES, ReleaseTable, Row, options_in

LISTED, UNLISTED = "listed", "unlisted"

HEADINGS: Mapping[str, str] = {
    "complaint": "Chief complaint",
    "history": "Medical history",
    "examination": "Physical examination",
    "laboratory": "Laboratory tests",
}

_FIGURES = re.compile(
    r"(?:\bfig(?:ure)?s?\.?|\bimages?|\bpictures?|[图])\s*((?:\d{1,2}(?:\s*(?:,|and|&|to|-|\u2013|\u3001)\s*)?)+)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class CaseQuestion:
    """A row as a question of one task."""

    table: ReleaseTable
    row: Row
    task: PathwayTask
    number: int

    @property
    def name(self) -> str:
        """The document's id: the task, and the row's id in the release or else its number."""
        try:
            row_id = self._text("id") or (self._text("case") if self.table.layout == "cases" else "")
        except RejectedRow:
            row_id = ""
        return f"{self.task.key}-{row_id or self.number}"

    @property
    def image_cells(self) -> list[Any]:
        """The cells that may hold images."""
        return [self.row.get(name) for name in self.table.images]

    def document(self, cells: ImageCells) -> dict[str, Any]:
        """The canonical document without ``data``; RejectedRow with the reason why the row is unusable."""
        question, options = self._question()
        answer = right_letter(self._answer(), options) if options else self._answer()
        images = cells.images(self.image_cells, self.table.name)
        stated = self._text("image_count")
        is_wrong = re.fullmatch(r"\d+(?:\.0)?", stated) and int(float(stated)) != len(images)
        reject_unless(not is_wrong, f"image count is {stated}, there are {len(images)} images")
        reject_unless(images or not self.task.images, f"there is no image, which {self.task.title} needs")
        shown = stored_images(images)
        if not images:
            shown["image_id"] = f"text-{self.name}"
        disease = self._text("disease") or self._text("diagnosis")
        stated_case = self._text("case") or (self._text("id") if self.table.layout == "cases" else "")
        case = stated_case or (shown["image_id"] if images else self.name)
        site = self._site("site")
        return {
            "id": self.name,
            **shown,
            "question": question,
            "options": options,
            "answer": answer,
            "task": self.task.key,
            "case_id": case,
            "image_case": case if images and self.task.key != "t8" else "",
            "site": site,
            "image_site": self._site("image_site") if self.task.key == "t8" else site,
            "disease": disease,
            "disease_listed": (LISTED if is_listed(disease) else UNLISTED) if disease else "",
            "modality": self._text("modality"),
            "report": self._text("report"),
            "image_count": len(images),
            "figures": figures_named(question),
        }

    def _question(self) -> tuple[str, list[str]]:
        """The text that is shown, and the options of a multiple-choice question."""
        question = self._text("question")
        if self.task.form != "choice":
            text = "\n".join(filter(None, [*self._sections(), question]))
            reject_unless(text, "there is no text of the case")
            return text, []
        options = self._options()
        if not options:
            question, options = options_in(question)
        reject_unless(question, "question is empty")
        reject_unless(len(options) > 1, "there are no options")
        # Task III is diagnosed from the image alone.
        return "\n".join([*(self._sections() if self.task.key != "t3" else []), question]), options

    def _sections(self) -> list[str]:
        texts = {concept: self._text(concept) for concept in CASE_TEXT}
        return [f"{HEADINGS[concept]}: {text}" for concept, text in texts.items() if text]

    def _options(self) -> list[str]:
        value = self.table.value(self.row, "options")
        if value is not None and value != "":
            return parse_options(value)
        texts = [_as_text(self.row.get(name), name) for name in self.table.options]
        return filled_options(texts) if any(texts) else []

    def _answer(self) -> str:
        """The reference; of a chain of reasoning the experts' chain stands above a short answer."""
        concepts, is_chain = REFERENCES.get(self.task.key, ()), self.task.form == "chain"
        if self.table.layout != "cases":
            concepts = (*concepts, "answer") if is_chain else ("answer", *concepts)
        separator = "\n" if is_chain else "; "
        texts = (_as_text(self.table.value(self.row, concept), concept, separator) for concept in concepts)
        answer = next(filter(None, texts), "")
        columns = [self.table.used[concept] for concept in concepts if concept in self.table.used]
        reject_unless(answer, f"the reference ({', '.join(columns or concepts)}) is empty")
        return answer

    def _site(self, concept: str) -> str:
        text = self._text(concept)
        return site_named(text) or text.strip().lower()

    def _text(self, concept: str) -> str:
        return _as_text(self.table.value(self.row, concept), concept)


def _as_text(value: Any, name: str, separator: str = "; ") -> str:
    """A cell as text: numbers as they are written, lists joined, nothing for null."""
    if value is None:
        return ""
    if isinstance(value, list):
        return separator.join(filter(None, (_as_text(item, name) for item in value)))
    if isinstance(value, Mapping):
        return separator.join(f"{key}: {text}" for key, item in value.items() if (text := _as_text(item, name)))
    reject_unless(not isinstance(value, bytes), f"{name} is no text")
    text = str(value).strip()
    return "" if text.lower() in ("nan", "none", "null") else text


def parse_options(value: Any) -> list[str]:
    """The options in one cell: a list, a mapping from letters, JSON of either, or lines "A. ...".

    Raises:
        RejectedRow: it is something else, or an option is empty.
    """
    if isinstance(value, str) and value.strip()[:1] in ("[", "{"):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise RejectedRow(f"options is no JSON: {error}") from error
    if isinstance(value, Mapping):
        value = [value[key] for key in sorted(value, key=str) if value[key] is not None]
    if isinstance(value, str):
        value = options_in(value)[1] or [line.strip() for line in value.splitlines() if line.strip()]
    if not isinstance(value, list):
        raise RejectedRow(f"options is no list: {str(value)[:60]!r}")
    texts = [re.sub(r"^\s*[(]?[A-H][).:、．]\s*", "", _as_text(option, "options")) for option in value]
    empty = [letter for letter, text in zip(LETTERS, texts, strict=False) if not text]
    reject_unless(not empty, f"option {', '.join(empty)} is empty")
    return texts


def figures_named(text: str) -> int:
    """The highest number of a figure or image that a text names, 0 if it names none.

    >>> figures_named("See Figures 1, 2 and 3."), figures_named("Fig. 2 shows it"), figures_named("aged 31")
    (3, 2, 0)
    """
    numbers = [int(number) for match in _FIGURES.finditer(text) for number in re.findall(r"\d+", match.group(1))]
    return max(numbers, default=0)
