"""Templates of contributed tasks: YAML to include, and hooks named by dotted path."""

from __future__ import annotations

import functools
import importlib.resources
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from lmms_medtasks.errors import unknown_name_error
from lmms_medtasks.suites.common_metrics import JUDGED_NAMES, READ_NAMES

FILE = "_template_yaml"
"""The file of a task's folder with its template's lines. The harness takes an ``include`` relative to the YAML."""

FILES = f"_*{FILE[1:]}"
"""Pattern of such files: a benchmark of several kinds has one for each, ``_open_template_yaml``."""

DRAWN = "drawn"
"""The value of ``degradation`` that draws one for each question."""

ALWAYS = {"choice": READ_NAMES, "open": JUDGED_NAMES}
"""Metrics of every task on a template of a kind: a mean is meaningless without the outcomes of the replies."""

TEMPLATE_OF_HOOK = {
    "lmms_medtasks.harness.template_hooks.choice_scoring": "multiple_choice",
    "lmms_medtasks.harness.template_hooks.judged_scoring": "open",
}
"""The module of a template's scoring hook -> the plain template of its kind."""


@dataclass(frozen=True)
class TaskTemplate:
    """A row of templates.yml.

    ``kind``: "choice" for answers that are read, "open" for answers that are judged. ``settings``: what counts where a
    task says nothing. ``columns``: what a document must have. ``variants``: name ending -> settings that differ.
    """

    name: str
    about: str
    kind: str
    parts: tuple[str, ...]
    settings: Mapping[str, Any]
    metrics: tuple[str, ...]
    columns: tuple[str, ...]
    variants: Mapping[str, Mapping[str, Any]]


def of_hook(module: str, metadata: object = None) -> TaskTemplate | None:
    """The template of a task scored by a hook of ``module``: the one named in ``metadata``, else the plain one.

    None if the module is not a template's. Raises UserError if there is no template of that name.
    """
    plain = TEMPLATE_OF_HOOK.get(module)
    template_name = metadata.get("template") if isinstance(metadata, Mapping) else None
    return get(str(template_name or plain)) if plain else None


def template_of(config: Mapping[str, Any]) -> TaskTemplate | None:
    """The template of a task, whether its hook is bound to settings or not; see :func:`of_hook`."""
    return of_hook(module_of(config.get("process_results")), config.get("metadata"))


def is_on_template(hook: Any) -> bool:
    """Whether a scoring hook is a template's, bound to settings or not."""
    return module_of(hook) in TEMPLATE_OF_HOOK


def module_of(hook: Any) -> str:
    """The module of a hook: of the bound function, or of its class if it is an object."""
    return str(getattr(getattr(hook, "func", hook), "__module__", ""))


def names() -> tuple[str, ...]:
    """The templates' names, in the order of templates.yml."""
    return tuple(_load_yaml("templates.yml"))


@functools.cache
def get(name: str) -> TaskTemplate:
    """Get a template by name. Raises UserError, with the allowed names, if there is none."""
    rows = _load_yaml("templates.yml")
    if name not in rows:
        raise unknown_name_error("template", name, rows)
    row: dict[str, Any] = {key: tuple(cell) if isinstance(cell, list) else cell for key, cell in rows[name].items()}
    row["metrics"] += ALWAYS[row["kind"]]
    return TaskTemplate(name=name, **row)


def builtin_prompt_names() -> tuple[str, ...]:
    """The names of the built-in prompts."""
    files = importlib.resources.files(__package__).joinpath("prompts").iterdir()
    return tuple(sorted(file.name.removesuffix(".txt") for file in files if file.name.endswith(".txt")))


@functools.cache
def builtin_prompt(name: str) -> str:
    """The text of the built-in prompt called ``name``, without its last line break."""
    return read_resource(f"prompts/{name}.txt").removesuffix("\n")


def read_resource(name: str) -> str:
    """The text of a file of this package."""
    return importlib.resources.files(__package__).joinpath(name).read_text("utf-8")


@functools.cache
def _load_yaml(name: str) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(read_resource(name))
    return content


# --- What a task on a template includes -------------------------------------------------------------------------------

_BLOCK = re.compile(r"((?:^#.*\n)*)^([a-z_]+):.*\n((?:^(?:[ -].*)?\n)*)", re.MULTILINE)
"""A top-level key of a YAML with the comment above it and the lines below it."""


def template_yaml(name: str) -> str:
    """The YAML that a task of this template includes: base_yaml, its blocks replaced by those of the parts."""
    template = get(name)
    blocks: dict[str, str] = {}
    for part in ("base_yaml", *template.parts):
        blocks.update(blocks_of(read_resource(part)))
    head = (
        f"# The template {name} of lmms-medtasks. Not a task itself: the harness reads only files that end in .yaml.\n"
    )
    return head + "".join(blocks.values())


def blocks_of(text: str) -> dict[str, str]:
    """The top-level blocks of a YAML by their key, each with the comment above it."""
    return {match[2]: match[0] for match in _BLOCK.finditer(text)}
