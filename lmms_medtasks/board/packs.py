"""Packs read again: every checksum and every number is computed anew, and what does not hold is refused."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lmms_medtasks.board import recount
from lmms_medtasks.board.entries import Entry, Questions
from lmms_medtasks.board.pack_form import FORMAT, VERSION, checksum, entry_from_json, questions_from_json
from lmms_medtasks.board.trust import bounded_json, limits, safe_files
from lmms_medtasks.errors import UserError

ENDINGS = (".json", ".json.gz")
UNCOMPUTABLE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError, MemoryError)
"""What computing raises on numbers beyond all bounds, NaN, half of a surrogate pair, or tags that a benchmark's
functions have never written."""


def is_pack(path: Path) -> bool:
    """Whether a file begins as a pack does, whole or not."""
    try:
        with gzip.open(path) if path.name.endswith(".gz") else path.open("rb") as file:
            return FORMAT.encode() in file.read(200)
    except (OSError, EOFError, zlib.error):
        return False


def read(path: Path) -> list[Entry]:
    """The entries of a pack.

    Raises UserError, saying what differs, when the file is cut off, is of another version, nobody signed it, a mean or
    a count is not what its scores give, a score is outside its scale or not what its trials give, a checksum fails, or
    it holds more than the limits allow (:mod:`lmms_medtasks.board.trust.limits`).
    """
    try:
        safe_files.check(path)
        return _read(path)
    except UserError:
        raise
    except UNCOMPUTABLE as error:
        raise UserError(f"{path}: what it holds can't be computed with ({error!r}).") from error


def _read(path: Path) -> list[Entry]:
    content = _loaded(path)
    if content.get("format") != FORMAT or content.get("version") != VERSION:
        said = f"format {content.get('format')!r}, version {content.get('version')!r}"
        raise UserError(
            f"{path}: {said}; expected {FORMAT!r}, version {VERSION}. Make it again from its run with this release of "
            "lmms-medtasks: lmms-medtasks pack RUN -o FILE --signed-off-by NAME"
        )
    signed = content.get("signed_off_by")
    if not isinstance(signed, str) or "@" not in signed:
        raise UserError(f"{path}: nobody signed it off.")
    entries, questions = content.get("entries"), content.get("questions")
    if not isinstance(entries, list) or not entries or not isinstance(questions, dict):
        raise UserError(f"{path}: it has no entries.")
    for each in (entries, questions):
        limits.check(len(each), "entries", path, "entries")
    known = {name: _questions(each, name, path) for name, each in questions.items()}
    found, replies = [], 0
    for each in entries:
        found.append(_entry(each, known, path, signed))
        replies += found[-1].counts.requests
        limits.check(replies, "replies", path, "replies in all")
    _check_sum(content, str(path))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return [replace(each, source=replace(each.source, digest=digest)) for each in found]


def _loaded(path: Path) -> dict[str, Any]:
    content = bounded_json.read(path)
    if not isinstance(content, dict):
        raise UserError(f"{path} is no pack.")
    return content


def _questions(found: Any, digest: str, path: Path) -> Questions:
    where = f"{path}, questions {digest[:12]}"
    questions = questions_from_json(found, where)
    if questions.digest != digest:
        raise UserError(f"{where}: ids, images or tags were changed (they give {questions.digest[:12]}).")
    return questions


def _entry(found: Any, known: Mapping[str, Questions], path: Path, signed: str) -> Entry:
    if not isinstance(found, dict):
        raise UserError(f"{path}: an entry is no mapping.")
    where = f"{path}, {found.get('task')!s:.60}"
    if not isinstance(found.get("questions"), str) or found["questions"] not in known:
        raise UserError(f"{where}: its questions are not in the pack.")
    entry = entry_from_json(found, known[found["questions"]], path, signed, where)
    limits.check_entry(entry, where)
    wrong = list(recount.of_submission(entry, found["metrics"]))
    if wrong:
        more = f" And {len(wrong) - 3} more." if len(wrong) > 3 else ""
        raise UserError(f"{where}: it does not add up. {' '.join(wrong[:3])}{more}")
    _check_sum(found, where)
    return entry


def _check_sum(content: Mapping[str, Any], where: str) -> None:
    rest = {name: value for name, value in content.items() if name != "sha256"}
    actual = checksum(rest)
    if content.get("sha256") != actual:
        raise UserError(
            f"{where}: its content was changed after it was packed (checksum {str(content.get('sha256'))[:12]} in it, "
            f"{actual[:12]} of it)."
        )
