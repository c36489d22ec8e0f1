"""Folders broken in one place each, and all that is said of them; broken.yml is the table.

UPDATE_SNAPSHOTS=1 records the messages anew: read every one.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
import yaml

from lmms_medtasks.contribute.validate import validate_folder

TABLE = Path(__file__).with_name("broken.yml")
SAID = Path(__file__).with_name("broken_said.yml")
CASES = yaml.safe_load(TABLE.read_text("utf-8"))
LONGEST = 260


def broken(folder: Path, case: dict) -> Path:
    path = folder / case.get("in", "chest_side.yaml")
    if "write" in case:
        path.write_text(case["write"], "utf-8")
    elif "bytes" in case:
        path.write_bytes(bytes.fromhex(case["bytes"]))
    elif "rename" in case:
        target = folder / f"{case['rename']}.yaml"
        shutil.move(path, target)
        path.with_name("chest_side_noimage.yaml").unlink()
        target.write_text(target.read_text("utf-8").replace("task: chest_side", f"task: {case['rename']}"), "utf-8")
    else:
        text, (old, new) = path.read_text("utf-8"), case["replace"]
        assert old in text, "the case is out of date"
        if case.get("flow"):
            old, new = f"  default:\n    {old}\n    prompt: prompt.txt", f"  default: {new}}}"
        path.write_text(text.replace(old, new, 1), "utf-8")
    return folder


def messages(folder: Path, executed: bool, recorded: bool = False) -> list[str]:
    found = validate_folder(folder, static_only=not executed, write=not recorded)
    return [str(each).replace(str(folder), "FOLDER")[:LONGEST] for each in found.errors]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["what"].replace(" ", "_"))
def test_says_what_is_broken(case, chest_side):
    said = messages(broken(chest_side, case), case.get("executed", False), case.get("recorded", False))
    recorded = yaml.safe_load(SAID.read_text("utf-8")) if SAID.exists() else {}
    if os.environ.get("UPDATE_SNAPSHOTS"):
        recorded[case["what"]] = said
        order = [each["what"] for each in CASES]
        kept = {what: recorded[what] for what in order if what in recorded}
        SAID.write_text(yaml.safe_dump(kept, sort_keys=False, allow_unicode=True, width=1000), "utf-8")
    assert said, "nothing was found"
    assert said == recorded[case["what"]]


def test_there_are_thirty_and_more():
    assert len(CASES) >= 30
    assert len({case["what"] for case in CASES}) == len(CASES)


def test_a_sound_folder_has_no_error(chest_side):
    assert messages(chest_side, executed=True) == []
