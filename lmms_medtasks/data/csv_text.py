"""CSV and TSV tables as the text that they are: ``datasets`` would guess types, and take ``NA`` and ``None`` away.

The loader is told that every column is text, by the names in the table's header. What it then reads is what
:class:`lmms_medtasks.data.tsv_records.Table` reads, to the character; an empty cell is the empty text.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmms_medtasks.data.tsv_records import Table
from lmms_medtasks.errors import UserError

if TYPE_CHECKING:
    from datasets import Dataset

_SEPARATORS = ("sep", "delimiter")
OPTIONS = ("data_files", *_SEPARATORS)
"""The options of the reader that a task may give."""
AS_TEXT = "a table is read as text in UTF-8, every cell as it stands"


def with_text_cells(config: dict[str, Any], where: str) -> dict[str, Any]:
    """``config`` as it is, or a copy that makes the harness read the local CSV tables of a task as text.

    Raises:
        UserError: the table can't be read, a row has another number of cells than the header, tables of one task have
            other columns, or the YAML has an option of the loader that would change the text.
    """
    if config.get("dataset_path") != "csv":
        return config
    import datasets

    kwargs = dict(config.get("dataset_kwargs") or {})
    for name in refused_options(kwargs):
        raise UserError(f"{where}: dataset_kwargs: {name}: {kwargs[name]!r}: {AS_TEXT}. Allowed: {', '.join(OPTIONS)}.")
    separator = next((kwargs[name] for name in reversed(_SEPARATORS) if kwargs.get(name)), ",")
    tables = [path for path in _files(kwargs.get("data_files")) if path.is_file()]
    if not tables:  # on the network: see check_not_guessed
        return config
    headers = {path: _columns(path, separator, *_state(path)) for path in tables}
    names = headers[tables[0]]
    for path, others in headers.items():
        if others != names:
            raise UserError(f"{where}: {path.name} has the columns {', '.join(others)}, {tables[0].name} has "
                            f"{', '.join(names)}. Tables of one task have the same columns.")  # fmt: skip
    features = datasets.Features({name: datasets.Value("string") for name in names})
    text = {"column_names": list(names), "header": 0, "features": features, "na_filter": False}
    return {**config, "dataset_kwargs": {**kwargs, **text}}


def check_not_guessed(dataset: Dataset, used: Collection[str]) -> None:
    """Raise UserError for a CSV table that was loaded past :func:`with_text_cells`, from a hub say, and is not text.

    ``used``: the columns that count.
    """
    if dataset.info.builder_name != "csv":
        return
    for name in used:
        dtype = getattr(dataset.features[name], "dtype", "?")
        if dtype not in ("string", "large_string") or dataset.data.column(name).null_count:
            found = f"was read as {dtype}" if "string" not in str(dtype) else "has cells that were read as missing"
            raise UserError(
                f"Column {name!r} of a CSV table {found}: its text (007, 1.50, NA, an empty cell) is lost. Put the "
                "table beside the YAML with `dataset_path: csv` and `dataset_kwargs: data_files`, or store it as "
                "parquet with columns of text."
            )


def refused_options(names: Collection[str]) -> list[str]:
    """Those of ``names`` that are options of the reader of CSV tables and would change the text."""
    names = [name for name in names if name not in OPTIONS]
    if not names:
        return []
    from datasets import BuilderConfig
    from datasets.packaged_modules.csv.csv import CsvConfig

    of_reader = {each.name for each in dataclasses.fields(CsvConfig)}
    of_reader -= {each.name for each in dataclasses.fields(BuilderConfig)}
    return [name for name in names if name in of_reader]


def _files(value: Any) -> Iterator[Path]:
    if isinstance(value, Mapping):
        value = list(value.values())
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, list):
            yield from _files(each)
        elif isinstance(each, str):
            yield Path(each)


def _state(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns


@functools.lru_cache(maxsize=64)
def _columns(path: Path, separator: str, size: int, changed: int) -> tuple[str, ...]:
    """The columns of a table whose rows all have a cell for each of them; ``size`` and ``changed`` are the file's."""
    if len(separator) != 1:
        raise UserError(f"{path.name}: the separator {separator!r}: wanted one character.")
    table = Table(path, separator)
    for record in table.records():
        if record.cells is None:
            raise UserError(
                f"{path.name}, row {record.number}: {record.width} cells, the header has {len(table.columns)}. Is a "
                "separator in a cell that is not in quotation marks?"
            )
    return table.columns
