"""What we add to the harness's ``lmms_eval.evaluator.evaluate``, which has the model and the tasks in hand.

Before it runs, options that change what a task asks are refused or noted (:mod:`lmms_medtasks.harness.run_options`),
tasks are restricted to a subset where one is chosen (:mod:`lmms_medtasks.harness.subset_tasks`),
--repeats is compared with the number of trials that a task's metrics get, a model behind the server of a third party is
kept from data whose terms forbid that (:mod:`lmms_medtasks.harness.model_guard`), a task that would not show our
pictures is refused, and so are several tasks for a runner that can be called once only; an adapter's runner that
re-encodes pictures is named. While it runs, the model gets the requests of one task a call
(:mod:`lmms_medtasks.harness.calls`), sampling settings that the checkpoint ships are set aside where they can be
reached (:mod:`lmms_medtasks.harness.sampling`), and open answers are judged between generation and scoring
(:mod:`lmms_medtasks.harness.judging_stage`). Limits of a reply's length that differ between a task's questions are set
(:mod:`lmms_medtasks.harness.reply_limits`). Why each reply ended is noted
(:mod:`lmms_medtasks.harness.reply_endings`) and told the scoring hooks, with the user's own marks of thoughts
(:mod:`lmms_medtasks.harness.reasoning_tags`). Replies are kept until the run is finished
(:mod:`lmms_medtasks.harness.journal`). Of degraded tasks it is noted what was done
(:mod:`lmms_medtasks.harness.degraded_runs`).
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any

from lmms_medtasks import redacting
from lmms_medtasks.data import subsets
from lmms_medtasks.errors import UserError, is_command_line, user_errors
from lmms_medtasks.harness import (
    call_times,
    calls,
    chosen_settings,
    cut_replies,
    degraded_lookup,
    ending,
    judged,
    model_names,
    reasoning_tags,
    relied_on,
    reply_endings,
    reply_limits,
    run_options,
    run_secrets,
    runners,
    sampling,
    stamps,
)
from lmms_medtasks.progress import say
from lmms_medtasks.samples.run_options import TAGS_OPTION, given_tags
from lmms_medtasks.suites import paper

_MARK = "_lmms_medtasks_joined"

OURS = "_lmms_medtasks_ours"
"""Attribute of the harness's task manager: the tasks of ours that were asked for, with their configurations."""


def join_evaluator(module: Any) -> None:
    """Wrap ``evaluate`` of ``module``, which is ``lmms_eval.evaluator``. Doing it twice changes nothing.

    And ``simple_evaluate``, which the command line calls: it has the options in hand before a model is loaded.
    """
    if getattr(module, _MARK, False):
        return
    setattr(module, _MARK, True)
    _join_simple_evaluate(module)
    original = module.evaluate

    @functools.wraps(original)
    def evaluate(*args: Any, **kwargs: Any) -> Any:
        # By name, however they were given: a library's user may hand them over by place.
        named = inspect.signature(original).bind(*args, **kwargs).arguments
        lm, tasks = named["lm"], named["task_dict"]
        with user_errors():
            every = list(tasks_of(tasks))
            ours = [task for task in every if is_ours(task.config)]
            if _lacks_for(ours, named):
                return original(*args, **kwargs)  # of others
            run_options.check_loaded(lm, ours, [task for task in every if not is_ours(task.config)], named)
            run_options.note(ours, named)
            tags = reasoning_tags.taken_over(ours, named)
            if paper.chosen() == paper.THINKING:
                from lmms_medtasks.harness import model_room

                model_room.lower(ours, lm)
            chosen_settings.check_ours([str(task.config.task) for task in every if not is_ours(task.config)])
            _restrict(every, ours, named.get("limit"))
            _check_write_out(tasks, bool(named.get("write_out")))
            _check_model(lm, tasks)
            _check_repeats(tasks)
            _tell_tasks(lm, tasks)
            _check_pictures(tasks)
            calls.check_tasks(lm, [config.task for config in _configs(tasks)])
            _check_draws(lm, tasks)
            _note_encoding(lm, tasks)
            kind = _server_kind(lm)
            served = kind if _drawn(tasks) else None
            cut = cut_replies.CutReplies({str(task.config.task): dict(vars(task.config)) for task in ours}, tags)
            secrets, options = run_secrets.of_run(named), named.get("cli_args")
            with (
                _left_out_of_cache(named.get("response_cache")),
                degraded_lookup.watched(lm, every) as watch,
                calls.one_reply_each(lm, _drawn(tasks), bool(served)),
                reply_endings.noted(lm, set(tags), cut.look),
                run_secrets.left_out(lm, secrets),
                _replies_kept(lm, ours, named),
                call_times.noted(lm, list(tasks_of(tasks))),
                _one_task_a_call(lm, tasks, served),
                # Before the stage, so that a judge is asked of replies that say why they ended.
                reasoning_tags.handed_over(ours, tags) as unknown_marks,
                judged.stage(every) as judging,
                reply_limits.by_question(lm, list(tasks_of(tasks))),
                # Within the stage, so that no copy is judged.
                calls.as_many_on_every_rank(tasks_of(tasks)),
                user_errors(every_rank=True),
            ):
                results = watch.told(_with_server(judging.cleaned(original(*args, **kwargs)), lm, tasks))
                cut.ended()
                results = reasoning_tags.told(results, unknown_marks)
                ending.check_failures(results)
                if ours:
                    ending.check_written(options, [str(task.config.task) for task in ours])
                return results

    module.evaluate = evaluate


