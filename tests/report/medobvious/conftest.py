"""Runs of MedObvious written by hand, in the form that the harness writes them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

POSITIVE = ("detection_mcq", "detection_open", "referring_mcq", "referring_open", "visual_referring")
NEGATIVE = ("detection_mcq", "detection_open", "visual_referring")
# item: tier, grid, outlier's place, what the model said of the positives and of the negatives
ITEMS: dict[str, tuple[int, str, str, tuple[str, ...], tuple[str, ...]]] = {
    "v1_a_0": (1, "2x2", "top-left", ("top-left", "top-left", "top-left", "top-left", "yes"), ("none", "none", "no")),
    "v3_b_1": (3, "3x3", "top-center",
               ("none", "top-center", "top-left", "refused", "no"), ("top-left", "ambiguous", "yes")),
}  # fmt: skip


def records(items: Mapping[str, Any] = ITEMS) -> list[dict[str, Any]]:
    found = []
    for item, (tier, grid, place, *said) in items.items():
        for negative, (formats, trials) in enumerate(zip((POSITIVE, NEGATIVE), said, strict=True)):
            for task_type, trial in zip(formats, trials, strict=True):
                right = (
                    ("no" if negative else "yes") if task_type == "visual_referring" else "none" if negative else place
                )
                record = {
                    "id": f"{item}_{task_type}_{negative}", "item": item, "image_id": "i", "tier": tier,
                    "kind": item[3:4],
                    "task_type": task_type, "negative": negative, "grid": grid, "data": "full",
                    "answer_position": "none" if negative else place, "trials": [trial],
                }  # fmt: skip
                found.append(record if trial == "failed" else {**record, "score": float(trial == right)})
    return found


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes a run (task -> records) and gives its folder; ``settings``: task -> lmms_eval_specific_kwargs."""

    def run(name: str = "run", settings: Mapping[str, Any] | None = None, data: str = "full", **tasks: Any) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        tasks = tasks or {"medobvious": records()}
        content = {
            "results": {task: {"accuracy,trials": 0.5} for task in tasks},
            "configs": {
                task: {
                    "dataset_kwargs": {"data_files": {"test": "medtasks://medobvious/test"}},
                    "lmms_eval_specific_kwargs": {
                        "default": {"prompt": "medobvious/prompts.yml", **(settings or {}).get(task, {})}
                    },
                    "metadata": {"version": 1.0, "data": data, "fingerprint_recorded": True},
                }
                for task in tasks
            },
            "versions": dict.fromkeys(tasks, 1.0),
            "n-samples": {task: {"original": len(rows), "effective": len(rows)} for task, rows in tasks.items()},
            "config": {"model": "stub", "model_args": f"pretrained={name}"},
            "date": "20260101_000000",
        }
        (folder / "x_results.json").write_text(json.dumps(content), "utf-8")
        for task, rows in tasks.items():
            lines = [{"doc_id": i, "filtered_resps": ["?"], "accuracy": row} for i, row in enumerate(rows)]
            text = "".join(json.dumps(line) + "\n" for line in lines)
            (folder / f"x_samples_{task}.jsonl").write_text(text, "utf-8")
        return folder

    return run


@pytest.fixture
def rows() -> Callable[..., list[dict[str, Any]]]:
    """The records of :data:`ITEMS`, or of other items."""
    return records
