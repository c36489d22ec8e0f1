"""A run goes on when nobody reads what it prints any more (``| head``): replies that came cost time or money.

Python would raise at the first text that is printed then, and the harness ends with it.
"""

from __future__ import annotations

import os
import select
import stat
import threading

from lmms_medtasks.progress import say

_NAME = "lmms-medtasks-closed-output"
_OUT = 1  # the file of standard output


def outlive() -> None:
    """Watch the other end of standard output from now on, in a thread, where that is a pipe."""
    watched = any(each.name == _NAME for each in threading.enumerate())
    if not watched and stat.S_ISFIFO(os.fstat(_OUT).st_mode):
        threading.Thread(target=_wait, name=_NAME, daemon=True).start()


def _wait() -> None:
    watch = select.poll()
    watch.register(_OUT, 0)  # an end that is closed is told of unasked
    watch.poll()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, _OUT)
    os.close(nowhere)
    say("lmms-medtasks: nobody reads what is printed any more. The run goes on, and writes its results.")
