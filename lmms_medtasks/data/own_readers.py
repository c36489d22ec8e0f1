"""Files of any form, read by a function of someone's own: ``dataset_path: reader``.

::

    dataset_path: reader
    dataset_kwargs:
      data_files: {test: cases.xml}
      reader: parts.py:read_rows

The function takes a file's path and gives rows: mappings from a column's name to a text, a number, true or false, None,
a list or mapping of such, or a picture (bytes of its file, or a PIL image). They are written as JSON lines into the
data folder, under the digest of what they say, and from there on are a table like any other. Nothing is kept from one
process to the next: a function may read more than the file that it is given.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import io
import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmms_medtasks import digests, extensions, writing
from lmms_medtasks.data import store, text_tables
from lmms_medtasks.errors import UserError, unknown

LOADER = "reader"
OPTIONS = ("data_files", "reader", "rows")
KIND: Any = "data reader"


@dataclass(frozen=True)
class ReadBy:
    """A digest of the code of a task's reader, "" without a reader."""

    digested: str = ""


def with_rows_read(config: dict[str, Any], folder: Path, where: str) -> tuple[dict[str, Any], tuple[Path, ...], ReadBy]:
    """``config`` as it is, or for a task with a reader a copy that reads its rows; the files; the reader's code.

    Raises:
        UserError: There is no such reader or file, it raises something, or gives anything but rows.
    """
    if config.get("dataset_path") != LOADER:
        return config, (), ReadBy()
    kwargs = dict(config.get("dataset_kwargs") or {})
    for name in kwargs:
        if name not in OPTIONS:
            raise UserError(f"{where}: dataset_kwargs: {name}: a task with a reader takes {', '.join(OPTIONS)}.")
    text = kwargs.get("reader")
    if not isinstance(text, str):
        raise UserError(
            f"{where}: dataset_kwargs: reader: got {text!r}, expected parts.py:NAME, or package.module:NAME."
        )
    part = extensions.load(KIND, extensions.located(text, folder), (), f"{where}: dataset_kwargs")
    if not callable(part.value):
        raise UserError(f"{where}: the data reader {text!r} is a {type(part.value).__name__}, expected a function.")
    counts = kwargs.get("rows") or {}
    if gone := sorted(set(counts) - set(kwargs.get("data_files") or {})):
        raise unknown(
            "split", gone[0], list(kwargs.get("data_files") or {}), f"{where}: dataset_kwargs: rows (as in data_files)"
        )
    made, files = {}, []
    for split, names in (kwargs.get("data_files") or {}).items():
        paths = [folder / name for name in (names if isinstance(names, list) else [names])]
        for path in paths:
            if not path.is_file():
                raise UserError(f"{where}: dataset_kwargs: data_files: there is no file {path}.")
        read = [_read(part, path, path.stat().st_mtime_ns, str(store.home())) for path in paths]
        found = sum(count for _, count in read)
        if split in counts and counts[split] != found:
            raise UserError(
                f"{where}: {', '.join(path.name for path in paths)}: {found} rows by {text}, {counts[split]} expected "
                f"(dataset_kwargs: rows: {split})."
            )
        made[split] = [str(path) for path, _ in read]
        files += paths
    code = digests.of_files([part.file]) if part.file else ""
    changed = {"dataset_path": "json", "dataset_kwargs": {"data_files": made}}
    return {**config, **changed}, tuple(files), ReadBy(code)


@functools.lru_cache(maxsize=64)
def _read(part: extensions.Part, path: Path, changed: int, home: str) -> tuple[Path, int]:
    """The rows of a file as a file of JSON lines, and their number. ``changed``: when the file was."""
    lines = [json.dumps(row, ensure_ascii=False) for row in _rows(part.value, part, path)]
    if not lines:
        raise UserError(f"{path.name}: the data reader {part.name} ({part.origin}) gave no rows.")
    content = ("\n".join(lines) + "\n").encode()
    target = Path(home) / text_tables.FOLDER / hashlib.sha256(content).hexdigest()[:32] / f"{path.stem}.jsonl"
    if not target.is_file():
        writing.write_bytes(target, content)
    return target, len(lines)


def _rows(function: Callable[[Path], Iterable[Any]], part: extensions.Part, path: Path) -> Iterable[dict[str, Any]]:
    whose = f"the data reader {part.name} ({part.origin})"
    number = 0
    try:
        given = function(path)
        if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
            raise UserError(f"{path.name}: {whose} gave {type(given).__name__}, expected rows: a list, or a generator.")
        for number, row in enumerate(given, start=1):
            if not isinstance(row, Mapping) or not all(isinstance(name, str) for name in row):
                raise UserError(
                    f"{path.name}, row {number}: {whose} gave {str(row)[:60]!r}, expected a mapping from "
                    f"columns' names."
                )
            yield {name: _plain(value, f"{path.name}, row {number}, column {name!r}") for name, value in row.items()}
    except UserError:
        raise
    except Exception as error:
        after = f", after row {number}" if number else ""
        raise UserError(f"{path.name}{after}: {whose} failed: {extensions.raised(error, part.file)}.") from error


def _plain(value: Any, where: str) -> Any:
    """A value as JSON holds it; a picture as base64 of its file."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, list | tuple):
        return [_plain(each, where) for each in value]
    if isinstance(value, Mapping):
        return {str(name): _plain(each, where) for name, each in value.items()}
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    from PIL import Image

    if isinstance(value, Image.Image):
        buffer = io.BytesIO()
        value.save(buffer, "PNG")
        return base64.b64encode(buffer.getvalue()).decode()
    if hasattr(value, "item") and getattr(value, "size", 0) == 1:  # a number of NumPy
        return _plain(value.item(), where)
    raise UserError(
        f"{where}: a {type(value).__name__} ({str(value)[:40]!r}), expected a text, a number, an image (bytes, "
        f"or a PIL "
        "image), or a list of such."
    )
