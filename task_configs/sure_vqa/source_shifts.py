"""SURE-VQA's shifts of ``shift_rules.yml``: the questions that train, and those that test in and out of distribution.

Also what ``data doctor`` says about a release: the records that would be rejected, and its sizes beside the paper's.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from lmms_medtasks import folders
from lmms_medtasks.data.release_counts import ExpectedCounts
from lmms_medtasks.data.row_reader import RejectedRow, RowReader, reject_unless
from lmms_medtasks.data.sources import DataSource, ReleaseExamination, ReleaseFinding, SplitSize
from lmms_medtasks.errors import UserError, unknown_name_error
from lmms_medtasks.short_texts import count_noun
from lmms_medtasks.task_configs.sure_vqa.source_reader import SureReader, empty_fields, left_out_lines, list_numbers

Part = Literal["iid", "ood", ""]
"""The side of a shift that a question is on, in any split; "" for neither."""

Condition = Sequence[str] | Mapping[str, Any]
Rule = Mapping[str, Condition]
Row = Mapping[str, Any]

_COMPARISONS = {"not", "at_least", "below"}


@dataclass(frozen=True)
class Shift:
    """One entry of the file, whose header explains the fields. ``iid`` None: all questions that are not OoD."""

    name: str
    suite: str
    ood: Rule
    iid: Rule | None = None
    unknown: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    dropped: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    join_train: bool = False

    @property
    def fields(self) -> tuple[str, ...]:
        """The tags that the shift depends on."""
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
        """The side of the test that the question is in; "" for a question outside both tests."""
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
    return folders.read_yaml(Path(__file__).with_name(name))


def read_shift_rule(name: str, entry: Mapping[str, Any]) -> Shift:
    """An entry of the file as a shift; ``UserError`` if it is not well-formed."""
    known = [setting.name for setting in fields(Shift) if setting.name != "name"]
    for key in entry:
        if key not in known:
            raise unknown_name_error("setting", key, known, f"shift {name!r} of shift_rules.yml")
    location = f"Shift {name!r} of shift_rules.yml"
    if not entry.get("suite") or not entry.get("ood"):
        raise UserError(f"{location} needs a suite and a rule ood.")
    for part, comparisons in {"ood": _COMPARISONS, "iid": _COMPARISONS, "unknown": set(), "dropped": set()}.items():
        if part not in entry:
            continue
        rule = entry[part]
        if not isinstance(rule, Mapping) or not rule:
            raise UserError(
                f"{location}: {part} is {rule!r}, expected a field and its values, such as {{modality: [CT]}}. Leave "
                f"{part} out where there are none."
            )
        for tag, condition in rule.items():
            compared = isinstance(condition, Mapping) and len(condition) == 1 and set(condition) <= comparisons
            if not compared and (not isinstance(condition, list) or not condition):
                more = f" or one of {', '.join(sorted(comparisons))}" if comparisons else ""
                raise UserError(
                    f"{location}: the condition on {tag} is {condition!r}, expected a list of values{more}."
                )
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
    """The side of the test for each question.

    Raises:
        UserError: one of the two has no question; the message lists the values of the fields.
    """
    rows = list(rows)
    sides = [shift.tests(row) for row in rows]
    for side, name, rule in (("ood", "OoD", shift.ood), ("iid", "i.i.d.", shift.iid or f"not {dict(shift.ood)}")):
        if side not in sides:
            raise UserError(
                f"The shift {shift.name} has no {name} test question among {len(rows):,}: nothing matches {rule} "
                f"(shift_rules.yml). Values present: {shifts_present(shift, rows)}."
            )
    return sides


def shifts_present(shift: Shift, rows: Sequence[Row]) -> str:
    """The values of the shift's fields, at most 20 of each, for messages."""
    values_by_tag = {tag: sorted({row[tag] for row in rows}) for tag in shift.fields}
    return "; ".join(
        f"{tag}: {list_numbers([*map(repr, values)], 20) or 'none'}" for tag, values in values_by_tag.items()
    )


def paper_sizes(suite: str) -> Mapping[str, Any]:
    """The sizes of a suite in the paper's Tables 1 to 4: ``all`` by split, ``shifts`` by shift."""
    sizes: Mapping[str, Any] = _read_file("paper_sizes.yml")[suite]
    return sizes


