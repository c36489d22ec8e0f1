"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_bytes(path: Path, content: bytes) -> None:
    """Write ``content`` so that a reader of ``path`` never sees half of it; its folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("wb", dir=path.parent, prefix=path.name, delete=False) as file:
        file.write(content)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)


def write_text(path: Path, text: str) -> None:
    """As :func:`write_bytes`; a text of others may hold half a surrogate pair, which is written as ``?``."""
    write_bytes(path, text.encode("utf-8", "replace"))
