#!/usr/bin/env python3
"""Time and memory of building the site of a board of many runs: 40 models with 75,000 samples each.

The logs are made up and written below a temporary folder (about 4 GiB): ``medq_deg_calib`` at three levels, T = 10, row
for row in the form that the harness writes, each model with a skill of its own. The site is built three times, each in
a process of its own: from nothing, again, and after one new entry. What is printed is processor time, wall time and
memory of each (the sum of the peaks of that process and of its workers), and the size of the site by folder.
``--models 200 --no-reports`` is the largest board that is promised: 15 minutes, 6 GB, 300 MB.

Usage: python benchmarks/leaderboard.py [--models 40] [--samples 75000] [--processes 2] [--folder FOLDER] [--no-reports]
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

from lmms_medtasks import degradations
from lmms_medtasks.record import VERSION
from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.task_configs.medq_deg import source

TASK = "medq_deg_calib"
TRIALS = 10
DEGRADATIONS = ("gaussian_noise", "motion_blur", "low_dose", "adjust_brightness")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=40)
    parser.add_argument("--samples", type=int, default=75_000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="use the logs here, written if there are none, and leave them")
    parser.add_argument("--no-reports", action="store_true", help="build it without the suites' reports")
    parser.add_argument("--site", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.site:
        build(arguments.site, arguments.processes)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        if not any(folder.glob("*/*.jsonl")):
            write(folder, arguments.models, arguments.samples)
        size = sum(path.stat().st_size for path in folder.glob("*/*.jsonl"))
        print(f"{arguments.models} models, {arguments.samples:,} samples each, {size / 2**30:.1f} GiB", flush=True)
        command = [sys.executable, __file__, "--processes", str(arguments.processes), "--site"]
        command += ["--no-reports"] * arguments.no_reports
        build_sites(folder, arguments.models, arguments.samples, command)


def build_sites(folder: Path, models: int, samples: int, command: list[str]) -> None:
    """Build the site of ``folder`` three times with one cache, the last time with one model more."""
    with tempfile.TemporaryDirectory() as temporary:
        site, cache = Path(temporary, "site"), Path(temporary, "cache")
        command = [*command, str(folder), "-o", str(site), "--cache", str(cache)]
        _timed("build from nothing", command)
        for path in sorted(path for path in site.iterdir() if path.is_dir()):
            print(f"  {path.name}: {_size(path) / 1e6:,.1f} MB")
        files = sum(path.is_file() for path in site.rglob("*"))
        print(f"  in all {_size(site) / 1e6:,.1f} MB, {files:,} files")
        asked = list((site / "questions").glob("*/*/*.js"))
        shards = [path.stat().st_size for path in asked if path.stem.isdigit()]
        index = max(path.stat().st_size for path in asked if path.stem == "index")
        print(f"  questions: {_size(site / 'questions') / (models * samples):.1f} bytes a reply")
        print(f"  loaded for one: index {index / 1e6:.1f} MB, one of {len(shards):,} files, {max(shards) / 1e3:.0f} kB")
        print(f"  cache: {_size(cache) / 1e6:,.1f} MB", flush=True)
        _timed("build again", command)
        new = Path(temporary, "new")
        write(new, 1, samples, models)
        _timed("build with one new entry", [*command, str(new)])


def _timed(said: str, command: list[str]) -> None:
    print(f"{said}: ", end="", flush=True)
    print(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout, end="", flush=True)


def build(arguments: list[str], processes: int) -> None:
    """Build a site and print what it took."""
    from lmms_medtasks.cli import main as command

    start = time.perf_counter()
    sys.argv = ["lmms-medtasks", "leaderboard", "build", *arguments, "--processes", str(processes)]
    try:
        command()
    except SystemExit as stopped:
        if stopped.code:
            raise
    seconds = time.perf_counter() - start
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    # Linux counts in KiB, macOS in bytes; of the children it tells the largest.
    unit = 2**20 if sys.platform == "darwin" else 2**10
    own, children = (usage.ru_maxrss / unit for usage in usages)
    busy = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    print(
        f"{busy:.0f} s of a processor, {seconds:.0f} s; memory {own:,.0f} MiB, workers {children:,.0f} MiB each, "
        f"{own + processes * children:,.0f} MiB"
    )


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def write(folder: Path, models: int, samples: int, first: int = 0) -> None:
    """A run a model, numbered from ``first``: result file and sample log."""
    questions = [_question(row) for row in range(samples)]
    for model in range(first, first + models):
        own = folder / f"model-{model:02d}"
        own.mkdir(parents=True)
        rng = seeded_generator("benchmark", "leaderboard", model)
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
            "mid": source.mid_of_name(capability),
            "degradation": degradation,
            "category": degradations.category(degradation) if degradation else None,
            "option_count": 4,
        },
        "pair": f"mini-ct-{number:06d}-q{number % 5}",
        "details": {
            "degradation_parameters": [{"sigma": 0.36, "noise_seed": 1856624775975291}] if level else [],
        },
        "replies": [{"ended": "stop", "rule": "single_letter"}] * TRIALS,
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
    metadata = {"version": 1.0, "data": "full", "data_digest": "0" * 64, "digests": {"package": "0", "prompt": "0"}}
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
