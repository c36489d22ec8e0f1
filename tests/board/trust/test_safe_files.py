"""JSON of strangers: counted as a plain walk over its values counts, and refused before it is built."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.board.trust import limits as limits_module
from lmms_medtasks.board.trust import safe_files
from lmms_medtasks.errors import UserError

LARGE = 10**9
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-999, 999) | st.text('a\\"[]{},:é\n', max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('b\\"[{:', max_size=3), inner, max_size=4),
    max_leaves=12,
)


@contextmanager
def limited(**chosen: int) -> Iterator[None]:
    """Limits that allow everything but what is chosen."""
    own = {**limits_module.load_limits(), **dict.fromkeys(("depth", "containers", "values"), LARGE), "digits": 50}
    with pytest.MonkeyPatch.context() as patch:
        for module in (safe_files, limits_module):
            patch.setattr(module, "load_limits", lambda: {**own, **chosen})
        yield


def lists_and_mappings(value: Any) -> int:
    """How many there are, by a plain walk."""
    if isinstance(value, list | dict):
        return 1 + sum(map(lists_and_mappings, value.values() if isinstance(value, dict) else value))
    return 0


def depth(value: Any) -> int:
    if isinstance(value, list | dict):
        return 1 + max(map(depth, value.values() if isinstance(value, dict) else value), default=0)
    return 0


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(("name", "counted"), [("containers", lists_and_mappings), ("depth", depth)])
@given(value=JSON)
def test_what_is_allowed_is_exactly_what_a_plain_walk_counts(
    name: str, counted: Any, indent: int | None, value: Any
) -> None:
    data = json.dumps(value, indent=indent, ensure_ascii=False).encode()
    count = counted(value)
    with limited(**{name: count}):
        safe_files.check_form(data, "here")
    if count:
        with limited(**{name: count - 1}), pytest.raises(UserError, match="here"):
            safe_files.check_form(data, "here")


@pytest.mark.parametrize(
    ("text", "values"),
    [("[]", 1), ("[1,2,3]", 3), ('{"a":1,"b":[2]}', 5), ('["[,:{\\"[", "\\\\", 1]', 3), ("7", 0)],
)  # the comma or colon before each value, and each list and mapping
def test_values_are_counted_outside_of_texts(text: str, values: int) -> None:
    with limited(values=values):
        safe_files.check_form(text.encode(), "here")
    with limited(values=values - 1), pytest.raises(UserError):
        safe_files.check_form(text.encode(), "here")


def test_a_number_may_have_so_many_digits_and_a_text_any() -> None:
    with limited(digits=3):
        safe_files.check_form(b'{"1234": [123, 1.123, "99999"]}', "here")
        with pytest.raises(UserError, match="more than 3 digits"):
            safe_files.check_form(b"[1234]", "here")


@given(JSON, st.booleans())
def test_what_is_within_the_limits_is_read_as_it_was_written(tmp_path_factory: Any, value: Any, packed: bool) -> None:
    path = tmp_path_factory.getbasetemp() / ("value.json.gz" if packed else "value.json")
    data = json.dumps(value).encode()
    path.write_bytes(gzip.compress(data) if packed else data)
    assert safe_files.read_json(path) == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b'{"a": 1, "a": 2}', "twice"), (b"[NaN]", "NaN"), (b"[-Infinity]", "Infinity"), (b"[1e999]", "1e999"),
        (b"[1", "cut off"), (b"", "cut off"), (b"[\xff]", "cut off"),
    ],
)  # fmt: skip
def test_what_is_no_json_is_refused_with_its_file(tmp_path: Path, text: bytes, said: str) -> None:
    path = tmp_path / "value.json"
    path.write_bytes(text)
    with pytest.raises(UserError, match=said) as error:
        safe_files.read_json(path)
    assert str(path) in str(error.value)


def test_no_more_is_unpacked_than_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "value.json.gz"
    path.write_bytes(gzip.compress(b"[" + b" " * 5_000 + b"]"))
    with limited(unpacked_bytes=5_002):
        assert safe_files.read_json(path) == []
    with limited(unpacked_bytes=5_001), pytest.raises(UserError, match="unpacked"):
        safe_files.read_json(path)
    with limited(file_bytes=path.stat().st_size - 1), pytest.raises(UserError, match="bytes"):
        safe_files.read_json(path)
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(UserError, match="cut off"):
        safe_files.read_json(path)


def test_what_is_beyond_a_limit_is_told_with_both_numbers() -> None:
    limits_module.check_limit(67_108_864, "file_bytes", "x", "bytes")
    with pytest.raises(UserError, match="67,108,865 bytes; at most 67,108,864"):
        limits_module.check_limit(67_108_865, "file_bytes", "x", "bytes")


def test_a_line_that_is_too_long_is_named_also_where_it_is_read_in_several_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(safe_files, "_BLOCK", 4)
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"1234567890\n12345678901\n1\n")
    with limited(line_bytes=11):
        safe_files.check_lines(path)
    with limited(line_bytes=10), pytest.raises(UserError, match="line 2: more than 10 bytes"):
        safe_files.check_lines(path)
