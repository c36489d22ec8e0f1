"""How long the model takes, task by task, for ``lmms-medtasks run --estimate``, written to a file.

Without :data:`VARIABLE` nothing is done. The seconds are those within the model's own calls, on rank 0: pictures that
it renders while it answers count, reading the model and scoring do not.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

VARIABLE = "MEDTASKS_CALL_TIMES"
"""Environment variable: file to write ``{task: {"seconds", "requests", "pictures", "seen"}}`` to.

``pictures`` of the first ``seen`` questions.
"""

_SEEN = 20


@contextlib.contextmanager
def record_call_times(lm: Any, tasks: Iterable[Any]) -> Iterator[None]:
    """Time ``lm.generate_until`` until the end, then write the file where :data:`VARIABLE` asks for it on rank 0."""
    path = os.environ.get(VARIABLE)
    original = getattr(lm, "generate_until", None)
    if not path or os.environ.get("RANK", "0") != "0" or not callable(original):
        yield
        return
    times_by_task: dict[str, dict[str, float]] = {}

    @functools.wraps(original)
    def generate_until(requests: list[Any], *args: Any, **kwargs: Any) -> Any:
        started = time.perf_counter()
        replies = original(requests, *args, **kwargs)
        seconds = time.perf_counter() - started
        for request in requests:
            times = times_by_task.setdefault(request.task_name, {"seconds": 0.0, "requests": 0})
            times["seconds"] += seconds / len(requests)
            times["requests"] += 1
        return replies

    lm.generate_until = generate_until
    try:
        yield
    finally:
        lm.generate_until = original
    for task in tasks:
        if times := times_by_task.get(task.config.task):
            # Afterwards: rendering seeds torch and counts trials.
            questions = list(islice(task.eval_docs, _SEEN))
            times["pictures"] = sum(len(task.doc_to_visual(question) or ()) for question in questions)
            times["seen"] = len(questions)
    Path(path).write_text(json.dumps(times_by_task), "utf-8")
