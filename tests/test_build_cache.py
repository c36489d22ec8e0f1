"""What a build keeps: given back exactly, made anew where it is broken or foreign, and never run."""

import hashlib
import os
import time
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pytest

from lmms_medtasks import build_cache, degradations, judges, task_configs
from lmms_medtasks.build_cache import DAYS, NO_CACHE, BuildCache
from lmms_medtasks.errors import UserError
from lmms_medtasks.report.document import Cell, Column, Figure, Flag, Part, Row, Section, Table


def part(key="part1"):
    cells = (Cell("ä <\\x7f>"), Cell(0.1 + 0.2, 1e-300, None, "‖", reason="few"), Cell(3), Cell(None))
    table = Table("k", "t", (Column("a", "text"), Column("b", digits=2)), (Row(cells), Row((), "counts")), ("n",),
                  marks={"*": "m"})  # fmt: skip
    figure = Figure("f", "t", "about", f"<svg id='{key}-1'/>", "k")
    return Part(key, "m", (("a", "b"),), (Flag("note", "x"),), (Section("s", "t", ("p",), (table,), (figure,)),))


@pytest.fixture
def cache(tmp_path):
    return BuildCache.at(tmp_path / "cache")


def files(cache):
    return [path for path in cache.folder.rglob("*") if path.is_file()]


def never():
    raise AssertionError("made again")


@pytest.mark.parametrize("module", [build_cache, degradations, judges, task_configs])
def test_a_change_of_code_is_another_folder_of_the_cache_wherever_the_package_lies(module, monkeypatch):
    before = build_cache._code.__wrapped__(0.95)
    changed = Path(module.__file__ or f"{module.__path__[0]}/medobvious/board.yml")
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + (b"#" if path == changed else b""))
    assert build_cache._code.__wrapped__(0.95) != before


def test_a_part_is_given_back_as_it_was_with_another_key_in_place_of_its_own(cache):
    assert cache.value(Part, ["a"], part, "part1") == part()
    assert cache.value(Part, ["a"], never, "part1") == part()
    assert cache.value(Part, ["a"], never, "part27") == part("part27")


def test_what_is_kept_on_its_own_is_known_afterwards_and_can_be_replaced(cache):
    assert cache.known(Part, ["a"]) is None and NO_CACHE.known(Part, ["a"]) is None
    cache.keep(["a"], part())
    NO_CACHE.keep(["a"], part())
    assert cache.known(Part, ["a"]) == part()
    cache.keep(["a"], part("other"))
    assert cache.known(Part, ["a"]) == part("other") and cache.known(Part, ["b"]) is None


def test_a_table_is_given_back_with_its_types(cache):
    table = pa.table({"a": pa.array(["x", None, "x"]).dictionary_encode(), "b": [["x"], [], None], "c": [0.1, 1, None]})
    assert cache.table(["t"], lambda: table).equals(table)
    kept = cache.table(["t"], never)
    assert kept.equals(table) and kept.schema == table.schema


def test_other_inputs_are_another_result(cache):
    for given in (["a", 1], ["a", 2], ["b", 1]):
        cache.value(Part, given, part)
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
    cache.value(Part, ["a"], part)
    (file,) = files(cache)
    whole = file.read_bytes()
    file.write_bytes(content)
    assert cache.value(Part, ["a"], part) == part()
    assert file.read_bytes() == whole


def test_what_nobody_used_for_long_is_removed_and_nothing_else(tmp_path, cache):
    cache.value(Part, ["old"], part)
    (old,) = files(cache)
    cache.value(Part, ["new"], part)
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
    @dataclass(frozen=True)
    class Value:
        numbers: list[int] = field(default_factory=list)

    found = [NO_CACHE.value(Value, ["a"], Value) for _ in range(2)]
    assert found[0] is not found[1]


def test_a_changed_template_is_another_release_of_the_code(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    monkeypatch.setattr(build_cache, "_code_files", lambda: [("page.html", path)])
    names = set()
    for text in ("<p>", "<div>"):
        path.write_text(text)
        build_cache._code.cache_clear()
        names.add(build_cache._code(0.95))
    build_cache._code.cache_clear()
    assert len(names) == 2
