"""Load a contributed task as a run does: import its hooks, bind its settings, make its documents."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import template_hooks
from lmms_medtasks.suites import templates
from lmms_medtasks.task_yaml import nodes
from lmms_medtasks.task_yaml.chain import IncludeChain
from lmms_medtasks.task_yaml.problems import ValidationLog

if TYPE_CHECKING:
    from datasets import Dataset


@dataclass(frozen=True)
class LoadedTask:
    """A task with its documents. ``scored``: the documents without image columns, as the scoring hook gets them."""

    path: Path
    config: Mapping[str, Any]
    documents: Dataset
    scored: Dataset
    log: ValidationLog

    @property
    def name(self) -> str:
        return str(self.config["task"])

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that the harness passes to the hooks for prompt and images."""
        kwargs = self.config.get("lmms_eval_specific_kwargs") or {}
        return {**kwargs, **kwargs.get("default", {})}

    @property
    def template(self) -> templates.TaskTemplate | None:
        return templates.template_of(self.config)

    @property
    def repeats(self) -> int:
        return int(self.config.get("repeats") or 1)

    def prompt(self, doc: Mapping[str, Any]) -> str:
        import jinja2

        hook = self.config["doc_to_text"]
        if callable(hook):
            return str(self._call_hook("doc_to_text", doc))
        if hook in doc:
            return str(doc[hook])
        # As the harness fills a document's fields into a text of the YAML.
        return jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(str(hook)).render(**doc)

    def pictures(self, doc: Mapping[str, Any]) -> list[Any]:
        return list(self._call_hook("doc_to_visual", doc))

    def target(self, doc: Mapping[str, Any]) -> str:
        hook = self.config["doc_to_target"]
        return str(hook(doc) if callable(hook) else hook)

    def score(self, doc: Mapping[str, Any], replies: list[str]) -> dict[str, Any]:
        values: dict[str, Any] = self.config["process_results"](doc, replies)
        return values

    def add(self, message: str, **more: object) -> None:
        """Add a problem of the task to its log."""
        self.log.add(self.path, message, **more)

    def note(self, text: str) -> None:
        """Add a note on what was checked to the log."""
        self.log.told.append(f"{self.name}: {text}")

    def try_call(self, function: Callable[..., Any], *arguments: Any, what: str, key: str = "") -> Any:
        """See :func:`call_reporting_errors`."""
        return call_reporting_errors(function, *arguments, path=self.path, what=what, log=self.log, key=key)

    def _call_hook(self, key: str, doc: Mapping[str, Any]) -> Any:
        from lmms_medtasks.contribute.references import callable_arity

        hook = self.config[key]
        if not callable(hook):
            return hook
        most = callable_arity(hook)[1]
        return hook(doc) if most == 1 else hook(doc, self.settings)


def load_task(chain: IncludeChain, log: ValidationLog) -> LoadedTask | None:
    """Load a task. Returns None, with the reason added to ``log``, if its hooks or data are unavailable."""
    path = chain.path

    def try_call(function: Callable[..., Any], *arguments: Any, what: str) -> Any:
        return call_reporting_errors(function, *arguments, path=path, what=what, log=log)

    bound = try_call(lambda: template_hooks.bind_hooks(merged_task_config(chain), path), what="it can't be loaded")
    documents = None if bound is None else try_call(_load_documents, bound, what="its data can't be had")
    if documents is None:
        return None
    return LoadedTask(path, bound, documents, _without_images(documents), log)


def call_reporting_errors(
    function: Callable[..., Any], *arguments: Any, path: Path | str, what: str, log: ValidationLog, key: str = ""
) -> Any:
    """Return ``function(*arguments)``, or None after logging any exception as a problem."""
    try:
        return function(*arguments)
    except UserError as error:
        log.add(path, f"{what}: {error}", key=key)
    except SystemExit as error:
        log.add(path, f"{what}: it ends Python (SystemExit: {error})", key=key)
    except Exception as error:  # noqa: BLE001 (told with its type; the hooks are anyone's)
        cause = error.__cause__ or error
        log.add(path, f"{what}: {type(cause).__name__}: {cause}", key=key)
    return None


def merged_task_config(chain: IncludeChain) -> dict[str, Any]:
    """Merge a task's YAML and its includes, and import its functions, as the harness's ``load_yaml_config`` does.

    The harness's own would import torch and transformers first, which takes longer than all checks together.
    """
    merged = {key: _resolve_functions(entry.value, entry.file.parent) for key, entry in chain.entries.items()}
    return nodes.locate_data_files(merged, chain.path.parent)


def _resolve_functions(value: Any, folder: Path) -> Any:
    if isinstance(value, nodes.FunctionTag):
        return _import_function(value.name, folder)
    if isinstance(value, dict):
        return {key: _resolve_functions(item, folder) for key, item in value.items()}
    return [_resolve_functions(item, folder) for item in value] if isinstance(value, list) else value


def _import_function(dotted: str, folder: Path) -> Any:
    module_name, _, name = dotted.rpartition(".")
    local = folder / f"{module_name}.py"
    if not local.is_file():
        return getattr(importlib.import_module(module_name), name)
    spec = importlib.util.spec_from_file_location(module_name, local)
    if spec is None or spec.loader is None:
        raise UserError(f"{local.name} can't be imported.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def _load_documents(config: Mapping[str, Any]) -> Dataset:
    import datasets

    datasets.disable_progress_bars()
    kwargs = dict(config.get("dataset_kwargs") or {})
    split = config["test_split"]
    if kwargs.pop("load_from_disk", False):
        rows = datasets.load_from_disk(config["dataset_path"])[split]
    else:
        for key in ("cache_dir", "video", "force_download", "force_unzip", "local_files_only", "create_link", "token"):
            kwargs.pop(key, None)
        try:
            rows = datasets.load_dataset(config["dataset_path"], name=config.get("dataset_name"), split=split, **kwargs)
        except ConnectionError as error:
            raise UserError(
                f"{error}. Try again where there is a network, without HF_HUB_OFFLINE, or once the data set is in the "
                "cache; what can be told without it is right."
            ) from error
    adapt = config.get("process_docs")
    documents = adapt(rows) if adapt else rows
    if not len(documents):
        raise UserError("there is no question in it")
    return documents


def _without_images(documents: Dataset) -> Dataset:
    import datasets

    lists = tuple(
        getattr(datasets, name) for name in ("Sequence", "List") if isinstance(getattr(datasets, name, 0), type)
    )
    inner = {
        name: getattr(feature, "feature", None) if isinstance(feature, lists) else feature
        for name, feature in documents.features.items()
    }
    return documents.remove_columns([name for name, feature in inner.items() if isinstance(feature, datasets.Image)])
