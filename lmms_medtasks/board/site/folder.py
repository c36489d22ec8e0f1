"""The folder of a site: written beside the old one until it is complete, then put in its place."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

from lmms_medtasks.errors import UserError

MARKER = "site.json"
"""Marks a site of ours: only such a folder is replaced."""


class SiteFolder:
    """A site in the making. Paths are relative, with ``/``."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files: dict[str, int] = {}

    def text(self, path: str, text: str) -> None:
        """Write a text file (UTF-8; what can't be encoded, a lone surrogate, becomes ``?``)."""
        self.write_bytes(path, text.encode("utf-8", "replace"))

    def write_bytes(self, path: str, content: bytes) -> None:
        """Write a file. Raises ValueError if it exists already, or the path leads out of the folder."""
        self._write(path, (content,))

    def texts(self, path: str, texts: Iterable[str]) -> None:
        """Write a text file piece by piece, as :meth:`text`."""
        self._write(path, (text.encode("utf-8", "replace") for text in texts))

    def _write(self, path: str, contents: Iterable[bytes]) -> None:
        if path in self.files or ".." in path.split("/") or path.startswith("/") or "\\" in path:
            raise ValueError(f"{path!r} is written a second time, or leads out of the site.")
        place = self.root / path
        with _explain_write_errors(place):
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("wb") as file:
                self.files[path] = sum(map(file.write, contents))

    def new_texts(self, texts: Mapping[str, str]) -> None:
        """Write text files that do not exist yet: two pages may show one table, with one CSV."""
        for path, text in texts.items():
            if path not in self.files:
                self.text(path, text)


@contextmanager
def replace_folder(output: Path) -> Iterator[SiteFolder]:
    """A folder that replaces ``output`` if the block succeeds, and is removed if it fails.

    Raises UserError if ``output`` is not a site of ours, can't be written, or is being built by another process.
    """
    output = output.absolute()
    check_output_folder(output)
    part = output.with_name(output.name + ".part")
    with _explain_write_errors(output):
        part.mkdir(parents=True, exist_ok=True)
        lock = os.open(part, os.O_RDONLY)
    try:
        _lock_folder(lock, part, output)
        try:
            with _explain_write_errors(output):
                _empty_folder(part)  # what a build that was killed left there
            folder = SiteFolder(part)
            yield folder
            made_by = {"made by": f"lmms-medtasks {metadata.version('lmms-medtasks')}", "files": len(folder.files)}
            folder.text(MARKER, json.dumps(made_by) + "\n")
            with _explain_write_errors(output):
                _swap_folders(part, output)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
    finally:
        os.close(lock)


def check_output_folder(output: Path) -> None:
    """Raise UserError if ``output`` holds something other than a site of ours."""
    if output.exists() and not output.is_dir():
        raise UserError(f"--output {output} is a file. Name a folder.")
    if output.is_dir() and any(output.iterdir()) and not (output / MARKER).is_file():
        raise UserError(
            f"--output {output} holds something else than a site of ours (no {MARKER} in it), and would be replaced. "
            "Name another folder, or empty it."
        )


@contextmanager
def _explain_write_errors(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UserError(
            f"{place} can't be written ({error.strerror or error}). Make room there, or name another folder by "
            "--output."
        ) from error


def _lock_folder(handle: int, part: Path, output: Path) -> None:
    """Lock the folder for this process, until it closes ``handle`` or dies."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise _folder_taken_error(output) from None
    # Between opening and locking another build may have put the folder in its place.
    if not part.exists() or not os.path.samestat(os.fstat(handle), part.stat()):
        raise _folder_taken_error(output)


def _folder_taken_error(output: Path) -> UserError:
    return UserError(f"--output {output} is being built by another process. Wait for it, or name another folder.")


def _empty_folder(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _swap_folders(part: Path, output: Path) -> None:
    old = output.with_name(output.name + ".old")
    if old.exists():
        shutil.rmtree(old)
    if output.exists():
        os.replace(output, old)
    os.replace(part, output)
    shutil.rmtree(old, ignore_errors=True)
