"""What only a run knows about a task: which data it reads, and what the runner does to its pictures."""

from __future__ import annotations

import copy
import importlib.metadata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lmms_medtasks import digests
from lmms_medtasks.data import locate, sources
from lmms_medtasks.data.store import Located
from lmms_medtasks.harness import chosen_settings, runners, scoring, task_digests
from lmms_medtasks.suites import paper, registry, templates

PROTOCOL = "medtasks://"


def complete(
    config: dict[str, Any], model_name: str | None, runner: str | None, yaml_path: str | None = None
) -> dict[str, Any]:
    """A copy of a task's configuration with its metadata completed, if it reads ``medtasks://`` data.

    Added to ``metadata``: ``data`` ("full", "sample" or "mini"), ``data_digest`` (changes with every byte of the data),
    ``harness`` (the version of lmms-eval; a result file has only the commit of a git checkout), ``digests`` (of
    prompt, code and degradations, see :mod:`lmms_medtasks.harness.task_digests`), ``package_version`` (ours),
    ``package_modified`` (true where its files are not as installed or, in a working
    copy, as committed; not there where neither is known), ``libraries`` (versions of packages
    that can move a pixel or a score), ``agreement`` where one had to be signed for the data, and, where the runner
    re-encodes pictures, ``image_encoding``. ``data`` is "full" only if all files read are; ``data_counts`` says what of
    the number of questions is other than in the whole release, of a sample or of data whose counts were accepted. Both
    stand in ``task_alias``, which the harness prints in its table, so that nobody takes its numbers for the
    benchmark's. A task on a template gets ``template`` and ``benchmark``, its folder's name; one that reads other data
    also the digest of its files; data on a hub have the digest "". Settings and prompts that the user chose are put in
    (:mod:`lmms_medtasks.harness.chosen_settings`), named in the metadata, and settings in ``task_alias`` too.

    ``model_name`` is the harness's name of the model, ``runner`` its kind ("chat" or "simple"); both may be unknown.
    Raises :class:`lmms_medtasks.errors.UserError` when the data is not there and can't be prepared.
    """
    locations = locations_of(config)
    if not locations:
        return _contributed(config, model_name, runner, yaml_path)
    config = _on_template(copy.copy(config), yaml_path)
    config, told = chosen_settings.applied(config, Path(yaml_path).parent if yaml_path else None)
    _check_settings(config, locations[0][0])
    located = [locate(suite, split) for suite, split in locations]
    metadata = {
        **(config.get("metadata") or {}),
        **_code(config),
        "data": _kind(located),
        "data_digest": " ".join(each.digest for each in located),
        "harness": importlib.metadata.version("lmms_eval"),
        **told,
    }
    agreement = sources.get(locations[0][0]).agreement
    if agreement:
        metadata["agreement"] = agreement
    if settings := paper.label(metadata):
        config["task_alias"] = f"{config.get('task_alias') or config['task']} ({settings} settings)"
    counts = [f"{split}: {each.counts}" for (_, split), each in zip(locations, located, strict=True) if each.counts]
    if counts:
        metadata["data_counts"] = "; ".join(counts)
    if said := data_label(metadata):
        config["task_alias"] = f"{config.get('task_alias') or config['task']}{said}"
    add_encoding(metadata, model_name, runner)
    config["metadata"] = metadata
    return config


def _code(config: Mapping[str, Any], folder: Path | None = None) -> dict[str, Any]:
    modified = digests.is_modified()
    return {
        "digests": task_digests.of_task(config, folder),
        "package_version": importlib.metadata.version("lmms-medtasks"),
        **({} if modified is None else {"package_modified": modified}),
        "libraries": dict(task_digests.libraries()),
    }


def _kind(located: Sequence[Located]) -> str:
    """What all files of a task are together: full only if each is."""
    kinds = {each.data for each in located}
    return next(kind for kind in ("mini", "sample", "full") if kind in kinds)


def data_label(metadata: Mapping[str, Any]) -> str:
    """What stands behind a task's name: `` (sample data, test: 57 questions, 99 expected)``; "" for the benchmark."""
    data, counts = metadata["data"], metadata.get("data_counts", "")
    if data == "full" and not counts:
        return ""
    said = [f"{data} data", *(["counts accepted"] if data == "full" else []), *([counts] if counts else [])]
    return f" ({', '.join(said)})"


def _contributed(
    config: dict[str, Any], model_name: str | None, runner: str | None, yaml_path: str | None
) -> dict[str, Any]:
    """The same for a task of which we have no data: its files' digests in the metadata, if it is a contributed one.

    That is a task on a template, or one whose folder declares its measures; ``benchmark`` is its folder's name.
    """
    if yaml_path is None:
        return config
    folder = Path(yaml_path).parent
    config, chosen = chosen_settings.applied(config, folder)
    if chosen:
        config = {**config, "metadata": {**(config.get("metadata") or {}), **chosen}}
    told = _on_template(config, yaml_path)
    declares = (folder / "measures.py").is_file() and _is_declared(config)
    if declares:
        registry.give([folder])
    elif told is config:
        return config
    metadata = {
        "data": "full",
        **(told.get("metadata") or {}),
        "benchmark": folder.name,
        **_code(config, folder),
        "data_digest": task_digests.of_files(_files(config)),
    }
    add_encoding(metadata, model_name, runner)
    return {**config, "metadata": metadata}


def _on_template(config: dict[str, Any], yaml_path: str | None) -> dict[str, Any]:
    """The configuration of a task on a template with that and its folder in the metadata; another as it is."""
    template = templates.template_of(config)
    if template is None or yaml_path is None:
        return config
    told = {"template": template.name, "benchmark": Path(yaml_path).parent.name}
    return {**config, "metadata": {**(config.get("metadata") or {}), **told}}


def _is_declared(config: dict[str, Any]) -> bool:
    """Whether a metric of the task is aggregated by a declaration of ours."""
    listed = config.get("metric_list") or []
    return any(getattr(each.get("aggregation"), "__module__", "") == scoring.__name__ for each in listed)


def add_encoding(metadata: dict[str, Any], model_name: str | None, runner: str | None) -> None:
    """Add ``image_encoding`` to ``metadata`` where the runner is known to re-encode pictures with loss, and say so."""
    encoding = runners.image_encoding(model_name, runner) if model_name and runner else None
    if encoding:
        metadata["image_encoding"] = encoding
        runners.warn(str(model_name), encoding)


def _check_settings(config: dict[str, Any], suite: str) -> None:
    """Raises UserError for a setting in the YAML that there is none of, before anything is rendered."""
    from lmms_medtasks.task_yaml import settings

    given = (config.get("lmms_eval_specific_kwargs") or {}).get("default") or {}
    settings.check(given, config["task"], sources.folder_of(suite))


def _files(config: dict[str, Any]) -> list[Path]:
    """The local files that a task's data is read from."""
    from lmms_medtasks.harness.template_hooks import binding

    return sorted(binding.tables_of(config)) or sorted({Path(url) for url in _urls(config) if Path(url).is_file()})


def _urls(config: dict[str, Any]) -> list[str]:
    files = (config.get("dataset_kwargs") or {}).get("data_files") or {}
    values = files.values() if isinstance(files, dict) else [files]
    urls = [url for value in values for url in (value if isinstance(value, list) else [value])]
    return [url for url in urls if isinstance(url, str)]


def locations_of(config: dict[str, Any]) -> list[tuple[str, str]]:
    found = []
    for url in _urls(config):
        if url.startswith(PROTOCOL):
            suite, _, split = url[len(PROTOCOL) :].partition("/")
            found.append((suite, split))
    return found
