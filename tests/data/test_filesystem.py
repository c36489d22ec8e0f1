"""The protocol, read by the real datasets library: the right rows, each time, offline, without copies in between."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lmms_medtasks.data import locate_split, mini
from lmms_medtasks.data.filesystem import MedtasksFileSystem
from lmms_medtasks.data.prepare import prepare_splits
from lmms_medtasks.data.release_counts import ExpectedCounts
from lmms_medtasks.errors import DataNotFound, UserError
from lmms_medtasks.task_configs.medq_deg import source as medq_deg

Row = Callable[..., dict[str, str]]
Write = Callable[..., Path]
URL = "medtasks://medq_deg/clean"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The datasets library's caches in a folder of the test's own, in its offline mode (the strictest)."""
    import datasets

    folder = tmp_path / "hf"
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", folder / "datasets")
    monkeypatch.setattr(datasets.config, "DOWNLOADED_DATASETS_PATH", folder / "downloads")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_OFFLINE", True, raising=False)
    yield folder


def load(url: str = URL, **options: Any) -> Any:
    from datasets import load_dataset

    return load_dataset("parquet", data_files={"test": url}, **options)["test"]


def questions(data: Any) -> list[tuple[str, str]]:
    return list(zip(data["data"], data["question"], strict=True))


@pytest.fixture
def variants(
    release: Path, tmp_path: Path, table: Write, clean_row: Row, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full, a sample and a mini clean split, all of one shape and one size."""
    folder = tmp_path / "other"
    for data, questions in (("mini", 99), ("full", 3), ("sample", 99)):
        table(folder, [clean_row(n, question=f"The {data:>6} question {n}?") for n in range(3)])
        with monkeypatch.context() as patch:
            expected = (ExpectedCounts(("clean",), questions),)
            patch.setattr(medq_deg, "SOURCES", (dataclasses.replace(medq_deg.MEDQ_DEG, expected=expected),))
            prepare_splits("medq_deg", source=folder)
        if data == "mini":
            made = home / "medq_deg/sample/clean.parquet"
            rows = [{**row, "data": "mini"} for row in pq.read_table(made).to_pylist()]
            pq.write_table(pa.Table.from_pylist(rows, pq.read_schema(made)), tmp_path / "bundled.parquet")
            shutil.rmtree(home)
            monkeypatch.setattr(mini, "mini_file", lambda suite, split: tmp_path / "bundled.parquet")


def test_a_url_is_a_dataset_with_pictures(release: Path, png: Callable[..., bytes]) -> None:
    from datasets import Image

    prepare_splits("medq_deg", source=release)
    data = load()
    assert data.features["image"] == Image() and data.num_rows == 3
    assert data[1]["image"].size == (8, 8) and data[1]["image"].getpixel((0, 0)) == (1, 0, 0)
    stored = data.cast_column("image", Image(decode=False))[1]["image"]
    assert stored["bytes"] == png(1)


def test_no_copy_but_the_librarys_own(release: Path, cache: Path) -> None:
    prepare_splits("medq_deg", source=release)
    load()
    assert not (cache / "downloads").exists()
    assert [path.name for path in cache.rglob("*.arrow")] == ["parquet-test.arrow"]
    load()
    assert len(list(cache.rglob("*.arrow"))) == 1  # the second time from the cache


def test_switching_never_serves_the_others_rows(variants: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for data in ("mini", "sample", "mini", "full", "sample", "mini", "full"):
        monkeypatch.setenv("MEDTASKS_DATA", data)
        assert questions(load()) == [(data, f"The {data:>6} question {n}?") for n in range(3)]


def test_preparing_anew_never_serves_the_old_rows(release: Path, table: Write, clean_row: Row) -> None:
    for word in ("first", "other", "third", "first"):  # all of one length, so that sizes agree
        table(release, [clean_row(n, question=f"The {word} question {n}?") for n in range(3)])
        prepare_splits("medq_deg", source=release, splits=["clean"])
        assert questions(load()) == [("sample", f"The {word} question {n}?") for n in range(3)]


def test_the_same_rows_prepared_again_come_from_the_cache(release: Path, cache: Path) -> None:
    prepare_splits("medq_deg", source=release)
    load()
    prepare_splits("medq_deg", source=release, force=True)
    load()
    assert len(list(cache.rglob("*.arrow"))) == 1


def test_a_data_folder_with_odd_names(release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # hidden, special and pattern-like names, all of which the library's own search skips or expands
    monkeypatch.setenv("MEDTASKS_HOME", str(tmp_path / ".cache" / "__data__" / "[a] *?"))
    prepare_splits("medq_deg", source=release)
    assert load().num_rows == 3


def test_streaming_and_other_readers(release: Path) -> None:
    prepare_splits("medq_deg", source=release)
    assert [row["id"] for row in load(streaming=True)] == ["0", "1", "2"]
    with fsspec.open(URL) as handle:
        assert pq.read_table(handle).column("id").to_pylist() == ["0", "1", "2"]


def test_info_gives_size_and_digest(release: Path) -> None:
    prepare_splits("medq_deg", source=release)
    found = locate_split("medq_deg", "clean")
    files = MedtasksFileSystem()
    expected = {"name": str(found.path), "size": found.path.stat().st_size, "type": "file", "ETag": found.digest}
    assert files.info(URL) == files.info(str(found.path)) == expected
    assert files.ls(URL) == [expected] and files.ls(URL, detail=False) == [str(found.path)]
    assert files.glob(URL) == [str(found.path)] and files.exists(URL)


def test_errors_come_through_unchanged(home: Path) -> None:
    with pytest.raises(DataNotFound, match="Three ways out"):
        load()
    with pytest.raises(UserError, match="Unknown split 'claen'"):
        load("medtasks://medq_deg/claen")
    with pytest.raises(UserError, match="names no data: expected medtasks://SUITE/SPLIT"):
        load("medtasks://medq_deg")


def test_it_is_read_only(release: Path) -> None:
    prepare_splits("medq_deg", source=release)
    files = MedtasksFileSystem()
    with pytest.raises(UserError, match="can only be read"):
        files.open(URL, "wb")
    with pytest.raises(NotImplementedError):
        files.rm_file(URL)
    assert locate_split("medq_deg", "clean").path.exists()


def test_the_entry_point_is_installed() -> None:
    assert fsspec.get_filesystem_class("medtasks") is MedtasksFileSystem
