"""Checklists: points in a field, ticked in a verdict, validated against their numbering."""

from __future__ import annotations

import dataclasses
import json

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.judges import checklists, judging, lexical, prompts, registry, verdicts
from lmms_medtasks.judges.checklists import PointChecklist
from lmms_medtasks.judges.protocol import JudgedItem, JudgeProtocol, ScoreDimension
from lmms_medtasks.task_configs.bones_joints.judging import REASONING

KIND = ScoreDimension("kind", {"Correct": 1.0, "Incorrect": 0.0})
PROTOCOL = JudgeProtocol(
    name="test", prompt=REASONING.prompt, version=1, dimensions=(KIND,),
    fields=("question", "asked", "reference", "answer"), paper_judge="", item=lambda doc, reply: None,
    checklist=PointChecklist("steps", "reference"), reply="free",
)  # fmt: skip
ITEM = JudgedItem(
    "q", {"question": "?", "asked": "why", "reference": "1. a fall\n2. a gap\n3. a fracture", "answer": "x"}
)


@pytest.mark.parametrize(
    ("text", "count"),
    [("1. a\n2. b", 2), ("", 0), ("no number", 0), ("1. a\n3. c", 1), ("2. b", 0), ("1. a 2. b", 1)],
)
def test_points_are_numbered_lines(text, count):
    assert PointChecklist("steps", "r").count({"r": text}) == count


def test_numbering_and_labels():
    assert checklists.number_points(["a\nb", " c "]) == "1. a b\n2. c"
    assert checklists.join_point_numbers([3, 1]) == "1, 3"
    assert checklists.join_point_numbers([]) == ""
    assert PROTOCOL.checklist.share({"steps": "1, 3"}, ITEM.fields) == pytest.approx(2 / 3)
    assert PROTOCOL.checklist.share({"steps": ""}, {"reference": "nothing"}) is None


@pytest.mark.parametrize(("value", "label"), [([], ""), ([2], "2"), ([3, 1], "1, 3"), ([1, 2, 3], "1, 2, 3")])
def test_a_verdict_with_points(value, label):
    found = verdicts.parse_verdict(PROTOCOL, json.dumps({"kind": "Correct", "steps": value}), item=ITEM)
    assert found.status == "judged" and found.labels == {"kind": "Correct", "steps": label}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([4], "expected numbers from 1 to 3"), ([0], "expected numbers from 1 to 3"), ([1, 1], "given twice"),
        (["1"], "whole numbers"), ("1, 3", "whole numbers"), ([True], "whole numbers"), ([1.5], "whole numbers"),
        (None, "whole numbers"),
    ],
)  # fmt: skip
def test_points_that_are_not_there_make_no_verdict(value, said):
    found = verdicts.parse_verdict(PROTOCOL, json.dumps({"kind": "Correct", "steps": value}), item=ITEM)
    assert found.status == "missing" and found.reason.startswith("points not there") and said in found.reason


def test_without_the_key_there_is_no_verdict_and_others_are_not_asked():
    assert "dimension missing: steps" in verdicts.parse_verdict(PROTOCOL, '{"kind": "Correct"}', item=ITEM).reason
    bare = dataclasses.replace(PROTOCOL, checklist=None)
    assert "not asked" in verdicts.parse_verdict(bare, '{"kind": "Correct", "steps": [1]}', item=ITEM).reason
    assert (
        verdicts.parse_verdict(PROTOCOL, '{"kind": "Correct", "steps": [9]}').status == "judged"
    )  # nothing to hold it against


def test_the_judge_is_asked_for_them():
    """In the order of the prompt: reasons, the points that were found, what follows from them."""
    assert prompts.describe_verdict_form(PROTOCOL).startswith(
        '{"steps": [<numbers of the points, nothing if none>], "kind": <'
    )
    assert verdicts.make_verdict_schema(PROTOCOL)["properties"]["steps"] == {
        "type": "array",
        "items": {"type": "integer"},
    }
    assert (
        list(verdicts.make_verdict_schema(PROTOCOL)["properties"]) == verdicts.make_verdict_schema(PROTOCOL)["required"]
    )
    assert verdicts.make_verdict_schema(PROTOCOL)["required"] == ["reasons", "steps", "kind"]
    assert verdicts.parse_verdict(PROTOCOL, prompts.describe_verdict_form(PROTOCOL), item=ITEM).status == "missing"
    assert prompts.prompt_digest(PROTOCOL) != prompts.prompt_digest(dataclasses.replace(PROTOCOL, checklist=None))


def test_a_rule_must_settle_them_too():
    settled = dataclasses.replace(PROTOCOL, settle=lambda item: ({"kind": "Incorrect", "steps": ""}, "empty"))
    assert judging.settle_by_rule(settled, ITEM).labels == {"kind": "Incorrect", "steps": ""}
    with pytest.raises(UserError, match="one for each of .'kind', 'steps'."):
        judging.settle_by_rule(
            dataclasses.replace(PROTOCOL, settle=lambda item: ({"kind": "Incorrect"}, "empty")), ITEM
        )


def test_the_lexical_judge_ticks_by_words():
    item = JudgedItem("q", {**ITEM.fields, "answer": "There was a gap, so it is a fracture of bone."})
    assert lexical.lexical_verdict(PROTOCOL, item).labels["steps"] == "2, 3"


@pytest.mark.parametrize("checklist", [PointChecklist("kind", "reference"), PointChecklist("steps", "nowhere")])
def test_a_checklist_that_fits_no_protocol(checklist):
    with pytest.raises(UserError, match="checklist"):
        registry.check_protocol(dataclasses.replace(PROTOCOL, checklist=checklist))
