"""Tables of a task's folder as the text that they are: CSV, TSV, JSON, JSON lines and Excel alike.

``datasets`` would guess types, drop ``NA`` and ``None``, make dates of texts, and can't read Excel. So the harness gets
a parquet file with columns of text (or lists of texts), which lies in the data folder under the digest of what the
table holds. Readers of other libraries were tried: pyarrow takes two rows for one after a quotation mark that is not
closed and drops marks inside of a cell, ijson reads 1e3 as 1E+3 and the second of two equal keys.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import itertools
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lmms_medtasks import progress, writing
from lmms_medtasks.data import any_tables, excel_sheets, store, tsv_records
from lmms_medtasks.data.tsv_records import TsvTable
from lmms_medtasks.errors import UserError

if TYPE_CHECKING:
    from datasets import Dataset

LOADERS: Mapping[str, str] = {
    ".csv": "csv", ".tsv": "csv", ".json": "json", ".jsonl": "json", ".ndjson": "json", ".xlsx": "excel",
    ".xlsm": "excel", ".parquet": "parquet",
}  # fmt: skip
"""File ending -> ``dataset_path``. ``excel`` is ours: no loader of ``datasets`` is called so."""

OPTIONS: Mapping[str, tuple[str, ...]] = {
    "csv": ("data_files", "sep", "delimiter"),
    "json": ("data_files",),
    "excel": ("data_files", "sheet"),
}
"""``dataset_path`` -> the options of the reader that a task may give."""
AS_TEXT = "a table is read as text in UTF-8, every cell as it stands"

FOLDER = "tables"
_VERSION = 1  # of what is made of a table
_BATCH = 256
_SEPARATORS = {"\t": "tabs", ";": "semicolons", ",": "commas", "|": "bars"}

Kind = Literal["text", "list"]
Row = Mapping[str, Any]


def line_counter(tables: Sequence[Path], kwargs: Mapping[str, Any] | None) -> Callable[[int], int] | None:
    """A function of a row, from 0, that gives its line as spreadsheets show it: with the header and empty lines.

    None unless the rows are of one table that has a header. It reads the table again: it is for messages.
    """
    how = LOADERS.get(tables[0].suffix.lower(), "") if len(tables) == 1 else ""
    if how not in ("csv", "excel"):
        return None
    return functools.partial(_line_of, tables[0], how, kwargs or {})


def _line_of(path: Path, how: str, kwargs: Mapping[str, Any], row: int) -> int:
    if how == "excel":
        lines = (line for line, _ in excel_sheets.iter_sheet_rows(path, str(kwargs.get("sheet") or "")))
    else:
        lines = (record.row for record in TsvTable(path, _chosen_separator(path, kwargs)).records())
    return next(itertools.islice(lines, row, None))


def dataset_loader_name(path: Path) -> str:
    ending = path.suffix.lower()
    if ending == ".xls":
        raise UserError(f"The table {str(path)!r} is of Excel before 2007. Save it as .xlsx, or as CSV UTF-8.")
    if ending in any_tables.UNPACK:
        command = f"{any_tables.UNPACK[ending]} {path}"
        raise UserError(f"The table {str(path)!r} is packed. Unpack it ({command}), and name the table in it.")
    if ending not in LOADERS:
        way_out = " Write the columns' names into its first line and call it .csv (.tsv with tabs)."
        raise UserError(
            f"The table {str(path)!r} ends in {path.suffix!r}. Allowed: {', '.join(LOADERS)}."
            f"{way_out if ending in ('', '.txt', '.dat') else ''}"
        )
    return LOADERS[ending]


def iter_text_rows(path: Path, how: str, kwargs: Mapping[str, Any] | None = None) -> Iterator[Row]:
    """The records of a table of the loader ``how``: texts as they are written, None, or lists and mappings of such.

    ``kwargs``: the task's options for the reader. Raises UserError if the file can't be read, is of another form, or a
    record has other cells than the header.
    """
    options = kwargs or {}
    if how == "excel":
        tsv_records.check_table(path, allowed=(".xlsx",))
        return (row for _, row in excel_sheets.iter_sheet_rows(path, str(options.get("sheet") or "")))
    tsv_records.check_table(path)
    return _of_json(path) if how == "json" else _of_csv(path, _chosen_separator(path, options))


def named_separator(path: Path) -> str:
    """The separator by the file's name: tabs in .tsv, else commas."""
    return "\t" if path.suffix.lower() == ".tsv" else ","


def separator_of(path: Path) -> str:
    """Of tabs, semicolons, commas and bars the only one in the header, else the one that the file's name says."""
    expected = named_separator(path)
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            header = file.readline()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from error
    present = [sign for sign in _SEPARATORS if sign in header]
    return present[0] if len(present) == 1 else expected


