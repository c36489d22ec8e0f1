"""Whether a task's prompt can be found, and asks its question."""

from __future__ import annotations

import importlib.resources
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lmms_medtasks.errors import nearest
from lmms_medtasks.suites import templates
from lmms_medtasks.suites.templates.including import SETTINGS
from lmms_medtasks.task_yaml import keys, places
from lmms_medtasks.task_yaml.chain import Chain
from lmms_medtasks.task_yaml.problems import Findings


def check(chain: Chain, found: Findings) -> None:
    """Check the setting ``prompt`` of a task whose settings are right, and the file that it names."""
    given = (chain.value(SETTINGS) or {}).get("default") or {}
    if not isinstance(given.get("prompt"), str):
        return
    name = given["prompt"]
    template = keys.template_of(chain)
    settings = {**(template.settings if template else {}), **given}
    file, line = chain.place((SETTINGS, "default", "prompt"))
    where: dict[str, Any] = {"line": line, "key": f"{SETTINGS}.default.prompt", "value": name}
    path = chain.path.parent / name
    if "{question}" in name:
        _check_fields(file, name, settings, found)
    elif not places.inside(path, chain.path.parent):
        found.add(file, "leads out of the task's folder, and to nothing on other machines", **where)
    elif places.is_file(path):
        _check_file(path, settings, found)
    elif name not in templates.prompts() and not places.is_file(_of_ours(name)):
        there = [each.name for each in chain.path.parent.glob("*.txt")]
        found.add(file, "no such file beside the YAML, and no built-in prompt",
                  near=nearest(name, [*there, *templates.prompts()]), allowed=(*there, *templates.prompts()),
                  **where)  # fmt: skip


def _of_ours(name: str) -> Any:
    return importlib.resources.files("lmms_medtasks.task_configs").joinpath(name)


def _check_file(path: Path, settings: Mapping[str, Any], found: Findings) -> None:
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError as error:
        found.add(path, f"byte {error.object[error.start]:#04x} is not UTF-8: save the file as UTF-8")
        return
    if "{question}" not in text:
        found.add(path, "has no {question} in it: the question would not be asked")
        return
    _check_fields(path, text, settings, found)


def _check_fields(path: Path, text: str, settings: Mapping[str, Any], found: Findings) -> None:
    """What stands in braces is filled in if we know it, and shown to the model as it is if not."""
    if settings.get("parser") in ("option", "letter") and "{options}" not in text:
        found.add(path, "the prompt has no {options} in it: a model is not told which letter means what",
                  level="warning")  # fmt: skip
    for word in dict.fromkeys(re.findall(r"\{(\w+)\}", text)):
        if word not in ("question", "options"):
            found.add(path, "nothing is filled in for this: the model is shown it as it is", level="warning",
                      value=f"{{{word}}}", near=nearest(f"{{{word}}}", ("{question}", "{options}")))  # fmt: skip
