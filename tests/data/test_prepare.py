"""Preparing: nothing lost in silence, everything said of where it is from, and its size known."""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import lmms_medtasks
from lmms_medtasks.data import documents, prepare, store
from lmms_medtasks.errors import UserError
from lmms_medtasks.task_configs.medq_deg import source as medq_deg

Row = Callable[..., dict[str, str]]
Write = Callable[..., Path]
CLEAN, SIMULATED = "MedQ-Robust-good-test.tsv", "MedQ-Robust-simulate-test.tsv"


def rows_of(home: Path, split: str = "clean", data: str = "sample") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(home / "medq_deg" / data / f"{split}.parquet").to_pylist()
    return rows


def files_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def of_full_size(monkeypatch: pytest.MonkeyPatch, records: int) -> None:
    """Make the benchmark as small as the tests' tables."""
    monkeypatch.setattr(medq_deg, "SOURCES", (dataclasses.replace(medq_deg.MEDQ_DEG, full_records=records),))


def test_a_folder_becomes_parquet_and_a_manifest(release: Path, home: Path) -> None:
    manifest = prepare("medq_deg", source=release)
    assert files_below(home) == {
        "medq_deg/prepare.lock",
        "medq_deg/sample/clean.parquet",
        "medq_deg/sample/release.parquet",
        "medq_deg/sample/manifest.json",
        "medq_deg/sample/rejected.jsonl",
    }
    assert json.loads((home / "medq_deg/sample/manifest.json").read_text()) == manifest
    rows = rows_of(home)
    assert [row["id"] for row in rows] == ["0", "1", "2"] and {row["data"] for row in rows} == {"sample"}
    assert rows[0]["image"]["bytes"].startswith(b"\x89PNG")
    clean = manifest["splits"]["clean"]
    path = home / "medq_deg/sample/clean.parquet"
    assert clean["digest"] == documents.rows_digest(rows)
    assert clean["sha256"] == store.checksum(path) and clean["bytes"] == path.stat().st_size
    assert (clean["rows"], clean["rejected"], clean["images"]) == (3, 0, 3)
    assert (manifest["splits"]["release"]["rows"], manifest["splits"]["release"]["images"]) == (4, 2)


def test_the_manifest_says_where_from_and_under_which_terms(release: Path) -> None:
    manifest = prepare("medq_deg", source=release)
    (source,) = manifest["splits"]["clean"]["source"]["files"]
    table = release / CLEAN
    assert source == {"name": CLEAN, "bytes": table.stat().st_size, "sha256": store.checksum(table)}
    assert manifest["splits"]["clean"]["source"]["folder"] == str(release)
    assert manifest["paper"]["clean images"] == 4306
    assert manifest["licence"] and manifest["terms"]
    assert manifest["schema_version"] == documents.SCHEMA_VERSION
    assert manifest["tool_version"] == lmms_medtasks.__version__
    assert manifest["data"] == "sample" and "7 records, the paper has 24,894" in manifest["data_because"]


def test_bad_rows_are_listed_with_number_and_reason(
    tmp_path: Path, table: Write, clean_row: Row, png: Callable[..., bytes], home: Path, capsys: Any
) -> None:
    cut = base64.b64encode(png(9, 64)[:100]).decode()
    rows = [
        clean_row(0),
        clean_row(1, answer="D"),
        clean_row(2, question=""),
        clean_row(3, image=cut),
        clean_row(0),
        clean_row(5, image=base64.b64encode(b"no image at all, only text" * 4).decode()),
        clean_row(6),
    ]
    table(tmp_path / "release", rows)
    manifest = prepare("medq_deg", source=tmp_path / "release")
    lines = [json.loads(line) for line in (home / "medq_deg/sample/rejected.jsonl").read_text().splitlines()]
    assert [(line["split"], line["row"], line["id"]) for line in lines] == [
        ("clean", 2, "1"),
        ("clean", 3, "2"),
        ("clean", 4, "3"),
        ("clean", 5, "0"),
        ("clean", 6, "5"),
    ]
    reasons = [line["reason"] for line in lines]
    assert reasons[0] == "answer 'D' is not among the options A to B" and reasons[1] == "question is empty"
    assert reasons[2].startswith("image does not decode") and reasons[3] == "id '0' was there before"
    assert reasons[4].startswith("image is none of PNG, JPEG")
    assert (manifest["splits"]["clean"]["rows"], manifest["splits"]["clean"]["rejected"]) == (2, 5)
    said = capsys.readouterr().err
    assert "2 rows, 5 rejected" in said and "rejected.jsonl" in said


