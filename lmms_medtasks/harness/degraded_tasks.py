"""``TASK@gaussian_noise.2``: any task of the harness whose questions show pictures, with degraded pictures.

A degraded task is made of the loaded task object: it has the base's data, prompts, few-shot examples, filters and
metrics, and its class is the base's with :class:`DegradedTaskMixin`, which changes what the hooks for pictures return.
This works for tasks of YAML and of Python, for runners of the simple and of the chat form, and for custom messages.

:mod:`lmms_medtasks.harness.degraded_lookup` finds the names. A base is loaded once; of a group or a tag all tasks are
degraded. A task with ``metadata: {degrade: gaussian_noise.2}`` in its own YAML is degraded under its own name.

Bases that show no pictures, more than pictures, or degraded ones are refused: by their configuration before data are
fetched, by their first documents before a model is loaded (:func:`load_early`). Later problems end the run.
"""

from __future__ import annotations

import copy
import os
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from lmms_medtasks import degradations
from lmms_medtasks.degradations.base import PIXELS
from lmms_medtasks.errors import UserError, nearest_match
from lmms_medtasks.harness import degraded_names, degraded_pictures, provenance
from lmms_medtasks.harness.degraded_names import DegradationRequest
from lmms_medtasks.samples.degraded import ASKED, MARK, METADATA, is_degraded_name
from lmms_medtasks.task_settings import task_settings

_REFUSED = {
    "generate_until_multi_round": "it asks in several rounds, and later ones bring their own images",
    "generate_until_agentic": "it asks in several rounds, and later ones bring their own images",
    "generate_visual_cot": "it has images made and looks at them",
}
_BY_LIKELIHOOD = ("multiple_choice", "loglikelihood")
_PROBED = 32


class NumberedDocument(dict[str, Any]):
    """A document with its number, so that its answer can be logged with what was done to its pictures."""

    number: int


class ShownImages:
    """What a degraded task showed in this process; used by several threads."""

    def __init__(self, name: str, base: str, order: DegradationRequest) -> None:
        self.name, self.base, self.order = name, base, order
        self.changed: dict[str, bool] = {}
        """Each clean picture's digest, and whether its pixels were changed."""
        self.of_documents: dict[int, dict[int, dict[str, Any]]] = {}
        """By document and picture: the clean picture's digest and what was done."""
        self.refused: UserError | None = None
        """An error that a runner may have turned into a reply."""
        self._lock = threading.Lock()

    def degrade_image(self, visual: Any, doc: Mapping[str, Any], number: int) -> Any:
        """Degrade ``visual``, picture ``number`` of its question."""
        try:
            return self._degrade_image(visual, doc, number)
        except UserError as error:
            location = f", document {doc.number}" if isinstance(doc, NumberedDocument) else ""
            self.refused = UserError(f"{self.name}{location}: {error}")
            raise self.refused from error

    def _degrade_image(self, visual: Any, doc: Mapping[str, Any], number: int) -> Any:
        clean = degraded_pictures.open_visual(visual)
        known_as = degraded_pictures.pixel_digest(clean)
        shown: Any = clean  # also of a control: upright, and not compressed again, as the degraded ones
        done: dict[str, Any] = {}
        if not self.order.is_control:
            shown, done = degraded_pictures.degrade_as_requested(
                clean, known_as, self.order, get_document_modality(self.order, doc)
            )
        with self._lock:
            if known_as not in self.changed and not self.order.is_control:
                self.changed[known_as] = shown.size != clean.size or shown.tobytes() != clean.tobytes()
            if isinstance(doc, NumberedDocument):
                of_document = self.of_documents.setdefault(doc.number, {})
                of_document[number] = {"picture": known_as, **done}
        return shown


def get_document_modality(order: DegradationRequest, doc: Mapping[str, Any]) -> str | None:
    """The canonical modality of a document's pictures; None if ``order`` has neither modality nor column.

    Raises UserError for a missing column and for a modality that the degradation is not for.
    """
    if order.column is None:
        return order.modality
    if order.column not in doc:
        raise UserError(f"There is no column {order.column!r} in the documents, only {', '.join(map(str, doc))}.")
    modality = degradations.canonical_modality(doc[order.column])
    degraded_names.check_modality_allowed(order, modality, f"The column {order.column!r}")
    return modality


