"""The fingerprints that our task YAMLs record, beside those that their code has now."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from lmms_medtasks.harness import plugin
from lmms_medtasks.harness.task_fingerprints import of_task
from lmms_medtasks.suites import templates
from lmms_medtasks.writing import write_text

_RECORDED = re.compile(r"^  fingerprint:.*\n(?:    .*\n)*", re.MULTILINE)


def recorded_and_actual() -> list[tuple[Path, dict[str, str] | None, dict[str, str]]]:
    """For each task YAML of ours: its path, the fingerprint it records, and the one its code has now."""
    from lmms_eval.utils import load_yaml_config

    found = []
    for path in sorted(plugin.task_folder().rglob("*.yaml")):
        config = load_yaml_config(str(path))
        # Tasks on a template record none: every run computes theirs.
        if "task" in config and isinstance(config["task"], str) and templates.template_of(config) is None:
            recorded = (config.get("metadata") or {}).get("fingerprint")
            found.append((path, recorded, of_task(config)))
    return found


def record(path: Path, actual: Mapping[str, str]) -> None:
    """Write a fingerprint into a task's YAML, in place of the one that it records."""
    lines = "".join(f"    {key}: {value!r}\n" for key, value in actual.items())
    block = f"  fingerprint:\n{lines}"
    text = path.read_text("utf-8")
    if _RECORDED.search(text):
        text = _RECORDED.sub(block, text)
    else:
        text = text.replace("metadata:\n", f"metadata:\n{block}", 1)
    write_text(path, text)
