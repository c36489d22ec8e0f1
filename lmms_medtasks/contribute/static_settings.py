"""Checks of a task's settings, and of what its template asks for, that import and execute nothing of it."""

from __future__ import annotations

import importlib.resources
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from lmms_medtasks.contribute import nodes, places, templates
from lmms_medtasks.contribute.chain import Chain, Entry, inner
from lmms_medtasks.contribute.problems import Findings, nearest
from lmms_medtasks.contribute.templates import binding
from lmms_medtasks.contribute.templates import settings as schema
from lmms_medtasks.errors import UserError

SETTINGS = "lmms_eval_specific_kwargs"

_KINDS = {
    "lmms_medtasks.contribute.templates.choice": "multiple_choice",
    "lmms_medtasks.contribute.templates.judged": "open",
}


def check(chain: Chain, found: Findings) -> None:
    """Check a task's settings against settings.yml and its template, and what its template fixes."""
    template = _template(chain)
    if template is not None:
        _check_fixed(chain, found)
        _check_copy(chain, template, found)
    if SETTINGS not in chain.entries or not _uses_ours(chain):
        return
    given = inner(chain.entries[SETTINGS])
    default = given.get("default")
    if default is None or not isinstance(default.value, dict):
        found.add(chain.entries[SETTINGS].file, "wanted a mapping `default` with the settings",
                  line=chain.entries[SETTINGS].line, key=SETTINGS)  # fmt: skip
        return
    for name, entry in given.items():
        if name != "default" and template is not None:
            found.add(entry.file, binding.ONLY_DEFAULT, line=entry.line, key=f"{SETTINGS}.{name}")
    problems = schema.problems(default.value)
    for problem in problems:
        entry = _at(default, problem.path)
        found.add(entry.file, problem.message, line=entry.line, key=f"{SETTINGS}.default.{'.'.join(problem.path)}",
                  value=str(problem.value), allowed=problem.allowed, near=problem.near)  # fmt: skip
    _check_prompt(chain, default, template, found)
    _check_modality(default, found)
    if template is not None and not problems:
        _check_fit(default, template, found)


def _uses_ours(chain: Chain) -> bool:
    """Whether a hook that reads the settings is ours, so that settings.yml holds for it."""
    hooks = (chain.value(key) for key in ("doc_to_text", "doc_to_visual", "process_results"))
    return any(isinstance(each, nodes.Function) and each.startswith("lmms_medtasks.") for each in hooks)


def _template(chain: Chain) -> templates.Template | None:
    """The template that a task is built on, by its scoring hook and the name in its metadata."""
    module = str(chain.value("process_results", "")).rpartition(".")[0]
    metadata = chain.value("metadata") or {}
    name = metadata.get("template", _KINDS.get(module)) if isinstance(metadata, dict) else None
    return templates.get(name) if module in _KINDS and isinstance(name, str) and name in templates.names() else None


def _check_fixed(chain: Chain, found: Findings) -> None:
    """What scoring relies on: the filter that hands it all replies, the key of the records, metrics that there are."""
    entry = chain.entries.get("filter_list")
    steps = [step for each in _nodes(entry) for step in _nodes(each.get("filter"))]
    functions = [step["function"].value for step in steps if "function" in step]
    if entry is not None and functions != ["take_first_k"]:
        found.add(entry.file, "wanted the template's one filter, take_first_k: its scoring reads whole replies",
                  line=entry.line, key="filter_list", value=str(functions))  # fmt: skip
    entry = chain.entries.get("cluster_key")
    if entry is not None and entry.value != "cluster":
        found.add(entry.file, "not in the records: name the column with `image_id=` in the adapter", line=entry.line,
                  key="cluster_key", value=str(entry.value), allowed=("cluster",))  # fmt: skip
    for row in _nodes(chain.entries.get("metric_list")):
        entry, known = row.get("metric"), sorted(templates.metrics())
        if entry is not None and isinstance(entry.value, str) and entry.value not in known:
            found.add(entry.file, "no such metric", line=entry.line, key="metric_list.metric", value=entry.value,
                      near=nearest(entry.value, known), allowed=tuple(known))  # fmt: skip


