"""What a task's YAML and the files that it includes say together, where a setting is a mapping.

The harness takes such a setting whole from the file that stands above: ``generation_kwargs: {max_new_tokens: 16}``
would drop the template's temperature and its empty ``until``, and replies would end at the first blank line. For tasks
on a template the upper file changes single keys. A null takes an included key away where one can do without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from lmms_medtasks.errors import UserError
from lmms_medtasks.suites import templates

SETTINGS = "lmms_eval_specific_kwargs"
NESTED = ("generation_kwargs", SETTINGS, "metadata", "dataset_kwargs")
"""The keys whose mappings are joined. A value inside them (``shift``, ``data_files``) is taken whole."""

_WITH_NULL = (SETTINGS, "dataset_kwargs")
_NULL = "tag:yaml.org,2002:null"


def join(name: str, below: yaml.Node | None, above: yaml.Node) -> yaml.Node:
    """The value of the key ``name`` in a file, ``above``, joined with that in what it includes, ``below``."""
    if name not in NESTED or not isinstance(below, yaml.MappingNode) or not isinstance(above, yaml.MappingNode):
        return above
    pairs = {key.value: (key, value) for key, value in below.value}
    for key, value in above.value:
        if name in _WITH_NULL and value.tag == _NULL and key.value in pairs:
            del pairs[key.value]
        elif name == SETTINGS and key.value == "default" and "default" in pairs:
            pairs["default"] = (key, join(name, pairs["default"][1], value))
        else:
            pairs[key.value] = (key, value)
    return yaml.MappingNode(above.tag, list(pairs.values()), above.start_mark, above.end_mark)


def read_joined(path: Path) -> dict[str, Any]:
    """The keys of :data:`NESTED` that a YAML and its includes have, joined; local data files with their folder.

    Raises:
        UserError: a value in them that is not plain (``!function``).
    """
    nodes: dict[str, yaml.Node] = {}
    local = False
    for mapping in _mappings(path):
        for key, value in mapping.value:
            local = value.value in LOCAL if key.value == "dataset_path" else local
            if key.value in NESTED:
                nodes[key.value] = join(key.value, nodes.get(key.value), value)
    joined = {key: _plain(node, path) for key, node in nodes.items()}
    kwargs = joined.get("dataset_kwargs")
    if local and isinstance(kwargs, dict) and "data_files" in kwargs:
        stated_in = next(key.start_mark.name for key, _ in nodes["dataset_kwargs"].value if key.value == "data_files")
        kwargs["data_files"] = located(kwargs["data_files"], Path(stated_in).parent)
    return joined


LOCAL = ("csv", "json", "excel", "parquet", "text", "pandas", "arrow")
"""The loaders whose files are looked for beside the YAML: the harness's, and ours: ``excel``, ``reader``."""


def located(value: Any, folder: Path) -> Any:
    """Names of data files with ``folder`` before them, where the files are there, as the harness has them."""
    if isinstance(value, dict):
        return {key: located(each, folder) for key, each in value.items()}
    if isinstance(value, list):
        return [located(each, folder) for each in value]
    return str(folder / value) if isinstance(value, str) and (folder / value).is_file() else value


def compose(text: str, path: Path) -> yaml.Node | None:
    """The tree of a YAML; the marks of its nodes name ``path``."""
    loader = yaml.SafeLoader(text)
    loader.name = str(path)
    try:
        return loader.get_single_node()
    finally:
        loader.dispose()


def _mappings(path: Path) -> Iterator[yaml.MappingNode]:
    """The mappings of what a YAML includes, then its own, found as the harness finds them."""
    root = compose(path.read_text("utf-8"), path)
    if not isinstance(root, yaml.MappingNode):
        return
    for key, value in root.value:
        if key.value == "include":
            listed = value.value if isinstance(value, yaml.SequenceNode) else [value]
            for node in reversed(listed):
                here = Path(node.value)
                yield from _mappings(here.resolve() if here.is_file() else path.parent / node.value)
    yield root


def _plain(node: yaml.Node, path: Path) -> Any:
    loader = yaml.SafeLoader("")
    try:
        return loader.construct_document(node)
    except yaml.YAMLError as error:
        raise UserError(f"{path}: {error} Expected plain values in {', '.join(NESTED)}.") from error
    finally:
        loader.dispose()


def template_generation(text: str) -> Mapping[str, Any]:
    """``generation_kwargs`` of a template's YAML text."""
    root = compose(text, Path())
    values = dict((key.value, value) for key, value in root.value) if isinstance(root, yaml.MappingNode) else {}
    found: Mapping[str, Any] = _plain(values["generation_kwargs"], Path())
    return found


# --- What a task on a template includes -------------------------------------------------------------------------------

_BLOCK = re.compile(r"(?m)^(?=[a-z_]+:)")


def text_of(name: str) -> str:
    """What a task of this template includes: the lines of base_yaml and of its parts.

    A part's block of lines takes the place of the base's of the same key, as the harness's own ``include`` would.
    """
    template = templates.get(name)
    blocks: dict[str, str] = {}
    for part in ("base_yaml", *template.parts):
        blocks.update(blocks_of(templates.resource(part)))
    head = (
        f"# The template {name} of lmms-medtasks. Not a task itself: the harness reads only files that end in .yaml.\n"
    )
    return head + "".join(blocks.values())


def blocks_of(text: str) -> dict[str, str]:
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
