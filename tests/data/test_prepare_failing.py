"""Preparing with a full disk, a kill at any moment, a second process: whole or not at all, and resumed."""

from __future__ import annotations

import base64
import errno
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

from lmms_medtasks.data import committing, store
from lmms_medtasks.data.prepare import prepare_splits
from lmms_medtasks.errors import ConcurrentPreparation, UserError
from tests.data.prepared_files import Row, Write, files_below, rows_of


def test_a_data_folder_that_is_a_file(release: Path, tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("MEDTASKS_HOME", str(tmp_path / "file" / "below"))
    with pytest.raises(UserError, match="Cannot write the prepared data to .*below.*Set MEDTASKS_HOME"):
        prepare_splits("medq_deg", source=release)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES, errno.EROFS])
@pytest.mark.parametrize("step", ["open", "replace", "lock"])
def test_a_folder_that_is_full_or_forbidden(
    release: Path, home: Path, monkeypatch: Any, number: int, step: str
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number))

    prepare_splits("medq_deg", source=release, splits=["clean"])
    before = {name: (home / name).read_bytes() for name in files_below(home)}
    places = {"open": (committing.os, "fsync"), "replace": (os, "replace"), "lock": (FileLock, "acquire")}
    monkeypatch.setattr(*places[step], refuse)
    with pytest.raises(UserError) as error:
        prepare_splits("medq_deg", source=release)
    assert os.strerror(number) in str(error.value) and "MEDTASKS_HOME" in str(error.value)
    assert {name: (home / name).read_bytes() for name in files_below(home)} == before
    assert store.find_prepared_split("medq_deg", "sample", "clean") is not None
    assert store.find_prepared_split("medq_deg", "sample", "release") is None


SCRIPT_HEAD = """
    import os, resource, signal, sys, time
    from pathlib import Path
    from lmms_medtasks.errors import UserError
    from lmms_medtasks.data import committing
    from lmms_medtasks.data.prepare import prepare_splits
    source, work = Path(sys.argv[1]), Path(sys.argv[2])
    check, calls = committing.image_problem, []
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
            prepare_splits("medq_deg", source=source)
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
        committing.image_problem = dying
        prepare_splits("medq_deg", source=source)
        """,
        release,
        tmp_path,
    )
    _, said = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL, said
    assert (home / "medq_deg/sample/release.parquet.part").exists()
    assert not (home / "medq_deg/sample/release.parquet").exists()
    assert store.find_prepared_split("medq_deg", "sample", "release") is None
    clean = store.find_prepared_split("medq_deg", "sample", "clean")
    assert clean is not None and clean.rows == 3
    before = clean.path.stat().st_mtime_ns

    manifest = prepare_splits("medq_deg", source=release)
    assert manifest["splits"]["release"]["rows"] == 4
    assert clean.path.stat().st_mtime_ns == before
    assert "medq_deg/clean (sample): already prepared" in capsys.readouterr().err
    assert not [name for name in files_below(home) if name.endswith(".part")]


@pytest.mark.parametrize("moment", ["replace", "_write_rejected", "write_manifest"])
def test_killed_while_replacing_older_data(
    release: Path, table: Write, clean_row: Row, home: Path, moment: str
) -> None:
    """Whenever it is killed, the split is whole, old or new, or it is not there."""
    from lmms_medtasks.data import committing

    prepare_splits("medq_deg", source=release)
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
            prepare_splits("medq_deg", source=release)
    found = store.find_prepared_split("medq_deg", "sample", "clean")
    assert found is None or found.rows == 3
    untouched = store.find_prepared_split("medq_deg", "sample", "release")
    assert untouched is not None and untouched.rows == 4
    assert prepare_splits("medq_deg", source=release)["splits"]["clean"]["rows"] == 5 == len(rows_of(home))


def test_an_interrupted_preparation_leaves_nothing(release: Path, home: Path, monkeypatch: Any) -> None:
    def interrupt(_: bytes) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(committing, "image_problem", interrupt)
    with pytest.raises(KeyboardInterrupt):
        prepare_splits("medq_deg", source=release)
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
        committing.image_problem = slow
        prepare_splits("medq_deg", source=source)
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
        prepare_splits("medq_deg", source=source)
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


def test_waiting_ends_with_the_name_of_the_lock(release: Path, home: Path, tmp_path: Path) -> None:
    lock = home / "medq_deg" / "prepare.lock"
    lock.parent.mkdir(parents=True)
    holder = started(
        """
        from filelock import FileLock
        with FileLock(source):
            print("held", flush=True)
            time.sleep(600)
        """,
        lock,
        tmp_path,
    )
    assert holder.stdout is not None and holder.stdout.readline() == "held\n"
    with pytest.raises(ConcurrentPreparation) as error:
        prepare_splits("medq_deg", source=release, wait=0.05)
    assert str(lock) in str(error.value) and "did not finish" in str(error.value)
    holder.kill()
    holder.communicate()
    prepare_splits("medq_deg", source=release, wait=0.05)  # the lock goes with its process


def test_memory_is_bounded_by_row_groups(
    release: Path, table: Write, clean_row: Row, home: Path, monkeypatch: Any
) -> None:
    table(release, [clean_row(n) for n in range(10)])
    monkeypatch.setattr(committing, "GROUP_ROWS", 4)
    prepare_splits("medq_deg", source=release, splits=["clean"])
    metadata = pq.read_metadata(home / "medq_deg/sample/clean.parquet")
    assert [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)] == [4, 4, 2]
    monkeypatch.setattr(committing, "GROUP_BYTES", 1)
    prepare_splits("medq_deg", source=release, splits=["clean"], force=True)
    assert pq.read_metadata(home / "medq_deg/sample/clean.parquet").num_row_groups == 10