def _left_out_of_cache(cache: Any) -> contextlib.AbstractContextManager[None]:
    """No failed requests in the harness's cache, if there is one."""
    if cache is None:
        return contextlib.nullcontext()
    from lmms_medtasks.harness import cached_failures

    return cached_failures.left_out(cache)


def _server_kind(lm: Any) -> str | None:
    if not hasattr(lm, "client"):
        return None
    from lmms_medtasks.harness import chat_servers

    return chat_servers.server_kind(lm)


def _replies_kept(lm: Any, ours: list[Any], named: Mapping[str, Any]) -> contextlib.AbstractContextManager[None]:
    """The journal of replies to our tasks, where they cost something."""
    if not ours or getattr(lm, "is_instant", False):
        return contextlib.nullcontext()
    from lmms_medtasks.harness import journal

    return journal.kept(lm, ours, named)


def _restrict(every: list[Any], ours: list[Any], limit: Any) -> None:
    """Leave the tasks the rows of a subset, if one is chosen."""
    if subsets.chosen() is not None:
        from lmms_medtasks.harness import subset_tasks

        subset_tasks.restrict(every, ours, limit)


def _lacks_for(ours: list[Any], named: Mapping[str, Any]) -> bool:
    """Whether this harness lacks what a run of this kind needs; raises UserError then where tasks of ours are in it."""
    kinds = {relied_on.CACHE: named.get("response_cache") is not None, relied_on.PROCESSES: calls.ranks() > 1}
    lacking = [part for part, holds in kinds.items() if holds and relied_on.needed(part)]
    for part in lacking if ours else ():
        relied_on.check(part, str(ours[0].config.task))
    return bool(lacking)


def _join_simple_evaluate(module: Any) -> None:
    original = getattr(module, "simple_evaluate", None)
    if original is None:
        return

    @functools.wraps(original)
    def simple_evaluate(*args: Any, **kwargs: Any) -> Any:
        named = inspect.signature(original).bind(*args, **kwargs).arguments
        with user_errors():
            _check_options(named)
        stamps.give_own_stamp(named.get("evaluation_tracker"), named.get("cli_args"))
        secrets = run_secrets.of_run(named)
        if is_command_line():
            redacting.redact_streams(secrets)
        try:
            results = original(*args, **kwargs)
            run_secrets.redact_results(results, secrets)
            return results
        except KeyboardInterrupt:
            # Where it ends the process, sixty lines of the harness's frames would hide what is said of going on.
            sys.excepthook = _without_frames
            raise

    module.simple_evaluate = simple_evaluate


def _without_frames(kind: type[BaseException], value: BaseException, traceback: TracebackType | None) -> None:
    """What a process that ends says: of an interruption that it was one, of all else what Python says."""
    if issubclass(kind, KeyboardInterrupt):
        sys.stderr.write("Interrupted.\n")
    else:
        sys.__excepthook__(kind, value, traceback)


def _check_options(named: Mapping[str, Any]) -> None:
    """Raises UserError for options that the model, which is not loaded yet, or our tasks can't be run with."""
    model, ours = named.get("model"), getattr(named.get("task_manager"), OURS, {})
    if not isinstance(model, str) or not (ours or model in model_names.MODELS):
        return
    given_tags(getattr(named.get("cli_args"), "reasoning_tags", None), TAGS_OPTION)
    if model in model_names.MODELS:
        relied_on.check(relied_on.MODELS, model)
    force_simple = bool(named.get("force_simple"))
    found = runners.model_class(model, force_simple) if named.get("apply_chat_template") else None
    run_options.check_command(
        model,
        list(ours),
        named,
        is_baseline=model in model_names.BASELINES,
        lacks_template=found is not None and not hasattr(found, "apply_chat_template"),
    )
    run_options.check_instruction(runners.kind(model, force_simple), list(ours), named)
    if model == model_names.MOST_FREQUENT and "train" not in _argument_names(named.get("model_args") or ""):
        from lmms_medtasks.harness import learned_model

        learned_model.check_taught(ours)


