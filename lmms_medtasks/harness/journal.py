"""A journal of finished replies: the same command, started again after a kill, continues where it stopped.

The model gets a task's requests in slices of whole batches, about a minute's work each, and the replies of a slice are
written before the next one is asked: a kill loses one slice. Replies of a model with ``on_replies`` (our runner for
servers) are written as they come. A reply is used again only if everything that determines it is unchanged
(:mod:`lmms_medtasks.harness.reply_keys`). Failed requests are not kept. A runner that must get a task in one call
(``one_call_a_run`` in ``runners.yaml``) has one slice a task.

Trials keep their numbers, so that their seeds do not change (:class:`lmms_medtasks.harness.hooks.TrialSeeder`). At
batch size 1 the replies are those of a run without interruption; larger batches are composed differently, which can
change a reply as another batch size can.

All processes of a run make equally many calls with equally many requests, because the parts of a sharded model meet in
every batch: copies of the last request fill up shorter slices. Each process reads the files of all, so that a command
can continue with another number of processes. Padding of the harness gets the reply of the request that it copies.

When the command has written its results, its journal is removed, unless requests failed: then the same command asks
those again. ``MEDTASKS_JOURNAL=fresh`` discards a journal, ``MEDTASKS_JOURNAL=off`` keeps none. There is no journal
for calls from Python, whose model's name and arguments are not known here, nor for several processes with
``--use_cache``, which may be called differently often.
"""

from __future__ import annotations

import atexit
import contextlib
import copy
import functools
import math
import os
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lmms_medtasks.data import store
from lmms_medtasks.errors import UserError, unknown_name_error
from lmms_medtasks.harness import asking_progress, calls, ending, hooks, journal_files, reply_keys
from lmms_medtasks.harness.journal_files import JournalBusyError, JournalFolder
from lmms_medtasks.harness.replacing import replace_attribute
from lmms_medtasks.progress import print_message

VARIABLE = "MEDTASKS_JOURNAL"
KEEP, FRESH, OFF = "keep", "fresh", "off"

_BATCHES = 16
_SECONDS = 60.0
"""The first slice has 16 batches; the next ones take about a minute."""


@contextlib.contextmanager
def keep_replies_in_journal(lm: Any, tasks: Iterable[Any], arguments: Mapping[str, Any]) -> Iterator[None]:
    """Keep the replies of ``lm`` to these tasks, and use known ones again, until the end.

    ``tasks``: our tasks of the harness's classes, the same on every process. ``arguments``: those of the harness's
    ``evaluate``, by name. Each call of ``generate_until`` must have requests of one task only.

    Raises UserError for an unknown value of ``MEDTASKS_JOURNAL``, and if the same command is running.
    """
    mode = os.environ.get(VARIABLE, "") or KEEP
    if mode not in (KEEP, FRESH, OFF):
        raise unknown_name_error("value", mode, (KEEP, FRESH, OFF), VARIABLE)
    tasks_by_name = {str(task.config.task): task for task in tasks}
    options = arguments.get("cli_args")
    original = getattr(lm, "generate_until", None)
    without = mode == OFF or getattr(lm, "is_instant", False)
    if without or not tasks_by_name or not getattr(options, "model", None) or not callable(original):
        yield
        return
    if arguments.get("response_cache") is not None and calls.count_processes() > 1:
        if os.environ.get("RANK", "0") == "0":
            print_message(
                "lmms-medtasks: replies are not kept: --use_cache in several processes. If this run is cut off, all is "
                "asked again but what that cache holds (greedy replies). Leave out --use_cache to keep them."
            )
        yield
        return
    journal = _Journal(lm, tasks_by_name, arguments, mode == FRESH)

    @functools.wraps(original)
    def generate_until(requests: list[Any]) -> list[Any]:
        if requests and requests[0].task_name in tasks_by_name and requests[0].request_type == "generate_until":
            return journal.find_replies(original, requests)
        return list(original(requests))

    try:
        with replace_attribute(lm, "generate_until", generate_until):
            yield
    except BaseException:
        journal.stop_run()
        raise
    journal.finish_run()


@dataclass(frozen=True)
class _JournalRequest:
    """A request that is not padding: its index in the call, its reply's key, its question and the trial's number."""

    place: int
    key: str
    question: str
    trial: int


