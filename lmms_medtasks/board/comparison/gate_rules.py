"""The rules of a gate; ``gate_rules.yml`` documents them and has the defaults."""

from __future__ import annotations

import fnmatch
import importlib.resources
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

import yaml

from lmms_medtasks import folders
from lmms_medtasks.board import rules as board_rules
from lmms_medtasks.errors import UserError, unknown
from lmms_medtasks.statistics import confidence
from lmms_medtasks.statistics.non_inferiority import check_margin
from lmms_medtasks.statistics.significance import Correction

Action = Literal["fail", "warn", "ignore"]
CannotTell = Literal["fail", "warn", "pass"]
"""What a measure of which it can't be told does: the gate ends undecided, or passes with a warning, or passes."""
_ACTIONS = ("fail", "warn", "ignore")
_CANNOT_TELL = ("fail", "warn", "pass")
_SECTIONS = ("correction", "rules", "old_problems", "problems", "thresholds")


@dataclass(frozen=True)
class Rule:
    """When a measure of a task fails; ``margin`` is a share of the measure's range."""

    margin: float
    alpha: float
    min_images: int
    on_cannot_tell: CannotTell
    on_missing: Action
    on_unasked: Action
    on_incomparable: Action


@dataclass(frozen=True)
class GateRules:
    """All rules. ``rules``: (task pattern, measure pattern, settings), the first that fits counts for each setting."""

    correction: Correction
    rules: tuple[tuple[str, str, Mapping[str, Any]], ...]
    problems: Mapping[str, Action]
    old_problems: Action
    board: board_rules.Rules

    def of(self, task: str, measure: str) -> Rule:
        """The rule of a measure: each setting from the first rule that fits and has it."""
        found: dict[str, Any] = {}
        for tasks, measures, settings in self.rules:
            if fnmatch.fnmatchcase(task, tasks) and fnmatch.fnmatchcase(measure, measures):
                found = {**settings, **found}
        return Rule(**found)

    def action(self, code: str, old: bool) -> Action:
        """What a problem of the candidate does; ``old``: the baseline has it as well."""
        found = self.problems.get(code, self.problems["*"])
        return self.old_problems if old and found == "fail" else found


def read(
    path: Path | None = None, *, margin: float | None = None, on_cannot_tell: CannotTell | None = None
) -> GateRules:
    """The built-in rules, those of ``path`` before them. Raises UserError for what the rules don't know.

    ``margin``, ``on_cannot_tell``: of the command line, for every measure of which ``path`` says nothing.
    """
    built_in = yaml.safe_load(importlib.resources.files(__package__).joinpath("gate_rules.yml").read_text("utf-8"))
    own = _own(path) if path else {}
    where = str(path)
    given: dict[str, Any] = {} if margin is None else {"margin": check_margin(margin, "--margin")}
    given |= {} if on_cannot_tell is None else {"on_cannot_tell": on_cannot_tell}
    least = {"alpha": confidence.alpha()}
    thresholds = {"thresholds": own.get("thresholds") or {}}
    return GateRules(
        correction=own.get("correction", built_in["correction"]),
        rules=tuple(_rule(each, where) for each in [*(own.get("rules") or []), given, *built_in["rules"], least]),
        problems={**built_in["problems"], **_problems(own.get("problems") or {}, where)},
        old_problems=own.get("old_problems", built_in["old_problems"]),
        board=board_rules.with_own(thresholds, where),
    )


def _own(path: Path) -> dict[str, Any]:
    found = folders.load_yaml(path) or {}
    if not isinstance(found, dict):
        raise UserError(f"{path}: expected a mapping with {', '.join(_SECTIONS)}.")
    for name in found:
        _check("section", name, _SECTIONS, str(path))
    _check("correction", found.get("correction", "holm"), ("holm", "none"), str(path))
    _check("action", found.get("old_problems", "warn"), _ACTIONS, f"old_problems in {path}")
    if not isinstance(found.get("rules") or [], list):
        raise UserError(f"{path}: rules is {found['rules']!r}, expected a list.")
    return found


def _rule(each: Any, where: str) -> tuple[str, str, dict[str, Any]]:
    if not isinstance(each, dict):
        raise UserError(f"{where}: a rule is {each!r}, expected a mapping such as {{tasks: 'my_task*', margin: 0.02}}.")
    settings = {name: value for name, value in each.items() if name not in ("tasks", "measures")}
    for name, value in settings.items():
        _check("setting", name, [*(field.name for field in fields(Rule)), "tasks", "measures"], f"a rule in {where}")
        if name == "margin":
            check_margin(value, where)
        elif name.startswith("on_"):
            _check("action", value, _CANNOT_TELL if name == "on_cannot_tell" else _ACTIONS, f"{name} in {where}")
        elif not _is_number(name, value):
            raise UserError(f"{where}: {name} is {value!r}; expected 0 < alpha < 1, a whole number min_images >= 1.")
    return str(each.get("tasks", "*")), str(each.get("measures", "*")), settings


def _is_number(name: str, value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 < value < 1 if name == "alpha" else isinstance(value, int) and value >= 1


def _problems(own: Mapping[str, Any], where: str) -> dict[str, Action]:
    known = ("*", *board_rules.read().levels)
    for code, action in own.items():
        _check("problem", code, known, where)
        _check("action", action, _ACTIONS, f"{code} in {where}")
    return dict(own)


def _check(kind: str, value: Any, allowed: Sequence[str], where: str) -> None:
    if value not in allowed:
        raise unknown(kind, value, allowed, where)
