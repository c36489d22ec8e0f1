"""A table with every awkward value, and a task's documents, for tests of contributed tables."""

from __future__ import annotations

import io
import json

from PIL import Image

from lmms_medtasks.contribute import loaded, recognising, static
from lmms_medtasks.contribute.new import NewTaskRequest, write_task_folder
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


def png(level):
    """A PNG of one colour."""
    held = io.BytesIO()
    Image.new("RGB", (32, 32), (level, level, 9)).save(held, "PNG")
    return held.getvalue()


def table(tmp_path, records, name="asked.jsonl"):
    """A table with these records in a folder `asked` that has three pictures."""
    folder = tmp_path / "asked"
    folder.mkdir()
    for number in range(3):
        (folder / f"p{number}.png").write_bytes(png(number * 40))
    (folder / name).write_text("".join(json.dumps(each) + "\n" for each in records), "utf-8")
    return folder / name


def looked(path, **more):
    """What `new` recognises in a table of the folder `asked`."""
    request = NewTaskRequest("asked", more.pop("template", ""), str(path), path.parent, card=CARD, **more)
    [found] = recognising.recognise_tables([request])
    return found


def made(path, **more):
    """The found task, written, without an error; and its documents."""
    found = looked(path, **more)
    write_task_folder(found.wanted)
    assert errors(path.parent) == []
    return found, load(path.parent).documents
