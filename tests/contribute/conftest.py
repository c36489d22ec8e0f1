"""A sound folder of a task, made from the worked examples' data with ``lmms-medtasks new``."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

from lmms_medtasks.contribute.new import NewTaskRequest, write_task_folder

ROOT = Path(__file__).resolve().parents[2]
CARD = {"paper": "none", "licence": "CC0", "terms": "none", "about": "Made up.", "deviations": "none"}


@pytest.fixture(autouse=True, scope="session")
def data_folder(tmp_path_factory):
    """A data folder of the tests' own, for tables as text and for what was found right of pictures."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEDTASKS_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="session")
def example_data(tmp_path_factory):
    """A folder with the made-up data of both examples: chest_side/ and lesion_words/."""
    spec = importlib.util.spec_from_file_location("make_data", ROOT / "docs" / "examples" / "make_data.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    folder = tmp_path_factory.mktemp("data")
    module.chest_side(folder / "chest_side")
    module.lesion_words(folder / "lesion_words")
    return folder


@pytest.fixture
def make(example_data, tmp_path):
    """Call as make(name="chest_side", template=..., **fields of Wanted): a fresh folder of a task."""

    def call(name="chest_side", template="multiple_choice", data="chest_side", **more):
        folder = tmp_path / name
        shutil.copytree(example_data / data, folder)
        columns = {"image": "img", "question": "q", "options": "a,b", "answer": "label"}
        if data == "lesion_words":
            columns = {"image": "photo", "answer": "reference"}
        more.setdefault("columns", columns)
        write_task_folder(NewTaskRequest(name, template, str(folder / "questions.csv"), folder, card=CARD, **more))
        return folder

    return call


@pytest.fixture
def chest_side(make):
    return make()
