"""Bind a contributed task's settings to its hooks.

The harness passes a task's settings only to the hooks for prompt and pictures. For a task on a template the plugin
checks the YAML (:mod:`lmms_medtasks.task_yaml.keys`), adds the template's settings, and passes them to the adapter
(``process_docs``) and to the scoring (``process_results``) too.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lmms_medtasks import folders
from lmms_medtasks.data import adapter, sources, text_tables
from lmms_medtasks.errors import UserError
from lmms_medtasks.extensions import load_extension, resolve_extension_path
from lmms_medtasks.harness.template_hooks import prepared_documents, prompt_hooks
from lmms_medtasks.judges import registry as protocols
from lmms_medtasks.judges.own_scales import is_rubric
from lmms_medtasks.prompt_files import prompt_text
from lmms_medtasks.suites import own_metrics, own_parts, templates
from lmms_medtasks.suites.suite import Suite
from lmms_medtasks.suites.templates import measures, parsers
from lmms_medtasks.suites.templates.measures import CustomScoring
from lmms_medtasks.task_yaml import keys, nodes
from lmms_medtasks.task_yaml import settings as schema

MODALITIES = "modalities.yml"
"""A file beside the YAML: :mod:`lmms_medtasks.degradations.own_modalities`."""
FIRST = ("questions",)
JUDGED = {"choice": (), "open": ("judged",)}
"""Metrics that every task has, before and after those it names: a mean needs the number of questions."""
_ASKING = "lmms_medtasks.harness.template_hooks.prompt_hooks"


class BoundHook(functools.partial):  # type: ignore[type-arg]
    """A hook with its task's settings.

    The harness writes the ``repr`` of hooks into the result file, so it must not contain folders of this machine.
    """

    def __repr__(self) -> str:
        return f"{self.func.__module__}.{self.func.__qualname__} with {', '.join(self.keywords)}"


def bind_template_hooks(config: dict[str, Any], yaml_path: str | Path | None) -> dict[str, Any]:
    """``config``, or a copy whose hooks have the settings if the task is on a template.

    Raises:
        UserError: the YAML of a task on a template is wrong, or its settings do not fit the template.
    """
    folder = Path(yaml_path).resolve().parent if yaml_path else None
    if folder is not None:
        _give_custom(folder)
    if templates.is_on_template(config.get("process_results")) and yaml_path and Path(yaml_path).is_file():
        config = {**config, **keys.read_joined(Path(yaml_path).resolve())}
    template = templates.template_of(config)
    if template is None:
        return _with_folder(config, folder) if folder else config
    reader = config.get("dataset_kwargs")
    config, tables = text_tables.with_text_cells(config, _task_label(config))
    settings = merge_settings(config, template, folder)
    from lmms_medtasks.harness.scoring import CLUSTER, metric_entry

    settings, parts = resolve_custom_parts(settings, template, folder)
    scoring_settings = {**settings, **parts.scoring}
    hook = config["process_results"]
    process_results = BoundHook(hook, settings=scoring_settings)
    if hasattr(hook, "metrics_of"):
        process_results.metrics_of = BoundHook(hook.metrics_of, settings=scoring_settings)  # type: ignore[attr-defined]
    shown = {key: value for key, value in settings.items() if key != "metrics"}
    if parts.described:
        config = {**config, "metadata": {**(config.get("metadata") or {}), own_parts.KEY: parts.described}}
    return {
        **config,
        "process_docs": BoundHook(
            prepared_documents.prepare_documents,
            adapt=_bind_adapter(config, settings, folder, text_tables.line_counter(tables, reader)),
            settings=settings,
            tables=tables,
            folder=folder,
            training_split=str(config.get("training_split") or ""),
            own=parts.scoring,
        ),
        "doc_to_visual": prompt_hooks.make_image_hook(config, settings, folder)
        if folder
        else config.get("doc_to_visual"),
        "generation_kwargs": {
            **nodes.template_generation(templates.template_yaml(template.name)),
            **(config.get("generation_kwargs") or {}),
        },
        "process_results": process_results,
        "metric_list": [metric_entry(parts.suite.metric(name)) for name in settings["metrics"]],
        "cluster_key": CLUSTER,
        "lmms_eval_specific_kwargs": {"default": shown},
    }


def _give_custom(folder: Path) -> None:
    """Register the modalities and data sets in a task's folder."""
    if (folder / sources.FILE).is_file():
        sources.add_source_folders([folder])
    if (folder / MODALITIES).is_file():
        from lmms_medtasks.degradations import modality_files

        modality_files.load_modality_files([folder / MODALITIES])


