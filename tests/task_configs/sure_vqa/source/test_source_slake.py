"""Preparing SLAKE: what becomes of good records, and what is said of bad ones."""

from __future__ import annotations

import json

import pytest

from lmms_medtasks.data import store
from lmms_medtasks.errors import UserError
from lmms_medtasks.pictures import image_id
from tests.task_configs.sure_vqa.source.prepared_rows import prepared, rejected

pytestmark = pytest.mark.usefixtures("home")


@pytest.mark.parametrize("zipped", [False, True])
def test_slake_from_a_folder_and_from_its_zip(write, rows_of, zipped):
    rows = [rows_of["slake"](1), rows_of["slake"](2, answer="Lung", answer_type="OPEN", img_name="xmlab1/source.jpg")]
    folder = write("slake", {"test": rows}, zipped=zipped)
    first, second = prepared("sure_slake", folder)
    assert (first["id"], first["answer_type"], first["choices"]) == ("test/1", "closed", "yes | no")
    assert (second["id"], second["answer_type"], second["choices"]) == ("test/2", "open", "")
    assert first["image"]["bytes"] == second["image"]["bytes"]
    assert first["image_id"] == second["image_id"] == image_id([first["image"]["bytes"]])
    assert (first["modality"], first["content_type"], first["location"], first["split"]) == (
        "CT",
        "Abnormality",
        "Lung",
        "test",
    )


def test_slake_original_copy_has_another_name_for_validation(write, rows_of):
    folder = write("slake", {"validate": [rows_of["slake"](1)], "test": [rows_of["slake"](2)]})
    (folder / "validation.json").rename(folder / "validate.json")
    assert [row["id"] for row in prepared("sure_slake", folder, "validate")] == ["validate/1"]


def test_slake_other_languages_are_counted_and_left_out(write, rows_of, capsys):
    rows = [rows_of["slake"](1), rows_of["slake"](2, q_lang="zh"), rows_of["slake"](3, q_lang="zh")]
    folder = write("slake", {"test": rows})
    assert [row["id"] for row in prepared("sure_slake", folder)] == ["test/1"]
    entry = store.read_prepared_splits("sure_slake", "sample")["test"]
    assert (entry.rows, entry.rejected) == (1, 0)
    assert entry.notes["left_out"] == {"language 'zh' is not English": 2}
    assert "2 records left out, language 'zh' is not English" in capsys.readouterr().err


def test_slake_without_a_question_in_english_is_an_error(write, rows_of):
    folder = write("slake", {"test": [rows_of["slake"](1, q_lang="zh")]})
    with pytest.raises(
        UserError, match=r"test\.json has no record of this benchmark\. language 'zh' is not English: 1"
    ):
        prepared("sure_slake", folder)


def test_unknown_answer_type(write, rows_of):
    rows = [rows_of["slake"](1), rows_of["slake"](2, answer_type="YES/NO"), rows_of["slake"](3, answer_type="YES/NO")]
    with pytest.raises(
        UserError, match=r"2 rows, first in row 2: Unknown answer_type 'YES/NO'\. Allowed.*open, closed"
    ):
        prepared("sure_slake", write("slake", {"test": rows}))


def test_an_answer_type_that_is_not_given_costs_one_question(write, rows_of):
    rows = [rows_of["slake"](1), rows_of["slake"](2, answer_type=None), rows_of["slake"](3, answer_type=" ")]
    assert [row["id"] for row in prepared("sure_slake", write("slake", {"test": rows}))] == ["test/1"]
    assert [line["reason"] for line in rejected("sure_slake")] == ["answer_type is empty"] * 2


def test_an_image_that_is_listed_and_absent(write, rows_of):
    folder = write("slake", {"test": [rows_of["slake"](1), rows_of["slake"](2)]})
    (folder / "imgs/xmlab2/source.jpg").unlink()
    assert [row["id"] for row in prepared("sure_slake", folder)] == ["test/1"]
    (line,) = rejected("sure_slake")
    assert (line["row"], line["id"]) == (2, "2")
    assert "'xmlab2/source.jpg' is not in the source folder" in line["reason"]


def test_an_image_name_that_leaves_the_folder(write, rows_of):
    rows = [rows_of["slake"](1), rows_of["slake"](2)]
    folder = write("slake", {"test": rows})
    (folder / "test.json").write_text(json.dumps([rows[0], {**rows[1], "img_name": "../../secret.jpg"}]), "utf-8")
    assert len(prepared("sure_slake", folder)) == 1
    assert "not inside the release's folder" in rejected("sure_slake")[0]["reason"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"id": 1, "conversations": []}]', r"test\.json, record 1 lacks required fields.*another release.*Found: id"),
        ('{"data": []}', r"test\.json is no JSON list"),
        ("[[1, 2]]", r"record 1 is list, expected an object"),
        ('[{"qid": 1', r"test\.json cannot be read after record 0.*cut short"),
        ("[]", r"test\.json has no record of this benchmark\. it is empty"),
        ("\u0000", r"no JSON list"),
    ],
)
def test_a_file_of_another_form(write, rows_of, content, message):
    folder = write("slake", {"test": [rows_of["slake"](1)]})
    (folder / "test.json").write_text(content, "utf-8")
    with pytest.raises(UserError, match=message):
        prepared("sure_slake", folder)


def test_without_images_nothing_is_prepared(write, rows_of):
    folder = write("slake", {"test": [rows_of["slake"](1)]}, zipped=True)
    (folder / "imgs.zip").unlink()
    with pytest.raises(UserError, match=r"images are missing: looked for imgs\.zip and for the folders imgs"):
        prepared("sure_slake", folder)
