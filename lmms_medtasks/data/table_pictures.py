"""The pictures of a table's rows: image columns, encoded bytes, base64, files, lists of these, other rows' pictures.

If no row has several, a table's image column is taken as it is: no bytes are copied.
"""

from __future__ import annotations

import ast
import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any

from lmms_medtasks import progress
from lmms_medtasks.data.picture_checks import as_encoded
from lmms_medtasks.data.table_cells import joined_by_python
from lmms_medtasks.errors import UserError, nearest_match
from lmms_medtasks.pictures import from_base64

if TYPE_CHECKING:
    from datasets import Dataset

REFERENCE_LENGTH = 64
"""A cell of this many characters or fewer may be another row's id, whose picture it then has (VLMEvalKit's form)."""

_BASE64_STARTS = r"data:|iVBORw0KGgo|/9j/|R0lGOD|UklGR|SUkqA|TU0AK|Qk[0-9A-Za-z]{20}"
"""How base64 of PNG, JPEG, GIF, WebP, TIFF and BMP begins."""
_LONGEST_PATH = 1024
_DIGITS = re.compile(r"[0-9]")
_SHOWN = 5

Picture = dict[str, Any]  # ``{"bytes": ..., "path": ...}``: one of the two is None.


class TablePictures:
    """The pictures in the columns ``names``. ``folder``: where relative paths start. ``ids``: the rows', or empty."""

    def __init__(
        self,
        dataset: Dataset,
        names: Sequence[str],
        folder: str,
        ids: Sequence[str],
        locate: Callable[[str, int], str],
    ) -> None:
        self._names, self._place = tuple(names), locate
        self._folder = Path(folder)
        self._row_of = {name: row for row, name in reversed(list(enumerate(ids)))}
        columns = {name: dataset.select_columns([name]) for name in self._names}
        self._cells = [as_encoded(column, name) or column for name, column in columns.items()]
        self._count = len(dataset)

    def columns(self) -> Dataset:
        """The column ``image``; if a row has several, also ``images``, with ``image`` null in such a row."""
        import datasets

        stored = datasets.Image(decode=False)
        if len(self._names) == 1 and self._cells[0].features[self._names[0]] == stored:
            return self._cells[0].rename_columns({self._names[0]: "image"} if self._names[0] != "image" else {})
        rows = self.rows()
        if all(len(row) <= 1 for row in rows):
            one = {"image": [row[0] if row else None for row in rows]}
            return datasets.Dataset.from_dict(one, features=datasets.Features({"image": stored}))
        both = {
            "image": [row[0] if len(row) == 1 else None for row in rows],
            "images": [row if len(row) > 1 else [] for row in rows],
        }
        features = datasets.Features({"image": stored, "images": datasets.Sequence(stored)})
        return datasets.Dataset.from_dict(both, features=features)

    def rows(self) -> list[list[Picture]]:
        """Each row's pictures, in the order of columns and lists. UserError: the first unusable ones, and a count."""
        pictures_by_row: list[list[Picture]] = []
        wrong: list[str] = []
        columns = zip(self._names, self._cells, strict=True)
        values = {name: column[name][:] for name, column in columns}
        with progress.progress_bar(self._count, "finding images", "rows") as step:
            for row in range(self._count):
                made: list[Picture] = []
                for name in self._names:
                    try:
                        made += [
                            self._make_picture(cell_picture, name, row, values)
                            for cell_picture in _cell_pictures(values[name][row])
                        ]
                    except UserError as error:
                        wrong.append(f"{self._place(name, row)}: {error}")
                pictures_by_row.append(made)
                step(1)
        if wrong:
            more = f" And {len(wrong) - _SHOWN} more." if len(wrong) > _SHOWN else ""
            raise UserError(" ".join(wrong[:_SHOWN]) + more)
        return pictures_by_row

    def _make_picture(self, value: Any, name: str, row: int, values: Mapping[str, list[Any]], seen: int = 0) -> Picture:
        if isinstance(value, Mapping):
            if isinstance(value.get("bytes"), bytes) and value["bytes"]:
                value = value["bytes"]
            else:
                value = value.get("path")
        if isinstance(value, bytes):
            return {"bytes": value, "path": None}
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str):
            raise UserError(f"an image can't be made of a {type(value).__name__}.")
        text = value.strip()
        path = self._find_file(text) if len(text) < _LONGEST_PATH else None
        if path is not None:
            return {"bytes": None, "path": str(path)}
        decoded = _decode_base64(text)
        if decoded is not None:
            return {"bytes": decoded, "path": None}
        other = self._row_of.get(text) if len(text) <= REFERENCE_LENGTH else None
        if other is None:
            raise UserError(self._not_there(text))
        pictures = _cell_pictures(values[name][other])
        if seen:
            raise UserError(
                f"it refers to row {row + 1}, which has no image but refers to row {other + 1}. Refer to the row "
                "that has the image."
            )
        if other == row or len(pictures) != 1:
            raise UserError(f"{text!r} is the id of row {other + 1}, which has not one image of its own.")
        return self._make_picture(pictures[0], name, other, values, seen + 1)

    def _find_file(self, text: str) -> Path | None:
        plain = text.replace("\\", "/")
        inside = ".." not in PurePosixPath(plain).parts and not PurePosixPath(plain).is_absolute()
        inside = inside and not PureWindowsPath(text).drive
        try:
            path = next((each for each in (self._folder / text, self._folder / plain) if each.is_file()), None)
        except (OSError, ValueError):  # a text that no path can be
            return None
        if not inside and (path is not None or PurePosixPath(plain).suffix):
            raise UserError(
                f"{text!r} leads out of the task's folder, and to nothing on other machines. Put the images into "
                f"{self._folder} and name them from there."
            )
        return path

    def _not_there(self, text: str) -> str:
        if re.match(r"https?://", text):
            return f"{text[:200]!r} is an address on the web. Download the images, and name their files."
        folder = self._folder if str(self._folder) != "." else Path.cwd()
        if re.match(_BASE64_STARTS, text):
            return (
                f"{text[:20]!r} ... ({len(text)} characters) is base64 of an image that is cut short or damaged. "
                "Fetch the table again; Excel cuts cells at 32,767 characters."
            )
        if re.match(r"b['\"]", text):
            return "bytes as Python prints them. Write base64, or the names of files."
        if len(text) < _LONGEST_PATH and (folder / text).is_dir():
            return f"{text!r} is a folder. Name one file, or several in a list."
        there: list[str] = []
        if len(text) < 200:
            listed = (each for each in folder.rglob("*") if each.is_file() and each.suffix not in (".py", ".yaml"))
            there = [each.relative_to(folder).as_posix() for each, _ in zip(listed, range(5000), strict=False)]
        same = [each for each in there if _fold_name(each) == _fold_name(text)]
        # Images are numbered: a name that differs in its number only is another image.
        others = [each for each in there if _DIGITS.sub("", each) != _DIGITS.sub("", text)]
        near = nearest_match(text, same or others) or (f" Did you mean {same[0]!r}?" if same else "")
        if same and same[0] != text and unicodedata.normalize("NFC", same[0]) == unicodedata.normalize("NFC", text):
            near = (
                f" There is {same[0]!r}, which looks the same and is written with other characters (Unicode NFC and "
                "NFD): rename the file."
            )
        if self._row_of and re.fullmatch(r"[0-9]+", text):
            near = f" No row has the id {text!r}."
        base64_hint = "" if re.search(r"\.[A-Za-z0-9]{2,5}$", text) else ", and no base64 of an image either"
        return f"no file {text[:200]!r} in {folder}{base64_hint}.{near}"


def _fold_name(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _cell_pictures(value: Any) -> list[Any]:
    if value is None or (isinstance(value, str) and not value.strip()):
        return []
    if isinstance(value, list | tuple):
        return [cell_picture for item in value for cell_picture in _cell_pictures(item)]
    written = _parse_written(value.strip()) if isinstance(value, str) and value.strip()[0] in "[{" else None
    if written is not None:
        return _cell_pictures(written)
    if isinstance(value, Mapping) and not value.get("bytes") and not value.get("path"):
        return []
    return [value]


def _parse_written(text: str) -> Any:
    """A list or mapping written as text, as JSON or as Python writes it; None where it is neither."""
    for read in (json.loads, ast.literal_eval):
        try:
            written = read(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        # Texts side by side, as NumPy prints arrays, would have been joined into one.
        if isinstance(written, list | dict) and not (read is ast.literal_eval and joined_by_python(text)):
            return written
    return None


def _decode_base64(text: str) -> bytes | None:
    try:
        decoded = from_base64(text)
    except ValueError:
        return None
    return decoded if len(decoded) > 16 else None
