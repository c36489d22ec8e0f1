"""How the harness finds us. This module and :mod:`.evaluating` touch the harness's internals.

The harness loads the entry point group ``lmms_eval.models`` when its model registry is built, in every process of a
multi-process launch too. :func:`register` is ours: it returns our models and, once the harness's task manager exists,
makes it see our tasks (harness 0.7.3 has no entry points for tasks).

What we rely on is listed in :mod:`lmms_medtasks.harness.relied_on`, and is checked when the first task manager is made.
If something is missing without which a number of ours could be wrong, our tasks are refused and nothing else is done
(:mod:`lmms_medtasks.harness.refusing`). Otherwise the methods of ``lmms_eval.tasks.TaskManager`` in :data:`_METHODS`
are wrapped, and ``lmms_eval.evaluator.evaluate`` (:mod:`lmms_medtasks.harness.evaluating`).
"""

from __future__ import annotations

import functools
import glob
import inspect
import os
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import wrapt

from lmms_medtasks import extensions, folders, redacting
from lmms_medtasks.errors import UserError, is_command_line, unknown_name_error, user_errors
from lmms_medtasks.harness import (
    chosen_settings,
    degraded_lookup,
    ending,
    judged,
    relied_on,
    runners,
    start_checks,
    taken_names,
    template_hooks,
)
from lmms_medtasks.harness.degraded_lookup import requested_degradation
from lmms_medtasks.progress import RUN_LOG, print_message
from lmms_medtasks.samples.degraded import MARK, is_degraded_name
from lmms_medtasks.suites import templates

if TYPE_CHECKING:
    from lmms_eval.models.registry_v2 import ModelManifest

_MARK = "_lmms_medtasks_joined"


def register() -> list[ModelManifest]:
    """Entry point of the group ``lmms_eval.models``: our models, and our tasks as soon as there is a task manager."""
    wrapt.register_post_import_hook(lambda module: install_plugin(module.TaskManager), "lmms_eval.tasks")
    if RUN_LOG in os.environ:
        from lmms_medtasks.harness import run_log

        run_log.silence_early_lines()
    if any(relied_on.find_lacking_names(point) for point in relied_on.POINTS if point.name.endswith(":ModelManifest")):
        return []
    from lmms_eval.models.registry_v2 import ModelManifest

    adapters, server = "lmms_medtasks.harness.adapted_models", "lmms_medtasks.harness.server_model.ServerModel"
    return [
        *(
            ModelManifest(model_id=name, simple_class_path=f"lmms_medtasks.harness.{cls}")
            for name, cls in runners.BASELINES.items()
        ),
        ModelManifest(
            model_id=runners.ADAPTED_MODEL,
            simple_class_path=f"{adapters}.SimpleAdapted",
            chat_class_path=f"{adapters}.ChatAdapted",
        ),
        ModelManifest(model_id=runners.SERVER_MODEL, chat_class_path=server),
    ]


def install_plugin(task_manager: type) -> None:
    """Make ``task_manager`` (the harness's ``TaskManager`` class) know our tasks; once, however often called.

    It happens when the first instance is made: by then the harness has imported all that it will use.
    """
    if _MARK in vars(task_manager):
        return
    setattr(task_manager, _MARK, True)
    join_once = functools.cache(_join_methods)

    def begin_manager(original: Any, self: Any, *args: Any, **kwargs: Any) -> None:
        if RUN_LOG in os.environ and is_command_line():
            from lmms_medtasks.harness import run_log

            run_log.take_log_over()
        join_once(task_manager)
        _check_start(are_ours=False)
        if is_command_line() and not _needs_harness_tasks(sys.argv, original):
            kwargs["include_defaults"] = False
        original(self, *args, **kwargs)

    _wrap_method(task_manager, "__init__", begin_manager)


