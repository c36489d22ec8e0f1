"""How a model is called: with the requests of one task at a time, as many on every rank, and one reply to each.

**One task a call.** The harness gives a model the requests of all tasks of a run in one call. Many of its runners sort
them by prompt, cut them into batches, and take the task and the pictures of a whole batch from its first request
(``task = task[0]``, ``doc_to_visual[0]``; chat runners ``doc_to_messages[0]``). Where tasks have prompts in common, as
the levels of a benchmark of image quality have, questions are then shown another task's pictures.

**As many on every rank.** The parts of a sharded model meet in every forward pass, so all ranks must run as many
batches. The harness counts how many requests a rank lacks over all tasks, and adds so many copies of its last request,
each as often as the *last* task has repeats. For one call a task that won't do: the last task would get all the copies
and the others none. (Where tasks differ in their repeats, the harness's own count is wrong too.) So each task's
requests are filled up to the largest number that a rank has of it, right after they are built and before the harness
counts: it then finds nothing to add. A rank without a question of a task has a request of it from the harness already.
The copies are dropped before anything is filtered, judged or scored. With ``--use_cache`` a rank asks only what its
cache lacks; numbers can differ then, as they do without us.

**One reply to each.** The evaluator zips replies to requests without counting: a runner that returns one too many after
an error moves all later replies to other questions.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from lmms_medtasks.errors import UserError

METHODS = ("generate_until", "generate_until_multi_round", "generate_visual_cot", "loglikelihood")
"""Those by which the evaluator asks a model; ``generate_until_agentic`` asks by ``generate_until``."""

TRIAL = "__medtasks_trial__"
"""A request whose ``metadata`` has this is the trial of that number; else trials are numbered as they come."""

_PADDING = "__padding_only__"  # the harness's own mark


@contextlib.contextmanager
def one_task_a_call(
    lm: Any, during: Callable[[str], AbstractContextManager[object]] = contextlib.nullcontext
) -> Iterator[None]:
    """Let each call of ``lm``, the harness's model, have the requests of one task only, until the end.

    Replies come in the order of the requests, whatever the order of the calls: tasks in the order in which their first
    requests come. ``during`` gives what is to hold while a task, given by its name, is answered.

    A call raises UserError when the model gives another number of replies than it was asked for.
    """
    with contextlib.ExitStack() as replaced:
        for name in METHODS:
            if callable(original := getattr(lm, name, None)):
                replaced.enter_context(_replaced(lm, name, _by_task(lm, original, during)))
        yield


def _by_task(lm: Any, original: Any, during: Callable[[str], AbstractContextManager[object]]) -> Any:
    @functools.wraps(original)
    def method(requests: list[Any]) -> list[Any]:
        places: dict[str, list[int]] = {}
        for place, request in enumerate(requests):
            places.setdefault(request.task_name, []).append(place)
        replies: list[Any] = [None] * len(requests)
        for task, own in places.items():
            with during(task):
                found = original([requests[place] for place in own])
            for place, reply in zip(own, _counted(found, len(own), task, lm), strict=True):
                replies[place] = reply
        return replies

    return method


def _counted(found: Any, asked: int, task: str, lm: Any) -> list[Any]:
    """The replies as a list; raises UserError where they are not as many as the requests."""
    replies = [] if found is None else list(found)
    if len(replies) != asked:
        raise UserError(
            f"The runner {type(lm).__name__} returned {len(replies)} replies to {asked} requests of {task}. "
            "Which reply belongs to which question can't be told, so nothing is scored. Its own messages above may "
            "say where it failed. Mend that and run again, or choose another runner."
        )
    return replies


@contextlib.contextmanager
def as_many_on_every_rank(tasks: Iterable[Any]) -> Iterator[None]:
    """Fill up each task's requests to the largest number that a rank has of it, until its filters are applied.

    ``tasks``: the harness's task objects, before they build their requests, the same on every rank. Does nothing in a
    single process. The copies are of the rank's last request of the task and bear the harness's mark of padding.
    """
    with contextlib.ExitStack() as replaced:
        for task in {id(task): task for task in tasks}.values() if _ranks() > 1 else ():
            copies: list[Any] = []
            build, apply = getattr(task, "build_all_requests", None), getattr(task, "apply_filters", None)
            replaced.enter_context(_replaced(task, "build_all_requests", _filling(task, build, copies)))
            replaced.enter_context(_replaced(task, "apply_filters", _dropping(task, apply, copies)))
        yield


def _filling(task: Any, build: Any, copies: list[Any]) -> Any:
    @functools.wraps(build)
    def build_all_requests(*args: Any, **kwargs: Any) -> None:
        build(*args, **kwargs)
        own = task.instances
        copies[:] = [_copy(own[-1]) for _ in range(_most(len(own)) - len(own))] if own else []
        task._instances = [*own, *copies]

    return build_all_requests


def _dropping(task: Any, apply: Any, copies: list[Any]) -> Any:
    @functools.wraps(apply)
    def apply_filters(*args: Any, **kwargs: Any) -> Any:
        dropped = set(map(id, copies))
        task._instances = [request for request in task.instances if id(request) not in dropped]
        return apply(*args, **kwargs)

    return apply_filters


def _copy(request: Any) -> Any:
    made = copy.copy(request)
    made.metadata = {**(request.metadata or {}), _PADDING: True}
    made.resps, made.token_counts, made.filtered_resps, made.raw_filtered_resps = [], [], {}, {}
    return made


def _ranks() -> int:
    return int(os.environ.get("WORLD_SIZE", "1"))


def _most(own: int) -> int:
    """The largest number that a rank has; the evaluator asks all ranks the same way at this point."""
    from torch import distributed

    if not (distributed.is_available() and distributed.is_initialized()):
        return own
    numbers: list[Any] = [None] * distributed.get_world_size()
    distributed.all_gather_object(numbers, own)
    return max(numbers)


@contextlib.contextmanager
def _replaced(holder: Any, name: str, value: Any) -> Iterator[None]:
    """Set an attribute of an object; at the end it is as it was, one of its class's again if it was that."""
    before = {name: vars(holder)[name]} if name in vars(holder) else {}
    setattr(holder, name, value)
    try:
        yield
    finally:
        if before:
            setattr(holder, name, before[name])
        else:
            delattr(holder, name)
