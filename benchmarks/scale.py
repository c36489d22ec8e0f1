#!/usr/bin/env python3
"""Time and peak memory of preparing, running and reporting made-up data as large as MedQ-Deg.

Writes a clean table in the release's form (3,557 questions, which the levels and degradations turn into 24,899),
prepares it, runs ``medtasks_random``, which answers at once, on ``medq_deg`` (T = 3) and ``medq_deg_calib`` (T = 10),
and makes a report of each run, all in processes of their own. Pictures are small, so that the time is the harness's and
ours, not the degradations'. ``--questions 25000 --side 320 --tasks`` prepares a table as large as the release's (images
of 100 KB: 3.4 GB), and runs nothing. Exits with 1 where a process needed more memory than it may.

Usage: scale.py [--questions 3557] [--side 32] [--tasks [medq_deg ...]] [--folder DIR]
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
from lmms_medtasks.task_configs.medq_deg import source

COLUMNS = ["index", "image", "question", "A", "B", "C", "D", "E", "answer", "modality", "degradation_type"]
COLUMNS += ["degradation_severity", "source", "capability"]
MODALITIES = ("CT", "MRI", "X-ray", "Histopathology")
LIMITS = {"prepare": 2147.0, "run": 3000.0, "report": 2147.0}
"""MB that a process may need."""


def write_table(path: Path, count: int, side: int) -> None:
    """The clean table, each question with a picture of its own."""
    capabilities = list(source.fine_capability_names())
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
            tags = [MODALITIES[number % 4], "", "L0", "pool", capabilities[number % len(capabilities)]]
            writer.writerow([str(number), image, asked, *options, "ABCD"[number % 4], *tags])


def measured(kind: str, said: str, command: list[str], environment: dict[str, str]) -> bool:
    """Run a Python command, print seconds and peak memory; whether it kept to the memory that its kind may need."""
    start = time.perf_counter()
    process = os.posix_spawn(sys.executable, [sys.executable, *command], environment)
    _, status, usage = os.wait4(process, 0)
    if status:
        raise SystemExit(f"{' '.join(command[:3])} failed with status {os.waitstatus_to_exitcode(status)}")
    # Linux counts in KiB, macOS in bytes.
    memory = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6
    print(
        f"{said}: {time.perf_counter() - start:.0f} s ({usage.ru_utime + usage.ru_stime:.0f} s of a processor), "
        f"{memory:,.0f} MB at most (wanted: below {LIMITS[kind]:,.0f})",
        flush=True,
    )
    return memory < LIMITS[kind]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=3557)
    parser.add_argument("--side", type=int, default=32, help="pixels a side of each picture")
    parser.add_argument("--tasks", nargs="*", default=["medq_deg", "medq_deg_calib"])
    parser.add_argument("--folder", type=Path, help="where to write (default: the system's temporary folder)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        (folder / "release").mkdir()
        table = folder / "release" / "MedQ-Robust-good-test.tsv"
        write_table(table, arguments.questions, arguments.side)
        print(f"table: {arguments.questions:,} rows, {table.stat().st_size / 1e9:.2f} GB", flush=True)
        own = {"MEDTASKS_HOME": str(folder / "home"), "HF_HOME": str(folder / "hf"), "HF_HUB_OFFLINE": "1"}
        environment = {**os.environ, **own, "OMP_NUM_THREADS": "1"}
        prepare = ["-m", "lmms_medtasks", "data", "prepare", "medq_deg", "--split", "clean"]
        kept = [measured("prepare", "prepare", [*prepare, "--source", str(table.parent)], environment)]
        for task in arguments.tasks:
            output = folder / task
            run = ["-m", "lmms_eval", "--model", "medtasks_random", "--tasks", task, "--log_samples"]
            kept.append(measured("run", task, [*run, "--output_path", str(output)], environment))
            result = next(iter(output.rglob("*_results.json")), None)
            if result is None:
                raise SystemExit(f"no result of {task}")
            content = json.loads(result.read_text("utf-8"))
            rows, trials = content["n-samples"][task]["effective"], content["configs"][task]["repeats"]
            log = sum(path.stat().st_size for path in output.rglob("*.jsonl")) / 1e6
            print(f"  {rows:,} rows x {trials} trials, log {log:.0f} MB", flush=True)
            report = ["-m", "lmms_medtasks", "report", str(result.parent), "-o", str(folder / f"report-{task}")]
            kept.append(measured("report", "  its report (wanted: 60 s)", report, environment))
    return int(not all(kept))


if __name__ == "__main__":
    sys.exit(keeping.run(main))
