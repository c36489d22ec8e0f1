"""A run goes on when nobody reads what it prints any more (``| head``): replies that came cost time or money.

Python would raise at the first text that is printed then, a progress bar's too, and the harness ends with it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, TextIO

from lmms_medtasks.progress import say


def outlive() -> None:
    """Let standard output and error, from now on, lead nowhere once their other end is closed. Twice is as once."""
    for stream in (sys.stdout, sys.stderr):
        if stream is None or isinstance(stream.flush, _Outliving):
            continue
        for name in ("write", "flush"):
            setattr(stream, name, _Outliving(stream, getattr(stream, name)))


class _Outliving:
    """A stream's method that writes."""

    def __init__(self, stream: TextIO, original: Callable[..., Any]) -> None:
        self._stream, self._original = stream, original

    def __call__(self, *args: Any) -> Any:
        try:
            return self._original(*args)
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)
            if self._stream is sys.stdout:
                say("lmms-medtasks: nobody reads what is printed any more. The run goes on, and writes its results.")
            return self._original(*args)
