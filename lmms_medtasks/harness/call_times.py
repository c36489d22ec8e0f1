"""How long the model takes, task by task, for ``lmms-medtasks run --estimate``, written to a file.

The file holds ``{task: {"seconds", "requests", "pictures", "seen"}}``; ``pictures`` counts those of the first ``seen``
questions. The seconds are those within the model's own calls, on rank 0, with the rendering of pictures; loading the
model and scoring do not count. A task's first question is asked in a call of its own, so that what comes once (imports,
data, a model's first pass) is not taken for the time of each question.
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

from lmms_medtasks.harness import asking_progress, calls, stamps
from lmms_medtasks.harness.replacing import wrap_method

_SEEN = 20


@contextlib.contextmanager
def record_call_times(lm: Any, tasks: Iterable[Any]) -> Iterator[None]:
    """Time ``lm.generate_until`` until the end, then, on rank 0, write the file that ``stamps.CALL_TIMES`` names.

    Each call has requests of one task, those of a question next to each other.
    """
    path = os.environ.get(stamps.CALL_TIMES)
    if not path:
        yield
        return
    times_by_task: dict[str, dict[str, float]] = {}

    def generate_until(original: Any, requests: list[Any], **kwargs: Any) -> Any:
        first = 0 if not requests or requests[0].task_name in times_by_task else int(requests[0].repeats or 1)
        if calls.needs_one_call(lm) or first >= len(requests):
            first = 0
        replies, seconds = [], []
        for part in filter(None, (requests[:first], requests[first:])):  # alike in each process
            started = time.perf_counter()
            with asking_progress.ask_part(lm, len(part)):
                replies += calls.list_replies(original(part, **kwargs), len(part), part[0].task_name, lm)
            seconds.append(time.perf_counter() - started)
        if requests:
            share = seconds[-1] / (len(requests) - first)
            times = times_by_task.setdefault(requests[0].task_name, {"seconds": 0.0, "requests": 0})
            times["seconds"] += seconds[-1] + (min(seconds[0], share * first) if first else 0.0)
            times["requests"] += len(requests)
        return replies

    with wrap_method(lm, "generate_until", generate_until):
        yield
    if os.environ.get("RANK", "0") != "0":
        return
    for task in tasks:
        if times := times_by_task.get(task.config.task):
            # Afterwards: rendering seeds torch and counts trials.
            questions = list(islice(task.eval_docs, _SEEN))
            times["pictures"] = sum(len(task.doc_to_visual(question) or ()) for question in questions)
            times["seen"] = len(questions)
    Path(path).write_text(json.dumps(times_by_task), "utf-8")
