"""MIMIC-CXR-VQA for SURE-VQA: questions about radiographs of MIMIC-CXR-JPG, with what MIMIC-IV says of the patient.

Credentialed data of PhysioNet. Nothing is copied but the questions and answers, into the user's own data folder;
messages name numbers of questions, patients and images, never texts.
"""

from __future__ import annotations

import csv
import functools
import gzip
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from lmms_medtasks.data.image_files import Picture, Pictures, folder_of_images, referenced
from lmms_medtasks.data.release_counts import Expected
from lmms_medtasks.data.releases import LocalRelease, Release
from lmms_medtasks.data.sources import DataSource, Finding, RejectedRow, Split
from lmms_medtasks.errors import UserError
from lmms_medtasks.task_configs.sure_vqa import shift_rules
from lmms_medtasks.task_configs.sure_vqa.source_check import examine
from lmms_medtasks.task_configs.sure_vqa.source_reader import TAGS, YES_NO, Form, Row, SureReader, document, text

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


UNKNOWN = "UNKNOWN/OTHER"
NO_AGE = -1


class Patient(NamedTuple):
    """``gender`` "M" or "F", ``age`` in years, ``ethnicity`` one of the groups; "", -1, UNKNOWN/OTHER if not known."""

    gender: str
    age: int
    ethnicity: str


@dataclass(frozen=True)
class Patients:
    """All patients; ``notes`` counts those with several values of a field, and with a race of no group (never which:
    the tables are credentialed)."""

    by_number: Mapping[str, Patient]
    notes: Mapping[str, object]

    def __getitem__(self, number: str) -> Patient:
        return self.by_number.get(number, Patient("", NO_AGE, UNKNOWN))


@functools.cache
def _groups() -> dict[str, str]:
    source = Path(__file__).with_name("ethnicities.yml").read_text(encoding="utf-8")
    return {race: group for group, races in yaml.safe_load(source).items() for race in races}


@functools.lru_cache(maxsize=1)
def read_patients(patients: Path, admissions: Path) -> Patients:
    """Join ``patients.csv`` and ``admissions.csv`` (also packed by gzip).

    A patient with several values of sex or age counts as unknown; empty cells are no value. Ethnicity: see
    ``ethnicities.yml``.

    Raises:
        UserError: a file cannot be read or lacks a column, or an age is no number.
    """
    genders: defaultdict[str, set[str]] = defaultdict(set)
    ages: defaultdict[str, set[int]] = defaultdict(set)
    races: defaultdict[str, set[str]] = defaultdict(set)
    for number, gender, age in _columns(patients, "subject_id", "gender", "anchor_age"):
        genders[number] |= {gender.upper()} - {""}
        ages[number] |= {_years(age, patients, number)} if age else set()
    for number, race in _columns(admissions, "subject_id", "race"):
        races[number].add(race.upper())
    numbers = genders.keys() | races.keys()
    return Patients(
        {
            number: Patient(_only(genders[number], ""), _only(ages[number], NO_AGE), group_of(races[number]))
            for number in numbers
        },
        {
            "patients_with_several_sexes": sum(len(found) > 1 for found in genders.values()),
            "patients_with_several_ages": sum(len(found) > 1 for found in ages.values()),
            "patients_of_several_ethnic_groups": sum(len(_known_groups(found)) > 1 for found in races.values()),
            "patients_with_a_race_of_no_group": sum(not found <= _groups().keys() for found in races.values()),
        },
    )


def group_of(races: set[str]) -> str:
    """The group of a patient with these values of race: the only one besides UNKNOWN/OTHER, else UNKNOWN/OTHER."""
    known = _known_groups(races)
    return known.pop() if len(known) == 1 else UNKNOWN


def _known_groups(races: set[str]) -> set[str]:
    return {_groups().get(race, UNKNOWN) for race in races} - {UNKNOWN}


def _only(values: set, unknown):  # type: ignore[no-untyped-def, type-arg]
    return next(iter(values)) if len(values) == 1 else unknown


def _years(text: str, path: Path, number: str) -> int:
    if not text.isdigit():
        # The value is not shown: it is a patient's.
        raise UserError(f"{path.name}: anchor_age of subject {number} is no number of years.")
    return int(text)


def _columns(path: Path, *names: str) -> Iterator[tuple[str, ...]]:
    """The cells of some columns, row by row."""
    try:
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            missing = [name for name in names if name not in (reader.fieldnames or ())]
            if missing:
                found = ", ".join(reader.fieldnames or ()) or "nothing"
                raise UserError(f"{path.name} lacks required columns: {', '.join(missing)}. Found: {found}.")
            for row in reader:
                yield tuple((row[name] or "").strip() for name in names)
    except (OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path} cannot be read: {error}. Is it cut short? Fetch it again.") from error


def open_split(release: Release, split: Split) -> SureReader:
    """The reader of a split; ``UserError`` if its files are not as expected."""
    questions, patients, admissions = map(release.file, split.files)
    folder = folder_of_images(release.folder, IMAGES) if isinstance(release, LocalRelease) else None
    if folder is None and split.name == "test":
        raise UserError(f"The images of MIMIC-CXR-JPG are missing: looked for the folders {', '.join(IMAGES)}.")
    form = _form(read_patients(patients, admissions))
    return SureReader(questions, split.name, form, _pictures(folder, split.name == "test"))


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


def _form(patients: Patients) -> Form:
    names = "idx subject_id question semantic_type content_type template template_arguments answer image_path".split()
    return Form(
        fields=tuple((name,) for name in names),
        vocabulary={"semantic_type": ("verify", "choose", "query")},
        document=functools.partial(_document, patients),
        image=lambda row: text(row, "image_path"),
        notes=patients.notes,
    )


def _document(patients: Patients, row: Row, split: str) -> dict[str, Any]:
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


MIMIC = DataSource(
    name="sure_mimic",
    title="MIMIC-CXR-VQA (SURE-VQA)",
    splits=(
        Split("train", ("train.json", *_TABLES), "training questions, for answering by frequency"),
        Split("validate", ("valid.json", *_TABLES), "validation questions", default=False),
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
    expected=(Expected(("train",), 290_031), Expected(("validate",), 73_567), Expected(("test",), 13_793)),
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
    examine=examine,
    training_rule=shift_rules.get,
    strata=("gender", "ethnicity"),
)
