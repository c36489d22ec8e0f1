"""Packs read again: every number is computed of their rows, and rows that contradict each other are refused."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

from lmms_medtasks.board import installed, pack_form, recount
from lmms_medtasks.board.entries import Entry, Questions
from lmms_medtasks.board.pack_form import FORMAT, VERSION
from lmms_medtasks.board.run_entry import counts_of, metrics_of
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

    Raises UserError, saying what differs, when the file is cut off, is of another version, nobody signed it, it has a
    key that no pack has, a score is outside its scale or not what its trials give, the checksum fails, or it holds more
    than the limits allow (:mod:`lmms_medtasks.board.trust.limits`).
    """
    try:
        safe_files.check(path)
        return _read(path)
    except UserError:
        raise
    except UNCOMPUTABLE as error:
        raise UserError(f"{path}: what it holds can't be computed with ({error!r}).") from error


def _read(path: Path) -> list[Entry]:
    content = bounded_json.read(path)
    if not isinstance(content, dict):
        raise UserError(f"{path} is no pack.")
    if content.get("format") != FORMAT or content.get("version") != VERSION:
        said = f"format {content.get('format')!r}, version {content.get('version')!r}"
        raise UserError(
            f"{path}: {said}; expected {FORMAT!r}, version {VERSION}. Make it again from its run with this release of "
            "lmms-medtasks: lmms-medtasks pack RUN -o FILE --signed-off-by 'NAME <MAIL>', or of many runs: "
            "lmms-medtasks leaderboard repack RUNS -o FOLDER --signed-off-by 'NAME <MAIL>'"
        )
    pack_form.check_keys(content, pack_form.HEAD, str(path))
    signed = content.get("signed_off_by")
    if not isinstance(signed, str) or "@" not in signed:
        raise UserError(f"{path}: nobody signed it off.")
    entries, questions = content.get("entries"), content.get("questions")
    if not isinstance(entries, list) or not entries or not isinstance(questions, dict):
        raise UserError(f"{path}: it has no entries.")
    for each in (entries, questions):
        limits.check(len(each), "entries", path, "entries")
    known = {name: _questions(each, name, path) for name, each in questions.items()}
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    found, replies = [], 0
    for each in entries:
        where = f"{path}, {each.get('task')!s:.60}" if isinstance(each, dict) else str(path)
        entry = pack_form.entry_from_json(each, known, path, signed, where)
        replies += limits.check_entry(entry, where)
        limits.check(replies, "replies", path, "replies in all")
        found.append(_counted(replace(entry, source=replace(entry.source, digest=digest)), where))
    rest = {name: value for name, value in content.items() if name != "sha256"}
    if content.get("sha256") != (actual := pack_form.checksum(rest)):
        raise UserError(
            f"{path}: its content was changed after it was packed (checksum {str(content.get('sha256'))[:12]} in it, "
            f"{actual[:12]} of it)."
        )
    return found


def _questions(found: Any, digest: str, path: Path) -> Questions:
    where = f"{path}, questions {digest[:12]}"
    questions = pack_form.questions_from_json(found, where)
    if questions.digest != digest:
        raise UserError(f"{where}: ids, images or tags were changed (they give {questions.digest[:12]}).")
    return questions


def _counted(entry: Entry, where: str) -> Entry:
    """The entry with the metrics and counts that its rows give; as it is where its task is not known here."""
    if missing := " ".join(recount.not_here(entry)):
        raise UserError(f"{where}: {missing}")
    if wrong := list(recount.of_submission(entry)):
        more = f" And {len(wrong) - 3} more." if len(wrong) > 3 else ""
        raise UserError(f"{where}: it does not add up. {' '.join(wrong[:3])}{more}")
    suite = entry.declaration
    # What somebody wrote of its suite does not count.
    entry = replace(entry, suite=installed.suite_of(entry.task, suite))
    if suite is None:
        return entry
    return replace(
        entry,
        metrics=metrics_of(suite, entry.samples, installed.printed(entry.task, entry.settings, suite)),
        counts=counts_of(suite, entry.samples, entry.counts.original, entry.counts.effective),
    )
