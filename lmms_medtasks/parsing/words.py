"""The words of ``words.yml`` and ``*_words.yml`` as regular expressions: any word of a category, in all languages."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from lmms_medtasks.parsing.texts import CJK

# Languages that put no blanks between words, or write particles onto them.
_JOINED = re.compile(f"[{CJK}]")
_BETWEEN = re.compile(r"\s{2,}|\n")
# A word that says itself where it begins needs no boundary before it.
_SAYS_ITS_BEGINNING = "(?:^|"
_PLACEHOLDER = re.compile(r"\{([a-z_]+)(?::([a-z]+))?\}")


@functools.cache
def _read_words() -> Mapping[str, Any]:
    folder = Path(__file__).parent
    files = [folder / "words.yml", *sorted(folder.glob("*_words.yml"))]
    return {name: words for file in files for name, words in yaml.safe_load(file.read_text("utf-8")).items()}


@functools.cache
def any_of(category: str, *only: str) -> str:
    """A regular expression, without groups, for any word of a category, in the languages of ``only`` or in all.

    Longer words come first. Words of languages that put blanks between words begin and end where a word does; those
    of "all", which are signs, stand anywhere. Raises KeyError for a category that the files lack.
    """
    spaced: list[str] = []
    joined: list[str] = []
    for language, words in _read_words()[category].items():
        if not only or language in only:
            for word in _BETWEEN.split(words.strip()):
                (joined if language == "all" or _JOINED.search(word) else spaced).append(word)
    free = [word for word in spaced if word.startswith(_SAYS_ITS_BEGINNING)]
    bound = _longest_first(word for word in spaced if not word.startswith(_SAYS_ITS_BEGINNING))
    parts = [rf"(?<!\w)(?:{'|'.join(bound)})(?!\w)"] if bound else []
    return "(?:" + "|".join([*parts, *free, *_longest_first(joined)]) + ")"


@functools.cache
def word_pattern(category: str, *, before: str = "", after: str = "") -> re.Pattern[str]:
    """Any word of a category between two more regular expressions, compiled without regard to case."""
    return re.compile(f"{before}{any_of(category)}{after}", re.IGNORECASE)


def lazy_pattern(template: str, flags: int = 0) -> Callable[[], re.Pattern[str]]:
    """A function that compiles ``template`` when it is first called.

    ``{but}`` stands for any word of the category "but", ``{but:zh}`` for those of one language.
    """

    @functools.cache
    def compiled() -> re.Pattern[str]:
        return re.compile(_PLACEHOLDER.sub(lambda match: any_of(*filter(None, match.groups())), template), flags)

    return compiled


@functools.cache
def numbered_words(category: str) -> Mapping[int, str]:
    """Of a category that lists words by number: number -> a regular expression for any of its words."""
    return {int(number): any_of(category, number) for number in _read_words()[category]}


def _longest_first(words: Iterable[str]) -> list[str]:
    return sorted(dict.fromkeys(words), key=len, reverse=True)
