"""Files are there whole or not at all."""

from __future__ import annotations

import os

import pytest

from lmms_medtasks.writing import write_bytes_atomically, write_text_atomically


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_a_file_and_its_folder(tmp_path, umask, mode):
    path = tmp_path / "new" / "file.txt"
    before = os.umask(umask)
    try:
        write_text_atomically(path, "é\r\nx")
    finally:
        os.umask(before)
    assert path.read_bytes() == b"\xc3\xa9\r\nx"
    assert path.stat().st_mode & 0o777 == mode


def test_half_a_surrogate_pair_of_a_models_answer_is_written(tmp_path):
    write_text_atomically(tmp_path / "a", "x\ud83dy")
    assert (tmp_path / "a").read_text("utf-8") == "x?y"


def test_what_was_there_stays_when_writing_fails(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_bytes_atomically(path, b"old")

    def full(source, target):
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        write_bytes_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]
