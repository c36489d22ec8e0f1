"""SURE-VQA's shifts as ``shift_rules.yml`` has them: which questions train, which test in and out of distribution.

And what ``data doctor`` says of a release by them: records that would be rejected, and sizes against the paper's.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from lmms_medtasks import folders
from lmms_medtasks.data.row_reader import RejectedRow, RowReader, reject_unless
from lmms_medtasks.data.sources import DataSource, ReleaseExamination, ReleaseFinding, SplitSize
from lmms_medtasks.errors import UserError, unknown_name_error
from lmms_medtasks.short_texts import count_noun
from lmms_medtasks.task_configs.sure_vqa.source_reader import SureReader, empty_fields, left_out_lines, list_numbers

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
        if any(_condition_holds(values, row[tag]) for tag, values in left_out):
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
    return all(_condition_holds(condition, row[tag]) for tag, condition in rule.items())


def _condition_holds(condition: Condition, value: Any) -> bool:
    if not isinstance(condition, Mapping):
        return _fold_value(value) in map(_fold_value, condition)
    if "not" in condition:
        return _fold_value(value) not in map(_fold_value, condition["not"])
    return bool(value >= condition["at_least"] if "at_least" in condition else value < condition["below"])


def _fold_value(value: Any) -> str:
    return str(value).strip().casefold()


@functools.cache
def all_shifts() -> Mapping[str, Shift]:
    """The shifts of the file, by name."""
    return {name: read_shift_rule(name, entry) for name, entry in _read_file("shift_rules.yml").items()}


def _read_file(name: str) -> Mapping[str, Any]:
    content: Mapping[str, Any] = folders.read_yaml(Path(__file__).with_name(name))
    return content


def read_shift_rule(name: str, entry: Mapping[str, Any]) -> Shift:
    """An entry of the file as a shift; ``UserError`` if it is not well-formed."""
    known = [each.name for each in fields(Shift) if each.name != "name"]
    for key in entry:
        if key not in known:
            raise unknown_name_error("setting", key, known, f"shift {name!r} of shift_rules.yml")
    if not entry.get("suite") or not entry.get("ood"):
        raise UserError(f"Shift {name!r} of shift_rules.yml needs a suite and a rule ood.")
    for part in (each for each in ("ood", "iid", "unknown", "dropped") if each in entry):
        where, rule = f"Shift {name!r} of shift_rules.yml", entry[part]
        if not isinstance(rule, Mapping) or not rule:
            raise UserError(
                f"{where}: {part} is {rule!r}, expected a field and its values, such as {{modality: [CT]}}. Leave "
                f"{part} out where there are none."
            )
        allowed = _COMPARISONS if part in ("ood", "iid") else set()
        for tag, condition in rule.items():
            compared = isinstance(condition, Mapping) and len(condition) == 1 and set(condition) <= allowed
            if not compared and (not isinstance(condition, list) or not condition):
                more = f" or one of {', '.join(sorted(allowed))}" if allowed else ""
                said = f"the condition on {tag} is {condition!r}, expected a list of values{more}"
                raise UserError(f"{where}: {said}.")
    return Shift(name, **entry)


def get(name: str) -> Shift:
    """The shift called ``name``; ``UserError`` with the names that exist if there is none."""
    if name not in all_shifts():
        raise unknown_name_error("shift", name, all_shifts(), "shift_rules.yml")
    return all_shifts()[name]


def suite_shifts(suite: str) -> list[Shift]:
    """The shifts of a suite, in the file's order."""
    return [shift for shift in all_shifts().values() if shift.suite == suite]


def question_sides(shift: Shift, rows: Iterable[Row]) -> list[Part]:
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
                f"(shift_rules.yml). Values present: {shifts_present(shift, rows)}."
            )
    return found


def shifts_present(shift: Shift, rows: Iterable[Row], most: int = 20) -> str:
    """The values that the shift's fields have, for messages."""
    rows = list(rows)
    lines = []
    for tag in shift.fields:
        values = sorted({row[tag] for row in rows})
        shown = ", ".join(repr(value) for value in values[:most])
        lines.append(f"{tag}: {shown or 'none'}" + (f" and {len(values) - most} more" if len(values) > most else ""))
    return "; ".join(lines)


