"""SURE-VQA's shifts as ``shift_rules.yml`` has them: which questions train, which test in and out of distribution."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

import yaml

from lmms_medtasks.errors import UserError, unknown

Part = Literal["iid", "ood", ""]
"""The side of a shift that a question is on, whatever its split; "" for neither."""

Condition = Sequence[str] | Mapping[str, Any]
Rule = Mapping[str, Condition]
Row = Mapping[str, Any]

_COMPARISONS = {"not", "at_least", "below"}


@dataclass(frozen=True)
class Shift:
    """One entry of the file; its header says what the fields mean. ``iid`` None: all that is not OoD."""

    name: str
    suite: str
    ood: Rule
    iid: Rule | None = None
    unknown: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    dropped: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    join_train: bool = False

    @property
    def fields(self) -> tuple[str, ...]:
        """The tags that the shift looks at."""
        return tuple(dict.fromkeys([*self.ood, *(self.iid or {}), *self.unknown, *self.dropped]))

    def part(self, row: Row) -> Part:
        """The side that a question with these tags is on."""
        left_out = (*self.unknown.items(), *self.dropped.items())
        if any(_holds(values, row[tag]) for tag, values in left_out):
            return ""
        if _all_hold(self.ood, row):
            return "ood"
        return "iid" if self.iid is None or _all_hold(self.iid, row) else ""

    def tests(self, row: Row) -> Part:
        """The side of the test that the question is in; "" for a question that does not test."""
        part = self.part(row)
        joins = part == "ood" and self.join_train and row["split"] == "train"
        return part if row["split"] == "test" or joins else ""

    def trains(self, row: Row) -> bool:
        """Whether the question is in the training set of the shift: i.i.d., and of the split "train"."""
        return bool(row["split"] == "train" and self.part(row) == "iid")


def _all_hold(rule: Rule, row: Row) -> bool:
    return all(_holds(condition, row[tag]) for tag, condition in rule.items())


def _holds(condition: Condition, value: Any) -> bool:
    if not isinstance(condition, Mapping):
        return _folded(value) in map(_folded, condition)
    if "not" in condition:
        return _folded(value) not in map(_folded, condition["not"])
    return bool(value >= condition["at_least"] if "at_least" in condition else value < condition["below"])


def _folded(value: Any) -> str:
    return str(value).strip().casefold()


@functools.cache
def all_shifts() -> Mapping[str, Shift]:
    """The shifts of the file, by name."""
    source = Path(__file__).with_name("shift_rules.yml").read_text(encoding="utf-8")
    return {name: read(name, entry) for name, entry in yaml.safe_load(source).items()}


def read(name: str, entry: Mapping[str, Any]) -> Shift:
    """An entry of the file as a shift; ``UserError`` if it is not well-formed."""
    known = [each.name for each in fields(Shift) if each.name != "name"]
    for key in entry:
        if key not in known:
            raise unknown("setting", key, known, f"shift {name!r} of shift_rules.yml")
    if not entry.get("suite") or not entry.get("ood"):
        raise UserError(f"Shift {name!r} of shift_rules.yml needs a suite and a rule ood.")
    for tag, condition in (*entry["ood"].items(), *(entry.get("iid") or {}).items()):
        wrong = not isinstance(condition, list | dict) or not condition
        if wrong or (isinstance(condition, dict) and (len(condition) != 1 or set(condition) - _COMPARISONS)):
            raise UserError(
                f"Shift {name!r} of shift_rules.yml: the condition on {tag} is {condition!r}, expected a list of "
                f"values or one of {', '.join(sorted(_COMPARISONS))}."
            )
    return Shift(name, **entry)


def get(name: str) -> Shift:
    """The shift called ``name``; ``UserError`` with the names that exist if there is none."""
    if name not in all_shifts():
        raise unknown("shift", name, all_shifts(), "shift_rules.yml")
    return all_shifts()[name]


def of_suite(suite: str) -> list[Shift]:
    """The shifts of a suite, in the file's order."""
    return [shift for shift in all_shifts().values() if shift.suite == suite]


def sides(shift: Shift, rows: Iterable[Row]) -> list[Part]:
    """For each question the side of the test that it is in.

    Raises:
        UserError: no question is in one of the two; the values that the fields have are in the message.
    """
    rows = list(rows)
    found = [shift.tests(row) for row in rows]
    for side, name, rule in (("ood", "OoD", shift.ood), ("iid", "i.i.d.", shift.iid or f"not {dict(shift.ood)}")):
        if side not in found:
            raise UserError(
                f"The shift {shift.name} has no {name} test question among {len(rows):,}: nothing matches {rule} "
                f"(shift_rules.yml). Values present: {present(shift, rows)}."
            )
    return found


def present(shift: Shift, rows: Iterable[Row], most: int = 20) -> str:
    """The values that the shift's fields have, for messages."""
    rows = list(rows)
    lines = []
    for tag in shift.fields:
        values = sorted({row[tag] for row in rows})
        shown = ", ".join(repr(value) for value in values[:most])
        lines.append(f"{tag}: {shown or 'none'}" + (f" and {len(values) - most} more" if len(values) > most else ""))
    return "; ".join(lines)


def sizes(shift: Shift, rows: Iterable[Row]) -> dict[str, int]:
    """How many questions train i.i.d., test i.i.d. and test OoD."""
    counts = {"train_iid": 0, "test_iid": 0, "test_ood": 0}
    for row in rows:
        side = shift.tests(row)
        if side:
            counts[f"test_{side}"] += 1
        counts["train_iid"] += shift.trains(row)
    return counts


def paper_sizes(suite: str) -> Mapping[str, Any]:
    """What the paper's Tables 1 to 4 say of a suite: ``all`` by split, ``shifts`` by shift."""
    source = Path(__file__).with_name("paper_sizes.yml").read_text(encoding="utf-8")
    content: dict[str, Any] = yaml.safe_load(source)
    return content[suite]
