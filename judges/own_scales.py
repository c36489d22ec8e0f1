"""The scale of a custom judge protocol as a log holds it, with which a report reads verdicts without the protocol's
file.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmms_medtasks.errors import UserError
from lmms_medtasks.judges.protocol import JudgedItem, JudgeProtocol, ScoreDimension

PAPER_JUDGE = "none: this protocol is of no paper"  # The paper's judge of a protocol that is of no paper


def is_rubric(text: object) -> bool:
    """Whether a task's setting ``judge`` names a rubric's file."""
    return isinstance(text, str) and text.endswith((".yml", ".yaml"))


@dataclass(frozen=True)
class WeightedTotal:
    """The one number of a judgement: a weighted sum of the dimensions' numbers, over ``over``."""

    weights: tuple[tuple[str, float], ...]
    over: float = 1.0

    def __call__(self, numbers: Mapping[str, float]) -> float:
        return math.fsum(weight * numbers[name] for name, weight in self.weights) / self.over


@dataclass(frozen=True)
class CodedTotal:
    """The one number of a judgement whose function is not installed: only its range is known."""

    name: str
    reference: str
    ends: tuple[tuple[tuple[tuple[str, float], ...], float], ...]

    def __call__(self, numbers: Mapping[str, float]) -> float:
        """The number if all dimensions are at their worst, or all at their best; else a UserError."""
        for at, value in self.ends:
            if dict(at) == dict(numbers):
                return value
        raise UserError(
            f"The judge protocol {self.name!r} ({self.reference}) is not here, and its total is made by its code. Give "
            "its folder with --include_path, or install its package."
        )


def scale_of(protocol: JudgeProtocol) -> dict[str, Any]:
    """What a report must know of a protocol to read its verdicts, JSON-safe: the labels, and what is scored."""
    total = protocol.total
    scale: dict[str, Any] = {"labels": {dimension.name: dict(dimension.labels) for dimension in protocol.dimensions}}
    if isinstance(total, WeightedTotal):
        scale["score"] = {"weights": dict(total.weights), "over": total.over}
    elif isinstance(total, CodedTotal):
        scale["score"] = {"reference": total.reference, "range": [value for _, value in total.ends]}
    elif total is not None:
        scale["score"] = {
            "reference": hide_folder(protocol.reference),
            "range": [total(dict(at)) for at in _scale_ends(protocol.dimensions)],
        }
    return scale


def scale_metadata(protocol: JudgeProtocol) -> dict[str, Any]:
    """The scale of a custom protocol, for its log; {} for ours."""
    return {"scale": scale_of(protocol)} if protocol.reference else {}


def hide_folder(reference: str) -> str:
    """A reference as the YAML says it: without this machine's folder."""
    file, mark, name = reference.rpartition(":")
    if is_rubric(reference) or not file.endswith(".py"):
        return Path(reference).name if is_rubric(reference) else reference
    return f"{Path(file).name}{mark}{name}"


def _scale_ends(dimensions: Sequence[ScoreDimension]) -> tuple[tuple[tuple[str, float], ...], ...]:
    return tuple((each.name, each.worst) for each in dimensions), tuple((each.name, each.best) for each in dimensions)


def protocol_from_scale(name: str, scale: Mapping[str, Any]) -> JudgeProtocol:
    """A protocol with a scale as :func:`scale_of` wrote it, which can judge nothing; else a UserError."""
    return _protocol_from_json(name, json.dumps(scale, sort_keys=False))


@functools.cache
def _protocol_from_json(name: str, text: str) -> JudgeProtocol:
    scale = json.loads(text)
    try:
        dimensions = tuple(
            ScoreDimension(each, {str(label): float(number) for label, number in labels.items()})
            for each, labels in scale["labels"].items()
        )
        if not dimensions or any(len(dimension.labels) < 2 for dimension in dimensions):
            raise ValueError("a score has fewer than two labels")
        total: WeightedTotal | CodedTotal | None = None
        if (score := scale.get("score")) is not None:
            if "weights" in score:
                weights = tuple((label, float(weight)) for label, weight in score["weights"].items())
                total = WeightedTotal(weights, score["over"])
            else:
                ends = tuple(zip(_scale_ends(dimensions), map(float, score["range"]), strict=True))
                total = CodedTotal(name, str(score["reference"]), ends)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(
            f"The scale of the judge protocol {name!r} can't be read ({error!r:.80}). Was the log edited?"
        ) from None
    return JudgeProtocol(
        name=name,
        prompt="",
        version=1,
        dimensions=dimensions,
        fields=(),
        paper_judge=PAPER_JUDGE,
        item=functools.partial(_no_item, name),
        total=total,
        reference=name,
    )


def _no_item(name: str, doc: Mapping[str, Any], reply: str) -> JudgedItem | None:
    raise UserError(f"The judge protocol {name!r} is not here. Give its folder with --include-path.")
