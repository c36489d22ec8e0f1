"""When a golden record notices that words of the readers changed."""

import sys
from pathlib import Path

import pytest
import yaml

from lmms_medtasks.board import installed
from lmms_medtasks.parsing import words
from tools import golden_records
from tools.golden_records import UNUSED_WORDS, digest_of_words

PARSING = Path(words.__file__).parent
WORDS = "languages:\n  en: {tested: true}\noption_word:\n  en: option  choice\n  de: Antwort\n"
MARKS = 'ends: [{mark: "</s>", source: Llama 2}]\n'


@pytest.mark.parametrize(
    ("text", "old", "new", "is_change"),
    [
        (WORDS, "option_word", "# A comment.\noption_word", False),
        (WORDS, "  en: option  choice\n  de: Antwort", "  de: Antwort\n  en: option  choice", False),
        (WORDS, "option  choice", "|-\n    option\n    choice", False),
        (WORDS, "tested: true", "tested: false", False),
        (MARKS, "Llama 2", "Llama 3", False),
        (WORDS, "choice", "choice  letter", True),
        (WORDS, "option  choice", "option choice", True),
        (WORDS, "  de: Antwort", "", True),
        (WORDS, "option_word", "kind", True),
        (MARKS, "</s>", "<end>", True),
    ],
)
def test_another_word_is_a_change_and_what_no_reader_reads_is_none(text, old, new, is_change):
    assert (digest_of_words(text.replace(old, new)) != digest_of_words(text)) == is_change


def forget_patterns():
    for module in [each for name, each in sys.modules.items() if name.startswith("lmms_medtasks.parsing.")]:
        for each in vars(module).values():
            getattr(each, "cache_clear", lambda: None)()


@pytest.mark.parametrize(("suite", "is_judged"), UNUSED_WORDS)
def test_readers_use_no_word_that_the_table_calls_unused(suite, is_judged, monkeypatch):
    unused = {
        name
        for file in UNUSED_WORDS[suite, is_judged]
        for name in yaml.safe_load((PARSING / f"{file}.yml").read_text("utf-8"))
    }
    left = {name: each for name, each in words._read_words().items() if name not in unused}
    definitions, tasks = golden_records.TaskDefinitions(), {}
    for task in installed.installed_tasks():
        known = installed.find_installed_task(task)
        if (known.suite, known.is_judged) == (suite, is_judged):
            # Where no judge scores, all tasks of a suite have one reader.
            tasks.setdefault(repr(definitions.get_definition(task)["process_results"]) if is_judged else "", task)
    assert unused and tasks
    forget_patterns()
    with monkeypatch.context() as patched:
        patched.setattr(words, "_read_words", lambda: left)
        for task in tasks.values():  # a word that is not left is a KeyError
            golden_records.record_of(task, definitions)
