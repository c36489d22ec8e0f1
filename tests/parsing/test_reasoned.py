"""The two parts of an open reply."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.parsing.reasoned import ReasonedReply, read_reasoned, split_steps

CASES = json.loads((Path(__file__).parent / "cases" / "reasoned_replies.json").read_text("utf-8"))
LINE = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1).map(lambda text: f"x{text}")


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["reply"])[:50])
def test_case(case):
    expected = ReasonedReply(case["status"], case.get("reasoning", ""), case.get("answer", ""))
    assert read_reasoned(case["reply"]) == expected


@given(LINE, LINE)
def test_what_was_asked_for_is_read_back(reasoning, answer):
    assert read_reasoned(f"Reasoning: {reasoning}\nAnswer: {answer}") == ReasonedReply("both", reasoning, answer)


@given(
    st.text(alphabet="ab:\n* ") | st.lists(st.sampled_from(["\nReasoning:", "\nAnswer:", "\n", "a", ". "])).map("".join)
)
def test_nothing_is_lost(reply):
    parts = read_reasoned(reply)
    for letter in "ab":
        there = reply.replace("Reasoning:", "").replace("Answer:", "").count(letter)
        assert (parts.reasoning + parts.answer).count(letter) == there
    assert (parts.status == "empty") == (not parts.reasoning and not parts.answer)


@pytest.mark.parametrize(
    ("reply", "parts"),
    [
        ('{"reasoning": "dark", "answer": "cyst"}', ReasonedReply("both", "dark", "cyst")),
        ('```json\n{"final_answer": "cyst"}\n```', ReasonedReply("no_reasoning", "", "cyst")),
        ('{"reasoning": "dark", "answer": 3}', ReasonedReply("neither", "", '{"reasoning": "dark", "answer": 3}')),
        ("{x}", ReasonedReply("neither", "", "{x}")),
        ("<reasoning>dark</reasoning><answer>cyst</answer>", ReasonedReply("both", "dark", "cyst")),
        ("## Reasoning\ndark\n## Answer\ncyst", ReasonedReply("both", "dark", "cyst")),
        ("**Reasoning:** dark **Answer:** cyst", ReasonedReply("both", "dark", "cyst")),
    ],
)
def test_json_tags_headings_and_bold_labels(reply, parts):
    assert read_reasoned(reply) == parts


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("a fall\na gap\n\na fracture", ["a fall", "a gap", "a fracture"]),
        ("1. A fall.\n2) A gap.\n- So what.", ["A fall.", "A gap.", "So what."]),
        ("Step 1: a fall. Step 2: a gap.", ["a fall.", "a gap."]),
        ("(1) a fall (2) a gap of 2.5 mm", ["a fall", "a gap of 2.5 mm"]),
        ("①外伤②骨折", ["外伤", "骨折"]),
        ("fall → gap → fracture", ["fall", "gap", "fracture"]),
        ("He fell. There is a gap of 2.5 mm. It is a fracture.",
         ["He fell.", "There is a gap of 2.5 mm.", "It is a fracture."]),
        ("有外伤史。影像示骨折。", ["有外伤史。", "影像示骨折。"]),
        ("pain at rest", ["pain at rest"]),
        ("See e.g. the cortex", ["See e.g. the cortex"]),
        ("2.5 mm wide\n0.5 mm deep", ["2.5 mm wide", "0.5 mm deep"]),
        (" \n", []),
        ("1.\n2.", []),
    ],
)  # fmt: skip
def test_split(text, steps):
    assert split_steps(text) == steps
