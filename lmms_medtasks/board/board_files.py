"""YAML files of a board: what anybody may propose to change, so nothing in them ends a build with a traceback."""

from __future__ import annotations

import reprlib
from pathlib import Path
from typing import Any

from lmms_medtasks import folders
from lmms_medtasks.errors import UserError

MOST_BYTES = 2**21


def load(path: Path) -> Any:
    """What a YAML file of a board says.

    Raises UserError, with file and line, where :func:`lmms_medtasks.folders.load_yaml` does, and for a file of more
    than :data:`MOST_BYTES`, a tag that makes an object, and a value that is none (a 13th month).
    """
    import yaml

    if not path.exists():
        raise UserError(f"{path} is not there.")
    if path.is_file() and (size := path.stat().st_size) > MOST_BYTES:
        raise UserError(f"{path} has {size:,} bytes; at most {MOST_BYTES:,} are read. Is it the right file?")
    try:
        return folders.load_yaml(path)
    except UserError as error:
        cause = error.__cause__
        if not isinstance(cause, yaml.MarkedYAMLError) or cause.problem_mark is None:
            raise
        mark = cause.problem_mark
        where = f"{path}, line {mark.line + 1}, column {mark.column + 1}"
        raise UserError(f"{where}: this is no YAML ({cause.problem}).") from cause
    except yaml.YAMLError as error:
        raise UserError(f"Can't read {path}: {error}") from error
    except (ValueError, LookupError, AttributeError, ArithmeticError) as error:
        raise UserError(
            f"{path}{_where(path.read_text('utf-8'))} can't be read ({error}). Mend it, or write it in quotation marks."
        ) from error


def _where(text: str) -> str:
    """Line and text of the value that no number or date can be made of: the one that was being made."""
    import yaml

    loader = yaml.SafeLoader(text)
    root = loader.get_single_node()
    try:
        loader.construct_document(root)
    except (ValueError, LookupError, AttributeError, ArithmeticError):
        node = list(loader.recursive_objects)[-1]
        return f", line {node.start_mark.line + 1}: {reprlib.repr(node.value)}"
    return ""