def _needs_harness_tasks(arguments: Sequence[str], manager: Callable[..., None]) -> bool:
    """Whether the ``manager`` that is made for a command line needs the harness's own tasks.

    To read them takes a third of the time to the first question. A name of ours that is one of them too is theirs.
    """
    names = (start_checks.find_option_value(arguments, "--tasks") or "").split(",")
    return (
        start_checks.find_option_value(arguments, "--config") is not None
        or "include_defaults" not in inspect.signature(manager).parameters
        or not are_only_ours(names)
    )


def are_only_ours(tasks: Iterable[str]) -> bool:
    """Whether all of these names are of our tasks and groups, or degraded ones, and the harness has none of ours."""
    ours, bases = task_index(), {name.partition(MARK)[0] for name in tasks}
    return bases <= ours.keys() and ours.keys().isdisjoint(taken_names.harness_names())


def _join_methods(task_manager: type) -> None:
    lost = relied_on.list_needed_points(relied_on.TASKS)
    refusing = _refuse_ours(lost, task_index()) if lost else None
    for name, wrapper in _METHODS.items():
        if not hasattr(task_manager, name):
            continue
        if refusing and name != "initialize_tasks":
            setattr(task_manager, name, refusing(getattr(task_manager, name)))
        else:
            _wrap_method(task_manager, name, wrapper)
    # Now, or once it is imported. Not before: it imports the models, and so us, before it has defined `evaluate`.
    wrapt.register_post_import_hook(_join_evaluator, "lmms_eval.evaluator")


def _check_start(*, are_ours: bool) -> None:
    """Check the harness's command line if it names tasks of ours; ``are_ours``: it is known to."""
    if not is_command_line():
        return
    names = (start_checks.find_option_value(sys.argv, "--tasks") or "").split(",")
    if are_ours or any(name.partition(MARK)[0] in task_index() for name in names):
        with user_errors():
            start_checks.check_start_options(sys.argv, names, os.environ)
        ending.outlive_closed_output()


def _wrap_method(cls: type, name: str, wrapper: Any) -> None:
    original = getattr(cls, name)

    @functools.wraps(original)
    def wrapped_method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return wrapper(original, self, *args, **kwargs)

    setattr(cls, name, wrapped_method)


