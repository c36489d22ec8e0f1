"""Record what a run of degraded tasks shows while the model answers, and write it into the results.

Each row of the sample log gets the clean pictures' digests and what was done to them (``degraded_pictures``): questions
on one picture share its draw, so intervals are clustered by picture. The task's metadata gets the numbers of shown and
changed pictures. A task fails if the model was asked and no picture changed, because its score would look like
robustness, or if it shows something that can't be degraded. A failed task has no numbers, and the reason in its
metadata; the other tasks keep their results, and the command ends with status 1.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from lmms_medtasks.harness import calls, degraded_pairing, ending, failed_requests
from lmms_medtasks.harness.degraded_tasks import NumberedDocument, ShownImages, find_shown_pictures
from lmms_medtasks.harness.replacing import replace_attribute
from lmms_medtasks.progress import print_message
from lmms_medtasks.samples.degraded import FAILED, METADATA, PICTURES, list_degraded_failures


class _Numbered:
    """The documents of a split, as :class:`NumberedDocument`."""

    def __init__(self, documents: Any) -> None:
        self._documents = documents

    def __getitem__(self, key: Any) -> Any:
        document = self._documents[key]
        if not (isinstance(document, dict) and hasattr(key, "__index__")):
            return document
        numbered = NumberedDocument(document)
        numbered.number = int(key)
        return numbered

    def __len__(self) -> int:
        return len(self._documents)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._documents, name)


class DegradationWatch:
    """Notes which degraded tasks the model was asked in this process."""

    def __init__(self, tasks: Iterable[Any]) -> None:
        tasks = list(tasks)
        shown_by_task = {str(task.config.task): find_shown_pictures(task) for task in tasks}
        self.shown: dict[str, ShownImages] = {name: shown for name, shown in shown_by_task.items() if shown is not None}
        self.asked: set[str] = set()
        self.tasks = {str(task.config.task): task for task in tasks}

    def told(self, results: Any) -> Any:
        """Add what was done to the pictures to the harness's results, which are None on all processes but the first.

        Failed tasks lose their results and get the reason in their metadata.
        """
        failed: dict[str, str] = {}
        for name, shown in self.shown.items():
            refused = None if shown.refused is None else str(shown.refused)
            parts = calls.gather_values((shown.changed, shown.of_documents, name in self.asked, refused))
            changed = {digest: each for part, *_ in parts for digest, each in part.items()}
            of_documents = {number: each for _, part, *_ in parts for number, each in part.items()}
            why = next((each for *_, each in parts if each), "")
            if not why and not shown.order.is_control and any(was_asked for _, _, was_asked, _ in parts):
                why = _unchanged_problem(shown, changed)
            if why:
                failed[name] = why
            if results:
                _add_counts(results, shown, changed, of_documents)
        if results:
            for name, why in failed.items():
                _remove_numbers(results, name, why)
            bases = {name: shown.base for name, shown in self.shown.items() if name not in failed}
            degraded_pairing.add_paired_scores(results, self.tasks, bases)
            if failed:
                _tell_failures(failed)
        return results


@contextlib.contextmanager
def watch_degraded_tasks(lm: Any, tasks: Iterable[Any]) -> Iterator[DegradationWatch]:
    """Note until the end which degraded tasks ``lm``, the harness's model, is asked.

    To be entered before caches and journals, which answer for the model.
    """
    tasks = list(tasks)
    watch = DegradationWatch(tasks)
    if not watch.shown:
        yield watch
        return
    for task in tasks:
        if find_shown_pictures(task) is not None:
            lm.task_dict[task.config.task] = {split: _Numbered(each) for split, each in task.dataset.items()}
    with contextlib.ExitStack() as changed:
        for name in calls.METHODS:
            if callable(original := getattr(lm, name, None)):
                changed.enter_context(replace_attribute(lm, name, _wrap_asking(name, original, watch)))
        yield watch


def _wrap_asking(name: str, original: Any, watch: DegradationWatch) -> Any:
    @functools.wraps(original)
    def note_and_ask(requests: list[Any], *args: Any, **kwargs: Any) -> Any:
        task_names = {str(request.task_name) for request in requests}
        watch.asked.update(task_names)
        try:
            return original(requests, *args, **kwargs)
        except Exception:
            # Not with several processes, which would wait for each other, nor for likelihoods, which have no mark for a
            # failed request, so that a cache would keep them.
            refused = [watch.shown[task].refused for task in task_names & set(watch.shown)]
            if len(task_names) > 1 or not any(refused) or name != "generate_until" or calls.count_processes() > 1:
                raise
            return [failed_requests.failed_request_text(refused[0])] * len(requests)

    return note_and_ask


def _unchanged_problem(shown: ShownImages, changed: dict[str, bool]) -> str:
    """Why no picture of a task was changed; "" if one was."""
    if not changed:
        return (
            f"{shown.name}: the model answered without asking for an image, so nothing was degraded. A model that "
            f"looks at no images has the same score on {shown.base}."
        )
    if not any(changed.values()):
        return (
            f"{shown.name}: none of its {len(changed)} images was changed by {shown.order.what} at level "
            f"{shown.order.level}. Its score would be that of {shown.base}, under another name. Look at what it does "
            "to them: lmms-medtasks preview."
        )
    return ""


def _remove_numbers(results: dict[str, Any], name: str, why: str) -> None:
    """Remove the numbers of a task and of its groups from the results; its sample log stays."""
    config = results["configs"][name]
    config["metadata"] = {**config["metadata"], METADATA: {**config["metadata"][METADATA], FAILED: why}}
    for part in ("results", "groups"):
        for holder in _find_holders(results.get("group_subtasks") or {}, name):
            if holder in (part_results := results.get(part) or {}):
                part_results[holder] = {key: value for key, value in part_results[holder].items() if key == "alias"}


def _find_holders(subtasks: Mapping[str, Sequence[str]], name: str) -> set[str]:
    """``name`` and the groups that hold it, directly or indirectly."""
    holders = {name}
    while more := {group for group, members in subtasks.items() if set(members) & holders} - holders:
        holders |= more
    return holders


def _tell_failures(failed: Mapping[str, str]) -> None:
    """Print the reasons; the harness's command line then ends with status 1 once everything is written."""
    for why in failed.values():
        print_message(f"lmms-medtasks: {why}")

    def describe_failed_tasks(results: Mapping[str, Any]) -> str:
        names = list_degraded_failures(results)
        return f"no result of {', '.join(names)}, see above. All others are written." if names else ""

    ending.fail_after_the_tables(describe_failed_tasks)


def _add_counts(
    results: dict[str, Any],
    shown: ShownImages,
    changed: dict[str, bool],
    of_documents: dict[int, dict[int, dict[str, Any]]],
) -> None:
    config = results["configs"][shown.name]
    done = config["metadata"][METADATA]
    counts = {"pictures": len(changed), "changed": sum(changed.values())}
    config["metadata"] = {**config["metadata"], METADATA: {**done, **({} if shown.order.is_control else counts)}}
    for row in results.get("samples", {}).get(shown.name, ()):
        if done_by_number := of_documents.get(row["doc_id"]):
            row[PICTURES] = [done_by_number[number] for number in sorted(done_by_number)]
