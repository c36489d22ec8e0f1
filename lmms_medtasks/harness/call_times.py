"""How long the model takes, task by task, for ``lmms-medtasks run --estimate``, written to a file.

The file holds ``{task: {"seconds", "requests", "pictures", "seen"}}``; ``pictures`` counts those of the first ``seen``
questions. The seconds are those within the model's own calls, on rank 0, with the
rendering of pictures; loading the model and scoring do not count.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from lmms_medtasks.harness import stamps
from lmms_medtasks.harness.replacing import wrap_method

_SEEN = 20


@contextlib.contextmanager
def record_call_times(lm: Any, tasks: Iterable[Any]) -> Iterator[None]:
    """Time ``lm.generate_until`` until the end, then, on rank 0, write the file that ``stamps.CALL_TIMES`` names."""
    path = os.environ.get(stamps.CALL_TIMES)
    if not path or os.environ.get("RANK", "0") != "0":
        yield
        return
    times_by_task: dict[str, dict[str, float]] = {}

    def generate_until(original: Any, requests: list[Any], **kwargs: Any) -> Any:
        started = time.perf_counter()
        replies = original(requests, **kwargs)
        seconds = time.perf_counter() - started
        for request in requests:
            times = times_by_task.setdefault(request.task_name, {"seconds": 0.0, "requests": 0})
            times["seconds"] += seconds / len(requests)
            times["requests"] += 1
        return replies

    with wrap_method(lm, "generate_until", generate_until):
        yield
    for task in tasks:
        if times := times_by_task.get(task.config.task):
            # Afterwards: rendering seeds torch and counts trials.
            questions = list(islice(task.eval_docs, _SEEN))
            times["pictures"] = sum(len(task.doc_to_visual(question) or ()) for question in questions)
            times["seen"] = len(questions)
    Path(path).write_text(json.dumps(times_by_task), "utf-8")
