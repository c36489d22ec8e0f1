"""Bones and Joints' judge protocols: answers, chains of reasoning, and contradictions between text and images.

From the paper: GPT-4o is given the model's answer and the experts', says Correct, Incorrect or Unclear, is asked three
times independently, and the mean of the three is the score; Task VIII is a success only if the contradiction was
identified, which people judged. Its prompts stand in an appendix that was not seen: these are our own words. What else
is ours:

* **Unclear scores 0**, as Incorrect does: the paper's score is an accuracy. How often it was said is a metric itself.
* **Steps.** Of a reasoning task the judge also says which steps of the experts' chain are in the answer. The chain is
  taken apart by :func:`lmms_medtasks.parsing.reasoned.split_steps`; the label says whether the reasoning as a whole is
  that of the experts.
* **Task VIII.** The judge does not see the images; it is told what part of the body they show. An answer that names
  the contradiction and then diagnoses from the text all the same is a success, as the paper's rule has it, under a
  label of its own. One that objects to something else (image quality, a missing view, a finding) is none.

An answer without a word is wrong without a judge; nothing else is settled by a rule.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lmms_medtasks.judges import checklists
from lmms_medtasks.judges.checklists import PointChecklist
from lmms_medtasks.judges.protocol import JudgedItem, JudgeProtocol, ScoreDimension
from lmms_medtasks.parsing.reasoned import split_steps
from lmms_medtasks.task_configs.bones_joints.source_forms import task_forms

PAPER_JUDGE = "GPT-4o"
TRIALS = 3

CORRECT, INCORRECT, UNCLEAR = "Correct", "Incorrect", "Unclear"
VERDICT = ScoreDimension("verdict", {CORRECT: 1.0, INCORRECT: 0.0, UNCLEAR: 0.0})

NAMED, WENT_ON, MISSED, OTHERWISE = "Named", "Named but went on", "Missed", "Objected to something else"
CONTRADICTION = ScoreDimension("verdict", {NAMED: 1.0, WENT_ON: 1.0, MISSED: 0.0, OTHERWISE: 0.0, UNCLEAR: 0.0})

STEPS = PointChecklist("steps_found", "reference")
NOT_KNOWN = "not known"
_FOLDER = Path(__file__).resolve().parent


def _judged_item(steps: bool, doc: Mapping[str, Any], reply: str) -> JudgedItem:
    reference = checklists.number_points(split_steps(doc["answer"])) if steps else doc["answer"]
    fields = {
        "question": doc["question"],
        "asked": task_forms()[doc["task"]].asked,
        "reference": reference,
        "answer": reply,
    }
    return JudgedItem(str(doc["id"]), fields)


def _inconsistency_item(doc: Mapping[str, Any], reply: str) -> JudgedItem:
    fields = {
        "question": doc["question"],
        "text_site": doc["site"] or NOT_KNOWN,
        "image_site": doc["image_site"] or NOT_KNOWN,
        "reference": doc["answer"],
        "answer": reply,
    }
    return JudgedItem(str(doc["id"]), fields)


def _settle_empty_answer(label: str, checklist: bool, item: JudgedItem) -> tuple[Mapping[str, str], str] | None:
    if item.fields["answer"]:
        return None
    ticked = {STEPS.name: ""} if checklist else {}
    return {VERDICT.name: label, **ticked}, "no answer"


_SOURCE = (
    "Bones and Joints, Methods, Automated Evaluation and Task VIII: labels, three trials, mean, rule of success. "
    "Prompts, Unclear as 0 and steps: ours."
)


def _make_protocol(
    kind: str,
    dimension: ScoreDimension,
    fields: tuple[str, ...],
    item: Callable[[Mapping[str, Any], str], JudgedItem],
    wrong: str,
    judge: str = PAPER_JUDGE,
    checklist: PointChecklist | None = None,
) -> JudgeProtocol:
    """A protocol; ``wrong``: the label of an answer without a word."""
    return JudgeProtocol(
        name=f"bones_joints_{kind}",
        prompt=str(_FOLDER / "prompts" / f"bones_joints_{kind}.txt"),
        version=2,
        dimensions=(dimension,),
        fields=fields,
        paper_judge=judge,
        item=item,
        settle=functools.partial(_settle_empty_answer, wrong, checklist is not None),
        checklist=checklist,
        trials=TRIALS,
        check=str(_FOLDER / "judge_checks" / f"bones_joints_{kind}.yml"),
        source=_SOURCE,
    )


_OF_ANSWERS = ("question", "asked", "reference", "answer")
ANSWER = _make_protocol("answer", VERDICT, _OF_ANSWERS, functools.partial(_judged_item, False), INCORRECT)
REASONING = _make_protocol(
    "reasoning", VERDICT, _OF_ANSWERS, functools.partial(_judged_item, True), INCORRECT, checklist=STEPS
)
INCONSISTENCY = _make_protocol(
    "inconsistency",
    CONTRADICTION,
    ("question", "text_site", "image_site", "reference", "answer"),
    _inconsistency_item,
    MISSED,
    "human experts",
)
PROTOCOLS = (ANSWER, REASONING, INCONSISTENCY)
