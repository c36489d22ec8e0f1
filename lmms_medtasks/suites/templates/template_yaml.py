"""The YAML that a task on a template includes: made of the template's parts."""

from __future__ import annotations

import re

from lmms_medtasks.suites import templates

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
