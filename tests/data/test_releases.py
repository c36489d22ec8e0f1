"""Paths that come from a release stay inside it."""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.data import releases
from lmms_medtasks.data.releases import (
    LocalRelease,
    MissingFileError,
    SourceFile,
    ZipFolder,
    checked_name,
    is_junk,
    source_file,
)
from lmms_medtasks.errors import UserError


@pytest.mark.parametrize(
    "name", ["", " ", "/etc/passwd", "../x", "a/../../x", "a/..", "..", "C:/x", "C:x", "\\x", "a\\..\\x", "\\\\host\\x"]
)
def test_paths_that_leave_are_refused(name: str) -> None:
    with pytest.raises(MissingFileError, match="not inside the release's folder"):
        checked_name(name)
    for inside in ("a", "a/b.png", "..a/b..", "a b/c", "dataset/imgs/1.png"):
        assert checked_name(inside) == inside


@given(st.lists(st.sampled_from(["..", ".", "a", "/", "\\", "C:", "b.png", ""]), max_size=6), st.sampled_from("/\\"))
def test_no_accepted_path_leaves(parts: list[str], separator: str) -> None:
    name = separator.join(parts)
    try:
        checked_name(name)
    except MissingFileError:
        return
    for text in (name, name.replace("\\", "/")):
        path = os.path.normpath(os.path.join("/base/folder", text))
        assert path == "/base/folder" or path.startswith("/base/folder/")


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "real").write_text("x")
    os.symlink("real", folder / "inside")
    os.symlink(tmp_path / "secret", folder / "outside")
    release = LocalRelease(folder)
    assert release.file("inside").read_text() == "x"
    with pytest.raises(MissingFileError, match="link out of the folder"):
        release.file("outside")


def test_size_and_checksum(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    # the published SHA-256 of "abc"
    known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert source_file(LocalRelease(tmp_path), "a") == SourceFile("a", 3, known)


def test_listings_are_short(tmp_path: Path) -> None:
    for number in range(25):
        (tmp_path / f"{number:02}").touch()
    assert LocalRelease(tmp_path).listing().endswith(", 18, 19 and 5 more")


FILES = {"dataset/a.json": b"[]", "dataset/imgs/1.png": b"picture" * 5000, "dataset/imgs/2.png": os.urandom(30_000)}
JUNK = {
    "__MACOSX/dataset/._a.json": b"x",
    "dataset/.DS_Store": b"x",
    "dataset/._b": b"x",
    "dataset/a.json.bak": b"x",
    "dataset/a.json~": b"x",
}


def zipped(path: Path, files: dict[str, bytes], change: Callable[[zipfile.ZipInfo], None] = lambda _: None) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(name)
            change(info)
            archive.writestr(info, data, zipfile.ZIP_DEFLATED)
    return path


def test_files_are_read_where_they_are(tmp_path: Path) -> None:
    folder = ZipFolder(zipped(tmp_path / "a.zip", {"dataset/": b"", **FILES, **JUNK}))
    assert folder.names == tuple(FILES)
    assert {name: folder.read(name) for name in folder.names} == FILES
    assert folder.has("dataset/a.json") and not folder.has("a.json") and not folder.has("dataset/.DS_Store")
    assert folder.find("2.png") == ["dataset/imgs/2.png"] and folder.find("imgs") == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.zip"]


def test_several_threads_read_at_once(tmp_path: Path) -> None:
    files = {f"{number}.bin": os.urandom(20_000) for number in range(40)}
    folder = ZipFolder(zipped(tmp_path / "a.zip", files))
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(folder.read, files)) == list(files.values())


def test_junk() -> None:
    names = [*JUNK, "dataset/a.json", "backup/a.png", "a.old.png", "imgs/macosx.png"]
    assert [name for name in names if is_junk(name)] == [*JUNK]


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/tmp/x", "C:\\x", "a\\..\\..\\x"])
def test_names_that_leave_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="would leave the folder"):
        ZipFolder(zipped(tmp_path / "a.zip", {"good": b"1", name: b"2"}))


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO])
def test_links_and_devices_are_refused(tmp_path: Path, kind: int) -> None:
    def change(info: zipfile.ZipInfo) -> None:
        info.external_attr = (kind | 0o777) << 16

    with pytest.raises(UserError, match=r"no plain file .*'odd'"):
        ZipFolder(zipped(tmp_path / "a.zip", {"odd": b"/etc/passwd"}, change))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_file_twice_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a", b"1")
        archive.writestr("a", b"2")
    with pytest.raises(UserError, match="a file twice: 'a'"):
        ZipFolder(tmp_path / "a.zip")


@pytest.mark.parametrize("part", [0.02, 0.5, 0.97])
def test_zips_cut_short_are_refused(tmp_path: Path, part: float) -> None:
    archive = zipped(tmp_path / "a.zip", FILES)
    data = archive.read_bytes()
    archive.write_bytes(data[: int(len(data) * part)])
    with pytest.raises(UserError, match="cut short, damaged, or no zip. Fetch it again"):
        ZipFolder(archive)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "a.zip", FILES)
    data = bytearray(archive.read_bytes())
    data[data.index(FILES["dataset/imgs/2.png"][:16]) + 20_000] ^= 0xFF
    archive.write_bytes(data)
    folder = ZipFolder(archive)
    assert folder.read("dataset/imgs/1.png") == FILES["dataset/imgs/1.png"]
    with pytest.raises(UserError, match=r"imgs/2.png' in .*a.zip cannot be read: .*Fetch it again"):
        folder.read("dataset/imgs/2.png")


def test_encrypted_files_cannot_be_read(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "a.zip", {"a": b"1"})
    data = bytearray(archive.read_bytes())
    data[6] |= 1  # general purpose flag of the local header
    data[data.index(b"PK\x01\x02") + 8] |= 1  # and of the central directory
    archive.write_bytes(data)
    with pytest.raises(UserError, match="encrypted"):
        ZipFolder(archive).read("a")


def test_other_files_are_no_zips_and_missing_ones_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    for name, message in (("a.zip", "no zip"), ("b.zip", "b.zip cannot be read")):
        with pytest.raises(UserError, match=message):
            ZipFolder(tmp_path / name)
    with pytest.raises(MissingFileError, match="'x' is not in a.zip"):
        ZipFolder(zipped(tmp_path / "a.zip", FILES)).read("x")


def test_bombs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = zipped(tmp_path / "a.zip", {"zeros": bytes(1_000_001)})
    assert ZipFolder(archive).read("zeros") == bytes(1_000_001)
    monkeypatch.setattr(releases, "MAX_FILE_BYTES", 1_000_000)
    with pytest.raises(UserError, match="would unpack to 1,000,001 bytes .*'zeros'"):
        ZipFolder(archive)


def test_sizes_that_cannot_be_true_are_refused(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "a.zip", {"a": b"1" * 100})
    data = bytearray(archive.read_bytes())
    place = data.index(b"PK\x01\x02") + 24  # unpacked size in the central directory
    data[place : place + 4] = (1_500_000_000).to_bytes(4, "little")
    archive.write_bytes(data)
    with pytest.raises(UserError, match="would unpack to 1,500,000,000 bytes from"):
        ZipFolder(archive)