def _with_folder(config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """``config`` of a task with its own scoring hook, with its folder in our adapter and its text in our prompt."""
    given = config.get("lmms_eval_specific_kwargs") or {}
    task_settings = given.get("default") or {}
    changed: dict[str, Any] = {}
    if not folder.is_relative_to(folders.suites_root().resolve()) and config.get("doc_to_visual") is not None:
        changed["doc_to_visual"] = prompt_hooks.make_image_hook(config, task_settings, folder)
    if isinstance(config.get("process_docs"), adapter.Columns):
        reader = config.get("dataset_kwargs")
        config, tables = text_tables.with_text_cells(nodes.locate_data_files(config, folder), _task_label(config))
        changed["process_docs"] = BoundHook(
            prepared_documents.prepare_documents,
            adapt=config["process_docs"].in_folder(folder, line_of=text_tables.line_counter(tables, reader)),
            settings=task_settings,
            tables=tables,
            folder=folder,
            training_split=str(config.get("training_split") or ""),
        )
    if getattr(config.get("doc_to_text"), "__module__", "") == _ASKING and task_settings.get("prompt"):
        prompt = find_prompt_text(str(task_settings["prompt"]), folder)
        changed["lmms_eval_specific_kwargs"] = {**given, "default": {**task_settings, "prompt": prompt}}
    if any(isinstance(name, str) and is_rubric(name) for name in list_judges(task_settings)):
        given = changed.get("lmms_eval_specific_kwargs") or given
        protocol_names = [protocols.get(str(name), folder).name for name in list_judges(task_settings)]
        judge = protocol_names if isinstance(task_settings["judge"], list) else protocol_names[0]
        changed["lmms_eval_specific_kwargs"] = {**given, "default": {**given["default"], "judge": judge}}
    return {**config, **changed} if changed else config


def list_judges(settings: Mapping[str, Any]) -> list[Any]:
    """The judge protocols that settings name."""
    judges = settings.get("judge") or []
    return judges if isinstance(judges, list) else [judges]


def list_tables(config: Mapping[str, Any]) -> tuple[Path, ...]:
    """The tables in the folder of a bound task with its data."""
    tables: tuple[Path, ...] = getattr(config.get("process_docs"), "keywords", {}).get("tables", ())
    return tables


def merge_settings(
    config: Mapping[str, Any], template: templates.TaskTemplate, folder: Path | None = None
) -> dict[str, Any]:
    """The template's settings, overridden by the task's and checked; ``prompt`` is the text, ``metrics`` a list."""
    where = _task_label(config)
    given = config.get("lmms_eval_specific_kwargs") or {}
    task_settings = given.get("default") or {}
    schema.check_task_settings(task_settings, where)
    merged = {**template.settings, **task_settings}
    metrics = merged.get("metrics") or template.metrics
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    schema.check_fit({**merged, "metrics": names}, template, where)
    rotated = measures.ROTATION_METRICS if merged.get("rotate_options") else ()
    required = (*JUDGED[template.kind], *templates.ALWAYS[template.kind])
    merged["metrics"] = list(dict.fromkeys([*FIRST, *names, *rotated, *required]))
    merged["prompt"] = find_prompt_text(str(merged["prompt"]), folder)
    return merged


def find_prompt_text(name: str, folder: Path | None) -> str:
    """The prompt's text: ``name`` itself, a file in ``folder``, a built-in prompt, or a file in task_configs."""
    if "{question}" in name:
        return name
    if folder is not None and (folder / name).is_file():
        text = (folder / name).read_text("utf-8").removesuffix("\n")
    elif name in templates.builtin_prompt_names():
        text = templates.builtin_prompt(name)
    else:
        text = _prompt_of_ours(name, folder)
    if "{question}" not in text:
        raise UserError(f"The prompt {name!r} has no {{question}} in it: the question would not be asked.")
    return text


def _prompt_of_ours(name: str, folder: Path | None) -> str:
    try:
        return prompt_text(name)
    except UserError as error:
        raise UserError(
            f"No prompt {name!r}: no such file in {folder}, none of the built-in prompts "
            f"({', '.join(templates.builtin_prompt_names())}), no file of ours in task_configs."
        ) from error


def _bind_adapter(
    config: Mapping[str, Any], settings: Mapping[str, Any], folder: Path | None, line_of: Callable[[int], int] | None
) -> Any:
    adapt = config.get("process_docs") or adapter.documents
    if not isinstance(adapt, adapter.Columns):
        return adapt
    tags = [*([settings["shift"]["column"]] if settings.get("shift") else []), *filter(None, [settings.get("cluster")])]
    return adapt.in_folder(folder, tags, line_of) if folder else adapt


@dataclass(frozen=True)
class CustomParts:
    """The result of :func:`resolve_custom_parts`.

    Attributes:
        suite: The declaration by which the task's questions are scored.
        scoring: Settings for the scoring hook only, because they may contain folders of this machine.
        described: Descriptions for the task's metadata (:mod:`lmms_medtasks.suites.own_parts`).
    """

    suite: Suite
    scoring: Mapping[str, Any] = field(default_factory=dict)
    described: Mapping[str, Any] = field(default_factory=dict)


def resolve_custom_parts(
    settings: dict[str, Any], template: templates.TaskTemplate, folder: Path | None
) -> tuple[dict[str, Any], CustomParts]:
    """The settings with names in place of references to metrics and the judge protocol, and the custom parts.

    Raises:
        UserError: A part is missing, is of another kind, or has a used name.
    """
    ours = measures.template_metrics()
    references = {name: resolve_extension_path(name, folder) for name in settings["metrics"] if name not in ours}
    custom_metrics = {name: own_metrics.get(reference, tuple(ours)) for name, reference in references.items()}
    if custom_metrics and folder is not None and (folder / "measures.py").is_file():
        raise UserError(
            f"metrics: {next(iter(custom_metrics))}: the folder has a measures.py, which declares its metrics. Name it "
            "in SUITE there, among measures and metrics."
        )
    by_name: dict[str, str] = {}
    for reference, name in ((reference, custom.metric.name) for reference, custom in custom_metrics.items()):
        first_reference = by_name.setdefault(name, reference)
        if first_reference != reference:
            raise UserError(f"Two metrics are called {name!r}: {first_reference} and {reference}. Rename one of them.")
    metrics = [custom_metrics[name].metric.name if name in custom_metrics else name for name in settings["metrics"]]
    settings = {**settings, "metrics": metrics}
    scoring: dict[str, Any] = {}
    parser = protocol = None
    scores: tuple[str, ...] = ()
    if template.kind == "open":
        protocol = protocols.get(str(settings["judge"]), folder)
        settings["judge"] = protocol.name
        if protocol.reference and len(protocol.dimensions) > 1:
            scores = tuple(dimension.name for dimension in protocol.dimensions)
            index = metrics.index("score") + 1 if "score" in metrics else len(metrics)
            settings["metrics"] = [*metrics[:index], *(f"score_{score}" for score in scores), *metrics[index:]]
    elif parsers.is_custom_parser(str(settings["parser"])):
        reference = resolve_extension_path(str(settings["parser"]), folder)
        parsers.get(reference)
        parser = str(settings["parser"]), load_extension("parser", reference, tuple(parsers.PARSERS))
        scoring["parser"] = reference
    custom = CustomScoring(tuple(references.values()), scores)
    scoring["own"] = custom
    described = own_parts.describe_custom_parts(list(custom_metrics.values()), protocol, parser)
    settings["metrics"] = list(dict.fromkeys(settings["metrics"]))
    return settings, CustomParts(measures.of_kind(template.kind, custom), scoring, described)


def _task_label(config: Mapping[str, Any]) -> str:
    return f"Task {config.get('task')!r}"
