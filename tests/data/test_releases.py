"""Paths that come from a release stay inside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.data.releases import LocalRelease, MissingFileError, SourceFile, checked_name, source_file


@pytest.mark.parametrize(
    "name", ["", " ", "/etc/passwd", "../x", "a/../../x", "a/..", "..", "C:/x", "C:x", "\\x", "a\\..\\x", "\\\\host\\x"]
)
def test_paths_that_leave_are_refused(name: str) -> None:
    with pytest.raises(MissingFileError, match="not inside the release's folder"):
        checked_name(name)


@pytest.mark.parametrize("name", ["a", "a/b.png", "..a/b..", "a b/c", "dataset/imgs/1.png"])
def test_paths_inside_pass(name: str) -> None:
    assert checked_name(name) == name


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
    assert LocalRelease(tmp_path).listing(3) == "00, 01, 02 and 22 more"