def _nodes(entry: Entry | None) -> Iterator[dict[str, Entry]]:
    """The mappings in a list that is a key's value."""
    if entry is not None and isinstance(entry.node, yaml.SequenceNode):
        for node in entry.node.value:
            if isinstance(node, yaml.MappingNode):
                yield inner(Entry(entry.file, node, node))


def _at(default: Entry, path: tuple[str, ...]) -> Entry:
    entry = default
    for name in path:
        entry = inner(entry).get(name, entry)
    return entry


def _check_prompt(chain: Chain, default: Entry, template: templates.Template | None, found: Findings) -> None:
    entry = inner(default).get("prompt")
    if entry is None or not isinstance(entry.value, str):
        return
    path, key = chain.path.parent / entry.value, f"{SETTINGS}.default.prompt"
    if "{question}" in entry.value:
        _check_fields(entry.file, entry.value, default, template, found)
    elif not places.inside(path, chain.path.parent):
        found.add(entry.file, "leads out of the task's folder, and to nothing on other machines", line=entry.line,
                  key=key, value=entry.value)  # fmt: skip
    elif places.is_file(path):
        _check_file(path, default, template, found)
    elif entry.value not in templates.prompts() and not places.is_file(_of_ours(entry.value)):
        there = [each.name for each in chain.path.parent.glob("*.txt")]
        found.add(entry.file, "no such file beside the YAML, and no built-in prompt", line=entry.line, key=key,
                  value=entry.value, near=nearest(entry.value, [*there, *templates.prompts()]),
                  allowed=(*there, *templates.prompts()))  # fmt: skip


def _of_ours(name: str) -> Any:
    return importlib.resources.files("lmms_medtasks.task_configs").joinpath(name)


def _check_file(path: Path, default: Entry, template: templates.Template | None, found: Findings) -> None:
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError as error:
        found.add(path, f"byte {error.object[error.start]:#04x} is not UTF-8: save the file as UTF-8")
        return
    if "{question}" not in text:
        found.add(path, "has no {question} in it: the question would not be asked")
        return
    _check_fields(path, text, default, template, found)


def _check_fields(path: Path, text: str, default: Entry, template: templates.Template | None, found: Findings) -> None:
    """What stands in braces is filled in if we know it, and shown to the model as it is if not."""
    parser = {**(template.settings if template else {}), **default.value}.get("parser")
    if parser in ("option", "letter") and "{options}" not in text:
        found.add(path, "the prompt has no {options} in it: a model is not told which letter means what",
                  level="warning")  # fmt: skip
    for word in dict.fromkeys(re.findall(r"\{(\w+)\}", text)):
        if word not in ("question", "options"):
            found.add(path, "nothing is filled in for this: the model is shown it as it is", level="warning",
                      value=f"{{{word}}}", near=nearest(f"{{{word}}}", ("{question}", "{options}")))  # fmt: skip


def _check_modality(default: Entry, found: Findings) -> None:
    from lmms_medtasks.degradations import registry

    values = default.value
    name, modality = values.get("degradation"), values.get("modality")
    if not isinstance(name, str) or not isinstance(modality, str) or name == schema.DRAWN:
        return
    try:
        registry.check_modality(name, modality)
    except UserError as error:
        entry = inner(default)["degradation"]
        found.add(entry.file, str(error).partition(" To apply")[0], line=entry.line,
                  key=f"{SETTINGS}.default.degradation", value=name)  # fmt: skip


def _check_fit(default: Entry, template: templates.Template, found: Findings) -> None:
    """Settings that are each right but do not fit together, or not the template."""
    try:
        binding.check_fit({**template.settings, **default.value}, template, "these settings")
    except UserError as error:
        found.add(default.file, str(error), line=default.line, key=f"{SETTINGS}.default")


def _check_copy(chain: Chain, template: templates.Template, found: Findings) -> None:
    """The folder's copy of a template's lines against the installed one."""
    copy = next((path for path in chain.files if path.name == templates.FILE), None)
    if copy is not None and copy.read_text("utf-8") != templates.yaml_text(template.name):
        found.add(copy, f"differs from the template {template.name!r} as it is installed. If you did not change it: "
                  "delete it, and let `lmms-medtasks new` write it again in an empty folder", level="note")  # fmt: skip
