"""SLAKE for SURE-VQA: questions about CT, MRI and X-ray images; of its two languages English only, as in the paper.

Its closed questions are cleaned by the paper's rule (:func:`.source_reader.dropped`).
"""

from __future__ import annotations

from typing import Any

from lmms_medtasks.data.archives import ZipFolder
from lmms_medtasks.data.image_files import Pictures, folder_of_images, stored
from lmms_medtasks.data.release_counts import Expected
from lmms_medtasks.data.releases import LocalRelease, Release
from lmms_medtasks.data.sources import DataSource, Finding, Split
from lmms_medtasks.errors import UserError
from lmms_medtasks.task_configs.sure_vqa import shift_rules
from lmms_medtasks.task_configs.sure_vqa.source_check import examine
from lmms_medtasks.task_configs.sure_vqa.source_reader import (
    TAGS,
    Form,
    Row,
    SureReader,
    document,
    dropped,
    text,
    yes_no,
)

ARCHIVE = "imgs.zip"
_FIELDS = "qid img_name question answer q_lang answer_type modality content_type location".split()
FOLDERS = ("imgs", "Slake1.0/imgs")
_ELSEWHERE = {
    "train.json": ("Slake1.0/train.json",),
    "validation.json": ("validate.json", "Slake1.0/validate.json", "Slake1.0/validation.json"),
    "test.json": ("Slake1.0/test.json",),
    ARCHIVE: ("Slake1.0/imgs.zip",),
}


def open_split(release: Release, split: Split) -> SureReader:
    """The reader of a split; ``UserError`` if its files are not as expected."""
    return SureReader(release.file(split.files[0]), split.name, FORM, _pictures(release))


def _pictures(release: Release) -> Pictures:
    folder = folder_of_images(release.folder, FOLDERS) if isinstance(release, LocalRelease) else None
    if folder is not None:
        images = LocalRelease(folder)
        return stored(lambda name: images.file(name).read_bytes(), images.has)
    if not release.has(ARCHIVE):
        raise UserError(f"SLAKE's images are missing: expected {ARCHIVE} or the folder imgs beside the questions.")
    zipped = ZipFolder(release.file(ARCHIVE))
    return stored(lambda name: zipped.read(_inside(zipped, name)), lambda name: zipped.has(_inside(zipped, name)))


def _inside(zipped: ZipFolder, name: str) -> str:
    return f"imgs/{name}" if zipped.has(f"imgs/{name}") else name


def _left_out(row: Row) -> str:
    language = str(row["q_lang"]).strip().lower()
    return "" if language == "en" else f"language {language!r} is not English"


def _cleaned(row: Row) -> str:
    closed = str(row["answer_type"]).strip().lower() == "closed"
    # What is no text is rejected later, with its number.
    texts = [row[name] for name in ("question", "answer")]
    return dropped(*texts) if closed and all(isinstance(each, str) for each in texts) else ""


def _document(row: Row, split: str) -> dict[str, Any]:
    kind, answer = text(row, "answer_type").lower(), text(row, "answer")
    choices = yes_no(answer) if kind == "closed" else ()
    return {
        **document(text(row, "qid"), split, text(row, "question"), answer, kind, choices),
        "modality": text(row, "modality"),
        "content_type": text(row, "content_type"),
        "location": text(row, "location"),
    }


def diagnose(release: LocalRelease) -> list[Finding]:
    """Whether the images are there."""
    folder = folder_of_images(release.folder, FOLDERS)
    if folder is not None:
        return [Finding("images", "there", f"folder {folder.relative_to(release.folder)}")]
    if release.has(ARCHIVE):
        return [Finding("images", "there", ARCHIVE)]
    return [Finding("images", "missing", f"looked for {ARCHIVE} and for the folders {', '.join(FOLDERS)}")]


FORM = Form(
    fields=tuple((name,) for name in _FIELDS),
    vocabulary={"answer_type": ("open", "closed")},
    left_out=_left_out,
    cleaned=_cleaned,
    document=_document,
    image=lambda row: text(row, "img_name"),
)

SLAKE = DataSource(
    name="sure_slake",
    title="SLAKE (SURE-VQA)",
    splits=(
        Split("train", ("train.json",), "English training questions; those of an OoD modality join its OoD test"),
        Split("validate", ("validation.json",), "English validation questions", default=False),
        Split("test", ("test.json",), "English test questions"),
    ),
    tags={**TAGS, "modality": "text", "content_type": "text", "location": "text"},
    hub_repository="BoKelvin/SLAKE",
    revision="main",
    licence="CC BY 4.0",
    terms="those of the licence: name the authors (Liu et al., SLAKE, ISBI 2021)",
    # The paper has a training question without an answer (1622) among its 4,866; no task asks it.
    expected=(Expected(("train",), 4_866, unusable=1), Expected(("validate",), 1_043), Expected(("test",), 1_050)),
    open_split=open_split,
    paper={"training questions": 4_866, "validation questions": 1_043, "test questions": 1_050},
    notes=(
        "The paper's split sizes are those of Table 1, after the cleaning; the test size is that of its i.i.d. and OoD "
        "parts together. One of the training questions has no answer and is rejected.",
        "The revision hash of the hub's dataset was not known when this was written, so 'main' is asked for; the "
        "commit that it stood for is recorded with each split.",
    ),
    elsewhere=_ELSEWHERE,
    diagnose=diagnose,
    examine=examine,
    training_rule=shift_rules.get,
    strata=("modality", "location"),
)