def test_rejected_rows_of_other_splits_stay_listed(release: Path, table: Write, clean_row: Row, home: Path) -> None:
    table(release, [clean_row(0), clean_row(1, answer="E")])
    prepare("medq_deg", source=release, splits=["clean"])
    prepare("medq_deg", source=release, splits=["release"])
    prepare("medq_deg", source=release, splits=["release"], force=True)
    lines = [json.loads(line) for line in (home / "medq_deg/sample/rejected.jsonl").read_text().splitlines()]
    assert [(line["split"], line["row"]) for line in lines] == [("clean", 2)]


def test_no_usable_row_is_an_error_and_leaves_nothing(tmp_path: Path, table: Write, clean_row: Row, home: Path) -> None:
    table(tmp_path / "release", [clean_row(n, answer="E") for n in range(3)])
    with pytest.raises(UserError, match="all 3 rows were rejected.*\n.*3 times, first in row 1: answer 'E'"):
        prepare("medq_deg", source=tmp_path / "release")
    assert files_below(home) <= {"medq_deg/prepare.lock"}


def test_an_empty_table_is_an_error_and_leaves_nothing(tmp_path: Path, table: Write, home: Path) -> None:
    table(tmp_path / "release", [])
    with pytest.raises(UserError, match="has a header and no rows"):
        prepare("medq_deg", source=tmp_path / "release")
    assert files_below(home) <= {"medq_deg/prepare.lock"}


def test_unknown_suite_and_split() -> None:
    with pytest.raises(UserError, match="Unknown suite 'medqdeg'.*Did you mean 'medq_deg'"):
        prepare("medqdeg")
    with pytest.raises(UserError, match="Unknown split 'claen' in suite 'medq_deg'.*'clean'.*release_dev"):
        prepare("medq_deg", splits=["claen"])


def test_a_folder_without_the_tables_says_what_it_has(tmp_path: Path, release: Path, capsys: Any) -> None:
    with pytest.raises(UserError, match="is not a folder"):
        prepare("medq_deg", source=tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="is empty"):
        prepare("medq_deg", source=tmp_path / "empty")
    (tmp_path / "empty" / "notes.txt").write_text("x")
    with pytest.raises(UserError, match=f"wanted: {CLEAN}, {SIMULATED}. Found: notes.txt"):
        prepare("medq_deg", source=tmp_path / "empty")
    with pytest.raises(UserError, match="wanted: MedQ-Robust-good-dev.tsv"):
        prepare("medq_deg", source=release, splits=["clean", "clean_dev"])
    (release / SIMULATED).unlink()
    assert set(prepare("medq_deg", source=release)["splits"]) == {"clean"}
    assert f"medq_deg/release: not prepared, the source has not {SIMULATED}" in capsys.readouterr().err


def test_a_folder_has_no_revision(release: Path) -> None:
    with pytest.raises(UserError, match="no revision"):
        prepare("medq_deg", source=release, revision="v2")


# Full or sample


def test_as_many_records_as_the_paper_are_the_full_data(release: Path, home: Path, monkeypatch: Any) -> None:
    of_full_size(monkeypatch, 7)  # 3 clean and 4 degraded questions
    assert prepare("medq_deg", source=release)["data"] == "full"
    assert {row["data"] for row in rows_of(home, data="full")} == {"full"}
    of_full_size(monkeypatch, 8)
    assert prepare("medq_deg", source=release, force=True)["data"] == "sample"


def test_tables_that_are_not_asked_for_count_too(release: Path, table: Write, clean_row: Row, monkeypatch: Any) -> None:
    of_full_size(monkeypatch, 9)
    table(release, [clean_row(n) for n in range(2)], name="MedQ-Robust-good-dev.tsv")
    assert prepare("medq_deg", source=release, splits=["clean"])["data"] == "full"
    assert prepare("medq_deg", source=release)["data"] == "full"  # counted from the manifest for what is there


def test_a_table_of_two_splits_counts_once(release: Path, table: Write, clean_row: Row, monkeypatch: Any) -> None:
    table(release, [clean_row(n) for n in range(2)], name="MedQ-Robust-good-dev.tsv")
    of_full_size(monkeypatch, 10)  # 3 clean, 4 degraded, 2 of the dev part, which is also what train is made from
    assert prepare("medq_deg", source=release, splits=["clean_dev", "train"])["data"] == "sample"


def test_rejected_records_count_too(release: Path, table: Write, clean_row: Row, monkeypatch: Any) -> None:
    of_full_size(monkeypatch, 7)
    table(release, [clean_row(0), clean_row(1), clean_row(2, answer="E")])
    assert prepare("medq_deg", source=release)["data"] == "full"
    assert prepare("medq_deg", source=release)["data"] == "full"


def test_a_sample_can_be_asked_for(release: Path, monkeypatch: Any) -> None:
    of_full_size(monkeypatch, 7)
    assert prepare("medq_deg", source=release, sample=True)["data"] == "sample"
