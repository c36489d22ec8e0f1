"""An entry as JSON and back: what a pack holds of it, and the checksum over that."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lmms_medtasks.board.columns import Coded, code_type
from lmms_medtasks.board.entries import Counts, Entry, Judge, Measure, Model, Questions, Source
from lmms_medtasks.errors import UserError

FORMAT = "lmms-medtasks pack"
VERSION = 1
_PLAIN = {
    "suite": "text",
    "task": "text",
    "version": "text",
    "data": "text",
    "data_digest": "text",
    "fingerprint": "texts",
    "fingerprint_recorded": "flag or null",
    "harness": "text",
    "settings": "texts",
    "credentialed": "flag",
    "reported": "numbers",
}
_FORM: Mapping[str, Any] = {
    **_PLAIN,
    "date": "text",
    "sources": "texts",
    "model": {"name": "text", "harness_model": "text", "arguments": "text"},
    "judge": {"name": "text", "prompts": "texts", "settings": "text", "is_paper_judge": "flag"},
    "counts": {each.name: "count or null" for each in dataclasses.fields(Counts)},
}
"""What kind each value of an entry is, but its columns'. ``judge`` may be null."""
_KINDS = {
    "text": "a text that can be printed",
    "texts": "a mapping of such texts",
    "numbers": "a mapping of numbers",
    "flag": "true or false",
    "flag or null": "true, false or null",
    "count or null": "a whole number or null",
}
_JUDGED = ("low", "high", "judged", "wanted")
_SCALARS = (str, int, float, bool, type(None))


def checksum(content: Any) -> str:
    """SHA-256 of a JSON value, whatever its spacing and the order of its keys."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def entry_to_json(entry: Entry) -> dict[str, Any]:
    """Everything of an entry but its problems and its questions, of which it has the digest; no path."""
    return {
        **{name: getattr(entry, name) for name in _PLAIN},
        "model": dataclasses.asdict(entry.model),
        "judge": entry.judge and dataclasses.asdict(entry.judge),
        "date": entry.source.date,
        "sources": dict(entry.source.sha256),
        "questions": entry.questions.digest,
        "counts": dataclasses.asdict(entry.counts),
        "measures": {name: _measure_to_json(each) for name, each in entry.measures.items()},
        "extra": {name: coded_to_json(each) for name, each in entry.extra.items()},
    }


def _measure_to_json(measure: Measure) -> dict[str, Any]:
    columns = {name: getattr(measure, name) for name in ("score", *_JUDGED)}
    return {
        "mean": measure.mean,
        "n": measure.n,
        **{name: coded_to_json(column) for name, column in columns.items() if column is not None},
    }


def questions_to_json(questions: Questions) -> dict[str, Any]:
    """Ids, images and tags of questions."""
    return {
        "ids": questions.ids.tolist(),
        "clusters": coded_to_json(questions.clusters),
        "tags": {name: coded_to_json(column) for name, column in questions.tags.items()},
    }


def coded_to_json(column: Coded) -> dict[str, Any]:
    """A column: its values without the first, which is null, and its codes."""
    return {"values": list(column.values[1:]), "codes": column.codes.tolist()}


def coded_from_json(found: Any, count: int, where: str, *, numbers: bool = False) -> Coded:
    """The reverse. Raises UserError when it is no column of ``count`` rows (of numbers)."""
    values, codes = (found.get(name) for name in ("values", "codes")) if isinstance(found, Mapping) else (None, None)
    if not isinstance(values, list) or not isinstance(codes, list) or not all(type(code) is int for code in codes):
        raise UserError(f"{where}: wanted values and codes of a column.")
    allowed = (int, float) if numbers else _SCALARS
    if any(
        not isinstance(value, allowed) or value is None or (numbers and isinstance(value, bool)) for value in values
    ):
        raise UserError(f"{where}: a value is {'no number' if numbers else 'no text or number'}.")
    array = np.array(codes, dtype=np.int64)
    if len(array) != count or (count and not 0 <= array.min() <= array.max() <= len(values)):
        raise UserError(f"{where}: {len(array):,} codes from 0 to {len(values)} wanted for {count:,} questions.")
    return Coded((None, *values), array.astype(code_type(len(values) + 1)))


def entry_from_json(found: Mapping[str, Any], questions: Questions, path: Path, signed: str, where: str) -> Entry:
    """An entry of a pack. Raises UserError when its form is not that of :func:`entry_to_json`."""
    count = len(questions)
    try:
        _check_form(found, _FORM, where)
        measures = {
            name: _measure_from_json(each, count, f"{where}, {name}") for name, each in found["measures"].items()
        }
        extra = {name: coded_from_json(each, count, f"{where}, {name}") for name, each in found["extra"].items()}
        return Entry(
            **{name: found[name] for name in _PLAIN},
            model=Model(**found["model"]),
            judge=Judge(**found["judge"]) if found["judge"] else None,
            source=Source("pack", path, None, str(found["date"]), dict(found["sources"]), signed),
            questions=questions,
            measures=measures,
            extra=extra,
            counts=Counts(**found["counts"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{where}: not in the form of a pack of version {VERSION} ({error!r}).") from error


def _check_form(found: Mapping[str, Any], form: Mapping[str, Any], where: str) -> None:
    """Raises UserError for a value of another kind: a board of many packs must not end on one."""
    for name, kind in form.items():
        value = found[name]
        if isinstance(kind, Mapping):
            if value is not None:
                _check_form(value, kind, f"{where}, {name}")
        elif not _is(value, kind):
            raise UserError(f"{where}: {name} is {value!r:.60}; wanted {_KINDS[kind]}.")


def _is(value: Any, kind: str) -> bool:
    if kind in ("texts", "numbers"):
        one = kind.removesuffix("s")
        return isinstance(value, Mapping) and all(_is(name, "text") and _is(each, one) for name, each in value.items())
    return {
        # Runs are read so: no escape sequence reaches a terminal, no half of a surrogate pair a file.
        "text": isinstance(value, str) and value.isprintable(),
        "number": isinstance(value, int | float) and not isinstance(value, bool),
        "flag": isinstance(value, bool),
        "flag or null": value is None or isinstance(value, bool),
        "count or null": value is None or (type(value) is int and value >= 0),
    }[kind]


def _measure_from_json(found: Mapping[str, Any], count: int, where: str) -> Measure:
    columns = {
        name: coded_from_json(found[name], count, f"{where}, {name}", numbers=True)
        for name in ("score", *_JUDGED)
        if name in found
    }
    return Measure(**columns)