def _initialize_tasks(original: Any, self: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
    if is_command_line():  # before the harness prints what it was given, tokens too
        redacting.redact_streams(redacting.secrets_of_command(sys.argv[1:]))
    index = original(self, *args, **kwargs)
    # Built-in names and those of --include_path stay: ours never take a name from anyone.
    return {**task_index(), **index}


def task_index() -> dict[str, dict[str, Any]]:
    """Our tasks and groups in the form of the harness's index.

    The harness would parse every YAML, 1 to 3 ms a file at every start. It needs the name, which is that of our file,
    and whether it is a group.
    """
    index: dict[str, dict[str, Any]] = {}
    for root, _, files in os.walk(folders.suites_root()):
        for file in (file for file in files if file.endswith(".yaml")):
            path = os.path.join(root, file)
            with open(path, encoding="utf-8") as text:
                is_group = any(line.startswith("group:") for line in text)
            kind: dict[str, Any] = {"type": "group", "task": -1} if is_group else {"type": "task"}
            index[file.removesuffix(".yaml")] = {**kind, "yaml_path": path}
    return index


def _match_tasks(original: Any, self: Any, task_list: Any, *args: Any, **kwargs: Any) -> list[str]:
    from lmms_medtasks.data import sources
    from lmms_medtasks.harness import evaluating

    requested = [task_list] if isinstance(task_list, str) else list(task_list)
    degraded = [name for name in requested if is_degraded_name(name) and name not in self.task_index]
    undegraded = [name for name in requested if name not in degraded]
    included_folders = _included_folders(self)
    with user_errors():
        if included_folders or os.environ.get(extensions.MODALITIES):
            from lmms_medtasks.degradations import modality_files

            modality_files.load_run_modalities(included_folders)
        sources.add_source_folders(folder for folder in included_folders if folder.is_dir())
        if degraded:
            from lmms_medtasks.harness import degraded_tasks

            relied_on.check_harness_has(relied_on.DEGRADED, degraded[0])
            degraded = degraded_tasks.names(self, degraded)  # wildcards resolved
    names = original(self, undegraded, *args, **kwargs)
    if getattr(self, "_lmms_medtasks_runner", None) is None:
        # To warn of a lossy runner before its model is loaded; the evaluator knows the kind only afterwards.
        self._lmms_medtasks_runner = runners.find_runner_kind(self.model_name, "--force_simple" in sys.argv)
    with user_errors():
        bases = [name.partition(MARK)[0] for name in degraded]
        leaves = _list_our_tasks(self, list(dict.fromkeys([*names, *bases])))
        configs = {name: self._get_config(name) for name in leaves}
        _check_asked(self, [*configs, *degraded])
        chosen_settings.check_chosen_names(leaves, list(configs.values()))
        judged.check_judging(list(configs.values()))
        setattr(self, evaluating.OURS, configs)
        by_definition = [name for name in configs if requested_degradation(configs[name].get("metadata"))]
        _load_early(self, [*by_definition, *degraded])
    return sorted({*names, *degraded})


def _load_early(manager: Any, names: list[str]) -> None:
    """Load these degraded tasks, so that what can't be degraded is refused before the model is loaded."""
    degraded_lookup.keep_base_tasks(manager)
    if names:
        from lmms_medtasks.harness import degraded_tasks

        degraded_tasks.load_early(manager, names, manager._lmms_medtasks_runner)


def _check_asked(manager: Any, tasks: list[str]) -> None:
    """Raise UserError for a command line that our ``tasks`` can't be run with."""
    _check_start(are_ours=bool(tasks))
    name = manager.model_name
    # A library's user has a model without a name.
    if tasks and isinstance(name, str) and is_command_line() and runners.find_runner_kind(name, False) is None:
        raise unknown_name_error("runner", name, runners.names(), "--model", "lmms-eval models")


def _list_our_tasks(manager: Any, names: list[str]) -> list[str]:
    """The tasks of ours and the contributed ones among ``names``, those inside groups and tags included."""
    # Contributed tasks are in a folder of --include_path.
    known_folders = [folder.resolve() for folder in (folders.suites_root(), *_included_folders(manager))]
    tasks = []
    for name in names:
        entry = manager.task_index[name]
        if entry["type"] == "tag":
            tasks += _list_our_tasks(manager, entry["task"])
        elif any(Path(entry["yaml_path"]).resolve().is_relative_to(folder) for folder in known_folders):
            config = read_config(manager, name)
            children = config["task"] if entry["type"] == "group" else []
            known = [child for child in children if isinstance(child, str) and child in manager.task_index]
            _check_claimed_once(name, known_folders)
            tasks += _list_our_tasks(manager, known) if entry["type"] == "group" else [name]
    return tasks


def _included_folders(manager: Any) -> list[Path]:
    """The folders of --include_path."""
    given = manager.include_path or []
    return [Path(folder) for folder in ([given] if isinstance(given, str | Path) else given)]


def _check_claimed_once(name: str, folders: list[Path]) -> None:
    """Raises UserError where two files, of ours or below --include_path, define ``name``: one would run, unnamed."""
    files = sorted({file.resolve() for folder in folders for file in folder.rglob(f"{glob.escape(name)}.yaml")})
    if len(files) > 1:
        raise UserError(f"Two benchmarks claim the task {name!r}: {files[0]} and {files[1]}. Rename one of them.")


def _load_task_or_group(
    original: Any, self: Any, task_list: Any = None, task_type: str = "simple", *args: Any, **kwargs: Any
) -> dict[str, Any]:
    self._lmms_medtasks_runner = task_type
    from tenacity import RetryError

    from lmms_medtasks.harness import evaluating, run_options

    with user_errors(), degraded_lookup.share_base_tasks(self):
        try:
            tasks: dict[str, Any] = original(self, task_list, task_type, *args, **kwargs)
        except RetryError as error:
            if isinstance(error.__cause__, UserError):
                raise error.__cause__ from None
            raise
        run_options.remember_generation_settings(evaluating.iter_tasks(tasks))
        return tasks


def _join_evaluator(module: Any) -> None:
    if warning := relied_on.version_warning():
        print_message(f"lmms-medtasks: {warning}")
    if not (lost := relied_on.list_needed_points(relied_on.TASKS)):
        from lmms_medtasks.harness.evaluating import join_evaluator

        join_evaluator(module)
        return
    models = runners.OWN_MODELS if relied_on.list_needed_points(relied_on.MODELS) else ()
    refusing = _refuse_ours(lost, {*task_index(), *models}, gives_tasks=False)
    for name in ("evaluate", "simple_evaluate"):
        if hasattr(module, name):
            setattr(module, name, refusing(getattr(module, name)))


def _refuse_ours(lost: list[relied_on.HarnessPoint], names: Collection[str], **options: bool) -> Callable[[Any], Any]:
    from lmms_medtasks.harness.refusing import refuse_our_tasks

    return lambda original: refuse_our_tasks(original, lost, names, **options)


def _load_config(original: Any, self: Any, config: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
    with user_errors():
        if not isinstance(config.get("task"), str) or templates.template_of(config) is None:
            with degraded_lookup.share_base_tasks(self):
                return original(self, config, *args, **kwargs)
        if config["task"] not in self.task_index:
            raise UserError(
                f"The task {config['task']!r} was given as a folder or file. Name it, with --include_path. Where a "
                "folder here has the name in --tasks, lmms-eval takes that folder: run it elsewhere, with the whole "
                "path in --include_path."
            )
        return self.load_task_or_group([config["task"]], getattr(self, "_lmms_medtasks_runner", None) or "simple")


def _get_config(original: Any, self: Any, name: str, *args: Any, **kwargs: Any) -> dict[str, Any]:
    from lmms_medtasks.harness import evaluating, provenance, run_options

    path = self.task_index[name]["yaml_path"] if name in self.task_index else None
    path = path if isinstance(path, str) else None  # -1 for a tag
    with user_errors():
        config = read_config(self, name)
        if requested_degradation(config.get("metadata")):
            relied_on.check_harness_has(relied_on.DEGRADED, name)
        if degraded := degraded_lookup.name_loaded_for(self):
            from lmms_medtasks.harness import degraded_tasks

            degraded_tasks.check_base_config(degraded, config)
        config = template_hooks.bind_hooks(config, path)
        evaluating.check_messages(name, config.get("doc_to_visual"), config.get("doc_to_messages"))
        runner = getattr(self, "_lmms_medtasks_runner", None)
        config = provenance.add_provenance(config, self.model_name, runner, path)
        if "data_digest" in (config.get("metadata") or {}):
            run_options.check_no_examples(name, config.get("num_fewshot"))
        return config


def read_config(manager: Any, name: str) -> dict[str, Any]:
    """The harness's configuration of a task; raises the UserError of a declaration that it imports."""
    try:
        config: dict[str, Any] = type(manager)._get_config.__wrapped__(manager, name)
    except ImportError as error:
        if isinstance(error.__cause__, UserError):
            raise error.__cause__ from None
        raise
    return config


_METHODS = {
    # Also index our task YAMLs.
    "initialize_tasks": _initialize_tasks,
    # Check data, runner and judge of the tasks asked for before a model is loaded; resolve names of degraded tasks.
    "match_tasks": _match_tasks,
    # Note whether the runner is a "chat" or a "simple" one; raise UserErrors that the harness wraps in its retries.
    "load_task_or_group": _load_task_or_group,
    # Load degraded tasks.
    "_load_individual_task_or_group": degraded_lookup.load_task,
    # Load a contributed task by its name where --tasks is also the name of a folder in the working directory.
    "load_config": _load_config,
    # Put in declared metrics, hand settings to hooks, and add to the metadata what only a run knows.
    "_get_config": _get_config,
}
"""Method of the task manager -> the function that is called in its place, with the original as first argument."""
