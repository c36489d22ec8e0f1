"""What ``data doctor`` says of a folder, complete or not, and ``data inspect`` of images that stay with the user."""

import json
import os
import zipfile

import datasets
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from lmms_medtasks.cli.app import build_app
from lmms_medtasks.data import store
from lmms_medtasks.data.prepare import prepare_splits
from lmms_medtasks.errors import UserError
from lmms_medtasks.task_configs.sure_vqa import hooks

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def run():
    def call(*arguments, status=0):
        done = CliRunner().invoke(build_app(), ["data", *map(str, arguments)])
        assert done.exit_code == status, done.output
        return done.stdout

    return call


def test_a_complete_folder(run, random_release):
    folder, raw, *_ = random_release("slake")
    printed = run("doctor", "sure_slake", "--source", folder)
    english = {split: [row for row in rows if row["q_lang"] == "en"] for split, rows in raw.items()}
    counts = {split: len(rows) for split, rows in english.items()}
    # The synthetic release's closed questions about "MRI" name no options.
    english = {split: [row for row in rows if row["answer"] != "MRI"] for split, rows in english.items()}
    assert "there    train.json: train.json, for train" in printed
    assert "there    images: folder imgs" in printed
    assert f"{len(raw['test']) - counts['test']} records left out, language 'zh' is not English" in printed
    ood = sum(row["modality"] == "X-Ray" for split in ("train", "test") for row in english[split])
    lines = {" ".join(line.split()) for line in printed.splitlines()}
    assert f"sure_slake_modality, test OoD {ood} 1,779 {ood - 1779:+,}" in lines
    # Images have one modality, and questions of several types.
    assert "sure_slake_modality: 0 images have both i.i.d. and OoD test questions" in lines
    shared = {row["img_name"] for row in english["test"] if row["content_type"] == "Size"}
    shared &= {row["img_name"] for row in english["test"] if row["content_type"] != "Size"}
    assert f"sure_slake_question_type: {len(shared)} images have both i.i.d. and OoD test questions" in lines
    assert "Nothing is missing. Next: lmms-medtasks data prepare sure_slake --source" in printed


def test_a_missing_picture_of_the_validation_questions_is_not_nothing(run, random_release):
    """The split is not prepared unless asked for: the folder will do, but something is missing."""
    folder, raw, *_ = random_release("slake")
    used = {split: {row["img_name"] for row in rows if row["q_lang"] == "en"} for split, rows in raw.items()}
    validate = next(split for split in used if split.startswith("valid"))
    others = set().union(*(names for split, names in used.items() if split != validate))
    (folder / "imgs" / sorted(used[validate] - others)[0]).unlink()
    printed = run("doctor", "sure_slake", "--source", folder)
    assert "note     split validate: 1 image is not there" in printed
    assert "Nothing is missing" not in printed and "Images of validate are missing" in printed


def test_as_json(run, random_release):
    folder, *_ = random_release("ovqa")
    found = json.loads(run("doctor", "sure_ovqa", "--source", folder, "--json"))
    assert found["complete"] is True
    sizes = {size["what"]: (size["here"], size["paper"]) for size in found["sizes"]}
    assert sizes["train, all"][1] == 13492
    assert sizes["sure_ovqa_multimodal, test OoD"][1] is None
    assert set(found["shared"]) == {"sure_ovqa_body_part", "sure_ovqa_question_type", "sure_ovqa_multimodal"}


@pytest.mark.parametrize("gone", ["hosp/patients.csv", "test.json", "files"])
def test_what_is_missing_and_what_to_sign(run, random_release, gone):
    folder, *_ = random_release("mimic")
    (folder / gone).rename(folder / "renamed")
    printed = run("doctor", "sure_mimic", "--source", folder, status=1)
    name = {"files": "images"}.get(gone, gone.rpartition("/")[2])
    assert f"missing  {name}: " in printed
    assert "Sign the PhysioNet Credentialed Health Data Use Agreement 1.5.0" in printed
    assert "https://physionet.org/content/mimiciv/" in printed
    assert "SECRET" not in printed


