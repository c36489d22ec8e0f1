"""A custom judge protocol as a YAML file: named scores, what their labels mean, and a prompt file.

::

    name: finding_quality
    version: 1
    prompt: finding_prompt.txt
    scores:
      finding: {0: another finding or none, 1: the right finding}
      wording:
        poor: {is: 0, means: no radiologist would say it so}
        good: {is: 1, means: as a report would say it}
    score: {finding: 3, wording: 1}

The prompt's places are the fields, and ``{{scale}}`` for the labels with their meanings. The default prompt is
``rubric.txt``.
"""

from __future__ import annotations

import contextlib
import functools
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lmms_medtasks import folders
from lmms_medtasks.errors import UserError, nearest_match, unknown_name_error
from lmms_medtasks.judges.open_answer import fold_answer
from lmms_medtasks.judges.own_scales import PAPER_JUDGE, WeightedTotal
from lmms_medtasks.judges.protocol import JudgedItem, JudgeProtocol, ScoreDimension

PROMPT = "rubric.txt"
FIELDS = ("question", "reference", "answer")
"""The fields of every rubric; further ones are columns of the questions."""
KEYS = ("name", "version", "prompt", "scores", "score", "fields", "reply", "trials", "exact_match", "check", "terms",
        "source")  # fmt: skip
SCALE = "scale"  # The prompt's place for labels and their meanings
NAME = re.compile(r"[a-z][a-z0-9_]{1,59}")


def read(path: Path) -> JudgeProtocol:
    """Read a rubric. UserError, with file and key: one that is missing, unknown, twice, or of another form."""
    path = path.resolve()
    if not path.is_file():
        raise UserError(f"There is no rubric {path.name} in {path.parent}.")
    content = folders.load_yaml(path)
    where = path.name
    if not isinstance(content, Mapping):
        raise UserError(f"{where}: expected a mapping with {', '.join(KEYS[:4])}, got a {type(content).__name__}.")
    for key in content:
        if key not in KEYS:
            raise UserError(f"{where}: unknown key {key!r}.{nearest_match(key, KEYS)} Allowed: {', '.join(KEYS)}.")
    name = _read_text(content, "name", where)
    if not NAME.fullmatch(name):
        raise UserError(f"{where}: name is {name!r}, expected small letters, digits and underscores, a letter first.")
    dimensions, meanings = _read_dimensions(content.get("scores"), where)
    fields = _read_fields(content.get("fields"), where)
    prompt, scale = _read_prompt(content, path, meanings)
    check = content.get("check") or ""
    exact_match = content.get("exact_match", False)
    if not isinstance(exact_match, bool):
        raise UserError(f"{where}: exact_match is {exact_match!r:.40}, expected true or false.")
    return JudgeProtocol(
        name=name,
        prompt=prompt,
        version=_read_count(content, "version", where),
        dimensions=dimensions,
        fields=fields,
        paper_judge=PAPER_JUDGE,
        item=functools.partial(make_rubric_item, fields, where),
        settle=functools.partial(settle_rubric_item, dimensions, exact_match),
        reply=content.get("reply", "schema"),
        trials=_read_count(content, "trials", where),
        total=_read_total(content.get("score"), dimensions, where),
        terms=str(content.get("terms") or ""),
        check=str(_find_beside(path, "check", str(check))) if check else "",
        source=str(content.get("source") or f"{path.name} of {path.parent.name}."),
        scale=scale,
    )


def make_rubric_item(fields: Sequence[str], where: str, doc: Mapping[str, Any], reply: str) -> JudgedItem:
    known = {
        "question": doc["question"],
        "reference": str(doc["answer"]),
        "answer": reply.strip(),
    }
    shown = {}
    for name in fields:
        if name not in known and doc.get(name) is None:
            raise UserError(
                f"{where}: the field {name!r}: question {doc.get('id')!r} has no such column. Its columns: "
                f"{', '.join(map(str, doc))}. Columns are kept by `tags=` in the adapter."
            )
        shown[name] = str(known[name] if name in known else doc[name])
    return JudgedItem(str(doc["id"]), shown)


