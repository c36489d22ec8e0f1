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
an error moves all later replies to other questions, and one that returns the reply before gives it to another. Runners
known for that (``runners.yaml``, one_request_a_call) get one request a call, and such a request fails alone. From any
other runner another number of replies ends the run.

**Requests of their own.** Runners change the settings in a request in place, so that the harness's cache finds nothing
under what it stored, and one trial leaves its changes to the next: each gets a copy.
"""

from __future__ import annotations

import collections
import contextlib
import copy
import functools
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import Any

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import failed_requests, runners
from lmms_medtasks.harness.replacing import replace_attribute
from lmms_medtasks.parsing.reply import SentReply
from lmms_medtasks.parsing.texts import replace_half_characters
from lmms_medtasks.seeding import stable_seed

METHODS = ("generate_until", "generate_until_multi_round", "generate_visual_cot", "loglikelihood")
"""Those by which the evaluator asks a model; ``generate_until_agentic`` asks by ``generate_until``."""

TRIAL = "__medtasks_trial__"
"""A request whose ``metadata`` has this is the trial of that number; else trials are numbered as they come."""

PADDING = "__padding_only__"
"""The harness's own mark, in the ``metadata`` of a request that only fills up a process's share."""


@contextlib.contextmanager
def one_reply_each(
    lm: Any, drawn: Mapping[str, Mapping[str, Any]] = MappingProxyType({}), served: bool = False
) -> Iterator[None]:
    """Let each call of ``lm``'s ``generate_until``, with requests of one task, give one reply to each, until the end.

    ``lm`` is the harness's model; ``drawn`` has the sampling settings of each task whose trials are draws; ``served``
    says that ``lm``'s client is to send them along. A request that failed has the mark of that for a reply. A call
    raises UserError when the model gives another number of replies than it was asked for, where it is not known which
    request failed.

    This goes within :func:`one_task_a_call`, and within what keeps replies: those that are kept are marked.
    """
    original = getattr(lm, "generate_until", None)
    if not callable(original):
        yield
        return
    with replace_attribute(lm, "generate_until", _wrap_generate_until(lm, original, drawn, served)):
        yield


@contextlib.contextmanager
def one_task_a_call(
    lm: Any, during: Callable[[str], AbstractContextManager[object]] = contextlib.nullcontext
) -> Iterator[None]:
    """Let each call of ``lm``, the harness's model, have the requests of one task only, until the end.

    Of a task whose requests have several limits of a reply's length, a call has those of one limit.

    Replies come in the order of the requests, whatever the order of the calls: tasks in the order in which their first
    requests come. ``during`` gives what is to hold while a task, given by its name, is answered.

    A call raises UserError when the model gives another number of replies than it was asked for.
    """
    with contextlib.ExitStack() as changed:
        for name in METHODS:
            if callable(original := getattr(lm, name, None)):
                changed.enter_context(replace_attribute(lm, name, _wrap_by_task(lm, original, during)))
        yield


def check_task_count(lm: Any, tasks: Collection[str]) -> None:
    """Raise UserError where ``lm`` is a runner that can be called once a run, and there are several tasks."""
    if len(tasks) > 1 and (why := _one_call_reason(lm)):
        raise UserError(
            f"The runner {type(lm).__name__} can answer one task a run: {why}, and all in one call could show "
            f"questions the images of others. Asked for are {', '.join(sorted(tasks))}: run them one by one."
        )


def needs_one_call(lm: Any) -> bool:
    """Whether all requests of a task have to stand in one call of the runner's ``generate_until``."""
    return bool(_one_call_reason(lm))


def _one_call_reason(lm: Any) -> str:
    """Why a runner can be called once a run only; "" if it can be called several times."""
    module, table = runners.answering_module(lm), runners.load_runners()
    with_tools = table["one_call_a_run_with_tools"] if getattr(lm, "mcp_client", None) is not None else {}
    return str(table["one_call_a_run"].get(module) or with_tools.get(module) or "")


def _wrap_by_task(lm: Any, original: Any, during: Callable[[str], AbstractContextManager[object]]) -> Any:
    @functools.wraps(original)
    def ask_by_task(requests: list[Any]) -> list[Any]:
        indices_by_call: dict[tuple[str, int | None], list[int]] = {}
        for index, request in enumerate(requests):
            indices_by_call.setdefault((request.task_name, reply_length_limit(request)), []).append(index)
        replies: list[Any] = [None] * len(requests)
        for (task, _), indices in indices_by_call.items():
            with during(task):
                call_replies = original([requests[index] for index in indices])
            for index, reply in zip(indices, list_replies(call_replies, len(indices), task, lm), strict=True):
                replies[index] = reply
        return replies

    return ask_by_task


