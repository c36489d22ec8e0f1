"""Whether the Python files of a contribution can be read. Nothing is executed."""

from __future__ import annotations

import ast
from collections.abc import Collection
from pathlib import Path

from lmms_medtasks.task_yaml.problems import Findings


def check(folder: Path, found: Findings, but: Collection[Path] = ()) -> None:
    """Report every file of ``folder`` that is no Python; ``but``: files that must not be opened."""
    for path in sorted(folder.rglob("*.py")):
        if path in but or not path.is_file():
            continue
        try:
            ast.parse(path.read_bytes())
        except (SyntaxError, ValueError) as error:
            name = path.relative_to(folder).as_posix()
            found.add(name, f"is no Python: {error}", line=getattr(error, "lineno", None))
