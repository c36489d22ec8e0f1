"""An entry as JSON and back: what a pack holds of it, and the checksum over that."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from lmms_medtasks.board import columns
from lmms_medtasks.board.entries import Counts, Entry, Judge, Model, Questions, Source
from lmms_medtasks.board.run_entry import LINE, QUESTION, questions_of
from lmms_medtasks.errors import UserError
from lmms_medtasks.samples.table import FIELDS

FORMAT = "lmms-medtasks pack"
VERSION = 5
"""Raised when the form changes. 2: columns of questions and measures in place of those of metrics. 3: empty replies are
an outcome of their own, and counted. 4: digests of the package and its version in place of those of syntax trees. 5: no
number that the columns give."""
HEAD = ("format", "version", "signed_off_by", "made", "environment", "questions", "entries", "sha256")
"""The keys of a pack."""
_PLAIN = {
    "suite": "text",
    "task": "text",
    "version": "text",
    "data": "text",
    "data_digest": "text",
    "digests": "texts",
    "package_version": "text",
    "package_modified": "flag or null",
    "harness": "text",
    "settings": "texts",
    "credentialed": "flag",
}
_FORM: Mapping[str, Any] = {
    **_PLAIN,
    "date": "text",
    "sources": "texts",
    "model": {"name": "text", "harness_model": "text", "arguments": "text"},
    "judge": {"name": "text", "prompts": "texts", "settings": "text", "is_paper_judge": "flag"},
    "asked": {"original": "count or null", "effective": "count or null"},
    "questions": "text",
    "answers": "columns",
}
"""What kind each value of an entry is. ``judge`` may be null."""
_COUNTED = [each.name for each in dataclasses.fields(Counts) if each.name not in ("original", "effective", "rows")]
_KINDS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    # Runs are read so: no escape sequence reaches a terminal, no half of a surrogate pair a file.
    "text": ("a text that can be printed", lambda value: isinstance(value, str) and value.isprintable()),
    "texts": ("a mapping of such texts", lambda value: isinstance(value, Mapping) and _are_texts(value)),
    "columns": ("a mapping of columns", lambda value: isinstance(value, Mapping)),
    "flag": ("true or false", lambda value: isinstance(value, bool)),
    "flag or null": ("true, false or null", lambda value: value is None or isinstance(value, bool)),
    "count or null": (
        "a whole number or null", lambda value: value is None or (type(value) is int and value >= 0)
    ),
}  # fmt: skip
"""What a value of each kind is called, and whether one is it."""


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
        "asked": {"original": entry.counts.original, "effective": entry.counts.effective},
        "questions": entry.questions.digest,
        "answers": {name: columns.to_json(entry.answers.column(name).combine_chunks())
                    for name in entry.answers.column_names if name != LINE},
    }  # fmt: skip


def questions_to_json(questions: Questions) -> dict[str, Any]:
    """Ids, images, right answers and tags of questions."""
    others = [name for name in questions.table.column_names if name != "id"]
    return {
        "ids": questions.ids.tolist(),
        "tags": list(questions.tags),
        "columns": {name: columns.to_json(questions.tag(name)) for name in others},
    }


def questions_from_json(found: Any, where: str) -> Questions:
    """The questions of a pack. Raises UserError when their form is not that of :func:`questions_to_json`."""
    check_keys(found, ("ids", "tags", "columns"), where)
    ids = found.get("ids")
    if not isinstance(ids, list) or not ids or not all(isinstance(each, str) and each.isprintable() for each in ids):
        raise UserError(f"{where}: expected a list of ids.")
    if any(one >= other for one, other in itertools.pairwise(ids)):
        raise UserError(f"{where}: its ids are not sorted, or one is there twice.")
    tags, others = found.get("tags"), found.get("columns")
    if not isinstance(others, Mapping) or not isinstance(tags, list) or not all(isinstance(each, str) for each in tags):
        raise UserError(f"{where}: expected a list of tags and a mapping of columns.")
    # The digest is of the columns: what else a list of tags said would be the submitter's word, and of all his board.
    if tags != sorted(set(others) - {*QUESTION}) or "cluster" not in others or "pair" not in others or "id" in others:
        said = f"there are {', '.join(others)}, and the tags {', '.join(tags)}"
        raise UserError(f"{where}: expected the columns cluster, pair, and one a tag, tags sorted; {said}.")
    if unseen := [name for name in others if not name.isprintable()]:
        raise UserError(f"{where}: the column {unseen[0]!r} has characters in its name that can't be printed.")
    read = {
        name: columns.from_json(each, len(ids), f"{where}, {name}", kind="texts" if name in QUESTION else "")
        for name, each in others.items()
    }
    return questions_of({"id": columns.compact(pa.array(ids)), **read}, tags)


def entry_from_json(found: Any, known: Mapping[str, Questions], path: Path, signed: str, where: str) -> Entry:
    """An entry of a pack of which nothing is counted; ``known``: the pack's questions, by their digest.

    Raises UserError when its form is not that of :func:`entry_to_json`.
    """
    try:
        _check_form(found, _FORM, where)
        if found["questions"] not in known:
            raise UserError(f"{where}: its questions are not in the pack.")
        questions = known[found["questions"]]
        count = len(questions)
        answers = {
            name: columns.from_json(each, count, f"{where}, {name}", kind=_kind(name))
            for name, each in found["answers"].items()
        }
        if "trials" not in answers or answers["trials"].null_count or set(answers) & {*questions.table.column_names}:
            raise UserError(f"{where}: expected what was read from each reply, and no column of the questions.")
        return Entry(
            **{name: found[name] for name in _PLAIN},
            model=Model(**found["model"]),
            judge=Judge(**found["judge"]) if found["judge"] else None,
            source=Source("pack", path, None, str(found["date"]), dict(found["sources"]), signed),
            questions=questions,
            answers=pa.table(answers),
            metrics=(),
            counts=Counts(**found["asked"], rows=count, **dict.fromkeys(_COUNTED, 0)),
            reported={},
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{where}: not in the form of a pack of version {VERSION} ({error!r}).") from error


def check_keys(found: Any, allowed: Collection[str], where: str) -> None:
    """Raises UserError where ``found`` is no mapping, or has other keys: a mean, say, that its rows may not give."""
    if not isinstance(found, Mapping):
        raise UserError(f"{where}: expected a mapping.")
    if others := sorted(set(found) - set(allowed)):
        said = ", ".join(f"{each:.60}" for each in others[:3])
        raise UserError(f"{where}: it has {said}; expected nothing but {', '.join(allowed)}.")


def _check_form(found: Mapping[str, Any], form: Mapping[str, Any], where: str) -> None:
    """Raises UserError for a value of another kind: a board of many packs must not end on one."""
    check_keys(found, form, where)
    for name, kind in form.items():
        value = found[name]
        if isinstance(kind, Mapping):
            if value is not None:
                _check_form(value, kind, f"{where}, {name}")
        elif not _KINDS[kind][1](value):
            raise UserError(f"{where}: {name} is {value!r:.60}; expected {_KINDS[kind][0]}.")


def _are_texts(values: Mapping[Any, Any]) -> bool:
    return all(isinstance(each, str) and each.isprintable() for pair in values.items() for each in pair)


def _kind(name: str) -> str:
    return "lists" if name == "trials" else "numbers" if name.rpartition(".")[2] in FIELDS else ""
