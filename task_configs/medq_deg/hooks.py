"""MedQ-Deg's questions at a level of severity, from the clean questions or from the release's own degraded images."""

from __future__ import annotations

import functools
from collections import Counter
from typing import TYPE_CHECKING

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness.hooks import RENDERED, TRIALS
from lmms_medtasks.task_configs.medq_deg.source import KEY_FIELDS, question_key

if TYPE_CHECKING:
    from datasets import Dataset

DRAWN_PER_QUESTION = 3
"""Degradations drawn for each question (section 3.3)."""


def level_0(dataset: Dataset) -> Dataset:
    """The clean questions."""
    return _start_trials(dataset.add_column("question_id", dataset["id"]))


def all_levels(dataset: Dataset) -> Dataset:
    """The clean questions and their degraded forms at L1 and L2, a question's seven forms together.

    So a prefix of the rows (``--limit``) has all levels of the first questions.
    """
    import datasets

    parts = [dataset.add_column("question_id", list(dataset["id"])), _at_level(dataset, 1), _at_level(dataset, 2)]
    # Concatenating requires one order of columns.
    together = datasets.concatenate_datasets([part.select_columns(parts[0].column_names) for part in parts])
    return _start_trials(_by_question(together, list(dataset["id"])))


def all_release_levels(dataset: Dataset) -> Dataset:
    """The clean questions and the release's own degraded forms of them, a question's forms together.

    The release does not say from which clean question a degraded row was made: they are joined by their texts
    (question, options, answer, modality, pool). Clean questions that agree in all of these are ambiguous; they and
    their degraded forms stay unpaired.
    """
    rows = list(dataset.select_columns(["id", "severity", *KEY_FIELDS]))
    keys = [question_key(*(row[field] for field in KEY_FIELDS)) for row in rows]
    clean = Counter(key for key, row in zip(keys, rows, strict=True) if row["severity"] == 0)
    ids = [key if clean[key] == 1 or row["severity"] else row["id"] for key, row in zip(keys, rows, strict=True)]
    order = dict.fromkeys(key for key, row in zip(ids, rows, strict=True) if row["severity"] == 0)
    # All levels need the same clusters, and the release's degraded rows can only be clustered by question.
    joined = dataset.remove_columns("image_id").add_column("question_id", ids).add_column("image_id", ids)
    return _start_trials(_by_question(joined, list(order)))


def _by_question(dataset: Dataset, questions: list[str]) -> Dataset:
    """Rows by question (those not among ``questions`` last), then by severity; an index, no copy."""
    index = {question: number for number, question in enumerate(questions)}
    forms = zip(dataset["question_id"], dataset["severity"], strict=True)
    keys = [(index.get(question, len(index)), severity) for question, severity in forms]
    return dataset.select(sorted(range(len(keys)), key=keys.__getitem__))


def _start_trials(dataset: Dataset) -> Dataset:
    ids = list(dataset["id"])
    TRIALS.reset(ids)
    RENDERED.reset(ids)
    return dataset


def _at_level(dataset: Dataset, severity: int) -> Dataset:
    """The questions once for each degradation drawn: first all with their first, then all with their second, …

    The tables are concatenated without copying images. A prefix of the rows (``--limit``) is a broad sample of
    questions rather than a few of them three times.
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


def _simulated_questions(dataset: Dataset, severity: int) -> Dataset:
    """Each clean question with each of its three degradations, the same at both levels."""
    return _start_trials(_at_level(dataset, severity))


def _released_questions(dataset: Dataset, severity: int) -> Dataset:
    rows = [row for row, level in enumerate(dataset["severity"]) if level == severity]
    if not rows:
        present = ", ".join(str(level) for level in sorted(set(dataset["severity"])))
        raise UserError(
            f"No question of severity {severity} in medtasks://medq_deg/release. Levels present: {present}."
        )
    return _start_trials(dataset.add_column("question_id", dataset["id"]).select(rows))


level_1, level_2 = (functools.partial(_simulated_questions, severity=level) for level in (1, 2))
release_level_1, release_level_2 = (functools.partial(_released_questions, severity=level) for level in (1, 2))
