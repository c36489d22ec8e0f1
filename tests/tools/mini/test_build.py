"""The bundled files: they are what the code draws, building repeats bit for bit, and ``datasets`` reads them."""

from __future__ import annotations

import io
from collections import Counter

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from lmms_medtasks.data import documents, mini, sources
from lmms_medtasks.errors import UserError
from lmms_medtasks.suites import registry
from tools.mini import build, medq_deg

SPLITS = ("clean", "release", "train")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mini")
    return {path.name: path for path in build.build(folder, ["medq_deg"])}


@pytest.fixture(scope="module")
def bundled():
    return {split: pq.read_table(mini.mini_file("medq_deg", split)).to_pylist() for split in SPLITS}


def _pixels(row):
    with Image.open(io.BytesIO(row["image"]["bytes"])) as image:
        return np.asarray(image).astype(int)


def test_building_again_gives_identical_bytes(built, tmp_path):
    for path in build.build(tmp_path / "again", ["medq_deg"]):
        assert path.read_bytes() == built[path.name].read_bytes(), path.name


def test_only_the_files_are_written(built):
    folder = next(iter(built.values())).parent
    assert sorted(p.name for p in folder.iterdir()) == sorted(
        path.name for path in mini.list_mini_files()["medq_deg"].values()
    )


def test_every_installed_benchmark_is_drawn():
    assert build.benchmarks() == registry.names()


def test_an_unknown_benchmark_is_named(tmp_path):
    with pytest.raises(UserError, match="medq_degg"):
        build.build(tmp_path, ["medq_degg"])


@pytest.mark.parametrize("split", SPLITS)
def test_the_bundled_rows_are_what_the_code_builds(built, bundled, split):
    fresh = pq.read_table(built[mini.file_name("medq_deg", split)]).to_pylist()
    plain = [{k: v for k, v in row.items() if k != "image"} for row in fresh]
    assert plain == [{k: v for k, v in row.items() if k != "image"} for row in bundled[split]]


@pytest.mark.parametrize("split", ["clean", "release"])
def test_the_bundled_pictures_are_what_the_code_draws(built, bundled, split):
    # Other versions of NumPy and SciPy may round differently, and levels are drawn in steps of up to 4; a picture
    # that differs by more than that in more than 1 pixel in 100 was drawn by other code.
    fresh = pq.read_table(built[mini.file_name("medq_deg", split)]).to_pylist()
    for row, old in zip(fresh, bundled[split], strict=True):
        new_pixels, old_pixels = _pixels(row), _pixels(old)
        assert new_pixels.shape == old_pixels.shape, row["id"]
        differing = float(np.mean(np.abs(new_pixels - old_pixels) > 4))
        assert differing <= 0.01, f"{row['id']}: {differing:.0%} of pixels differ. Rebuild with {build.__name__}."


def test_the_bundle_is_small():
    assert sum(mini.mini_file("medq_deg", split).stat().st_size for split in SPLITS) < 6_000_000


@pytest.mark.parametrize("split", ["clean", "release"])
def test_rows_are_canonical_documents(bundled, split):
    ids = set()
    for row in bundled[split]:
        assert documents.document_problem(row, sources.get("medq_deg").tags) is None, row["id"]
        assert row["data"] == "mini"
        ids.add(row["id"])
    assert len(ids) == len(bundled[split])


def test_clean_rows_are_untouched_and_degraded_rows_say_how(bundled):
    assert {(row["degradation"], row["severity"]) for row in bundled["clean"]} == {("", 0)}
    assert Counter(row["severity"] for row in bundled["release"]).keys() == {1, 2}
    clean = {row["id"]: row for row in bundled["clean"]}
    for row in bundled["release"]:
        name = f"-{row['degradation']}-L{row['severity']}"
        original = clean[row["id"].removesuffix(name)]
        assert row["answer"] == original["answer"] and row["image_id"] == original["image_id"]
        assert (_pixels(row) != _pixels(original)).any(), row["id"]


def test_questions_about_a_picture_share_its_bytes(bundled):
    pictures = {}
    for row in bundled["clean"]:
        assert pictures.setdefault(row["image_id"], row["image"]["bytes"]) == row["image"]["bytes"]
    # The file holds each picture once: it is not much larger than the pictures are together.
    size = mini.mini_file("medq_deg", "clean").stat().st_size
    assert size < 1.03 * sum(map(len, pictures.values())) + 50_000


def test_pictures_carry_no_metadata(bundled):
    for row in bundled["clean"][:20]:
        with Image.open(io.BytesIO(row["image"]["bytes"])) as image:
            assert image.format == "PNG" and image.mode in ("L", "RGB") and not image.info


def test_training_rows_ask_the_same_questions_about_other_pictures(bundled):
    asked = {(row["question"], tuple(sorted(row["options"]))) for row in bundled["clean"]}
    assert asked == {(row["question"], tuple(sorted(row["options"]))) for row in bundled["train"]}
    assert {row["image"] for row in bundled["train"]} == {None}
    assert not {row["image_id"] for row in bundled["clean"]} & {row["image_id"] for row in bundled["train"]}


def test_the_most_frequent_training_answer_gets_chance(bundled):
    counts: dict[str, Counter[str]] = {}
    for row in bundled["train"]:
        right = row["options"][ord(row["answer"]) - ord("A")]
        counts.setdefault(row["question"], Counter())[right] += 1
    hits = [
        counts[row["question"]].most_common(1)[0][0] == row["options"][ord(row["answer"]) - ord("A")]
        for row in bundled["clean"]
    ]
    # Every option is right equally often, so one fixed guess for each text gets exactly 1/K of its questions.
    assert sum(hits) == pytest.approx(sum(1 / len(row["options"]) for row in bundled["clean"]))


def test_the_datasets_library_reads_pictures(tmp_path):
    datasets = pytest.importorskip("datasets")
    files = {split: str(mini.mini_file("medq_deg", split)) for split in ("clean", "release")}
    loaded = datasets.load_dataset("parquet", data_files=files, cache_dir=str(tmp_path))
    assert isinstance(loaded["clean"].features["image"], datasets.Image)
    assert isinstance(loaded["clean"][0]["image"], Image.Image)
    assert loaded["clean"][0]["images"] == []


def test_unknown_suites_and_splits_are_refused_by_name():
    with pytest.raises(UserError, match="Unknown suite 'medq' in the mini data.*medq_deg"):
        mini.mini_file("medq", "clean")
    with pytest.raises(UserError, match="Unknown split 'cleen' in the mini data of medq_deg.*Did you mean 'clean'"):
        mini.mini_file("medq_deg", "cleen")


def test_a_folder_that_cannot_be_written_is_one_clear_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    for name in ("clean_rows", "train_rows"):
        monkeypatch.setattr(medq_deg, name, list)
    with pytest.raises(UserError, match="Can't write the mini data into .*file"):
        build.build(tmp_path / "file")


def test_the_command_wants_one_folder(capsys):
    assert build.main([]) == 2
    assert "usage" in capsys.readouterr().err
