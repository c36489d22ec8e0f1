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
    ("text", "old", "new"),
    [
        (WORDS, "option_word", "# A comment.\noption_word"),
        (WORDS, "  en: option  choice\n  de: Antwort", "  de: Antwort\n  en: option  choice"),
        (WORDS, "option  choice", "|-\n    option\n    choice"),
        (WORDS, "tested: true", "tested: false"),
        (MARKS, "Llama 2", "Llama 3"),
    ],
)
def test_what_no_reader_reads_is_no_change(text, old, new):
    assert digest_of_words(text.replace(old, new)) == digest_of_words(text) != digest_of_words("")


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (WORDS, "choice", "choice  letter"),
        (WORDS, "option  choice", "option choice"),
        (WORDS, "  de: Antwort", ""),
        (WORDS, "option_word", "kind"),
        (MARKS, "</s>", "<end>"),
    ],
)
def test_another_word_is_a_change(text, old, new):
    assert digest_of_words(text.replace(old, new)) != digest_of_words(text)


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
