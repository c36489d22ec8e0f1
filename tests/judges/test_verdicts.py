"""Verdicts are read as they must be, or they are missing with a reason."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.judges import prompts, verdicts
from lmms_medtasks.judges.protocol import JudgeProtocol, ScoreDimension

CASES = json.loads(Path(__file__).with_name("verdict_cases.json").read_text("utf-8"))
SCORE = ScoreDimension("score", {str(number): float(number) for number in range(1, 6)})
KIND = ScoreDimension("kind", {"Correct": 1.0, "Incorrect": 0.0, "Unclear": 0.5})


def protocol(*dimensions):
    return JudgeProtocol(
        name="t",
        prompt="t.txt",
        version=1,
        dimensions=dimensions,
        fields=("answer",),
        paper_judge="a judge",
        item=lambda doc, reply: None,
        reply="free",
    )


BOTH = protocol(SCORE, KIND)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["reply"][:50] + case.get("finish", ""))
def test_cases(case):
    found = verdicts.parse_verdict(BOTH, case["reply"], finish=case.get("finish", ""), refusal=case.get("refusal", ""))
    assert found.reply == (case["reply"] or case.get("refusal", ""))
    if "labels" in case:
        assert (found.status, found.labels, found.reason) == ("judged", case["labels"], "")
    else:
        assert (found.status, found.labels) == ("missing", {})
        assert found.reason.startswith(case["reason"]), found.reason
        assert found.reason.partition(":")[0] in verdicts.REASONS


@pytest.mark.parametrize("text", ['{"a":' * 5000, "{" * 5000, "}" * 50, '{"score": ' + "9" * 5000 + "}"])
def test_nothing_makes_it_stumble(text):
    assert verdicts.parse_verdict(BOTH, text).status == "missing"


def test_a_reply_beyond_all_measure():
    reply = "x" * verdicts.LONGEST_REPLY + "{}"
    assert verdicts.parse_verdict(BOTH, reply + ".").reason.startswith("no verdict: the reply has 100003 characters")


@given(st.text(max_size=200))
def test_any_text(text):
    found = verdicts.parse_verdict(BOTH, text)
    assert found.status == "missing" or set(found.labels) == {"score", "kind"}


@given(
    st.sampled_from(list(SCORE.labels)), st.sampled_from(list(KIND.labels)), st.text(alphabet="ab c.,\n", max_size=40)
)
def test_what_the_form_asks_for_is_read(score, kind, before):
    reply = before + json.dumps({"score": int(score), "kind": kind})
    assert verdicts.parse_verdict(BOTH, reply).labels == {"score": score, "kind": kind}


def test_half_points():
    half = protocol(ScoreDimension("score", {"0": 0.0, "0.5": 0.5, "1": 1.0}))
    for reply in ('{"score": 0.5}', '{"score": "0.5"}', '{"score": 5e-1}'):
        assert verdicts.parse_verdict(half, reply).labels == {"score": "0.5"}
    assert verdicts.make_verdict_schema(half)["properties"]["score"] == {"type": "number", "enum": [0, 0.5, 1]}


def test_schema_and_form():
    assert (
        prompts.describe_verdict_form(BOTH)
        == '{"score": <1, 2, 3, 4 or 5>, "kind": <"Correct", "Incorrect" or "Unclear">}'
    )
    assert verdicts.parse_verdict(BOTH, prompts.describe_verdict_form(BOTH)).status == "missing"
    assert prompts.describe_verdict_form(BOTH, "schema") == '{"reasons": <a text>, ' + prompts.describe_verdict_form(
        BOTH
    ).removeprefix("{")
    assert verdicts.make_verdict_schema(BOTH) == {
        "type": "object",
        "properties": {
            "reasons": {"type": "string"},
            "score": {"type": "integer", "enum": [1, 2, 3, 4, 5]},
            "kind": {"type": "string", "enum": ["Correct", "Incorrect", "Unclear"]},
        },
        "required": ["reasons", "score", "kind"],
        "additionalProperties": False,
    }


def test_by_schema_the_reasons_come_first_and_are_no_label():
    """A server fills a schema in its order: what stands behind the scores can't lead to them."""
    assert list(verdicts.make_verdict_schema(BOTH)["properties"]) == ["reasons", "score", "kind"]
    found = verdicts.parse_verdict(BOTH, '{"reasons": "a {b} \\"c\\"", "score": 4, "kind": "Correct"}', mode="schema")
    assert found.labels == {"score": "4", "kind": "Correct"}
    for reply, reason in (
        ('{"score": 4, "kind": "Correct"}', "dimension missing: reasons"),
        ('{"reasons": 1, "score": 4, "kind": "Correct"}', "label not allowed: reasons is '1'"),
    ):
        assert verdicts.parse_verdict(BOTH, reply, mode="schema").reason.startswith(reason)
    assert verdicts.parse_verdict(BOTH, found.reply).reason.startswith(
        "dimension not asked: 'reasons', asked: score, kind"
    )


@pytest.mark.parametrize("end", ["**", "\n```\n", "</s>", "<|im_end|>", "**\n<|eot_id|>", "<end_of_turn>\n"])
def test_marks_that_end_a_reply_cost_no_verdict(end):
    assert verdicts.parse_verdict(BOTH, '**{"score": 4, "kind": "Correct"}' + end).labels == {
        "score": "4",
        "kind": "Correct",
    }


@pytest.mark.parametrize("end", ["<|im_start|>user", " </s> or 5", "<b>", "."])
def test_words_after_a_verdict_still_do(end):
    found = verdicts.parse_verdict(BOTH, '{"score": 4, "kind": "Correct"}' + end)
    assert found.reason.startswith("text after the verdict")


@pytest.mark.parametrize("name", ["model_dump", "copy", "schema", "_hidden", "two words", "reasons?"])
def test_dimensions_of_any_name(name):
    odd = protocol(ScoreDimension(name, {"0": 0.0, "1": 1.0}))
    assert verdicts.parse_verdict(odd, json.dumps({name: 1})).labels == {name: "1"}
    assert list(verdicts.make_verdict_schema(odd)["properties"]) == ["reasons", name]
