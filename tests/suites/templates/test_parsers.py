"""A parser of someone's own reads as ours do, and each mistake of it is named with file, question and way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness.template_hooks.choice_scoring import make_choice_record
from lmms_medtasks.parsing.reply import ParsedAnswer
from lmms_medtasks.suites.templates import parsers
from lmms_medtasks.suites.templates.parsers import reads

DOC = {"id": "q1", "image_id": "i1", "question": "Which?", "options": ["left", "right"], "answer": "B"}
FREE = {"id": "q2", "image_id": "i2", "question": "Which?", "options": [], "answer": "Malignant "}
PARTS = '''
from lmms_medtasks.suites.templates.parsers import reads

def plain(reply, doc):
    """The first letter."""
    return reply[0] if reply[0] in "AB" else None

@reads("benign", "malignant")
def finding(reply, doc):
    return next((each for each in ("benign", "malignant") if each in reply.casefold()), None)

def free(reply, doc):
    return reply

def one_argument(reply):
    return reply

def raises(reply, doc):
    return doc["side"]

def number(reply, doc):
    return 1

def empty(reply, doc):
    return ""

TEXT = "a text"
'''


@pytest.fixture
def get(tmp_path: Path):
    (tmp_path / "parts.py").write_text(PARTS, "utf-8")
    return lambda name: parsers.get(f"parts.py:{name}", tmp_path)


def test_a_function_reads_letters_of_options(get):
    parser = get("plain")
    assert [parser.read(DOC, reply) for reply in ("B", "neither", "", None, "<think>A")] == [
        ParsedAnswer("ok", "B"),
        ParsedAnswer("unreadable"),
        ParsedAnswer("empty"),
        ParsedAnswer("failed"),
        ParsedAnswer("cut"),
    ]
    assert (parser.answers(DOC), parser.expected(DOC), parser.about) == (("A", "B"), "B", "The first letter.")


def test_a_function_says_which_answers_there_are_without_options(get):
    parser = get("finding")
    assert parser.read(FREE, "It is MALIGNANT.") == ParsedAnswer("ok", "malignant")
    assert (parser.answers(FREE), parser.expected(FREE)) == (("benign", "malignant"), "malignant")


@pytest.mark.parametrize(
    ("name", "doc", "accuracy", "chance"),
    [("plain", DOC, 1.0, 0.5), ("finding", FREE, 0.0, 0.5), ("free", FREE, 0.0, None)],
)
def test_records_have_accuracy_chance_and_identical_trials(get, tmp_path, name, doc, accuracy, chance):
    get(name)
    record = make_choice_record(doc, ["B", "B"], str(tmp_path / f"parts.py:{name}"))
    measures = {name: value.score for name, value in record.measures.items()}
    assert (measures["accuracy"], measures.get("chance"), measures["identical"]) == (accuracy, chance, 1.0)


@pytest.mark.parametrize(
    ("name", "doc", "said"),
    [
        (
            "raises",
            DOC,
            "parts.py: the parser 'raises' on question 'q1', reply 'B'.*KeyError: 'side', parts.py line 19",
        ),
        ("number", DOC, "returns 1 .int.. Expected a text, or None"),
        ("empty", DOC, "Return None for a reply without an answer"),
        ("free", {**DOC, "options": ["x"]}, "returns 'B', which is no answer. Allowed: A, or None"),
    ],
)
def test_a_mistake_at_a_reply_is_named(get, name, doc, said):
    with pytest.raises(UserError, match=said):
        get(name).read(doc, "B")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("one_argument", r"takes \(reply\), which \(reply, doc\) does not fit"),
        ("TEXT", "is no function .str.. Expected a function"),
        ("plan", "Did you mean 'plain'"),
    ],
)
def test_what_is_no_parser_is_refused(get, name, said):
    with pytest.raises(UserError, match=said):
        get(name)


def test_declared_answers_are_two_or_more_and_different():
    for answers in ((), ("yes",), ("yes", "Yes"), ("yes", "")):
        with pytest.raises(UserError, match="two or more different answers"):
            reads(*answers)
