#!/usr/bin/env python3
"""Time and memory of ``lmms-medtasks report -o`` for a log of 24,894 questions at three levels with T = 10.

The log is made up: 4,306 images, every question at every level (more than the benchmark, which has 24,894 over all
levels), degradations and capabilities in the paper's proportions, votes by chance around a right answer. The report is
measured in a process of its own: wall time, and the most memory that it held.

Usage: python benchmarks/report.py [--questions 24894] [--trials 10] [--keep FOLDER]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import keeping
import numpy as np

from lmms_medtasks import degradations
from lmms_medtasks.record import VERSION
from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.task_configs.medq_deg import source

IMAGES = 4306
RIGHT = (0.70, 0.66, 0.58)
TASK = "medq_deg_calib"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=24894)
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--keep", type=Path, help="write the log and the report here and leave them")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        write_log(folder, arguments.questions, arguments.trials)
        size = sum(path.stat().st_size for path in folder.glob("*.jsonl"))
        print(f"log: {3 * arguments.questions:,} rows, {size / 2**20:,.0f} MiB")
        seconds, memory = measure(folder)
    print(f"report: {seconds:.1f} s (allowed: 60), {memory:,.0f} MiB at most (allowed: 2,048)")


def measure(folder: Path) -> tuple[float, float]:
    """Wall seconds and the process's peak memory in MiB."""
    command = [sys.executable, "-m", "lmms_medtasks", "report", str(folder), "-o", str(folder / "report")]
    start = time.perf_counter()
    process = os.posix_spawn(command[0], command, os.environ)
    _, status, usage = os.wait4(process, 0)
    if status:
        raise SystemExit(f"the report failed with status {os.waitstatus_to_exitcode(status)}")
    # Linux counts in KiB, macOS in bytes.
    return time.perf_counter() - start, usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def write_log(folder: Path, questions: int, trials: int) -> None:
    """A result file and a sample log, row for row in the form that the harness writes."""
    rng = seeded_generator("benchmark", "report")
    printed, names, modality_names = (
        source.read_file("taxonomy.yml"),
        list(source.fine_capability_names()),
        degradations.modalities(),
    )
    types = printed["degradations"]["types"]
    counts = [
        fine["count"] for high in printed["capabilities"]["high"] for mid in high["mids"] for fine in mid["fines"]
    ]
    capabilities = _drawn(rng, counts, questions)
    kind_names = list(types)
    kinds = _drawn(rng, [row["count"] for row in types.values()], questions)
    options = rng.integers(2, 6, questions)
    answers = rng.integers(0, options)
    modalities = rng.integers(0, len(modality_names), questions)
    with (folder / f"20260101_000000_samples_{TASK}.jsonl").open("w", encoding="utf-8") as file:
        for level, share in enumerate(RIGHT):
            skill = rng.beta(8 * share, 8 * (1 - share), questions)
            for row in range(questions):
                right = rng.random(trials) < skill[row]
                guesses = rng.integers(0, options[row], trials)
                letters = ["ABCDE"[answers[row] if ok else guess] for ok, guess in zip(right, guesses, strict=True)]
                degradation = kind_names[kinds[row]] if level else None
                capability = names[capabilities[row]]
                record = {
                    "version": VERSION,
                    "id": f"q{row}/{degradation or ''}/L{level}",
                    "pair": f"q{row}",
                    "cluster": f"image{row % IMAGES}",
                    "expected": "ABCDE"[answers[row]],
                    "trials": letters,
                    "measures": {"accuracy": {"score": letters.count("ABCDE"[answers[row]]) / trials}},
                    "tags": {
                        "data": "full",
                        "source": "made up",
                        "modality": modality_names[modalities[row]],
                        "severity": level,
                        "capability": capability,
                        "mid": source.mid_of_name(capability),
                        "degradation": degradation,
                        "category": degradations.category(degradation) if degradation else None,
                        "option_count": int(options[row]),
                    },
                    "details": {
                        "degradation_parameters": [{"sigma": 0.36, "noise_seed": 1856624775975291}],
                    },
                    "replies": [{"ended": "stop", "rule": "single_letter"}] * trials,
                }
                file.write(json.dumps(_row(record)) + "\n")
    content = {
        "results": {TASK: {"accuracy_l0,trials": 0.5}},
        "configs": {TASK: {"repeats": trials, "metadata": {"data": "full", "package_modified": False}}},
        "n-samples": {TASK: {"original": 3 * questions, "effective": 3 * questions}},
        "config": {"model": "made up", "model_args": ""},
    }
    (folder / "20260101_000000_results.json").write_text(json.dumps(content), "utf-8")


def _row(record: dict[str, object]) -> dict[str, object]:
    return {
        "doc_id": 0,
        "target": record["expected"],
        "filtered_resps": record["trials"],
        "doc_hash": "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b",
        "questions": record,
        "input": "You are a medical AI assistant. " * 20,
    }


def _drawn(rng: np.random.Generator, weights: list[int], size: int) -> np.ndarray:
    return rng.choice(len(weights), size, p=np.array(weights) / sum(weights))


if __name__ == "__main__":
    keeping.run(main)
