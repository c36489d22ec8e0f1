"""``data doctor`` counts an image that is not there as missing, with the questions that it costs, in every suite.

SURE-VQA's three data sets are in ``task_configs/sure_vqa/source/test_source_doctor.py``.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lmms_medtasks.cli.app import build_app
from lmms_medtasks.data import doctor, sources
from lmms_medtasks.grid_positions import parse_size
from lmms_medtasks.grids import tasks as grid_tasks
from lmms_medtasks.task_configs.med_cmr.source import LISTS
from lmms_medtasks.task_configs.medobvious.source import ROOT, TASKS


def medobvious(folder, png):
    """An item: five questions on two pictures of a grid with an outlier, three on two of one without."""
    told = grid_tasks.ItemTexts("an MRI scan", "The highlighted image is an MRI scan.", "All images show CT.", ("mri",))
    size = parse_size("2x2")
    rows = grid_tasks.make_tasks("v1_mri_vs_ct_0", size, 2, told, {"grid": "v1/a.png", "vis": "v1/b.png"})
    rows += grid_tasks.make_tasks("v1_mri_vs_ct_0", size, None, told, {"grid": "v1/c.png", "vis": "v1/d.png"})
    put(folder / ROOT / TASKS, "".join(json.dumps(row) + "\n" for row in rows).encode())
    for name in "abcd":
        put(folder / ROOT / "v1" / f"{name}.png", png(1))
    return folder / ROOT / "v1/a.png", "test", sum(row["image_path"].endswith("a.png") for row in rows)


def med_cmr(folder, png):
    """Three questions, two of them on the first image."""
    fields = ("task", "subtype", "question type", "modality", "organ system", "visual_description")
    plain = {**dict.fromkeys(fields, "x"), "task": "SOD", "question": "What?", "A": "a", "B": "b"}
    rows = [{**plain, "index": n, "image_path": f"dataset/imgs/{n // 2}.png", "answer": "B"} for n in range(3)]
    put(folder / LISTS["mcq"], json.dumps(rows).encode())
    put(folder / LISTS["open"], json.dumps([{**rows[2], "answer": "b"}]).encode())
    for n in range(2):
        put(folder / "imgs" / f"{n}.png", png(n))
    return folder / "imgs/0.png", "mcq", 2


def bones_joints(folder, png):
    """A case, which four questions are made of, and one of Task III on another picture."""
    case = {"case_id": "c1", "anatomical_site": "Left knee", "medical_history": "Fell.", "images": "imgs/1.png",
            "diagnosis": "a tear", "diagnostic_reasoning": "Torn.", "treatment": "rest", "treatment_reasoning": "young",
            "radiology_report": "Torn.", "physical_examination": "Swollen.", "disease": "Gout"}  # fmt: skip
    exam = {"id": "1", "question": "Which?", "A": "x", "B": "y", "answer": "B", "site": "Knee"}
    tasks = [
        {**exam, "task": f"Task {n}", **({"image": "imgs/2.png"} if n == "III" else {})} for n in ("I", "II", "III")
    ]
    put(folder / "cases.jsonl", (json.dumps(case) + "\n").encode())
    put(folder / "exam.jsonl", "".join(json.dumps(row) + "\n" for row in tasks).encode())
    for n in (1, 2):
        put(folder / "imgs" / f"{n}.png", png(n))
    return folder / "imgs/1.png", "open", 4


def put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def missing(found, split):
    return [each.detail for each in found.findings if each.state == "missing" and each.what == f"split {split}"]


@pytest.mark.parametrize("make", [medobvious, med_cmr, bones_joints])
def test_an_image_that_is_not_there_is_missing_with_what_it_costs(make, tmp_path, png):
    gone, split, questions = make(tmp_path / "source", png)
    suite = make.__name__
    before = doctor.diagnose_release(suite, tmp_path / "source")
    assert before.complete, before.findings
    gone.unlink()
    after = doctor.diagnose_release(suite, tmp_path / "source")
    assert not after.complete
    (said,) = missing(after, split)
    assert f"1 image is not there, which costs {questions} questions" in said
    assert f"{gone.name}' ({questions})" in said
    done = CliRunner().invoke(build_app(), ["data", "doctor", suite, "--source", str(tmp_path / "source")])
    assert done.exit_code == 1 and "Nothing is missing" not in done.stdout


def test_med_cmr_in_its_zip(tmp_path, png):
    gone, split, questions = med_cmr(tmp_path / "plain", png)
    (tmp_path / "source").mkdir()
    with zipfile.ZipFile(tmp_path / "source/dataset.zip", "w") as archive:
        for path in sorted((tmp_path / "plain").rglob("*")):
            if path.is_file() and path != gone:
                archive.write(path, f"dataset/{path.relative_to(tmp_path / 'plain').as_posix()}")
    found = doctor.diagnose_release("med_cmr", tmp_path / "source")
    assert [f"costs {questions} questions" in each for each in missing(found, split)] == [True]


def test_bones_joints_with_its_images_in_a_zip(tmp_path, png):
    gone, split, questions = bones_joints(tmp_path / "source", png)
    with zipfile.ZipFile(tmp_path / "source/imgs.zip", "w") as archive:
        archive.write(gone, "imgs/1.png")
    gone.unlink()
    assert doctor.diagnose_release("bones_joints", tmp_path / "source").complete


def test_medq_deg_images_in_files_and_in_other_rows(tmp_path, png, table, clean_row, release_row):
    """One file that is not there, one that would leave the folder, one row that refers to none; two good ones."""
    folder = tmp_path / "source"
    put(folder / "here.png", png(1))
    names = ["here.png", "gone.png", "../outside.png"]
    rows = [{**clean_row(n, image=""), "image_path": name} for n, name in enumerate(names)]
    rows += [clean_row(3), clean_row(4, image="3"), clean_row(5, image="77")]
    table(folder, rows, columns=[*clean_row(0), "image_path"])
    table(folder, [release_row(1)], name="MedQ-Robust-simulate-test.tsv")
    found = doctor.diagnose_release("medq_deg", folder)
    (said,) = missing(found, "clean")
    assert "3 images are not there, which costs 3 questions: 'gone.png' (1)" in said
    assert not missing(found, "release")


@pytest.mark.parametrize("value", ["../secret.png", "/secret.png"])
def test_a_name_that_leaves_the_folder_is_a_missing_image_and_no_crash(tmp_path, png, value):
    med_cmr(tmp_path / "source", png)
    listed = tmp_path / "source" / LISTS["mcq"]
    rows = json.loads(listed.read_text())
    listed.write_text(json.dumps([{**rows[0], "image_path": value}, *rows[1:]]))
    found = doctor.diagnose_release("med_cmr", tmp_path / "source")
    assert ["costs 1 question" in each for each in missing(found, "mcq")] == [True]


@pytest.mark.parametrize("suite", sources.names())
def test_an_empty_folder_is_told_what_belongs_there(suite, tmp_path):
    found = doctor.diagnose_release(suite, tmp_path)
    assert not found.complete and found.how
    assert {each.state for each in found.findings} <= {"missing", "note"}