def _chosen_separator(path: Path, options: Mapping[str, Any]) -> str:
    given = options.get("delimiter") or options.get("sep") or named_separator(path)
    if len(given) != 1:
        raise UserError(f"{path.name}: the separator {given!r}: expected one character.")
    header = TsvTable(path, given).columns
    other = separator_of(path)
    if len(header) == 1 and other != given and other in header[0]:
        written = "\\t" if other == "\t" else other
        raise UserError(
            f"{path.name}: its columns are separated by {_SEPARATORS[other]}, it is read with {given!r}. In the YAML: "
            f'dataset_kwargs: sep: "{written}".'
        )
    return str(given)


def _of_csv(path: Path, separator: str) -> Iterator[Row]:
    table = TsvTable(path, separator)
    for record in table.records():
        location = f"{path.name}, row {record.number} (line {record.row} with the header)"
        if record.cells is None:
            hint = f" ({table.columns[0]!r}; the first line must be the header)" if len(table.columns) == 1 else ""
            raise UserError(
                f"{location}: {record.width} cells, the header has {len(table.columns)}{hint}. Is a separator "
                "in a cell that is not in quotation marks?"
            )
        if any("\0" in cell for cell in record.cells.values()):
            raise UserError(f"{location}: a cell holds a NUL character: the file is damaged.")
        yield record.cells


def _of_json(path: Path) -> Iterator[Row]:
    for number, record in enumerate(any_tables.json_rows(path, any_tables.AS_WRITTEN), start=1):
        if record is None:
            raise UserError(
                f"{path.name}, row {number}: no record. Expected a JSON object for each row, not a list for each "
                "column (pandas: to_json(orient='records'))."
            )
        yield record


def with_text_cells(config: dict[str, Any], where: str) -> tuple[dict[str, Any], tuple[Path, ...]]:
    """``config``, changed to make the harness read a task's tables as text; and the tables. Parquet is left as it is.

    Raises UserError if a table can't be read, tables of one task have other columns, or the YAML has an option of the
    loader that would change the text.
    """
    how = str(config.get("dataset_path"))
    kwargs = dict(config.get("dataset_kwargs") or {})
    tables = tuple(path for path in iter_data_files(kwargs.get("data_files")) if path.is_file())
    if how not in OPTIONS:
        return config, tables
    for name in refused_options(how, kwargs):
        raise UserError(
            f"{where}: dataset_kwargs: {name}: {kwargs[name]!r}: {AS_TEXT}. Allowed: {', '.join(OPTIONS[how])}."
        )
    if not tables and how == "excel":
        raise UserError(f"{where}: dataset_kwargs: data_files names no Excel workbook beside the YAML.")
    if not tables:  # on the network: see check_not_guessed
        return config, ()
    made = _all_made(tables, how, kwargs, where)
    other_options = {name: value for name, value in kwargs.items() if name not in OPTIONS[how]}
    data_files = _replace_paths(kwargs["data_files"], made)
    return {**config, "dataset_path": "parquet", "dataset_kwargs": {**other_options, "data_files": data_files}}, tables


def read_text_table(path: Path, how: str, kwargs: Mapping[str, Any] | None = None) -> Dataset:
    """A table as a data set, as :func:`with_text_cells` has the harness load it."""
    import datasets

    options = dict(kwargs or {})
    if how in OPTIONS:
        return datasets.Dataset.from_parquet(_all_made((path,), how, options, path.name)[str(path)])
    any_tables.read_table_columns(path)  # raises UserError for what is no parquet
    return datasets.Dataset.from_parquet(str(path))


def check_not_guessed(dataset: Dataset, used: Collection[str]) -> None:
    """Raise UserError if a column ``used`` of a CSV table that was loaded past :func:`with_text_cells` is not text."""
    if dataset.info.builder_name != "csv":
        return
    for name in used:
        dtype = getattr(dataset.features[name], "dtype", "?")
        if dtype not in ("string", "large_string") or dataset.data.column(name).null_count:
            fault = f"was read as {dtype}" if "string" not in str(dtype) else "has cells that were read as missing"
            raise UserError(
                f"Column {name!r} of a CSV table {fault}: its text (007, 1.50, NA, an empty cell) is lost. Put the "
                "table beside the YAML with `dataset_path: csv` and `dataset_kwargs: data_files`, or store it as "
                "parquet with columns of text."
            )


def refused_options(how: str, names: Collection[str]) -> list[str]:
    """Those of ``names`` that are options of the reader of ``how`` and would change the text."""
    names = [name for name in names if name not in OPTIONS[how]]
    if not names:
        return []
    from datasets import BuilderConfig
    from datasets.packaged_modules.csv.csv import CsvConfig
    from datasets.packaged_modules.json.json import JsonConfig

    of_reader = {field.name for config in (CsvConfig, JsonConfig) for field in dataclasses.fields(config)}
    of_reader -= {field.name for field in dataclasses.fields(BuilderConfig)}
    return [name for name in names if name in of_reader]


