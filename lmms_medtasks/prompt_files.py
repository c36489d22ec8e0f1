"""The files that tasks name as their prompts."""

from __future__ import annotations

import functools
import importlib.resources
from pathlib import Path

from lmms_medtasks.errors import UserError


@functools.cache
def prompt_text(name: str) -> str:
    """A prompt file's text, without its last line break; a name that holds ``{question}`` is the text itself.

    Raises UserError if there is no such file, or it is no UTF-8 text.
    """
    if "{question}" in name:
        return name
    path = Path(name)
    resource = path if path.is_absolute() else importlib.resources.files("lmms_medtasks.task_configs").joinpath(name)
    if not resource.is_file():
        raise UserError(
            f"No prompt file {name!r}, looked for {resource}. Give an absolute path or one in task_configs."
        )
    try:
        return resource.read_text("utf-8").removesuffix("\n")
    except UnicodeDecodeError as error:
        raise UserError(f"The prompt {resource} is not UTF-8 text: {error.reason} at byte {error.start:,}.") from error
