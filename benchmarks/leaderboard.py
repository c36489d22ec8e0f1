#!/usr/bin/env python3
"""Time and memory of reading many runs into a board: 40 models with 75,000 samples each.

The logs are made up and written below a temporary folder (about 4 GiB): ``medq_deg_calib`` at three levels, T = 10, row
for row in the form that the harness writes, each model with a skill of its own. They are read in a process of its own
by ``lmms_medtasks.board.collect``; memory is the sum of the peaks of that process and of its workers.

With ``--build`` the site is built too, each time in a process of its own: from nothing, again, and after one new entry.
What is printed is processor time and memory of each, and the size of the site by folder.

Usage: python benchmarks/leaderboard.py [--models 40] [--samples 75000] [--processes 2] [--folder FOLDER]
    [--build] [--no-reports]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import keeping
import numpy as np

from lmms_medtasks.record import VERSION
from lmms_medtasks.seeding import generator
from lmms_medtasks.task_configs.medq_deg import taxonomy

TASK = "medq_deg_calib"
TRIALS = 10
DEGRADATIONS = ("gaussian_noise", "motion_blur", "low_dose", "adjust_brightness")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=40)
    parser.add_argument("--samples", type=int, default=75_000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="use the logs here, written if there are none, and leave them")
    parser.add_argument("--build", action="store_true", help="build the site, and build it again")
    parser.add_argument("--no-reports", action="store_true", help="build it without the suites' reports")
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.read:
        read(arguments.read, arguments.processes)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        if not any(folder.glob("*/*.jsonl")):
            write(folder, arguments.models, arguments.samples)
        size = sum(path.stat().st_size for path in folder.glob("*/*.jsonl"))
        print(f"{arguments.models} models, {arguments.samples:,} samples each, {size / 2**30:.1f} GiB", flush=True)
        command = [sys.executable, __file__, "--read", str(folder), "--processes", str(arguments.processes)]
        subprocess.run(command, check=True)
        if arguments.build:
            more = ["--processes", str(arguments.processes), *["--no-reports"] * arguments.no_reports]
            build_sites(folder, arguments.models, arguments.samples, more)


def build_sites(folder: Path, models: int, samples: int, more: list[str]) -> None:
    """Build the site of ``folder`` three times with one cache, the last time with one model more."""
    with tempfile.TemporaryDirectory() as temporary:
        site, cache = Path(temporary, "site"), Path(temporary, "cache")
        command = [sys.executable, "-m", "lmms_medtasks", "leaderboard", "build", str(folder), "-o", str(site)]
        command += ["--cache", str(cache), *more]
        _timed("build from nothing", command)
        for path in sorted(path for path in site.iterdir() if path.is_dir()):
            print(f"  {path.name}: {_size(path) / 1e6:,.1f} MB")
        rows = models * samples
        print(f"  in all {_size(site) / 1e6:,.1f} MB; questions {_size(site / 'questions') / rows:.1f} bytes a reply")
        print(f"  cache: {_size(cache) / 1e6:,.1f} MB")
        _timed("build again", command)
        new = Path(temporary, "new")
        write(new, 1, samples, models)
        _timed("build with one new entry", [*command, str(new)])


def _timed(said: str, command: list[str]) -> None:
    start = time.perf_counter()
    process = os.posix_spawn(command[0], command, os.environ)
    _, status, usage = os.wait4(process, 0)
    if status:
        raise SystemExit(f"{said} failed with status {os.waitstatus_to_exitcode(status)}")
    wall, memory = time.perf_counter() - start, usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    print(
        f"{said}: {usage.ru_utime + usage.ru_stime:.1f} s of a processor, {wall:.0f} s, {memory:,.0f} MiB", flush=True
    )


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def read(folder: Path, processes: int) -> None:
    """Read all logs below ``folder`` and print what it took."""
    from lmms_medtasks.board.collect import collect

    start = time.perf_counter()
    board = collect([folder], processes=processes)
    seconds = time.perf_counter() - start
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    own, children = (usage.ru_maxrss for usage in usages)
    busy = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    # Linux counts in KiB, macOS in bytes; of the children it tells the largest.
    unit = 2**20 if sys.platform == "darwin" else 2**10
    memory = (own + (processes * children if processes > 1 else 0)) / unit
    rows = sum(len(entry.questions) for entry in board.entries)
    refused = f", refused: {len(board.refused)}" if board.refused else ""
    print(f"read: {len(board.entries)} entries, {rows:,} rows in {seconds:.1f} s (allowed: 90){refused}")
    print(f"processor time: {busy:.0f} s (two idle cores: {busy / 2:.0f} s)")
    print(f"memory: {own / unit:,.0f} MiB, workers {children / unit:,.0f} MiB each; {memory:,.0f} MiB (allowed: 2,048)")


def write(folder: Path, models: int, samples: int, first: int = 0) -> None:
    """A run a model, numbered from ``first``: result file and sample log."""
    questions = [_question(row) for row in range(samples)]
    for model in range(first, first + models):
        own = folder / f"model-{model:02d}"
        own.mkdir(parents=True)
        rng = generator("benchmark", "leaderboard", model)
        right = rng.random((samples, TRIALS)) < rng.beta(6, 4)
        guesses = rng.integers(0, 4, (samples, TRIALS))
        letters = np.where(right, (np.arange(samples) % 4)[:, None], guesses)
        scores = (letters == (np.arange(samples) % 4)[:, None]).mean(axis=1)
        with (own / f"20260101_000000_samples_{TASK}.jsonl").open("w", encoding="utf-8") as file:
            for row, (before, middle, after) in enumerate(questions):
                replies = json.dumps(["ABCD"[letter] for letter in letters[row]])
                file.write(f"{before}{replies}{middle % replies}{scores[row]}{after}")
        means = {f"accuracy_l{level},trials": float(scores[level::3].mean()) for level in range(3)}
        (own / "20260101_000000_results.json").write_text(json.dumps(_result(model, samples, means)), "utf-8")


def _question(row: int) -> tuple[str, str, str]:
    """What a row has before its replies, up to its trials, and after its score; ``%s`` stands for the trials."""
    level, number = row % 3, row // 3
    degradation = DEGRADATIONS[number % len(DEGRADATIONS)] if level else None
    capability = f"Capability {number % 30}"
    head = {"doc_id": row, "target": "ABCD"[row % 4], "token_counts": [None], "doc_hash": "0" * 64}
    record = {
        "version": VERSION,
        "id": f"mini-ct-{number:06d}-q{number % 5}/{degradation or ''}/L{level}",
        "cluster": f"image-{number % 4306:05d}",
        "expected": "ABCD"[row % 4],
        "tags": {
            "data": "full",
            "source": "made up",
            "modality": ("CT", "MRI", "X-ray", "Ultrasound")[number % 4],
            "severity": level,
            "capability": capability,
            "mid": taxonomy.mid_of_name(capability),
            "degradation": degradation,
            "category": taxonomy.category_of(degradation) if degradation else None,
            "option_count": 4,
        },
        "pair": f"mini-ct-{number:06d}-q{number % 5}",
        "details": {
            "rules": ["single_letter"] * TRIALS,
            "degradation_parameters": [{"sigma": 0.36, "noise_seed": 1856624775975291}] if level else [],
        },
    }
    rest = {
        **{f"accuracy_l{each}": {} for each in range(3)},
        **{f"{name}_l{each}": {} for name in ("confidence", "shift") for each in range(3)},
        **dict.fromkeys(("parse_rate", "failed_requests", "identical_trials"), {}),
        "input": f"You are a medical AI assistant. Question {row}: " + "what does the picture show? " * 20,
    }
    before = json.dumps(head)[:-1] + ', "filtered_resps": '
    middle = f', "questions": {json.dumps(record)[:-1].replace("%", "%%")}, "trials": %s, '
    return before, middle + '"measures": {"accuracy": {"score": ', "}}}, " + json.dumps(rest)[1:] + "\n"


def _result(model: int, samples: int, means: dict[str, float]) -> dict[str, object]:
    metadata = {"version": 1.0, "data": "full", "data_digest": "0" * 64, "fingerprint": {"code": "0", "prompt": "0"}}
    return {
        "results": {TASK: {"alias": TASK, **means}},
        "configs": {TASK: {"task": TASK, "metadata": metadata}},
        "versions": {TASK: 1.0},
        "n-samples": {TASK: {"original": samples, "effective": samples}},
        "config": {"model": "made_up", "model_args": f"pretrained=made-up/model-{model:02d}"},
        "date": "20260101_000000",
        "lmms_eval_version": "0.7.3",
    }


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    keeping.run(main)
