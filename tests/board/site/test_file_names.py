"""File names, titles and slugs of names that others chose: harmless, and no two alike."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.board.entries import EntryModel
from lmms_medtasks.board.site import file_names

HARMLESS = set("abcdefghijklmnopqrstuvwxyz0123456789-_")
NAMES = st.lists(st.text("aA0 -_./<|é", max_size=50), unique=True, max_size=6)


def test_file_names_are_harmless_and_distinct() -> None:
    found = file_names.model_slugs(
        [EntryModel("../../etc/passwd", "a", ""), EntryModel("<b>", "a", ""), EntryModel("x/<b>", "a", "")]
    )
    assert len(set(found.values())) == 3
    assert all(not set(each) - HARMLESS for each in found.values())
    assert file_names.file_name("a-b_c") == "a-b_c" and "/" not in file_names.file_name("../x")
    assert len(file_names.file_name("a" * 250)) < 80


def test_two_models_of_one_short_digest_have_pages_of_their_own() -> None:
    """These were found in a second; the second page ended the build of the whole board."""
    pair = [EntryModel("evil/model", "medtasks_random", arguments) for arguments in ("x=23164", "x=59160")]
    assert len({file_names.text_digest(model.key) for model in pair}) == 1
    assert len(set(file_names.model_slugs(pair).values())) == len(set(file_names.model_titles(pair).values())) == 2


def test_models_of_one_name_are_told_apart() -> None:
    same = [
        EntryModel("m", "hf", "1"),
        EntryModel("m", "hf", "2"),
        EntryModel("m", "vllm", ""),
        EntryModel("other", "hf", ""),
    ]
    titles = file_names.model_titles(same)
    assert len(set(titles.values())) == 4
    assert titles[same[3].key] == "other" and titles[same[2].key] == "m (vllm)"


@given(NAMES)
def test_names_that_differ_have_harmless_file_names_that_differ(names: list[str]) -> None:
    keys = [file_names.file_name(name) for name in names]
    assert len(set(keys)) == len(keys) and all(re.fullmatch("[A-Za-z0-9_-]*", each) for each in keys)


@given(
    st.lists(
        st.builds(EntryModel, st.text("aA/_ ", max_size=5), st.sampled_from(["hf", "vllm"]), st.sampled_from("12")),
        unique=True,
        max_size=8,
    )
)
def test_models_that_differ_have_titles_and_pages_that_differ(models: list[EntryModel]) -> None:
    for found in (file_names.model_titles(models), file_names.model_slugs(models)):
        assert list(found) == [model.key for model in models] and len(set(found.values())) == len(models)
    # A model's page stays where it is when another one joins the board.
    assert [file_names.model_slugs([model])[model.key] for model in models] == list(
        file_names.model_slugs(models).values()
    )


@pytest.mark.parametrize(
    ("text", "slug"),
    [("Qwen2-VL 7B", "qwen2-vl-7b"), ("../../etc/passwd", "etc-passwd"), ("", "x"), ("é<>", "x"), ("--a__", "a"),
     ("a" * 50, "a" * 40), ("a" * 39 + " b", "a" * 39)],
)  # fmt: skip
def test_a_slug_has_lower_case_letters_digits_and_dashes(text: str, slug: str) -> None:
    assert file_names.slugify(text) == slug


def test_paths_are_shown_as_seen_from_the_folders_of_the_board() -> None:
    roots = (Path("/srv/runs"), Path("/srv/runs/deep"))
    text = "/srv/runs/deep/a.json and /srv/runs/b.json, not /srv/other/c.json"
    assert file_names.without_roots(text, roots) == "a.json and b.json, not /srv/other/c.json"
