"""MIMIC-CXR-VQA for SURE-VQA: questions about radiographs of MIMIC-CXR-JPG, with what MIMIC-IV says of the patient.

Credentialed data of PhysioNet. Nothing is copied but the questions and answers, into the user's own data folder;
messages name numbers of questions, patients and images, never texts.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

from lmms_medtasks.data import sure_patients
from lmms_medtasks.data.releases import LocalRelease, Release
from lmms_medtasks.data.suites import Finding, RejectedRow, Split, Suite
from lmms_medtasks.data.sure_images import Picture, Pictures, folder_of_images, referenced
from lmms_medtasks.data.sure_reader import TAGS, YES_NO, Form, Row, SureReader, document, text
from lmms_medtasks.errors import UserError

AGREEMENT = "PhysioNet Credentialed Health Data Use Agreement 1.5.0"
PROJECTS = {
    "questions": "https://physionet.org/content/mimic-ext-mimic-cxr-vqa/",
    "patients": "https://physionet.org/content/mimiciv/",
    "images": "https://physionet.org/content/mimic-cxr-jpg/",
}
BOTH, NONE = "both", "none"

_FOLDERS = ("{}", "dataset/{}", "MIMIC-Ext-MIMIC-CXR-VQA/dataset/{}", "mimiccxrvqa/dataset/{}",
            "mimic-cxr-vqa/mimiccxrvqa/dataset/{}", "mimic-ext-mimic-cxr-vqa/*/MIMIC-Ext-MIMIC-CXR-VQA/dataset/{}",
            "physionet.org/files/mimic-ext-mimic-cxr-vqa/*/MIMIC-Ext-MIMIC-CXR-VQA/dataset/{}")  # fmt: skip
_HOSP = ("{}", "hosp/{}", "mimiciv/hosp/{}", "mimiciv/*/hosp/{}", "physionet.org/files/mimiciv/*/hosp/{}",
         "mimic-cxr-vqa/physionet.org/files/mimiciv/*/hosp/{}")  # fmt: skip
IMAGES = ("files", "mimic-cxr-jpg/files", "mimic-cxr-jpg/*/files", "physionet.org/files/mimic-cxr-jpg/*/files",
          "mimic-cxr-vqa/physionet.org/files/mimic-cxr-jpg/*/files")  # fmt: skip
_TABLES = ("patients.csv", "admissions.csv")
_ELSEWHERE = {
    **{name: tuple(place.format(name) for place in _FOLDERS) for name in ("train.json", "valid.json", "test.json")},
    **{name: tuple(place.format(name + end) for place in _HOSP for end in ("", ".gz")) for name in _TABLES},
}

_OR = re.compile(r"\$\{(\w+)\} or (?:the )?\$\{(\w+)\}")
_SEX: dict[str, str] = {"f": "female", "m": "male"}


def open_split(release: Release, split: Split) -> SureReader:
    """The reader of a split; ``UserError`` if its files are not as expected."""
    questions, patients, admissions = map(release.file, split.files)
    folder = folder_of_images(release.folder, IMAGES) if isinstance(release, LocalRelease) else None
    if folder is None and split.name == "test":
        raise UserError(f"The images of MIMIC-CXR-JPG are missing: looked for the folders {', '.join(IMAGES)}.")
    form = _form(_patients(patients, admissions))
    return SureReader(questions, split.name, form, _pictures(folder, split.name == "test"))


@functools.lru_cache(maxsize=1)
def _patients(patients: Path, admissions: Path) -> sure_patients.Patients:
    return sure_patients.read(patients, admissions)


def _pictures(folder: Path | None, read: bool) -> Pictures:
    """Test images are looked at; those of the other splits, 140,000 and more, only referred to where they are there."""
    pictures = referenced(folder, read=read) if folder is not None else None

    def picture(name: str) -> Picture:
        name = name.removeprefix("files/")
        if read and pictures is not None:
            return pictures.of(name)
        try:
            return pictures.of(name) if pictures is not None else _absent(name)
        except RejectedRow:
            return _absent(name)

    def has(name: str) -> bool:
        return not read or (pictures is not None and pictures.has(name.removeprefix("files/")))

    return Pictures(picture, has)


def _absent(name: str) -> Picture:
    return None, Path(name).stem  # type: ignore[return-value]


def _form(patients: sure_patients.Patients) -> Form:
    names = "idx subject_id question semantic_type content_type template template_arguments answer image_path".split()
    return Form(
        fields=tuple((name,) for name in names),
        vocabulary={"semantic_type": ("verify", "choose", "query")},
        document=functools.partial(_document, patients),
        image=lambda row: text(row, "image_path"),
        notes=patients.notes,
    )


def _document(patients: sure_patients.Patients, row: Row, split: str) -> dict[str, Any]:
    kind, choices, answer = _asked(row)
    patient = patients[text(row, "subject_id")]
    return {
        **document(text(row, "idx"), split, text(row, "question"), answer, kind, choices),
        "semantic_type": text(row, "semantic_type").lower(),
        "content_type": text(row, "content_type"),
        "gender": patient.gender,
        "age": patient.age,
        "ethnicity": patient.ethnicity,
    }


def _asked(row: Row) -> tuple[str, tuple[str, ...], str]:
    """Answer type, choices and answer of a question, as the authors' code makes them of the list of answers."""
    answers = row["answer"]
    if not isinstance(answers, list) or not all(isinstance(answer, str) for answer in answers):
        raise RejectedRow("answer is no list of texts")
    asks_sex = text(row, "content_type").lower() == "gender"
    named = [_SEX.get(str(answer), str(answer)) if asks_sex else str(answer) for answer in answers]
    kind = text(row, "semantic_type").lower()
    if kind == "query":
        return "open", (), ", ".join(named) or NONE
    if kind == "verify":
        if named not in (["yes"], ["no"]):
            raise RejectedRow("the answer to a question of yes or no is neither")
        return "closed", YES_NO, named[0]
    if len(named) > 2:
        raise RejectedRow(f"there are {len(named)} answers to a question with two options")
    options = _options(row)
    answer = named[0] if len(named) == 1 else BOTH if named else NONE
    if options:
        return "multilabel", (*options, BOTH, NONE), answer
    return "closed", _pair(answer), answer


