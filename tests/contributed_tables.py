"""A table with every awkward value, and a task's documents, for tests of contributed tables."""

from __future__ import annotations

from lmms_medtasks.contribute import loaded, static
from lmms_medtasks.contribute.validate import validate_folder
from lmms_medtasks.task_yaml.problems import ValidationLog

CARD = {"paper": "none", "licence": "CC0", "terms": "none", "about": "Made up.", "deviations": "none"}
TEXTS = ["None", "NA", "null", "nan", "NaN", "<NA>", "007", "1e3", "2.50", "True", "-0", "1_000", "inf", "a, b",
         'say "x"', "two\nlines", "tab\there", "Grüße", "2020-01-01"]  # fmt: skip
COLUMNS = ["id", "question", "a", "b", "c", "answer", "note"]


def table_rows():
    """A row for each text: as id, question and note, its successors as options; every third option c is empty."""
    shifted = [TEXTS[step:] + TEXTS[:step] for step in range(3)]
    rows = list(zip(TEXTS, TEXTS, *shifted, ["B"] * len(TEXTS), TEXTS, strict=True))
    return [[*row[:4], "" if number % 3 else row[4], row[5], "" if number % 4 else row[6]]
            for number, row in enumerate(rows)]  # fmt: skip


def errors(folder):
    return [str(each) for each in validate_folder(folder, write=True).errors]


def load(folder, name=""):
    found = ValidationLog()
    task = loaded.load_task(static.check_static(folder / f"{name or folder.name}.yaml", found)[0], found)
    assert task is not None, found.errors
    return task
