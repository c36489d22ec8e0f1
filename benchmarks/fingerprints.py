#!/usr/bin/env python3
"""What the fingerprints of all our tasks cost at the start of a run, in milliseconds of CPU, each file being read once.

Usage: python benchmarks/fingerprints.py [--record]
"""

from __future__ import annotations

import statistics
import time

import keeping
from lmms_eval.utils import load_yaml_config

from lmms_medtasks import fingerprints
from lmms_medtasks.harness import task_fingerprints
from lmms_medtasks.harness.plugin import task_folder


def main() -> None:
    """Print the number of tasks and modules, and the times."""
    configs = [load_yaml_config(str(path)) for path in sorted(task_folder().rglob("*.yaml"))]
    configs = [config for config in configs if isinstance(config.get("task"), str)]
    times = []
    for config in configs:
        start = time.process_time()
        task_fingerprints.of_task(config)
        times.append(1000 * (time.process_time() - start))
    trees = fingerprints.installed()
    sizes = [len(trees.closure(task_fingerprints.modules(config))) for config in configs]
    print(f"{len(configs)} tasks over {min(sizes)} to {max(sizes)} modules each")
    print(f"all together {sum(times):.0f} ms, the first {times[0]:.0f} ms, the slowest {max(times):.0f} ms")
    print(f"the median, when its modules have been read: {statistics.median(times):.1f} ms")


if __name__ == "__main__":
    keeping.run(main)
