"""Preparing: whole or not at all, nothing lost in silence, once for all processes, and resumed after a kill."""

from __future__ import annotations

import base64
import dataclasses
import errno
import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from filelock import FileLock

import lmms_medtasks
from lmms_medtasks import documents
from lmms_medtasks.errors import ConcurrentPreparation, UserError
from lmms_medtasks.sources import medq_deg, prepare, store, writer

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
    monkeypatch.setattr(medq_deg, "SUITE", dataclasses.replace(medq_deg.SUITE, full_records=records))


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


# Again


def test_what_killed_processes_left_is_removed(release: Path, home: Path) -> None:
    prepare("medq_deg", source=release)
    before = files_below(home)
    for name in ("clean.parquet.part", "manifest.json.part"):
        (home / "medq_deg/sample" / name).write_text("x")
    prepare("medq_deg", source=release)
    assert files_below(home) == before


def test_what_is_prepared_is_left_alone(release: Path, home: Path, capsys: Any) -> None:
    first = prepare("medq_deg", source=release)
    before = (home / "medq_deg/sample/clean.parquet").stat().st_mtime_ns
    assert prepare("medq_deg", source=release) == first
    assert (home / "medq_deg/sample/clean.parquet").stat().st_mtime_ns == before
    assert "medq_deg/clean (sample): already prepared, 3 rows, 0 rejected" in capsys.readouterr().err
    forced = prepare("medq_deg", source=release, splits=["clean"], force=True)
    assert forced["splits"]["release"] == first["splits"]["release"]
    assert (home / "medq_deg/sample/clean.parquet").stat().st_mtime_ns > before
    # the same rows: the same digest and the same bytes
    for key in ("digest", "sha256"):
        assert forced["splits"]["clean"][key] == first["splits"]["clean"][key]


def test_other_rows_are_prepared_anew(release: Path, table: Write, clean_row: Row, home: Path) -> None:
    first = prepare("medq_deg", source=release)
    table(release, [clean_row(n) for n in range(5)])
    second = prepare("medq_deg", source=release)
    assert second["splits"]["clean"]["rows"] == 5 == len(rows_of(home))
    assert second["splits"]["clean"]["digest"] != first["splits"]["clean"]["digest"]
    assert second["splits"]["release"] == first["splits"]["release"]


def test_with_keep_any_source_will_do(release: Path, table: Write, clean_row: Row) -> None:
    first = prepare("medq_deg", source=release)
    table(release, [clean_row(n) for n in range(5)])
    assert prepare("medq_deg", source=release, keep=True) == first


@pytest.mark.parametrize("damage", ["cut", "flip"])
def test_damaged_data_is_prepared_anew(release: Path, home: Path, damage: str, capsys: Any) -> None:
    first = prepare("medq_deg", source=release)
    path = home / "medq_deg/sample/clean.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data[:-10] if damage == "cut" else data)
    again = prepare("medq_deg", source=release)["splits"]["clean"]
    assert again["sha256"] == first["splits"]["clean"]["sha256"] == store.checksum(path)
    assert "damaged" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "{", "[]", '{"splits": {"clean": {}}}', '{"splits": {}, "schema_version": 999}'])
def test_a_manifest_that_cannot_be_used_is_replaced(release: Path, home: Path, text: str, capsys: Any) -> None:
    first = prepare("medq_deg", source=release)
    path = home / "medq_deg/sample/manifest.json"
    path.write_text(text)
    with pytest.raises(UserError, match="manifest.json .*Prepare anew: lmms-medtasks data prepare medq_deg"):
        store.find("medq_deg", "sample", "clean")
    again = prepare("medq_deg", source=release)
    assert again["splits"]["clean"]["digest"] == first["splits"]["clean"]["digest"]
    assert "Preparing anew" in capsys.readouterr().err


# Folders that cannot be written


