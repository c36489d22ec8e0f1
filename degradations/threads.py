"""Parts of an image worked on several at a time; the parts depend on the image's shape only, never on the threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import TypeVar

_STRIP_SAMPLES = 1 << 16
"""Samples a strip: 256 KiB of float32, which stays in a core's cache."""


def thread_count() -> int:
    """``OMP_NUM_THREADS`` where it is set to a number, else the cores that this process may use."""
    setting = os.environ.get("OMP_NUM_THREADS", "")
    if setting.isdigit() and int(setting) > 0:
        return int(setting)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def split_rows(rows: int, samples_per_row: int, samples: int = _STRIP_SAMPLES) -> list[slice]:
    """The rows of strips of about ``samples`` samples.

    >>> split_rows(10, 1 << 14)
    [slice(0, 4, None), slice(4, 8, None), slice(8, 10, None)]
    """
    return split_range(rows, max(1, samples // max(1, samples_per_row)))


def split_range(count: int, size: int) -> list[slice]:
    """``count`` indices in slices of ``size``, the last one shorter where it must be."""
    return [slice(start, min(start + size, count)) for start in range(0, count, size)]


def split_tiles(height: int, width: int) -> list[tuple[slice, slice]]:
    """Rows and columns of tiles of at most 64 by 256 pixels."""
    return list(product(split_range(height, 64), split_range(width, 256)))


Part = TypeVar("Part")


def run_in_threads(function: Callable[[Part], None], parts: Sequence[Part]) -> None:
    """``function`` of every part, on :func:`thread_count` threads; the first error is raised here."""
    threads = min(thread_count(), len(parts))
    if threads <= 1:
        for part in parts:
            function(part)
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(function, parts):
            pass
