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
    return with_own(_read_own_rules(path) if path else {}, str(path))


def with_own(own: Mapping[str, Any], where: str) -> BoardRules:
    """The built-in rules, overridden by ``own``. ``where``: its file, for messages."""
    rules = _merge_rules(folders.read_yaml(Path(__file__).with_name("thresholds.yml")), own, where)
    return BoardRules(rules["thresholds"], rules["levels"], frozenset(rules["exit_status"]), rules["board"])


def _read_own_rules(path: Path) -> dict[str, Any]:
    found = folders.load_yaml(path) or {}
    kinds = {name: list if name == "exit_status" else dict for name in found} if isinstance(found, dict) else None
    if kinds is None or not all(isinstance(found[name], kind) for name, kind in kinds.items()):
        raise UserError(
            f"{path}: expected mappings thresholds, levels, board, and a list exit_status; see "
            "lmms_medtasks/board/thresholds.yml."
        )
    return found


def _merge_rules(rules: dict[str, Any], own: Mapping[str, Any], where: str) -> dict[str, Any]:
    def check(kind: str, names: Iterable[str], known: Collection[str], place: str = where) -> None:
        for name in names:
            if name not in known:
                raise unknown_name_error(kind, name, known, place)

    check("section", own, rules)
    check("threshold", own.get("thresholds", {}), rules["thresholds"])
    for name, value in own.get("thresholds", {}).items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise UserError(f"{where}: threshold {name} is {value!r}, expected a number from 0 to 1.")
    check("problem", own.get("levels", {}), rules["levels"])
    check("level", own.get("levels", {}).values(), _LEVELS)
    for name, level in own.get("levels", {}).items():
        if name in _ALWAYS_REFUSED and level != "refused":
            raise UserError(f"{where}: {name} can't be {level!r}: there is nothing that an entry could be made of.")
    check("problem", own.get("exit_status", []), rules["levels"], f"{where}, exit_status")
    for pattern, demands in own.get("board", {}).items():
        check("demand", demands, _DEMANDS, f"{where}, board, {pattern}")
    joined = {name: {**rules[name], **own.get(name, {})} for name in rules if name != "exit_status"}
    return {**joined, "exit_status": own.get("exit_status", rules["exit_status"])}
