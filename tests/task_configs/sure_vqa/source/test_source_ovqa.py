"""Preparing OVQA: what becomes of good records, and what is said of bad ones."""

from __future__ import annotations

import pytest

from lmms_medtasks.data import store
from lmms_medtasks.data.prepare import prepare_splits
from lmms_medtasks.errors import UserError
from lmms_medtasks.pictures import image_id
from tests.task_configs.sure_vqa.source.prepared_rows import prepared, rejected

pytestmark = pytest.mark.usefixtures("home")


def test_ovqa_refers_to_the_users_own_images(write, rows_of):
    folder = write("ovqa", {"test": [rows_of["ovqa"](1), rows_of["ovqa"](2, image_name="1.jpg")]})
    first, second = prepared("sure_ovqa", folder)
    file = folder / "img/1.jpg"
    assert first["image"] == second["image"] == {"bytes": None, "path": str(file.resolve())}
    assert first["image_id"] == image_id([file.read_bytes()])
    size = (store.prepared_data_folder("sure_ovqa", "sample") / "test.parquet").stat().st_size
    assert size < 20_000


def test_the_digest_of_the_rows_does_not_depend_on_where_the_images_are(write, rows_of, tmp_path):
    folder = write("ovqa", {"test": [rows_of["ovqa"](1)]})
    prepared("sure_ovqa", folder)
    before = store.read_prepared_splits("sure_ovqa", "sample")["test"].digest
    folder.rename(tmp_path / "elsewhere")
    prepared("sure_ovqa", tmp_path / "elsewhere")
    prepare_splits("sure_ovqa", source=tmp_path / "elsewhere", splits=["test"], sample=True, force=True)
    assert store.read_prepared_splits("sure_ovqa", "sample")["test"].digest == before


def test_the_digest_of_the_rows_changes_with_an_image(write, rows_of, png):
    folder = write("ovqa", {"test": [rows_of["ovqa"](1)]})
    prepared("sure_ovqa", folder)
    before = store.read_prepared_splits("sure_ovqa", "sample")["test"].digest
    (folder / "img/1.jpg").write_bytes(png(99))
    prepare_splits("sure_ovqa", source=folder, splits=["test"], sample=True, force=True)
    assert store.read_prepared_splits("sure_ovqa", "sample")["test"].digest != before


def test_ovqa_image_that_is_no_image(write, rows_of):
    folder = write("ovqa", {"test": [rows_of["ovqa"](1), rows_of["ovqa"](2), rows_of["ovqa"](3, image_name="2.jpg")]})
    (folder / "img/2.jpg").write_bytes(b"no image")
    assert [row["id"] for row in prepared("sure_ovqa", folder)] == ["test/1"]
    assert ["'2.jpg' is none of" in line["reason"] for line in rejected("sure_ovqa")] == [True, True]


def test_ovqa_link_out_of_the_images(write, rows_of, tmp_path, png):
    folder = write("ovqa", {"test": [rows_of["ovqa"](1), rows_of["ovqa"](2)]})
    (tmp_path / "other.jpg").write_bytes(png(3))
    (folder / "img/2.jpg").unlink()
    (folder / "img/2.jpg").symlink_to(tmp_path / "other.jpg")
    assert len(prepared("sure_ovqa", folder)) == 1
    assert "is a link out of the folder" in rejected("sure_ovqa")[0]["reason"]


def test_ovqa_cleaning(write, rows_of):
    rows = [
        rows_of["ovqa"](1, answer="Yes."),
        rows_of["ovqa"](2, answer="left", question="Left or right?"),
        rows_of["ovqa"](3, answer="CT", question="Is this a CT image or X-Ray image?"),
        rows_of["ovqa"](4, answer="a screw", answer_type="OPEN"),
    ]
    made = prepared("sure_ovqa", write("ovqa", {"test": rows}))
    assert [(row["id"], row["answer"], row["choices"]) for row in made] == [
        ("test/1", "Yes", "yes | no"),
        ("test/3", "CT", "CT | X-Ray"),
        ("test/4", "a screw", ""),
    ]
    (left_out,) = store.read_prepared_splits("sure_ovqa", "sample")["test"].notes["left_out"].items()
    assert left_out[1] == 1
    assert "cleaning" in left_out[0]


def test_suites_on_no_hub_say_how_to_get_them():
    with pytest.raises(UserError, match=r"is on no hub\. OVQA is given out by its authors on request"):
        prepare_splits("sure_ovqa")
    with pytest.raises(UserError, match=r"Sign the PhysioNet Credentialed Health Data Use Agreement 1\.5\.0"):
        prepare_splits("sure_mimic")


def test_a_task_says_how_to_get_them_too(monkeypatch):
    from lmms_medtasks.data import locate_split

    monkeypatch.delenv("HF_HUB_OFFLINE")
    with pytest.raises(UserError, match=r"It is on no hub\.\nTwo ways out:\n  1\. from a folder.*\n.*PhysioNet"):
        locate_split("sure_mimic", "test")
