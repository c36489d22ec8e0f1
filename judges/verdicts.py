"""Reading a verdict out of a judge's reply, strictly: nothing is repaired, nothing is guessed.

A verdict is the last JSON object of the reply, and only marks that end a reply may follow. Its keys are those of one
strict model a protocol (:func:`make_verdict_model`). Each value is one of the dimension's labels, as text or as an
equal number. A checklist is a list of numbers of the item's points. Anything else is missing, with a reason that begins
with one of :data:`REASONS`.
"""

from __future__ import annotations

import contextlib
import functools
import json
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, NoReturn

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    StrictStr,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    create_model,
)
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticCustomError

from lmms_medtasks.chat_replies import parse_finish_reason
from lmms_medtasks.judges import checklists
from lmms_medtasks.judges.protocol import JudgedItem, JudgeProtocol, JudgeVerdict, Mode, ScoreDimension
from lmms_medtasks.parsing import Reply

REASONS = (
    "refused", "cut off", "empty reply", "no verdict", "text after the verdict", "broken verdict", "dimension missing",
    "dimension not asked", "label not allowed", "points not there",
)  # fmt: skip
"""What can be wrong with a reply; in a verdict's reason each is followed by ": " and what was found."""

EXPLANATION = "reasons"
"""The first key of a verdict by schema: a judge that must reply in JSON alone reasons there before it scores."""

LONGEST_REPLY = 100_000  # Characters; a longer reply holds no verdict that we look for

_REFUSAL = re.compile(
    r"\s*(?:i['\u2019]?m sorry|i am sorry|sorry,|i apologi[sz]e|as an ai|(?:unfortunately, )?i "
    r"(?:cannot|can['\u2019]t|can not|am unable|am not able|won['\u2019]t|will not|must decline))",
    re.IGNORECASE,
)
# What may follow a verdict: white space, Markdown's marks, and tokens that end a turn, which some servers let through.
_CLOSING = re.compile(
    r"(?:[\s`*_~]|</s>|<\|(?:im_end|eot_id|eom_id|end|endoftext|end_of_text|return)\|>|<end_of_turn>|<eos>"
    r"|<\uff5cend\u2581of\u2581sentence\uff5c>)*\Z"
)


class _Invalid(ValueError):
    """Why a reply holds no verdict."""


def parse_verdict(
    protocol: JudgeProtocol, reply: str, *, mode: Mode | None = None, item: JudgedItem | None = None, finish: str = "",
    refusal: str = "",
) -> JudgeVerdict:  # fmt: skip
    """The verdict in ``reply``: "judged" with a label for each dimension, or "missing" with the reason.

    ``mode``: how the judge was asked (default: the protocol's). ``finish``: why the endpoint ended the reply ("stop",
    "length", "content_filter"). ``refusal``: what it gave in place of a reply. ``item``: what was judged; without it
    the numbers of a checklist are not compared with its points.
    """
    try:
        labels = _validate_labels(protocol, mode or protocol.reply, item, _last_object(reply, finish, refusal))
    except _Invalid as error:
        return JudgeVerdict("missing", reason=str(error), reply=reply or refusal)
    return JudgeVerdict("judged", labels, reply=reply)


# --- The model of a verdict -------------------------------------------------------------------------------------------


def make_verdict_model(protocol: JudgeProtocol, mode: Mode | None = None) -> type[BaseModel]:
    """The strict model of a verdict: reasons (by schema), the checklist, the dimensions, in the order of the prompt."""
    scales = tuple((dimension.name, tuple(dimension.labels)) for dimension in protocol.dimensions)
    return _build_model(
        scales, protocol.checklist.name if protocol.checklist else None, (mode or protocol.reply) == "schema"
    )


def make_verdict_schema(protocol: JudgeProtocol) -> dict[str, Any]:
    """The JSON schema of a verdict, in the model's order; labels that are numbers are asked for as numbers."""
    model_schema = make_verdict_model(protocol, "schema").model_json_schema(schema_generator=_WithoutTitles)
    return {name: model_schema[name] for name in ("type", "properties", "required", "additionalProperties")}


class _WithoutTitles(GenerateJsonSchema):
    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


@functools.cache
def _build_model(
    scales: tuple[tuple[str, tuple[str, ...]], ...], checklist: str | None, reasons: bool
) -> type[BaseModel]:
    types: list[tuple[str, Any]] = [(EXPLANATION, StrictStr)] if reasons else []
    if checklist:
        points = {"type": "array", "items": {"type": "integer"}}
        types.append((checklist, Annotated[Any, PlainValidator(_check_points), WithJsonSchema(points)]))
    for name, labels in scales:
        dimension = ScoreDimension(name, dict.fromkeys(labels, 0.0))
        types.append(
            (name, Annotated[Any, PlainValidator(_label_in(labels)), WithJsonSchema(_label_schema(dimension))])
        )
    # By alias: a dimension may have a name that no attribute of a model can have.
    fields: dict[str, Any] = {f"field_{n}": (kind, Field(alias=name)) for n, (name, kind) in enumerate(types)}
    return create_model("Verdict", __config__=ConfigDict(extra="forbid", strict=True), **fields)


