"""Tables of unknown form: parquet, CSV, TSV, JSON, JSON lines and Excel, read record by record."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, TextIO

from lmms_medtasks.data import excel_sheets
from lmms_medtasks.data.tsv_records import TsvTable, check_table
from lmms_medtasks.errors import UserError

SUFFIXES = (".parquet", ".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".xlsx", ".xlsm", ".xls")
FORMS = "parquet, CSV, TSV, JSON, JSON lines, Excel's .xlsx"
UNPACK = {".gz": "gunzip", ".bz2": "bunzip2", ".xz": "unxz", ".zst": "unzstd", ".zip": "unzip"}
SECTION = "section"  # The column that the records of a JSON object of lists get: the list's key

_NO_DATA = {"dataset_info.json", "dataset_infos.json", "state.json", "config.json", "package.json"}

_KEYS = 12  # of an object that are named

Row = dict[str, Any]

PLAIN = json.JSONDecoder()  # JSON as Python has it

_BLANK = re.compile(r"\s*")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        twice = next(name for index, (name, _) in enumerate(pairs) if name in dict(pairs[:index]))
        raise UserError(f"A record has the key {twice!r} twice.")
    return record


def _refuse_constant(name: str) -> Any:
    raise UserError(f"A record holds {name}, which is no value of JSON. Write null, or the text.")


AS_WRITTEN = json.JSONDecoder(
    parse_int=str, parse_float=str, parse_constant=_refuse_constant, object_pairs_hook=_without_repeats
)
"""JSON with numbers as they are written: 2.50 is "2.50"."""


def is_table(name: str) -> bool:
    """Whether a file of this name may hold records: "test.PARQUET" may, "dataset_infos.json" does not."""
    path = PurePosixPath(name.lower())
    return path.suffix in SUFFIXES and path.name not in _NO_DATA


def is_workbook(path: PurePath) -> bool:
    return path.suffix.lower() in (".xlsx", ".xlsm", ".xls")


def unpacking_hint(names: Iterable[str]) -> str:
    """What to do with tables among files that are packed, as a sentence after a blank; "" without such."""
    packed = [
        name for name in names if PurePosixPath(name).suffix.lower() in UNPACK and is_table(name.rpartition(".")[0])
    ]
    commands = [f"{UNPACK[PurePosixPath(name).suffix.lower()]} {shlex.quote(name)}" for name in packed[:3]]
    return f" Packed tables are not read. Unpack them: {'; '.join(commands)}." if packed else ""


def list_sheets(path: Path) -> list[str]:
    """The sheets of a workbook that hold something; [""] for any other table, and an empty workbook."""
    return (excel_sheets.list_sheets(_checked_workbook(path)) if is_workbook(path) else []) or [""]


def iter_table_rows(path: Path, *, sheet: str = "", separator: str = "") -> Iterator[Row | None]:
    """The records of a table, in order; None for what is no record. UserError: unreadable, damaged, empty.

    ``sheet``: of a workbook, "" if it has one only. ``separator``: of CSV and TSV, if it is another than the name says.
    """
    if is_workbook(path):
        return (row for _, row in excel_sheets.iter_sheet_rows(_checked_workbook(path), sheet))
    if path.suffix.lower() in (".csv", ".tsv"):
        return _iter_separated(path, separator)
    return {".parquet": _iter_parquet, ".json": _iter_json}.get(path.suffix.lower(), _json_lines)(path)


def read_table_columns(path: Path, *, sheet: str = "", separator: str = "") -> tuple[str, ...]:
    """The columns of a table in their order; of JSON and Excel, of all its records together."""
    if path.suffix.lower() == ".parquet":
        return tuple(_open_parquet(path).schema_arrow.names)
    if path.suffix.lower() in (".csv", ".tsv"):
        return _open_table(path, separator).columns
    rows = iter_table_rows(path, sheet=sheet)
    return tuple(dict.fromkeys(name for row in rows if row is not None for name in row))


def _checked_workbook(path: Path) -> Path:
    check_table(path, allowed=(".xlsx",))
    return path


def _open_parquet(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise UserError(f"{path.name} cannot be read as parquet: {error}. Fetch it again.") from error


def _iter_parquet(path: Path) -> Iterator[Row | None]:
    import pyarrow as pa

    with _open_parquet(path) as file:
        try:
            for batch in file.iter_batches(batch_size=16):
                yield from batch.to_pylist()
        except (OSError, pa.ArrowInvalid) as error:
            raise UserError(f"{path.name} is damaged: {error}. Fetch it again.") from error


def _open_table(path: Path, separator: str) -> TsvTable:
    return TsvTable(path, separator or ("," if path.suffix.lower() == ".csv" else "\t"))


def _iter_separated(path: Path, separator: str) -> Iterator[Row | None]:
    for record in _open_table(path, separator).records():
        yield None if record.cells is None else dict(record.cells)


def json_rows(path: Path, decoder: json.JSONDecoder) -> Iterator[Row | None]:
    return (_iter_json if path.suffix.lower() == ".json" else _json_lines)(path, decoder)


def _iter_json(path: Path, decoder: json.JSONDecoder = PLAIN) -> Iterator[Row | None]:
    with _open_text(path) as file:
        text = file.read()
    if text.lstrip()[:1] == "[":
        for record in _iter_items(text, path.name, decoder):
            yield record if isinstance(record, dict) else None
        return
    try:
        content = decoder.decode(text)
    except UserError as error:
        raise UserError(f"{path.name}: {error}") from error
    except (ValueError, RecursionError) as error:
        if "Extra data" in str(error):  # JSON lines in a file called .json
            yield from _json_lines(path, decoder)
            return
        raise UserError(f"{path.name} is not JSON: {error}. {json_repair_hint(text)}") from error
    if not isinstance(content, Mapping):
        raise UserError(f"{path.name} holds no records: it is {type(content).__name__}.")
    lists = {key: value for key, value in content.items() if isinstance(value, list)}
    if not lists:
        keys = list(map(str, content))
        more = f" and {len(keys) - _KEYS} more" if len(keys) > _KEYS else ""
        raise UserError(
            f"{path.name} holds no list of records, it is an object with the keys {', '.join(keys[:_KEYS])}{more}. "
            "Write a list of objects, one for each row (pandas: to_json(orient='records'))."
        )
    named = {key: record for key, value in lists.items() if (record := _first_record(value))}
    tables = [
        *map(str, named),
        *(
            f"{key}.{inner}"
            for key, value in content.items()
            for inner, listed in (value.items() if isinstance(value, Mapping) else ())
            if any(_first_record(listed).keys() & record.keys() for record in named.values())
        ),
    ]
    # Of a task's table nothing says which is asked; lists in mappings are read for no one.
    if len(tables) > (1 if decoder is AS_WRITTEN else len(named)):
        raise UserError(
            f"{path.name} holds several lists: {', '.join(tables)}. Which of them is asked? Keep one list "
            "in the file, and put the others into files of their own."
        )
    for key, value in lists.items():
        for record in value:
            yield {SECTION: key, **record} if isinstance(record, dict) else None


def _first_record(value: Any) -> Row:
    """The first record in a list; {} for anything else."""
    return next((item for item in value if isinstance(item, dict)), {}) if isinstance(value, list) else {}


@contextlib.contextmanager
def _open_text(path: PurePath, content: bytes | None = None) -> Iterator[TextIO]:
    """The text of a file; ``content``: its bytes if it is packed in another file."""
    name = path.name if content is None else str(path)
    try:
        binary = Path(path).open("rb") if content is None else io.BytesIO(content)
        with io.TextIOWrapper(binary, encoding="utf-8-sig") as file:
            yield file
    except UnicodeDecodeError as error:
        raise UserError(f"{name} is not UTF-8 text: {error.reason}.") from error
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from error


def _json_lines(path: Path, decoder: json.JSONDecoder = PLAIN) -> Iterator[Row | None]:
    with _open_text(path) as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                record = _parse_line(line, path.name, number, decoder)
                yield record if isinstance(record, dict) else None


def _parse_line(line: str, name: str, number: int, decoder: json.JSONDecoder) -> Any:
    try:
        return decoder.decode(line.strip())
    except UserError as error:
        raise UserError(f"{name}, line {number}: {error}") from error
    except (ValueError, RecursionError) as error:
        raise UserError(
            f"{name}, line {number} is not JSON: {error}. Expected one whole record in each line, or a list of them "
            "in a file called .json; or it is cut short."
        ) from error


def iter_json_items(path: PurePath, content: bytes | None = None) -> Iterator[Any]:
    """The items of the list in ``path``, in order. ``content``: its bytes if it is packed in another file.

    Raises UserError if the file can't be read, is no UTF-8, no JSON list, or is cut short.
    """
    with _open_text(path, content) as file:
        text = file.read()
    yield from _iter_items(text, path.name if content is None else str(path), PLAIN)


def _iter_items(text: str, name: str, decoder: json.JSONDecoder) -> Iterator[Any]:
    """The items of a list, decoded one at a time: a large table is held as text only."""

    def next_sign(start: int) -> int:
        return _BLANK.match(text, start).end()  # type: ignore[union-attr]

    at = next_sign(0)
    if text[at : at + 1] != "[":
        raise UserError(f"{name} is no JSON list of records. Is it a file of another release?")
    at = next_sign(at + 1)
    if text[at : at + 1] == "]":
        return
    for count in itertools.count():
        try:
            value, end = decoder.raw_decode(text, at)
        except UserError as error:
            raise UserError(f"{name}, record {count + 1}: {error}") from error
        except ValueError as error:
            raise _damaged_list_error(name, count, str(error), text[at:]) from error
        except RecursionError as error:
            raise _damaged_list_error(name, count, "it is nested too deeply") from error
        yield value
        end = next_sign(end)
        sign = text[end : end + 1]
        if sign == "]":
            return
        if sign != ",":
            fault = f"found {sign!r}, expected a comma or the end of the list" if sign else "it ends"
            raise _damaged_list_error(name, count + 1, fault)
        at = next_sign(end + 1)


def json_repair_hint(rest: str) -> str:
    if rest.lstrip()[:1] in ("]", "}"):
        return "JSON has no comma before a closing bracket: take it out."
    if re.match(r"\s*[\[{\s]*'", rest):
        return "Its texts are in single quotation marks, as Python prints them: write it with json.dump."
    return "It is cut short or damaged. Fetch it again."


def _damaged_list_error(name: str, count: int, why: str, rest: str = "") -> UserError:
    return UserError(f"{name} cannot be read after record {count}: {why}. {json_repair_hint(rest)}")
