"""What a build keeps: given back exactly, made anew where it is broken or foreign, and never run."""

import hashlib
import json
import os
import time
from pathlib import Path

import pyarrow as pa
import pytest

from lmms_medtasks import build_cache, degradations, judges, task_configs
from lmms_medtasks.build_cache import DAYS, NO_CACHE, BuildCache
from lmms_medtasks.errors import UserError


def read(content):
    """Raises ValueError for what is none of ours."""
    (text,) = json.loads(content)
    return text


def value(cache, made_of, make=lambda: "ä <\x7f>"):
    return cache.kept(made_of, make, lambda text: json.dumps([text]).encode(), read)


@pytest.fixture
def cache(tmp_path):
    return BuildCache.at(tmp_path / "cache")


def files(cache):
    return [path for path in cache.folder.rglob("*") if path.is_file()]


def never():
    raise AssertionError("made again")


@pytest.mark.parametrize("module", [build_cache, degradations, judges, task_configs])
def test_a_change_of_code_is_another_folder_of_the_cache_wherever_the_package_lies(module, monkeypatch):
    before = build_cache._code_digest.__wrapped__(0.95)
    changed = Path(module.__file__ or f"{module.__path__[0]}/medobvious/board.yml")
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + (b"#" if path == changed else b""))
    assert build_cache._code_digest.__wrapped__(0.95) != before


def test_a_value_is_given_back_as_it_was(cache):
    assert value(cache, ["a"]) == value(cache, ["a"], never) == "ä <\x7f>"
    assert cache.has(["a"]) and not cache.has(["b"])


def test_a_table_is_given_back_with_its_types(cache):
    table = pa.table({"a": pa.array(["x", None, "x"]).dictionary_encode(), "b": [["x"], [], None], "c": [0.1, 1, None]})
    assert cache.table(["t"], lambda: table).equals(table)
    kept = cache.table(["t"], never)
    assert kept.equals(table) and kept.schema == table.schema


def test_other_inputs_are_another_result(cache):
    for given in (["a", 1], ["a", 2], ["b", 1]):
        value(cache, given)
    assert len(files(cache)) == 3


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"half",
        hashlib.sha256(b"[]").hexdigest().encode() + b"[]",  # whole, and not of this form
        hashlib.sha256(b"{").hexdigest().encode() + b"{",
        hashlib.sha256(b"\xff").hexdigest().encode() + b"\xff",
    ],
)
def test_a_broken_or_foreign_file_is_made_anew(cache, content):
    value(cache, ["a"])
    (file,) = files(cache)
    whole = file.read_bytes()
    file.write_bytes(content)
    assert value(cache, ["a"]) == "ä <\x7f>"
    assert file.read_bytes() == whole


def test_what_nobody_used_for_long_is_removed_and_nothing_else(tmp_path, cache):
    value(cache, ["old"])
    (old,) = files(cache)
    value(cache, ["new"])
    other = tmp_path / "cache" / "a" / "b" / "mine.txt"
    other.parent.mkdir(parents=True)
    other.write_text("mine")
    for path in (old, other):
        os.utime(path, (time.time() - (DAYS + 1) * 86_400,) * 2)
    BuildCache.at(tmp_path / "cache")
    assert not old.exists() and other.exists() and len(files(cache)) == 1


def test_a_folder_that_cant_be_written_is_said_with_the_way_out(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="--no-cache"):
        BuildCache.at(tmp_path / "file" / "cache")


def test_a_files_digest_follows_its_content(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"a")
    assert BuildCache().digest(path) == hashlib.sha256(b"a").hexdigest()
    path.write_bytes(b"ab")
    assert BuildCache().digest(path) == hashlib.sha256(b"ab").hexdigest()


def test_without_a_folder_nothing_is_kept():
    made = []
    for _ in range(2):
        value(NO_CACHE, ["a"], lambda: made.append(1))
    assert len(made) == 2 and not NO_CACHE.has(["a"])


def test_a_changed_template_is_another_release_of_the_code(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    monkeypatch.setattr(build_cache, "_code_files", lambda: [("page.html", path)])
    names = set()
    for text in ("<p>", "<div>"):
        path.write_text(text)
        build_cache._code_digest.cache_clear()
        names.add(build_cache._code_digest(0.95))
    build_cache._code_digest.cache_clear()
    assert len(names) == 2
