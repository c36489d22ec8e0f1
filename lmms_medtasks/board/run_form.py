"""What of a result file must have which form, so that one that was damaged by hand is a problem and no crash."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_RUN = {"configs": Mapping, "config": Mapping, "versions": Mapping, "n-samples": Mapping}
_METADATA = {"digests": Mapping, "judge": Mapping}
_SETTINGS = {"default": Mapping}
_COUNTS = {"original": int, "effective": int}


def of_run(content: Mapping[str, Any]) -> str:
    """What is wrong with a run as a whole, as a clause; "" if nothing is."""
    found = _wrong(content, _RUN, "")
    configs = content.get("configs") or {}
    if not found and not all(isinstance(each, Mapping) for each in configs.values()):
        found = "configs is no mapping of tasks to their settings"
    arguments = (content.get("config") or {}).get("model_args") if not found else None
    if not isinstance(arguments, str | Mapping | None):
        found = f"config, model_args is {arguments!r:.40}, expected a text or a mapping"
    return found


def of_task(content: Mapping[str, Any], task: str) -> str:
    """What is wrong with one of our tasks in a run whose form as a whole is right."""
    parts = {
        "results": content["results"].get(task),
        "n-samples": (content.get("n-samples") or {}).get(task),
        "metadata": content["configs"][task].get("metadata"),
        "lmms_eval_specific_kwargs": content["configs"][task].get("lmms_eval_specific_kwargs"),
        "dataset_kwargs": content["configs"][task].get("dataset_kwargs"),
    }
    found = _wrong(parts, dict.fromkeys(parts, Mapping), f"{task}, ")
    if found:
        return found
    metadata = parts["metadata"] or {}
    found = _wrong(parts["lmms_eval_specific_kwargs"] or {}, _SETTINGS, f"{task}, settings, ")
    found = (
        found
        or _wrong(metadata, _METADATA, f"{task}, metadata, ")
        or _wrong(parts["n-samples"] or {}, _COUNTS, f"{task}, n-samples, ")
    )
    protocols = (metadata.get("judge") or {}).get("protocols") or [] if not found else []
    if not isinstance(protocols, list) or not all(isinstance(each, Mapping) for each in protocols):
        found = f"{task}, metadata, judge, protocols is {protocols!r:.40}, expected a list of mappings"
    return found


def _wrong(found: Mapping[str, Any], form: Mapping[str, type], where: str) -> str:
    for name, kind in form.items():
        value = found.get(name)
        if value is not None and not isinstance(value, kind):
            wanted = "a number" if kind is int else "a mapping"
            return f"{where}{name} is {value!r:.40}, expected {wanted}"
    return ""
