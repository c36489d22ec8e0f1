"""How far a model is with all requests of a run: one bar, or lines in the log, in place of its runner's own bars."""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any

from loguru import logger
from tqdm import tqdm

from lmms_medtasks.harness.replacing import replace_attribute
from lmms_medtasks.progress import Progress
from lmms_medtasks.short_texts import count_noun, format_duration, listed_or_counted

_ATTRIBUTE = "_medtasks_asking_progress"
"""Of a model that is asked: its :class:`AskingProgress`."""


def is_shown(lm: Any) -> bool:
    """Whether this process shows how far it is: the first of several."""
    return bool(getattr(lm, "rank", 0) == 0)


class AskingProgress:
    """The progress of one call of ``lm`` with ``requests``, of one or more tasks. To be closed.

    ``processes``: how many make such a call. It is one bar in a terminal, else a line for each task and every 30 s.
    """

    def __init__(self, lm: Any, requests: Sequence[Any], processes: int = 1) -> None:
        self._lm, self._is_shown, self._processes = lm, is_shown(lm), processes
        self._counts = Counter(request.task_name for request in requests)
        self._numbers = {task: number for number, task in enumerate(self._counts, 1)}
        self._done = Counter[str]()
        self._seconds = dict.fromkeys(self._counts, 0.0)
        self._part = 0, 0  # how many were done before, and how many requests the runner has now
        self._known = 0
        if self._is_shown:
            logger.info(f"Asking {self._describe_all()}")
        unit = "requests" if processes == 1 else f"requests of process 1 of {processes}"
        self._progress = Progress(len(requests), "Asking", unit, say=logger.info, is_shown=self._is_shown)

    def close(self) -> None:
        self._progress.close()
        if self._is_shown and self._progress.done == self._progress.total:
            logger.info(f"Asked {self._describe_all()} in {format_duration(self._progress.seconds)}; scoring them")

    def _describe_all(self) -> str:
        requests = count_noun(self._counts.total(), "request")
        processes = f" in each of {self._processes} processes" if self._processes > 1 else ""
        return f"{requests} of {listed_or_counted(list(self._counts), 1, 'tasks')}{processes}"

    @contextlib.contextmanager
    def ask(self, task: str, requests: Sequence[Any]) -> Iterator[None]:
        """While these requests of a task are asked: the runner's bars tell how many it has done."""
        number = f" ({self._numbers[task]} of {len(self._numbers)})" if len(self._numbers) > 1 else ""
        self._progress.set_label(f"Asking {task}{number}")
        begun, before = self._progress.done, self._progress.seconds
        self._part, self._known = (begun, len(requests)), 0
        with contextlib.ExitStack() as replaced:
            replaced.enter_context(replace_attribute(self._lm, _ATTRIBUTE, self))
            bar = _make_told_bar(self._tell_share)
            for module in _modules_with_bars(self._lm):
                replaced.enter_context(replace_attribute(module, "tqdm", bar))
            yield
        asked = len(requests) - self._known
        self._counts[task] -= self._known
        self._progress.move_to(begun + asked)
        self._done[task] += asked
        self._seconds[task] += self._progress.seconds - before
        is_last = self._done[task] == self._counts[task]
        if self._is_shown and is_last and number and not self._progress.has_bar:
            seconds = format_duration(self._seconds[task])
            logger.info(f"Asked {task}{number}: {count_noun(self._counts[task], 'request')} in {seconds}")

    def _tell_share(self, share: float) -> None:
        begun, count = self._part
        self._progress.move_to(begun + round(count * share))

    @contextlib.contextmanager
    def _ask_part(self, count: int) -> Iterator[None]:
        self._part = self._progress.done, count
        yield
        self._tell_share(1.0)

    def _leave_out(self, count: int) -> None:
        self._known += count
        self._progress.leave_out(count)


def ask_part(lm: Any, count: int) -> contextlib.AbstractContextManager[None]:
    """While ``count`` of the requests of a task are asked, in a call of the runner of their own."""
    progress = getattr(lm, _ATTRIBUTE, None)
    return contextlib.nullcontext() if progress is None else progress._ask_part(count)


def leave_out_known(lm: Any, count: int) -> None:
    """Do not count ``count`` requests of the task that is asked: their replies are known."""
    if progress := getattr(lm, _ATTRIBUTE, None):
        progress._leave_out(count)


def _modules_with_bars(lm: Any) -> list[ModuleType]:
    """The modules of the model's class and its bases, and ours that asks one by one."""
    names = dict.fromkeys([base.__module__ for base in type(lm).__mro__] + ["lmms_medtasks.harness.calls"])
    return [sys.modules[name] for name in names if hasattr(sys.modules.get(name), "tqdm")]


def _make_told_bar(tell_share: Callable[[float], None]) -> type[Any]:
    """A class of bars that are not shown: they tell their share of done steps, in [0, 1]."""

    class ToldBar(tqdm):  # type: ignore[type-arg, unused-ignore]
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **{**options, "disable": True})

        def __iter__(self) -> Iterator[Any]:
            for item in self.iterable:
                yield item
                self.update()

        def update(self, n: float | None = 1) -> None:
            self.n += n or 0
            if self.total:
                tell_share(min(1.0, self.n / self.total))

    return ToldBar
