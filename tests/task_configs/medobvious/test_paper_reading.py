"""Replies read as the authors' scripts read them: what is right by them, and their mistakes on one set of replies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lmms_medtasks.grid_positions import parse_size
from lmms_medtasks.task_configs.medobvious import measures

CASES = json.loads((Path(__file__).parents[2] / "parsing/cases/medobvious_replies.json").read_text("utf-8"))
LETTERS = "ABCDEFGHIJ"


def question(form, gold, grid="2x2"):
    """A question whose right answer is ``gold``: a position, "none", "yes" or "no"."""
    places = [*parse_size(grid).positions, "none"]
    options = [*places[:-1], "None — all images are the same"] if form.endswith("mcq") else []
    visual = form == "visual_referring"
    return {
        "id": "q", "item": "i", "task_type": form, "grid": grid, "options": options, "negative": gold in ("none", "no"),
        "answer": LETTERS[places.index(gold)] if options else gold, "answer_position": "" if visual else gold,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("form", "grid", "gold", "reply", "open_weights", "hosted"),
    [
        ("detection_mcq", "2x2", "top-right", "B", True, True),
        ("detection_mcq", "2x2", "top-right", "(b)", True, True),
        ("detection_mcq", "2x2", "top-right", "A close look shows: answer B", False, True),
        ("detection_mcq", "3x3", "bottom-left", "G", False, True),
        ("detection_mcq", "3x3", "middle-center", "I like G", True, False),
        ("detection_mcq", "2x2", "none", "There are four scans.", True, False),
        ("detection_open", "2x2", "top-left", "Not the top-left but the bottom right.", True, True),
        ("detection_open", "2x2", "top-left", "Top — left", True, True),
        ("detection_open", "2x2", "none", "All the same", False, False),
        ("detection_open", "3x3", "middle-center", "the center", False, False),
        ("visual_referring", "2x2", "yes", "No doubt: yes", False, False),
        ("visual_referring", "2x2", "no", "There is no-one outlier", True, True),
    ],
)
def test_what_is_right_by_the_scripts(form, grid, gold, reply, open_weights, hosted):
    doc = question(form, gold, grid)
    assert measures.is_right_by_scripts(doc, reply) is open_weights
    assert measures.is_right_by_scripts(doc, reply, hosted=True) is hosted


def test_bare_letters_on_3x3_grids_reach_the_ceiling_of_tier_3():
    """A to E of ten right letters are read."""
    right = [question("detection_mcq", place, "3x3") for place in [*parse_size("3x3").positions, "none"]]
    read = [measures.is_right_by_scripts(doc, doc["answer"]) for doc in right]
    assert read == [True] * 5 + [False] * 5
    assert all(measures.is_right_by_scripts(doc, doc["answer"], hosted=True) for doc in right)


def test_both_numbers_are_of_one_reply():
    made = measures.grid_question_record(
        {**question("detection_mcq", "bottom-left", "3x3"), "tier": 3, "kind": "k"}, ["G"]
    )
    scores = {name: value.score for name, value in made.measures.items()}
    assert (scores["accuracy"], scores["accuracy_paper_rule"], scores["accuracy_paper_rule_hosted"]) == (1, 0, 1)
    failed = measures.grid_question_record({**question("detection_mcq", "bottom-left"), "tier": 1, "kind": "k"}, [None])
    assert {failed.measures[name].score for name in ("accuracy", "accuracy_paper_rule") if name in failed.measures} == {
        None
    }


def counted(hosted):
    """Replies called right that are wrong, and called wrong that are right, of those of the case file."""
    docs = [(question(each["format"], each["gold"], each["grid"]), each) for each in CASES]
    said = [(measures.is_right_by_scripts(doc, each["reply"], hosted=hosted), each["read"] == each["gold"])
            for doc, each in docs]  # fmt: skip
    return sum(found and not truth for found, truth in said), sum(truth and not found for found, truth in said)


def test_mistakes_of_the_scripts_on_the_set_of_replies():
    """Of 92 replies that are right and 29 that are not, in several languages."""
    assert len(CASES) == 121
    assert counted(hosted=False) == (6, 62)
    assert counted(hosted=True) == (6, 56)
