"""The pictures of a table's rows: image columns, encoded bytes, base64, files, lists of these, other rows' pictures.

If no row has several, a table's image column is taken as it is: no bytes are copied.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmms_medtasks import progress
from lmms_medtasks.data.picture_checks import as_encoded
from lmms_medtasks.data.picture_files import PictureFiles, describe_places
from lmms_medtasks.data.table_cells import joined_by_python
from lmms_medtasks.errors import UserError
from lmms_medtasks.pictures import from_base64

if TYPE_CHECKING:
    from datasets import Dataset

REFERENCE_LENGTH = 64
"""A cell of this many characters or fewer may be another row's id, whose picture it then has (VLMEvalKit's form)."""

_BASE64_STARTS = r"data:|iVBORw0KGgo|/9j/|R0lGOD|UklGR|SUkqA|TU0AK|Qk[0-9A-Za-z]{20}"
"""How base64 of PNG, JPEG, GIF, WebP, TIFF and BMP begins."""
_LONGEST_PATH = 1024
_SHOWN = 5
_QUOTED = re.compile(r"^(?:'[^']*'|\"[^\"]*\"|\S+)")  # What a message on a cell begins with: its text, or a file's name

Picture = dict[str, Any]  # ``{"bytes": ..., "path": ...}``: one of the two is None.


class MissingPictureError(UserError):
    """A cell names no file."""


class TablePictures:
    """The pictures in the columns ``names``. ``files``: those that cells name. ``ids``: the rows', or empty."""

    def __init__(
        self,
        dataset: Dataset,
        names: Sequence[str],
        files: PictureFiles,
        ids: Sequence[str],
        locate: Callable[[str, int], str],
    ) -> None:
        self._names, self._place = tuple(names), locate
        self._files = files
        self._row_of = {name: row for row, name in reversed(list(enumerate(ids)))}
        columns = {name: dataset.select_columns([name]) for name in self._names}
        self._cells = [as_encoded(column, name) or column for name, column in columns.items()]
        self._count = len(dataset)
        self._named: dict[str, bool] = {}  # The texts that are names of files

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
        """Each row's pictures, in the order of columns and lists.

        UserError for unusable ones: the first of each fault, with a count.
        """
        pictures_by_row: list[list[Picture]] = []
        faults: dict[str, list[str]] = {}  # what is wrong, without the cell's text -> where it is, and with the text
        missing: list[tuple[str, str]] = []
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
                    except MissingPictureError as error:
                        missing.append((self._place(name, row), str(error)))
                    except UserError as error:
                        fault = _QUOTED.sub("", str(error), count=1)
                        faults.setdefault(fault, []).append(f"{self._place(name, row)}: {error}")
                pictures_by_row.append(made)
                step(1)
        wrong = [self._missing_pictures(missing)] if missing else []
        wrong += [f"{same[0]}{f' So are {len(same) - 1} more.' if len(same) > 1 else ''}" for same in faults.values()]
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
        path = self._files.find_file(text) if len(text) < _LONGEST_PATH else None
        if path is not None:
            self._named[text] = True
            return {"bytes": None, "path": str(path)}
        decoded = _decode_base64(text)
        if decoded is not None:
            return {"bytes": decoded, "path": None}
        other = self._row_of.get(text) if len(text) <= REFERENCE_LENGTH else None
        if other is None:
            raise self._missing_error(text)
        pictures = _cell_pictures(values[name][other])
        if seen:
            raise UserError(
                f"it refers to row {row + 1}, which has no image but refers to row {other + 1}. Refer to the row "
                "that has the image."
            )
        if other == row or len(pictures) != 1:
            raise UserError(f"{text!r} is the id of row {other + 1}, which has not one image of its own.")
        return self._make_picture(pictures[0], name, other, values, seen + 1)

    def _missing_error(self, text: str) -> UserError:
        """The error of a cell that is no image: MissingPictureError unless its text tells another cause."""
        if re.match(r"https?://", text):
            return UserError(f"{text[:200]!r} is an address on the web. Download the images, and name their files.")
        if re.match(_BASE64_STARTS, text):
            return UserError(
                f"{text[:20]!r} ... ({len(text)} characters) is base64 of an image that is cut short or damaged. "
                "Fetch the table again; Excel cuts cells at 32,767 characters."
            )
        if re.match(r"b['\"]", text):
            return UserError("bytes as Python prints them. Write base64, or the names of files.")
        if len(text) < _LONGEST_PATH and (self._files.root / text).is_dir():
            return UserError(f"{text!r} is a folder. Name one file, or several in a list.")
        return MissingPictureError(text)

    def _missing_pictures(self, missing: Sequence[tuple[str, str]]) -> str:
        """One message on all cells that name no file. ``missing``: where each stands, and its text."""
        (place, text), names = missing[0], [text for _, text in missing]
        folder = self._files.root if str(self._files.root) != "." else Path.cwd()
        base64_hint = "" if re.search(r"\.[A-Za-z0-9]{2,5}$", text) else ", and no base64 of an image either"
        more = f" {len(missing) - 1} more name none, such as {names[-1][:200]!r}." if len(missing) > 1 else ""
        every = dict.fromkeys([*self._named, *names])
        places = self._files.suggest_places(list(every), least=0.5)
        if len(places) > 1 and places[0].count < len(every):
            listed = ", ".join(place.folder or "." for place in places)
            hint = f" They lie in several folders ({listed}). Put them into one, or write its folder before each name."
        elif places and places[0].count > len(self._named):
            found = "all are found" if places[0].count == len(every) else f"{places[0].count} of {len(every)} are found"
            rest = [name for name in every if not places[0].holds(name, set(self._files.names))]
            others = self._files.suggest_places(rest, least=0) if rest else []
            there = f" {others[0].count} others lie in {others[0].folder or '.'}: put all into one." if others else ""
            hint = f" {describe_places(places)}: with it {found}.{there}"
        elif self._row_of and re.fullmatch(r"[0-9]+", text):
            hint = f" No row has the id {text!r}."
        else:
            hint = self._files.nearest_name_sentence(text) if len(text) < 200 else ""
        return f"{place}: no file {text[:200]!r} in {folder}{base64_hint}.{more}{hint}"


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