def reply_length_limit(request: Any) -> int | None:
    """The limit of its reply's length: runners take the settings of a batch's first request for all of it."""
    return next(
        (each.get("max_new_tokens") for each in getattr(request, "arguments", ()) if isinstance(each, dict)), None
    )


def _wrap_generate_until(lm: Any, original: Any, drawn: Mapping[str, Mapping[str, Any]], served: bool) -> Any:
    """``original``, the runner's ``generate_until``, called so that no request's failure touches another's reply."""
    module = runners.answering_module(lm)
    trials: collections.Counter[tuple[str, int]] = collections.Counter()

    @functools.wraps(original)
    def generate_until(requests: list[Any]) -> list[Any]:
        if not requests:
            return []
        sent_requests = _copy_requests(requests) if module else requests
        if module in runners.load_runners()["seeded_requests"] and sent_requests[0].task_name in drawn:
            _seed_requests(sent_requests, trials)
        task = requests[0].task_name
        with contextlib.ExitStack() as changed:
            changed.enter_context(_client_of_this_call(lm, module))
            if hasattr(lm, "client"):
                from lmms_medtasks.harness import chat_servers

                changed.enter_context(chat_servers.read_replies_alike(lm, module))
                if served and task in drawn:
                    changed.enter_context(chat_servers.add_sampling(lm.client, drawn[task]))
            if _asks_one_by_one(lm, module, sent_requests, drawn):
                return _replace_half_characters(_one_by_one(lm, original, sent_requests, module))
            with failed_requests.watch_model_calls(lm, module) as ended:
                replies = list_replies(original(sent_requests), len(sent_requests), sent_requests[0].task_name, lm)
            return _replace_half_characters(failed_requests.mark_failed_replies(replies, ended, module))

    return generate_until


def _replace_half_characters(replies: list[Any]) -> list[Any]:
    """Half a character, which a server's escapes can make, becomes U+FFFD: the harness could not write its log."""
    return [
        replace_half_characters(reply) if isinstance(reply, str) and not isinstance(reply, SentReply) else reply
        for reply in replies
    ]


def _asks_one_by_one(lm: Any, module: str, requests: list[Any], drawn: Collection[str]) -> bool:
    rule = runners.load_runners()["one_request_a_call"].get(module)
    if rule is None or (rule.get("trials") and requests[0].task_name not in drawn):
        return False
    return "batch_size" not in rule or int(lm.batch_size) == rule["batch_size"]


def _one_by_one(lm: Any, original: Any, requests: list[Any], module: str) -> list[Any]:
    from tqdm import tqdm

    with hide_progress_bar(f"lmms_eval.models.{module}"):
        shown = tqdm(requests, disable=getattr(lm, "rank", 0) != 0, desc="Model Responding")
        return [_ask_alone(lm, original, request, module) for request in shown]


def hide_progress_bar(module: str) -> AbstractContextManager[object]:
    """No progress bar of this module, such as a runner's own, of which there would be one a request."""
    from tqdm import tqdm

    runner = sys.modules.get(module)
    if not hasattr(runner, "tqdm"):
        return contextlib.nullcontext()
    return replace_attribute(runner, "tqdm", lambda *args, **kwargs: tqdm(*args, **{**kwargs, "disable": True}))


def _ask_alone(lm: Any, original: Any, request: Any, module: str) -> Any:
    """The reply to one request; the mark of a failure where the runner has another number of replies than one."""
    # It caught what went wrong, and goes on to return a reply that it does not have.
    without_reply = {"UnboundLocalError", *runners.load_runners()["one_request_a_call"][module].get("raises", [])}
    raised: Exception | None = None
    with failed_requests.watch_model_calls(lm, module) as ended:
        try:
            replies = list(original([request]) or ())
        except Exception as error:
            if type(error).__name__ not in without_reply:
                raise
            replies, raised = [], error
    if len(replies) == 1:
        return failed_requests.mark_failed_replies(replies, ended, module)[0]
    why = next((error for error in reversed(ended) if error is not None), raised)
    reason = failed_requests.describe_error(why) if why else f"{len(replies)} replies to one request"
    return failed_requests.failed_request_text(f"{type(lm).__name__}: {reason}")


def _copy_requests(requests: list[Any]) -> list[Any]:
    """Copies of the requests, of which one is handed over several times for several trials, with settings of their own.

    A runner of ours gets the harness's own objects: it knows the trials of a question by them.
    """
    copies = [copy.copy(request) for request in requests]
    for made in copies:
        made.arguments = tuple(
            copy.deepcopy(argument) if isinstance(argument, dict) else argument for argument in made.arguments
        )
    return copies


