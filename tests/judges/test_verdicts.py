"""Verdicts are read as they must be, or they are missing with a reason."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.judges import prompts, verdicts
from lmms_medtasks.judges.protocol import Dimension, Protocol

CASES = json.loads(Path(__file__).with_name("verdict_cases.json").read_text("utf-8"))
SCORE = Dimension("score", {str(number): float(number) for number in range(1, 6)})
KIND = Dimension("kind", {"Correct": 1.0, "Incorrect": 0.0, "Unclear": 0.5})


def protocol(*dimensions):
    return Protocol("t", "t.txt", 1, dimensions, ("answer",), "a judge", lambda doc, reply: None)


BOTH = protocol(SCORE, KIND)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["reply"][:50] + case.get("finish", ""))
def test_cases(case):
    found = verdicts.read(BOTH, case["reply"], finish=case.get("finish", ""), refusal=case.get("refusal", ""))
    assert found.reply == (case["reply"] or case.get("refusal", ""))
    if "labels" in case:
        assert (found.status, found.labels, found.reason) == ("judged", case["labels"], "")
    else:
        assert (found.status, found.labels) == ("missing", {})
        assert found.reason.startswith(case["reason"]), found.reason
        assert found.reason.partition(":")[0] in verdicts.REASONS


@pytest.mark.parametrize("text", ['{"a":' * 5000, "{" * 5000, "}" * 50, '{"score": ' + "9" * 5000 + "}"])
def test_nothing_makes_it_stumble(text):
    assert verdicts.read(BOTH, text).status == "missing"


def test_a_reply_beyond_all_measure():
    reply = " " * verdicts.LONGEST_REPLY + "{}"
    assert verdicts.read(BOTH, reply + ".").reason.startswith("no verdict: the reply has 100003 characters")


@given(st.text(max_size=200))
def test_any_text(text):
    found = verdicts.read(BOTH, text)
    assert found.status == "missing" or set(found.labels) == {"score", "kind"}


@given(
    st.sampled_from(list(SCORE.labels)), st.sampled_from(list(KIND.labels)), st.text(alphabet="ab c.,\n", max_size=40)
)
def test_what_the_form_asks_for_is_read(score, kind, before):
    reply = before + json.dumps({"score": int(score), "kind": kind})
    assert verdicts.read(BOTH, reply).labels == {"score": score, "kind": kind}


def test_half_points():
    half = protocol(Dimension("score", {"0": 0.0, "0.5": 0.5, "1": 1.0}))
    for reply in ('{"score": 0.5}', '{"score": "0.5"}', '{"score": 5e-1}'):
        assert verdicts.read(half, reply).labels == {"score": "0.5"}
    assert prompts.schema(half)["properties"]["score"] == {"type": "number", "enum": [0, 0.5, 1]}


def test_schema_and_form():
    assert prompts.form(BOTH) == '{"score": <1, 2, 3, 4 or 5>, "kind": <"Correct", "Incorrect" or "Unclear">}'
    assert verdicts.read(BOTH, prompts.form(BOTH)).status == "missing"
    assert prompts.schema(BOTH) == {
        "type": "object",
        "properties": {
            "score": {"type": "integer", "enum": [1, 2, 3, 4, 5]},
            "kind": {"type": "string", "enum": ["Correct", "Incorrect", "Unclear"]},
        },
        "required": ["score", "kind"],
        "additionalProperties": False,
    }
