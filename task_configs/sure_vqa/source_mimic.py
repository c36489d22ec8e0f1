"""MIMIC-CXR-VQA for SURE-VQA: questions about radiographs of MIMIC-CXR-JPG, with the patient's data from MIMIC-IV.

Credentialed data of PhysioNet. Only questions and answers are copied, into the user's data folder; messages name
numbers of questions, patients and images, never texts.
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
from typing import Any, ClassVar, NamedTuple

from lmms_medtasks import folders
from lmms_medtasks.data.release_images import Images, ReferredImages
from lmms_medtasks.data.releases import Release
from lmms_medtasks.data.row_reader import RejectedRow, Row, check_fields, reject_unless
from lmms_medtasks.data.sources import DataSource, SourceSplit
from lmms_medtasks.errors import UserError
from lmms_medtasks.task_configs.sure_vqa import source_reader, source_shifts

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
_TABLES = ("patients.csv", "admissions.csv")
_ELSEWHERE = {
    **{name: tuple(path.format(name) for path in _FOLDERS) for name in ("train.json", "valid.json", "test.json")},
    **{name: tuple(path.format(name + end) for path in _HOSP for end in ("", ".gz")) for name in _TABLES},
}

_OR = re.compile(r"\$\{(\w+)\} or (?:the )?\$\{(\w+)\}")
_SEX: dict[str, str] = {"f": "female", "m": "male"}


UNKNOWN = "UNKNOWN/OTHER"
NO_AGE = -1


class PatientRow(NamedTuple):
    """``gender`` "M" or "F", ``age`` in years, ``ethnicity`` one of the groups; "", -1, UNKNOWN/OTHER if unknown."""

    gender: str
    age: int
    ethnicity: str


@dataclass(frozen=True)
class PatientTable:
    """All patients. ``notes`` counts those with several values of a field, or with a race outside all groups; it does
    not name them, as the tables are credentialed."""

    by_number: Mapping[str, PatientRow]
    notes: Mapping[str, object]

    def __getitem__(self, number: str) -> PatientRow:
        return self.by_number.get(number, PatientRow("", NO_AGE, UNKNOWN))


@functools.cache
def _ethnicity_groups() -> dict[str, str]:
    groups = folders.read_yaml(Path(__file__).with_name("ethnicities.yml"))
    return {race: group for group, races in groups.items() for race in races}


@functools.lru_cache(maxsize=1)
def read_patients(patients: Path, admissions: Path) -> PatientTable:
    """Join ``patients.csv`` and ``admissions.csv`` (also packed by gzip).

    Several values of sex or age count as unknown; empty cells are ignored. Ethnicity: see ``ethnicities.yml``.

    Raises:
        UserError: a file cannot be read or lacks a column, or an age is not a number.
    """
    genders: defaultdict[str, set[str]] = defaultdict(set)
    ages: defaultdict[str, set[int]] = defaultdict(set)
    races: defaultdict[str, set[str]] = defaultdict(set)
    for number, gender, age in _read_columns(patients, "subject_id", "gender", "anchor_age"):
        genders[number] |= {gender.upper()} - {""}
        ages[number] |= {_parse_years(age, patients, number)} if age else set()
    for number, race in _read_columns(admissions, "subject_id", "race"):
        races[number].add(race.upper())
    group_of = _ethnicity_groups()
    groups = {number: {group_of.get(race, UNKNOWN) for race in values} - {UNKNOWN} for number, values in races.items()}
    patients_by_number = {
        number: PatientRow(
            _only_value(genders[number], ""),
            _only_value(ages[number], NO_AGE),
            _only_value(groups.get(number, set()), UNKNOWN),
        )
        for number in genders.keys() | races.keys()
    }
    notes = {
        "patients_with_several_sexes": sum(len(values) > 1 for values in genders.values()),
        "patients_with_several_ages": sum(len(values) > 1 for values in ages.values()),
        "patients_of_several_ethnic_groups": sum(len(values) > 1 for values in groups.values()),
        "patients_with_a_race_of_no_group": sum(not values <= group_of.keys() for values in races.values()),
    }
    return PatientTable(patients_by_number, notes)


def _only_value(values: set, unknown):  # type: ignore[no-untyped-def, type-arg]
    return next(iter(values)) if len(values) == 1 else unknown


def _parse_years(text: str, path: Path, number: str) -> int:
    if not text.isdigit():
        # The value is a patient's, and so not shown.
        raise UserError(f"{path.name}: anchor_age of subject {number} is no number of years.")
    return int(text)


def _read_columns(path: Path, *names: str) -> Iterator[tuple[str, ...]]:
    try:
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            check_fields(path.name, names, reader.fieldnames or (), "columns")
            for row in reader:
                yield tuple((row[name] or "").strip() for name in names)
    except (OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path} cannot be read: {error}. Is it cut short? Fetch it again.") from error


class MimicReader(source_reader.SureReader):
    """Reads one split of MIMIC-CXR-VQA, with the patients' data from MIMIC-IV's tables."""

    fields = tuple(
        "idx subject_id question semantic_type content_type template template_arguments answer image_path".split()
    )
    vocabulary: ClassVar = {"semantic_type": ("verify", "choose", "query")}
    folders = ("files", "mimic-cxr-jpg/files", "mimic-cxr-jpg/*/files", "physionet.org/files/mimic-cxr-jpg/*/files",
               "mimic-cxr-vqa/physionet.org/files/mimic-cxr-jpg/*/files")  # fmt: skip

    def __init__(self, release: Release, split: SourceSplit) -> None:
        """Also read the tables; ``UserError`` if they are not as expected."""
        super().__init__(release, split)
        self._patients = read_patients(*map(release.file, split.files[1:]))
        self.notes: Mapping[str, Any] = {**self._patients.notes, **self.notes}

    def images(self, release: Release, folder: Path | None) -> Images:
        """Test images are read; those of the other splits, 140,000 and more, are only referred to if present."""
        tested = self._split == "test"
        if folder is None and tested:
            raise UserError(f"The images of MIMIC-CXR-JPG are missing: {self.looked_for()}.")
        return ReferredImages(folder, "image", read=tested, prefix="files/")

    def image_name(self, row: Row) -> str:
        return source_reader.first_text(row, "image_path")

    def texts(self, row: Row) -> dict[str, Any]:
        kind, choices, answer = _question_fields(row)
        patient = self._patients[source_reader.first_text(row, "subject_id")]
        fields = self.question_fields(row, kind, answer, choices, "semantic_type", "content_type")
        return {**fields, "semantic_type": fields["semantic_type"].lower(), **patient._asdict()}

    @classmethod
    def looked_for(cls) -> str:
        """The places searched for images, and the page that offers them."""
        return f"{super().looked_for()} ({PROJECTS['images']})"


def _question_fields(row: Row) -> tuple[str, tuple[str, ...], str]:
    """Answer type, choices and answer of a question, made from the list of answers as in the authors' code."""
    answers = row["answer"]
    are_texts = isinstance(answers, list) and all(isinstance(answer, str) for answer in answers)
    reject_unless(are_texts, "answer is no list of texts")
    asks_sex = source_reader.first_text(row, "content_type").lower() == "gender"
    named = [_SEX.get(answer, answer) if asks_sex else answer for answer in answers]
    kind = reject_unless(source_reader.first_text(row, "semantic_type").lower(), "semantic_type is empty")
    if kind == "query":
        return "open", (), ", ".join(named) or NONE
    if kind == "verify":
        reject_unless(named in (["yes"], ["no"]), "the answer to a question of yes or no is neither")
        return "closed", source_reader.YES_NO, named[0]
    reject_unless(len(named) < 3, f"there are {len(named)} answers to a question with two options")
    options = _template_options(row)
    answer = named[0] if len(named) == 1 else BOTH if named else NONE
    if options:
        return "multilabel", (*options, BOTH, NONE), answer
    return "closed", _answer_pair(answer), answer


