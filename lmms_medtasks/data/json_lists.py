"""Reading a JSON file that is one long list, record by record: the file may be larger than memory likes."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Any

from lmms_medtasks.errors import UserError

CHUNK = 1 << 20
"""Characters read at a time."""


def records(path: PurePath, decoder: json.JSONDecoder | None = None, content: bytes | None = None) -> Iterator[Any]:
    """The items of the list in ``path``, in order, read by ``decoder`` (None: as Python has JSON).

    ``content``: what the file holds where it is none on the disk, but packed in another.

    Raises:
        UserError: the file cannot be read, is no UTF-8, no JSON, no list, or is cut short.
    """
    name = path.name if content is None else str(path)
    try:
        binary = io.BytesIO(content) if content is not None else Path(path).open("rb")  # noqa: SIM115 (closed below)
        with io.TextIOWrapper(binary, encoding="utf-8-sig") as file:
            yield from _items(_Window(file.read), name, decoder or json.JSONDecoder())
    except UnicodeDecodeError as error:
        raise UserError(f"{name} is not UTF-8 text: {error.reason}.") from error
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from error


class _Window:
    """The text that was read and not yet used."""

    def __init__(self, read: Any) -> None:
        self._read, self.text, self.at = read, "", 0

    def more(self) -> bool:
        """Read on; False at the end of the file."""
        new = self._read(CHUNK)
        self.text, self.at = self.text[self.at :] + new, 0
        return bool(new)

    def next_sign(self) -> str:
        """The next character that is no white space, not yet used; "" at the end of the file."""
        while True:
            while self.at < len(self.text) and self.text[self.at].isspace():
                self.at += 1
            if self.at < len(self.text):
                return self.text[self.at]
            if not self.more():
                return ""


def _items(window: _Window, name: str, decoder: json.JSONDecoder) -> Iterator[Any]:
    if window.next_sign() != "[":
        raise UserError(f"{name} is no JSON list of records. Is it a file of another release?")
    window.at += 1
    count = 0
    if window.next_sign() == "]":
        return
    while True:
        yield _item(window, name, count, decoder)
        count += 1
        sign = window.next_sign()
        window.at += 1
        if sign == "]":
            return
        if sign != ",":
            raise _damaged(
                name, count, f"found {sign!r}, expected a comma or the end of the list" if sign else "it ends"
            )


def _item(window: _Window, name: str, count: int, decoder: json.JSONDecoder) -> Any:
    window.next_sign()
    while True:
        try:
            value, end = decoder.raw_decode(window.text, window.at)
        except UserError as error:
            raise UserError(f"{name}, record {count + 1}: {error}") from error
        except ValueError as error:
            if not window.more():
                raise _damaged(name, count, str(error), window.text[window.at :]) from error
        except RecursionError as error:
            raise _damaged(name, count, "it is nested too deeply") from error
        else:
            window.at = end
            return value


def cure(rest: str) -> str:
    """What to do about JSON that can't be read from ``rest`` on."""
    if rest.lstrip()[:1] in ("]", "}"):
        return "JSON has no comma before a closing bracket: take it out."
    if re.match(r"\s*[\[{\s]*'", rest):
        return "Its texts are in single quotation marks, as Python prints them: write it with json.dump."
    return "It is cut short or damaged. Fetch it again."


def _damaged(name: str, count: int, why: str, rest: str = "") -> UserError:
    return UserError(f"{name} cannot be read after record {count}: {why}. {cure(rest)}")