def test_a_data_folder_that_is_a_file(release: Path, tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("MEDTASKS_HOME", str(tmp_path / "file" / "below"))
    with pytest.raises(UserError, match="Cannot write the prepared data to .*below.*Set MEDTASKS_HOME"):
        prepare("medq_deg", source=release)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES, errno.EROFS])
@pytest.mark.parametrize("step", ["open", "replace", "lock"])
def test_a_folder_that_is_full_or_forbidden(
    release: Path, home: Path, monkeypatch: Any, number: int, step: str
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number))

    prepare("medq_deg", source=release, splits=["clean"])
    before = {name: (home / name).read_bytes() for name in files_below(home)}
    places = {"open": (writer.os, "fsync"), "replace": (os, "replace"), "lock": (FileLock, "acquire")}
    monkeypatch.setattr(*places[step], refuse)
    with pytest.raises(UserError) as error:
        prepare("medq_deg", source=release)
    assert os.strerror(number) in str(error.value) and "MEDTASKS_HOME" in str(error.value)
    assert {name: (home / name).read_bytes() for name in files_below(home)} == before
    assert store.find("medq_deg", "sample", "clean") is not None
    assert store.find("medq_deg", "sample", "release") is None


SCRIPT_HEAD = """
    import os, resource, signal, sys, time
    from pathlib import Path
    from lmms_medtasks.errors import UserError
    from lmms_medtasks.sources import prepare, writer
    source, work = Path(sys.argv[1]), Path(sys.argv[2])
    check, calls = writer.image_problem, []
"""


def script(text: str) -> str:
    return textwrap.dedent(SCRIPT_HEAD) + textwrap.dedent(text)


def started(text: str, release: Path, work: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", script(text), str(release), str(work)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_disk_that_is_full_halfway(
    tmp_path: Path, table: Write, clean_row: Row, home: Path, png: Callable[..., bytes]
) -> None:
    # Incompressible pictures of 3 KB, and a process that may write 20 KB to a file.
    pictures = [base64.b64encode(png(n) + os.urandom(3000)).decode() for n in range(20)]
    release = tmp_path / "release"
    table(release, [clean_row(n, image=image) for n, image in enumerate(pictures)])
    process = started(
        """
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        try:
            prepare("medq_deg", source=source)
        except UserError as error:
            sys.exit(f"user error: {error}")
        """,
        release,
        tmp_path,
    )
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1 and "user error: Cannot write the prepared data" in said, said
    assert files_below(home) <= {"medq_deg/prepare.lock"}


# Killed, and two at once


def test_a_killed_preparation_leaves_nothing_that_looks_whole_and_is_resumed(
    release: Path, tmp_path: Path, home: Path, capsys: Any
) -> None:
    process = started(
        """
        def dying(data):
            calls.append(1)
            if len(calls) == 5:  # three clean rows, then the second degraded one
                os.kill(os.getpid(), signal.SIGKILL)
            return check(data)
        writer.image_problem = dying
        prepare("medq_deg", source=source)
        """,
        release,
        tmp_path,
    )
    _, said = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL, said
    assert (home / "medq_deg/sample/release.parquet.part").exists()
    assert not (home / "medq_deg/sample/release.parquet").exists()
    assert store.find("medq_deg", "sample", "release") is None
    clean = store.find("medq_deg", "sample", "clean")
    assert clean is not None and clean.rows == 3
    before = clean.path.stat().st_mtime_ns

    manifest = prepare("medq_deg", source=release)
    assert manifest["splits"]["release"]["rows"] == 4
    assert clean.path.stat().st_mtime_ns == before
    assert "medq_deg/clean (sample): already prepared" in capsys.readouterr().err
    assert not [name for name in files_below(home) if name.endswith(".part")]


