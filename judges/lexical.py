"""A judge that is no language model: how many words answer and reference share. For smoke tests only.

It maps token F1 (as in SQuAD's evaluation: lower case, no punctuation, no articles) onto each dimension's scale.
Clinically it means nothing: "no effusion" and "effusion" share most of their words.
"""

from __future__ import annotations

import re
from collections import Counter

from lmms_medtasks.errors import UserError
from lmms_medtasks.judges import checklists
from lmms_medtasks.judges.protocol import JudgedItem, JudgeProtocol, JudgeVerdict, ScoreDimension

_WORD = re.compile(r"\w+")
_ARTICLES = {"a", "an", "the"}


def check_lexical_fields(protocol: JudgeProtocol) -> None:
    if missing := {"answer", "reference"} - set(protocol.fields):
        raise UserError(
            f"The lexical judge compares the fields 'answer' and 'reference'; protocol {protocol.name!r} has no "
            f"{' and no '.join(map(repr, sorted(missing)))}. Name another judge in MEDTASKS_JUDGE."
        )


def lexical_verdict(protocol: JudgeProtocol, item: JudgedItem) -> JudgeVerdict:
    """The label of each dimension that is nearest to token F1 on its scale (of two as near the lower one)."""
    share = token_f1(item.fields["answer"], item.fields["reference"])
    labels = {dimension.name: _nearest_label(dimension, share) for dimension in protocol.dimensions}
    if protocol.checklist:
        labels[protocol.checklist.name] = checklists.join_point_numbers(_tick_points(protocol.checklist, item))
    return JudgeVerdict("judged", labels, reason="lexical: not a language model", reply=f"token F1 {share:.4f}")


def token_f1(answer: str, reference: str) -> float:
    """F1 of the two texts' words as multisets, from 0 to 1; 1 if both have none, 0 if one has none."""
    one, other = (
        Counter(word for word in _WORD.findall(text.lower()) if word not in _ARTICLES) for text in (answer, reference)
    )
    if not one or not other:
        return float(one == other)
    common = (one & other).total()
    return 2 * common / (one.total() + other.total())


def _tick_points(checklist: checklists.PointChecklist, item: JudgedItem) -> list[int]:
    answer_words = set(_WORD.findall(item.fields["answer"].lower()))
    numbers = []
    for number in range(1, checklist.count(item.fields) + 1):
        line = next(each for each in item.fields[checklist.field].splitlines() if each.startswith(f"{number}. "))
        words = [word for word in _WORD.findall(line.lower())[1:] if word not in _ARTICLES]
        if words and 2 * sum(word in answer_words for word in words) >= len(words):
            numbers.append(number)
    return numbers


def _nearest_label(dimension: ScoreDimension, share: float) -> str:
    target = dimension.worst + share * (dimension.best - dimension.worst)
    return min(dimension.labels, key=lambda label: (abs(dimension.labels[label] - target), dimension.labels[label]))
