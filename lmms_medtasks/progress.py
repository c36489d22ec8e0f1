"""Progress and messages on stderr; the bars are silent where stderr is not a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


@contextmanager
def progress_bar(total: int | None, what: str, unit: str) -> Iterator[Callable[[int], object]]:
    """A progress bar of ``total`` steps (None: a count); gives the function that takes steps."""
    from tqdm import tqdm

    # disable=None: no bar where the file is not a terminal
    options = {"unit": unit, "unit_scale": True} if unit == "B" else {"unit": f" {unit}"}
    with tqdm(total=total, desc=what, **options, disable=None, file=sys.stderr, leave=False) as shown:
        yield shown.update


def iter_with_progress(items: Iterable[T], total: int | None, label: str) -> Iterator[T]:
    """The rows ``items``, counted by a progress bar while they come."""
    with progress_bar(total, label, "rows") as step:
        for item in items:
            yield item
            step(1)


def print_message(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
