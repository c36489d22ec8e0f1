"""What we add to the harness's ``lmms_eval.evaluator.evaluate``, which is given the loaded model and the tasks.

Before it runs, options and runners that our tasks can't be asked with are refused, and what differs from the task's
own settings is noted in its metadata. While it runs, the methods of the model and of the tasks are wrapped, each by the
module that :func:`join_evaluator` names, and open answers are judged between generation and scoring.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any

from lmms_medtasks import redacting
from lmms_medtasks.data import subsets
from lmms_medtasks.errors import UserError, is_command_line, user_errors
from lmms_medtasks.harness import (
    calls,
    chosen_settings,
    degraded_lookup,
    ending,
    failed_requests,
    judged,
    reasoning_tags,
    relied_on,
    reply_endings,
    run_options,
    run_secrets,
    runners,
    sampling,
    stamps,
    start_checks,
)
from lmms_medtasks.progress import RUN_LOG, print_message
from lmms_medtasks.samples.run_options import TAGS_OPTION, parse_given_tags
from lmms_medtasks.suites import paper
from lmms_medtasks.task_settings import task_settings

_MARK = "_lmms_medtasks_joined"

OURS = "_lmms_medtasks_ours"
"""Attribute of the harness's task manager: the tasks of ours that were asked for, with their configurations."""


def join_evaluator(module: Any) -> None:
    """Wrap ``evaluate`` and ``simple_evaluate`` of ``module``, ``lmms_eval.evaluator``; once, however often called.

    ``simple_evaluate``, which the command line calls, has the options before a model is loaded.
    """
    if getattr(module, _MARK, False):
        return
    setattr(module, _MARK, True)
    _join_simple_evaluate(module)
    original = module.evaluate

    @functools.wraps(original)
    def evaluate(*args: Any, **kwargs: Any) -> Any:
        # A library's user may give them by position.
        named = inspect.signature(original).bind(*args, **kwargs).arguments
        lm, tasks = named["lm"], named["task_dict"]
        with user_errors():
            every = list(iter_tasks(tasks))
            ours = [task for task in every if is_our_task(task.config)]
            if _lacks_for(ours, named):
                return original(*args, **kwargs)  # of others
            others = [task for task in every if not is_our_task(task.config)]
            our_names = [str(task.config.task) for task in ours]
            run_options.check_loaded_tasks(lm, ours, others, named)
            run_options.note_changed_options(ours, named)
            tags = reasoning_tags.take_over_reasoning_tags(ours, named)
            if paper.requested_settings() == paper.THINKING:
                from lmms_medtasks.harness import reply_limits

                reply_limits.lower_limits_to_room(ours, lm)
            chosen_settings.check_only_our_tasks([str(task.config.task) for task in others])
            if subsets.requested_subset() is not None:
                from lmms_medtasks.harness import subset_tasks

                subset_tasks.restrict_tasks(every, ours, named.get("limit"))
            configs, our_configs = [task.config for task in every], [task.config for task in ours]
            drawn = _sampling_by_task(our_configs)
            if named.get("write_out"):
                _check_write_out(configs)
            _check_model(lm, configs)
            _check_repeats(our_configs)
            if type(lm).__module__ == "lmms_medtasks.harness.learned_model" and hasattr(lm, "learn_from"):
                lm.learn_from(every)  # requests do not tell what a task's training split is
            _check_pictures(every)
            if ours:
                from lmms_medtasks.harness import scoring

                scoring.name_tasks_in_notices(ours)
            calls.check_task_count(lm, [config.task for config in configs])
            _check_draws(lm, drawn)
            _note_encoding(lm, our_configs)
            served = None
            if hasattr(lm, "client"):
                from lmms_medtasks.harness import chat_servers

                kind = chat_servers.server_kind(lm)  # asked in every run: a wrong key ends it here
                served = kind if drawn else None
            cut = reply_endings.CutReplies(dict(zip(our_names, map(vars, our_configs), strict=True)), tags)
            secrets, options = run_secrets.collect_run_secrets(named), named.get("cli_args")
            ending.prepare_tables(options, are_ours=bool(ours))
            with (
                failed_requests.keep_out_of_cache(named.get("response_cache")),
                degraded_lookup.watch_if_degraded(lm, every) as note_degradations,
                calls.one_reply_each(lm, drawn, served=bool(served)),
                reply_endings.note_reply_endings(lm, set(tags), cut.count_reply),
                run_secrets.leave_secrets_out(lm, secrets),
                _replies_kept(lm, ours, named),
                _calls_timed(lm, every),
                _one_task_a_call(lm, our_configs, drawn, served),
                _size_said(lm, every, named.get("response_cache")),
                # Before the stage, so that a judge is asked of replies that say why they ended.
                reasoning_tags.hand_over_reasoning_tags(ours, tags) as unknown_marks,
                judged.open_judging_stage(every) as clean_results,
                _replies_limited(lm, every),
                # Within the stage, so that no copy is judged.
                calls.pad_requests_of_ranks(every),
                user_errors(every_rank=True),
            ):
                results = clean_results(original(*args, **kwargs))
                results = note_degradations(_with_server(results, lm, our_configs))
                cut.tell_rest()
                results = reasoning_tags.note_unknown_marks(results, unknown_marks)
                ending.check_failed_requests(results)
                if ours:
                    ending.check_results_written(options, our_names)
                return results

    module.evaluate = evaluate


