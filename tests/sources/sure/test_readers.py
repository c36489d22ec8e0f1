"""Preparing SLAKE, OVQA and MIMIC-CXR-VQA: what becomes of good records, and what is said of bad ones."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.sources import store, suites
from lmms_medtasks.sources.images import image_id
from lmms_medtasks.sources.prepare import prepare


def prepared(suite, folder, split="test"):
    prepare(suite, source=folder, splits=[split], sample=True)
    return pq.read_table(store.folder(suite, "sample") / f"{split}.parquet").to_pylist()


def rejected(suite):
    return store.read_rejected(store.folder(suite, "sample") / store.REJECTED)


# --- SLAKE ----------------------------------------------------------------------------------------------------------


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
    entry = store.entries("sure_slake", "sample")["test"]
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
    with pytest.raises(UserError, match=r"answer_type 'YES/NO', 2 records, first record 2\. Allowed.*open, closed"):
        prepared("sure_slake", write("slake", {"test": rows}))


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
        ('[{"id": 1, "conversations": []}]', r"test\.json, record 1 has not the fields.*another release.*Found: id"),
        ('{"data": []}', r"test\.json is no JSON list"),
        ("[[1, 2]]", r"record 1 is list, wanted an object"),
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
    with pytest.raises(UserError, match=r"images are missing: wanted imgs\.zip or the folder imgs"):
        prepared("sure_slake", folder)


# --- OVQA -----------------------------------------------------------------------------------------------------------


def test_ovqa_refers_to_the_users_own_images(write, rows_of):
    folder = write("ovqa", {"test": [rows_of["ovqa"](1), rows_of["ovqa"](2, image_name="1.jpg")]})
    first, second = prepared("sure_ovqa", folder)
    file = folder / "img/1.jpg"
    assert first["image"] == second["image"] == {"bytes": None, "path": str(file.resolve())}
    assert first["image_id"] == image_id([file.read_bytes()])
    size = (store.folder("sure_ovqa", "sample") / "test.parquet").stat().st_size
    assert size < 20_000


def test_the_digest_of_the_rows_does_not_depend_on_where_the_images_are(write, rows_of, tmp_path):
    folder = write("ovqa", {"test": [rows_of["ovqa"](1)]})
    prepared("sure_ovqa", folder)
    before = store.entries("sure_ovqa", "sample")["test"].digest
    folder.rename(tmp_path / "elsewhere")
    prepared("sure_ovqa", tmp_path / "elsewhere")
    prepare("sure_ovqa", source=tmp_path / "elsewhere", splits=["test"], sample=True, force=True)
    assert store.entries("sure_ovqa", "sample")["test"].digest == before


def test_the_digest_of_the_rows_changes_with_an_image(write, rows_of, png):
    folder = write("ovqa", {"test": [rows_of["ovqa"](1)]})
    prepared("sure_ovqa", folder)
    before = store.entries("sure_ovqa", "sample")["test"].digest
    (folder / "img/1.jpg").write_bytes(png(99))
    prepare("sure_ovqa", source=folder, splits=["test"], sample=True, force=True)
    assert store.entries("sure_ovqa", "sample")["test"].digest != before


def test_ovqa_image_that_is_no_image(write, rows_of):
    folder = write("ovqa", {"test": [rows_of["ovqa"](1), rows_of["ovqa"](2), rows_of["ovqa"](3, image_name="2.jpg")]})
    (folder / "img/2.jpg").write_bytes(b"no image")
    assert [row["id"] for row in prepared("sure_ovqa", folder)] == ["test/1"]
    assert ["'2.jpg': image is none of" in line["reason"] for line in rejected("sure_ovqa")] == [True, True]


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
    (left_out,) = store.entries("sure_ovqa", "sample")["test"].notes["left_out"].items()
    assert left_out[1] == 1
    assert "cleaning" in left_out[0]


def test_suites_on_no_hub_say_how_to_get_them():
    with pytest.raises(UserError, match=r"is on no hub\. OVQA is given out by its authors on request"):
        prepare("sure_ovqa")
    with pytest.raises(UserError, match=r"Sign the PhysioNet Credentialed Health Data Use Agreement 1\.5\.0"):
        prepare("sure_mimic")


def test_a_task_says_how_to_get_them_too(monkeypatch):
    from lmms_medtasks.sources import locate

    monkeypatch.delenv("HF_HUB_OFFLINE")
    with pytest.raises(UserError, match=r"It is on no hub\.\nTwo ways out:\n  1\. from a folder.*\n.*PhysioNet"):
        locate("sure_mimic", "test")


# --- MIMIC-CXR-VQA --------------------------------------------------------------------------------------------------


def mimic_one(write, rows_of, **changes):
    (row,) = prepared("sure_mimic", write("mimic", {"test": [rows_of["mimic"](1, **changes)]}))
    return row["answer_type"], row["answer"], row["choices"]


OPTIONS = {"object": {}, "attribute": {"0": "edema", "1": "a mass"}, "category": {}, "viewpos": {}, "gender": {}}
CHOOSE = {
    "semantic_type": "choose",
    "template": "Is it ${attribute_1} or the ${attribute_2}?",
    "template_arguments": OPTIONS,
}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"answer": ["no"]}, ("closed", "no", "yes | no")),
        ({**CHOOSE, "answer": ["a mass"]}, ("multilabel", "a mass", "edema | a mass | both | none")),
        ({**CHOOSE, "answer": ["edema", "a mass"]}, ("multilabel", "both", "edema | a mass | both | none")),
        ({**CHOOSE, "answer": []}, ("multilabel", "none", "edema | a mass | both | none")),
        ({"semantic_type": "choose", "template": "AP or PA?", "answer": ["PA"]}, ("closed", "PA", "AP | PA")),
        (
            {"semantic_type": "choose", "template": "Male or female?", "content_type": "gender", "answer": ["f"]},
            ("closed", "female", "female | male"),
        ),
        ({"semantic_type": "query", "answer": ["edema", "a mass"]}, ("open", "edema, a mass", "")),
        ({"semantic_type": "query", "answer": []}, ("open", "none", "")),
        ({"semantic_type": "query", "content_type": "gender", "answer": ["m"]}, ("open", "male", "")),
        # "m" is a sex only where the question is about it
        ({"semantic_type": "query", "answer": ["m"]}, ("open", "m", "")),
    ],
)
def test_mimic_answers(write, rows_of, changes, expected):
    assert mimic_one(write, rows_of, **changes) == expected


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"answer": "yes"}, "no list of texts"),
        ({"answer": ["perhaps"]}, "is neither"),
        ({**CHOOSE, "answer": ["a", "b", "c"]}, "3 answers"),
        ({**CHOOSE, "template_arguments": {}}, "nothing for the place 'attribute_1'"),
    ],
)
def test_mimic_records_that_are_none(write, rows_of, changes, reason):
    rows = [rows_of["mimic"](1), rows_of["mimic"](2, **changes)]
    assert len(prepared("sure_mimic", write("mimic", {"test": rows}))) == 1
    (line,) = rejected("sure_mimic")
    assert reason in line["reason"]
    assert "SECRET" not in json.dumps(line)


def test_mimic_patients(write, rows_of):
    patients = [(11, "M", 70), (11, "", ""), (12, "F", 30), (12, "M", 30), (13, "F", 40), (13, "F", 41)]
    races = [
        (11, "WHITE"), (11, "WHITE - RUSSIAN"), (11, "UNKNOWN"),  # one group
        (12, "WHITE"), (12, "ASIAN - KOREAN"),  # two
        (13, "OTHER"),
        (14, "MARTIAN"),  # a value of no group
    ]  # fmt: skip
    rows = [rows_of["mimic"](number) for number in (1, 2, 3, 4, 5)]
    made = prepared("sure_mimic", write("mimic", {"test": rows}, patients=patients, races=races))
    assert [(row["gender"], row["age"], row["ethnicity"]) for row in made] == [
        ("M", 70, "WHITE"),
        ("", 30, "UNKNOWN/OTHER"),
        ("F", -1, "UNKNOWN/OTHER"),
        ("", -1, "UNKNOWN/OTHER"),
        ("", -1, "UNKNOWN/OTHER"),  # in neither table
    ]
    notes = store.entries("sure_mimic", "sample")["test"].notes
    assert notes["patients_with_several_sexes"] == 1
    assert notes["patients_with_several_ages"] == 1
    assert notes["patients_of_several_ethnic_groups"] == 1
    # How many, not which: the table is credentialed, and notes are printed.
    assert notes["patients_with_a_race_of_no_group"] == 1
    assert "MARTIAN" not in str(notes)


@pytest.mark.parametrize("name", ["patients.csv", "admissions.csv"])
def test_mimic_without_a_table(write, rows_of, name):
    folder = write("mimic", {"test": [rows_of["mimic"](1)]})
    (folder / "hosp" / name).unlink()
    with pytest.raises(UserError, match=rf"has not the files of MIMIC-CXR-VQA.*{name}"):
        prepared("sure_mimic", folder)


def test_mimic_table_of_another_form(write, rows_of):
    folder = write("mimic", {"test": [rows_of["mimic"](1)]})
    (folder / "hosp/admissions.csv").write_text("subject_id,ethnicity\n11,WHITE\n", "utf-8")
    with pytest.raises(
        UserError, match=r"admissions\.csv has not the columns that are wanted: race\. Found: subject_id, ethn"
    ):
        prepared("sure_mimic", folder)


def test_mimic_table_that_is_cut_short(write, rows_of):
    folder = write("mimic", {"test": [rows_of["mimic"](1)]}, packed=True)
    packed = folder / "hosp/patients.csv.gz"
    packed.write_bytes(packed.read_bytes()[:-9])
    with pytest.raises(UserError, match=r"patients\.csv\.gz cannot be read.*Is it cut short"):
        prepared("sure_mimic", folder)


def test_mimic_age_that_is_none(write, rows_of):
    folder = write("mimic", {"test": [rows_of["mimic"](1)]}, patients=[(11, "M", "old")])
    with pytest.raises(UserError, match="anchor_age of subject 11 is no number of years") as raised:
        prepared("sure_mimic", folder)
    assert "old" not in str(raised.value)


def test_mimic_files_without_answers(write, rows_of):
    row = rows_of["mimic"](1)
    folder = write("mimic", {"test": [row]})
    del row["answer"]
    (folder / "test.json").write_text(json.dumps([row]), "utf-8")
    with pytest.raises(UserError, match=r"or one without answers\? Missing: answer\.") as error:
        prepared("sure_mimic", folder)
    assert "SECRET" not in str(error.value)


def test_mimic_in_physionets_layout_with_links(write, rows_of, tmp_path):
    real = write("mimic", {"test": [rows_of["mimic"](1)]})
    folder = tmp_path / "linked"
    questions = folder / "physionet.org/files/mimic-ext-mimic-cxr-vqa/1.0.0/MIMIC-Ext-MIMIC-CXR-VQA/dataset"
    questions.mkdir(parents=True)
    (questions / "test.json").symlink_to(real / "test.json")
    (folder / "physionet.org/files/mimiciv/2.2").mkdir(parents=True)
    (folder / "physionet.org/files/mimiciv/2.2/hosp").symlink_to(real / "hosp")
    (folder / "physionet.org/files/mimic-cxr-jpg").mkdir()
    (folder / "physionet.org/files/mimic-cxr-jpg/2.0.0").symlink_to(real)
    (row,) = prepared("sure_mimic", folder)
    assert row["image"]["path"] == str((real / "files/p10/p11/s1/image-1.jpg").resolve())


def test_mimic_in_two_versions_is_refused(write, rows_of, tmp_path):
    folder = write("mimic", {"test": [rows_of["mimic"](1)]})
    for version in ("2.2", "3.1"):
        hosp = folder / f"physionet.org/files/mimiciv/{version}/hosp"
        hosp.mkdir(parents=True)
        (hosp / "patients.csv").write_text((folder / "hosp/patients.csv").read_text("utf-8"), "utf-8")
    (folder / "hosp/patients.csv").unlink()
    with pytest.raises(UserError, match=r"has patients\.csv in several places: .*2\.2.*3\.1"):
        prepared("sure_mimic", folder)


def test_mimic_training_rows_need_no_images(write, rows_of):
    splits = {"test": [rows_of["mimic"](1)], "train": [rows_of["mimic"](2)]}
    (row,) = prepared("sure_mimic", write("mimic", splits), "train")
    assert row["image"] is None
    assert row["image_id"] == "image-2"


def test_mimic_test_row_without_its_image(write, rows_of):
    folder = write("mimic", {"test": [rows_of["mimic"](1), rows_of["mimic"](2)]})
    (folder / "files/p10/p12/s1/image-2.jpg").unlink()
    assert len(prepared("sure_mimic", folder)) == 1
    assert "is not in the folder of images" in rejected("sure_mimic")[0]["reason"]


def test_repeated_numbers_are_rejected_and_counted(write, rows_of):
    rows = [rows_of["mimic"](1), rows_of["mimic"](1)]
    assert len(prepared("sure_mimic", write("mimic", {"test": rows}))) == 1
    assert "was there before" in rejected("sure_mimic")[0]["reason"]


def test_the_releases_are_full_from_the_papers_counts_on():
    counts = {name: suites.get(name).full_records for name in ("sure_slake", "sure_ovqa", "sure_mimic")}
    assert counts == {"sure_slake": 4866 + 1050, "sure_ovqa": 13492 + 1657, "sure_mimic": 13793}
