"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lmms_medtasks.errors import UnwritableFile


def write_bytes_atomically(path: Path, content: bytes) -> None:
    """Write ``content`` so that a reader of ``path`` never sees half of it; its folder is made.

    Raises UnwritableFile when it can't be written; then ``path`` is as it was, and nothing is left beside it.
    """
    with atomic_write(path) as part:
        part.write_bytes(content)


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """As :func:`write_bytes_atomically`: gives the path of a file beside ``path`` that takes its place once it is
    written."""
    with unwritable_as_user_error(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, part = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        os.close(handle)
        try:
            yield Path(part)
            os.chmod(part, 0o644)
            os.replace(part, path)
        except BaseException:
            os.unlink(part)
            raise


@contextmanager
def unwritable_as_user_error(path: Path) -> Iterator[None]:
    """Raises UnwritableFile, which names ``path``, where the system refuses what is done within."""
    try:
        yield
    except OSError as error:
        is_file = next((parent for parent in path.parents if parent.is_file()), None)
        why = f"{is_file} is a file" if is_file else error.strerror or str(error)
        unwritable = UnwritableFile(f"{path} can't be written ({why}). Name another place.")
        unwritable.strerror = why
        raise unwritable from error


def check_folder(path: Path) -> None:
    """Raises UnwritableFile where no file could be written below ``path``, which need not be there; makes nothing."""
    with (
        unwritable_as_user_error(path),
        tempfile.TemporaryFile(dir=next(each for each in (path, *path.parents) if each.exists())),
    ):
        pass


def write_text_atomically(path: Path, text: str) -> None:
    """As :func:`write_bytes_atomically`; a text of others may hold half a surrogate pair, which is written as ``?``."""
    write_bytes_atomically(path, text.encode("utf-8", "replace"))
