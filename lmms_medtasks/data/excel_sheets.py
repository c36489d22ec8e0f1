"""Excel workbooks (.xlsx) as the text that their one sheet shows; cells without plain text are refused.

Excel keeps numbers and dates, not how they were typed: ``007`` is 7, ``1e3`` is 1000. A number is taken only if its
format says plainly what the sheet shows.
"""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lmms_medtasks.errors import UserError

_PLACES = re.compile(r"(0+)(?:\.(0+))?")
_GENERAL = ("General", "@")
_SHOWN_DIGITS = 11  # Digits that Excel shows of a number without a format

_AS_TEXT = "Give the column the format Text and type the value again, or keep the table as CSV."


def iter_sheet_rows(path: Path, sheet: str = "") -> Iterator[tuple[int, dict[str, str]]]:
    """The records of the sheet (the only one if ``sheet`` is empty), each cell as the sheet shows it, after their rows.

    The first row is the header; empty rows and columns at the end are left out. Raises UserError for no workbook,
    several sheets, cells without plain text (dates, errors, formulas never calculated), merged cells, hidden rows,
    floating pictures.
    """
    shown, written = _open_sheets(path, sheet)
    _check_plain(path.name, shown)
    lines = [list(cells) for cells in shown.iter_rows()]
    while lines and all(written[cell.coordinate].value is None for cell in lines[-1]):
        lines.pop()
    names = [_cell_text(cell, written, path.name).strip() for cell in lines[0]] if lines else []
    while names and not names[-1]:
        names.pop()
    if not names:
        filled = [row[0].row for row in lines if any(cell.value is not None for cell in row)]
        hint = f": what it holds starts in row {filled[0]}. Delete the rows above the header" if filled else ""
        raise UserError(f"{path.name}: the first row of the sheet {shown.title!r} has no names of columns{hint}.")
    twice = [repr(name) for name, count in Counter(names).items() if count > 1]
    if twice:
        raise UserError(f"{path.name} has a column twice: {', '.join(twice)}.")
    for cells in lines[1:]:
        texts = [_cell_text(cell, written, path.name) for cell in cells]
        if any(texts[len(names) :]):
            one = " The first row must be the header: is it a title?" if len(names) == 1 else ""
            raise UserError(f"{path.name}, row {cells[0].row} of the sheet: a value stands beyond the header.{one}")
        if any(text.strip() for text in texts):
            yield cells[0].row, dict(zip(names, texts, strict=False))


def list_sheets(path: Path) -> list[str]:
    """The names of the sheets that hold something. UserError for no workbook."""
    return _filled_sheets(_load_workbook(path, data_only=False))


def _filled_sheets(workbook: Any) -> list[str]:
    worksheets = workbook.worksheets
    return [each.title for each in worksheets if each.max_row > 1 or each["A1"].value is not None]


def _load_workbook(path: Path, *, data_only: bool) -> Any:
    import openpyxl
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        return openpyxl.load_workbook(path, data_only=data_only)
    except (InvalidFileException, zipfile.BadZipFile, KeyError, ValueError, OSError) as error:
        raise UserError(f"{path.name} cannot be read as an Excel workbook (.xlsx): {error}.") from error


def _open_sheets(path: Path, sheet: str) -> tuple[Any, Any]:
    """The sheet with the values that Excel calculated, and with its formulas."""
    calculated, written = (_load_workbook(path, data_only=only) for only in (True, False))
    filled = _filled_sheets(calculated)
    if sheet and sheet not in calculated.sheetnames:
        raise UserError(f"{path.name} has no sheet {sheet!r}. It has: {', '.join(calculated.sheetnames)}.")
    if not sheet and len(filled) > 1:
        raise UserError(
            f"{path.name} has several sheets: {', '.join(filled)}. Say which one: --sheet NAME, or in the YAML "
            "dataset_kwargs: sheet: NAME."
        )
    if not sheet and not filled:
        raise UserError(f"{path.name} is empty.")
    chosen = sheet or filled[0]
    return calculated[chosen], written[chosen]


def _check_plain(name: str, sheet: Any) -> None:
    merged = [str(each) for each in sheet.merged_cells.ranges]
    if merged:
        raise UserError(
            f"{name}: the cells {', '.join(merged[:3])} are merged, and only the first of them has a value. Unmerge "
            "them, and write the value into each."
        )
    hidden = [number for number, row in sheet.row_dimensions.items() if row.hidden]
    if hidden:
        raise UserError(
            f"{name}: row {hidden[0]} of the sheet is hidden ({len(hidden)} in all): it would be asked all the same. "
            "Delete hidden rows, or show them."
        )
    if getattr(sheet, "_images", None):
        raise UserError(
            f"{name}: {len(sheet._images)} images float over the cells and belong to no row. Save them as files, and "
            "write their names into a column."
        )


def _cell_text(cell: Any, written: Any, name: str) -> str:
    value, where = cell.value, f"{name}, cell {cell.coordinate}"
    if value is None:
        formula = written[cell.coordinate]
        if formula.data_type == "f":
            raise UserError(f"{where}: {formula.value} was never calculated. Open the workbook in Excel and save it.")
        return ""
    if cell.data_type == "e":
        raise UserError(f"{where}: {value} is an error of a formula.")
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float):
        return _number_text(value, str(cell.number_format), where)
    raise UserError(f"{where}: {value} is a {type(value).__name__}: Excel does not keep how it was typed. {_AS_TEXT}")


def _number_text(value: float, form: str, where: str) -> str:
    places = _PLACES.fullmatch(form)
    if places:
        decimals = len(places[2] or "")
        width = len(places[1]) + (decimals + 1 if decimals else 0) + (value < 0)
        return f"{value:0{width}.{decimals}f}"
    if form in _GENERAL:
        text = str(int(value)) if float(value).is_integer() else repr(value)
        if "e" not in text and len(text.lstrip("-0.").replace(".", "")) <= _SHOWN_DIGITS:
            return text
    raise UserError(
        f"{where}: the number {value!r} is shown with the format {form!r}: its text is not kept. {_AS_TEXT}"
    )
