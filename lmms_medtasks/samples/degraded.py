"""What a run records of a task that was asked on degraded pictures (``TASK@gaussian_noise.2``)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median_low
from typing import Any

MARK = "@"
"""Separates the base task's name from the degradation."""

ASKED = "degrade"
"""Key in the metadata of a task's own YAML: the requested degradation."""

METADATA = "degradation"
"""Key in the metadata of such a task: what was done, and to which task (``of``)."""

PICTURES = "degraded_pictures"
"""Key in a row of its sample log: a record for each picture of the question, with its digest as ``picture``."""

SCORES = "paired_scores"
"""Key in a row of the log of such a task, and of its clean one: the question's score by metric and filter, if there is
one for each question, in the unit of the reported value, which is their mean."""

FAILED = "failed"
"""Key in the ``degradation`` of a task's metadata: why it has no result, such as that no picture changed."""


_ALIKE = 1.25
"""Sizes, and shares of a length, that differ by less than this factor are alike. Our choice."""


def is_degraded_name(name: object) -> bool:
    return isinstance(name, str) and MARK in name


def find_base_task(task: str, config: Mapping[str, Any]) -> str | None:
    """The clean task of a degraded one; None for other tasks, and for tasks that their own YAML degrades."""
    base = _degradation_metadata(config).get("of")
    return base if isinstance(base, str) and base != task else None


def list_degraded_failures(content: Mapping[str, Any]) -> dict[str, str]:
    """Why degraded tasks of a result file have no result although the model was asked, by task."""
    reasons = {task: _degradation_metadata(config).get(FAILED) for task, config in content.get("configs", {}).items()}
    return {task: str(why) for task, why in reasons.items() if why}


def list_length_shares(pictures: Any) -> list[tuple[Mapping[str, Any], int, float]]:
    """Of logged ``pictures`` with a length in pixels: the picture's record, its shorter side, the length's share."""
    return [
        (picture, picture["shorter_side"], picture["length_share"])
        for picture in (pictures if isinstance(pictures, list) else ())
        if isinstance(picture, Mapping)
        and isinstance(picture.get("shorter_side"), int)
        and 0 < picture["shorter_side"] < 2**31  # a larger one, of an edited log, fits no column
        and isinstance(picture.get("length_share"), float)
    ]


def describe_length_spread(lengths: Iterable[tuple[str, int, float]]) -> str:
    """A sentence on the sizes of images where a degradation's length in pixels is another share of each; else "".

    ``lengths``: for each image the degradation and level, the shorter side, and the length's share of it.
    """
    by_label = defaultdict(list)
    for label, *length in lengths:
        by_label[label].append(length)
    spreads = {label: [(min(each), max(each)) for each in zip(*of, strict=True)] for label, of in by_label.items()}
    told = [
        f"{label} {100 * shares[0]:.3g} to {100 * shares[1]:.3g} %"
        for label, (sides, shares) in sorted(spreads.items())
        # Lengths that are drawn at random have several shares of one size too.
        if all(high >= _ALIKE * low for low, high in (sides, shares))
    ]
    if not told:
        return ""
    sides = [side for of in by_label.values() for side, _ in of]
    return (
        f"Image sizes: shorter sides {min(sides):,} to {max(sides):,} pixels, median {median_low(sides):,}. Lengths in "
        f"pixels are another share of each: {', '.join(told)}. So images of mixed sizes mix severities."
    )


def _degradation_metadata(config: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = config.get("metadata")  # a list in many of the harness's own tasks
    degradation = metadata.get(METADATA) if isinstance(metadata, Mapping) else None
    return degradation if isinstance(degradation, Mapping) else {}


def shared_image_units(pictures: Sequence[Sequence[str]]) -> list[str]:
    """The unit of each question, given what it shares (pictures, a cluster): questions linked by it are one unit."""
    first: dict[str, int] = {}
    root = list(range(len(pictures)))

    def find_root(number: int) -> int:
        while root[number] != number:
            root[number] = root[root[number]]
            number = root[number]
        return number

    for number, question_pictures in enumerate(pictures):
        for picture in question_pictures:
            root[find_root(number)] = find_root(first.setdefault(picture, number))
    return [str(find_root(number)) for number in range(len(pictures))]
