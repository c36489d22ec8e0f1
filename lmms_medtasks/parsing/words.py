"""The words of ``words.yml`` as regular expressions: an alternation of a category's words in all its languages."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from lmms_medtasks.parsing.texts import CJK

# Languages that put no blanks between words, or write particles onto them.
_JOINED = re.compile(f"[{CJK}]")
_BETWEEN = re.compile(r"\s{2,}|\n")


@functools.cache
def _data() -> Mapping[str, Any]:
    found: Mapping[str, Any] = yaml.safe_load((Path(__file__).parent / "words.yml").read_text("utf-8"))
    return found


@functools.cache
def languages() -> Mapping[str, Mapping[str, Any]]:
    """Language code -> its ``name``, and whether it is ``tested`` on a measured set."""
    found: Mapping[str, Mapping[str, Any]] = _data()["languages"]
    return found


@functools.cache
def any_of(category: str, *only: str) -> str:
    """A regular expression, without groups, for any word of a category, in the languages of ``only`` or in all.

    Longer words come first. Words of languages that put blanks between words begin and end where a word does.
    """
    spaced: list[str] = []
    joined: list[str] = []
    for language, words in _data()[category].items():
        if only and language not in only:
            continue
        for word in _BETWEEN.split(words.strip()):
            (joined if language == "all" or _JOINED.search(word) else spaced).append(word)
    # A word that says itself where it begins ("(?:^|[.!?])...") needs no boundary before it.
    free = [word for word in spaced if word.startswith("(?:^|")]
    bound = _longest_first(word for word in spaced if not word.startswith("(?:^|"))
    parts = [rf"(?<!\w)(?:{'|'.join(bound)})(?!\w)"] if bound else []
    return "(?:" + "|".join([*parts, *free, *_longest_first(joined)]) + ")"


@functools.cache
def numbered(category: str) -> Mapping[str, str]:
    """Of a category that lists words by number: number -> a regular expression for any of its words."""
    return {number: any_of(category, number) for number in _data()[category]}


def _longest_first(words: Any) -> list[str]:
    return sorted(dict.fromkeys(words), key=len, reverse=True)
