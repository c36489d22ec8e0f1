"""OVQA for SURE-VQA: questions about orthopaedic CT and X-ray images, cleaned as the authors' public code does."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from lmms_medtasks.data.image_files import Images, ReferredImages
from lmms_medtasks.data.release_counts import Expected
from lmms_medtasks.data.releases import Release
from lmms_medtasks.data.row_reader import Row, need
from lmms_medtasks.data.sources import DataSource, Split
from lmms_medtasks.errors import UserError
from lmms_medtasks.task_configs.sure_vqa import shift_rules
from lmms_medtasks.task_configs.sure_vqa.source_check import examine
from lmms_medtasks.task_configs.sure_vqa.source_reader import (
    NOT_COPIED,
    TAGS,
    YES_NO,
    SureReader,
    document,
    dropped,
    text,
    yes_no,
)

_IMAGE = ("image_name", "img_name", "image")

KEPT = {
    "Is this a CT image or X-Ray image": ("CT", "X-Ray"),
    "Is this an MRI or a CT scan": ("MRI", "CT"),
    "Was this image taken with an MRI or CT scanner": ("MRI", "CT"),
}
"""The closed questions that stay although their answer is neither yes nor no, and their choices (authors' code)."""


class OvqaReader(SureReader):
    """Reads one split of OVQA."""

    fields = (" or ".join(_IMAGE), "qid", "question", "answer", "answer_type", "question_type", "image_organ")
    vocabulary: ClassVar = {"answer_type": ("open", "closed")}
    folders = ("img", "imgs")

    def images(self, release: Release, folder: Path | None) -> Images:
        """The images of the folder, where they stay."""
        if folder is None:
            raise UserError(f"OVQA's images are missing: {self.looked_for()}.")
        return ReferredImages(folder, "image")

    def image_name(self, row: Row) -> str:
        """An image's file."""
        return text(row, *_IMAGE)

    def cleaned(self, row: Row) -> str:
        """The cleaning of the authors' code."""
        closed = str(row["answer_type"]).strip().lower() == "closed"
        return dropped(str(row["question"]), str(row["answer"]), tuple(KEPT)) if closed else ""

    def texts(self, row: Row) -> dict[str, Any]:
        """The fields of a document without its image."""
        kind, answer = need(text(row, "answer_type").lower(), "answer_type is empty"), text(row, "answer")
        choices: tuple[str, ...] = ()
        if kind == "closed":
            named = [choices for asked, choices in KEPT.items() if asked in str(row["question"])]
            choices = yes_no(str(row["answer"])) or (named[0] if named else ())
        return {
            **document(
                text(row, "qid"), self._split, text(row, "question"),
                answer.rstrip(".") if choices == YES_NO else answer, kind, choices,
            ),
            "image_organ": text(row, "image_organ"),
            "question_type": text(row, "question_type"),
        }  # fmt: skip


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
    open_split=OvqaReader,
    paper={"training questions": 13_492, "validation questions": 1_645, "test questions": 1_657},
    notes=(
        NOT_COPIED,
        "The paper's split sizes are those of Table 2, after the cleaning; the test size is that of Table 4.",
    ),
    elsewhere={"validate.json": ("validation.json", "valid.json", "val.json")},
    obtain="OVQA is given out by its authors on request (Huang et al., OVQA, SIGIR 2022): a folder with train.json, "
    "validate.json, test.json and the images in img/.",
    diagnose=OvqaReader.diagnose,
    examine=examine,
    training_rule=shift_rules.get,
    strata=("image_organ",),
)
