"""Which data a task gets, and what it is told when there is none."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from lmms_medtasks.data import hub, locate_split, locating, mini
from lmms_medtasks.data.documents import document_problem, rows_digest
from lmms_medtasks.data.prepare import prepare_splits
from lmms_medtasks.data.release_counts import ExpectedCounts
from lmms_medtasks.errors import DataNotFound, UserError
from lmms_medtasks.task_configs.medq_deg import source as medq_deg


@pytest.fixture
def mini_file(release: Path, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for the bundled mini data: a small clean split and no other."""
    prepare_splits("medq_deg", source=release, splits=["clean"])
    path = tmp_path / "mini" / "medq_deg-clean.parquet"
    path.parent.mkdir()
    shutil.move(home / "medq_deg/sample/clean.parquet", path)
    shutil.rmtree(home)

    def bundled(suite: str, split: str) -> Path:
        if (suite, split) != ("medq_deg", "clean"):
            raise UserError("no such mini data")
        return path

    monkeypatch.setattr(mini, "mini_file", bundled)
    return path


def prepare_full(release: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        expected = (ExpectedCounts(("clean",), 3), ExpectedCounts(("release",), 4))
        patch.setattr(medq_deg, "SOURCES", (dataclasses.replace(medq_deg.MEDQ_DEG, expected=expected),))
        prepare_splits("medq_deg", source=release)


def test_full_before_sample_unless_asked(release: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare_splits("medq_deg", source=release)
    sample = locate_split("medq_deg", "clean")
    assert (sample.data, sample.rows) == ("sample", 3)
    assert sample.path == home / "medq_deg/sample/clean.parquet"
    prepare_full(release, monkeypatch)
    full = locate_split("medq_deg", "clean")
    assert full.data == "full" and full.path == home / "medq_deg/full/clean.parquet"
    assert full.digest != sample.digest  # the rows say what they are
    monkeypatch.setenv("MEDTASKS_DATA", "sample")
    assert locate_split("medq_deg", "clean") == sample
    monkeypatch.setenv("MEDTASKS_DATA", "full")
    assert locate_split("medq_deg", "clean") == full


def test_mini_only_when_asked(mini_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataNotFound):
        locate_split("medq_deg", "clean")
    monkeypatch.setenv("MEDTASKS_DATA", "mini")
    found = locate_split("medq_deg", "clean")
    assert (found.path, found.data, found.rows, len(found.digest)) == (mini_file, "mini", 3, 64)
    with pytest.raises(DataNotFound, match="no mini data for medq_deg/clean_dev"):
        locate_split("medq_deg", "clean_dev")


def test_the_three_ways_out(home: Path) -> None:
    with pytest.raises(DataNotFound) as error:
        locate_split("medq_deg", "clean")
    text = str(error.value)
    assert "medq_deg/clean is not prepared" in text and str(home / "medq_deg" / "full") in text
    assert "HF_HUB_OFFLINE is set" in text
    assert "jiyaoliufd/MedQ-DEG-Bench" in text and "lmms-medtasks data prepare medq_deg\n" in text
    assert "lmms-medtasks data prepare medq_deg --source DIR" in text
    assert "MEDTASKS_DATA=mini" in text


def test_without_a_network_the_same_three_and_the_cause(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    from huggingface_hub import errors

    def no_network(self: Any, name: str) -> Path:
        raise UserError("no network") from errors.LocalEntryNotFoundError("x")

    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setattr(hub.HubRelease, "_fetch_file", no_network)
    with pytest.raises(DataNotFound, match="The hub was tried: no network\nThree ways out"):
        locate_split("medq_deg", "clean")


def test_with_a_network_the_split_is_prepared(release: Path, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setattr(hub.HubRelease, "_fetch_file", lambda self, name: release / name)
    found = locate_split("medq_deg", "clean")
    assert (found.data, found.rows, found.counts) == ("sample", 3, "3 questions, 2,153 expected")
    assert not (home / "medq_deg/sample/release.parquet").exists()


def test_a_prepared_sample_is_not_topped_by_a_download(release: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare_splits("medq_deg", source=release)
    monkeypatch.delenv("HF_HUB_OFFLINE")

    def asked(self: Any, name: str) -> Path:
        raise AssertionError("the hub was asked")

    monkeypatch.setattr(hub.HubRelease, "_fetch_file", asked)
    assert locate_split("medq_deg", "clean").data == "sample"


def test_a_sample_never_comes_from_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setenv("MEDTASKS_DATA", "sample")
    monkeypatch.setattr(hub.HubRelease, "_fetch_file", lambda self, name: pytest.fail("the hub was asked"))
    with pytest.raises(DataNotFound, match="--source DIR"):
        locate_split("medq_deg", "clean")


def test_names_are_checked_first(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="Unknown suite 'medq'"):
        locate_split("medq", "clean")
    with pytest.raises(UserError, match="Unknown split 'test'"):
        locate_split("medq_deg", "test")
    monkeypatch.setenv("MEDTASKS_DATA", "samples")
    with pytest.raises(UserError, match="MEDTASKS_DATA"):
        locate_split("medq_deg", "clean")


@pytest.mark.parametrize(("value", "expected"), [("1", True), ("yes", True), ("0", False), ("", False)])
def test_offline(monkeypatch: pytest.MonkeyPatch, value: str, expected: bool) -> None:
    monkeypatch.delenv("TRANSFORMERS_OFFLINE", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", value)
    assert locating.is_offline() is expected


def test_digest_of_a_path(release: Path, mini_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare_splits("medq_deg", source=release)
    found = locate_split("medq_deg", "clean")
    assert locating.digest_of(found.path) == found.digest
    assert locating.digest_of(mini_file) == found.digest  # the same rows in another place


@pytest.mark.parametrize("split", ["clean", "release", "train"])
def test_the_bundled_data_is_what_locate_gives(monkeypatch: pytest.MonkeyPatch, split: str) -> None:
    monkeypatch.setenv("MEDTASKS_DATA", "mini")
    found = locate_split("medq_deg", split)
    assert found.path == mini.mini_file("medq_deg", split) and found.rows > 50
    rows = pq.read_table(found.path).to_pylist()
    assert rows_digest(rows) == found.digest and len(rows) == found.rows
    if split != "train":  # which has no pictures
        assert [document_problem(row, medq_deg.MEDQ_DEG.tags) for row in rows] == [None] * len(rows)
