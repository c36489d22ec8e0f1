#!/usr/bin/env python3
"""Time and peak memory of the harness on made-up data as large as MedQ-Deg, with a model that answers at once.

Writes a clean table in the release's form (3,557 questions, which the levels and degradations turn into 24,899),
prepares it, and runs ``medtasks_random`` on ``medq_deg`` (T = 3) and ``medq_deg_calib`` (T = 10) in one process each.
Pictures are small, so that the time is the harness's and ours, not the degradations'.

Usage: scale.py [--questions 3557] [--side 32] [--task medq_deg]... [--folder DIR]
"""

from __future__ import annotations

import argparse
import base64
import csv
import io
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import keeping
from PIL import Image

from lmms_medtasks.seeding import seeded_generator

COLUMNS = ["index", "image", "question", "A", "B", "C", "D", "E", "answer", "modality", "degradation_type"]
COLUMNS += ["degradation_severity", "source", "capability"]
MODALITIES = ("CT", "MRI", "X-ray", "Histopathology")
LIMIT = 3000.0  # MB


def write_table(path: Path, count: int, side: int) -> None:
    """The clean table, each question with a picture of its own."""
    with path.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle, delimiter="\t")
        writer.writerow(COLUMNS)
        for number in range(count):
            pixels = seeded_generator("benchmark", "scale", number).integers(0, 256, (side, side), dtype="uint8")
            buffer = io.BytesIO()
            Image.fromarray(pixels).save(buffer, "PNG")
            image = base64.b64encode(buffer.getvalue()).decode()
            asked = f"Which side is affected in the examination number {number}, as seen in the picture above?"
            options = ["the left side", "the right side", "both sides", "neither side", ""]
            tags = [MODALITIES[number % 4], "", "L0", "pool", "Disease Diagnosis"]
            writer.writerow([str(number), image, asked, *options, "ABCD"[number % 4], *tags])


def measured(command: list[str], environment: dict[str, str]) -> tuple[float, float, float]:
    """Wall seconds, processor seconds and the process's peak memory in MB."""
    start = time.perf_counter()
    process = os.posix_spawn(command[0], command, environment)
    _, status, usage = os.wait4(process, 0)
    if status:
        raise SystemExit(f"{' '.join(command[1:4])} failed with status {os.waitstatus_to_exitcode(status)}")
    memory = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, memory


def main() -> int:
    """Run the benchmark; 1 if a run needed 3 GB or more."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=3557)
    parser.add_argument("--side", type=int, default=32, help="pixels a side of each picture")
    parser.add_argument("--task", action="append", default=[])
    parser.add_argument("--folder", type=Path, help="where to write (default: the system's temporary folder)")
    arguments = parser.parse_args()
    most = 0.0
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        (folder / "release").mkdir()
        write_table(folder / "release" / "MedQ-Robust-good-test.tsv", arguments.questions, arguments.side)
        own = {"MEDTASKS_HOME": str(folder / "home"), "HF_HOME": str(folder / "hf"), "HF_HUB_OFFLINE": "1"}
        environment = {**os.environ, **own, "OMP_NUM_THREADS": "1"}
        prepare = [sys.executable, "-m", "lmms_medtasks", "data", "prepare", "medq_deg", "--split", "clean"]
        measured([*prepare, "--source", str(folder / "release")], environment)
        for task in arguments.task or ["medq_deg", "medq_deg_calib"]:
            output = folder / task
            run = [sys.executable, "-m", "lmms_eval", "--model", "medtasks_random", "--tasks", task]
            wall, processor, memory = measured([*run, "--output_path", str(output), "--log_samples"], environment)
            result = next(iter(output.rglob("*_results.json")), None)
            if result is None:
                raise SystemExit(f"no result of {task}")
            content = json.loads(result.read_text("utf-8"))
            rows, trials = content["n-samples"][task]["effective"], content["configs"][task]["repeats"]
            log = sum(path.stat().st_size for path in output.rglob("*.jsonl")) / 1e6
            print(
                f"{task}: {rows:,} rows x {trials} trials: {wall:.0f} s ({processor:.0f} s of a processor), "
                f"{memory:,.0f} MB at most (wanted: below {LIMIT:,.0f}), log {log:.0f} MB",
                flush=True,
            )
            most = max(most, memory)
    return int(most >= LIMIT)


if __name__ == "__main__":
    sys.exit(keeping.run(main))