def _options(row: Row) -> tuple[str, ...]:
    """The two options that the question's template names ("${attribute_1} or ${attribute_2}"), () if it names none."""
    found = _OR.search(text(row, "template"))
    if found is None:
        return ()
    options = []
    for place in found.groups():
        kind, _, number = place.rpartition("_")
        try:
            options.append(str(row["template_arguments"][kind][str(int(number) - 1)]).strip())
        except (KeyError, ValueError, TypeError) as error:
            raise RejectedRow(f"template_arguments has nothing for the place {place!r} of the template") from error
    return tuple(options)


def _pair(answer: str) -> tuple[str, ...]:
    """The two options of a question about sex or view, by its answer; () if it is about something else."""
    pairs = (("female", "male"), ("AP", "PA"))
    return next((pair for pair in pairs if answer.lower() in (each.lower() for each in pair)), ())


def diagnose(release: LocalRelease) -> list[Finding]:
    """Where the images are, and what has to be signed for what is missing."""
    folder = folder_of_images(release.folder, IMAGES)
    if folder is None:
        return [Finding("images", "missing", f"{PROJECTS['images']}; looked for the folders {', '.join(IMAGES)}")]
    return [Finding("images", "there", f"folder {folder.relative_to(release.folder)}")]


SUITE = Suite(
    name="sure_mimic",
    title="MIMIC-CXR-VQA (SURE-VQA)",
    splits=(
        Split("train", ("train.json", *_TABLES), "training questions, for answering by frequency", counted=False),
        Split("validate", ("valid.json", *_TABLES), "validation questions", default=False, counted=False),
        Split("test", ("test.json", *_TABLES), "test questions"),
    ),
    tags={
        **TAGS,
        "semantic_type": "text",
        "content_type": "text",
        "gender": "text",
        "age": "integer",
        "ethnicity": "text",
    },
    hub_repository="",
    revision="",
    licence="PhysioNet Credentialed Health Data License 1.5.0",
    terms=f"{AGREEMENT}: no sharing with third parties",
    full_records=13_793,
    open_split=open_split,
    paper={"training questions": 290_031, "validation questions": 73_567, "test questions": 13_793},
    notes=(
        "Images are not copied: the prepared data refers to the files in the source folder, which must stay there.",
        "The paper's split sizes are those of Tables 3 and 4.",
    ),
    images_optional=True,
    elsewhere=_ELSEWHERE,
    obtain=f"Sign the {AGREEMENT} for {', '.join(PROJECTS.values())} and put what you get, or links to it, into one "
    "folder: train.json, valid.json and test.json, hosp/patients.csv, hosp/admissions.csv (also .gz), and the images "
    "in files/.",
    agreement=AGREEMENT,
    diagnose=diagnose,
)