def _template_options(row: Row) -> tuple[str, ...]:
    """The two options that the question's template names ("${attribute_1} or ${attribute_2}"), () if it names none."""
    match = _OR.search(source_reader.first_text(row, "template"))
    options = []
    for argument in match.groups() if match else ():
        kind, _, number = argument.rpartition("_")
        try:
            options.append(str(row["template_arguments"][kind][str(int(number) - 1)]).strip())
        except (KeyError, ValueError, TypeError) as error:
            raise RejectedRow(f"template_arguments has nothing for the place {argument!r} of the template") from error
    return tuple(options)


def _answer_pair(answer: str) -> tuple[str, ...]:
    """The two options of a question about sex or view, by its answer; () for any other question."""
    pairs = (("female", "male"), ("AP", "PA"))
    return next((pair for pair in pairs if answer.lower() in map(str.lower, pair)), ())


MIMIC = DataSource(
    name="sure_mimic",
    title="MIMIC-CXR-VQA (SURE-VQA)",
    splits=(
        SourceSplit("train", ("train.json", *_TABLES), "training questions, for answering by frequency"),
        SourceSplit("validate", ("valid.json", *_TABLES), "validation questions", default=False),
        SourceSplit("test", ("test.json", *_TABLES), "test questions"),
    ),
    tags={
        **source_reader.TAGS,
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
    notes=(source_reader.NOT_COPIED, "The paper's split sizes are those of Tables 3 and 4."),
    images_optional=True,
    elsewhere=_ELSEWHERE,
    obtain=f"Sign the {AGREEMENT} for {', '.join(PROJECTS.values())} and put what you get, or links to it, into one "
    "folder: train.json, valid.json and test.json, hosp/patients.csv, hosp/admissions.csv (also .gz), and the images "
    "in files/.",
    agreement=AGREEMENT,
    strata=("gender", "ethnicity"),
    **source_shifts.shared_fields(MimicReader, train=290_031, validate=73_567, test=13_793),
)
