"""Runs of MedQ-Deg written by hand, in the form that the harness writes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lmms_medtasks.task_configs.medq_deg import measures
from tests.made_up_runs import write_files

# question: image, modality, capability, degradation, options, right answer
QUESTIONS = {
    "q1": ("image a", "CT", "Counting", "gaussian_noise", 4, "A"),
    "q2": ("image b", "MRI", "Disease Diagnosis", "motion_blur", 2, "B"),
}
# Trials by level and question; "-" could not be read.
TRIALS = {
    0: {"q1": "AA", "q2": "BA"},
    1: {"q1": "AB", "q2": "AA"},
    2: {"q1": "BB", "q2": "A-"},
}


REPLIES = {"-": "no idea", "!": "[LMMS_EVAL_REQUEST_FAILED after 1 retries] boom"}


def record(question: str, level: int, trials: str, questions: Mapping[str, tuple[Any, ...]]) -> dict[str, Any]:
    image, modality, capability, degradation, options, answer = questions[question]
    doc = {
        "id": question if level == 0 else f"{question}/{degradation}/L{level}",
        "question_id": question,
        "image_id": image,
        "data": "full",
        "modality": modality,
        "capability": capability,
        "degradation": degradation if level else "",
        "severity": level,
        "options": [f"option {number}" for number in range(options)],
        "answer": answer,
    }
    return measures.choice_question_record(doc, [REPLIES.get(letter, letter) for letter in trials]).to_json()


def write(
    folder: Path,
    *,
    trials: Mapping[int, Mapping[str, str]] = TRIALS,
    questions: Mapping[str, tuple[Any, ...]] = QUESTIONS,
    levels: Iterable[int] = (0, 1, 2),
    model: str = "some_model",
    arguments: str = "",
    original: int | None = None,
    metadata: Mapping[str, Any] | None = None,
    stem: str = "medq_deg",
    together: bool = False,
    date: str = "20260101_000000",
) -> None:
    """Write a run into ``folder``, one task a level, or one of all levels (``together``)."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for level in levels:
        task = stem if together else f"{stem}_l{level}"
        for question, letters in trials[level].items():
            found = record(question, level, letters, questions)
            rows.setdefault(task, []).append({"questions": found, "filtered_resps": list(letters)})
    settings = {"rendered": True} if "release" in stem else {}
    config = {"metadata": {"data": "full", **(metadata or {})}, "lmms_eval_specific_kwargs": settings}
    write_files(
        folder,
        rows,
        dict.fromkeys(rows, config),
        original=original,
        date=date,
        config={"model": model, "model_args": arguments, "limit": 2.0 if original else None},
    )
