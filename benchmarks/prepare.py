#!/usr/bin/env python3
"""Time and peak memory of preparing MedQ-Deg from a table as large as the release's.

Writes a table in the release's form (by default 25,000 questions with images of 100 KB each: 3.4 GB), prepares it in a
process of its own, prints what that took, and removes everything. Exits with 1 if the process needed 2 GB or more.

Usage: prepare.py [--rows 25000] [--kilobytes 100] [--folder DIR]
"""

from __future__ import annotations

import argparse
import base64
import csv
import io
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import keeping
import numpy as np
from PIL import Image

from lmms_medtasks.seeding import seeded_generator

LIMIT = 2 * 1024**3
COLUMNS = ["index", "image", "question", "A", "B", "C", "D", "E", "answer", "modality", "degradation_type"]
COLUMNS += ["degradation_severity", "source", "capability"]
PREPARE = "from lmms_medtasks.cli.data import app; app()"


def jpeg(number: int, size: int) -> bytes:
    """A JPEG image of about ``size`` bytes: grey blobs of 512 x 512 pixels under as much noise as that takes."""
    rng = seeded_generator("benchmark", "prepare", number)
    coarse = Image.fromarray(rng.integers(40, 200, (8, 8), dtype=np.uint8)).resize((512, 512), Image.Resampling.BICUBIC)
    noisy = np.asarray(coarse, dtype=np.float32) + rng.normal(0, 18, (512, 512)).astype(np.float32)
    image = Image.fromarray(noisy.clip(0, 255).astype(np.uint8)).convert("RGB")
    data = b""
    for quality in range(60, 101, 2):
        buffer = io.BytesIO()
        image.save(buffer, "JPEG", quality=quality)
        data = buffer.getvalue()
        if len(data) >= size:
            break
    return data


def rows(count: int, size: int) -> Iterator[list[str]]:
    """Rows of the clean table, each with an image of its own (a number after the end of one of 32 pictures)."""
    pictures = [jpeg(number, size) for number in range(32)]
    for number in range(count):
        image = base64.b64encode(pictures[number % 32] + number.to_bytes(8, "big")).decode()
        options = ["left", "right", "both", "neither", ""]
        yield [str(number), image, f"Which side? ({number})", *options, "ABCD"[number % 4], "CT", "", "L0", "pool", "x"]


def write_table(path: Path, count: int, size: int) -> None:
    """Write the table row by row."""
    with path.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle, delimiter="\t")
        writer.writerow(COLUMNS)
        writer.writerows(rows(count, size))


def main() -> int:
    """Run the benchmark; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=25_000)
    parser.add_argument("--kilobytes", type=int, default=100)
    parser.add_argument("--folder", type=Path, help="where to write (default: the system's temporary folder)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        source = folder / "release"
        source.mkdir()
        table = source / "MedQ-Robust-good-test.tsv"
        write_table(table, arguments.rows, arguments.kilobytes * 1000)
        print(f"table: {arguments.rows:,} rows, {table.stat().st_size / 1e9:.2f} GB", flush=True)
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-c", PREPARE, "prepare", "medq_deg", "--source", str(source)],
            env={**os.environ, "MEDTASKS_HOME": str(folder / "home")},
            check=True,
        )
        seconds = time.perf_counter() - start
        written = sum(path.stat().st_size for path in (folder / "home").rglob("*.parquet"))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    print(f"prepared: {written / 1e9:.2f} GB in {seconds:.1f} s ({arguments.rows / seconds:.0f} rows/s)")
    print(f"peak memory of the process: {peak / 1e9:.2f} GB, limit {LIMIT / 1e9:.2f} GB")
    return int(peak >= LIMIT)


if __name__ == "__main__":
    sys.exit(keeping.run(main))
