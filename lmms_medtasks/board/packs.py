"""Packs: entries as JSON and back. All numbers are computed from the rows; contradictory rows are refused."""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import itertools
import json
import zlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from lmms_medtasks.board import columns, installed, recount
from lmms_medtasks.board.entries import (
    QUESTION,
    EntryJudge,
    EntryModel,
    EntryOrigin,
    EntryQuestions,
    LeaderboardEntry,
    QuestionCounts,
)
from lmms_medtasks.board.run_entry import LINE, counts_of, questions_of, ranked_metrics
from lmms_medtasks.board.trust import limits, safe_files
from lmms_medtasks.errors import UserError
from lmms_medtasks.samples.table import FIELDS

FORMAT = "lmms-medtasks pack"
VERSION = 5
"""Raised when the form changes. 5: without the numbers that the columns give."""
HEAD = ("format", "version", "signed_off_by", "questions", "entries", "sha256")
"""The keys of a pack."""
_PLAIN = {
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
"""The kind of each value of an entry. ``judge`` may be null."""
_KINDS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    # As in runs: no escape sequence reaches a terminal, no half of a surrogate pair a file.
    "text": ("a text that can be printed", lambda value: isinstance(value, str) and value.isprintable()),
    "texts": ("a mapping of such texts", lambda value: isinstance(value, Mapping) and _are_texts(value)),
    "columns": ("a mapping of columns", lambda value: isinstance(value, Mapping)),
    "flag": ("true or false", lambda value: isinstance(value, bool)),
    "flag or null": ("true, false or null", lambda value: value is None or isinstance(value, bool)),
    "count or null": (
        "a whole number or null", lambda value: value is None or (type(value) is int and value >= 0)
    ),
}  # fmt: skip
"""The name of each kind of value, and its check."""
ENDINGS = (".json", ".json.gz")
UNCOMPUTABLE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError, MemoryError)
"""Errors of computing with numbers beyond all bounds, NaN, half a surrogate pair, or tags that no benchmark writes."""


def json_checksum(content: Any) -> str:
    """SHA-256 of a JSON value, whatever its spacing and the order of its keys."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def entry_to_json(entry: LeaderboardEntry) -> dict[str, Any]:
    """An entry without its problems and paths; its questions as their digest."""
    return {
        **{name: getattr(entry, name) for name in _PLAIN},
        "model": dataclasses.asdict(entry.model),
        "judge": entry.judge and dataclasses.asdict(entry.judge),
        "date": entry.source.date,
        "sources": dict(entry.source.sha256),
        "asked": {"original": entry.counts.original, "effective": entry.counts.effective},
        "questions": entry.questions.digest,
        "answers": {name: columns.column_to_json(entry.answers.column(name).combine_chunks())
                    for name in entry.answers.column_names if name != LINE},
    }  # fmt: skip


def questions_to_json(questions: EntryQuestions) -> dict[str, Any]:
    """Ids, images, right answers and tags of questions."""
    others = [name for name in questions.table.column_names if name != "id"]
    tags = {name: columns.column_to_json(questions.tag(name)) for name in others}
    return {"ids": questions.ids.tolist(), "columns": tags}


def questions_from_json(content: Any, where: str) -> EntryQuestions:
    """The questions of a pack. Raises UserError unless they have the form of :func:`questions_to_json`."""
    check_keys(content, ("ids", "columns"), where)
    ids = content.get("ids")
    if not isinstance(ids, list) or not ids or not all(isinstance(each, str) and each.isprintable() for each in ids):
        raise UserError(f"{where}: expected a list of ids.")
    if any(one >= other for one, other in itertools.pairwise(ids)):
        raise UserError(f"{where}: its ids are not sorted, or one is there twice.")
    others = content.get("columns")
    if not isinstance(others, Mapping) or not {"cluster", "pair"} <= set(others) or "id" in others:
        raise UserError(f"{where}: expected a mapping with the columns cluster, pair, and one a tag.")
    if unseen := [name for name in others if not name.isprintable()]:
        raise UserError(f"{where}: the column {unseen[0]!r} has characters in its name that can't be printed.")
    tags = {
        name: columns.column_from_json(each, len(ids), f"{where}, {name}", kind="texts" if name in QUESTION else "")
        for name, each in others.items()
    }
    return questions_of({"id": columns.dictionary_encode(pa.array(ids)), **tags})


def entry_from_json(
    content: Any, known: Mapping[str, EntryQuestions], pack: EntryOrigin, where: str
) -> LeaderboardEntry:
    """An entry of a pack, not yet counted; ``known``: the pack's questions, by their digest.

    Raises UserError unless it has the form of :func:`entry_to_json`.
    """
    try:
        _check_form(content, _FORM, where)
        if content["questions"] not in known:
            raise UserError(f"{where}: its questions are not in the pack.")
        questions = known[content["questions"]]
        count = len(questions)
        answers = {
            name: columns.column_from_json(each, count, f"{where}, {name}", kind=_column_kind(name))
            for name, each in content["answers"].items()
        }
        if "trials" not in answers or answers["trials"].null_count or set(answers) & {*questions.table.column_names}:
            raise UserError(f"{where}: expected what was read from each reply, and no column of the questions.")
        return LeaderboardEntry(
            **{name: content[name] for name in _PLAIN},
            suite=installed.suite_of(content["task"], installed.task_declaration(content["task"], content["settings"])),
            model=EntryModel(**content["model"]),
            judge=EntryJudge(**content["judge"]) if content["judge"] else None,
            source=replace(pack, date=content["date"], sha256=dict(content["sources"])),
            questions=questions,
            answers=pa.table(answers),
            metrics=(),
            counts=QuestionCounts(**content["asked"], rows=count),
            reported={},
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{where}: not in the form of a pack of version {VERSION} ({error!r}).") from error


def check_keys(content: Any, allowed: Collection[str], where: str) -> None:
    """Raise UserError unless ``content`` is a mapping with keys among ``allowed``; others could hold wrong numbers."""
    if not isinstance(content, Mapping):
        raise UserError(f"{where}: expected a mapping.")
    if others := sorted(set(content) - set(allowed)):
        unknown = ", ".join(f"{each:.60}" for each in others[:3])
        raise UserError(f"{where}: it has {unknown}; expected nothing but {', '.join(allowed)}.")


def _check_form(content: Mapping[str, Any], form: Mapping[str, Any], where: str) -> None:
    """Raise UserError for a value of the wrong kind, so that one pack can't stop a board of many."""
    check_keys(content, form, where)
    for name, kind in form.items():
        value = content[name]
        if isinstance(kind, Mapping):
            if value is not None:
                _check_form(value, kind, f"{where}, {name}")
        elif not _KINDS[kind][1](value):
            raise UserError(f"{where}: {name} is {value!r:.60}; expected {_KINDS[kind][0]}.")


