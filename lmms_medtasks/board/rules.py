"""A board's rules: thresholds, what each problem means, and what the ranking is of (``thresholds.yml``)."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmms_medtasks import folders
from lmms_medtasks.board.entries import EntryProblem, Level
from lmms_medtasks.errors import UserError, unknown_name_error
from lmms_medtasks.short_texts import shorten_text

_LEVELS = ("refused", "unranked", "flag")
# Problems that leave nothing to build an entry from.
_ALWAYS_REFUSED = (
    "unreadable", "no_samples", "broken_log", "no_result", "unknown_task", "not_adding_up", "bad_pack",
    "no_owner", "not_the_owner",
)  # fmt: skip
_LONGEST = 1_000
"""Characters of a reason at most: some hold names that strangers wrote."""
_SECTIONS = {"thresholds": dict, "levels": dict, "board": dict, "exit_status": list}
_DEMANDS = ("version", "data", "judge", "harness")


@dataclass(frozen=True)
class BoardRules:
    """See ``thresholds.yml``, which documents each value."""

    thresholds: Mapping[str, float]
    levels: Mapping[str, Level]
    exit_status: frozenset[str]
    board: Mapping[str, Mapping[str, str]]

    def problem(self, code: str, reason: str, source: object, task: str = "", model: str = "") -> EntryProblem:
        """A problem at its level in these rules."""
        return EntryProblem(
            code, self.levels[code], shorten_text(reason, _LONGEST), str(source), task[:_LONGEST], model[:_LONGEST]
        )

    def demanded(self, task: str, what: str) -> str | None:
        """The value that the board demands of a task's entries for one of :data:`_DEMANDS`; None if it demands none."""
        for pattern, demands in self.board.items():
            if fnmatch.fnmatchcase(task, pattern) and what in demands:
                return str(demands[what])
        return None


def read_board_rules(path: Path | None = None) -> BoardRules:
    """The built-in rules, overridden by those of the file ``path``. Raises UserError for unknown names."""
    return with_own(read_rules_file(path, _SECTIONS) if path else {}, str(path))


def with_own(own: Mapping[str, Any], where: str) -> BoardRules:
    """The built-in rules, overridden by ``own``. ``where``: its file, for messages."""
    rules = _merge_rules(folders.read_yaml(Path(__file__).with_name("thresholds.yml")), own, where)
    return BoardRules(rules["thresholds"], rules["levels"], frozenset(rules["exit_status"]), rules["board"])


def read_rules_file(path: Path, sections: Mapping[str, type[Any]], *, allow_empty: bool = False) -> dict[str, Any]:
    """The sections of a file of rules. Raises UserError for another type, also for an empty section unless allowed."""
    content = folders.load_yaml(path) or {}
    if not isinstance(content, dict):
        raise UserError(f"{path}: expected a mapping of sections, such as {', '.join(sections)}.")
    for name, kind in sections.items():
        if allow_empty and content.get(name, 0) is None:
            del content[name]
        if name in content and not isinstance(content[name], kind):
            expected = "list" if kind is list else "mapping"
            raise UserError(f"{path}: {name} is {content[name]!r}, expected a {expected}.")
    return content


def check_names(kind: str, names: Iterable[Any], known: Collection[Any], where: str) -> None:
    """Raise UserError for a name that is not among ``known``."""
    known = list(known)  # a dict raises TypeError for an unhashable name
    for name in names:
        if name not in known:
            raise unknown_name_error(kind, name, known, where)


def _merge_rules(rules: dict[str, Any], own: Mapping[str, Any], where: str) -> dict[str, Any]:
    check_names("section", own, rules, where)
    check_names("threshold", own.get("thresholds", {}), rules["thresholds"], where)
    for name, value in own.get("thresholds", {}).items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise UserError(f"{where}: threshold {name} is {value!r}, expected a number from 0 to 1.")
    check_names("problem", own.get("levels", {}), rules["levels"], where)
    check_names("level", own.get("levels", {}).values(), _LEVELS, where)
    for name, level in own.get("levels", {}).items():
        if name in _ALWAYS_REFUSED and level != "refused":
            raise UserError(f"{where}: {name} can't be {level!r}: there is nothing that an entry could be made of.")
    check_names("problem", own.get("exit_status", []), rules["levels"], f"{where}, exit_status")
    for pattern, demands in own.get("board", {}).items():
        if not isinstance(pattern, str) or not isinstance(demands, dict):
            expected = "a task (a pattern) and its demands, such as {data: full}"
            raise UserError(f"{where}: board has {pattern!r}: {demands!r}; expected {expected}.")
        check_names("demand", demands, _DEMANDS, f"{where}, board, {pattern}")
    joined = {name: {**rules[name], **own.get(name, {})} for name in rules if name != "exit_status"}
    return {**joined, "exit_status": own.get("exit_status", rules["exit_status"])}
