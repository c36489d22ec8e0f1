"""Freezes every number that the package shows, and compares two such dumps.

``python -m tools.frozen_numbers dump OUT`` makes runs on the mini data, and writes all cells into OUT, a JSON line
each. ``python -m tools.frozen_numbers compare A B --moved LIST.yml`` names cells that were dropped, are new or moved.
It ends with 0 if the list names all of them, with 1 if something else differs, with 2 if the list is wrong::

    - cells: "report|*|variance*"
      reason: components beyond one table each went
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import math
import os
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

CLOSE = 1e-9
Cell = Mapping[str, Any]
Cells = Mapping[str, Cell]


class Difference(NamedTuple):
    """A cell that differs: ``kind`` is dropped, new or moved."""

    kind: str
    key: str
    said: str


def dump(output: Path, runs: Path | None) -> None:
    """Write all cells to ``output``; runs that are not in ``runs`` yet are made there."""
    from tools import frozen_cells, frozen_runs

    runs = (runs or output.with_name(f"{output.stem}_runs")).resolve()
    runs.mkdir(parents=True, exist_ok=True)
    os.environ.update({**frozen_runs.ENVIRONMENT, "MEDTASKS_HOME": str(runs.with_name(f"{runs.name}_home"))})
    started = sum(os.times()[:4])
    frozen_runs.make_runs(runs)
    made = sum(os.times()[:4])
    with tempfile.TemporaryDirectory() as scratch:
        lines = sorted(numbered(frozen_cells.all_cells(runs, Path(scratch))))
    output.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    by_source = Counter(json.loads(line)["key"].split("|")[0] for line in lines)
    print(", ".join(f"{name} {count:,}" for name, count in sorted(by_source.items())))
    print(f"Runs {made - started:.0f} s, cells {sum(os.times()[:4]) - made:.0f} s of processor time.", file=sys.stderr)


def numbered(cells: Iterable[tuple[str, Cell]]) -> Iterable[str]:
    """Each cell as a line of JSON without its empty parts; a second cell with a key gets a number behind it."""
    seen: Counter[str] = Counter()
    for key, cell in cells:
        seen[key] += 1
        found = {name: _written(value) for name, value in cell.items() if value is not None and value != ""}
        own = key if seen[key] == 1 else f"{key}#{seen[key]}"
        yield json.dumps({"key": own, **found}, ensure_ascii=False)


def _written(value: Any) -> Any:
    from tools.frozen_runs import plain

    if isinstance(value, (bool, int, str)):
        return plain(value) if isinstance(value, str) else value
    try:
        number = float(value)
    except (TypeError, ValueError):
        return plain(str(getattr(value, "value", value)))
    # To 13 digits: the last bits of a sum hang on the order of a set.
    return float(f"{number:.13g}") if math.isfinite(number) else str(number)


def read_dump(path: Path) -> dict[str, Cell]:
    """The cells of a dump by their keys."""
    with path.open(encoding="utf-8") as lines:
        cells = map(json.loads, lines)
        return {cell.pop("key"): cell for cell in cells}


def differences(before: Cells, after: Cells) -> list[Difference]:
    """All cells that differ, by key; rows and columns that only have another name do not."""
    before = renamed(before, after)
    found = [Difference("dropped", key, _said(before[key])) for key in before.keys() - after.keys()]
    found += [Difference("new", key, _said(after[key])) for key in after.keys() - before.keys()]
    for key in before.keys() & after.keys():
        one, other = before[key], after[key]
        parts = [part for part in {**one, **other} if not same(one.get(part), other.get(part))]
        if parts:
            said = (f"{part} {one.get(part)} -> {other.get(part)}" for part in parts)
            found.append(Difference("moved", key, "; ".join(said)))
    return sorted(found, key=lambda each: each.key)


def renamed(before: Cells, after: Cells) -> Cells:
    """``before``, with parts, tables, rows and columns that only have another name in ``after`` under that name.

    One that is gone, and one that is new in the same place, have the same cells, and no other of these has them.
    """
    for level in (_PART, _TABLE, _ROW, _COLUMN):
        one, other = _lines(before, level), _lines(after, level)
        gone, new = _by_content(one, one.keys() - other.keys()), _by_content(other, other.keys() - one.keys())
        moved: dict[str, str] = {}
        for content in gone.keys() & new.keys():
            if len(gone[content]) == len(new[content]) == 1:
                (place, old), (_, name) = gone[content][0], new[content][0]
                print(f"renamed  {'|'.join(place)}: {old} -> {name}")
                for _, key in one[place, old]:
                    parts = key.split("|")
                    parts[level] = name
                    moved[key] = "|".join(parts)
        before = {moved.get(key, key): cell for key, cell in before.items()}
    return before


_PART, _TABLE, _ROW, _COLUMN = range(-4, 0)
"""Where their names stand in a key."""
Line = tuple[tuple[str, ...], str]


def _lines(cells: Cells, level: int) -> dict[Line, list[tuple[str, str]]]:
    """All parts (tables, rows, columns): where it stands and its name -> the content and the key of its cells."""
    found: dict[Line, list[tuple[str, str]]] = defaultdict(list)
    for key, cell in cells.items():
        parts = key.split("|")
        if parts[0] in ("report", "board") and len(parts) + level > 0 and len(parts) >= -_PART:
            rounded = {name: f"{each:.8g}" if isinstance(each, float) else each for name, each in cell.items()}
            row = parts[_ROW] if level == _COLUMN else ""
            found[tuple(parts[: min(level, _ROW)]), parts[level]].append((f"{row}{rounded}", key))
    return found


def _by_content(lines: Mapping[Line, Sequence[tuple[str, str]]], chosen: Iterable[Line]) -> dict[Any, list[Line]]:
    found: dict[Any, list[Line]] = defaultdict(list)
    for line in chosen:
        found[line[0], tuple(sorted(content for content, _ in lines[line]))].append(line)
    return found


def same(one: Any, other: Any) -> bool:
    """Whether two parts of a cell are the same, numbers to 1e-9."""
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return math.isclose(one, other, rel_tol=CLOSE, abs_tol=CLOSE)
    return bool(one == other)


def _said(cell: Cell) -> str:
    return ", ".join(f"{name} {value}" for name, value in cell.items())


def read_reasons(path: Path) -> dict[str, str]:
    """Patterns of the cells that were dropped or moved on purpose, each with its reason. Raises ValueError."""
    found = yaml.safe_load(path.read_text("utf-8")) or []
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise ValueError(f"{path}: expected a list of items with cells and reason.")
    for each in found:
        if set(each) != {"cells", "reason"} or not all(isinstance(text, str) and text for text in each.values()):
            raise ValueError(f"{path}: {each} must have the texts cells (a pattern) and reason.")
    return {each["cells"]: each["reason"] for each in found}


def compare(one: Path, other: Path, moved: Path | None, most: int) -> int:
    """Print what differs, by table, ``most`` cells of each, and return the exit status."""
    reasons = read_reasons(moved) if moved else {}
    found = differences(read_dump(one), read_dump(other))
    used: Counter[str] = Counter()
    open_: dict[str, list[Difference]] = defaultdict(list)
    for each in found:
        pattern = next((pattern for pattern in reasons if fnmatch.fnmatchcase(each.key, pattern)), None)
        if pattern is None:
            open_["|".join(each.key.split("|")[:-2]) or each.key].append(each)
        else:
            used[pattern] += 1
    for pattern, count in used.items():
        print(f"on purpose  {count:,} cells  {pattern}: {reasons[pattern]}")
    for table, cells in open_.items():
        kinds = Counter(cell.kind for cell in cells)
        print(f"\n{table}: {', '.join(f'{count:,} {kind}' for kind, count in kinds.items())}")
        for cell in cells[:most]:
            print(f"  {cell.kind:8}{cell.key.removeprefix(table).lstrip('|')}: {cell.said}")
        if len(cells) > most:
            print(f"  and {len(cells) - most:,} more (--most)")
    if unused := [pattern for pattern in reasons if not used[pattern]]:
        print(f"{moved}: no cell that differs is called like {', '.join(map(repr, unused))}.", file=sys.stderr)
        return 2
    total = sum(map(len, open_.values()))
    print(f"\n{total:,} cells differ without a reason." if total else "\nNothing else differs.")
    return int(total > 0)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; its exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.frozen_numbers", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    commands = parser.add_subparsers(dest="command", required=True)
    made = commands.add_parser("dump", help="Write all cells to OUT.")
    made.add_argument("output", type=Path, metavar="OUT")
    made.add_argument("--runs", type=Path, help="Folder for the runs, which are made once. Default: OUT_runs.")
    compared = commands.add_parser("compare", help="Name the cells of two dumps that differ.")
    compared.add_argument("dumps", type=Path, nargs=2, metavar="DUMP")
    compared.add_argument("--moved", type=Path, help="YAML with the cells that may differ.")
    compared.add_argument("--most", type=int, default=8, help="Cells to name of each table. Default: 8.")
    chosen = parser.parse_args(arguments)
    if chosen.command == "dump":
        dump(chosen.output, chosen.runs)
        return 0
    try:
        return compare(*chosen.dumps, chosen.moved, chosen.most)
    except (OSError, ValueError, yaml.YAMLError) as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
