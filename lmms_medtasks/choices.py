"""Multiple choice read by :func:`lmms_medtasks.parsing.option.read_option`: the record of a question, and its outcomes.

MedQ-Deg reads its replies by the rule of its paper (:mod:`lmms_medtasks.parsing.choice`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from typing import Any

from lmms_medtasks.parsing.option import read_option

# Pictures, and texts that stand in the log's input.
_NOT_TAGS = frozenset({"question", "options", "image", "images"})


def record_of(
    doc: Mapping[str, Any], results: Sequence[str | None], left_out: Set[str] = frozenset()
) -> dict[str, Any]:
    """The record of a question: id, tags, ``option_count``, ``trials`` (per reply the letter or what came instead),
    ``rules`` (what each was read from) and ``score``, the share of the replies that are right.

    ``left_out``: columns of long texts that don't go into it. A reply that is unreadable, ambiguous or a refusal is
    incorrect; a failed request counts for nothing, and without another reply there is no ``score``.
    """
    readings = [read_option(reply, doc["options"]) for reply in results]
    right = [reading.value == doc["answer"] for reading in readings if reading.status != "failed"]
    record = {
        **{key: value for key, value in doc.items() if key not in _NOT_TAGS | left_out},
        "option_count": len(doc["options"]),
        "trials": [reading.value or reading.status for reading in readings],
        "rules": [reading.rule for reading in readings],
    }
    return {**record, "score": sum(right) / len(right)} if right else record


def outcomes(record: Mapping[str, Any]) -> dict[str, Any]:
    """The values of the metrics that say what became of the replies."""
    trials = Counter("ok" if len(trial) == 1 else trial for trial in record["trials"])
    return {
        "parse_rate": {"parsed": trials["ok"], "replies": trials.total() - trials["failed"]},
        "refused": {"count": trials["refused"]},
        "ambiguous": {"count": trials["ambiguous"]},
        "failed_requests": {"failed": trials["failed"], "trials": trials.total()},
    }


def count(values: Sequence[Mapping[str, Any]]) -> int:
    """Aggregation: how many replies."""
    return sum(value["count"] for value in values)
