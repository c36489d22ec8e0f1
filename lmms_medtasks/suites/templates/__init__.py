"""Templates of tasks: what a contributed task builds on, as YAML to include and as hooks named by dotted path."""

from __future__ import annotations

import functools
import importlib.resources
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from lmms_medtasks.errors import unknown
from lmms_medtasks.suites import metric_lists

if TYPE_CHECKING:
    from lmms_medtasks.suites.suite import Metric

FILE = "_template_yaml"
"""The file of a task's folder with its template's lines. The harness takes an ``include`` relative to the YAML."""

TEMPLATE_OF_HOOK = {
    "lmms_medtasks.harness.template_hooks.choice": "multiple_choice",
    "lmms_medtasks.harness.template_hooks.judged": "open",
}
"""The module of a template's scoring hook -> the plain template of its kind."""

_BLOCK = re.compile(r"(?m)^(?=[a-z_]+:)")


@dataclass(frozen=True)
class Template:
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


def names() -> tuple[str, ...]:
    """The templates' names, in the order of templates.yml."""
    return tuple(_read("templates.yml"))


@functools.cache
def get(name: str) -> Template:
    """The template called ``name``; UserError, with those that there are, when there is none."""
    rows = _read("templates.yml")
    if name not in rows:
        raise unknown("template", name, rows)
    row = rows[name]
    return Template(
        name=name,
        about=row["about"],
        kind=row["kind"],
        parts=tuple(row["parts"]),
        settings=row["settings"],
        metrics=tuple(row["metrics"]),
        columns=tuple(row["columns"]),
        variants=row["variants"],
    )


def metrics() -> Mapping[str, Metric]:
    """The metrics that a contributed task can name."""
    from lmms_medtasks.suites.templates import measures  # which knows the templates

    return measures.metrics()


def prompts() -> tuple[str, ...]:
    """The names of the built-in prompts."""
    files = importlib.resources.files(__package__).joinpath("prompts").iterdir()
    return tuple(sorted(file.name.removesuffix(".txt") for file in files if file.name.endswith(".txt")))


@functools.cache
def prompt(name: str) -> str:
    """The text of the built-in prompt called ``name``, without its last line break."""
    return _resource(f"prompts/{name}.txt").removesuffix("\n")


def yaml_text(name: str) -> str:
    """What a task of this template includes: the lines of base_yaml and of its parts, and its metrics.

    A part's block of lines takes the place of the base's of the same key, as the harness's own ``include`` would.
    """
    template = get(name)
    blocks: dict[str, str] = {}
    for part in ("base_yaml", *template.parts):
        blocks.update(_blocks(_resource(part)))
    lines = [metric_lists.lines(metrics()[metric]) for metric in template.metrics]
    head = (
        f"# The template {name} of lmms-medtasks. Not a task itself: the harness reads only files that end in .yaml.\n"
    )
    return head + "".join(blocks.values()) + "metric_list:\n" + "".join(lines)


def _blocks(text: str) -> dict[str, str]:
    """The top-level blocks of a YAML by their key, each with the comment above it."""
    found: dict[str, str] = {}
    comment = ""
    for block in _BLOCK.split(text):
        match = re.match(r"[a-z_]+(?=:)", block)
        body, trailing = _without_last_comment(block)
        if match:
            found[match.group()] = comment + body
            comment = trailing
        else:
            comment = block
    return found


def _without_last_comment(block: str) -> tuple[str, str]:
    """A block without the comment lines at its end, which belong to the next one, and these."""
    lines = block.splitlines(keepends=True)
    end = len(lines)
    while end and lines[end - 1].startswith("#"):
        end -= 1
    return "".join(lines[:end]), "".join(lines[end:])


@functools.cache
def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(_resource(name))
    return found


def _resource(name: str) -> str:
    return importlib.resources.files(__package__).joinpath(name).read_text("utf-8")
