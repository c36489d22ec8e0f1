"""What a task's YAML may say under ``lmms_eval_specific_kwargs: default``: settings.yml, read and checked against."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmms_medtasks import folders
from lmms_medtasks.errors import UserError
from lmms_medtasks.suites import templates

DRAWN = "drawn"
"""The value of ``degradation`` that draws one for each question."""

_TYPES = {
    "text": "a text",
    "whole": "a whole number",
    "flag": "true or false",
    "names": "a text or a list of texts",
    "shift": "a mapping with column, iid and ood",
}


@dataclass(frozen=True)
class Problem:
    """What is wrong with a setting: ``path`` leads to it (("shift", "iid")), ``allowed`` and ``near`` may be empty."""

    path: tuple[str, ...]
    value: Any
    message: str
    allowed: tuple[str, ...] = ()
    near: str = ""


def table(folder: Path | None = None) -> dict[str, dict[str, Any]]:
    """settings.yml: name -> its row; with those that the tasks of a benchmark's ``folder`` may have besides."""
    own = folder / "settings.yml" if folder else None
    return {**templates._read("settings.yml"), **(folders.read_yaml(own) if own and own.is_file() else {})}


def allowed(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The values that a setting with this row may have, as they are written; () where any of its type will do."""
    rule = row.get("allowed")
    return _known(rule) if isinstance(rule, str) else tuple(map(str, rule or ()))


@functools.cache
def _known(rule: str) -> tuple[str, ...]:
    if rule in ("degradations", "modalities"):
        from lmms_medtasks import degradations

        return (*degradations.names(), DRAWN) if rule == "degradations" else degradations.modalities()
    if rule == "parsers":
        from lmms_medtasks.suites.templates.reading import PARSERS

        return tuple(PARSERS)
    if rule == "protocols":
        from lmms_medtasks.judges import registry

        return tuple(registry.names())
    return tuple(templates.metrics())


def problems(settings: Mapping[Any, Any], folder: Path | None = None) -> list[Problem]:
    """All that is wrong with a task's settings; ``folder``: of the benchmark whose data the task reads."""
    rows = table(folder)
    found: list[Problem] = []
    for name, value in settings.items():
        if name not in rows:
            found.append(_unknown((str(name),), name, "unknown setting", tuple(rows)))
        else:
            found += _of_value(str(name), value, rows[name])
    return found


def check(settings: Mapping[Any, Any], where: str, folder: Path | None = None) -> None:
    """Raise UserError for the first of :func:`problems`; ``where`` names the task."""
    for each in problems(settings, folder):
        near = f" Did you mean {each.near!r}?" if each.near else ""
        listed = f" Allowed: {', '.join(each.allowed)}." if each.allowed else ""
        raise UserError(f"{where}: {each.message}: {'.'.join(each.path)}: {each.value!r}.{near}{listed}")


def _of_value(name: str, value: Any, row: Mapping[str, Any]) -> list[Problem]:
    kind = row["type"]
    if not _has_type(kind, value):
        return [Problem((name,), value, f"wrong type ({_type(value)}), wanted {_TYPES[kind]}")]
    if kind == "shift":
        return _of_shift(value)
    if not row.get("allowed"):
        return []
    return [
        problem for each in (value if isinstance(value, list) else [value]) for problem in _of_word(name, each, row)
    ]


def _of_word(name: str, value: Any, row: Mapping[str, Any]) -> list[Problem]:
    known = allowed(row)
    if str(value) in known or (name == "judge" and ":" in value) or _is_alias(name, value):
        return []
    return [_unknown((name,), value, f"no such {name.removesuffix('s')}", known)]


def _is_alias(name: str, value: Any) -> bool:
    """Whether a degradation or modality is meant by another of its names."""
    if name not in ("degradation", "modality"):
        return False
    from lmms_medtasks import degradations

    try:
        (degradations.canonical_name if name == "degradation" else degradations.canonical_modality)(value)
    except UserError:
        return False
    return True


def _of_shift(value: Mapping[str, Any]) -> list[Problem]:
    wanted = ("column", "iid", "ood")
    found = [_unknown(("shift", str(key)), key, "unknown key", wanted) for key in value if key not in wanted]
    found += [Problem(("shift",), dict(value), f"{key} is missing", wanted) for key in wanted if key not in value]
    if found:
        return found
    if not isinstance(value["column"], str):
        return [Problem(("shift", "column"), value["column"], "wrong type, wanted a column's name")]
    both = set(sides(value)["iid"]) & set(sides(value)["ood"])
    return [Problem(("shift",), each, "a value can't be iid and ood") for each in sorted(both)]


def sides(shift: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The values of the column that are i.i.d. and those that are out of distribution, as texts."""
    listed = {side: shift[side] if isinstance(shift[side], list) else [shift[side]] for side in ("iid", "ood")}
    return {side: tuple(map(str, values)) for side, values in listed.items()}


def _type(value: Any) -> str:
    words = {str: "a text", bool: "true or false", int: "a whole number", float: "a number", list: "a list"}
    return {**words, dict: "a mapping", type(None): "nothing"}.get(type(value), type(value).__name__)


def _has_type(kind: str, value: Any) -> bool:
    if kind == "text":
        return isinstance(value, str)
    if kind == "whole":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "flag":
        return isinstance(value, bool)
    if kind == "names":
        return isinstance(value, str) or (
            isinstance(value, list) and bool(value) and all(isinstance(each, str) for each in value)
        )
    return isinstance(value, dict)


def _unknown(path: tuple[str, ...], value: Any, message: str, known: tuple[str, ...]) -> Problem:
    near = difflib.get_close_matches(str(value), known, n=1, cutoff=0.5)
    return Problem(path, value, message, tuple(sorted(known)), near[0] if near else "")