@pytest.mark.parametrize("moment", ["replace", "_write_rejected", "write_manifest"])
def test_killed_while_replacing_older_data(
    release: Path, table: Write, clean_row: Row, home: Path, moment: str
) -> None:
    """Whenever it is killed, the split is whole, old or new, or it is not there."""
    from lmms_medtasks.sources import committing

    prepare("medq_deg", source=release)
    table(release, [clean_row(n) for n in range(5)])

    class Killed(BaseException):
        pass

    def kill(*_: Any, **__: Any) -> None:
        raise Killed

    with pytest.MonkeyPatch.context() as patch:
        places = {"replace": committing.os, "_write_rejected": committing, "write_manifest": committing.store}
        if moment == "write_manifest":  # the second time
            write, calls = store.write_manifest, list[int]()

            def second(*arguments: Any) -> Any:
                calls.append(1)
                return write(*arguments) if len(calls) == 1 else kill()

            patch.setattr(store, "write_manifest", second)
        else:
            patch.setattr(places[moment], moment, kill)
        with pytest.raises(Killed):
            prepare("medq_deg", source=release)
    found = store.find("medq_deg", "sample", "clean")
    assert found is None or found.rows == 3
    untouched = store.find("medq_deg", "sample", "release")
    assert untouched is not None and untouched.rows == 4
    assert prepare("medq_deg", source=release)["splits"]["clean"]["rows"] == 5 == len(rows_of(home))


def test_an_interrupted_preparation_leaves_nothing(release: Path, home: Path, monkeypatch: Any) -> None:
    def interrupt(_: bytes) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(writer, "image_problem", interrupt)
    with pytest.raises(KeyboardInterrupt):
        prepare("medq_deg", source=release)
    assert files_below(home) <= {"medq_deg/prepare.lock"}


def test_a_second_process_waits_and_finds_it_done(release: Path, tmp_path: Path) -> None:
    first = started(
        """
        def slow(data):
            (work / "busy").touch()
            for _ in range(6000):
                if (work / "go").exists():
                    break
                time.sleep(0.01)
            return check(data)
        writer.image_problem = slow
        prepare("medq_deg", source=source)
        """,
        release,
        tmp_path,
    )
    second = started(
        """
        for _ in range(6000):
            if (work / "busy").exists():
                break
            time.sleep(0.01)
        prepare("medq_deg", source=source)
        """,
        release,
        tmp_path,
    )
    assert second.stderr is not None
    waiting = second.stderr.readline()
    assert "Another process is preparing medq_deg: waiting for it" in waiting and "prepare.lock" in waiting
    (tmp_path / "go").touch()
    said_first, said_second = first.communicate(timeout=60)[1], second.communicate(timeout=60)[1]
    assert first.returncode == 0 == second.returncode, (said_first, said_second)
    assert "medq_deg/clean (sample): prepared, 3 rows" in said_first
    assert "medq_deg/clean (sample): already prepared, 3 rows" in said_second


def test_waiting_ends_with_the_name_of_the_lock(release: Path, home: Path) -> None:
    lock = home / "medq_deg" / "prepare.lock"
    lock.parent.mkdir(parents=True)
    with FileLock(lock), pytest.raises(ConcurrentPreparation) as error:
        prepare("medq_deg", source=release, wait=0.05)
    assert str(lock) in str(error.value) and "did not finish" in str(error.value)


def test_memory_is_bounded_by_row_groups(
    release: Path, table: Write, clean_row: Row, home: Path, monkeypatch: Any
) -> None:
    table(release, [clean_row(n) for n in range(10)])
    monkeypatch.setattr(writer, "GROUP_ROWS", 4)
    prepare("medq_deg", source=release, splits=["clean"])
    metadata = pq.read_metadata(home / "medq_deg/sample/clean.parquet")
    assert [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)] == [4, 4, 2]
    monkeypatch.setattr(writer, "GROUP_BYTES", 1)
    prepare("medq_deg", source=release, splits=["clean"], force=True)
    assert pq.read_metadata(home / "medq_deg/sample/clean.parquet").num_row_groups == 10
