"""Strict pydantic models of YAML content; mistakes have key, value, allowed values and the nearest match."""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from pydantic import BaseModel, ConfigDict, PlainValidator, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, PydanticCustomError

from lmms_medtasks.errors import nearest_name
from lmms_medtasks.task_yaml.problems import ValidationProblem

Location = tuple[str | int, ...]
"""The way to a value: keys of mappings and places in lists, ("metric_list", 0, "metric")."""

OPTIONAL: Any = None
"""The default of a key that is optional, but must not be null."""

_WANTED = {
    "string_type": "a text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "list_type": "a list",
    "dataclass_type": "!function and a dotted name",
    "dataclass_exact_type": "!function and a dotted name",
}
_TYPES: Mapping[type, str] = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a mapping",
    type(None): "nothing",
}


class KeyMistake(NamedTuple):
    """A mistake found by a validator; ``at``: location of the wrong part, relative to the checked value."""

    message: str
    at: Location = ()
    value: object = None
    allowed: tuple[str, ...] = ()
    near: str = ""


class StrictModel(BaseModel):
    """A mapping with known keys and no conversion of types: "1" is no number, true is no whole number.

    A field's ``title`` is a hint that follows the message where the key is missing or has the wrong type.
    """

    model_config = ConfigDict(extra="forbid", strict=True, arbitrary_types_allowed=True, protected_namespaces=())
    UNKNOWN_KEY: ClassVar[str] = "unknown key"

    def relations(self) -> Iterator[KeyMistake]:
        """Mistakes between keys that are each valid."""
        yield from ()

    @model_validator(mode="after")
    def _check_relations(self) -> typing.Any:
        if mistakes := list(self.relations()):
            raise validation_error(*mistakes)
        return self


@dataclass(frozen=True)
class OneOf:
    """A validator: a value, or each item of a list, is one of ``names`` (or of what the function lists).

    ``accepts``: which other values are valid.
    """

    message: str
    names: Iterable[object] | Callable[[], Iterable[object]]
    accepts: Callable[[Any], bool] = lambda value: False

    def allowed(self) -> tuple[str, ...]:
        """The allowed values as a YAML writes them."""
        return tuple(map(str, self.names() if callable(self.names) else self.names))

    def __call__(self, value: Any) -> Any:
        allowed = self.allowed()
        if value == []:
            raise validation_error(KeyMistake("an empty list", (), value, tuple(sorted(allowed))))
        for word in value if isinstance(value, list) else [value]:
            if str(word) not in allowed and not self.accepts(word):
                near = nearest_name(word, allowed)
                raise validation_error(KeyMistake(self.message, (), word, tuple(sorted(allowed)), near))
        return value


def validation_error(*mistakes: KeyMistake) -> PydanticCustomError:
    """Make the error that a validator raises for mistakes."""
    return PydanticCustomError("refused", "refused", {"mistakes": mistakes})


def wrong_type(value: object, expected: str) -> PydanticCustomError:
    """Make the error for a value of the wrong type."""
    return validation_error(KeyMistake(f"wrong type ({_type_name(value)}), expected {expected}", (), value))


def _check_texts(value: Any) -> Any:
    if isinstance(value, str) or (isinstance(value, list) and all(isinstance(item, str) for item in value)):
        return value
    raise wrong_type(value, "a text or a list of texts")


Texts = typing.Annotated[str | list[str], PlainValidator(_check_texts)]
"""A text or a list of texts."""


def model_problems(
    model: type[StrictModel], values: Mapping[Any, Any], place: Callable[[Location], tuple[Path | str, int | None]]
) -> list[ValidationProblem]:
    """All problems of ``values``. ``place``: location -> its file and line."""
    try:
        model.model_validate(values)
    except ValidationError as error:
        mistakes = [mistake for details in error.errors() for mistake in _find_mistakes(model, details)]
        # An unknown key comes before the one that is missing.
        return sorted((_to_problem(mistake, place) for mistake in mistakes), key=lambda problem: problem.line is None)
    return []


def _to_problem(mistake: KeyMistake, place: Callable[[Location], tuple[Path | str, int | None]]) -> ValidationProblem:
    file, line = place(mistake.at)
    key = ".".join(str(part) for part in mistake.at if isinstance(part, str))
    value = None if mistake.value is None else str(mistake.value)
    name = file.name if isinstance(file, Path) else file
    return ValidationProblem(name, mistake.message, line, key, value, mistake.allowed, mistake.near)


def _find_mistakes(model: type[StrictModel], error: ErrorDetails) -> Iterator[KeyMistake]:
    at, kind, value, context = error["loc"], error["type"], error["input"], error.get("ctx", {})
    if kind == "refused":
        yield from (mistake._replace(at=(*at, *mistake.at)) for mistake in context["mistakes"])
    elif kind in ("extra_forbidden", "invalid_key"):
        owner = _model_at(model, at[:-1])
        known = tuple(sorted(owner.model_fields))
        yield KeyMistake(owner.UNKNOWN_KEY, (*at[:-1], str(at[-1])), None, known, nearest_name(at[-1], known))
    elif kind == "missing":
        yield KeyMistake("is missing" + _type_hint(model, at), at)
    elif kind in _WANTED:
        message = f"wrong type ({_type_name(value)}), expected {_WANTED[kind]}" + _type_hint(model, at)
        yield KeyMistake(
            message, at, "null" if value is None else value, tuple(sorted(allowed_values(_field_at(model, at))))
        )
    elif kind == "greater_than_equal":
        yield KeyMistake(f"expected {context['ge']:g} or more", at, value)
    elif kind in ("greater_than", "finite_number"):
        yield KeyMistake("expected a finite number above 0", at, value)
    else:
        yield KeyMistake(error["msg"], at, value)


def _type_hint(model: type[StrictModel], at: Location) -> str:
    field = _field_at(model, at)
    return f": {field.title}" if field is not None and field.title else ""


def allowed_values(field: FieldInfo | None) -> tuple[str, ...]:
    """The allowed values of a key as a YAML writes them; () if they are not listed."""
    listed = (getattr(validator, "func", None) for validator in (field.metadata if field else ()))
    return next((validator.allowed() for validator in listed if isinstance(validator, OneOf)), ())


def _field_at(model: type[StrictModel], at: Location) -> FieldInfo | None:
    return _model_at(model, at[:-1]).model_fields.get(str(at[-1])) if at else None


def _model_at(model: type[StrictModel], at: Location) -> type[StrictModel]:
    for part in at:
        field = model.model_fields.get(part) if isinstance(part, str) else None
        if field is not None:
            types = (field.annotation, *typing.get_args(field.annotation))
            model = next((kind for kind in types if isinstance(kind, type) and issubclass(kind, StrictModel)), model)
    return model


def _type_name(value: object) -> str:
    return _TYPES.get(type(value), f"a {type(value).__name__.lower()}")