def iter_data_files(value: Any) -> Iterator[Path]:
    if isinstance(value, Mapping):
        value = list(value.values())
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, list):
            yield from iter_data_files(each)
        elif isinstance(each, str):
            yield Path(each)


def _replace_paths(value: Any, made: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _replace_paths(each, made) for key, each in value.items()}
    if isinstance(value, list):
        return [_replace_paths(each, made) for each in value]
    return made.get(str(Path(value)), value) if isinstance(value, str) else value


def _all_made(tables: tuple[Path, ...], how: str, kwargs: Mapping[str, Any], where: str) -> dict[str, str]:
    """Table -> its parquet file. Unchanged tables are read once a process."""
    options = {name: kwargs[name] for name in OPTIONS[how] if name != "data_files" and name in kwargs}
    states = tuple((path, path.stat().st_size, path.stat().st_mtime_ns) for path in tables)
    made = _made_once(states, how, json.dumps(options), str(store.data_home()), where)
    return {str(path): each for path, each in zip(tables, made, strict=True)}


@functools.lru_cache(maxsize=64)
def _made_once(
    states: tuple[tuple[Path, int, int], ...], how: str, options: str, home: str, where: str
) -> tuple[str, ...]:
    tables, kwargs = [path for path, _, _ in states], json.loads(options)
    kinds = _column_kinds(tables, how, kwargs, where)
    return tuple(str(_write_parquet(path, how, kwargs, kinds, Path(home))) for path in tables)


def _column_kinds(tables: Sequence[Path], how: str, kwargs: Mapping[str, Any], where: str) -> dict[str, Kind]:
    """Column -> what its cells are in all tables of a task. JSON is read to its end: a later row may have others."""
    kinds_of_table: dict[Path, dict[str, Kind]] = {}
    for path in tables:
        of_table: dict[str, Kind] = {}
        for row in progress.iter_with_progress(iter_text_rows(path, how, kwargs), None, f"reading {path.name}"):
            for name, value in row.items():
                if of_table.get(name) != "list":
                    of_table[name] = "list" if _is_plain_list(value) else "text"
            if how != "json":
                break
        if not of_table:
            raise UserError(f"{path.name} has no rows.")
        kinds_of_table[path] = of_table
    first = tables[0]
    for path, others in kinds_of_table.items():
        if how != "json" and list(others) != list(kinds_of_table[first]):
            raise UserError(
                f"{where}: {path.name} has the columns {', '.join(others)}, {first.name} has "
                f"{', '.join(kinds_of_table[first])}. Tables of one task have the same columns."
            )
    merged: dict[str, Kind] = {}
    for others in kinds_of_table.values():
        merged |= {name: kind for name, kind in others.items() if merged.get(name) != "list"}
    return merged


def _is_plain_list(value: Any) -> bool:
    return isinstance(value, list) and not any(isinstance(each, list | Mapping) for each in value)


def _write_parquet(path: Path, how: str, kwargs: Mapping[str, Any], kinds: Mapping[str, Kind], home: Path) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    digest = hashlib.sha256(json.dumps([_VERSION, how, kwargs, kinds]).encode())
    with path.open("rb") as content:
        while chunk := content.read(1 << 20):
            digest.update(chunk)
    target = home / FOLDER / f"{digest.hexdigest()[:32]}.parquet"
    if target.is_file():
        return target
    types = {"text": pa.large_string(), "list": pa.list_(pa.large_string())}
    schema = pa.schema([(name, types[kind]) for name, kind in kinds.items()])
    # Without dictionaries: cells may be whole pictures in base64.
    with writing.atomic_write(target) as part, pq.ParquetWriter(part, schema, use_dictionary=False) as writer:
        rows = progress.iter_with_progress(iter_text_rows(path, how, kwargs), None, f"storing {path.name}")
        while batch := list(itertools.islice(rows, _BATCH)):
            cells = [[_typed_cell(row.get(name), kind) for row in batch] for name, kind in kinds.items()]
            try:
                writer.write_table(pa.table(cells, schema))
            except UnicodeEncodeError as error:
                raise UserError(
                    f"{path.name}: the text {error.object[:60]!r} holds {error.object[error.start]!r}, half of a "
                    "character, which no file of text can hold. Write the character itself, or take it out."
                ) from error
    return target


def _typed_cell(value: Any, kind: Kind) -> Any:
    """A value as its column has it: nested values become JSON, a single text among lists a list of one."""
    if kind == "list" and value is not None:
        return [_typed_cell(each, "text") for each in (value if isinstance(value, list) else [value])]
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)  # true, false, and what is nested; numbers are texts already
