"""The data sets of SURE-VQA: SLAKE and OVQA here, MIMIC-CXR-VQA in ``source_mimic.py``.

SLAKE has questions about CT, MRI and X-ray images; only those in English, as in the paper. Its closed questions are
cleaned by the paper's rule (:func:`.source_reader.cleaning_reason`). OVQA has questions about orthopaedic CT and X-ray
images, cleaned as in the authors' public code.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from lmms_medtasks.data.release_images import Images, ReferredImages, StoredImages
from lmms_medtasks.data.releases import LocalRelease, Release, ZipFolder
from lmms_medtasks.data.row_reader import Row, reject_unless
from lmms_medtasks.data.sources import REVISION_NOT_KNOWN, DataSource, SourceSplit
from lmms_medtasks.errors import UserError
from lmms_medtasks.task_configs.sure_vqa import source_reader, source_shifts
from lmms_medtasks.task_configs.sure_vqa.source_mimic import MIMIC

# --- SLAKE ------------------------------------------------------------------------------------------------------------
_ELSEWHERE = {
    "train.json": ("Slake1.0/train.json",),
    "validation.json": ("validate.json", "Slake1.0/validate.json", "Slake1.0/validation.json"),
    "test.json": ("Slake1.0/test.json",),
    "imgs.zip": ("Slake1.0/imgs.zip",),
}


class SlakeReader(source_reader.SureReader):
    """Reads one split of SLAKE."""

    fields = tuple("qid img_name question answer q_lang answer_type modality content_type location".split())
    vocabulary: ClassVar = {"answer_type": ("open", "closed")}
    folders = ("imgs", "Slake1.0/imgs")
    archive = "imgs.zip"

    def images(self, release: Release, folder: Path | None) -> Images:
        """The images of the folder, or those in the archive."""
        if folder is not None:
            return StoredImages(LocalRelease(folder), "img_name")
        if not release.has(self.archive):
            raise UserError(f"SLAKE's images are missing: {self.looked_for()}.")
        zipped = ZipFolder(release.file(self.archive))
        return StoredImages(zipped, "img_name", lambda name: f"imgs/{name}" if zipped.has(f"imgs/{name}") else name)

    def image_name(self, row: Row) -> str:
        return source_reader.first_text(row, "img_name")

    def left_out(self, row: Row) -> str:
        """The paper takes the questions in English."""
        language = str(row["q_lang"]).strip().lower()
        return "" if language == "en" else f"language {language!r} is not English"

    def cleaned(self, row: Row) -> str:
        """The paper's cleaning."""
        closed = str(row["answer_type"]).strip().lower() == "closed"
        texts = [row[name] for name in ("question", "answer")]
        # A field that is not a text is rejected later, with its number.
        return source_reader.cleaning_reason(*texts) if closed and all(isinstance(text, str) for text in texts) else ""

    def texts(self, row: Row) -> dict[str, Any]:
        kind = reject_unless(source_reader.first_text(row, "answer_type").lower(), "answer_type is empty")
        answer = source_reader.first_text(row, "answer")
        choices = source_reader.yes_no(answer) if kind == "closed" else ()
        return self.question_fields(row, kind, answer, choices, "modality", "content_type", "location")


SLAKE = DataSource(
    name="sure_slake",
    title="SLAKE (SURE-VQA)",
    splits=(
        SourceSplit("train", ("train.json",), "English training questions; those of an OoD modality join its OoD test"),
        SourceSplit("validate", ("validation.json",), "English validation questions", default=False),
        SourceSplit("test", ("test.json",), "English test questions"),
    ),
    tags={**source_reader.TAGS, "modality": "text", "content_type": "text", "location": "text"},
    hub_repository="BoKelvin/SLAKE",
    revision="main",
    licence="CC BY 4.0",
    terms="those of the licence: name the authors (Liu et al., SLAKE, ISBI 2021)",
    notes=(
        "The paper's split sizes are those of Table 1, after the cleaning; the test size is that of its i.i.d. and OoD "
        "parts together. One of the training questions has no answer and is rejected.",
        REVISION_NOT_KNOWN,
    ),
    elsewhere=_ELSEWHERE,
    strata=("modality", "location"),
    # The paper has a training question without an answer (1622) among its 4,866; no task asks it.
    **source_shifts.shared_fields(SlakeReader, train=4_866, validate=1_043, test=1_050, unusable=1),
)


# --- OVQA -------------------------------------------------------------------------------------------------------------
_IMAGE = ("image_name", "img_name", "image")

KEPT = {
    "Is this a CT image or X-Ray image": ("CT", "X-Ray"),
    "Is this an MRI or a CT scan": ("MRI", "CT"),
    "Was this image taken with an MRI or CT scanner": ("MRI", "CT"),
}
"""The closed questions with other answers than yes and no that stay, and their choices (authors' code)."""


class OvqaReader(source_reader.SureReader):
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
        return source_reader.first_text(row, *_IMAGE)

    def cleaned(self, row: Row) -> str:
        """The cleaning of the authors' code."""
        closed = str(row["answer_type"]).strip().lower() == "closed"
        return source_reader.cleaning_reason(str(row["question"]), str(row["answer"]), tuple(KEPT)) if closed else ""

    def texts(self, row: Row) -> dict[str, Any]:
        kind = reject_unless(source_reader.first_text(row, "answer_type").lower(), "answer_type is empty")
        answer = source_reader.first_text(row, "answer")
        choices: tuple[str, ...] = ()
        if kind == "closed":
            listed = [choices for text, choices in KEPT.items() if text in str(row["question"])]
            choices = source_reader.yes_no(str(row["answer"])) or (listed[0] if listed else ())
        answer = answer.rstrip(".") if choices == source_reader.YES_NO else answer
        return self.question_fields(row, kind, answer, choices, "image_organ", "question_type")


OVQA = DataSource(
    name="sure_ovqa",
    title="OVQA (SURE-VQA)",
    splits=(
        SourceSplit("train", ("train.json",), "training questions; those about an OoD body part join its OoD test"),
        SourceSplit("validate", ("validate.json",), "validation questions", default=False),
        SourceSplit("test", ("test.json",), "test questions"),
    ),
    tags={**source_reader.TAGS, "image_organ": "text", "question_type": "text"},
    hub_repository="",
    revision="",
    licence="not stated in what we have seen; ask the authors of OVQA",
    terms="not stated in what we have seen; ask the authors of OVQA before questions or images go to anybody else",
    notes=(
        source_reader.NOT_COPIED,
        "The paper's split sizes are those of Table 2, after the cleaning; the test size is that of Table 4.",
    ),
    elsewhere={"validate.json": ("validation.json", "valid.json", "val.json")},
    obtain="OVQA is given out by its authors on request (Huang et al., OVQA, SIGIR 2022): a folder with train.json, "
    "validate.json, test.json and the images in img/.",
    strata=("image_organ",),
    **source_shifts.shared_fields(OvqaReader, train=13_492, validate=1_645, test=1_657),
)


SOURCES = (MIMIC, OVQA, SLAKE)