def shared_fields(
    reader: type[SureReader], *, train: int, validate: int, test: int, unusable: int = 0
) -> dict[str, Any]:
    """The fields of a DataSource that are alike for the three data sets; the paper's questions by split.

    ``unusable``: training questions that no task can ask.
    """
    return {
        "open_split": reader,
        "diagnose": reader.diagnose,
        "examine": examine_shifts,
        "training_rule": get,
        "expected": (
            ExpectedCounts(("train",), train, unusable=unusable),
            ExpectedCounts(("validate",), validate),
            ExpectedCounts(("test",), test),
        ),
        "paper": {"training questions": train, "validation questions": validate, "test questions": test},
    }


# --- Of a release, for ``data doctor`` --------------------------------------------------------------------------------
_SIDES = {"iid": "i.i.d.", "ood": "OoD"}


def examine_shifts(record: DataSource, readers: Mapping[str, RowReader]) -> ReleaseExamination:
    """The sizes of the splits and shifts in Tables 1 to 3 and here; no image is opened."""
    findings: list[ReleaseFinding] = []
    rows: dict[str, list[Row]] = {}
    for split, reader in readers.items():
        assert isinstance(reader, SureReader)
        rows[split], notes = _usable_rows(record, split, reader)
        findings += notes
    paper = paper_sizes(record.name)
    sizes = [SplitSize(f"{split}, all", len(of_split), paper["all"].get(split)) for split, of_split in rows.items()]
    shared = {}
    # A shift is left out if one of its splits is missing.
    for shift in suite_shifts(record.name):
        if "test" not in rows or (shift.join_train and "train" not in rows):
            continue
        all_rows = [row for name in ("train", "test") for row in rows.get(name, [])]
        sides = [shift.tests(row) for row in all_rows]
        printed = paper["shifts"].get(shift.name, {})
        if "train" in rows:
            count = sum(map(shift.trains, all_rows))
            sizes.append(SplitSize(f"{shift.name}, train i.i.d.", count, printed.get("train_iid")))
        images = {}
        for side, name in _SIDES.items():
            of_side = [row["image"] for row, row_side in zip(all_rows, sides, strict=True) if row_side == side]
            sizes.append(SplitSize(f"{shift.name}, test {name}", len(of_side), printed.get(f"test_{side}")))
            images[side] = set(of_side)
            if not of_side:
                detail = f"no {name} test question. Values present: {shifts_present(shift, all_rows)}"
                findings.append(ReleaseFinding(shift.name, "missing", detail))
        shared[shift.name] = len(images["iid"] & images["ood"])
    return ReleaseExamination(findings, sizes, shared)


def _usable_rows(record: DataSource, split: str, reader: SureReader) -> tuple[list[Row], Iterator[ReleaseFinding]]:
    """The shifts' tags and the image of every usable record, and remarks about the others."""
    of_shifts = {"split", *(name for shift in suite_shifts(record.name) for name in shift.fields)}
    tags = [tag for tag in record.tags if tag in of_shifts]
    rows: list[Row] = []
    reasons: dict[str, list[str]] = {}
    known = set()
    for _, row in reader.read_rows():
        try:
            document = {**reader.texts(row), "image": reader.image_name(row)}
            reject_unless(document["id"] not in known, "a record with its number was there before")
        except RejectedRow as reason:
            reasons.setdefault(str(reason), []).append(reader.read_name(row))
            continue
        known.add(document["id"])
        # The paper's sizes include one question without an answer, which no task can ask.
        rows.append({tag: document[tag] for tag in (*tags, "image")})
        if problem := empty_fields(document):
            reasons.setdefault(f"{problem} (the sizes below have it)", []).append(reader.read_name(row))
    lines = _release_notes(reasons, reader.notes)
    return rows, (ReleaseFinding(f"split {split}", "note", line) for line in lines)


def _release_notes(reasons: Mapping[str, Sequence[str]], notes: Mapping[str, Any]) -> Iterator[str]:
    for reason, numbers in reasons.items():
        questions = list_numbers(numbers)
        yield f"{count_noun(len(numbers), 'record')} would be rejected: {reason}: questions {questions}"
    yield from left_out_lines(notes)
    for name, value in notes.items():
        if name == "number_of_a_dropped_question" and value:
            yield f"kept, but the authors' code, which drops by number, drops: {list_numbers(value)}"
        elif value and name not in ("cleaned", "left_out"):
            yield f"{name}: {value}"
