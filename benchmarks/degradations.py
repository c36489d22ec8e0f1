"""Speed of all degradations through the public interface.

    OMP_NUM_THREADS=2 python benchmarks/degradations.py [--size 512] [--repeats 7] [--name NAME]...

Every number is the shortest of the repeats after one run to warm up, in milliseconds, for one image; the first call,
with imports and compilation, stands apart.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import keeping
import numpy as np
from numpy.typing import NDArray

from lmms_medtasks import degradations
from lmms_medtasks.seeding import seeded_generator

Pixels = NDArray[np.uint8]
Call = Callable[[], Any]

# A modality in which each is at home; general ones on X-ray, the largest images.
HOME = {"CT": "CT", "MRI": "MRI", "Histopathology": "Histopathology"}


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--name", action="append", default=[])
    options = parser.parse_args()
    grey = phantom(options.size)
    colour = np.stack([grey, np.roll(grey, 7, 0), np.roll(grey, 7, 1)], axis=2)
    names = [name for name in degradations.names() if not options.name or name in options.name]
    time_degradations(names, grey, colour, options.repeats)
    return 0


def phantom(size: int) -> Pixels:
    """A body with organs, edges, texture and a dark background, (size, size), 8 bits."""
    y, x = np.mgrid[-1 : 1 : size * 1j, -1 : 1 : size * 1j]
    image = np.zeros((size, size))
    for value, cy, cx, ry, rx in (
        (120, 0, 0, 0.8, 0.6), (60, -0.2, -0.25, 0.4, 0.2), (60, -0.2, 0.25, 0.4, 0.2),
        (200, 0.5, 0, 0.12, 0.12), (160, 0.1, 0.05, 0.1, 0.15),
    ):  # fmt: skip
        image[((y - cy) / ry) ** 2 + ((x - cx) / rx) ** 2 < 1] = value
    image += (image > 0) * seeded_generator("benchmark phantom").normal(0, 6, image.shape)
    return np.clip(image, 0, 255).astype(np.uint8)


def _best(call: Call, repeats: int) -> float:
    call()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1000 * min(times)


def time_degradations(names: list[str], grey: Pixels, colour: Pixels, repeats: int) -> None:
    """Print a row a degradation and modality, and the means."""
    print(f"milliseconds for {grey.shape[0]} x {grey.shape[1]} pixels")
    print(f"{'degradation':26}{'modality':16}{'L1 grey':>9}{'L2 grey':>9}{'L2 RGB':>9}{'first':>9}")
    rows = []
    for name in names:
        for modality in _modalities(name):
            start = time.perf_counter()
            _call(grey, name, 2, modality)()
            first = 1000 * (time.perf_counter() - start)
            row = {"first": first}
            row["L1"], row["L2"] = (_best(_call(grey, name, level, modality), repeats) for level in (1, 2))
            row["L2_rgb"] = _best(_call(colour, name, 2, modality), repeats)
            cells = "".join(f"{row[key]:9.1f}" for key in ("L1", "L2", "L2_rgb", "first"))
            print(f"{name:26}{modality:16}{cells}", flush=True)
            rows.append(row)
    if rows:
        means = (statistics.mean(row[key] for row in rows) for key in ("L1", "L2", "L2_rgb"))
        print(f"{'mean':42}{''.join(f'{mean:9.1f}' for mean in means)}")


def _modalities(name: str) -> list[str]:
    """Where ``name`` is timed: its own modality, or X-ray and one that has other numbers or another operator."""
    allowed = degradations.modalities_of(name)
    if len(allowed) == 1:
        return [HOME[allowed[0]]]
    return ["X-ray", "MRI"] if name in ("object_movement", "motion_blur", "low_resolution") else ["X-ray"]


def _call(image: Pixels, name: str, level: int, modality: str) -> Call:
    return lambda: degradations.apply(image, name, severity=level, seed=0, modality=modality)


if __name__ == "__main__":
    sys.exit(keeping.run(main))