def _replies_kept(lm: Any, ours: list[Any], named: Mapping[str, Any]) -> contextlib.AbstractContextManager[None]:
    if not ours or getattr(lm, "is_instant", False):
        return contextlib.nullcontext()
    from lmms_medtasks.harness import journal

    return journal.keep_replies_in_journal(lm, ours, named)


def _replies_limited(lm: Any, tasks: list[Any]) -> contextlib.AbstractContextManager[None]:
    given = [task_settings(task.config) for task in tasks]
    if not any(settings.get("new_tokens") for settings in given):
        return contextlib.nullcontext()
    from lmms_medtasks.harness import reply_limits

    return reply_limits.limit_replies_by_question(lm, tasks)


def _lacks_for(ours: list[Any], named: Mapping[str, Any]) -> bool:
    """Whether the harness lacks a part that this run needs; UserError if it has tasks of ours."""
    kinds = {relied_on.CACHE: named.get("response_cache") is not None, relied_on.PROCESSES: calls.count_processes() > 1}
    lacking = [part for part, holds in kinds.items() if holds and relied_on.list_needed_points(part)]
    for part in lacking if ours else ():
        relied_on.check_harness_has(part, str(ours[0].config.task))
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
        secrets = run_secrets.collect_run_secrets(named)
        if is_command_line():
            redacting.redact_streams(secrets)
        try:
            with _brief_output(named.get("model")):
                results = original(*args, **kwargs)
            run_secrets.redact_results(results, secrets)
            return results
        except KeyboardInterrupt:
            # If it ends the process, sixty lines of frames would hide how to continue the run.
            sys.excepthook = _without_frames
            raise

    module.simple_evaluate = simple_evaluate


def _calls_timed(lm: Any, tasks: Sequence[Any]) -> contextlib.AbstractContextManager[None]:
    if not os.environ.get(stamps.CALL_TIMES):
        return contextlib.nullcontext()
    from lmms_medtasks.harness import call_times

    return call_times.record_call_times(lm, tasks)


def _size_said(lm: Any, tasks: Sequence[Any], cache: Any) -> contextlib.AbstractContextManager[None]:
    """Under ``lmms-medtasks run``, say what is asked before it is. ``cache``: the harness's response cache."""
    # A process whose replies are all in the cache makes no call: the others would wait for its count.
    waits = cache is not None and calls.count_processes() > 1
    if waits or os.environ.get(ending.TABLES) not in (ending.FOLDED, ending.ALL_ROWS):
        return contextlib.nullcontext()
    from lmms_medtasks.harness import run_size

    return run_size.say_size_before_asking(lm, tasks)


def _brief_output(model: Any) -> contextlib.AbstractContextManager[None]:
    if RUN_LOG not in os.environ:
        return contextlib.nullcontext()
    from lmms_medtasks.harness import run_log

    return run_log.brief_output(model)


def _without_frames(kind: type[BaseException], value: BaseException, traceback: TracebackType | None) -> None:
    """An exception hook that prints one line for an interruption, and what Python prints for all else."""
    if issubclass(kind, KeyboardInterrupt):
        sys.stderr.write("Interrupted.\n")
    else:
        sys.__excepthook__(kind, value, traceback)


