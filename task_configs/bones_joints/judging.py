"""Bones and Joints' judge protocols: answers, chains of reasoning, and contradictions between text and images.

From the paper: GPT-4o gets the model's answer and the experts' and replies Correct, Incorrect or Unclear, three times
independently; the score is the mean of the three. Task VIII, judged by people, is a success only if the contradiction
was identified. The prompts are in an appendix that was not seen: these are in our words. Also ours:

* **Unclear scores 0**, as Incorrect does: the paper's score is an accuracy. The rate of Unclear is a metric.
* **Steps.** For a reasoning task the judge also lists the steps of the experts' chain
  (:func:`lmms_medtasks.parsing.reasoned.split_steps`) that the answer has; the label is about the whole reasoning.
* **Task VIII.** The judge does not see the images; it is told what part of the body they show. An answer that names
  the contradiction and still diagnoses from the text is a success, by the paper's rule, with a label of its own. An
  answer that objects to something else (image quality, a missing view, a finding) is not.

An empty answer is wrong without a judge. No other rule settles an answer.
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


def _answer_item(doc: Mapping[str, Any], reply: str) -> JudgedItem:
    fields = {"question": doc["question"], "asked": task_forms()[doc["task"]].asked}
    return JudgedItem(str(doc["id"]), {**fields, "reference": doc["answer"], "answer": reply})


def _reasoning_item(doc: Mapping[str, Any], reply: str) -> JudgedItem:
    return _answer_item({**doc, "answer": checklists.number_points(split_steps(doc["answer"]))}, reply)


def _inconsistency_item(doc: Mapping[str, Any], reply: str) -> JudgedItem:
    fields = {
        "question": doc["question"],
        "text_site": doc["site"] or NOT_KNOWN,
        "image_site": doc["image_site"] or NOT_KNOWN,
        "reference": doc["answer"],
        "answer": reply,
    }
    return JudgedItem(str(doc["id"]), fields)


def _settle_empty_answer(labels: Mapping[str, str], item: JudgedItem) -> tuple[Mapping[str, str], str] | None:
    return None if item.fields["answer"] else (labels, "no answer")


def _make_protocol(
    kind: str,
    item: Callable[[Mapping[str, Any], str], JudgedItem],
    *,
    dimension: ScoreDimension = VERDICT,
    fields: tuple[str, ...] = ("question", "asked", "reference", "answer"),
    wrong: str = INCORRECT,
    judge: str = PAPER_JUDGE,
    checklist: PointChecklist | None = None,
) -> JudgeProtocol:
    """A protocol; ``wrong``: the label of an empty answer."""
    labels = {VERDICT.name: wrong, **({checklist.name: ""} if checklist else {})}
    return JudgeProtocol(
        name=f"bones_joints_{kind}",
        prompt=str(_FOLDER / "prompts" / f"bones_joints_{kind}.txt"),
        version=2,
        dimensions=(dimension,),
        fields=fields,
        paper_judge=judge,
        item=item,
        settle=functools.partial(_settle_empty_answer, labels),
        checklist=checklist,
        trials=TRIALS,
        check=str(_FOLDER / "judge_checks" / f"bones_joints_{kind}.yml"),
        source="Bones and Joints, Methods, Automated Evaluation and Task VIII: labels, three trials, mean, rule of "
        "success. Prompts, Unclear as 0 and steps: ours.",
    )


ANSWER = _make_protocol("answer", _answer_item)
REASONING = _make_protocol("reasoning", _reasoning_item, checklist=STEPS)
INCONSISTENCY = _make_protocol(
    "inconsistency",
    _inconsistency_item,
    dimension=CONTRADICTION,
    fields=("question", "text_site", "image_site", "reference", "answer"),
    wrong=MISSED,
    judge="human experts",
)
PROTOCOLS = (ANSWER, REASONING, INCONSISTENCY)
