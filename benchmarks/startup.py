#!/usr/bin/env python3
"""What we add to the start of an unrelated lmms-eval command, in milliseconds (the founders' limit is 50).

Two parts: registering (import of our plugin, reading its entry point) and indexing our task YAMLs. Each is measured in
a fresh process, beside what the harness itself needs there; the median and the worst of several processes are printed.

Usage: python benchmarks/startup.py [--repeats 7]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys

import keeping

CODE = """
import json, sys, time
def clock(function):
    start = time.perf_counter()
    function()
    return 1000 * (time.perf_counter() - start)

def import_models_without_us():
    from importlib import metadata
    original = metadata.EntryPoints.select
    metadata.EntryPoints.select = lambda self, **query: metadata.EntryPoints()
    import lmms_eval.models
    metadata.EntryPoints.select = original

harness_models = clock(import_models_without_us)
def register():
    from lmms_medtasks.harness.plugin import register
    register()
registering = clock(register)
from lmms_eval.tasks import TaskManager
original = TaskManager.initialize_tasks.__wrapped__
from lmms_medtasks.harness.plugin import task_index
manager = TaskManager(include_defaults=False)
harness_index = clock(lambda: original(manager, include_defaults=True))
indexing = clock(task_index)
print(json.dumps({"registering": registering, "indexing": indexing,
                  "harness: models": harness_models, "harness: index": harness_index}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7)
    repeats = parser.parse_args().repeats
    rows = [json.loads(_run()) for _ in range(repeats)]
    for name in rows[0]:
        values = [row[name] for row in rows]
        print(f"{name:18s} median {statistics.median(values):8.1f} ms   worst {max(values):8.1f} ms")
    ours = [row["registering"] + row["indexing"] for row in rows]
    print(f"{'ours, together':18s} median {statistics.median(ours):8.1f} ms   worst {max(ours):8.1f} ms")


def _run() -> str:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


if __name__ == "__main__":
    keeping.run(main)