def paper_sizes(suite: str) -> Mapping[str, Any]:
    """What the paper's Tables 1 to 4 say of a suite: ``all`` by split, ``shifts`` by shift."""
    sizes: Mapping[str, Any] = _read_file("paper_sizes.yml")[suite]
    return sizes


# --- Of a release, for ``data doctor`` --------------------------------------------------------------------------------
_SIDES = {"iid": "i.i.d.", "ood": "OoD"}

Rows = Sequence[Mapping[str, Any]]


def examine_shifts(record: DataSource, readers: Mapping[str, RowReader]) -> ReleaseExamination:
    """The sizes of the splits and shifts in Tables 1 to 3 and here; no picture is opened."""
    findings: list[ReleaseFinding] = []
    rows: dict[str, Rows] = {}
    for split, reader in readers.items():
        assert isinstance(reader, SureReader)
        rows[split], found = _of_split(record, split, reader)
        findings += found
    paper = paper_sizes(record.name)
    compared = [SplitSize(f"{split}, all", len(got), paper["all"].get(split)) for split, got in rows.items()]
    shared = {}
    # A shift is left out where a split that it is made from is not there.
    for shift in suite_shifts(record.name):
        if "test" not in rows or (shift.join_train and "train" not in rows):
            continue
        all_rows = [row for name in ("train", "test") for row in rows.get(name, [])]
        sides = [shift.tests(row) for row in all_rows]
        printed = paper["shifts"].get(shift.name, {})
        if "train" in rows:
            count = sum(map(shift.trains, all_rows))
            compared.append(SplitSize(f"{shift.name}, train i.i.d.", count, printed.get("train_iid")))
        for side, said in _SIDES.items():
            count = sum(each == side for each in sides)
            compared.append(SplitSize(f"{shift.name}, test {said}", count, printed.get(f"test_{side}")))
        images = [{row["image"] for row, each in zip(all_rows, sides, strict=True) if each == side} for side in _SIDES]
        shared[shift.name] = len(images[0] & images[1])
        for side in set(_SIDES) - set(sides):
            values = shifts_present(shift, all_rows)
            detail = f"no {_SIDES[side]} test question. Values present: {values}"
            findings.append(ReleaseFinding(shift.name, "missing", detail))
    return ReleaseExamination(findings, compared, shared)


def _of_split(record: DataSource, split: str, reader: SureReader) -> tuple[Rows, Iterator[ReleaseFinding]]:
    """What the shifts look at of every usable record, and what is to be said of the others."""
    wanted = {"split", *(name for shift in suite_shifts(record.name) for name in shift.fields)}
    tags = [tag for tag in record.tags if tag in wanted]
    rows: list[Mapping[str, Any]] = []
    reasons: dict[str, list[str]] = {}
    known = set()
    for _, row in reader.read_rows():
        try:
            found = {**reader.texts(row), "image": reader.image_name(row)}
            reject_unless(found["id"] not in known, "a record with its number was there before")
        except RejectedRow as reason:
            reasons.setdefault(str(reason), []).append(reader.read_name(row))
            continue
        known.add(found["id"])
        # The paper's sizes have one question without an answer, which no task can ask.
        rows.append({tag: found[tag] for tag in (*tags, "image")})
        if wrong := empty_fields(found):
            reasons.setdefault(f"{wrong} (the sizes below have it)", []).append(reader.read_name(row))
    return rows, _release_notes(f"split {split}", reasons, reader.notes)


def _release_notes(
    what: str, reasons: Mapping[str, Sequence[str]], notes: Mapping[str, Any]
) -> Iterator[ReleaseFinding]:
    for reason, numbers in reasons.items():
        detail = f"{count_noun(len(numbers), 'record')} would be rejected: {reason}: questions {list_numbers(numbers)}"
        yield ReleaseFinding(what, "note", detail)
    for line in left_out_lines(notes):
        yield ReleaseFinding(what, "note", line)
    for name, value in notes.items():
        if name in ("cleaned", "left_out"):
            continue
        if name == "number_of_a_dropped_question" and value:
            yield ReleaseFinding(
                what, "note", f"kept, but the authors' code, which drops by number, drops: {list_numbers(value)}"
            )
        elif value:
            yield ReleaseFinding(what, "note", f"{name}: {value}")