class _Journal:
    def __init__(self, lm: Any, tasks: Mapping[str, Any], arguments: Mapping[str, Any], fresh: bool) -> None:
        self._lm, self._tasks, self._fresh = lm, tasks, fresh
        self._options = arguments["cli_args"]
        limits = arguments.get("limit"), arguments.get("offset")
        command = reply_keys.command_digest(lm, self._options, list(tasks), *limits)
        self._folder = JournalFolder(store.data_home() / "journal" / command)
        self._rank = int(os.environ.get("RANK", "0"))
        self._known: dict[str, Mapping[str, Any]] = {}
        self._of_task: Counter[str] = Counter()
        self._model = ""
        self._written: set[str] = set()  # keys of the slice's replies that are in the file already
        self._opened = self._joined = self._writes = False
        self._met: Counter[tuple[str, Any]] = Counter()  # trials of a question of a task so far
        self._seeded: Counter[str] = Counter()  # trials of a question that were seeded in earlier calls
        self._batch = self._unit = _runner_number(lm, "batch_size")
        at_once = max(self._batch, *(_runner_number(lm, name) for name in ("num_concurrent", "concurrency")))
        self._settled = calls.needs_one_call(lm)
        self._size = 0 if self._settled else _BATCHES * at_once

    def find_replies(self, original: Any, requests: Sequence[Any]) -> list[Any]:
        """The replies to a call's requests of one task, in order; missing ones are requested."""
        self._open_folder()
        task = requests[0].task_name
        trial_requests = list(self._iter_asked(task, requests))
        missing = [trial_request for trial_request in trial_requests if trial_request.key not in self._known]
        self._tell_known(task, len(missing), len(trial_requests))
        asking_progress.leave_out_known(self._lm, len(trial_requests) - len(missing))
        replies: list[Any] = [None] * len(requests)
        for trial_request in trial_requests:
            if trial_request.key in self._known:
                replies[trial_request.place] = self._given_back(trial_request)
        # A process without a question of the task has padding only, and sends that.
        places = [trial_request.place for trial_request in missing] if trial_requests else list(range(len(requests)))
        # No slice ends between the trials of a question.
        self._unit = math.lcm(self._batch, int(requests[0].repeats or 1))
        for done, size in self._iter_slices(len(places)):
            slice_places, trials = places[done : done + size], missing[done : done + size]
            self._expect_trials(task, trials)
            filler = [calls.make_padding(requests[-1]) for _ in range(size - len(slice_places))]
            began = time.monotonic()
            with_trial = {trial.place: _with_trial(requests[trial.place], trial.trial) for trial in trials}
            with self._as_they_come(task, trials), asking_progress.ask_part(self._lm, len(trials)):
                answers = original([*(with_trial.get(place, requests[place]) for place in slice_places), *filler])
            answers = calls.list_replies(answers, size, task, self._lm)
            for place, reply in zip(slice_places, answers, strict=False):
                replies[place] = reply
            self._write_replies(task, [(trial, replies[trial.place]) for trial in trials])
            self._adapt_size(size, time.monotonic() - began)
        if trial_requests:
            last, taken = replies[trial_requests[-1].place], {trial_request.place for trial_request in trial_requests}
            replies = [reply if place in taken else last for place, reply in enumerate(replies)]
        # Tasks of one run may have questions of the same id: the hook counts on.
        if self._seeds_trials(task):
            self._seeded.update(trial_request.question for trial_request in trial_requests)
        return replies

    def finish_run(self) -> None:
        """Remove the journal when the process ends, after the harness has written its results."""
        if self._joined:
            atexit.register(self._remove_folder)

    def stop_run(self) -> None:
        """Keep the journal: the run has failed in this process."""
        self._folder.close_files(remove=False)

    def _open_folder(self) -> None:
        """Read known replies, at the first call, when the harness has joined the processes."""
        if self._opened:
            return
        self._opened = True
        names, why, holder = None, "", None
        if self._rank == 0:
            try:
                names = self._folder.begin_session(self._fresh)
            except JournalBusyError as error:
                holder = str(error)
            except OSError as error:
                why = f"{self._folder.path} can't be written: {error}. This run can't be resumed."
        names, why, holder = calls.gather_values((names, why, holder))[0]
        if holder is not None:
            raise UserError(
                f"The same command is running ({holder}): all would be asked twice. Wait until it has ended, or end "
                f"it and start this one again, which goes on with its replies. {VARIABLE}={OFF} runs beside it."
            )
        if names is None:
            if self._rank == 0:
                print_message(f"lmms-medtasks: replies are not kept: {why}")
            return
        self._joined = True
        try:
            lines = self._folder.join_session(names[0], names[1], self._rank)
            self._writes = True
        except OSError as error:
            self._stop_writing(error)
            return
        self._model = reply_keys.model_digest(self._lm, self._options)
        for line in lines:
            if "reply" in line:
                self._known[str(line["key"])] = line
        self._of_task.update(str(line.get("task")) for line in self._known.values())

    def _iter_asked(self, task: str, requests: Sequence[Any]) -> Iterator[_JournalRequest]:
        settings = reply_keys.task_digest(self._tasks[task])
        splits: dict[str, Any] = {}
        documents: dict[Any, tuple[str, str]] = {}
        for place, request in enumerate(requests):
            if (request.metadata or {}).get(calls.PADDING):
                continue
            split, number = request.args[-1], request.doc_id
            if split not in splits:
                splits[split] = reply_keys.raw_rows(self._lm.task_dict[task][split])
            if (split, number) not in documents:
                shown, question = reply_keys.document_digest(splits[split], number)
                generation = [argument for argument in request.args if isinstance(argument, dict)]
                parts = [self._model, settings, task, split, question, shown, request.args[0], generation]
                documents[split, number] = reply_keys.value_digest(parts), question
            key, question = documents[split, number]
            trial = self._met[task, (split, number)]
            self._met[task, (split, number)] += 1
            yield _JournalRequest(place, f"{key}.{trial}", question, trial)

    def _tell_known(self, task: str, missing: int, total_here: int) -> None:
        counts = calls.gather_values((total_here - missing, total_here, self._of_task.get(task, 0)))
        known, total = sum(count[0] for count in counts), sum(count[1] for count in counts)
        if self._rank == 0 and known:
            print_message(
                f"lmms-medtasks: {task}: {known} of {total} replies are known from a run that was cut off; "
                f"{total - known} are asked."
            )
        elif self._rank == 0 and any(count[2] for count in counts):
            print_message(
                f"lmms-medtasks: {task}: a run that was cut off left replies, but of another model, prompt, image, "
                "setting or version. All questions are asked again."
            )

    def _given_back(self, trial_request: _JournalRequest) -> Any:
        line = self._known[trial_request.key]
        for number, parameters in line.get("parameters", {}).items():
            hooks.RENDERED.put(trial_request.question, int(number), parameters)
        return journal_files.unpack_reply(line)

    def _iter_slices(self, own_count: int) -> Iterator[tuple[int, int]]:
        """Start and size of each slice, as needed by the process with the most requests."""
        most = max(calls.gather_values(own_count))
        done = 0
        while done < most:
            size = min(self._whole_units(self._size) if self._size else most, most - done)
            yield done, size
            done += size

    def _whole_units(self, size: float) -> int:
        return max(1, math.ceil(size / self._unit)) * self._unit

    def _adapt_size(self, size: int, seconds: float) -> None:
        """Let slices grow to about a minute's work, equally on all processes."""
        if self._settled or size < self._size:
            return
        slowest = max(calls.gather_values(seconds))
        self._size = self._whole_units(size * min(4.0, _SECONDS / max(slowest, 1e-3)))
        self._settled = slowest >= _SECONDS / 2

    def _expect_trials(self, task: str, trials: Iterable[_JournalRequest]) -> None:
        """Tell the seeding hook the numbers of the next trials of each question."""
        if not self._seeds_trials(task):
            return
        numbers = defaultdict(list)
        for trial in trials:
            numbers[trial.question].append(self._seeded[trial.question] + trial.trial)
        for question, trial_numbers in numbers.items():
            hooks.TRIALS.expect(question, trial_numbers)

    def _seeds_trials(self, task: str) -> bool:
        settings = getattr(self._tasks[task], "lmms_eval_specific_kwargs", None) or {}
        return bool(settings.get("seed_trials"))

    @contextlib.contextmanager
    def _as_they_come(self, task: str, trials: Sequence[_JournalRequest]) -> Iterator[None]:
        """During a call for these trials, write replies as they come if the model has ``on_replies``."""
        self._written.clear()
        if not hasattr(self._lm, "on_replies"):
            yield
            return

        def keep_replies(replies: Mapping[int, Any]) -> None:
            # Padding of a slice comes after the trials.
            replied = [(trials[place], reply) for place, reply in replies.items() if place < len(trials)]
            self._write_replies(task, replied, sync=False)
            self._written.update(trial.key for trial, _ in replied)

        with replace_attribute(self._lm, "on_replies", keep_replies):
            yield

    def _write_replies(self, task: str, replied: Iterable[tuple[_JournalRequest, Any]], *, sync: bool = True) -> None:
        if not self._writes:
            return
        lines = []
        for trial, reply in replied:
            if trial.key in self._written:
                continue
            line = {"key": trial.key, "task": task, **journal_files.pack_reply(reply)}
            drawn = hooks.RENDERED.numbered(trial.question)
            lines.append({**line, "parameters": drawn} if drawn and "reply" in line else line)
        try:
            self._folder.append_lines(lines, sync)
        except (OSError, TypeError, ValueError) as error:
            self._stop_writing(error)

    def _stop_writing(self, error: Exception) -> None:
        self._writes = False
        print_message(
            f"lmms-medtasks: replies are not kept from here on: {error} ({self._folder.path}). The run goes on. If it "
            "is cut off, the same command asks them again."
        )

    def _remove_folder(self) -> None:
        if self._rank > 0:
            self._folder.close_files(remove=os.environ.get("LOCAL_RANK") == "0" and self._folder.is_left())
            return
        lacks = ending.describe_unwritten_results(self._options, self._tasks)
        if lacks:
            print_message(
                f"lmms-medtasks: {lacks}. The replies are kept: give the same command again where there is room, and "
                "nothing is asked twice."
            )
        failed: set[str] = set()
        for line in self._folder.asked_now():
            failed.add(str(line["key"])) if line.get("failed") else failed.discard(str(line["key"]))
        self._folder.close_files(remove=not (lacks or failed))


def _runner_number(lm: Any, name: str) -> int:
    """A numeric attribute of a runner; 1 if it is missing or not a number ("auto")."""
    try:
        return max(1, int(getattr(lm, name, 1)))
    except (TypeError, ValueError, NotImplementedError):
        return 1


def _with_trial(request: Any, trial: int) -> Any:
    copied = copy.copy(request)
    copied.metadata = {**(request.metadata or {}), calls.TRIAL: trial}
    return copied
