"""The judge protocol of contributed open tasks: right, partly right or wrong, compared with the reference.

Scale and rules are ours. An answer that is the reference (case, white space and punctuation around it apart) is right
and one without a word is wrong, both without asking a judge.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lmms_medtasks.judges.protocol import Dimension, Item, Protocol

_AROUND = " .,;:!\"'`*"


def folded(text: str) -> str:
    """What of an answer counts when two are compared: no case, single spaces, no punctuation or marks around it.

    >>> folded(" **Yes.** "), folded("Left  lung"), folded("2.5 cm.")
    ('yes', 'left lung', '2.5 cm')
    """
    return " ".join(text.casefold().split()).strip(_AROUND)


CORRECTNESS = Dimension("correctness", {"0": 0.0, "0.5": 0.5, "1": 1.0})


def item(doc: Mapping[str, Any], reply: str) -> Item:
    """What the judge is shown of one reply."""
    return Item(str(doc["id"]), {"question": doc["question"], "reference": doc["answer"], "answer": reply.strip()})


def settle(judged: Item) -> tuple[Mapping[str, str], str] | None:
    """The verdict on an answer that needs no judge."""
    answer = folded(judged.fields["answer"])
    if not answer:
        return {CORRECTNESS.name: "0"}, "no answer"
    return ({CORRECTNESS.name: "1"}, "exact match") if answer == folded(judged.fields["reference"]) else None


PROTOCOL = Protocol(
    name="open_answer",
    prompt="open_answer.txt",
    version=2,
    dimensions=(CORRECTNESS,),
    fields=("question", "reference", "answer"),
    paper_judge="none: this protocol is of no paper",
    item=item,
    settle=settle,
    check="open_answer.yml",
    source="Ours.",
)
