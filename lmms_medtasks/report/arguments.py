"""What a user writes of models: which two are a pair, and how large each is."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from lmms_medtasks.errors import UserError

_COLUMNS = ("model", "parameters")
_NUMBER = re.compile(r"([0-9.]+(?:[eE][+-]?[0-9]+)?) ?([KkMmBbTt]?)")
_FACTORS = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}


def pair(text: str) -> tuple[str, str]:
    """``BASE=TUNED`` as its two names. Raises UserError when it is not of this form."""
    base, equals, tuned = text.partition("=")
    if not (equals and base.strip() and tuned.strip()):
        raise UserError(f"--pair {text!r}: expected BASE=TUNED, the names of two models as the report shows them.")
    return base.strip(), tuned.strip()


def parameters(texts: Sequence[str]) -> dict[str, float]:
    """Model to number of parameters, from ``NAME=NUMBER`` and CSV files with columns ``model`` and ``parameters``.

    A number may end with K, M, B or T. Raises UserError when one can't be read or a model is there with two numbers.
    """
    found: dict[str, float] = {}
    for name, number, where in (each for text in texts for each in _given(text)):
        size = _number(number, where)
        if found.setdefault(name, size) != size:
            raise UserError(f"{where}: {name!r} has {size:g} parameters here and {found[name]:g} before.")
    return found


def _given(text: str) -> Iterator[tuple[str, str, str]]:
    name, equals, number = text.rpartition("=")
    if equals:
        if not name.strip():
            raise UserError(f"--parameters {text!r}: expected NAME=NUMBER, or a CSV file.")
        yield name.strip(), number.strip(), f"--parameters {text}"
        return
    path = Path(text)
    if not path.is_file():
        raise UserError(f"--parameters {text!r}: expected NAME=NUMBER, or a CSV file; there is no file of this name.")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            if not set(_COLUMNS) <= set(reader.fieldnames or ()):
                wanted, got = " and ".join(_COLUMNS), ", ".join(reader.fieldnames or ()) or "none"
                raise UserError(f"{path}: expected the columns {wanted}, it has {got}.")
            for row in reader:
                yield (row["model"] or "").strip(), (row["parameters"] or "").strip(), f"{path}, line {reader.line_num}"
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path} can't be read as CSV: {error}") from error


def _number(text: str, where: str) -> float:
    match = _NUMBER.fullmatch(text.strip())
    try:
        size = float(match[1]) * _FACTORS[match[2].lower()] if match else math.nan
    except ValueError:
        size = math.nan
    if not (math.isfinite(size) and size > 0):
        raise UserError(f"{where}: {text!r} is no number of parameters. Expected a number above 0, as 7e9 or 7B.")
    return size
