"""Preparing what is prepared already: left alone while whole and the same, else made anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lmms_medtasks.data import store
from lmms_medtasks.data.prepare import prepare_splits
from lmms_medtasks.errors import UserError
from tests.data.prepared_files import Row, Write, files_below, rows_of


def test_what_killed_processes_left_is_removed(release: Path, home: Path) -> None:
    prepare_splits("medq_deg", source=release)
    before = files_below(home)
    for name in ("clean.parquet.part", "manifest.json.part"):
        (home / "medq_deg/sample" / name).write_text("x")
    prepare_splits("medq_deg", source=release)
    assert files_below(home) == before


def test_what_is_prepared_is_left_alone(release: Path, home: Path, capsys: Any) -> None:
    first = prepare_splits("medq_deg", source=release)
    before = (home / "medq_deg/sample/clean.parquet").stat().st_mtime_ns
    assert prepare_splits("medq_deg", source=release) == first
    assert (home / "medq_deg/sample/clean.parquet").stat().st_mtime_ns == before
    assert "medq_deg/clean (sample): already prepared, 3 rows, 0 rejected" in capsys.readouterr().err
    forced = prepare_splits("medq_deg", source=release, splits=["clean"], force=True)
    assert forced["splits"]["release"] == first["splits"]["release"]
    assert (home / "medq_deg/sample/clean.parquet").stat().st_mtime_ns > before
    # the same rows: the same digest and the same bytes
    for key in ("digest", "sha256"):
        assert forced["splits"]["clean"][key] == first["splits"]["clean"][key]


def test_other_rows_are_prepared_anew(release: Path, table: Write, clean_row: Row, home: Path) -> None:
    first = prepare_splits("medq_deg", source=release)
    table(release, [clean_row(n) for n in range(5)])
    second = prepare_splits("medq_deg", source=release)
    assert second["splits"]["clean"]["rows"] == 5 == len(rows_of(home))
    assert second["splits"]["clean"]["digest"] != first["splits"]["clean"]["digest"]
    assert second["splits"]["release"] == first["splits"]["release"]


def test_with_keep_any_source_will_do(release: Path, table: Write, clean_row: Row) -> None:
    first = prepare_splits("medq_deg", source=release)
    table(release, [clean_row(n) for n in range(5)])
    assert prepare_splits("medq_deg", source=release, keep=True) == first


@pytest.mark.parametrize("damage", ["cut", "flip"])
def test_damaged_data_is_prepared_anew(release: Path, home: Path, damage: str, capsys: Any) -> None:
    first = prepare_splits("medq_deg", source=release)
    path = home / "medq_deg/sample/clean.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data[:-10] if damage == "cut" else data)
    again = prepare_splits("medq_deg", source=release)["splits"]["clean"]
    assert again["sha256"] == first["splits"]["clean"]["sha256"] == store.file_sha256(path)
    assert "damaged" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text, said",
    [
        *((text, "is not a manifest of ours") for text in ("", "{", "[]", '{"splits": {"clean": {}}}')),
        ('{"splits": {"clean": {"rows": 3}}, "schema_version": 1}', "has schema version 1,"),
        ('{"splits": {}, "schema_version": 999}', "has schema version 999,"),
    ],
)
def test_a_manifest_that_cannot_be_used_is_replaced(
    release: Path, home: Path, text: str, said: str, capsys: Any
) -> None:
    first = prepare_splits("medq_deg", source=release)
    path = home / "medq_deg/sample/manifest.json"
    path.write_text(text)
    with pytest.raises(UserError, match=f"manifest.json .*{said}.* Prepare again: lmms-medtasks data prepare medq_deg"):
        store.find_prepared_split("medq_deg", "sample", "clean")
    again = prepare_splits("medq_deg", source=release)
    assert again["splits"]["clean"]["digest"] == first["splits"]["clean"]["digest"]
    assert "Preparing again" in capsys.readouterr().err
