"""The largest submission that is read (``limits.yml``)."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from lmms_medtasks import folders
from lmms_medtasks.errors import UserError

if TYPE_CHECKING:
    from lmms_medtasks.board.entries import LeaderboardEntry


@functools.cache
def load_limits() -> Mapping[str, int]:
    """The limits of this release."""
    limits: Mapping[str, int] = folders.load_yaml(Path(__file__).with_suffix(".yml"))
    return limits


def check_limit(value: int, name: str, where: object, what: str) -> None:
    """Raise UserError if ``value`` exceeds the limit ``name``; ``what``: "bytes", "questions"."""
    most = load_limits()[name]
    if value > most:
        raise UserError(f"{where}: {value:,} {what}; at most {most:,} are read.")


def check_entry(entry: LeaderboardEntry, where: object) -> int:
    """Raise UserError for empty or long names and texts, and for too many questions, trials or columns.

    Returns the number of replies.
    """
    names = {
        "the model's name": entry.model.name,
        "the task's name": entry.task,
        "the suite's name": entry.suite,
        "the version": entry.version,
        "the package's version": entry.package_version,
        "the runner's name": entry.model.harness_model,
    }
    for what, name in names.items():
        if not name.strip():
            raise UserError(f"{where}: {what} is empty.")
        check_limit(len(name), "name", where, f"characters in {what} ({name[:40]!r}…)")
    for what in ("settings", "digests", "reported"):
        check_limit(len(getattr(entry, what)), "texts", where, f"values in {what}")
    texts = [entry.data, entry.data_digest, entry.harness, entry.source.date, entry.source.signed_off_by]
    texts += [*entry.settings, *entry.settings.values(), *entry.digests, *entry.digests.values()]
    texts += [*entry.source.sha256, *entry.source.sha256.values(), *entry.reported]
    if entry.judge:
        texts += [entry.judge.name, entry.judge.settings, *entry.judge.prompts, *entry.judge.prompts.values()]
    for text in texts:
        check_limit(len(text), "text", where, f"characters in one text ({text[:40]!r}…)")
    asked = (entry.counts.original, entry.counts.effective)
    if asked.count(None) == 1:
        raise UserError(f"{where}: {asked[0]} questions, of which {asked[1]} were asked; expected two counts.")
    for count in (len(entry.questions), *asked):
        check_limit(count or 0, "questions", where, "questions")
    for table in (entry.questions.table, entry.answers):
        check_limit(table.num_columns, "columns", where, "columns")
        for name in table.column_names:
            check_limit(len(name), "name", where, "characters in a column's name")
            _check_values(table.column(name).combine_chunks(), f"{where}, {name}")
    ids = pc.utf8_length(entry.questions.table.column("id").combine_chunks().dictionary)
    said = "characters in its ids, if all were as long as the longest"
    check_limit(len(entry.questions) * (pc.max(ids).as_py() or 0), "id_characters", where, said)
    trials = entry.answers.column("trials").combine_chunks()
    lengths = pc.list_value_length(trials.dictionary).take(trials.indices)
    replies: int = pc.sum(lengths).as_py() or 0
    check_limit(replies, "replies", where, "replies")
    return replies


def _check_values(column: pa.Array, where: str) -> None:
    """Raise UserError for a text or a list that is too long, among the distinct values of a column."""
    values = column.dictionary if pa.types.is_dictionary(column.type) else column
    if pa.types.is_list(values.type):
        check_limit(pc.max(pc.list_value_length(values)).as_py() or 0, "trials", where, "replies to a question")
        values = values.flatten()
    if pa.types.is_string(values.type):
        check_limit(pc.max(pc.utf8_length(values)).as_py() or 0, "text", where, "characters in one text")