@pytest.mark.parametrize(("kind", "image"), [("slake", "xmlab2/source.jpg"), ("ovqa", "2.jpg"), ("mimic", "p10/p12")])
@pytest.mark.parametrize("zipped", [False, True])
def test_images_that_are_listed_and_not_there_and_numbers_that_are_there_twice(
    run, write, rows_of, kind, image, zipped
):
    rows = [rows_of[kind](number) for number in (1, 2, 2)]
    folder = write(kind, {"test": rows, "train": rows}, **({"zipped": zipped} if kind == "slake" else {}))
    first = next(folder.rglob(f"*{image}*"), None)
    if first is None:  # in the archive
        archive = zipfile.ZipFile(folder / "imgs.zip")
        kept = {name: archive.read(name) for name in archive.namelist() if image not in name}
        with zipfile.ZipFile(folder / "imgs.zip", "w") as changed:
            for name, data in kept.items():
                changed.writestr(name, data)
    else:
        first.rename(folder / "elsewhere")
    printed = run("doctor", f"sure_{kind}", "--source", folder, status=1)
    assert f"missing  split test: 1 image is not there, which costs 1 question: '{image}" in printed
    assert "split test: 1 record would be rejected: a record with its number was there before" in printed
    # Of MIMIC only the test set needs images.
    assert ("missing  split train: 1 image" in printed) == (kind != "mimic")
    assert "SECRET" not in printed


def test_a_split_that_is_not_prepared_by_default_is_not_needed(run, random_release):
    folder, *_ = random_release("slake")
    (folder / "validation.json").unlink()
    assert "note     validation.json: not there, for validate" in run("doctor", "sure_slake", "--source", folder)


def test_a_shift_without_questions_and_a_file_of_another_form(run, write, rows_of):
    folder = write("slake", {"test": [rows_of["slake"](1)], "train": [rows_of["slake"](2)]})
    printed = run("doctor", "sure_slake", "--source", folder, status=1)
    assert "missing  sure_slake_modality: no OoD test question. Values present: modality: 'CT'" in printed
    (folder / "train.json").write_text("{}", "utf-8")
    assert "missing  split train: train.json is no JSON list" in run(
        "doctor", "sure_slake", "--source", folder, status=1
    )


def test_another_suite_too(run, release):
    printed = run("doctor", "medq_deg", "--source", release)
    assert "there    MedQ-Robust-good-test.tsv" in printed
    assert "note     MedQ-Robust-good-dev.tsv: not there, for clean_dev, train" in printed


def test_inspect_tells_of_images_that_were_moved_or_changed(run, write, rows_of, png):
    folder = write("ovqa", {"test": [rows_of["ovqa"](1), rows_of["ovqa"](2), rows_of["ovqa"](3)]})
    prepare_splits("sure_ovqa", source=folder, splits=["test"], sample=True)
    assert "images in your own folder: 3, gone or changed: 0" in run("inspect", "sure_ovqa")
    (folder / "img/1.jpg").unlink()
    (folder / "img/2.jpg").write_bytes(png(200))
    printed = run("inspect", "sure_ovqa")
    assert "images in your own folder: 3, gone or changed: 2" in printed
    assert str(folder / "img/2.jpg") in printed


def test_inspect_prints_no_text_of_credentialed_data(run, write, rows_of):
    folder = write("mimic", {"test": [rows_of["mimic"](1), rows_of["mimic"](2)]})
    printed = run("prepare", "sure_mimic", "--source", folder, "--split", "test", "--sample")
    printed += run("inspect", "sure_mimic", "--rows", "2") + run("inspect", "sure_mimic", "--json")
    assert "test/2" in printed
    assert "SECRET" not in printed


@pytest.mark.parametrize("write_anew", [False, True])
def test_an_image_that_was_changed_is_found_when_a_task_loads(write, rows_of, write_anew):
    """Of the same size and with the same time of modification; one that was only written again is none."""
    rows = [rows_of["ovqa"](1), rows_of["ovqa"](2, question_type="Organ System")]
    folder = write("ovqa", {"test": rows})
    prepare_splits("sure_ovqa", source=folder, splits=["test"])
    dataset = datasets.Dataset(pq.read_table(store.find_prepared_split("sure_ovqa", "sample", "test").path))
    assert sorted(hooks.sure_ovqa_question_type(dataset)["set"]) == ["iid", "ood"]
    image = folder / "img/2.jpg"
    before, data = image.stat(), bytearray(image.read_bytes())
    data[-20] ^= 0 if write_anew else 1
    image.write_bytes(data)
    os.utime(image, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (image.stat().st_size, image.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    if write_anew:
        assert len(hooks.sure_ovqa_question_type(dataset)) == 2
    else:
        with pytest.raises(UserError, match=r"1 images have other bytes than when the data was prepared: .*2\.jpg"):
            hooks.sure_ovqa_question_type(dataset)
