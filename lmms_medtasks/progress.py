"""Progress and messages on stderr; the bars are silent where stderr is not a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(total: int | None, what: str, unit: str) -> Iterator[Callable[[int], None]]:
    """A progress bar of ``total`` steps, or a count; gives the function that takes steps."""
    from tqdm import tqdm

    # disable=None: no bar where the file is not a terminal
    options = {"unit": unit, "unit_scale": True} if unit == "B" else {"unit": f" {unit}"}
    with tqdm(total=total, desc=what, **options, disable=None, file=sys.stderr, leave=False) as shown:

        def step(count: int) -> None:
            shown.update(count)

        yield step


def print_message(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