def _check_options(named: Mapping[str, Any]) -> None:
    """Raises UserError for options that the model, which is not loaded yet, or our tasks can't be run with."""
    model, ours = named.get("model"), getattr(named.get("task_manager"), OURS, {})
    if not isinstance(model, str) or not (ours or model in runners.OWN_MODELS):
        return
    parse_given_tags(getattr(named.get("cli_args"), "reasoning_tags", None), TAGS_OPTION)
    if model in runners.OWN_MODELS:
        relied_on.check_harness_has(relied_on.MODELS, model)
    force_simple = bool(named.get("force_simple"))
    runner_class = runners.find_model_class(model, force_simple) if named.get("apply_chat_template") else None
    run_options.check_command_options(
        model,
        list(ours),
        named,
        is_baseline=model in runners.BASELINES,
        lacks_template=runner_class is not None and not hasattr(runner_class, "apply_chat_template"),
    )
    run_options.check_system_instruction(runners.find_runner_kind(model, force_simple), list(ours), named)
    model_args = named.get("model_args") or ""
    if isinstance(model_args, str):
        model_args = start_checks.parse_model_arguments(model_args)
    if model == runners.MOST_FREQUENT and "train" not in model_args:
        from lmms_medtasks.harness import learned_model

        learned_model.check_training_splits(ours)


def check_messages(task: str, doc_to_visual: Any, doc_to_messages: Any) -> None:
    """Raise UserError for a task whose own ``doc_to_messages`` would keep our ``doc_to_visual`` from being called."""
    if _is_our_hook(doc_to_visual) and doc_to_messages is not None:
        raise UserError(
            f"{task} has a doc_to_messages of its own beside doc_to_visual: {doc_to_visual.__module__}."
            f"{doc_to_visual.__name__}. Chat models would be shown the images of the former, which are not "
            "degraded, under a name that says they are. Set doc_to_messages: null, "
            "so that messages are made of doc_to_visual and doc_to_text."
        )


def _check_pictures(tasks: Iterable[Any]) -> None:
    """Raise UserError for a task that names our hook for images and would show others, or none."""
    from lmms_medtasks.harness import hooks

    for task in tasks:
        config = task.config
        visual = getattr(config, "doc_to_visual", None)
        check_messages(config.task, visual, getattr(config, "doc_to_messages", None))
        settings = getattr(task, "lmms_eval_specific_kwargs", None) or {}
        if _is_our_hook(visual) and not settings.get("no_image"):
            # Before the run: a runner that takes errors for replies would go on without pictures.
            columns = task.dataset[config.test_split or config.validation_split].column_names
            if columns is not None:  # unknown for a streamed data set, where the hook checks
                hooks.check_image_columns(columns, config.task)


def _is_our_hook(function: Any) -> bool:
    return (getattr(function, "__module__", None) or "").startswith("lmms_medtasks.")


@contextlib.contextmanager
def _one_task_a_call(
    lm: Any, our_configs: Iterable[Any], drawn: Mapping[str, Mapping[str, Any]], served: str | None = None
) -> Iterator[None]:
    """Ask one task a call, with its sampling settings in place of the checkpoint's, and note that in its metadata.

    ``drawn``: result of :func:`_sampling_by_task`. ``served``: the kind of server that gets what its runner omits.
    """
    from loguru import logger

    ours = {config.task: config for config in our_configs}
    settings_to_set = {task: _settings_to_set(config) for task, config in ours.items()}
    model = sampling.find_held_model(lm)
    reached = bool(sampling.find_generation_configs(model))
    tasks_by_change: dict[str, list[str]] = {}
    for task, settings in settings_to_set.items():
        differing = sampling.find_differing_settings(model, settings)
        changed = {name: f"{acting} -> {value}" for name, (acting, value) in differing.items()}
        if changed:
            tasks_by_change.setdefault(str(changed), []).append(task)
        if changed or (reached and _is_sampled(ours[task])):
            ours[task].metadata = {**ours[task].metadata, "checkpoint_sampling_set_aside": changed}
    for change, tasks in tasks_by_change.items():
        logger.info(f"Sampling settings of the checkpoint set aside: {change}. So in {', '.join(tasks)}.")
    for task, settings in drawn.items() if served else ():
        from lmms_medtasks.harness import chat_servers

        sent = chat_servers.sampling_fields(settings)
        ours[task].metadata = {**ours[task].metadata, "sampling_sent": {"server": served, **sent}}
    why = None if served else runners.why_trials_may_depend(lm, calls.count_processes(), settings_reached=reached)
    if why and drawn:
        logger.warning(
            f"Trials may be no independent draws from {type(lm).__name__}: {why}. So in {', '.join(sorted(drawn))}."
        )
    for task in drawn if why else ():
        ours[task].metadata = {**ours[task].metadata, "trials_independent": "unknown", "trials_independent_why": why}

    with calls.one_task_a_call(
        lm,
        lambda task: sampling.set_settings_aside(model, settings_to_set.get(task, {})),
        is_shown=bool(ours) or RUN_LOG in os.environ,  # of others' tasks the harness shows its own
    ):
        yield


