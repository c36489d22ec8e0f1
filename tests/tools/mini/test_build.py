"""Building the mini data: bit for bit again, what it refuses, and that ``datasets`` reads it."""

from __future__ import annotations

import pytest
from PIL import Image

from lmms_medtasks.data import mini
from lmms_medtasks.errors import UserError
from lmms_medtasks.suites import registry
from tools.mini import build, medq_deg


def test_every_installed_benchmark_is_drawn():
    assert build.benchmarks() == registry.names()


def test_building_again_gives_identical_bytes(tmp_path):
    first, again = (build.build(tmp_path / name, ["bones_joints"]) for name in ("first", "again"))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]


def test_an_unknown_benchmark_is_named(tmp_path):
    with pytest.raises(UserError, match="medq_degg"):
        build.build(tmp_path, ["medq_degg"])


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
