"""Progress and messages on stderr: a bar in a terminal, elsewhere a line now and then."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from lmms_medtasks.short_texts import format_duration

T = TypeVar("T")

RUN_LOG = "MEDTASKS_RUN_LOG"
"""Environment variable: the folder by which the processes of a run that prints little know what was printed."""

LINE_SECONDS = 30.0
"""Between two lines about one thing, where there is no terminal."""


def print_message(message: str) -> None:
    """Print a line on stderr, above a bar that stands there."""
    if "tqdm" in sys.modules:
        from tqdm import tqdm

        with tqdm.external_write_mode(sys.stderr):
            print(message, file=sys.stderr, flush=True)
    else:
        print(message, file=sys.stderr, flush=True)


class Progress:
    """Steps of ``total`` (None: a count): one bar in a terminal, elsewhere a line by ``say`` every 30 s.

    ``label`` says what is done, ``unit`` what is counted ("B": bytes). ``is_shown``: False for neither bar nor lines.
    """

    def __init__(
        self,
        total: int | None,
        label: str,
        unit: str,
        *,
        say: Callable[[str], object] = print_message,
        is_shown: bool = True,
    ) -> None:
        from tqdm import tqdm

        scale: dict[str, Any] = {"unit": unit, "unit_scale": True} if unit == "B" else {"unit": f" {unit}"}
        is_bar = is_shown and can_show_bar()
        self._bar = tqdm(total=total, desc=label, disable=not is_bar, file=sys.stderr, leave=False, **scale)
        self.done, self.total, self._label, self._unit, self._say = 0, total, label, unit, say
        self._begun, self._ended = time.monotonic(), threading.Event()
        if is_shown and self._bar.disable:
            threading.Thread(target=self._tell, daemon=True, name="medtasks-progress").start()

    @property
    def has_bar(self) -> bool:
        """Whether there is a bar in a terminal."""
        return not self._bar.disable

    @property
    def seconds(self) -> float:
        """Since it began."""
        return time.monotonic() - self._begun

    def set_label(self, label: str) -> None:
        """Say what is done now."""
        self._label = label
        self._bar.set_description(label)

    def step(self, count: int = 1) -> None:
        self.move_to(self.done + count)

    def move_to(self, done: int) -> None:
        """Let ``done`` steps be done; it may be fewer than before."""
        self._bar.update(done - self.done)
        self.done = done

    def leave_out(self, count: int) -> None:
        """Let there be ``count`` steps fewer in all."""
        if self.total is not None:
            self.total -= count
            self._bar.total = self.total
            self._bar.refresh()

    def close(self) -> None:
        self._ended.set()
        self._bar.close()

    def _tell(self) -> None:
        while not self._ended.wait(LINE_SECONDS):
            self._say(f"{self._label}: {describe_progress(self.done, self.total, self._unit, self.seconds)}")


def can_show_bar() -> bool:
    """Whether stderr is a terminal with columns: one of ``script`` may say that it has none."""
    if not sys.stderr.isatty():
        return False
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns > 0
    except OSError:  # no file
        return True


def describe_progress(done: int, total: int | None, unit: str, seconds: float) -> str:
    """How far something is after ``seconds``, how fast, and how long it will take.

    >>> describe_progress(1797, 4000, "requests", 150), describe_progress(0, 12, "pages", 30)
    ('1,797 of 4,000 requests, 12 a second, about 3 min 4 s left', '0 of 12 pages after 30.0 s')
    """
    text = f"{done:,}{f' of {total:,}' if total is not None else ''} {'bytes' if unit == 'B' else unit}"
    if not done or seconds <= 0:
        return f"{text} after {format_duration(seconds)}"
    rate = done / seconds
    left = f", about {format_duration((total - done) / rate)} left" if total is not None else ""
    return f"{text}, {format_rate(rate)}{left}"


def format_rate(rate: float) -> str:
    """``12 a second``, ``0.25 a second``."""
    return f"{f'{rate:,.0f}' if rate >= 10 else f'{rate:.2g}'} a second"


@contextmanager
def progress_bar(total: int | None, what: str, unit: str) -> Iterator[Callable[[int], object]]:
    """The progress of ``total`` steps (None: a count); gives the function that takes steps."""
    progress = Progress(total, what, unit)
    try:
        yield progress.step
    finally:
        progress.close()


def iter_with_progress(items: Iterable[T], total: int | None, label: str) -> Iterator[T]:
    """The rows ``items``, counted by a progress bar while they come."""
    with progress_bar(total, label, "rows") as step:
        for item in items:
            yield item
            step(1)
