"""Preparing MIMIC-CXR-VQA: what becomes of good records, and what is said of bad ones."""

from __future__ import annotations

import json

import pytest

from lmms_medtasks.data import sources, store
from lmms_medtasks.errors import UserError
from lmms_medtasks.task_configs.sure_vqa import source_shifts
from tests.task_configs.sure_vqa.source.prepared_rows import prepared, rejected

pytestmark = pytest.mark.usefixtures("home")


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
    notes = store.read_prepared_splits("sure_mimic", "sample")["test"].notes
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
    with pytest.raises(UserError, match=rf"lacks files of MIMIC-CXR-VQA.*{name}"):
        prepared("sure_mimic", folder)


def test_mimic_table_of_another_form(write, rows_of):
    folder = write("mimic", {"test": [rows_of["mimic"](1)]})
    (folder / "hosp/admissions.csv").write_text("subject_id,ethnicity\n11,WHITE\n", "utf-8")
    with pytest.raises(
        UserError, match=r"admissions\.csv lacks required columns\. Missing: race\. .*Found: subject_id, ethn"
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
    with pytest.raises(UserError, match=r"or one without answers\?\)\. Missing: answer\.") as error:
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


@pytest.mark.parametrize("name", ["sure_slake", "sure_ovqa", "sure_mimic"])
def test_the_expected_counts_are_the_papers(name):
    counts = {split: questions for (split,), questions, _ in sources.get(name).expected}
    assert counts == source_shifts.paper_sizes(name)["all"]
    # SLAKE's training question 1622 has no answer: it is in the paper's number, and no task asks it.
    unusable = {each.splits[0]: each.unusable for each in sources.get(name).expected if each.unusable}
    assert unusable == ({"train": 1} if name == "sure_slake" else {})
