"""Whether the files that settings name for parts of someone's own are there and define them; nothing is executed."""

from __future__ import annotations

import ast
from typing import Any

from lmms_medtasks.contribute import functions
from lmms_medtasks.errors import nearest
from lmms_medtasks.extensions import is_reference
from lmms_medtasks.judges.own_scales import is_rubric
from lmms_medtasks.suites.templates.including import SETTINGS
from lmms_medtasks.task_yaml import places
from lmms_medtasks.task_yaml.chain import Chain
from lmms_medtasks.task_yaml.problems import Findings

_KEYS = ("parser", "metrics", "judge", "degradation")


def check(chain: Chain, found: Findings) -> None:
    """Check the settings of a task whose settings are right in form."""
    given = (chain.value(SETTINGS) or {}).get("default") or {}
    for key in _KEYS:
        named = given.get(key)
        for text in named if isinstance(named, list) else [named]:
            if isinstance(text, str) and (is_reference(text) or (key == "judge" and is_rubric(text))):
                _check(chain, key, text, found)


def _check(chain: Chain, key: str, text: str, found: Findings) -> None:
    file, line = chain.place((SETTINGS, "default", key))
    where: dict[str, Any] = {"line": line, "key": f"{SETTINGS}.default.{key}", "value": text}
    name, attribute = (text, "") if is_rubric(text) else text.rsplit(":", 1)
    if not is_rubric(text) and not name.endswith(".py"):
        found.add(file, "is of another package, which was not looked into: whoever runs the task executes it",
                  level="warning", **where)  # fmt: skip
        return
    path, folder = chain.path.parent / name, chain.path.parent
    if not places.inside(path, folder):
        found.add(file, "leads out of the task's folder, and to nothing on other machines", **where)
    elif not places.is_file(path):
        there = [each.name for each in folder.glob(f"*{path.suffix}")]
        found.add(file, f"there is no file {name} beside the YAML", near=nearest(name, there), **where)
    elif attribute:
        try:
            defined = functions.defined(ast.parse(path.read_bytes()))
        except (SyntaxError, ValueError):
            return  # told once for the file, by static
        if attribute not in defined:
            found.add(file, f"{name} does not define {attribute!r}", near=nearest(attribute, defined), **where)