class DegradedTaskMixin:
    """Mixed into a task's class: passes pictures for the model through :class:`ShownImages`."""

    medtasks_shown: ShownImages

    def doc_to_visual(self, doc: Any) -> Any:
        return self._degrade_visuals(super().doc_to_visual(doc), doc, iter(range(sys.maxsize)))  # type: ignore[misc]

    def doc_to_messages(self, doc: Any, **rounds: Any) -> Any:
        messages = super().doc_to_messages(doc, **rounds)  # type: ignore[misc]
        if not callable(self.config.doc_to_messages):  # type: ignore[attr-defined]
            return messages  # made by the harness from doc_to_visual, above
        numbers = iter(range(sys.maxsize))
        return [{**message, "content": self._degrade_content(message["content"], doc, numbers)} for message in messages]

    def process_results(self, doc: Any, results: Any, *args: Any, **kwargs: Any) -> Any:
        if self.medtasks_shown.refused is not None:
            return {}  # the task has no result, and scoring may cost a judge's requests
        return super().process_results(doc, results, *args, **kwargs)  # type: ignore[misc]

    def _degrade_visuals(self, visuals: Any, doc: Any, numbers: Iterator[int]) -> Any:
        if isinstance(visuals, list | tuple):
            return [self._degrade_visuals(visual, doc, numbers) for visual in visuals]
        return visuals if visuals is None else self.medtasks_shown.degrade_image(visuals, doc, next(numbers))

    def _degrade_content(self, content: Any, doc: Any, numbers: Iterator[int]) -> Any:
        return content if isinstance(content, str) else [self._degrade_part(part, doc, numbers) for part in content]

    def _degrade_part(self, part: Mapping[str, Any], doc: Any, numbers: Iterator[int]) -> Mapping[str, Any]:
        kind = part.get("type") or "text"
        if kind == "text":
            return part
        if kind != "image" or "url" not in part:
            shown = self.medtasks_shown
            shown.refused = UserError(f"{shown.name}: a question holds {kind}. Only images can be degraded.")
            raise shown.refused
        return {**part, "url": self.medtasks_shown.degrade_image(part["url"], doc, next(numbers))}


def find_shown_pictures(task: Any) -> ShownImages | None:
    """The record of a degraded task's pictures; None for other tasks."""
    return getattr(task, "medtasks_shown", None)


def load_degraded_task(
    load_base: Any, manager: Any, name: str, name_or_config: Any, *args: Any, **kwargs: Any
) -> dict[Any, Any]:
    """The degraded task or group ``name``; ``load_base`` loads its base as the harness does.

    Other arguments are those of the task manager's ``_load_individual_task_or_group``.
    """
    base, order = degraded_names.parse_degraded_name(name)
    _check_base(manager, name, base)
    bare = {**name_or_config, "task": base} if isinstance(name_or_config, dict) else base
    # With a parent the harness would number tasks of one name in a group; these have different names.
    loaded = load_base(bare, *args, **{**kwargs, "parent_name": None})
    return _degraded_tasks(loaded, name.removeprefix(base), order, manager)


def names(manager: Any, tasks: Iterable[str]) -> list[str]:
    """The names of degraded tasks among ``tasks``, with wildcards in the base's name resolved.

    Raises UserError for a name that can't be parsed, and for an unknown base.
    """
    task_names = []
    for name in tasks:
        if not is_degraded_name(name) or name in manager.task_index:
            continue
        base, order = degraded_names.parse_degraded_name(name)
        degraded_pictures.check_custom_degradation(order, name)
        if set(base) & set("*?["):
            from lmms_eval.utils import pattern_match

            matching = pattern_match(base, manager.all_tasks)
            if not matching:
                raise UserError(f"{name!r}: no task is called like {base!r}.")
            task_names += [f"{match}{name.removeprefix(base)}" for match in matching]
        else:
            _check_base(manager, name, base)
            task_names.append(name)
    return task_names


def load_early(manager: Any, degraded: Iterable[str], runner: str | None) -> None:
    """Load the bases of these tasks before a model is loaded, so that unsuitable ones are refused early.

    They are kept for :func:`load_degraded_task`. Only the first process does it. Problems with the data itself are left
    to the harness. ``runner``: "simple" or "chat", None if not known.
    """
    if runner is None or os.environ.get("RANK", "0") != "0":
        return
    evaluator = sys.modules.get("lmms_eval.evaluator")
    getattr(evaluator, "_enable_reentrant_filelocks", lambda: None)()
    for name in degraded:
        try:
            manager._load_individual_task_or_group(name, task_type=runner)
        except UserError:
            raise
        except Exception as error:  # noqa: BLE001 (the harness loads it again and reports the error)
            from loguru import logger

            logger.debug(f"{name} could not be loaded before the model: {error!r}")


