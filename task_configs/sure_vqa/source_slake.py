"""SLAKE for SURE-VQA: questions about CT, MRI and X-ray images; of its two languages English only, as in the paper.

Its closed questions are cleaned by the paper's rule (:func:`.source_reader.dropped`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from lmms_medtasks.data.archives import ZipFolder
from lmms_medtasks.data.image_files import Images, StoredImages
from lmms_medtasks.data.release_counts import Expected
from lmms_medtasks.data.releases import LocalRelease, Release
from lmms_medtasks.data.row_reader import Row, need
from lmms_medtasks.data.sources import REVISION_NOT_KNOWN, DataSource, Split
from lmms_medtasks.errors import UserError
from lmms_medtasks.task_configs.sure_vqa import shift_rules
from lmms_medtasks.task_configs.sure_vqa.source_check import examine
from lmms_medtasks.task_configs.sure_vqa.source_reader import TAGS, SureReader, document, dropped, text, yes_no

_ELSEWHERE = {
    "train.json": ("Slake1.0/train.json",),
    "validation.json": ("validate.json", "Slake1.0/validate.json", "Slake1.0/validation.json"),
    "test.json": ("Slake1.0/test.json",),
    "imgs.zip": ("Slake1.0/imgs.zip",),
}


class SlakeReader(SureReader):
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
        """The folder of an image and its file."""
        return text(row, "img_name")

    def left_out(self, row: Row) -> str:
        """The paper takes the questions in English."""
        language = str(row["q_lang"]).strip().lower()
        return "" if language == "en" else f"language {language!r} is not English"

    def cleaned(self, row: Row) -> str:
        """The paper's cleaning."""
        closed = str(row["answer_type"]).strip().lower() == "closed"
        # What is no text is rejected later, with its number.
        texts = [row[name] for name in ("question", "answer")]
        return dropped(*texts) if closed and all(isinstance(each, str) for each in texts) else ""

    def texts(self, row: Row) -> dict[str, Any]:
        """The fields of a document without its image."""
        kind, answer = need(text(row, "answer_type").lower(), "answer_type is empty"), text(row, "answer")
        choices = yes_no(answer) if kind == "closed" else ()
        return {
            **document(text(row, "qid"), self._split, text(row, "question"), answer, kind, choices),
            **{name: text(row, name) for name in ("modality", "content_type", "location")},
        }


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
    open_split=SlakeReader,
    paper={"training questions": 4_866, "validation questions": 1_043, "test questions": 1_050},
    notes=(
        "The paper's split sizes are those of Table 1, after the cleaning; the test size is that of its i.i.d. and OoD "
        "parts together. One of the training questions has no answer and is rejected.",
        REVISION_NOT_KNOWN,
    ),
    elsewhere=_ELSEWHERE,
    diagnose=SlakeReader.diagnose,
    examine=examine,
    training_rule=shift_rules.get,
    strata=("modality", "location"),
)