def _argument_names(given: str | Mapping[str, Any]) -> list[str]:
    return [part.partition("=")[0].strip() for part in given.split(",")] if isinstance(given, str) else list(given)


def check_messages(task: str, doc_to_visual: Any, doc_to_messages: Any) -> None:
    """Raise UserError for a task whose own ``doc_to_messages`` would keep our ``doc_to_visual`` from being called."""
    if _is_our_hook(doc_to_visual) and doc_to_messages is not None:
        raise UserError(
            f"{task} has a doc_to_messages of its own beside doc_to_visual: {_named(doc_to_visual)}. Chat models would "
            "be shown the images of the former, which are not degraded, under a name that says they are. Set "
            "doc_to_messages: null, so that messages are made of doc_to_visual and doc_to_text."
        )


def _check_pictures(task_dict: dict[Any, Any]) -> None:
    """Raises UserError for a task that names our hook for pictures and would show others, or none."""
    from lmms_medtasks.harness import hooks

    for task in tasks_of(task_dict):
        config = task.config
        visual = getattr(config, "doc_to_visual", None)
        check_messages(config.task, visual, getattr(config, "doc_to_messages", None))
        settings = getattr(task, "lmms_eval_specific_kwargs", None) or {}
        if _is_our_hook(visual) and not settings.get("no_image"):
            # Before the run: a runner that takes errors for replies would go on without pictures.
            columns = task.dataset[config.test_split or config.validation_split].column_names
            if columns is not None:  # not known of a data set that is streamed: the hook finds out
                hooks.check_image_columns(columns, config.task)


def _is_our_hook(function: Any) -> bool:
    return (getattr(function, "__module__", None) or "").startswith("lmms_medtasks.")


def _named(function: Any) -> str:
    return f"{function.__module__}.{function.__name__}"


@contextlib.contextmanager
def _one_task_a_call(lm: Any, task_dict: dict[Any, Any], served: str | None = None) -> Iterator[None]:
    from loguru import logger

    ours = {config.task: config for config in _configs(task_dict) if is_ours(config)}
    wanted = {task: settings for task, config in ours.items() if (settings := _wanted(config)) is not None}
    model = sampling.model_of(lm)
    reached = bool(sampling.configurations(model))
    for task, changed in sampling.changes(model, wanted).items():
        if changed:
            logger.info(f"{task}: sampling settings of the checkpoint set aside: {changed}")
        if changed or (reached and _samples(ours[task])):
            ours[task].metadata = {**ours[task].metadata, "checkpoint_sampling_set_aside": changed}
    for task, settings in _drawn(task_dict).items() if served else ():
        from lmms_medtasks.harness import chat_servers

        sent = chat_servers.sampling_fields(settings)
        ours[task].metadata = {**ours[task].metadata, "sampling_sent": {"server": served, **sent}}
    why = None if served else runners.doubt(lm, calls.ranks(), reached)
    for task in sorted(_drawn(task_dict)) if why else ():
        logger.warning(f"{task}: its trials may be no independent draws from {type(lm).__name__}: {why}.")
        ours[task].metadata = {**ours[task].metadata, "trials_independent": "unknown", "trials_independent_why": why}

    def during(task: str) -> contextlib.AbstractContextManager[object]:
        return sampling.set_aside(model, wanted[task]) if task in wanted else contextlib.nullcontext()

    with calls.one_task_a_call(lm, during):
        yield


def _check_draws(lm: Any, task_dict: dict[Any, Any]) -> None:
    """Raises UserError for a task that samples and a runner that always decodes greedily."""
    why = runners.table()["sampling"].get(runners.answering(lm), {}).get("greedy")
    drawn = _drawn(task_dict)
    if why and drawn:
        raise UserError(
            f"{', '.join(sorted(drawn))}: trials are draws at a temperature above 0, and the runner "
            f"{type(lm).__name__} can't give any: {why}. All trials would be one reply. Choose another runner."
        )


