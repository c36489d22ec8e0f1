"""The judge protocol of contributed open tasks: right, partly right or wrong, compared with the reference.

Scale and rules are ours. An answer equal to the reference (:func:`fold_answer`) is right and one without a word is
wrong; neither is judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lmms_medtasks.judges.own_scales import PAPER_JUDGE
from lmms_medtasks.judges.protocol import JudgedItem, JudgeProtocol, ScoreDimension

_AROUND = " .,;:!\"'`*"


def fold_answer(text: str) -> str:
    """An answer for comparison: no case, single spaces, no punctuation around it (" **Yes.** " is "yes")."""
    return " ".join(text.casefold().split()).strip(_AROUND)


CORRECTNESS = ScoreDimension("correctness", {"0": 0.0, "0.5": 0.5, "1": 1.0})


def make_open_item(doc: Mapping[str, Any], reply: str) -> JudgedItem:
    return JudgedItem(
        str(doc["id"]), {"question": doc["question"], "reference": doc["answer"], "answer": reply.strip()}
    )


def settle_open_answer(judged: JudgedItem) -> tuple[Mapping[str, str], str] | None:
    answer = fold_answer(judged.fields["answer"])
    if not answer:
        return {CORRECTNESS.name: "0"}, "no answer"
    return ({CORRECTNESS.name: "1"}, "exact match") if answer == fold_answer(judged.fields["reference"]) else None


PROTOCOL = JudgeProtocol(
    name="open_answer",
    prompt="open_answer.txt",
    version=2,
    dimensions=(CORRECTNESS,),
    fields=("question", "reference", "answer"),
    paper_judge=PAPER_JUDGE,
    item=make_open_item,
    settle=settle_open_answer,
    check="open_answer.yml",
    source="Ours.",
)
