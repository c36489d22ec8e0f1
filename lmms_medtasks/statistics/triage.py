"""Metrics of MedObvious: false alarms, abstentions, gaps between formats, and whether answers agree with each other.

A record here has ``item``, ``task_type`` (one of :data:`FORMATS`), ``negative`` (0 or 1), ``answer_position`` (where
the outlier is, "none" without one), ``trials`` (what was read from each reply: a position or "none", "yes" or "no",
else the status of a reply that could not be read) and, unless all its requests failed, ``score``.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from lmms_medtasks.statistics.accuracy import accuracy

Record = Mapping[str, Any]

FORMATS = ("detection_mcq", "detection_open", "referring_mcq", "referring_open", "visual_referring")
"""The paper's tasks A to E (Table 2)."""

FAMILIES = ("detection", "referring")
"""What is asked both as multiple choice and openly."""

VISUAL = "visual_referring"
NONE = "none"
UNREAD = ("ambiguous", "refused", "unreadable", "truncated")
"""Outcomes of a reply from which no answer was read."""

FAILED = "failed"


def claims_outlier(trial: str) -> bool:
    """Whether a read answer says that there is an outlier: a position, or "yes" for a highlighted panel."""
    return trial not in (NONE, "no", FAILED, *UNREAD)


def false_alarm(record: Record) -> float | None:
    """Share of a negative question's replies that claim an outlier; None for a positive one, or without a reply.

    A reply that could not be read is wrong, but no alarm.
    """
    replies = _replies(record)
    if not record["negative"] or not replies:
        return None
    return sum(map(claims_outlier, replies)) / len(replies)


def abstention(record: Record) -> float | None:
    """Share of a positive question's replies that name no outlier; None for a negative one, or without a reply.

    That is: "none", "no" for the highlighted panel, a refusal, and a reply without an answer (also one whose reasoning
    was cut off). A reply with several candidates (ambiguous) and a wrong position are errors of another kind.
    """
    replies = _replies(record)
    if record["negative"] or not replies:
        return None
    silent = (NONE, "no", "refused", "unreadable", "truncated")
    return sum(trial in silent for trial in replies) / len(replies)


def _replies(record: Record) -> list[str]:
    return [trial for trial in record["trials"] if trial != FAILED]


def seven_columns(records: Sequence[Record]) -> dict[str, float | None]:
    """Table 2's seven accuracies: the five formats over both signs, then "positive" and "negative" over all formats."""
    columns = {name: [record for record in records if record["task_type"] == name] for name in FORMATS}
    columns["positive"] = [record for record in records if not record["negative"]]
    columns["negative"] = [record for record in records if record["negative"]]
    return {name: accuracy(part) for name, part in columns.items()}


def paper_average(records: Sequence[Record]) -> float | None:
    """The paper's "Avg": the plain mean of :func:`seven_columns`. None unless all seven have a value.

    It is no accuracy: a detection question counts in two columns (its format and its sign) and so do all others, but
    the formats differ in size, so that each question weighs differently.
    """
    return mean_of_columns(seven_columns(records).values())


def mean_of_columns(columns: Iterable[float | None]) -> float | None:
    """The plain mean; None if a column has no value, or there is none."""
    values = list(columns)
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known and len(known) == len(values) else None


def format_gap(records: Sequence[Record], family: str) -> float | None:
    """Accuracy of the multiple-choice format of ``family`` less that of its open format, over the same grids.

    Only pairs count in which both questions of an item and sign have a score. Positive: options help.
    """
    scores: dict[tuple[str, int], dict[str, float]] = defaultdict(dict)
    for record in records:
        if record["task_type"].startswith(f"{family}_") and "score" in record:
            scores[record["item"], record["negative"]][record["task_type"].removeprefix(f"{family}_")] = record["score"]
    gaps = [pair["mcq"] - pair["open"] for pair in scores.values() if len(pair) == 2]
    return math.fsum(gaps) / len(gaps) if gaps else None


class Agreement(NamedTuple):
    """Whether the answers about one side of an item (its positive or negative grids) agree; None: not to be said."""

    item: str
    negative: int
    agrees: bool | None


def agreements(records: Sequence[Record]) -> list[Agreement]:
    """For each item and sign whether its answers in all formats agree with each other, right or wrong.

    Positive side (up to five questions about one grid): the detection and referring questions name the same place
    ("none" is one), and the highlighted panel, which is the outlier's, is called the outlier exactly if that place is
    named.

    Negative side (up to three questions): the two detection questions name the same place, and the highlighted panel is
    called an outlier exactly if they claim one. In the release the highlighted grid is another consistent grid than
    that of detection: what must agree is the verdict that there is none.

    A reply that could not be read agrees with nothing. A side with fewer than two questions, with a failed request, or
    with a highlighted panel whose place is not known has no value.
    """
    sides: dict[tuple[str, int], list[Record]] = defaultdict(list)
    for record in records:
        sides[record["item"], record["negative"]].append(record)
    return [
        Agreement(item, sign, _agree(side)) for (item, sign), side in sorted(sides.items(), key=lambda each: each[0])
    ]


def _agree(side: Sequence[Record]) -> bool | None:
    # Of several trials the first counts: a consistency of trials would be another question.
    trials = [(record["task_type"], record["trials"][0], record["answer_position"]) for record in side]
    if len(trials) < 2 or any(trial == FAILED for _, trial, _ in trials):
        return None
    if any(trial in UNREAD for _, trial, _ in trials):
        return False
    places = {trial for task_type, trial, _ in trials if task_type != VISUAL}
    shown = [(trial, place) for task_type, trial, place in trials if task_type == VISUAL]
    if len(places) > 1 or len({trial for trial, _ in shown}) > 1:
        return False
    if not places or not shown:
        return True
    (named,), (said, place) = places, shown[0]
    if side[0]["negative"]:
        return (named != NONE) == (said == "yes")
    return None if not place else (named == place) == (said == "yes")


def consistency(records: Sequence[Record], negative: int | None = None) -> float | None:
    """Share of the sides (see :func:`agreements`) whose answers agree; of items with all their sides if ``negative`` is
    None: an item is consistent if each of its sides is. None without any that can be said."""
    found = agreements(records)
    if negative is None:
        items: dict[str, list[bool | None]] = defaultdict(list)
        for each in found:
            items[each.item].append(each.agrees)
        known = [all(sides) for sides in items.values() if None not in sides]
    else:
        known = [each.agrees for each in found if each.negative == negative and each.agrees is not None]
    return sum(known) / len(known) if known else None


class Expected(NamedTuple):
    """Accuracies to be expected; None where there is no such question."""

    positive: float | None
    negative: float | None
    overall: float | None


def chance(record: Record) -> float:
    """Probability that a uniform guess is right: 1/2 for a highlighted panel, else one of all positions and "none"."""
    if record["task_type"] == VISUAL:
        return 1 / 2
    rows, _, columns = record["grid"].partition("x")
    return 1 / (int(rows) * int(columns) + 1)


def expected_accuracy(documents: Sequence[Record]) -> Expected:
    """What uniform guessing gets on these (``task_type``, ``grid``, ``negative``): means of :func:`chance`."""
    signs = [[chance(each) for each in documents if each["negative"] == sign] for sign in (0, 1)]
    means = [math.fsum(part) / len(part) if part else None for part in (*signs, signs[0] + signs[1])]
    return Expected(*means)
