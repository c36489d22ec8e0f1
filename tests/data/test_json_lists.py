"""A long JSON list is read in pieces: the same as the json module reads it whole."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.data import json_lists
from lmms_medtasks.errors import UserError

VALUES = st.dictionaries(
    st.text(max_size=5), st.one_of(st.text(max_size=40), st.integers(), st.lists(st.text(), max_size=2))
)


@given(st.lists(VALUES, max_size=6), st.integers(1, 17), st.sampled_from([None, 2]))
def test_any_list_in_pieces_of_any_size(tmp_path_factory, rows, size, indent):
    path = tmp_path_factory.mktemp("lists") / "list.json"
    path.write_text(json.dumps(rows, indent=indent), "utf-8")
    before, json_lists.CHUNK = json_lists.CHUNK, size
    try:
        assert list(json_lists.records(path)) == rows
    finally:
        json_lists.CHUNK = before


@pytest.mark.parametrize("content", ["", "{}", "[{}", "[{} {}]", "[{},", '[{}, {"a": ]', "[" + "[" * 100_000])
def test_anything_else_is_refused(tmp_path, content):
    path = tmp_path / "list.json"
    path.write_text(content, "utf-8")
    with pytest.raises(UserError, match=r"list\.json"):
        list(json_lists.records(path))


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "list.json"
    path.write_bytes(b"[\xff]")
    with pytest.raises(UserError, match="not UTF-8"):
        list(json_lists.records(path))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UserError, match="cannot be read"):
        list(json_lists.records(tmp_path / "none.json"))
