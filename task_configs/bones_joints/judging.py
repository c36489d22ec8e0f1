"""Bones and Joints' judge protocols: answers, chains of reasoning, and contradictions between text and images.

From the paper: GPT-4o is given the model's answer and the experts', says Correct, Incorrect or Unclear, is asked three
times independently, and the mean of the three is the score; Task VIII is a success only if the contradiction was
identified, which people judged. Its prompts stand in an appendix that was not seen: these are our own words. What else
is ours:

* **Unclear scores 0**, as Incorrect does: the paper's score is an accuracy. How often it was said is a metric itself.
* **Steps.** Of a reasoning task the judge also says which steps of the experts' chain are in the answer. The chain is
  taken apart by :func:`lmms_medtasks.parsing.steps.split_steps`; the label says whether the reasoning as a whole is
  that of the experts.
* **Task VIII.** The judge does not see the images; it is told what part of the body they show. An answer that names
  the contradiction and then diagnoses from the text all the same is a success, as the paper's rule has it, under a
  label of its own. One that objects to something else (image quality, a missing view, a finding) is none.

An answer without a word is wrong without a judge; nothing else is settled by a rule.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lmms_medtasks.judges import checklists
from lmms_medtasks.judges.checklists import Checklist
from lmms_medtasks.judges.protocol import Dimension, Item, Protocol
from lmms_medtasks.parsing.steps import split_steps
from lmms_medtasks.task_configs.bones_joints.forms import forms

PAPER_JUDGE = "GPT-4o"
TRIALS = 3

CORRECT, INCORRECT, UNCLEAR = "Correct", "Incorrect", "Unclear"
VERDICT = Dimension("verdict", {CORRECT: 1.0, INCORRECT: 0.0, UNCLEAR: 0.0})

NAMED, WENT_ON, MISSED, OTHERWISE = "Named", "Named but went on", "Missed", "Objected to something else"
CONTRADICTION = Dimension("verdict", {NAMED: 1.0, WENT_ON: 1.0, MISSED: 0.0, OTHERWISE: 0.0, UNCLEAR: 0.0})

STEPS = Checklist("steps_found", "reference")
NOT_KNOWN = "not known"
_PROMPTS = Path(__file__).resolve().parent / "prompts"
_CHECKS = Path(__file__).resolve().parent / "judge_checks"


def _item(steps: bool, doc: Mapping[str, Any], reply: str) -> Item:
    reference = checklists.numbered(split_steps(doc["answer"])) if steps else doc["answer"]
    fields = {
        "question": doc["question"],
        "asked": forms()[doc["task"]].asked,
        "reference": reference,
        "answer": reply,
    }
    return Item(str(doc["id"]), fields)


def _inconsistency_item(doc: Mapping[str, Any], reply: str) -> Item:
    fields = {
        "question": doc["question"],
        "text_site": doc["site"] or NOT_KNOWN,
        "image_site": doc["image_site"] or NOT_KNOWN,
        "reference": doc["answer"],
        "answer": reply,
    }
    return Item(str(doc["id"]), fields)


def _settle(label: str, checklist: bool, item: Item) -> tuple[Mapping[str, str], str] | None:
    if item.fields["answer"]:
        return None
    ticked = {STEPS.name: ""} if checklist else {}
    return {VERDICT.name: label, **ticked}, "no answer"


_SOURCE = (
    "Bones and Joints, Methods, Automated Evaluation and Task VIII: labels, three trials, mean, rule of success. "
    "Prompts, Unclear as 0 and steps: ours."
)

ANSWER = Protocol(
    name="bones_joints_answer",
    prompt=str(_PROMPTS / "bones_joints_answer.txt"),
    version=2,
    dimensions=(VERDICT,),
    fields=("question", "asked", "reference", "answer"),
    paper_judge=PAPER_JUDGE,
    item=functools.partial(_item, False),
    settle=functools.partial(_settle, INCORRECT, False),
    trials=TRIALS,
    check=str(_CHECKS / "bones_joints_answer.yml"),
    source=_SOURCE,
)

REASONING = Protocol(
    name="bones_joints_reasoning",
    prompt=str(_PROMPTS / "bones_joints_reasoning.txt"),
    version=2,
    dimensions=(VERDICT,),
    fields=("question", "asked", "reference", "answer"),
    paper_judge=PAPER_JUDGE,
    item=functools.partial(_item, True),
    settle=functools.partial(_settle, INCORRECT, True),
    checklist=STEPS,
    trials=TRIALS,
    check=str(_CHECKS / "bones_joints_reasoning.yml"),
    source=_SOURCE,
)

INCONSISTENCY = Protocol(
    name="bones_joints_inconsistency",
    prompt=str(_PROMPTS / "bones_joints_inconsistency.txt"),
    version=2,
    dimensions=(CONTRADICTION,),
    fields=("question", "text_site", "image_site", "reference", "answer"),
    paper_judge="human experts",
    item=_inconsistency_item,
    settle=functools.partial(_settle, MISSED, False),
    trials=TRIALS,
    check=str(_CHECKS / "bones_joints_inconsistency.yml"),
    source=_SOURCE,
)

PROTOCOLS = (ANSWER, REASONING, INCONSISTENCY)