def check_base_config(name: str, config: Mapping[str, Any]) -> None:
    """Raise UserError if the base of ``name`` shows no images by its configuration, before its data are fetched."""
    if not isinstance(config.get("task"), str) or "class" in config:
        return
    if config.get("doc_to_visual") is None and not callable(config.get("doc_to_messages")):
        raise UserError(
            f"{name}: {config['task']} shows no images (it has no doc_to_visual), there is nothing to degrade."
        )
    _check_output(name, config.get("output_type"))
    dataset_kwargs = config.get("dataset_kwargs") or {}
    if dataset_kwargs.get("video") or dataset_kwargs.get("From_YouTube"):
        raise UserError(f"{name}: {config['task']} is a task of videos. Only images can be degraded.")


def _check_base(manager: Any, name: str, base: str) -> None:
    if base not in manager.task_index:
        hint = nearest_match(base, manager.all_tasks)
        raise UserError(f"{name!r}: there is no task {base!r}.{hint} `lmms-eval --tasks list` lists all.")


def _check_output(name: str, output_type: Any) -> None:
    if output_type in _BY_LIKELIHOOD and not _keeps_likelihoods():
        raise UserError(
            f"{name} can't be asked: this lmms-eval makes text of the likelihoods of output_type: {output_type}, so "
            "that its clean task can't be scored either. It would end the run after all replies."
        )
    if output_type in _REFUSED:
        raise UserError(f"{name} can't be degraded: {_REFUSED[output_type]} (output_type: {output_type}).")


def _keeps_likelihoods() -> bool:
    """Whether the harness passes likelihoods (loss, truth value) to the task; 0.7.3 turns them into a text."""
    from lmms_eval import evaluator

    output, _ = evaluator.unwrap_generation_output((0.5, True))
    return bool(output == (0.5, True))


def degrade_as_yaml_requests(task: Any, requested: str, manager: Any) -> Any:
    """Make a task degraded as its own YAML requests. Raises UserError if that is not possible."""
    location = f"{task.config.task}, metadata: {ASKED}"
    order = degraded_names.parse_degradation_request(requested, location)
    degraded_pictures.check_custom_degradation(order, location)
    return make_degraded_task(task, str(task.config.task), order, manager)


def _degraded_tasks(loaded: Mapping[Any, Any], suffix: str, order: DegradationRequest, manager: Any) -> dict[Any, Any]:
    """The degraded forms of loaded tasks and groups, all named with ``suffix``."""
    tasks: dict[Any, Any] = {}
    for key, value in loaded.items():
        if isinstance(value, dict):
            group = copy.copy(key)
            group._config = copy.copy(key._config)
            group._config.group = f"{key.group}{suffix}"
            if key.group_alias:
                group._config.group_alias = f"{key.group_alias}{suffix}"
            tasks[group] = _degraded_tasks(value, suffix, order, manager)
        else:
            tasks[f"{key}{suffix}"] = make_degraded_task(value, f"{value.config.task}{suffix}", order, manager)
    return tasks


def make_degraded_task(task: Any, name: str, order: DegradationRequest, manager: Any) -> Any:
    """A copy of a loaded task of the harness, called ``name``, that shows degraded pictures.

    Raises UserError for a base that shows no pictures, others than pictures, or degraded ones.
    """
    base = task.config
    _check_base_task(task, name, order)
    made: Any = object.__new__(
        type(f"Degraded{type(task).__name__}", (DegradedTaskMixin, type(task)), {"__module__": __name__})
    )
    made.__dict__.update(task.__dict__)
    config = made._config = copy.copy(base)
    config.task = name
    config.generation_kwargs = copy.deepcopy(base.generation_kwargs)
    if base.task_alias and MARK in name:
        metadata = base.metadata if isinstance(base.metadata, Mapping) else {}
        label = provenance.format_data_label(metadata) if "data_digest" in metadata else ""
        config.task_alias = f"{base.task_alias.removesuffix(label)}{MARK}{name.partition(MARK)[2]}{label}"
    config.metadata = _degraded_metadata(base, order, manager)
    made.medtasks_shown = ShownImages(name, str(base.task), order)
    made._instances = None
    # Copied because a subset removes rows in place; the two may be one object.
    made.dataset = copy.copy(task.dataset)
    made.dataset_no_image = made.dataset if task.dataset_no_image is task.dataset else copy.copy(task.dataset_no_image)
    made.task_docs = made.eval_docs
    made._filters = list(map(copy.copy, task._filters))
    for ensemble in made._filters:
        ensemble.filters = list(ensemble.filters)
    if hasattr(task, "sampler"):  # a copy draws the same examples as the base's
        made.sampler = copy.copy(task.sampler)
        made.sampler.task, made.sampler.config = made, config
    return made


