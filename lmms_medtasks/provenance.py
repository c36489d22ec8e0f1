"""What only a run knows about a task: which data it reads, and what the runner does to its pictures."""

from __future__ import annotations

import copy
from typing import Any

from lmms_medtasks import fingerprints, runners, sources
from lmms_medtasks.sources import suites

PROTOCOL = "medtasks://"


def complete(config: dict[str, Any], model_name: str | None, runner: str | None) -> dict[str, Any]:
    """A copy of a task's configuration with its metadata completed, if it reads ``medtasks://`` data.

    Added to ``metadata``: ``data`` ("full", "sample" or "mini"), ``data_digest`` (changes with every byte of the
    data), ``fingerprint`` (of prompt, code and degradations as they are now, see :mod:`lmms_medtasks.fingerprints`),
    ``fingerprint_recorded`` (false when the YAML records another one: changed code), ``agreement`` where one had to be
    signed for the data, and, where the runner re-encodes pictures, ``image_encoding``. Data other than the full
    benchmark is named in ``task_alias``, which the harness prints in its table, so that nobody takes its numbers for
    the benchmark's.

    ``model_name`` is the harness's name of the model, ``runner`` its kind ("chat" or "simple"); both may be unknown.
    Raises :class:`lmms_medtasks.errors.UserError` when the data is not there and can't be prepared.
    """
    locations = _locations(config)
    if not locations:
        return config
    _check_settings(config)
    config = copy.copy(config)
    located = [sources.locate(suite, split) for suite, split in locations]
    recorded = (config.get("metadata") or {}).get("fingerprint")
    actual = fingerprints.of_task(config)
    metadata = {
        **(config.get("metadata") or {}),
        "fingerprint": actual,
        **({} if recorded is None else {"fingerprint_recorded": recorded == actual}),
        "data": located[0].data,
        "data_digest": " ".join(each.digest for each in located),
    }
    agreement = suites.get(locations[0][0]).agreement
    if agreement:
        metadata["agreement"] = agreement
    if metadata["data"] != "full":
        config["task_alias"] = f"{config.get('task_alias') or config['task']} ({metadata['data']} data)"
    if model_name and runner:
        encoding = runners.image_encoding(model_name, runner)
        if encoding:
            metadata["image_encoding"] = encoding
            runners.warn(model_name, encoding)
    config["metadata"] = metadata
    return config


def _check_settings(config: dict[str, Any]) -> None:
    """Raises UserError for a degradation or severity in the YAML that there is none of, before anything is rendered."""
    settings = (config.get("lmms_eval_specific_kwargs") or {}).get("default") or {}
    if settings.get("degradation"):
        from lmms_medtasks import degradations

        degradations.canonical_name(settings["degradation"])
    if "severity" in settings:
        from lmms_medtasks import degradations

        degradations.check_severity(settings["severity"])


def _locations(config: dict[str, Any]) -> list[tuple[str, str]]:
    files = (config.get("dataset_kwargs") or {}).get("data_files") or {}
    values = files.values() if isinstance(files, dict) else [files]
    urls = [url for value in values for url in (value if isinstance(value, list) else [value])]
    found = []
    for url in urls:
        if isinstance(url, str) and url.startswith(PROTOCOL):
            suite, _, split = url[len(PROTOCOL) :].partition("/")
            found.append((suite, split))
    return found
