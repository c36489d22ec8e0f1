"""Files of strangers: check that they are in their folder and within the limits before building anything from them."""

from __future__ import annotations

import json
import os
import re
import stat
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from lmms_medtasks.board.trust.limits import check_limit as check_number
from lmms_medtasks.board.trust.limits import load_limits
from lmms_medtasks.errors import UserError

_BLOCK = 2**20
_GZIP = 31  # zlib: a gzip header with the largest window


def list_regular_files(root: Path, endings: tuple[str, ...]) -> tuple[list[Path], list[tuple[Path, str]]]:
    """The files below ``root`` with these endings, sorted, and those that are not read, each with the reason.

    Linked folders are not entered. Raises UserError for more files than the limits allow.
    """
    inside = root.resolve()
    files, refused = [], []
    for path in _walk_named_files(root, endings):
        if problem := _file_problem(path, inside):
            refused.append((path, problem))
        else:
            files.append(path)
    return sorted(files), sorted(refused)


def linked_folders(root: Path) -> list[tuple[Path, str]]:
    """The linked folders below ``root``, which are not entered, with the reason."""
    links = [path for folder, names, _ in os.walk(root) for name in names if (path := Path(folder, name)).is_symlink()]
    return [(path, f"{path}: a link to a folder. Put the folder itself there.") for path in links]


def check_regular_file(path: Path, inside: Path | None = None) -> None:
    """Raise UserError unless a file is a regular one and no link out of the folder ``inside``."""
    if wrong := _file_problem(path, inside.resolve() if inside else None):
        raise UserError(wrong)


def _walk_named_files(root: Path, endings: tuple[str, ...]) -> Iterator[Path]:
    seen = 0
    for folder, _, names in os.walk(root):
        seen += len(names)
        if seen > load_limits()["files"]:
            most = f"{load_limits()['files']:,} files"
            raise UserError(f"{root}: more than {most}. Name the folder with the runs or packs.")
        yield from (Path(folder, name) for name in names if name.endswith(endings))


def _file_problem(path: Path, inside: Path | None) -> str:
    try:
        kind = path.stat().st_mode
        if inside is not None and path.is_symlink() and not path.resolve().is_relative_to(inside):
            return f"{path}: a link that leads out of the folder. Put the file itself there."
    except (OSError, RuntimeError) as error:
        return f"{path}: can't be read ({error})."
    return "" if stat.S_ISREG(kind) else f"{path}: no regular file (a device, a pipe or a folder)."


def content_of(path: Path) -> bytes:
    """The bytes of a file, unpacked if its name ends in .gz.

    Raises UserError if it is larger than the limits, packed or unpacked; no more than these is ever read.
    """
    check_number(path.stat().st_size, "file_bytes", path, "bytes")
    most = load_limits()["unpacked_bytes"]
    try:
        with path.open("rb") as file:
            data = _unpack_gzip(file, most) if path.name.endswith(".gz") else file.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"{path}: cut off or damaged ({error}).") from error
    if len(data) > most:
        raise UserError(f"{path}: more than {most:,} bytes, unpacked.")
    return data


def _unpack_gzip(file: BinaryIO, most: int) -> bytes:
    """The content of a gzip file, at most one byte more than ``most``.

    It must have one member, as packs do: millions of empty ones would unpack to nothing for a minute. Raises zlib.error
    and EOFError otherwise.
    """
    member = zlib.decompressobj(wbits=_GZIP)
    content = bytearray()
    while not member.eof and len(content) <= most:
        packed = member.unconsumed_tail or file.read(_BLOCK)
        if not packed:
            raise EOFError("it ends within a gzip member")
        content += member.decompress(packed, most + 1 - len(content))
    if member.eof and (member.unused_data or file.read(1)):
        raise EOFError("there is more behind its gzip member")
    return bytes(content)


def read_json(path: Path) -> Any:
    """The value of a JSON file in UTF-8.

    Raises UserError beyond the limits, and for damaged files, repeated keys, and numbers that are not finite.
    """
    data = content_of(path)
    check_form(data, path)
    try:
        return json.loads(
            data.decode("utf-8"), object_pairs_hook=_unique_keys, parse_constant=_no_number, parse_float=_finite_number
        )
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: cut off or damaged ({error}).") from error


def check_form(data: bytes, where: object) -> None:
    """Raise UserError if JSON text is deeper than the limits, or has more values or longer numbers.

    Builds nothing: 150 MB of ``[]`` would be gigabytes of lists.
    """
    bare = _without_texts(data)
    containers = bare.count(b"[") + bare.count(b"{")
    check_number(containers, "containers", where, "lists and mappings")
    check_number(containers + bare.count(b",") + bare.count(b":"), "values", where, "values")
    codes = np.frombuffer(bare, dtype=np.uint8)
    opened, closed = ((codes == ord(one)) | (codes == ord(other)) for one, other in ("[{", "]}"))
    steps = opened.astype(np.int8) - closed.astype(np.int8)
    deepest = int(np.cumsum(steps[steps != 0], dtype=np.int32).max(initial=0))
    check_number(deepest, "depth", where, "lists inside each other")
    most = load_limits()["digits"]
    if re.search(rb"[0-9]{%d}" % (most + 1), bare):
        raise UserError(f"{where}: a number of more than {most} digits.")


def _without_texts(data: bytes) -> bytes:
    """JSON text without its strings."""
    codes = np.frombuffer(data.replace(b"\\\\", b"").replace(b'\\"', b""), dtype=np.uint8)
    inside = np.logical_xor.accumulate(codes == ord('"'))
    return codes[~inside].tobytes()


def check_lines(path: Path) -> None:
    """Raise UserError if a log, or one of its lines, is larger than the limits."""
    check_number(path.stat().st_size, "log_bytes", path, "bytes")
    most, number, length = load_limits()["line_bytes"], 1, 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            for place, part in enumerate(block.split(b"\n")):
                if place:
                    number, length = number + 1, 0
                length += len(part)
                if length > most:
                    raise UserError(f"{path}, line {number}: more than {most:,} bytes.")


def _unique_keys(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    for name, value in pairs:
        if name in mapping:
            raise ValueError(f"the key {name[:40]!r} stands twice in a mapping")
        mapping[name] = value
    return mapping


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number")


def _finite_number(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{text[:30]} is beyond what a number can be")
    return value
