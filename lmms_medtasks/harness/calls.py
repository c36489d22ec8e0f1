"""How a model is called: with the requests of one task at a time, as many on every rank, and one reply to each.

**One task a call.** The harness gives a model the requests of all tasks of a run in one call. Many of its runners sort
them by prompt, cut them into batches, and take the task and the pictures of a whole batch from its first request
(``task = task[0]``, ``doc_to_visual[0]``; chat runners ``doc_to_messages[0]``). Where tasks share prompts, as the
levels of a degradation benchmark do, questions would be shown another task's pictures.

**As many on every rank.** The parts of a sharded model meet in every forward pass, so all ranks must run as many
batches. The harness adds copies of a rank's last request, counted over all tasks: with one call per task the last task
would get all copies. So we fill up each task's requests to the largest number that a rank has of it, before the harness
counts and finds nothing to add. (A rank without a question of a task has a request of it from the harness.) The copies
are dropped before anything is filtered, judged or scored. With ``--use_cache`` a rank asks only what its cache lacks;
numbers can differ then, as they do without us.

**One reply to each.** The evaluator zips replies to requests without counting: one reply too many after an error would
move all later ones to other questions. Runners known for that (``runners.yaml``, one_request_a_call) get one request
per call, and such a request fails alone. From any other runner another number of replies ends the run.

**Requests of their own.** Runners change the settings in a request in place, so that the harness's cache does not find
what it stored, and a trial's changes reach the next one: each gets a copy.
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

from tqdm import tqdm

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import failed_requests, runners
from lmms_medtasks.harness.replacing import replace_attribute, wrap_method
from lmms_medtasks.parsing.reply import SentReply
from lmms_medtasks.parsing.texts import replace_half_characters
from lmms_medtasks.seeding import stable_seed

METHODS = ("generate_until", "generate_until_multi_round", "generate_visual_cot", "loglikelihood")
"""Those by which the evaluator asks a model; ``generate_until_agentic`` asks by ``generate_until``."""

TRIAL = "__medtasks_trial__"
"""A request whose ``metadata`` has this is the trial of that number; else trials are numbered as they come."""

PADDING = "__padding_only__"
"""The harness's own mark, in the ``metadata`` of a request that only fills up a process's share."""


def one_reply_each(
    lm: Any, drawn: Mapping[str, Mapping[str, Any]] = MappingProxyType({}), *, served: bool = False
) -> AbstractContextManager[None]:
    """Let each call of ``lm``'s ``generate_until``, with requests of one task, give one reply to each, until the end.

    ``lm`` is the harness's model; ``drawn`` has the sampling settings of each task whose trials are draws; ``served``
    says that ``lm``'s client is to send them along. The reply to a failed request is the mark of a failure. A call
    raises UserError when the model gives another number of replies than it was asked for, where it is not known which
    request failed.

    Enter it within :func:`one_task_a_call`, and within what keeps replies, so that marks are kept too.
    """
    module = runners.answering_module(lm)
    trials: collections.Counter[tuple[str, int]] = collections.Counter()

    def generate_until(original: Any, requests: list[Any]) -> list[Any]:
        if not requests:
            return []
        sent_requests = _copy_requests(requests) if module else requests
        task = requests[0].task_name
        if module in runners.load_runners()["seeded_requests"] and task in drawn:
            _seed_requests(sent_requests, trials)
        with contextlib.ExitStack() as changed:
            changed.enter_context(_client_of_this_call(lm, module))
            if hasattr(lm, "client"):
                from lmms_medtasks.harness import chat_servers

                changed.enter_context(chat_servers.read_replies_alike(lm, module))
                if served and task in drawn:
                    changed.enter_context(chat_servers.add_sampling(lm.client, drawn[task]))
            if _asks_one_by_one(lm, module, task in drawn):
                replies = _one_by_one(lm, original, sent_requests, module)
            else:
                with failed_requests.watch_model_calls(lm, module) as ended:
                    replies = list_replies(original(sent_requests), len(sent_requests), task, lm)
                replies = failed_requests.mark_failed_replies(replies, ended, module)
        return _replace_half_characters(replies)

    return wrap_method(lm, "generate_until", generate_until)


@contextlib.contextmanager
def one_task_a_call(
    lm: Any, during: Callable[[str], AbstractContextManager[object]] = contextlib.nullcontext, *, is_shown: bool = True
) -> Iterator[None]:
    """Let each call of ``lm``, the harness's model, have the requests of one task only, until the end.

    Of a task whose requests have several limits of a reply's length, a call has those of one limit.

    Replies come in the order of the requests, whatever the order of the calls: tasks in the order in which their first
    requests come. ``during`` gives what is to hold while a task, given by its name, is answered. ``is_shown``: one bar
    of ours stands in place of the runner's.

    A call raises UserError when the model gives another number of replies than it was asked for.
    """
    with contextlib.ExitStack() as changed:
        for name in METHODS:
            changed.enter_context(wrap_method(lm, name, functools.partial(_ask_by_task, lm, during, is_shown)))
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


def _ask_by_task(
    lm: Any, during: Callable[[str], AbstractContextManager[object]], is_shown: bool, original: Any, requests: list[Any]
) -> list[Any]:
    from lmms_medtasks.harness.asking_progress import AskingProgress

    indices_by_call: dict[tuple[str, int | None], list[int]] = {}
    for index, request in enumerate(requests):
        indices_by_call.setdefault((request.task_name, reply_length_limit(request)), []).append(index)
    replies: list[Any] = [None] * len(requests)
    with contextlib.ExitStack() as shown:
        bar = AskingProgress(lm, requests, count_processes()) if is_shown else None
        if bar:
            shown.callback(bar.close)
        for (task, _), indices in indices_by_call.items():
            call_requests = [requests[index] for index in indices]
            with during(task), bar.ask(task, call_requests) if bar else contextlib.nullcontext():
                call_replies = original(call_requests)
            for index, reply in zip(indices, list_replies(call_replies, len(indices), task, lm), strict=True):
                replies[index] = reply
    return replies


def reply_length_limit(request: Any) -> int | None:
    """The limit of its reply's length: runners take the settings of a batch's first request for all of it."""
    settings = (argument for argument in getattr(request, "arguments", ()) if isinstance(argument, dict))
    return next(settings, {}).get("max_new_tokens")


def _replace_half_characters(replies: list[Any]) -> list[Any]:
    """Half a character, which a server's escapes can make, becomes U+FFFD: the harness could not write its log."""
    return [
        replace_half_characters(reply) if isinstance(reply, str) and not isinstance(reply, SentReply) else reply
        for reply in replies
    ]


