"""Runs of MedQ-Deg written by hand, in the form that the harness writes them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

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


def record(question: str, level: int, trials: str, questions: Mapping[str, tuple[Any, ...]]) -> dict[str, Any]:
    image, modality, capability, degradation, options, answer = questions[question]
    readings = [{"-": "unreadable", "!": "failed"}.get(letter, letter) for letter in trials]
    replies = [reading for reading in readings if reading != "failed"]
    found = {
        "id": question if level == 0 else f"{question}/{degradation}/L{level}",
        "question_id": question,
        "image_id": image,
        "modality": modality,
        "capability": capability,
        "degradation": degradation if level else "",
        "severity": level,
        "option_count": options,
        "answer": answer,
        "trials": readings,
    }
    return {**found, "score": replies.count(answer) / len(replies)} if replies else found


@pytest.fixture
def write_run(tmp_path: Path) -> Callable[..., Path]:
    """Writes a run, one task a level, and gives its folder; see :func:`_write` for what can be chosen."""

    def write(name: str = "run", **chosen: Any) -> Path:
        folder = tmp_path / name
        folder.mkdir(parents=True)
        _write(folder, **chosen)
        return folder

    return write


def _write(
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
    rows: dict[str, list[dict[str, Any]]] = {}
    for level in levels:
        task = stem if together else f"{stem}_l{level}"
        for question, letters in trials[level].items():
            found = record(question, level, letters, questions)
            metrics = {f"accuracy_l{each}": found if each == level else {} for each in range(3)}
            row = {**(metrics if together else {"accuracy": found}), "filtered_resps": list(letters)}
            rows.setdefault(task, []).append(row)
    settings = {"rendered": True} if "release" in stem else {}
    content = {
        "results": {task: {"accuracy,none": 0.5} for task in rows},
        "configs": {
            task: {"metadata": {"data": "full", **(metadata or {})}, "lmms_eval_specific_kwargs": settings}
            for task in rows
        },
        "n-samples": {
            task: {"original": original or len(found), "effective": len(found)} for task, found in rows.items()
        },
        "versions": {task: 1.0 for task in rows},
        "config": {"model": model, "model_args": arguments, "limit": 2.0 if original else None},
        "date": date,
    }
    (folder / f"{date}_results.json").write_text(json.dumps(content))
    for task, found in rows.items():
        text = "".join(json.dumps(row) + "\n" for row in found)
        (folder / f"{date}_samples_{task}.jsonl").write_text(text)
