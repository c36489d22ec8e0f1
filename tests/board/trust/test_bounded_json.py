"""JSON of strangers: counted as a plain walk over its values counts, and refused before it is built."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.board.trust import bounded_json
from lmms_medtasks.board.trust import limits as limits_module
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
    own = replace(limits_module.limits(), **{name: LARGE for name in ("depth", "containers", "values")}, digits=50)
    with pytest.MonkeyPatch.context() as patch:
        for module in (bounded_json, limits_module):
            patch.setattr(module, "limits", lambda: replace(own, **chosen))
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
        bounded_json.check_form(data, "here")
    if count:
        with limited(**{name: count - 1}), pytest.raises(UserError, match="here"):
            bounded_json.check_form(data, "here")


@pytest.mark.parametrize(
    ("text", "values"),
    [("[]", 1), ("[1,2,3]", 3), ('{"a":1,"b":[2]}', 5), ('["[,:{\\"[", "\\\\", 1]', 3), ("7", 0)],
)  # the comma or colon before each value, and each list and mapping
def test_values_are_counted_outside_of_texts(text: str, values: int) -> None:
    with limited(values=values):
        bounded_json.check_form(text.encode(), "here")
    with limited(values=values - 1), pytest.raises(UserError):
        bounded_json.check_form(text.encode(), "here")


def test_a_number_may_have_so_many_digits_and_a_text_any() -> None:
    with limited(digits=3):
        bounded_json.check_form(b'{"1234": [123, 1.123, "99999"]}', "here")
        with pytest.raises(UserError, match="more than 3 digits"):
            bounded_json.check_form(b"[1234]", "here")


@given(JSON, st.booleans())
def test_what_is_within_the_limits_is_read_as_it_was_written(tmp_path_factory: Any, value: Any, packed: bool) -> None:
    path = tmp_path_factory.getbasetemp() / ("value.json.gz" if packed else "value.json")
    data = json.dumps(value).encode()
    path.write_bytes(gzip.compress(data) if packed else data)
    assert bounded_json.read(path) == value


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
        bounded_json.read(path)
    assert str(path) in str(error.value)


def test_no_more_is_unpacked_than_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "value.json.gz"
    path.write_bytes(gzip.compress(b"[" + b" " * 5_000 + b"]"))
    with limited(unpacked_bytes=5_002):
        assert bounded_json.read(path) == []
    with limited(unpacked_bytes=5_001), pytest.raises(UserError, match="unpacked"):
        bounded_json.read(path)
    with limited(file_bytes=path.stat().st_size - 1), pytest.raises(UserError, match="bytes"):
        bounded_json.read(path)
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(UserError, match="cut off"):
        bounded_json.read(path)


def test_what_is_beyond_a_limit_is_told_with_both_numbers() -> None:
    limits_module.check(67_108_864, "file_bytes", "x", "bytes")
    with pytest.raises(UserError, match="67,108,865 bytes; at most 67,108,864"):
        limits_module.check(67_108_865, "file_bytes", "x", "bytes")


def test_a_line_that_is_too_long_is_named_also_where_it_is_read_in_several_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_json, "_BLOCK", 4)
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"1234567890\n12345678901\n1\n")
    with limited(line_bytes=11):
        bounded_json.check_lines(path)
    with limited(line_bytes=10), pytest.raises(UserError, match="line 2: more than 10 bytes"):
        bounded_json.check_lines(path)
