"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_bytes(path: Path, content: bytes) -> None:
    """Write ``content`` so that a reader of ``path`` never sees half of it; its folder is made.

    Raises OSError when it can't be written; then ``path`` is as it was, and nothing is left beside it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(part, 0o644)
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise


def write_text(path: Path, text: str) -> None:
    """As :func:`write_bytes`; a text of others may hold half a surrogate pair, which is written as ``?``."""
    write_bytes(path, text.encode("utf-8", "replace"))
