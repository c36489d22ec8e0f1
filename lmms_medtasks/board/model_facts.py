"""Facts of models beside their scores: family, size, licence, open weights, release, link.

The board's facts are in ``models.yml`` of its repository. For other models those of our baselines
(``baselines/models.yml``) and of published models (``reference/models.yml`` of a benchmark's folder) count. Unknown
facts are shown as unknown, and pass no filter.
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
import re
import reprlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lmms_medtasks import baselines, folders
from lmms_medtasks.board.model_names import confusable_form
from lmms_medtasks.errors import UserError, unknown_name_error
from lmms_medtasks.visible_text import replace_invisible

FILE = "models.yml"
MOST_PARAMETERS = 100_000.0
"""Billions of parameters that a model may have."""
_MOST_LETTERS = 200
_DATE = re.compile(r"[12]\d{3}(-\d\d){0,2}")


@dataclass(frozen=True)
class ModelFacts:
    """Facts of a model; None for unknown ones.

    Attributes:
        name: its name in tables, if rows have another one ("Qwen2.5-VL 72B"). about: a description in a few words.
        family: such as "Qwen2.5-VL". parameters_b: billions of parameters, all of a mixture of experts. licence: of the
            weights. open_weights: whether anybody can download them.
        released: "2025", "2025-02" or "2025-02-19". link: a web address.
    """

    name: str | None = None
    about: str | None = None
    family: str | None = None
    parameters_b: float | None = None
    licence: str | None = None
    open_weights: bool | None = None
    released: str | None = None
    link: str | None = None


UNKNOWN = ModelFacts()
_KEYS = tuple(each.name for each in dataclasses.fields(ModelFacts))


@dataclass(frozen=True)
class KnownModels:
    """Facts of models, by :func:`lmms_medtasks.board.model_names.confusable_form` of their names."""

    own: Mapping[str, ModelFacts] = field(default_factory=dict)

    def facts_of(self, name: str) -> ModelFacts:
        """The facts of this model: the board's, else the package's, else unknown ones."""
        seen = confusable_form(name)
        return self.own.get(seen) or _default_model_facts().get(seen) or UNKNOWN


def read_model_facts(path: Path | None = None) -> KnownModels:
    """The facts of a board's ``models.yml``; without a file those of the package.

    Raises UserError for another form, an unknown key, an invalid value, and two names that can be confused.
    """
    return KnownModels(_read_facts_file(path) if path else {})


@functools.cache
def _default_model_facts() -> Mapping[str, ModelFacts]:
    return {form: facts for path in _default_files() for form, facts in _read_facts_file(path).items()}


def _default_files() -> list[Path]:
    return [Path(baselines.__file__).with_name(FILE), *sorted(folders.suites_root().glob(f"*/reference/{FILE}"))]


def _read_facts_file(path: Path) -> dict[str, ModelFacts]:
    content = folders.load_yaml(path) or {}
    if not isinstance(content, dict):
        raise UserError(f"{path}: expected a model's name and its facts below it, such as 'parameters_b: 7'.")
    names: dict[str, str] = {}
    facts_by_form: dict[str, ModelFacts] = {}
    for name, facts in content.items():
        if not isinstance(name, str) or not confusable_form(name) or len(name) > _MOST_LETTERS:
            raise UserError(
                f"{path}: {_brief_repr(name)} is no model's name: a text of 1 to {_MOST_LETTERS} characters. A number "
                "or a word such as yes stands in quotation marks."
            )
        other = names.setdefault(confusable_form(name), name)
        if other != name:
            raise UserError(f"{path}: {name!r} and {other!r} look like one name. Keep one of them.")
        facts_by_form[confusable_form(name)] = _parse_model_facts(facts, f"{path}, {name}")
    return facts_by_form


def _brief_repr(value: Any) -> str:
    """A value for a message: two lists deep and 120 characters, because YAML aliases may be of any length."""
    brief = reprlib.Repr()
    brief.maxlevel, brief.maxstring = 2, 120
    try:
        return brief.repr(value)
    except ValueError:  # Python writes no number of more than 4,300 digits
        return "a number of very many digits"


def _parse_model_facts(content: Any, where: str) -> ModelFacts:
    if not isinstance(content, dict):
        raise UserError(
            f"{where}: {_brief_repr(content)}; expected facts, such as 'parameters_b: 7'. Known: {', '.join(_KEYS)}."
        )
    values: dict[str, Any] = {}
    for key, value in content.items():
        if key not in _KEYS:
            raise unknown_name_error("fact", key if len(str(key)) <= _MOST_LETTERS else _brief_repr(key), _KEYS, where)
        # YAML makes a date of 2025-02-19, and a number of 2025.
        is_plain = key == "released" and type(value) in (int, datetime.date)
        values[key] = str(value) if is_plain else value
        if expected := _fact_problem(key, values[key]):
            raise UserError(f"{where}, {key}: {_brief_repr(value)}; expected {expected}.")
    return ModelFacts(**values)


def _fact_problem(key: str, value: Any) -> str:
    """What was expected of a fact; "" if it is valid."""
    if key == "open_weights":
        return "" if isinstance(value, bool) else "true or false. Leave the line out where it is not known"
    if key == "parameters_b":
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        most = f"{MOST_PARAMETERS:,g}"
        return "" if is_number and 0 < value <= MOST_PARAMETERS else f"billions of parameters, from above 0 to {most}"
    is_short = isinstance(value, str) and value.strip() and len(value) <= _MOST_LETTERS
    if not is_short or replace_invisible(value) != value:
        return f"a text of 1 to {_MOST_LETTERS} characters that can be seen"
    if key == "released":
        # The first day of a month or a year that has no other.
        with suppress(ValueError):
            if _DATE.fullmatch(value) and datetime.date.fromisoformat(f"{value}-01-01"[:10]):
                return ""
        return "a date such as 2025-02-19, 2025-02 or 2025"
    is_address = key != "link" or re.fullmatch(r"https://[^\s\"'<>\\]+", value)
    return "" if is_address else "an address that starts with https://"
