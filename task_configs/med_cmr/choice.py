"""Med-CMR's multiple-choice questions: reading, scoring, and the metrics of the harness's table.

The record of a question stands once in the sample log, under ``accuracy``; other metrics get what they need of it.
"""

from __future__ import annotations

import functools
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lmms_medtasks import choices
from lmms_medtasks.data.med_cmr_dimensions import dimensions

if TYPE_CHECKING:
    from datasets import Dataset

Document = Mapping[str, Any]
Value = Mapping[str, Any]

_LONG = {"visual_description"}


def process_results(doc: Document, results: Sequence[str | None]) -> dict[str, Any]:
    """Score the replies to a question. An unreadable, ambiguous or refusing reply is incorrect; a failed request has no
    score."""
    record = choices.record_of(doc, results, _LONG)
    scored: dict[str, Any] = {}
    if "score" in record:
        scored = {key: record[key] for key in ("id", "image_id", "score")}
    sides: dict[str, Value] = {f"{side}_mean": {} for side in ("visual", "reasoning")}
    by_dimension: dict[str, Value] = {f"accuracy_{each.short.lower()}": {} for each in dimensions()}
    if scored:
        own = next(each for each in dimensions() if each.short == record["dimension"])
        by_dimension[f"accuracy_{own.short.lower()}"] = scored
        # Not called a score: the harness would give the standard error of another mean, that over questions.
        sides[f"{own.side}_mean"] = {"dimension": own.short, "correct": record["score"]}
    return {"accuracy": record, **by_dimension, **sides, **choices.outcomes(record)}


def dimension_mean(values: Sequence[Value]) -> float | None:
    """Aggregation: the mean over dimensions of their accuracies. Those without a scored question are left out."""
    by_dimension: defaultdict[str, list[float]] = defaultdict(list)
    for value in values:
        if value:
            by_dimension[value["dimension"]].append(value["correct"])
    means = [math.fsum(scores) / len(scores) for scores in by_dimension.values()]
    return math.fsum(means) / len(means) if means else None


# --- each question once for each rotation of its options -------------------------------------------------------------
def rotations(dataset: Dataset) -> Dataset:
    """Each question with K options K times: rotation r begins with option r. A question's K forms follow each other,
    so that a prefix of the rows (``--limit``) has whole questions, the last one apart.

    New columns: ``question_id`` and ``rotation`` (0 to K - 1; 0 is the question as it is). The tables are concatenated
    and selected from, not copied: images stay once on disk and in memory.
    """
    import datasets

    ids, options, answers = list(dataset["id"]), list(dataset["options"]), list(dataset["answer"])
    counts = [len(each) for each in options]
    bare = dataset.remove_columns(["id", "options", "answer"])
    parts = []
    for rotation in range(max(counts, default=0)):
        turned = [rotated(each, answer, rotation) for each, answer in zip(options, answers, strict=True)]
        parts.append(
            bare.add_column("id", [f"{name}/r{rotation}" for name in ids])
            .add_column("question_id", ids)
            .add_column("rotation", [rotation] * len(ids))
            .add_column("options", [each for each, _ in turned])
            .add_column("answer", [answer for _, answer in turned])
        )
    rows = [rotation * len(ids) + row for row, number in enumerate(counts) for rotation in range(number)]
    return datasets.concatenate_datasets(parts).select(rows) if parts else dataset


def rotated(options: Sequence[str], answer: str, rotation: int) -> tuple[list[str], str]:
    """The options beginning with number ``rotation`` (from 0, around the end), and the right one's letter there.

    >>> rotated(["cyst", "stone", "scar"], "A", 1)
    (['stone', 'scar', 'cyst'], 'C')
    """
    start = rotation % len(options)
    place = (ord(answer) - ord("A") - start) % len(options)
    return [*options[start:], *options[:start]], chr(ord("A") + place)


def process_results_circular(doc: Document, results: Sequence[str | None]) -> dict[str, Any]:
    """Score the replies to one rotation of a question."""
    record = choices.record_of(doc, results, _LONG)
    known = {key: record[key] for key in ("question_id", "rotation", "option_count")}
    picked = {"answer": record["answer"], "picks": [trial for trial in record["trials"] if len(trial) == 1]}
    # `right` rather than `score`: the harness's standard error would be that of rotations, not of questions.
    turned = {**known, "right": record.get("score")}
    return {
        "accuracy": record,
        **dict.fromkeys(("circular_accuracy", "incomplete_questions"), turned),
        **dict.fromkeys(("position_bias", *(f"excess_{letter}" for letter in "abcde")), picked),
        **choices.outcomes(record),
    }


def _whole(values: Sequence[Value]) -> list[list[float]]:
    """The scores of each question that has a reply to all its rotations."""
    found: defaultdict[str, dict[int, float]] = defaultdict(dict)
    wanted = {}
    for value in values:
        wanted[value["question_id"]] = value["option_count"]
        if value["right"] is not None:
            found[value["question_id"]][value["rotation"]] = value["right"]
    return [list(found[name].values()) for name, number in wanted.items() if len(found[name]) == number]


def circular_accuracy(values: Sequence[Value]) -> float | None:
    """Aggregation: share of the questions that are right under every rotation; those that lack a reply to a rotation (a
    failed request, ``--limit``) are left out, see :func:`incomplete_questions`. None if no question is whole."""
    whole = _whole(values)
    return sum(all(score == 1 for score in scores) for scores in whole) / len(whole) if whole else None


def incomplete_questions(values: Sequence[Value]) -> int:
    """Aggregation: number of questions that lack a reply to a rotation."""
    return len({value["question_id"] for value in values}) - len(_whole(values))


def position_bias(values: Sequence[Value]) -> float | None:
    """Aggregation: how far the letters picked are from the right ones, as total variation distance.

    Half the sum over letters of the difference between a letter's share among the readable picks and its share as the
    right answer: 0 for a model that picks each letter as often as it is right, 1 - 1/K for one that always picks the
    same of K. None without a readable pick. As every option stands at every place once, preferring a letter is no
    knowledge.
    """
    picked, right = _shares(values)
    return sum(abs(picked[letter] - right[letter]) for letter in picked.keys() | right.keys()) / 2 if picked else None


def _shares(values: Sequence[Value]) -> tuple[Counter[str], Counter[str]]:
    picks = Counter(letter for value in values for letter in value["picks"])
    # Only of questions with a pick, so that an unreadable reply moves neither side.
    rights = Counter(value["answer"] for value in values for _ in value["picks"])
    total = picks.total()
    return tuple(Counter({key: n / total for key, n in each.items()}) for each in (picks, rights))  # type: ignore[return-value]


def _excess(values: Sequence[Value], letter: str) -> float | None:
    """Aggregation: a letter's share among the readable picks less its share as the right answer."""
    picked, right = _shares(values)
    return picked[letter] - right[letter] if picked else None


excess_a, excess_b, excess_c, excess_d, excess_e = (functools.partial(_excess, letter=letter) for letter in "ABCDE")
