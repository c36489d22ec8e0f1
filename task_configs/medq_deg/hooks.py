"""MedQ-Deg's questions at a level of severity, from the clean questions or from the release's own degraded images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmms_medtasks.errors import UserError
from lmms_medtasks.hooks import RENDERED, TRIALS

if TYPE_CHECKING:
    from datasets import Dataset

DRAWN_PER_QUESTION = 3
"""Degradations drawn for each question (section 3.3)."""


def level_0(dataset: Dataset) -> Dataset:
    """The clean questions as they are."""
    return _start(dataset.add_column("question_id", dataset["id"]))


def level_1(dataset: Dataset) -> Dataset:
    """Each clean question with each of its three degradations, at L1."""
    return _start(_at_level(dataset, 1))


def level_2(dataset: Dataset) -> Dataset:
    """Each clean question with the same three degradations, at L2."""
    return _start(_at_level(dataset, 2))


def release_level_1(dataset: Dataset) -> Dataset:
    """The release's own images at L1."""
    return _start(_released(dataset, 1))


def release_level_2(dataset: Dataset) -> Dataset:
    """The release's own images at L2."""
    return _start(_released(dataset, 2))


def _start(dataset: Dataset) -> Dataset:
    ids = list(dataset["id"])
    TRIALS.reset(ids)
    RENDERED.reset(ids)
    return dataset


def _at_level(dataset: Dataset, severity: int) -> Dataset:
    """The questions once for each degradation drawn: first all with their first, then all with their second, …

    The tables are concatenated, not copied: the images stay once on disk and in memory. A prefix of the rows
    (``--limit``) is a broad sample of questions rather than a few of them three times.
    """
    import datasets

    from lmms_medtasks import degradations

    ids = dataset["id"]
    drawn = [
        degradations.draw_for_question(modality, question, count=DRAWN_PER_QUESTION)
        for modality, question in zip(dataset["modality"], ids, strict=True)
    ]
    bare = dataset.remove_columns(["id", "degradation", "severity"])
    parts = []
    for number in range(DRAWN_PER_QUESTION):
        rows = [row for row, names in enumerate(drawn) if number < len(names)]
        names = [names[number] if number < len(names) else "" for names in drawn]
        part = (
            bare.add_column("id", [f"{question}/{name}/L{severity}" for question, name in zip(ids, names, strict=True)])
            .add_column("question_id", ids)
            .add_column("degradation", names)
            .add_column("severity", [severity] * len(names))
        )
        parts.append(part if len(rows) == len(names) else part.select(rows))
    return datasets.concatenate_datasets(parts)


def _released(dataset: Dataset, severity: int) -> Dataset:
    rows = [row for row, level in enumerate(dataset["severity"]) if level == severity]
    if not rows:
        present = ", ".join(str(level) for level in sorted(set(dataset["severity"])))
        raise UserError(
            f"No question of severity {severity} in medtasks://medq_deg/release. Levels present: {present}."
        )
    return dataset.add_column("question_id", dataset["id"]).select(rows)
