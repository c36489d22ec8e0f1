"""Add to a task's metadata what only a run knows: its data and code, and what the runner does to pictures.

The keys of the harness's response cache cover the YAML's text and the names of hooks only. The digests in the metadata
prevent it from serving old replies after a change of pictures or parser.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import importlib.metadata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lmms_medtasks import digests, extensions
from lmms_medtasks.data import locate_split, sources
from lmms_medtasks.harness import chosen_settings, runners, scoring
from lmms_medtasks.suites import paper, registry, templates
from lmms_medtasks.task_settings import task_settings

PROTOCOL = "medtasks://"

LIBRARIES = ("numba", "numpy", "pillow", "scipy")
"""Packages of others that can move a pixel or a score."""

_PICTURES = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp"}
_DIGITS = 12


def add_provenance(
    config: dict[str, Any], model_name: str | None, runner: str | None, yaml_path: str | None = None
) -> dict[str, Any]:
    """Return a copy of a task's configuration with what only a run knows, in its ``metadata``.

    - ``data``: "full" only if all files read are, else "sample" or "mini"; ``data_digest`` changes with every byte of
      them (for contributed data it covers the task's local files; "" for data on a hub).
    - ``data_counts``: how the number of questions differs from the whole release, for a sample or for data with
      accepted counts. Data and counts are part of ``task_alias``, which the harness prints in its table.
    - ``digests`` of prompt, code and degradations (:func:`task_digests`); ``package_version`` (ours);
      ``package_modified``: whether its files differ from those installed or, in a working copy, committed (left out if
      neither is known); ``libraries``; ``harness``: the version of lmms-eval, of which a result file has only a commit.
    - ``agreement``, if one had to be signed for the data; ``image_encoding``, if the runner re-encodes pictures.
    - ``template`` and ``benchmark``, its folder's name, of a task on a template.
    - Settings and prompts that the user chose (:mod:`lmms_medtasks.harness.chosen_settings`), which are applied;
      ``task_alias`` names the settings too.

    ``model_name`` is the harness's name of the model, ``runner`` its kind ("chat" or "simple"); both may be unknown.
    Raises UserError when the data is missing and can't be prepared.
    """
    folder = Path(yaml_path).parent if yaml_path else None
    if locations := list_data_locations(config):
        config = _complete_ours(config, locations, folder)
    elif folder:
        config = _complete_contributed(config, folder)
    metadata = config.get("metadata")
    if isinstance(metadata, dict) and "data_digest" in metadata:
        add_image_encoding(metadata, model_name, runner)
    return config


def _complete_ours(config: dict[str, Any], locations: list[tuple[str, str]], folder: Path | None) -> dict[str, Any]:
    config, chosen = chosen_settings.apply_chosen_settings(_on_template(copy.copy(config), folder), folder)
    from lmms_medtasks.task_yaml.settings import check_task_settings

    given = task_settings(config)
    check_task_settings(given, config["task"], sources.source_folder(locations[0][0]))
    located = [locate_split(suite, split) for suite, split in locations]
    metadata = {
        **(config.get("metadata") or {}),
        **_code_metadata(config),
        "data": next(kind for kind in ("mini", "sample", "full") if kind in {part.data for part in located}),
        "data_digest": " ".join(part.digest for part in located),
        "harness": importlib.metadata.version("lmms_eval"),
        **chosen,
    }
    agreement = sources.get(locations[0][0]).agreement
    if agreement:
        metadata["agreement"] = agreement
    if chosen_name := paper.settings_label(metadata):
        config["task_alias"] = f"{config.get('task_alias') or config['task']} ({chosen_name} settings)"
    counts = [f"{split}: {part.counts}" for (_, split), part in zip(locations, located, strict=True) if part.counts]
    if counts:
        metadata["data_counts"] = "; ".join(counts)
    if label := format_data_label(metadata):
        config["task_alias"] = f"{config.get('task_alias') or config['task']}{label}"
    return {**config, "metadata": metadata}


def _code_metadata(config: Mapping[str, Any], folder: Path | None = None) -> dict[str, Any]:
    modified = digests.is_modified()
    return {
        "digests": task_digests(config, folder),
        "package_version": importlib.metadata.version("lmms-medtasks"),
        **({} if modified is None else {"package_modified": modified}),
        "libraries": dict(library_versions()),
    }


def format_data_label(metadata: Mapping[str, Any]) -> str:
    """The suffix of a task's name: `` (sample data, test: 57 questions, 99 expected)``; "" for the full benchmark."""
    data, counts = metadata["data"], metadata.get("data_counts", "")
    if data == "full" and not counts:
        return ""
    parts = [f"{data} data", *(["counts accepted"] if data == "full" else []), *([counts] if counts else [])]
    return f" ({', '.join(parts)})"


def _complete_contributed(config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Complete a task without data of ours, if it is contributed: on a template, or with declared measures."""
    config, chosen = chosen_settings.apply_chosen_settings(config, folder)
    if chosen:
        config = {**config, "metadata": {**(config.get("metadata") or {}), **chosen}}
    completed = _on_template(config, folder)
    listed = config.get("metric_list") or []
    is_declared = any(getattr(entry.get("aggregation"), "__module__", "") == scoring.__name__ for entry in listed)
    if is_declared and (folder / "measures.py").is_file():
        registry.add_suite_folders([folder])
    elif completed is config:
        return config
    metadata = {
        "data": "full",
        **(completed.get("metadata") or {}),
        "benchmark": folder.name,
        **_code_metadata(config, folder),
        "data_digest": _digest_of_files(_data_files(config)),
    }
    return {**config, "metadata": metadata}


def _on_template(config: dict[str, Any], folder: Path | None) -> dict[str, Any]:
    """Add the template and the folder of a task on a template to its metadata."""
    template = templates.template_of(config)
    if template is None or folder is None:
        return config
    metadata = {"template": template.name, "benchmark": folder.name}
    return {**config, "metadata": {**(config.get("metadata") or {}), **metadata}}


def add_image_encoding(metadata: dict[str, Any], model_name: str | None, runner: str | None) -> None:
    """If the runner is known to re-encode pictures with loss, warn and add ``image_encoding`` to ``metadata``."""
    encoding = runners.find_image_encoding(model_name, runner) if model_name and runner else None
    if encoding:
        metadata["image_encoding"] = encoding
        runners.warn_of_encoding(str(model_name), encoding)


def _data_files(config: dict[str, Any]) -> list[Path]:
    """The local files that a task's data is read from."""
    from lmms_medtasks.harness.template_hooks import binding

    local = {Path(url) for url in _data_urls(config) if Path(url).is_file()}
    return sorted(binding.list_tables(config)) or sorted(local)


def _data_urls(config: dict[str, Any]) -> list[str]:
    files = (config.get("dataset_kwargs") or {}).get("data_files") or {}
    values = files.values() if isinstance(files, dict) else [files]
    urls = [url for value in values for url in (value if isinstance(value, list) else [value])]
    return [url for url in urls if isinstance(url, str)]


def list_data_locations(config: dict[str, Any]) -> list[tuple[str, str]]:
    locations = []
    for url in _data_urls(config):
        if url.startswith(PROTOCOL):
            suite, _, split = url[len(PROTOCOL) :].partition("/")
            locations.append((suite, split))
    return locations


def task_digests(config: Mapping[str, Any], folder: Path | None = None) -> dict[str, str]:
    """Digests of a task's ``prompt``, the ``package``, its ``degradations`` and ``own_code``, as far as it has them.

    ``config`` is the task's configuration with its hooks resolved, as the harness's task manager gives it. ``own_code``
    covers custom parts and the Python files in ``folder``, a contributed task's; not ``report.py``: it moves no number.
    """
    settings = task_settings(config)
    by_kind = digests.of_settings(settings)
    custom = [*sorted(set(_own_code(config))), *extensions.custom_code_digests(config.get("metadata"))]
    if folder and (files := sorted(file for file in folder.glob("*.py") if file.name != "report.py")):
        custom.append(digests.of_files(files))
    return {**by_kind, **({"own_code": digests.content_digest(*map(str.encode, custom))} if custom else {})}


def _digest_of_files(files: Sequence[Path]) -> str:
    """A digest of these files and of the picture files in their folders, which tables name; "" without any file."""
    folders = {file.parent for file in files}
    pictures = {path for folder in folders for path in folder.rglob("*") if path.suffix.lower() in _PICTURES}
    total = hashlib.sha256()
    for file in [*files, *sorted(pictures)]:
        with file.open("rb") as content:
            total.update(file.name.encode() + hashlib.sha256(content.read()).digest())
    return total.hexdigest()[:_DIGITS] if files else ""


@functools.cache
def library_versions() -> Mapping[str, str]:
    """The versions of :data:`LIBRARIES`."""
    return {name: importlib.metadata.version(name) for name in LIBRARIES}


def _own_code(value: Any) -> Iterator[str]:
    """The digests of hooks made of custom data or code (``digested``), at any depth."""
    if isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _own_code(part)
    elif isinstance(value, functools.partial):
        yield from _own_code(value.func)
        yield from _own_code(value.keywords)
    elif digest := getattr(value, "digested", ""):
        yield str(digest)