def settle_rubric_item(
    dimensions: Sequence[ScoreDimension], exact_match: bool, judged: JudgedItem
) -> tuple[Mapping[str, str], str] | None:
    """The verdict without a judge: worst for an empty answer, with ``exact_match`` best for the reference."""
    answer = fold_answer(judged.fields["answer"])
    if not answer:
        return {dimension.name: _find_label(dimension, dimension.worst) for dimension in dimensions}, "no answer"
    if exact_match and answer == fold_answer(judged.fields["reference"]):
        return {dimension.name: _find_label(dimension, dimension.best) for dimension in dimensions}, "exact match"
    return None


def _find_label(dimension: ScoreDimension, number: float) -> str:
    return next(label for label, each in dimension.labels.items() if each == number)


# --- What the file says -----------------------------------------------------------------------------------------------


def _read_text(found: Mapping[Any, Any], key: str, where: str) -> str:
    value = found.get(key)
    if not isinstance(value, str) or not value.strip():
        raise UserError(f"{where}: {key} is {value!r:.40}, expected a text.")
    return value


def _read_count(found: Mapping[Any, Any], key: str, where: str) -> int:
    value = found.get(key, 1)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UserError(f"{where}: {key} is {value!r:.40}, expected a whole number, 1 or more.")
    return value


def _read_fields(given: Any, where: str) -> tuple[str, ...]:
    names = list(FIELDS) if given is None else given
    if not isinstance(names, list) or not all(isinstance(name, str) and name.isidentifier() for name in names):
        raise UserError(
            f"{where}: fields is {given!r:.60}, expected a list of names: {', '.join(FIELDS)}, and columns."
        )
    if len(set(names)) < len(names) or SCALE in names:
        raise UserError(f"{where}: fields is {names}: each stands once, and {SCALE!r} is the place of the labels.")
    missing = [each for each in ("answer", "reference") if each not in names]
    if missing:
        raise UserError(f"{where}: fields is {names}: {missing[0]!r} is missing.")
    return tuple(names)


def _read_dimensions(given: Any, where: str) -> tuple[tuple[ScoreDimension, ...], dict[str, dict[str, str]]]:
    if not isinstance(given, Mapping) or not given:
        raise UserError(f"{where}: scores is {given!r:.40}, expected a mapping from a score's name to its labels.")
    dimensions, meanings = [], {}
    for name, labels in given.items():
        at = f"{where}, scores, {name}"
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise UserError(f"{at}: a score's name is in small letters, digits and underscores, a letter first.")
        if isinstance(labels, list):
            if len(set(map(str, labels))) < len(labels):
                raise UserError(f"{at}: a label stands twice in {labels}.")
            labels = dict.fromkeys(labels)
        if not isinstance(labels, Mapping) or len(labels) < 2:
            raise UserError(f"{at}: got {labels!r:.60}, expected two or more labels, each with its meaning.")
        pairs = [_read_label(label, value, at) for label, value in labels.items()]
        numbers = {label: number for label, number, _ in pairs}
        if len(numbers) < len(pairs):
            raise UserError(f"{at}: a label stands twice in {[label for label, _, _ in pairs]}.")
        if len(set(numbers.values())) < 2:
            raise UserError(f"{at}: all labels stand for {next(iter(numbers.values())):g}: they score nothing.")
        dimensions.append(ScoreDimension(name, numbers))
        meanings[name] = {label: meaning for label, _, meaning in pairs}
    return tuple(dimensions), meanings


