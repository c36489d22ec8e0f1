"""What ``data doctor`` says of a release of SURE-VQA: records that would be rejected, and sizes against the paper's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lmms_medtasks.data.row_reader import RowReader, need
from lmms_medtasks.data.sources import DataSource, Examination, Finding, RejectedRow, Size, counted
from lmms_medtasks.task_configs.sure_vqa import shift_rules
from lmms_medtasks.task_configs.sure_vqa.source_reader import SureReader, empty, left_out_lines, listed

_SIDES = {"iid": "i.i.d.", "ood": "OoD"}
_LONG = {"train_iid": "train i.i.d.", "test_iid": "test i.i.d.", "test_ood": "test OoD"}

Rows = Sequence[Mapping[str, Any]]


def examine(record: DataSource, readers: Mapping[str, RowReader]) -> Examination:
    """The sizes of the splits and shifts in Tables 1 to 3 and here; no picture is opened."""
    findings: list[Finding] = []
    rows: dict[str, Rows] = {}
    for split, reader in readers.items():
        assert isinstance(reader, SureReader)
        rows[split], found = _of_split(record, split, reader)
        findings += found
    paper = shift_rules.paper_sizes(record.name)
    sizes = [Size(f"{split}, all", len(got), paper["all"].get(split)) for split, got in rows.items()]
    shared = {}
    # A shift is left out where a split that it is made from is not there.
    for shift in shift_rules.of_suite(record.name):
        if "test" not in rows or (shift.join_train and "train" not in rows):
            continue
        all_rows = [row for name in ("train", "test") for row in rows.get(name, [])]
        sides = [shift.tests(row) for row in all_rows]
        printed = paper["shifts"].get(shift.name, {})
        for name, count in shift_rules.sizes(shift, all_rows).items():
            if name != "train_iid" or "train" in rows:
                sizes.append(Size(f"{shift.name}, {_LONG[name]}", count, printed.get(name)))
        images = [{row["image"] for row, each in zip(all_rows, sides, strict=True) if each == side} for side in _SIDES]
        shared[shift.name] = len(images[0] & images[1])
        for side in set(_SIDES) - set(sides):
            values = shift_rules.present(shift, all_rows)
            detail = f"no {_SIDES[side]} test question. Values present: {values}"
            findings.append(Finding(shift.name, "missing", detail))
    return Examination(findings, sizes, shared)


def _of_split(record: DataSource, split: str, reader: SureReader) -> tuple[Rows, Iterator[Finding]]:
    """What the shifts look at of every usable record, and what is to be said of the others."""
    wanted = {"split", *(name for shift in shift_rules.of_suite(record.name) for name in shift.fields)}
    tags = [tag for tag in record.tags if tag in wanted]
    rows: list[Mapping[str, Any]] = []
    reasons: dict[str, list[str]] = {}
    known = set()
    for _, row in reader.read_rows():
        try:
            found = {**reader.texts(row), "image": reader.image_name(row)}
            need(found["id"] not in known, "a record with its number was there before")
        except RejectedRow as reason:
            reasons.setdefault(str(reason), []).append(reader.read_name(row))
            continue
        known.add(found["id"])
        # The paper's sizes have one question without an answer, which no task can ask.
        rows.append({tag: found[tag] for tag in (*tags, "image")})
        if wrong := empty(found):
            reasons.setdefault(f"{wrong} (the sizes below have it)", []).append(reader.read_name(row))
    return rows, _notes(f"split {split}", reasons, reader.notes)


def _notes(what: str, reasons: Mapping[str, Sequence[str]], notes: Mapping[str, Any]) -> Iterator[Finding]:
    for reason, numbers in reasons.items():
        detail = f"{counted(len(numbers), 'record')} would be rejected: {reason}: questions {listed(numbers)}"
        yield Finding(what, "note", detail)
    for line in left_out_lines(notes):
        yield Finding(what, "note", line)
    for name, value in notes.items():
        if name in ("cleaned", "left_out"):
            continue
        if name == "number_of_a_dropped_question" and value:
            yield Finding(what, "note", f"kept, but the authors' code, which drops by number, drops: {listed(value)}")
        elif value:
            yield Finding(what, "note", f"{name}: {value}")
