"""Marks of thoughts that a user gives: read, or refused in one message."""

import importlib.util
import json
from pathlib import Path

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.samples.run_options import HARNESS_TAGS, parse_given_tags

PONDER = '[["<ponder>", "</ponder>"]]'


@pytest.mark.parametrize(
    ("value", "tags"),
    [
        (None, ()), (False, ()), ("none", ()), ("", ()), ("null", ()),
        (json.dumps(HARNESS_TAGS), ()),
        (PONDER, (("<ponder>", "</ponder>"),)),
        ([["<a>", "</a>"], ["<b>", "</b>"]], (("<a>", "</a>"), ("<b>", "</b>"))),
    ],
)  # fmt: skip
def test_tags_of_an_option_and_a_yaml(value, tags):
    assert parse_given_tags(value, "where") == tags


@pytest.mark.parametrize("value", ["<ponder>", '["<a>", "</a>"]', '[["<a>"]]', '[["", "</a>"]]', "{}x", 7, [["a", 1]]])
def test_what_is_no_pair_of_marks_is_one_message(value):
    with pytest.raises(UserError, match=r"^--reasoning_tags.*Give a list of pairs") as caught:
        parse_given_tags(value, "--reasoning_tags")
    assert "\n" not in str(caught.value)


def test_the_harnesss_own_tags_are_those_that_we_take_for_none():
    folder = importlib.util.find_spec("lmms_eval").submodule_search_locations[0]
    source = (Path(folder) / "__main__.py").read_text("utf-8")
    assert f"default='{json.dumps(HARNESS_TAGS)}'" in source
