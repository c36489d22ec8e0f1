"""The folder that a site is written into: one build at a time, what a killed one left is used up, reasons are said."""

import os

import pytest

from lmms_medtasks.board.site import folder
from lmms_medtasks.board.site.folder import replace_folder
from lmms_medtasks.errors import UserError


def test_a_second_build_of_the_same_site_is_refused_and_the_first_one_is_whole(tmp_path):
    with replace_folder(tmp_path / "site") as first:
        first.text("a.html", "first")
        with pytest.raises(UserError, match="another process"), replace_folder(tmp_path / "site"):
            pytest.fail("two builds at once")
        first.text("b.html", "first")
    assert {path.name for path in (tmp_path / "site").iterdir()} == {"a.html", "b.html", folder.MARKER}
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_what_a_killed_build_left_is_not_in_the_next_site(tmp_path):
    left = tmp_path / "site.part"
    (left / "models").mkdir(parents=True)
    (left / "models" / "old.html").write_text("half")
    (left / "link").symlink_to(tmp_path)
    with replace_folder(tmp_path / "site") as found:
        found.text("a.html", "new")
    assert {path.name for path in (tmp_path / "site").iterdir()} == {"a.html", folder.MARKER}
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_build_that_fails_leaves_the_old_site_and_nothing_beside_it(tmp_path):
    with replace_folder(tmp_path / "site") as found:
        found.text("a.html", "old")
    with pytest.raises(KeyboardInterrupt), replace_folder(tmp_path / "site") as found:
        found.text("a.html", "half")
        raise KeyboardInterrupt
    assert (tmp_path / "site" / "a.html").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_disk_that_is_full_or_a_folder_that_cant_be_written_is_said_with_the_way_out(tmp_path, monkeypatch):
    full = "/dev/full"
    if os.path.exists(full):
        with pytest.raises(UserError, match="No space left.*--output"), replace_folder(tmp_path / "site") as found:
            (found.root / "a.html").symlink_to(full)
            found.text("a.html", "new")
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="--output"), replace_folder(tmp_path / "file" / "site"):
        pytest.fail("written below a file")
