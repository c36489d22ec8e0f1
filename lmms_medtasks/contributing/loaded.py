"""A contributed task as a run has it: hooks imported, settings handed to them, documents made. Executes its code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmms_medtasks import templates
from lmms_medtasks.contributing.problems import Findings
from lmms_medtasks.errors import UserError
from lmms_medtasks.templates import binding

if TYPE_CHECKING:
    from datasets import Dataset


@dataclass(frozen=True)
class Loaded:
    """``documents`` are whole; ``scored`` are the same without picture columns, as the scoring hook gets them."""

    path: Path
    config: Mapping[str, Any]
    documents: Dataset
    scored: Dataset

    @property
    def name(self) -> str:
        return str(self.config["task"])

    @property
    def settings(self) -> dict[str, Any]:
        """What the harness gives to the hooks for prompt and pictures."""
        given = self.config.get("lmms_eval_specific_kwargs") or {}
        return {**given, **given.get("default", {})}

    @property
    def template(self) -> templates.Template | None:
        hook = self.config["process_results"]
        return binding.template_of({**self.config, "process_results": getattr(hook, "func", hook)})

    @property
    def repeats(self) -> int:
        return int(self.config.get("repeats") or 1)

    def prompt(self, doc: Mapping[str, Any]) -> str:
        return str(self._call("doc_to_text", doc))

    def pictures(self, doc: Mapping[str, Any]) -> list[Any]:
        return list(self._call("doc_to_visual", doc))

    def target(self, doc: Mapping[str, Any]) -> str:
        hook = self.config["doc_to_target"]
        return str(hook(doc) if callable(hook) else hook)

    def score(self, doc: Mapping[str, Any], replies: list[str]) -> dict[str, Any]:
        found: dict[str, Any] = self.config["process_results"](doc, replies)
        return found

    def attempt(self, function: Callable[..., Any], *arguments: Any, what: str, found: Findings, key: str = "") -> Any:
        """See :func:`attempt`."""
        return attempt(function, *arguments, path=self.path, what=what, found=found, key=key)

    def _call(self, key: str, doc: Mapping[str, Any]) -> Any:
        from lmms_medtasks.contributing.functions import accepts

        hook = self.config[key]
        if not callable(hook):
            return hook
        most = accepts(hook)[1]
        return hook(doc) if most == 1 else hook(doc, self.settings)


def load(path: Path, found: Findings) -> Loaded | None:
    """Load a task; None where its hooks or its data can't be had, told in ``found``."""
    config = attempt(_config, path, path=path, what="its hooks can't be had", found=found)
    if config is None:
        return None
    documents = attempt(_documents, config, path=path, what="its data can't be had", found=found)
    if documents is None:
        return None
    return Loaded(path, config, documents, _without_pictures(documents))


def attempt(
    function: Callable[..., Any], *arguments: Any, path: Path | str, what: str, found: Findings, key: str = ""
) -> Any:
    """What ``function(*arguments)`` gives, or None and a problem: a hook of others may raise anything."""
    try:
        return function(*arguments)
    except UserError as error:
        found.add(path, f"{what}: {error}", key=key)
    except Exception as error:  # noqa: BLE001 (told with its type; the hooks are anyone's)
        cause = error.__cause__ or error
        found.add(path, f"{what}: {type(cause).__name__}: {cause}", key=key)
    return None


def _config(path: Path) -> dict[str, Any]:
    from lmms_eval.utils import load_yaml_config

    return binding.bound(load_yaml_config(str(path)), path)


def _documents(config: Mapping[str, Any]) -> Dataset:
    import datasets

    datasets.disable_progress_bars()
    kwargs = dict(config.get("dataset_kwargs") or {})
    split = config["test_split"]
    if kwargs.pop("load_from_disk", False):
        rows = datasets.load_from_disk(config["dataset_path"])[split]
    else:
        for key in ("cache_dir", "video", "force_download", "force_unzip", "local_files_only", "create_link", "token"):
            kwargs.pop(key, None)
        rows = datasets.load_dataset(config["dataset_path"], name=config.get("dataset_name"), split=split, **kwargs)
    adapt = config.get("process_docs")
    documents = adapt(rows) if adapt else rows
    if not len(documents):
        raise UserError("there is no question in it")
    return documents


def _without_pictures(documents: Dataset) -> Dataset:
    import datasets

    lists = tuple(
        getattr(datasets, name) for name in ("Sequence", "List") if isinstance(getattr(datasets, name, 0), type)
    )

    def pictured(feature: Any) -> bool:
        inner = getattr(feature, "feature", None) if isinstance(feature, lists) else feature
        return isinstance(inner, datasets.Image)

    return documents.remove_columns([name for name, feature in documents.features.items() if pictured(feature)])
