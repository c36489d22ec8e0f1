"""Archives are unpacked inside their folder, whole or not at all."""

from __future__ import annotations

import io
import os
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.sources import archives
from lmms_medtasks.sources.archives import extract

FILES = {"dataset/a.json": b"[]", "dataset/imgs/1.png": b"picture" * 5000, "dataset/imgs/2.png": os.urandom(30_000)}


def zipped(path: Path, files: dict[str, bytes], change: Callable[[zipfile.ZipInfo], None] = lambda _: None) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(name)
            change(info)
            archive.writestr(info, data, zipfile.ZIP_DEFLATED)
    return path


def tarred(
    path: Path, files: dict[str, bytes], mode: Any = "w", change: Callable[[Any], None] = lambda _: None
) -> Path:
    with tarfile.open(path, mode) as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            change(info)
            archive.addfile(info, io.BytesIO(data))
    return path


MAKERS: dict[str, Callable[[Path, dict[str, bytes]], Path]] = {
    "zip": zipped,
    "tar": tarred,
    "tar.gz": lambda path, files: tarred(path, files, "w:gz"),
    "tar.xz": lambda path, files: tarred(path, files, "w:xz"),
}


@pytest.fixture(params=list(MAKERS))
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[dict[str, bytes]], Path]:
    return lambda files: MAKERS[request.param](tmp_path / f"archive.{request.param}", files)


def below(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_everything_arrives(make: Callable[[dict[str, bytes]], Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert extract(make(FILES), out) == [out / name for name in FILES]
    assert below(out) == FILES


def test_only_what_is_wanted_arrives(make: Callable[[dict[str, bytes]], Path], tmp_path: Path) -> None:
    files = {"__MACOSX/../../._x": b"junk", **FILES}
    out = tmp_path / "out"
    extract(make(files), out, wanted=lambda name: name.startswith("dataset/") and name.endswith(".png"))
    assert set(below(out)) == {"dataset/imgs/1.png", "dataset/imgs/2.png"}


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/tmp/x", "C:\\x", "a\\..\\..\\x"])
def test_members_that_leave_are_refused_before_anything_is_written(
    make: Callable[[dict[str, bytes]], Path], tmp_path: Path, name: str
) -> None:
    archive = make({"good": b"1", name: b"2"})
    before = set(tmp_path.rglob("*"))
    with pytest.raises(UserError, match="would leave the folder"):
        extract(archive, tmp_path / "deep" / "out")
    assert set(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_and_devices_in_a_tar_are_refused(tmp_path: Path, kind: bytes) -> None:
    def change(info: tarfile.TarInfo) -> None:
        if info.name == "odd":
            info.type, info.linkname, info.size = kind, "/etc/passwd", 0

    archive = tarred(tmp_path / "a.tar", {"good": b"1", "odd": b""}, change=change)
    with pytest.raises(UserError, match="a member that is a (link|device): 'odd'"):
        extract(archive, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_links_in_a_zip_are_refused(tmp_path: Path) -> None:
    def change(info: zipfile.ZipInfo) -> None:
        info.external_attr = (stat.S_IFLNK | 0o777) << 16

    archive = zipped(tmp_path / "a.zip", {"odd": b"/etc/passwd"}, change)
    with pytest.raises(UserError, match="no plain file or folder .*'odd'"):
        extract(archive, tmp_path / "out")


def test_a_member_twice_is_refused(make: Callable[[dict[str, bytes]], Path], tmp_path: Path) -> None:
    with pytest.raises(UserError, match="a member twice: 'A/x'"):
        extract(make({"a/x": b"1", "A/x": b"2"}), tmp_path / "out")


@pytest.mark.parametrize("part", [0.02, 0.5, 0.97])
def test_archives_cut_short_are_refused(make: Callable[[dict[str, bytes]], Path], tmp_path: Path, part: float) -> None:
    archive = make(FILES)
    data = archive.read_bytes()
    archive.write_bytes(data[: int(len(data) * part * 0.7)])
    with pytest.raises(UserError, match="cut short, damaged|is damaged"):
        extract(archive, tmp_path / "out")
    assert not (tmp_path / "out").exists() and not (tmp_path / "out.part").exists()


def test_damaged_members_are_refused(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "a.zip", FILES)
    data = bytearray(archive.read_bytes())
    data[data.index(FILES["dataset/imgs/2.png"][:16]) + 20_000] ^= 0xFF
    archive.write_bytes(data)
    with pytest.raises(UserError, match="cut short, damaged"):
        extract(archive, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_other_files_are_no_archives(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"no archive" * 100)
    with pytest.raises(UserError, match="no zip or tar archive"):
        extract(tmp_path / "a.zip", tmp_path / "out")
    with pytest.raises(UserError, match="b.zip cannot be read: No such file"):
        extract(tmp_path / "b.zip", tmp_path / "out")


def test_bombs_are_refused(
    make: Callable[[dict[str, bytes]], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "MAX_BYTES", 1_000_000)
    with pytest.raises(UserError, match="would unpack to 1,000,001 bytes, the limit is 1,000,000"):
        extract(make({"zeros": bytes(1_000_001)}), tmp_path / "out")


def test_what_is_unpacked_is_left_alone(make: Callable[[dict[str, bytes]], Path], tmp_path: Path) -> None:
    archive, out = make(FILES), tmp_path / "out"
    extract(archive, out)
    (out / "dataset/a.json").write_text("touched")
    assert extract(archive, out) == sorted(out / name for name in FILES)
    assert (out / "dataset/a.json").read_text() == "touched"


def test_a_part_left_by_a_killed_process_is_replaced(make: Callable[[dict[str, bytes]], Path], tmp_path: Path) -> None:
    (tmp_path / "out.part" / "old").mkdir(parents=True)
    extract(make(FILES), tmp_path / "out")
    assert below(tmp_path / "out") == FILES and not (tmp_path / "out" / "old").exists()


def test_a_folder_that_cannot_be_written(make: Callable[[dict[str, bytes]], Path], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UserError, match="Cannot write"):
        extract(make(FILES), tmp_path / "file" / "out")