def _check_draws(lm: Any, drawn: Mapping[str, Any]) -> None:
    """Raise UserError for tasks that sample (``drawn``) and a runner that always decodes greedily."""
    why = runners.load_runners()["sampling"].get(runners.answering_module(lm), {}).get("greedy")
    if why and drawn:
        raise UserError(
            f"{', '.join(sorted(drawn))}: trials are draws at a temperature above 0, and the runner "
            f"{type(lm).__name__} can't give any: {why}. All trials would be one reply. Choose another runner."
        )


def _note_encoding(lm: Any, our_configs: Iterable[Any]) -> None:
    """Note what a runner that was not chosen by its name (an adapter's) does to images.

    For a runner of another version of the harness than ``runners.yaml`` describes, note that it is unknown.
    """
    encoding = runners.find_module_encoding(type(lm).__module__)
    why = runners.why_runner_is_unknown(runners.answering_module(lm))
    for config in our_configs:
        if why:
            config.metadata = {**config.metadata, "runner_unknown": why}
        if encoding and "image_encoding" not in config.metadata:
            runners.warn_of_encoding(type(lm).__name__, encoding)
            config.metadata = {**config.metadata, "image_encoding": encoding}


def _with_server(results: Any, lm: Any, our_configs: Iterable[Any]) -> Any:
    """The results, with the model's record of its server and requests, if it has one, in our tasks' metadata."""
    record: Any = getattr(lm, "server_record", None)
    if not results or not callable(record):
        return results
    from lmms_medtasks.samples import answering_model

    for config in our_configs:
        result_config = results["configs"][config.task]
        server_record = record(config.task, config.generation_kwargs or {}, config.repeats or 1)
        result_config["metadata"] = {**(result_config.get("metadata") or {}), "server": server_record}
        if other_model := answering_model.describe_answering_model(result_config["metadata"]):
            print_message(
                f"lmms-medtasks: warning: {config.task} was {other_model}. Its numbers are not of the model that they "
                "are called after. Ask a server of that one model, under the name that its replies have."
            )
    return results


def _check_write_out(configs: Iterable[Any]) -> None:
    """Raise UserError where the harness is to print prompts that the terms of their data keep out of its log."""
    for config in configs:
        if judged.find_terms(config):
            raise UserError(f"--write_out prints prompts of {config.task}, which its data's terms keep out of logs.")


def _check_model(lm: Any, configs: Iterable[Any]) -> None:
    """Raise UserError where a model behind a third party's server would be asked data whose terms forbid that."""
    if terms := [(str(config.task), found) for config in configs if (found := judged.find_terms(config))]:
        from lmms_medtasks.harness import model_terms

        model_terms.check_model_terms(lm, terms)


def _check_repeats(our_configs: Iterable[Any]) -> None:
    """Raise UserError when --repeats asks for another number of trials than the task's filter hands to its metrics."""
    for config in our_configs:
        taken = [step.get("k") for entry in config.filter_list or [] for step in entry.get("filter", [])]
        if taken and config.repeats not in taken:
            raise UserError(
                f"{config.task} has T = {taken[0]} trials, --repeats asks for {config.repeats}. Leave --repeats out; "
                "for another number of trials copy the YAML and set repeats and the filter's k alike."
            )


def iter_tasks(task_dict: dict[Any, Any]) -> Iterator[Any]:
    """The tasks of the harness's nested groups."""
    for value in task_dict.values():
        if isinstance(value, dict):
            yield from iter_tasks(value)
        elif hasattr(value, "config"):
            yield value


def is_our_task(config: Any) -> bool:
    """Whether a task's configuration is of lmms-medtasks, or contributed to it."""
    return isinstance(config.metadata, dict) and "data_digest" in config.metadata


def _is_sampled(config: Any) -> bool:
    settings = config.generation_kwargs or {}
    return bool(settings.get("do_sample", True)) and float(settings.get("temperature") or 0) > 0


def _sampling_by_task(our_configs: Iterable[Any]) -> dict[str, Mapping[str, Any]]:
    """The sampling settings of our tasks whose trials are draws, by their names."""
    return {
        config.task: sampling.trial_sampling_settings(config.generation_kwargs or {})
        for config in our_configs
        if _is_sampled(config)
    }


def _settings_to_set(config: Any) -> Mapping[str, Any]:
    """The sampling settings to be set for the task's requests; {} if the task does not say whether it samples."""
    settings = config.generation_kwargs or {}
    if _is_sampled(config):
        return sampling.trial_sampling_settings(settings)
    return sampling.GREEDY if not settings.get("do_sample") or settings.get("temperature") == 0 else {}
