"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lmms_medtasks.errors import UnwritableFile


def write_bytes_atomically(path: Path, content: bytes) -> None:
    """Write ``content`` (and make its folder) whole, or not at all: then UnwritableFile, and ``path`` is as it was."""
    with atomic_write(path) as part:
        part.write_bytes(content)


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """As :func:`write_bytes_atomically`: gives the path of a file that takes the place of ``path`` at the end.

    Others may read it as far as the umask allows.
    """
    with unwritable_as_user_error(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.name}{secrets.token_hex(4)}.part")
        part.touch(exist_ok=False)
        try:
            yield part
            os.replace(part, path)
        except BaseException:
            os.unlink(part)
            raise


@contextmanager
def unwritable_as_user_error(path: Path) -> Iterator[None]:
    """Raises UnwritableFile, which names ``path``, for an OSError within."""
    try:
        yield
    except OSError as error:
        is_file = next((parent for parent in path.parents if parent.is_file()), None)
        why = f"{is_file} is a file" if is_file else error.strerror or str(error)
        unwritable = UnwritableFile(f"{path} can't be written ({why}). Name another place.")
        unwritable.strerror = why
        raise unwritable from error


def check_folder(path: Path) -> None:
    """Raises UnwritableFile if no file could be written below ``path``, which need not exist; makes nothing."""
    with (
        unwritable_as_user_error(path),
        tempfile.TemporaryFile(dir=next(each for each in (path, *path.parents) if each.exists())),
    ):
        pass


def write_text_atomically(path: Path, text: str) -> None:
    """As :func:`write_bytes_atomically`; half a surrogate pair is written as ``?``."""
    write_bytes_atomically(path, text.encode("utf-8", "replace"))
