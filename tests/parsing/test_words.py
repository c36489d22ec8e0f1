"""The words as data: each is a regular expression of its own, without groups, of a known language."""

import re
from pathlib import Path

import pytest
import yaml

from lmms_medtasks.parsing import words

FOLDER = Path(words.__file__).parent
FILES = [FOLDER / "words.yml", *sorted(FOLDER.glob("*_words.yml"))]
CATEGORIES = {file.name: yaml.safe_load(file.read_text("utf-8")) for file in FILES}
WORDS = [
    (name, language, word)
    for categories in CATEGORIES.values()
    for name, languages in categories.items()
    if name != "languages"
    for language, text in languages.items()
    for word in re.split(r"\s{2,}|\n", text.strip())
]


def test_each_word_compiles_and_captures_nothing():
    assert len(WORDS) > 1500
    bad = [each for each in WORDS if not each[2] or re.compile(each[2]).groups]
    assert not bad


def test_no_word_matches_nothing():
    # It would make its whole category match everywhere.
    assert not [each for each in WORDS if re.compile(each[2]).fullmatch("")]


def test_no_word_stands_twice_in_a_language():
    assert len(set(WORDS)) == len(WORDS)


def test_each_category_is_in_one_file_and_compiles():
    names = [name for categories in CATEGORIES.values() for name in categories]
    assert len(names) == len(set(names))
    for name in set(names) - {"languages"}:
        assert re.compile(words.any_of(name)).groups == 0


def test_each_category_is_used():
    source = "".join(path.read_text("utf-8") for path in FOLDER.glob("*.py"))
    grid = {name for name in CATEGORIES["grid_words.yml"] if name.startswith("grid_")}  # their names are put together
    bounds = {"or_more", "or_less", "languages"}
    used = set(re.findall(r"""["'{]([a-z_]+)["'}:]""", source))
    unused = {name for categories in CATEGORIES.values() for name in categories} - grid - bounds - used
    assert not unused


def test_languages_are_known_and_five_are_tested():
    languages = CATEGORIES["words.yml"]["languages"]
    used = {language for _, language, _ in WORDS if not language.isdigit()}
    assert used - {"all"} == set(languages)
    assert {code for code, facts in languages.items() if facts["tested"]} == {"en", "zh", "es", "fr", "de"}


def test_words_end_where_words_do_and_chinese_ones_anywhere():
    no = re.compile(words.any_of("no"))
    assert no.search("say no.") and not no.search("nodule") and not no.search("casino")
    assert re.search(words.any_of("is"), "答案是B")


def test_the_longest_word_comes_first():
    assert re.match(words.any_of("that_is"), "that is to say B")[0] == "that is to say"


def test_only_the_languages_that_are_asked_for():
    german = re.compile(words.any_of("yes", "de"))
    assert german.fullmatch("ja") and not german.fullmatch("yes")


def test_word_pattern_stands_between_two_patterns_in_any_case():
    pattern = words.word_pattern("reason", before=r"^\s+", after=r"\s+it")
    assert pattern.search(" BECAUSE it") and not pattern.search("because it")


def test_numbered_counts_options():
    assert sorted(words.numbered_words("nth")) == [1, 2, 3, 4, 5]
    assert re.fullmatch(words.numbered_words("nth")[2], "zweite")


@pytest.mark.parametrize("read", [words.any_of, words.word_pattern, words.numbered_words])
def test_an_unknown_category_is_a_mistake(read):
    with pytest.raises(KeyError, match="colours"):
        read("colours")