def _note_encoding(lm: Any, task_dict: dict[Any, Any]) -> None:
    """For a runner that was not chosen by its name (an adapter's): what its module does to pictures.

    And for a runner of a version of the harness that was not read: that nothing is known of it.
    """
    encoding = runners.module_encoding(type(lm).__module__)
    why = runners.unread(runners.answering(lm))
    for config in filter(is_ours, _configs(task_dict)):
        if why:
            config.metadata = {**config.metadata, "runner_unknown": why}
        if encoding and "image_encoding" not in config.metadata:
            runners.warn(type(lm).__name__, encoding)
            config.metadata = {**config.metadata, "image_encoding": encoding}


def _with_server(results: Any, lm: Any, task_dict: dict[Any, Any]) -> Any:
    """The results with what a server was and was sent in our tasks' metadata, as far as the model tells that."""
    record: Any = getattr(lm, "server_record", None)
    if not results or not callable(record):
        return results
    from lmms_medtasks.samples import answering_model

    for config in filter(is_ours, _configs(task_dict)):
        kept = results["configs"][config.task]
        told = record(config.task, config.generation_kwargs or {}, config.repeats or 1)
        kept["metadata"] = {**(kept.get("metadata") or {}), "server": told}
        if other := answering_model.said(kept["metadata"]):
            say(
                f"lmms-medtasks: warning: {config.task} was {other}. Its numbers are not of the model that they are "
                "called after. Ask a server of that one model, under the name that its replies have."
            )
    return results


def _check_write_out(task_dict: dict[Any, Any], asked: bool) -> None:
    """Raises UserError where the harness is to print prompts that the terms of their data keep out of its log."""
    # Whoever's the task is: its data is of those terms if it names a protocol that has them.
    for config in _configs(task_dict) if asked else ():
        if any(protocol.terms for protocol in judged.protocols_of(config)):
            raise UserError(f"--write_out prints prompts of {config.task}, which its data's terms keep out of logs.")


def _check_model(lm: Any, task_dict: dict[Any, Any]) -> None:
    """Raises UserError where a model behind a third party's server would be asked data whose terms forbid that."""
    configs = _configs(task_dict)
    terms = [(str(config.task), each.terms) for config in configs for each in judged.protocols_of(config) if each.terms]
    if terms:
        from lmms_medtasks.harness import model_guard

        model_guard.check(lm, terms)


def _check_repeats(task_dict: dict[Any, Any]) -> None:
    """Raises UserError when --repeats asks for another number of trials than the task's filter hands to its metrics."""
    for config in filter(is_ours, _configs(task_dict)):
        taken = [step.get("k") for each in config.filter_list or [] for step in each.get("filter", [])]
        if taken and config.repeats not in taken:
            raise UserError(
                f"{config.task} has T = {taken[0]} trials, --repeats asks for {config.repeats}. Leave --repeats out; "
                "for another number of trials copy the YAML and set repeats and the filter's k alike."
            )


def _tell_tasks(lm: Any, task_dict: dict[Any, Any]) -> None:
    """Let a baseline of ours that learns see the tasks: requests do not tell what a task's training split is."""
    learn = getattr(lm, "learn_from", None)
    if type(lm).__module__ == "lmms_medtasks.harness.learned_model" and callable(learn):
        learn(tasks_of(task_dict))


def tasks_of(task_dict: dict[Any, Any]) -> Iterator[Any]:
    """The tasks of the harness's nested groups."""
    for value in task_dict.values():
        if isinstance(value, dict):
            yield from tasks_of(value)
        elif hasattr(value, "config"):
            yield value


def _configs(task_dict: dict[Any, Any]) -> Iterator[Any]:
    return (task.config for task in tasks_of(task_dict))


def is_ours(config: Any) -> bool:
    """Whether a task's configuration is of lmms-medtasks, or contributed to it."""
    return isinstance(config.metadata, dict) and "data_digest" in config.metadata


def _samples(config: Any) -> bool:
    settings = config.generation_kwargs or {}
    return bool(settings.get("do_sample", True)) and float(settings.get("temperature") or 0) > 0


def _drawn(task_dict: dict[Any, Any]) -> dict[str, Mapping[str, Any]]:
    """The sampling settings of our tasks whose trials are draws, by their names."""
    return {
        config.task: sampling.of_trials(config.generation_kwargs or {})
        for config in filter(is_ours, _configs(task_dict))
        if _samples(config)
    }


def _wanted(config: Any) -> Mapping[str, Any] | None:
    """The sampling settings to be set for the task's requests; None where it does not say whether it samples."""
    settings = config.generation_kwargs or {}
    if _samples(config):
        return sampling.of_trials(settings)
    return sampling.GREEDY if not settings.get("do_sample") or settings.get("temperature") == 0 else None
