"""What is served from the data folder, and what is refused."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from lmms_medtasks.data import store
from lmms_medtasks.data.prepare import prepare_splits
from lmms_medtasks.errors import UserError


def test_home_is_where_the_variable_says(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("MEDTASKS_HOME", str(tmp_path / "here"))
    assert store.data_home() == tmp_path / "here"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MEDTASKS_HOME", "~/there")
    assert store.data_home() == tmp_path / "there"
    monkeypatch.delenv("MEDTASKS_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert store.data_home().name == "lmms-medtasks"


def test_chosen_data(monkeypatch: Any) -> None:
    assert store.chosen_data() is None
    monkeypatch.setenv("MEDTASKS_DATA", "")
    assert store.chosen_data() is None
    for data in ("full", "sample", "mini"):
        monkeypatch.setenv("MEDTASKS_DATA", data)
        assert store.chosen_data() == data
    monkeypatch.setenv("MEDTASKS_DATA", "minni")
    with pytest.raises(UserError, match="'minni' in the environment variable MEDTASKS_DATA. Did you mean 'mini'"):
        store.chosen_data()


def test_what_is_not_in_a_manifest_does_not_exist(release: Path, home: Path) -> None:
    prepare_splits("medq_deg", source=release)
    assert store.find_prepared_split("medq_deg", "full", "clean") is None
    (home / "medq_deg/sample/manifest.json").unlink()
    assert (home / "medq_deg/sample/clean.parquet").exists()
    assert store.find_prepared_split("medq_deg", "sample", "clean") is None


def test_a_manifest_is_on_the_disk_before_it_takes_its_place(home: Path, monkeypatch: Any) -> None:
    calls: list[str] = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda number: (calls.append("fsync"), fsync(number)))
    monkeypatch.setattr(os, "replace", lambda *paths: (calls.append("replace"), replace(*paths)))
    store.write_manifest({"suite": "medq_deg", "data": "sample", "schema_version": 1}, {})
    assert calls == ["fsync", "replace"] and store.data_home() == home


@pytest.mark.parametrize("damage", ["cut", "flipped", "gone"])
def test_damaged_files_are_refused_with_the_way_out(release: Path, home: Path, damage: str) -> None:
    prepare_splits("medq_deg", source=release)
    path = home / "medq_deg/sample/clean.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(data[:-1] if damage == "cut" else data)
    with pytest.raises(UserError) as error:
        store.find_prepared_split("medq_deg", "sample", "clean")
    assert "medq_deg/clean is damaged" in str(error.value) and str(path) in str(error.value)
    assert "lmms-medtasks data prepare medq_deg --split clean" in str(error.value)
    assert store.find_prepared_split("medq_deg", "sample", "release") is not None


def test_an_edit_that_keeps_size_and_time_is_found_when_the_data_is_loaded(release: Path, home: Path) -> None:
    """The time of the last change of status can't be set back: a changed file of the same size and age is read."""
    prepare_splits("medq_deg", source=release)
    store.verify_split("medq_deg", "sample", "clean")
    path = home / "medq_deg/sample/clean.parquet"
    status, data = path.stat(), bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (status.st_size, status.st_mtime_ns)
    for check in (store.find_prepared_split, store.verify_split):
        with pytest.raises(UserError, match="has not the checksum"):
            check("medq_deg", "sample", "clean")


def test_a_copied_file_is_read_once(release: Path, home: Path, monkeypatch: Any) -> None:
    """Also where the copy kept the time of modification; in this process and in those after it."""
    prepare_splits("medq_deg", source=release)
    path = home / "medq_deg/sample/clean.parquet"
    copy = path.with_suffix(".copy")
    shutil.copy2(path, copy)
    os.replace(copy, path)
    assert store.find_prepared_split("medq_deg", "sample", "clean") is not None
    store._checksum_once.cache_clear()  # as another process has it
    with monkeypatch.context() as patch:
        patch.setattr(store, "file_sha256", lambda path: pytest.fail(f"{path} was read"))
        assert store.find_prepared_split("medq_deg", "sample", "clean") is not None
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(UserError, match="has not the checksum"):
        store.find_prepared_split("medq_deg", "sample", "clean")


def test_an_untouched_file_is_not_read_again(release: Path, monkeypatch: Any) -> None:
    prepare_splits("medq_deg", source=release)
    monkeypatch.setattr(store, "file_sha256", lambda path: pytest.fail(f"{path} was read"))
    assert store.find_prepared_split("medq_deg", "sample", "clean") is not None


def test_a_copied_folder_is_served(release: Path, home: Path, tmp_path: Path, monkeypatch: Any) -> None:
    prepare_splits("medq_deg", source=release)
    copied = tmp_path / "copied"
    shutil.copytree(home, copied, copy_function=shutil.copyfile)  # with other modification times
    monkeypatch.setenv("MEDTASKS_HOME", str(copied))
    found = store.find_prepared_split("medq_deg", "sample", "clean")
    assert found is not None and found.path == copied / "medq_deg/sample/clean.parquet"


def test_writing_names_place_and_cause(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Cannot write .* No space left on device. Set MEDTASKS_HOME"):
        with store.user_error_on_write(tmp_path):
            raise OSError(28, "No space left on device")