def _seed_requests(requests: list[Any], trials: collections.Counter[tuple[str, int]]) -> None:
    """Give each request the seed of its trial, which an engine draws by, and the top_p of 1 where it has none.

    The same in any number of processes. An engine's one seed is the same on every rank, and seeding torch in a hook
    does not reach it, or reaches the ranks of one sharded model at different moments.
    """
    for request in requests:
        settings = next(argument for argument in request.arguments if isinstance(argument, dict))
        trial = (request.metadata or {}).get(TRIAL, trials[request.task_name, request.doc_id])
        trials[request.task_name, request.doc_id] += 1
        settings["seed"] = (
            stable_seed("trial", request.task_name, str(request.doc_id), trial, int(settings.get("seed") or 0)) % 2**31
        )
        settings["top_p"] = 1.0 if settings.get("top_p") is None else settings["top_p"]


@contextlib.contextmanager
def _client_of_this_call(lm: Any, module: str) -> Iterator[None]:
    """A client of its own for a runner that runs an event loop a call: pooled connections belong to the loop before."""
    client: Any = getattr(lm, "client", None)
    if runners.load_runners()["new_client_a_call"].get(module) != type(client).__name__:
        yield
        return
    made = type(client)(
        api_key=client.api_key, base_url=client.base_url, timeout=client.timeout, max_retries=client.max_retries
    )
    with replace_attribute(lm, "client", made):
        yield


def list_replies(returned: Any, request_count: int, task: str, lm: Any) -> list[Any]:
    """The replies as a list; raises UserError where they are not as many as the requests."""
    replies = [] if returned is None else list(returned)
    if len(replies) != request_count:
        raise UserError(
            f"The runner {type(lm).__name__} returned {len(replies)} replies to {request_count} requests of {task}. "
            "Which reply belongs to which question can't be told, so nothing is scored. Its own messages above may "
            "say where it failed. Mend that and run again, or choose another runner."
        )
    return replies


@contextlib.contextmanager
def pad_requests_of_ranks(tasks: Iterable[Any]) -> Iterator[None]:
    """Fill up each task's requests to the largest number that a rank has of it, until its filters are applied.

    ``tasks``: the harness's task objects, before they build their requests, the same on every rank. Does nothing in a
    single process. The copies are of the rank's last request of the task and bear the harness's mark of padding.
    """
    with contextlib.ExitStack() as changed:
        for task in {id(task): task for task in tasks}.values() if count_processes() > 1 else ():
            copies: list[Any] = []
            build, apply = getattr(task, "build_all_requests", None), getattr(task, "apply_filters", None)
            changed.enter_context(
                replace_attribute(task, "build_all_requests", _wrap_build_all_requests(task, build, copies))
            )
            changed.enter_context(replace_attribute(task, "apply_filters", _wrap_apply_filters(task, apply, copies)))
        yield


def _wrap_build_all_requests(task: Any, build: Any, copies: list[Any]) -> Any:
    @functools.wraps(build)
    def build_all_requests(*args: Any, **kwargs: Any) -> None:
        build(*args, **kwargs)
        requests = task.instances
        lacking = _largest_count(len(requests)) - len(requests) if requests else 0
        copies[:] = [make_padding(requests[-1]) for _ in range(lacking)]
        task._instances = [*requests, *copies]

    return build_all_requests


def _wrap_apply_filters(task: Any, apply: Any, copies: list[Any]) -> Any:
    @functools.wraps(apply)
    def apply_filters(*args: Any, **kwargs: Any) -> Any:
        dropped = set(map(id, copies))
        task._instances = [request for request in task.instances if id(request) not in dropped]
        return apply(*args, **kwargs)

    return apply_filters


def make_padding(request: Any) -> Any:
    """A copy of a request that only fills up a process's share, with the harness's mark of that."""
    made = copy.copy(request)
    made.metadata = {**(request.metadata or {}), PADDING: True}
    made.resps, made.token_counts, made.filtered_resps, made.raw_filtered_resps = [], [], {}, {}
    return made


def count_processes() -> int:
    """The number of processes of this run."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def _largest_count(request_count: int) -> int:
    """The largest number that a rank has; the evaluator asks all ranks the same way at this point."""
    return int(max(gather_values(request_count)))


def gather_values(value: Any) -> list[Any]:
    """What each process says, in their order; all must ask."""
    from torch import distributed

    if count_processes() == 1 or not (distributed.is_available() and distributed.is_initialized()):
        return [value]
    values: list[Any] = [None] * distributed.get_world_size()
    distributed.all_gather_object(values, value)
    return values