def _asks_one_by_one(lm: Any, module: str, is_drawn: bool) -> bool:
    rule = runners.load_runners()["one_request_a_call"].get(module)
    if rule is None or (rule.get("trials") and not is_drawn):
        return False
    return "batch_size" not in rule or int(lm.batch_size) == rule["batch_size"]


def _one_by_one(lm: Any, original: Any, requests: list[Any], module: str) -> list[Any]:
    with hide_progress_bar(f"lmms_eval.models.{module}"):
        return [_ask_alone(lm, original, request, module) for request in tqdm(requests)]


def hide_progress_bar(module: str) -> AbstractContextManager[object]:
    """Hide the progress bars of a module, such as a runner's, which would show one per request."""
    runner = sys.modules.get(module)
    if not hasattr(runner, "tqdm"):
        return contextlib.nullcontext()
    return replace_attribute(runner, "tqdm", lambda *args, **kwargs: tqdm(*args, **{**kwargs, "disable": True}))


@contextlib.contextmanager
def hide_harness_bars() -> Iterator[None]:
    """Hide the harness's bars of building requests and scoring, which are one for each task."""
    with hide_progress_bar("lmms_eval.evaluator"), hide_progress_bar("lmms_eval.api.task"):
        yield


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
    for request in copies:
        request.arguments = tuple(copy.deepcopy(x) if isinstance(x, dict) else x for x in request.arguments)
    return copies


def _seed_requests(requests: list[Any], trials: collections.Counter[tuple[str, int]]) -> None:
    """Give each request the seed of its trial, which an engine draws by, and the top_p of 1 where it has none.

    The seeds do not depend on the number of processes. An engine's one seed is the same on every rank, and seeding
    torch in a hook does not reach it, or reaches the ranks of one sharded model at different moments.
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
    """Give a runner that runs an event loop per call a new client: pooled connections belong to the previous loop."""
    client: Any = getattr(lm, "client", None)
    if runners.load_runners()["new_client_a_call"].get(module) != type(client).__name__:
        yield
        return
    settings = {name: getattr(client, name) for name in ("api_key", "base_url", "timeout", "max_retries")}
    with replace_attribute(lm, "client", type(client)(**settings)):
        yield


def list_replies(returned: Any, request_count: int, task: str, lm: Any) -> list[Any]:
    """The replies as a list; raises UserError if there are not as many as requests."""
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
            for name, wrapper in (
                ("build_all_requests", _build_with_copies),
                ("apply_filters", _filter_without_copies),
            ):
                changed.enter_context(wrap_method(task, name, functools.partial(wrapper, task, copies)))
        yield


def _build_with_copies(task: Any, copies: list[Any], build: Any, *args: Any, **kwargs: Any) -> None:
    build(*args, **kwargs)
    requests = task.instances
    # The evaluator asks all ranks the same way at this point.
    lacking = max(gather_values(len(requests))) - len(requests) if requests else 0
    copies[:] = [make_padding(requests[-1]) for _ in range(lacking)]
    task._instances = [*requests, *copies]


def _filter_without_copies(task: Any, copies: list[Any], apply: Any, *args: Any, **kwargs: Any) -> Any:
    dropped = set(map(id, copies))
    task._instances = [request for request in task.instances if id(request) not in dropped]
    return apply(*args, **kwargs)


def make_padding(request: Any) -> Any:
    """A copy of a request that only fills up a process's share, with the harness's mark of that."""
    made = copy.copy(request)
    made.metadata = {**(request.metadata or {}), PADDING: True}
    made.resps, made.token_counts, made.filtered_resps, made.raw_filtered_resps = [], [], {}, {}
    return made


def count_processes() -> int:
    """The number of processes of this run."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def gather_values(value: Any) -> list[Any]:
    """The value of each process, in their order; all processes must call this."""
    from torch import distributed

    if count_processes() == 1 or not (distributed.is_available() and distributed.is_initialized()):
        return [value]
    values: list[Any] = [None] * distributed.get_world_size()
    distributed.all_gather_object(values, value)
    return values
