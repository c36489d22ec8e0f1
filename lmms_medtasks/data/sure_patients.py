"""What MIMIC-IV says of the patients of MIMIC-CXR-VQA: sex, age and ethnicity, by the patient's number."""

from __future__ import annotations

import csv
import functools
import gzip
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import yaml

from lmms_medtasks.errors import UserError

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
    source = resources.files("lmms_medtasks.data").joinpath("sure_mimic.yml").read_text(encoding="utf-8")
    return {race: group for group, races in yaml.safe_load(source).items() for race in races}


def read(patients: Path, admissions: Path) -> Patients:
    """Join ``patients.csv`` and ``admissions.csv`` (also packed by gzip).

    A patient with several values of sex or age counts as unknown; empty cells are no value. Ethnicity: see
    ``sure_mimic.yml``.

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
                raise UserError(
                    f"{path.name} has not the columns that are wanted: {', '.join(missing)}. Found: {found}."
                )
            for row in reader:
                yield tuple((row[name] or "").strip() for name in names)
    except (OSError, EOFError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path} cannot be read: {error}. Is it cut short? Fetch it again.") from error