def _read_label(label: Any, value: Any, at: str) -> tuple[str, float, str]:
    if isinstance(label, bool) or label is None:
        raise UserError(f'{at}: the label {label!r} is no text to YAML. Put it in quotes: "yes".')
    text = str(label)
    number, meaning = label, value
    if isinstance(value, Mapping):
        if set(value) - {"is", "means"}:
            raise UserError(f"{at}, label {text!r}: got the keys {sorted(map(str, value))}, expected is and means.")
        number, meaning = value.get("is", label), value.get("means")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        number, meaning = value, None  # label: number
    if isinstance(number, str):
        with contextlib.suppress(ValueError):  # a text that is no number is refused below
            number = float(number)
    if number is None or isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
        raise UserError(f"{at}, label {text!r}: which number is it? Expected {text}: {{is: 1, means: ...}}.")
    if meaning is not None and not isinstance(meaning, str):
        raise UserError(f"{at}, label {text!r}: its meaning is {meaning!r:.40}, expected a text.")
    meaning = (meaning or "").strip()
    if "{{" in meaning or "\n" in meaning:
        raise UserError(f"{at}, label {text!r}: its meaning is one line without {{{{places}}}}.")
    return text, float(number), meaning


def _read_total(given: Any, dimensions: Sequence[ScoreDimension], where: str) -> WeightedTotal | None:
    names = [dimension.name for dimension in dimensions]
    if given is None or (len(names) == 1 and given == names[0]):
        if len(names) > 1:
            raise UserError(
                f"{where}: score is missing: which of {', '.join(names)} is the task's score? Expected one of them, "
                "mean, sum, or a mapping to weights."
            )
        return None
    if given in ("mean", "sum"):
        return WeightedTotal(tuple((name, 1.0) for name in names), float(len(names)) if given == "mean" else 1.0)
    if isinstance(given, str):
        if given not in names:
            raise unknown_name_error("score", given, (*names, "mean", "sum"), where)
        return WeightedTotal(((given, 1.0),))
    if not isinstance(given, Mapping) or not given:
        raise UserError(
            f"{where}: score is {given!r:.40}, expected a score's name, mean, sum, or a mapping to weights."
        )
    for name, weight in given.items():
        if name not in names:
            raise unknown_name_error("score", name, names, f"{where}, score")
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < math.inf:
            raise UserError(f"{where}, score: the weight of {name} is {weight!r:.40}, expected a number above 0.")
    return WeightedTotal(tuple((name, float(weight)) for name, weight in given.items()), math.fsum(given.values()))


def _read_prompt(found: Mapping[Any, Any], path: Path, meanings: Mapping[str, Mapping[str, str]]) -> tuple[str, str]:
    has_meanings = any(meaning for labels in meanings.values() for meaning in labels.values())
    file = _read_text(found, "prompt", path.name) if "prompt" in found else ""
    prompt = str(_find_beside(path, "prompt", file)) if file else PROMPT
    has_place = not file or f"{{{{{SCALE}}}}}" in Path(prompt).read_text("utf-8")
    if has_meanings and not has_place:
        raise UserError(
            f"{path.name}: the labels' meanings would reach no judge: the prompt {file} has no place {{{{{SCALE}}}}}. "
            "Put it where they should stand, or leave the meanings out of the rubric."
        )
    if has_place and not has_meanings:
        raise UserError(f"{path.name}: the prompt has the place {{{{{SCALE}}}}}, and no label has a meaning.")
    return prompt, _scale_text(meanings) if has_place else ""


def _scale_text(meanings: Mapping[str, Mapping[str, str]]) -> str:
    several = len(meanings) > 1
    lines = []
    for name, labels in meanings.items():
        lines += [f"{name}:"] if several else []
        lines += [f"{label} - {meaning}" if meaning else label for label, meaning in labels.items()]
    return "\n".join(lines)


def _find_beside(path: Path, key: str, name: str) -> Path:
    neighbour = path.parent / name
    if not neighbour.is_file():
        raise UserError(f"{path.name}: {key}: there is no file {name} beside it.")
    return neighbour.resolve()
