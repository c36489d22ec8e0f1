"""The worked examples, and every folder that was contributed to task_configs, are as `validate` wants them."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmms_medtasks import folders
from lmms_medtasks.contribute.live import SNAPSHOT
from lmms_medtasks.contribute.validate import validate_folder

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = sorted(
    path.parent for root in (ROOT / "docs" / "examples", folders.suites_root()) for path in root.glob(f"*/{SNAPSHOT}")
)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_validate_finds_nothing(folder):
    assert [str(each) for each in validate_folder(folder).problems] == []


def test_the_examples_are_no_tasks_of_the_package():
    from lmms_medtasks.harness.plugin import task_index

    examples = {path.stem for path in (ROOT / "docs" / "examples").glob("*/*.yaml")}
    assert len(examples) == 4
    assert not examples & set(task_index())