def _are_texts(values: Mapping[Any, Any]) -> bool:
    return all(isinstance(each, str) and each.isprintable() for pair in values.items() for each in pair)


def _column_kind(name: str) -> str:
    return "lists" if name == "trials" else "numbers" if name.rpartition(".")[2] in FIELDS else ""


def is_pack(path: Path) -> bool:
    """Whether a file begins like a pack."""
    try:
        with gzip.open(path) if path.name.endswith(".gz") else path.open("rb") as file:
            return FORMAT.encode() in file.read(200)
    except (OSError, EOFError, zlib.error):
        return False


def read_submission(path: Path) -> list[LeaderboardEntry]:
    """The entries of a pack.

    Raises UserError, with the difference, if the file is cut off, of another version, unsigned or beyond the limits
    (:mod:`lmms_medtasks.board.trust.limits`), has an unknown key, a score outside its scale or contrary to its trials,
    or a wrong checksum.
    """
    try:
        safe_files.check_regular_file(path)
        return _read_entries(path)
    except UserError:
        raise
    except UNCOMPUTABLE as error:
        raise UserError(f"{path}: what it holds can't be computed with ({error!r}).") from error


def _read_entries(path: Path) -> list[LeaderboardEntry]:
    content = safe_files.read_json(path)
    if not isinstance(content, dict):
        raise UserError(f"{path} is no pack.")
    if content.get("format") != FORMAT or content.get("version") != VERSION:
        said = f"format {content.get('format')!r}, version {content.get('version')!r}"
        raise UserError(
            f"{path}: {said}; expected {FORMAT!r}, version {VERSION}. Make it again from its run with this release of "
            "lmms-medtasks: lmms-medtasks pack RUN -o FILE --signed-off-by 'NAME <MAIL>', or of many runs: "
            "lmms-medtasks leaderboard repack RUNS -o FOLDER --signed-off-by 'NAME <MAIL>'"
        )
    check_keys(content, HEAD, str(path))
    signed = content.get("signed_off_by")
    if not isinstance(signed, str) or "@" not in signed:
        raise UserError(f"{path}: nobody signed it off.")
    entries, questions = content.get("entries"), content.get("questions")
    if not isinstance(entries, list) or not entries or not isinstance(questions, dict):
        raise UserError(f"{path}: it has no entries.")
    for each in (entries, questions):
        limits.check_limit(len(each), "entries", path, "entries")
    known = {name: _read_questions(each, name, path) for name, each in questions.items()}
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    source = EntryOrigin(kind="pack", results=path, samples=None, date="", signed_off_by=signed, digest=digest)
    read_entries, replies = [], 0
    for each in entries:
        where = f"{path}, {each.get('task')!s:.60}" if isinstance(each, dict) else str(path)
        entry = entry_from_json(each, known, source, where)
        replies += limits.check_entry(entry, where)
        limits.check_limit(replies, "replies", path, "replies in all")
        read_entries.append(_with_counted_metrics(entry, where))
    rest = {name: value for name, value in content.items() if name != "sha256"}
    if content.get("sha256") != (actual := json_checksum(rest)):
        raise UserError(
            f"{path}: its content was changed after it was packed (checksum {str(content.get('sha256'))[:12]} in it, "
            f"{actual[:12]} of it)."
        )
    return read_entries


def _read_questions(content: Any, digest: str, path: Path) -> EntryQuestions:
    where = f"{path}, questions {digest[:12]}"
    questions = questions_from_json(content, where)
    if questions.digest != digest:
        raise UserError(f"{where}: ids, images or tags were changed (they give {questions.digest[:12]}).")
    return questions


def _with_counted_metrics(entry: LeaderboardEntry, where: str) -> LeaderboardEntry:
    """The entry with the metrics and counts of its rows; unchanged if its task is unknown."""
    if missing := " ".join(recount.not_here(entry)):
        raise UserError(f"{where}: {missing}")
    if wrong := list(recount.of_submission(entry)):
        more = f" And {len(wrong) - 3} more." if len(wrong) > 3 else ""
        raise UserError(f"{where}: it does not add up. {' '.join(wrong[:3])}{more}")
    suite = entry.declaration
    if suite is None:
        return entry
    return replace(
        entry,
        metrics=ranked_metrics(suite, entry.samples, installed.printed_metrics(entry.task, entry.settings, suite)),
        counts=counts_of(suite, entry.samples, entry.counts.original, entry.counts.effective),
    )
