"""The files below a folder of strangers: regular ones that lie in it; links out of it, devices and pipes are named."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from lmms_medtasks.board.trust.limits import limits
from lmms_medtasks.errors import UserError


def below(root: Path, endings: tuple[str, ...]) -> tuple[list[Path], list[tuple[Path, str]]]:
    """The files below ``root`` whose name ends so, sorted, and those that are not read with the reason of each.

    Folders that are links are not entered. Raises UserError where there are more files than the limits allow.
    """
    inside = root.resolve()
    found, refused = [], []
    for path in _named(root, endings):
        if wrong := _wrong(path, inside):
            refused.append((path, wrong))
        else:
            found.append(path)
    return sorted(found), sorted(refused)


def linked_folders(root: Path) -> list[tuple[Path, str]]:
    """The folders below ``root`` that are links, which are not entered, with the reason."""
    links = [path for folder, names, _ in os.walk(root) for name in names if (path := Path(folder, name)).is_symlink()]
    return [(path, f"{path}: a link to a folder. Put the folder itself there.") for path in links]


def check(path: Path, inside: Path | None = None) -> None:
    """Raise UserError where a file is no regular one, or a link that leads out of the folder ``inside``."""
    if wrong := _wrong(path, inside.resolve() if inside else None):
        raise UserError(wrong)


def _named(root: Path, endings: tuple[str, ...]) -> Iterator[Path]:
    seen = 0
    for folder, _, names in os.walk(root):
        seen += len(names)
        if seen > limits().files:
            raise UserError(f"{root}: more than {limits().files:,} files. Name the folder with the runs or packs.")
        yield from (Path(folder, name) for name in names if name.endswith(endings))


def _wrong(path: Path, inside: Path | None) -> str:
    try:
        kind = path.stat().st_mode
        if inside is not None and path.is_symlink() and not path.resolve().is_relative_to(inside):
            return f"{path}: a link that leads out of the folder. Put the file itself there."
    except (OSError, RuntimeError) as error:
        return f"{path}: can't be read ({error})."
    return "" if stat.S_ISREG(kind) else f"{path}: no regular file (a device, a pipe or a folder)."
