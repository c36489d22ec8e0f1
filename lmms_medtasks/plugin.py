"""How the lmms-eval harness finds us. The only module that touches the harness's internals.

The harness loads the entry point group ``lmms_eval.models`` when its model registry is built, in every process of a
multi-process launch too. :func:`register` is ours: it returns the models of :mod:`lmms_medtasks.baselines` and, once
the harness's task manager exists, makes it see our tasks (harness 0.7.3 has no entry points for tasks).

Five methods of ``lmms_eval.tasks.TaskManager`` are wrapped; ``tests/test_plugin.py`` fails when one of them moves:

- ``initialize_tasks`` also indexes :func:`task_folder`;
- ``match_tasks`` checks that the data of the tasks asked for can be had, names a runner that re-encodes pictures, and
  checks that the judge of open answers is configured and may judge them, before a model is loaded for minutes;
- ``load_task_or_group`` notes whether the runner is a "chat" or a "simple" one, and lets a :class:`UserError` of a
  task's ``process_docs`` through, which the harness would wrap in one of its retries;
- ``load_config`` gets a YAML that the harness has read past the task manager, as it does where the name after --tasks
  is also a folder's in the working directory: a contributed task is then loaded by its name;
- ``_get_config`` hands contributed tasks' settings to their hooks (:mod:`lmms_medtasks.templates.binding`), and
  completes a task's metadata with what only a run knows (:mod:`lmms_medtasks.provenance`), so that it stands in the
  result file and in the key of the harness's response cache.

And one function, ``lmms_eval.evaluator.evaluate``, which has the model and the tasks in hand: before it runs, --repeats
is compared with the number of trials that a task's metrics get, sampling settings that the checkpoint ships are set
aside (:mod:`lmms_medtasks.sampling`), and an adapter's runner that re-encodes pictures is named. While it runs, open
answers are judged between generation and scoring (:mod:`lmms_medtasks.judges.stage`).
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import wrapt

from lmms_medtasks import runners
from lmms_medtasks.errors import UserError

if TYPE_CHECKING:
    from lmms_eval.models.registry_v2 import ModelManifest

_MARK = "_lmms_medtasks_joined"
_MODELS = {
    "medtasks_random": "RandomModel",
    "medtasks_most_frequent": "MostFrequentModel",
    "medtasks_observer": "ObserverModel",
    "medtasks_pixel_outlier": "PixelOutlierModel",
}


def task_folder() -> Path:
    """The folder with our task YAMLs, for ``lmms-eval --include_path``."""
    import lmms_medtasks.task_configs

    return Path(lmms_medtasks.task_configs.__path__[0])


def register() -> list[ModelManifest]:
    """Entry point of the group ``lmms_eval.models``: our models, and our tasks as soon as there is a task manager."""
    from lmms_eval.models.registry_v2 import ModelManifest

    wrapt.register_post_import_hook(lambda module: join(module.TaskManager), "lmms_eval.tasks")
    baselines = [
        ModelManifest(model_id=name, simple_class_path=f"lmms_medtasks.baselines.models.{cls}")
        for name, cls in _MODELS.items()
    ]
    adapters = "lmms_medtasks.adapters"
    return [
        *baselines,
        ModelManifest("medtasks_peft", f"{adapters}.SimpleAdapted", f"{adapters}.ChatAdapted"),
    ]


def join(task_manager: type) -> None:
    """Make ``task_manager`` (the harness's ``TaskManager`` class) know our tasks. Doing it twice changes nothing."""
    if getattr(task_manager, _MARK, False):
        return
    setattr(task_manager, _MARK, True)
    _wrap(task_manager, "initialize_tasks", _initialize_tasks)
    _wrap(task_manager, "match_tasks", _match_tasks)
    _wrap(task_manager, "load_task_or_group", _load_task_or_group)
    _wrap(task_manager, "load_config", _load_config)
    _wrap(task_manager, "_get_config", _get_config)


def _wrap(cls: type, name: str, wrapper: Any) -> None:
    original = getattr(cls, name)

    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return wrapper(original, self, *args, **kwargs)

    setattr(cls, name, method)


def _initialize_tasks(original: Any, self: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
    index = original(self, *args, **kwargs)
    # Built-in names and those of --include_path stay: ours never take a name from anyone.
    return {**task_index(), **index}


def task_index() -> dict[str, dict[str, Any]]:
    """Our tasks and groups in the form of the harness's index.

    The harness parses every YAML for it, 1 to 3 ms a file at every start of every command of every user. All it wants
    to know is the name, which ours have as the file's name too, and whether it is a group.
    """
    found: dict[str, dict[str, Any]] = {}
    for root, _, files in os.walk(task_folder()):
        for file in (file for file in files if file.endswith(".yaml")):
            path = os.path.join(root, file)
            with open(path, encoding="utf-8") as text:
                is_group = any(line.startswith("group:") for line in text)
            kind: dict[str, Any] = {"type": "group", "task": -1} if is_group else {"type": "task"}
            found[file.removesuffix(".yaml")] = {**kind, "yaml_path": path}
    return found


def _match_tasks(original: Any, self: Any, task_list: list[str]) -> list[str]:
    names = original(self, task_list)
    if getattr(self, "_lmms_medtasks_runner", None) is None:
        # So that a lossy runner is named before its model is loaded; the evaluator tells the kind only afterwards.
        self._lmms_medtasks_runner = runners.kind(self.model_name, "--force_simple" in sys.argv)
    with user_errors():
        _check_judge([_get_config_checked(self, name) for name in _leaves(self, names)])
    return names


def _check_judge(configs: list[dict[str, Any]]) -> None:
    from lmms_medtasks.judges import stage

    stage.check(configs)


def _leaves(manager: Any, names: list[str]) -> list[str]:
    """The tasks of ours and the contributed ones among ``names``, those inside groups and tags included."""
    # Tasks that were contributed lie in a folder of --include_path.
    given = manager.include_path or []
    folders = [Path(each).resolve() for each in (task_folder(), *([given] if isinstance(given, str | Path) else given))]
    found = []
    for name in names:
        entry = manager.task_index[name]
        if entry["type"] == "tag":
            found += _leaves(manager, entry["task"])
        elif any(Path(entry["yaml_path"]).resolve().is_relative_to(folder) for folder in folders):
            config = type(manager)._get_config.__wrapped__(manager, name)
            children = config["task"] if entry["type"] == "group" else []
            known = [child for child in children if isinstance(child, str) and child in manager.task_index]
            found += _leaves(manager, known) if entry["type"] == "group" else [name]
    return found


def _load_task_or_group(original: Any, self: Any, task_list: Any = None, task_type: str = "simple") -> dict[str, Any]:
    self._lmms_medtasks_runner = task_type
    # Not before: the evaluator imports the models, and so us, before it has defined `evaluate`.
    if "lmms_eval.evaluator" in sys.modules:
        join_evaluator(sys.modules["lmms_eval.evaluator"])
    from tenacity import RetryError

    with user_errors():
        try:
            return original(self, task_list, task_type)  # type: ignore[no-any-return]
        except RetryError as error:
            if isinstance(error.__cause__, UserError):
                raise error.__cause__ from None
            raise


def _load_config(original: Any, self: Any, config: dict[str, Any]) -> Any:
    from lmms_medtasks.templates import binding

    if not isinstance(config.get("task"), str) or binding.template_of(config) is None:
        return original(self, config)
    with user_errors():
        if config["task"] not in self.task_index:
            raise UserError(f"The task {config['task']!r} was given as a folder or file. Name it, with --include_path.")
        return self.load_task_or_group([config["task"]], getattr(self, "_lmms_medtasks_runner", None) or "simple")


def _get_config(original: Any, self: Any, name: str) -> dict[str, Any]:
    with user_errors():
        return _get_config_checked(self, name)


def _get_config_checked(manager: Any, name: str) -> dict[str, Any]:
    from lmms_medtasks import provenance
    from lmms_medtasks.templates import binding

    path = manager.task_index[name]["yaml_path"] if name in manager.task_index else None
    path = path if isinstance(path, str) else None  # -1 for a tag
    config = binding.bound(type(manager)._get_config.__wrapped__(manager, name), path)
    return provenance.complete(config, manager.model_name, getattr(manager, "_lmms_medtasks_runner", None), path)


def join_evaluator(module: Any) -> None:
    """Make the harness's ``evaluate`` set a checkpoint's sampling settings aside for our tasks. Idempotent."""
    if getattr(module, _MARK, False):
        return
    setattr(module, _MARK, True)
    from lmms_medtasks.judges.stage import Stage

    original = module.evaluate

    @functools.wraps(original)
    def evaluate(*args: Any, **kwargs: Any) -> Any:
        with user_errors():
            _check_write_out(kwargs)
            _check_model(kwargs)
            _check_repeats(kwargs.get("task_dict") or {})
            _set_sampling_aside(kwargs.get("lm"), kwargs.get("task_dict") or {})
            _note_encoding(kwargs.get("lm"), kwargs.get("task_dict") or {})
            with Stage(_tasks(kwargs.get("task_dict") or {})) as judging:
                return judging.cleaned(original(*args, **kwargs))

    module.evaluate = evaluate


def _set_sampling_aside(lm: Any, task_dict: dict[Any, Any]) -> None:
    from loguru import logger

    from lmms_medtasks import sampling

    configs = list(_configs(task_dict))
    ours = [config for config in configs if _is_ours(config) and _samples(config)]
    if not ours:
        return
    if len(ours) < len(configs):
        # The settings are the model's, not a task's: changing them would move the scores of tasks that are not ours.
        logger.warning("Tasks of others in this run: sampling settings that the checkpoint ships stay as they are.")
        return
    model = getattr(lm, "model", None) or getattr(lm, "_model", None)
    changed = sampling.set_aside(model, ours[0].generation_kwargs or {})
    if changed:
        logger.info(f"Sampling settings of the checkpoint set aside for independent trials: {changed}")
    for config in ours:
        config.metadata = {**config.metadata, "checkpoint_sampling_set_aside": changed}


def _note_encoding(lm: Any, task_dict: dict[Any, Any]) -> None:
    """For a runner that was not chosen by its name (an adapter's): what its module does to pictures."""
    encoding = runners.module_encoding(type(lm).__module__)
    for config in filter(_is_ours, _configs(task_dict)):
        if encoding and "image_encoding" not in config.metadata:
            runners.warn(type(lm).__name__, encoding)
            config.metadata = {**config.metadata, "image_encoding": encoding}


def _check_write_out(arguments: Mapping[str, Any]) -> None:
    """Raises UserError where the harness is to print prompts that the terms of their data keep out of its log."""
    from lmms_medtasks.judges import stage

    tasks = _tasks(arguments.get("task_dict") or {}) if arguments.get("write_out") else ()
    for config in (task.config for task in tasks if _is_ours(task.config)):
        if any(protocol.terms for protocol in stage.protocols_of(config)):
            raise UserError(f"--write_out prints prompts of {config.task}, which its data's terms keep out of logs.")


def _check_model(arguments: Mapping[str, Any]) -> None:
    """Raises UserError where a model behind a third party's server would be asked data whose terms forbid that."""
    from lmms_medtasks import model_guard
    from lmms_medtasks.judges import stage

    configs = [config for config in _configs(arguments.get("task_dict") or {}) if _is_ours(config)]
    terms = [(str(config.task), protocol.terms) for config in configs for protocol in stage.protocols_of(config)]
    model_guard.check(arguments.get("lm"), terms)


def _check_repeats(task_dict: dict[Any, Any]) -> None:
    """Raises UserError when --repeats asks for another number of trials than the task's filter hands to its metrics."""
    for config in filter(_is_ours, _configs(task_dict)):
        taken = [step.get("k") for each in config.filter_list or [] for step in each.get("filter", [])]
        if taken and config.repeats not in taken:
            raise UserError(
                f"{config.task} has T = {taken[0]} trials, --repeats asks for {config.repeats}. Leave --repeats out; "
                "medq_deg_calib has T = 10. For another T copy the YAML and set repeats and the filter's k alike."
            )


def _tasks(task_dict: dict[Any, Any]) -> Iterator[Any]:
    for value in task_dict.values():
        if isinstance(value, dict):
            yield from _tasks(value)
        elif hasattr(value, "config"):
            yield value


def _configs(task_dict: dict[Any, Any]) -> Iterator[Any]:
    return (task.config for task in _tasks(task_dict))


def _is_ours(config: Any) -> bool:
    return isinstance(config.metadata, dict) and "data_digest" in config.metadata


def _samples(config: Any) -> bool:
    settings = config.generation_kwargs or {}
    return bool(settings.get("do_sample", True)) and float(settings.get("temperature") or 0) > 0


class user_errors:  # noqa: N801 (a context manager, used like a function)
    """Under the harness's command line, end with the message of a :class:`UserError` and status 1.

    The harness would print a traceback, hide the cause behind seconds of retries, and exit with status 0. As a
    library (``simple_evaluate``) the error is raised as it is.
    """

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, UserError) and _is_command_line():
            first = os.environ.get("RANK", "0") == "0"
            raise SystemExit(f"lmms-medtasks: {error}" if first else 1) from None


def _is_command_line() -> bool:
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    return "lmms_eval.__main__" in sys.modules or getattr(spec, "name", "") == "lmms_eval.__main__"