def _degraded_metadata(base: Any, order: DegradationRequest, manager: Any) -> dict[str, Any]:
    """The base's metadata and the degradation, all of which is in the key of the harness's response cache."""
    is_mapping = isinstance(base.metadata, Mapping)
    metadata = dict(base.metadata) if is_mapping else {"of_base": base.metadata} if base.metadata else {}
    metadata.pop(ASKED, None)
    metadata[METADATA] = {
        "of": str(base.task),
        "name": order.what,
        "level": order.level,
        **({"modality": order.modality} if order.modality else {}),
        **({"column": order.column} if order.column else {}),
        "seed": order.seed,
        **({"lengths": order.lengths} if order.lengths != PIXELS else {}),
        **({} if order.is_control else {"code": degraded_pictures.code_of(order)}),
        "libraries": dict(provenance.library_versions()),
    }
    runner = getattr(manager, "_lmms_medtasks_runner", None)
    provenance.add_image_encoding(metadata, getattr(manager, "model_name", None), runner)
    return metadata


def _check_base_task(task: Any, name: str, order: DegradationRequest) -> None:
    config = task.config
    if find_shown_pictures(task) is not None or _own_degradation(task):
        raise UserError(f"{name}: {config.task} shows degraded images already. A task can be degraded once.")
    check_base_config(name, {**vars(config), "output_type": task.OUTPUT_TYPE or config.output_type})
    documents = task.dataset[config.test_split or config.validation_split]
    columns = getattr(documents, "column_names", None)
    if order.column is not None and columns is not None:
        _check_column(task, name, order)
    if config.doc_to_visual is not None:
        _check_first_documents(task, name, documents)


def _check_first_documents(task: Any, name: str, documents: Any) -> None:
    """Raise UserError if the first questions show no picture, or their first visuals are not pictures.

    Custom messages are not made, because that may change the task's module.
    """
    seen = 0
    for doc in islice(documents, _PROBED):
        seen += 1
        visuals = task.doc_to_visual(doc)
        if visuals is not None and not isinstance(visuals, list | tuple):
            visuals = [visuals]
        for part in visuals or []:
            for visual in part if isinstance(part, list | tuple) else [part]:
                try:
                    degraded_pictures.open_visual(visual)
                except UserError as error:
                    raise UserError(f"{name} can't be degraded: {error}") from error
        if visuals:
            return
    raise UserError(f"{name}: none of the first {seen} questions of {task.config.task} shows an image.")


def _check_column(task: Any, name: str, order: DegradationRequest) -> None:
    """Raise UserError for a document whose modality is unknown or not supported by the degradation."""
    split = task.config.test_split or task.config.validation_split
    rows = task.dataset_no_image[split]
    if order.column not in rows.column_names:
        raise UserError(
            f"{name}: there is no column {order.column!r} in the documents, only {', '.join(rows.column_names)}."
        )
    first: dict[Any, int] = {}
    for number, value in enumerate(rows[order.column]):
        first.setdefault(value, number)
    for value, number in first.items():
        try:
            get_document_modality(order, {str(order.column): value})
        except UserError as error:
            raise UserError(f"{name}, document {number}, column {order.column!r}: {error}") from error


def _own_degradation(task: Any) -> bool:
    """Whether the settings or the documents of a task of ours already degrade its pictures."""
    metadata = task.config.metadata
    if not isinstance(metadata, Mapping) or "data_digest" not in metadata:
        return False
    settings = task_settings(task.config)
    if settings.get("rendered") or (settings.get("degradation") and settings.get("severity") != 0):
        return True
    rows = task.dataset_no_image[task.config.test_split or task.config.validation_split]
    columns = set(getattr(rows, "column_names", None) or ())
    if settings.get("severity") != 0 and "severity" in columns and any(rows["severity"]):
        return True
    return "corruption" in columns and any(rows["corruption"])
