"""Parts of someone's own are found by file, module and entry point, and every mistake is named."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest

from lmms_medtasks import extensions
from lmms_medtasks.errors import UserError


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    (tmp_path / "parts.py").write_text("def read_finding(reply):\n    return reply\n", "utf-8")
    (tmp_path / "broken.py").write_text("x = 1\nraise RuntimeError('no')\n", "utf-8")
    (tmp_path / "wrong.py").write_text("x = = 1\n", "utf-8")
    return tmp_path


def offer(monkeypatch: pytest.MonkeyPatch, *entries: tuple[str, str]) -> None:
    """Have installed packages offer parsers."""
    group = extensions.GROUPS["parser"]
    found = [metadata.EntryPoint(name, value, group) for name, value in entries]
    monkeypatch.setattr(metadata, "entry_points", lambda group: found)
    extensions.installed_extensions.cache_clear()
    monkeypatch.setattr(extensions, "installed_extensions", extensions.installed_extensions.__wrapped__)


def test_a_file_beside_the_yaml(parts: Path) -> None:
    text = extensions.resolve_extension_path("parts.py:read_finding", parts)
    part = extensions.load_extension("parser", text)
    assert part.value("B") == "B"
    assert (part.name, part.origin, part.file) == ("read_finding", "parts.py", (parts / "parts.py").resolve())


def test_a_module() -> None:
    part = extensions.load_extension("parser", "os.path:join")
    assert part.value("a", "b") == "a/b" and part.origin == "module os.path"


def test_other_texts_keep_their_place() -> None:
    for text in ("letter", "package.module:NAME", "/elsewhere/parts.py:read_finding"):
        assert extensions.resolve_extension_path(text, Path("/folder")) == text


def test_an_entry_point_stands_beside_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, ("joined", "os.path:join"))
    assert extensions.names("parser", ("letter", "option")) == ("letter", "option", "joined")
    assert extensions.load_extension("parser", "joined").name == "joined"


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ([("joined", "os.path:join"), ("joined", "os.path:split")], "Two installed packages"),
        ([("letter", "os.path:join")], "one of ours"),
    ],
)
def test_a_name_is_one_part(monkeypatch: pytest.MonkeyPatch, entries: list[tuple[str, str]], said: str) -> None:
    offer(monkeypatch, *entries)
    with pytest.raises(UserError, match=said):
        extensions.names("parser", ("letter",))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("leter", "Did you mean 'letter'"),
        ("parts.py:read_findings", "Did you mean 'read_finding'"),
        ("part.py:read_finding", "there is no file"),
        ("broken.py:x", "RuntimeError: no, line 2"),
        ("wrong.py:x", "SyntaxError.*line 1"),
        ("no_such_package.module:x", "no module 'no_such_package'"),
        ("parts.py:", "Expected FILE.py:NAME"),
        (":read_finding", "Expected FILE.py:NAME"),
    ],
)
def test_a_mistake_is_named(parts: Path, text: str, said: str) -> None:
    with pytest.raises(UserError, match=said) as caught:
        extensions.load_extension("parser", extensions.resolve_extension_path(text, parts), ("letter",), "task.yaml")
    assert str(caught.value).startswith("task.yaml: ")
