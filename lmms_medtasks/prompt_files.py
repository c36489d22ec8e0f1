"""The files that tasks and judge protocols name as their prompts."""

from __future__ import annotations

import functools
import importlib.resources
from pathlib import Path

from lmms_medtasks.errors import UserError


def prompt_text(name: str) -> str:
    """The text of a task's prompt; a name that holds ``{question}`` is the text itself. UserError as below."""
    return name if "{question}" in name else read_prompt_file(name, "lmms_medtasks.task_configs", "prompt file")


@functools.cache
def read_prompt_file(name: str, package: str, label: str, folder: str = "") -> str:
    """A file's text without its last line break: an absolute path, or one in a package's ``folder``.

    UserError, in which the file is called ``label``: there is no such file, or it is no UTF-8 text.
    """
    path, home = Path(name), importlib.resources.files(package).joinpath(folder)
    resource = path if path.is_absolute() else home.joinpath(name)
    if not resource.is_file():
        raise UserError(f"No {label} {name!r}, looked for {resource}. Give an absolute path or one in {home}.")
    try:
        return resource.read_text("utf-8").removesuffix("\n")
    except UnicodeDecodeError as error:
        raise UserError(f"The {label} {resource} is not UTF-8 text: {error.reason} at byte {error.start:,}.") from error