def _label_schema(dimension: ScoreDimension) -> dict[str, Any]:
    if not dimension.is_numeric:
        return {"type": "string", "enum": list(dimension.labels)}
    numbers = [json.loads(label) for label in dimension.labels]
    whole = all(isinstance(number, int) for number in numbers)
    return {"type": "integer" if whole else "number", "enum": numbers}


def _label_in(labels: tuple[str, ...]) -> Callable[[Any], str]:
    def label(value: Any) -> str:
        if isinstance(value, str) and value in labels:
            return value
        if isinstance(value, int | float) and not isinstance(value, bool):
            for each in labels:
                with contextlib.suppress(ValueError):  # a label that is no number
                    if float(each) == value:
                        return each
        raise PydanticCustomError("label not allowed", "allowed: {allowed}", {"allowed": ", ".join(labels)})

    return label


def _check_points(value: Any, info: ValidationInfo) -> str:
    if reason := checklists.points_problem(value, info.context):
        raise PydanticCustomError("points not there", "{reason}", {"reason": reason})
    return checklists.join_point_numbers(value)


def _validate_labels(
    protocol: JudgeProtocol, mode: Mode, item: JudgedItem | None, content: dict[str, Any]
) -> dict[str, str]:
    checklist = protocol.checklist
    count = checklist.count(item.fields) if checklist and item else None
    try:
        validated = make_verdict_model(protocol, mode).model_validate(content, context=count)
    except ValidationError as error:
        raise _Invalid(_first_problem(error, protocol, mode)) from error
    labels = validated.model_dump(by_alias=True)
    labels.pop(EXPLANATION, None) if mode == "schema" else None
    return labels


def _first_problem(error: ValidationError, protocol: JudgeProtocol, mode: Mode) -> str:
    """The first problem: unknown keys, missing keys, values."""
    errors = {each["type"]: each for each in reversed(error.errors(include_url=False))}
    if extra := errors.get("extra_forbidden"):
        allowed = [str(field.alias) for field in make_verdict_model(protocol, mode).model_fields.values()]
        return f"dimension not asked: {_shorten(str(extra['loc'][0]))}, asked: {', '.join(allowed)}"
    if missing := errors.get("missing"):
        return f"dimension missing: {missing['loc'][0]}"
    first: Mapping[str, Any] = error.errors(include_url=False)[0]
    kind = first["type"] if first["type"] in REASONS else "label not allowed"
    return f"{kind}: {first['loc'][0]} is {_shorten(json.dumps(first['input']))}, {first['msg']}"


# --- Where it stands in a reply ---------------------------------------------------------------------------------------


def _last_object(reply: str, finish: str, refusal: str) -> dict[str, Any]:
    if refusal or parse_finish_reason(finish) == "withheld":
        raise _Invalid(f"refused: {_shorten(refusal or finish)}")
    if parse_finish_reason(finish) == "length":
        raise _Invalid(f"cut off: the reply ended at the limit of tokens, {_shorten(reply[-60:])}")
    parts = Reply.of(reply)
    if parts.outcome == "cut":
        raise _Invalid("cut off: the judge's reasoning was never closed")
    if parts.outcome == "unreadable":
        raise _Invalid(f"no verdict: nothing stands behind {_shorten(parts.unknown_mark)}, which may begin thoughts")
    # A judge may write "Question:" before its verdict: what follows the end of a turn is looked at too.
    text = parts.spoken
    if not text.strip():
        raise _Invalid("empty reply: the judge said nothing")
    if len(text) > LONGEST_REPLY:
        raise _Invalid(f"no verdict: the reply has {len(text)} characters")
    return _object_at_end(text)


def _object_at_end(text: str) -> dict[str, Any]:
    """The JSON object that ends ``text``, the outermost one; raises :class:`_Invalid`."""
    start_at, content, end = 0, None, 0
    while (start := text.find("{", start_at)) >= 0:
        try:
            content, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            if isinstance(error, _Invalid):
                raise
            # An object that was begun and is none: if it can't be left out as prose, nothing in it counts either.
            start_at = _after_prose(text, start, str(error))
            continue
        start_at = end
    if content is None:
        kind = "refused" if _REFUSAL.match(text) else "no verdict"
        raise _Invalid(f"{kind}: {_shorten(text)}")
    if not _CLOSING.match(text, end):
        raise _Invalid(f"text after the verdict: {_shorten(text[end:])}")
    return content


def _after_prose(text: str, start: int, problem: str) -> int:
    """Where to look on after a brace that begins no JSON: behind its partner; raises where that was to be JSON."""
    depth = 0
    for index in range(start, len(text)):
        depth += (text[index] == "{") - (text[index] == "}")
        if depth == 0:
            if '"' in text[start:index]:
                raise _Invalid(f"broken verdict: {problem}, in {_shorten(text[start : index + 1])}")
            return index + 1
    raise _Invalid(f"broken verdict: {problem}, in {_shorten(text[start:])}")


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise _Invalid(f"broken verdict: {_shorten(key)} is given {keys.count(key)} times")
    return dict(pairs)


def _no_constant(name: str) -> NoReturn:
    raise _Invalid(f"broken verdict: {name} is no JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_no_twins, parse_constant=_no_constant)


def _shorten(text: str) -> str:
    return repr(text if len(text) <= 120 else f"{text[:117]}...")
