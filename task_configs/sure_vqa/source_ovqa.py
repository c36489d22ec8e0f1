"""OVQA for SURE-VQA: questions about orthopaedic CT and X-ray images, cleaned as the authors' public code does."""

from __future__ import annotations

from typing import Any

from lmms_medtasks.data.image_files import folder_of_images, referenced
from lmms_medtasks.data.release_counts import Expected
from lmms_medtasks.data.releases import LocalRelease, Release
from lmms_medtasks.data.sources import DataSource, Finding, Split
from lmms_medtasks.errors import UserError
from lmms_medtasks.task_configs.sure_vqa import shift_rules
from lmms_medtasks.task_configs.sure_vqa.source_check import examine
from lmms_medtasks.task_configs.sure_vqa.source_reader import (
    TAGS,
    YES_NO,
    Form,
    Row,
    SureReader,
    document,
    dropped,
    text,
    yes_no,
)

FOLDERS = ("img", "imgs")
_IMAGE = ("image_name", "img_name", "image")

KEPT = {
    "Is this a CT image or X-Ray image": ("CT", "X-Ray"),
    "Is this an MRI or a CT scan": ("MRI", "CT"),
    "Was this image taken with an MRI or CT scanner": ("MRI", "CT"),
}
"""The closed questions that stay although their answer is neither yes nor no, and their choices (authors' code)."""


def open_split(release: Release, split: Split) -> SureReader:
    """The reader of a split; ``UserError`` if its files are not as expected."""
    folder = folder_of_images(release.folder, FOLDERS) if isinstance(release, LocalRelease) else None
    if folder is None:
        raise UserError("OVQA's images are missing: expected the folder img beside the questions.")
    return SureReader(release.file(split.files[0]), split.name, FORM, referenced(folder))


def _choices(row: Row) -> tuple[str, ...]:
    """The choices of a closed question, none if it is one that the cleaning drops."""
    named = [choices for asked, choices in KEPT.items() if asked in str(row["question"])]
    return yes_no(str(row["answer"])) or (named[0] if named else ())


def _cleaned(row: Row) -> str:
    closed = str(row["answer_type"]).strip().lower() == "closed"
    return dropped(str(row["question"]), str(row["answer"]), tuple(KEPT)) if closed else ""


def _document(row: Row, split: str) -> dict[str, Any]:
    kind, answer = text(row, "answer_type").lower(), text(row, "answer")
    choices = _choices(row) if kind == "closed" else ()
    if choices == YES_NO:
        answer = answer.rstrip(".")
    return {
        **document(text(row, "qid"), split, text(row, "question"), answer, kind, choices),
        "image_organ": text(row, "image_organ"),
        "question_type": text(row, "question_type"),
    }


def diagnose(release: LocalRelease) -> list[Finding]:
    """Whether the images are there."""
    folder = folder_of_images(release.folder, FOLDERS)
    if folder is None:
        return [Finding("images", "missing", f"looked for the folders {', '.join(FOLDERS)}")]
    return [Finding("images", "there", f"folder {folder.relative_to(release.folder)}")]


FORM = Form(
    fields=(
        _IMAGE,
        *((name,) for name in ("qid", "question", "answer", "answer_type", "question_type", "image_organ")),
    ),
    vocabulary={"answer_type": ("open", "closed")},
    cleaned=_cleaned,
    document=_document,
    image=lambda row: text(row, *_IMAGE),
)

OVQA = DataSource(
    name="sure_ovqa",
    title="OVQA (SURE-VQA)",
    splits=(
        Split("train", ("train.json",), "training questions; those about an OoD body part join its OoD test"),
        Split("validate", ("validate.json",), "validation questions", default=False),
        Split("test", ("test.json",), "test questions"),
    ),
    tags={**TAGS, "image_organ": "text", "question_type": "text"},
    hub_repository="",
    revision="",
    licence="not stated in what we have seen; ask the authors of OVQA",
    terms="not stated in what we have seen; ask the authors of OVQA before questions or images go to anybody else",
    expected=(Expected(("train",), 13_492), Expected(("validate",), 1_645), Expected(("test",), 1_657)),
    open_split=open_split,
    paper={"training questions": 13_492, "validation questions": 1_645, "test questions": 1_657},
    notes=(
        "Images are not copied: the prepared data refers to the files in the source folder, which must stay there.",
        "The paper's split sizes are those of Table 2, after the cleaning; the test size is that of Table 4.",
    ),
    elsewhere={"validate.json": ("validation.json", "valid.json", "val.json")},
    obtain="OVQA is given out by its authors on request (Huang et al., OVQA, SIGIR 2022): a folder with train.json, "
    "validate.json, test.json and the images in img/.",
    diagnose=diagnose,
    examine=examine,
    training_rule=shift_rules.get,
    strata=("image_organ",),
)
