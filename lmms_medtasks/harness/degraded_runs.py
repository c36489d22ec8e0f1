"""What a run of degraded tasks did: noted while the model answers, and told in the results.

With each answer in the sample log stand the clean pictures' digests and what was done to them (``degraded_pictures``):
questions on one picture share its draw, so intervals go by picture. In the task's metadata stand how many pictures were
shown and how many of them were changed. A run that asked the model and changed no picture of a task fails: its score
would be called robustness.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import calls, paired_scores
from lmms_medtasks.harness.degraded_tasks import NumberedDocument, Shown, shown_of
from lmms_medtasks.harness.replacing import replaced
from lmms_medtasks.samples.degraded import METADATA, PICTURES, SCORES


class _Numbered:
    """The documents of a split, each of which knows its number."""

    def __init__(self, documents: Any) -> None:
        self._documents = documents

    def __getitem__(self, key: Any) -> Any:
        found = self._documents[key]
        if not (isinstance(found, dict) and hasattr(key, "__index__")):
            return found
        numbered = NumberedDocument(found)
        numbered.number = int(key)
        return numbered

    def __len__(self) -> int:
        return len(self._documents)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._documents, name)


class Watch:
    """Which tasks the model was asked, in this process."""

    def __init__(self, tasks: Iterable[Any]) -> None:
        tasks = list(tasks)
        found = {str(task.config.task): shown_of(task) for task in tasks}
        self.shown: dict[str, Shown] = {name: shown for name, shown in found.items() if shown is not None}
        self.asked: set[str] = set()
        self.tasks = {str(task.config.task): task for task in tasks}

    def told(self, results: Any) -> Any:
        """The harness's results, None on other processes than the first, with what was done to the pictures.

        Raises UserError on all processes where a picture was refused, or no picture of a task was changed.
        """
        for name, shown in self.shown.items():
            if shown.refused is not None:
                raise shown.refused
            parts = _of_all((shown.changed, shown.of_documents, name in self.asked))
            changed = {digest: each for part, _, _ in parts for digest, each in part.items()}
            of_documents = {number: each for _, part, _ in parts for number, each in part.items()}
            if not shown.order.is_control and any(asked for _, _, asked in parts):
                _check(shown, changed)
            if results:
                _add(results, shown, changed, of_documents)
        if results:
            _pair(results, self.tasks, self.shown)
        return results


@contextlib.contextmanager
def watched(lm: Any, tasks: Iterable[Any]) -> Iterator[Watch]:
    """Note what ``lm``, the harness's model, is asked and shown of degraded tasks, until the end.

    To be entered before what answers for the model (caches, journals).
    """
    tasks = list(tasks)
    watch = Watch(tasks)
    if not watch.shown:
        yield watch
        return
    for task in tasks:
        if shown_of(task) is not None:
            lm.task_dict[task.config.task] = {split: _Numbered(each) for split, each in task.dataset.items()}
    with contextlib.ExitStack() as changed:
        for name in calls.METHODS:
            if callable(original := getattr(lm, name, None)):
                changed.enter_context(replaced(lm, name, _noting(original, watch)))
        yield watch


def _noting(original: Any, watch: Watch) -> Any:
    @functools.wraps(original)
    def method(requests: list[Any], *args: Any, **kwargs: Any) -> Any:
        watch.asked.update(str(request.task_name) for request in requests)
        return original(requests, *args, **kwargs)

    return method


def _check(shown: Shown, changed: dict[str, bool]) -> None:
    if not changed:
        raise UserError(
            f"{shown.name}: the model answered without asking for a picture, so nothing was degraded. A model that "
            f"looks at no pictures has the same score on {shown.base}."
        )
    if not any(changed.values()):
        raise UserError(
            f"{shown.name}: none of its {len(changed)} pictures was changed by {shown.order.what} at level "
            f"{shown.order.level}. Its score would be that of {shown.base}, under another name. Look at what it does "
            "to them: lmms-medtasks preview."
        )


def _add(
    results: dict[str, Any], shown: Shown, changed: dict[str, bool], of_documents: dict[int, dict[int, dict[str, Any]]]
) -> None:
    config = results["configs"][shown.name]
    done = config["metadata"][METADATA]
    counts = {"pictures": len(changed), "changed": sum(changed.values())}
    config["metadata"] = {**config["metadata"], METADATA: {**done, **({} if shown.order.is_control else counts)}}
    for row in results.get("samples", {}).get(shown.name, ()):
        if found := of_documents.get(row["doc_id"]):
            row[PICTURES] = [found[number] for number in sorted(found)]


def _pair(results: dict[str, Any], tasks: Mapping[str, Any], shown: Mapping[str, Shown]) -> None:
    """Write each question's scores into the rows of degraded tasks and of their clean ones in this run."""
    wanted = {each.base for each in shown.values()} | set(shown)
    how: dict[str, dict[str, str]] = {}
    for name in sorted(wanted & set(tasks) & set(results.get("samples", {}))):
        rows = results["samples"][name]
        for metric, aggregation in tasks[name].aggregation().items():
            reported = {key: each for key, each in results["results"][name].items() if key.split(",")[0] == metric}
            if len(reported) != 1 or not all(metric in row for row in rows):
                continue  # of several filters a row does not say which one it is of
            [(key, value)] = reported.items()
            found, said = paired_scores.scores([row[metric] for row in rows], aggregation, value)
            how.setdefault(name, {})[key] = said
            for row, score in zip(rows, found or (), strict=False):
                row.setdefault(SCORES, {})[key] = score
    for name, each in shown.items():
        config = results["configs"][name]
        clean = how.get(each.base, {})
        both = {
            key: said if clean.get(key) == said else paired_scores.TOTALS for key, said in how.get(name, {}).items()
        }
        done = {**config["metadata"][METADATA], "scores": both}
        config["metadata"] = {**config["metadata"], METADATA: done}


def _of_all(own: Any) -> list[Any]:
    """What each process has; all of them must call this alike."""
    from torch import distributed

    if not (distributed.is_available() and distributed.is_initialized()):
        return [own]
    every: list[Any] = [None] * distributed.get_world_size()
    distributed.all_gather_object(every, own)
    return every
