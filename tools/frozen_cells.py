"""Every number that the package makes of the runs of :mod:`tools.frozen_runs`, each under its key.

:class:`Internals` holds all that no public surface gives. A change that renames one of these names mends it there, so
that the keys stay.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import io
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import yaml

from tools.frozen_runs import EXAMPLES, digest, digest_of, plain, run_command

Cells = Iterator[tuple[str, Mapping[str, Any]]]
MISTAKES = Path(__file__).with_name("frozen_mistakes.yml")
_PARTS = ("value", "low", "high", "sd", "n", "reason", "mark", "detectable", "tier")


def all_cells(runs: Path, scratch: Path) -> Cells:
    """Every cell of every source, a key and its parts."""
    import lmms_medtasks as mt

    inside = Internals()
    groups = sorted(path for path in runs.iterdir() if path.is_dir())
    for group in groups:
        for run in sorted(path for path in group.iterdir() if path.is_dir()):
            name = f"{group.name}/{run.name}"
            yield from _harness(run, name)
            yield from _asked(run, name)
    yield from pixels(mt)
    reports = {**{group.name: [group] for group in groups}, "everything": [runs / "core", runs / "rest"]}
    for name, paths in reports.items():
        yield from inside.report(mt, name, paths)
    pairs = [("core/alpha", "core/beta"), ("core/beta", "core/gamma"), ("examples/alpha", "examples/gamma"),
             ("seeds/alpha0", "seeds/alpha1")]  # fmt: skip
    for first, second in pairs:
        one, other = runs / first, runs / second
        name = f"{first}-{second}"
        made = mt.compare(one, other, include_path=EXAMPLES)
        yield from flattened(f"compare|{name}", made.to_dict())
        yield from inside.gate(name, one, other)
        yield from inside.power(name, one, other)
    yield from inside.board(runs, scratch / "site")
    yield from mistakes(runs, scratch)


def _harness(run: Path, name: str) -> Cells:
    for path in sorted(run.glob("*_results.json")):
        for task, found in json.loads(path.read_text("utf-8"))["results"].items():
            for metric, value in found.items():
                if metric not in ("alias", "name") and value != "N/A":
                    yield key("harness", name, task, metric), {"value": value}


def _asked(run: Path, name: str) -> Cells:
    for line in (run / "asked.jsonl").read_text("utf-8").splitlines():
        found = json.loads(line)
        first = found.pop("first")
        yield from flattened(f"prompts|{name}|{found.pop('task')}", {**found, "first": {e.pop("id"): e for e in first}})


def pixels(mt: Any) -> Cells:
    """The digests of a drawn picture under each degradation, level and modality."""
    across = np.linspace(0, 1, 64)
    drawn = (np.hypot(across[:, None] - 0.45, across[None] - 0.55) < 0.3) * 0.5 + 0.3 * across[:, None]  # noqa: PLR2004
    drawn[20:24, 30:50] = 1.0
    picture = (255 * drawn.clip(0, 1)).astype(np.uint8)
    from lmms_medtasks import degradations

    for modality in degradations.modalities():
        for name in degradations.for_modality(modality):
            for level in (0, 1, 2):
                made = mt.degrade(picture, name, severity=level, seed=0, key="frozen", modality=modality)
                yield key("pixels", modality, name, str(level)), {"value": digest_of(made)}


def mistakes(runs: Path, scratch: Path) -> Cells:
    """What wrong command lines end with: the status and the text on stderr."""
    written = yaml.safe_load(MISTAKES.read_text("utf-8"))
    places = {"RUNS": str(runs), "OUT": str(scratch / "made"), "FILES": str(scratch / "files")}
    (scratch / "files").mkdir(parents=True, exist_ok=True)
    for name, text in written["files"].items():
        (scratch / "files" / name).write_text(text, "utf-8")
    for line in written["commands"]:
        arguments = [re.sub("RUNS|OUT|FILES", lambda found: places[found[0]], word) for word in line.split()]
        status, text = run_command(arguments, {})
        for name, place in places.items():
            text = text.replace(place, name)
        yield key("errors", line), {"value": status, "reason": plain(" ".join(text.split()))}


class Internals:
    """The numbers that no public surface gives in full, by the package's own names."""

    def __init__(self) -> None:
        from lmms_medtasks.board.site import pages
        from lmms_medtasks.report import views

        self._ids: dict[int, tuple[Any, str, list[Any]]] = {}
        self._written: dict[str, Any] = {}
        fill, write = views.TableSpec.filled, pages.render_csv

        def filled(table: Any, sources: Any) -> Any:
            made = fill(table, sources)
            if made is not None:
                self._note(table, sources, made)
            return made

        def csv_text(table: Any, *more: Any) -> str:
            text = write(table, *more)
            self._written[text] = table
            return text

        views.TableSpec.filled = filled  # type: ignore[method-assign]
        pages.render_csv = csv_text

    def _note(self, table: Any, sources: Any, made: Any) -> None:
        """Keep of each declared row what it is about, and over how many questions each cell is."""
        from lmms_medtasks.report.views import _intersect_restrictions
        from lmms_medtasks.suites.estimates import Estimate

        for row, done in zip(table.rows_of(sources), made.rows, strict=False):
            counts: list[Any] = [None] * len(row.labels)
            source = row.source or sources[0]
            for column in table.columns_of(sources):
                of, where = row.estimates.get(column.name, column.of), _intersect_restrictions(row.where, column.within)
                count = None
                if isinstance(of, Estimate) and where is not None:
                    rows = source.derived(column.over) if column.over else source
                    statistic = column.statistic if of is column.of or column.statistic else ""
                    count = getattr(rows.interval(of, where, statistic), "n", None)
                counts.append(count)
            about = [f"{name}={value}" for name, value in sorted(row.where.items())]
            self._ids[id(done)] = done, ",".join([*([row.source.name] if row.source else []), *about]), counts

    def table(self, name: str, table: Any) -> Cells:
        """The cells of a table of the package."""
        labels = next((n for n, each in enumerate(table.columns) if each.kind != "text"), len(table.columns))
        noted = [self._ids.get(id(row), (None, "", [None] * len(table.columns))) for row in table.rows]
        often = Counter(about for _, about, _ in noted)
        for row, (_, about, counts) in zip(table.rows, noted, strict=True):
            said = "/".join(str(cell.value) for cell in row.cells[: labels or 1] if cell.value is not None)
            row_id = about if about and often[about] == 1 else f"{about}:{said}" if about else said
            row_id = row_id if row.kind == "run" else f"{row.kind}:{row_id}"
            for column, cell, count in zip(table.columns, row.cells, counts, strict=True):
                if column.kind == "text" and column in table.columns[:labels]:
                    continue
                found = {part: getattr(cell, part, None) for part in _PARTS}
                found["tier"] = found["tier"] or None
                yield key(name, row_id.replace("|", "/"), column.name.replace("|", "/")), {**found, "n": count}

    def report(self, mt: Any, name: str, paths: Sequence[Path]) -> Cells:
        """The cells of the report of these runs."""
        try:
            made = mt.report(paths, figures=False, include_path=EXAMPLES)
        except mt.UserError as error:
            yield key("report", name, "refused"), {"reason": plain(str(error))}
            return
        for part, table in made.document.tables():
            yield from self.table(f"report|{name}|{part.key}|{table.key}", table)

    def board(self, runs: Path, site: Path) -> Cells:
        """The cells of all tables of a site."""
        cache = ["--no-cache", "--include_path", str(EXAMPLES), "-o", str(site)]
        groups = [str(runs / each) for each in ("core", "rest", "examples", "judged")]
        status, text = call_command(["leaderboard", "build", *groups, *cache])
        yield key("board", "status"), {"value": status}
        for path in sorted((site / "data").rglob("*.csv")):
            written = path.read_text("utf-8")
            place = path.relative_to(site / "data").with_suffix("").as_posix()
            if written in self._written and not place.startswith("questions/"):
                yield from self.table(f"board|{place}", self._written[written])
            else:
                yield key("board", place), {"value": digest(plain(written))}

    def gate(self, name: str, first: Path, second: Path) -> Cells:
        """The verdicts of a gate."""
        from lmms_medtasks.board.comparison import compared_entries, gate

        rules = gate.read_rules(None, margin=None, on_cannot_tell=None)
        one, other = (compared_entries.read_compared_runs(path, rules=rules.board) for path in (first, second))
        found = gate.run_gate(one, other, rules)
        yield key("gate", name, "decision"), {"value": found.decision}
        for verdict in found.verdicts:
            row = f"gate|{name}|{verdict.task}/{verdict.measure}"
            interval = verdict.interval
            drop = {part: getattr(interval, part, None) for part in ("low", "high", "n", "reason")}
            yield key(row, "drop"), {"value": getattr(interval, "estimate", None), **drop}
            for part in ("outcome", "effect", "baseline", "candidate", "most", "adjusted", "detectable", "margin"):
                yield key(row, part), {"value": getattr(verdict, part)}
            yield from flattened(f"{row}|test", vars(verdict.test) if verdict.test else {})

    def power(self, name: str, first: Path, second: Path) -> Cells:
        """What two runs can show."""
        from lmms_medtasks.board.comparison import compared_entries, planning
        from lmms_medtasks.statistics.power import TestCriterion

        plan = planning.PowerPlan(0.02, TestCriterion(0.05, 0.8, 1), (1, 3, 10))
        one, other = (compared_entries.read_compared_runs(path) for path in (first, second))
        for power in planning.of_runs(one, other, plan):
            row = f"power|{name}|{power.task}/{power.measure}"
            yield key(row, "shown"), {"value": power.shown, "n": power.questions, "reason": power.reason}
            yield from flattened(row, {"images": power.images, "trials": power.trials, "needed": dict(power.needed)})


def call_command(arguments: Sequence[str]) -> tuple[int, str]:
    """Status and stdout of ``lmms-medtasks`` with these arguments, called in this process."""
    [entry] = importlib.metadata.entry_points(group="console_scripts", name="lmms-medtasks")
    said, status = io.StringIO(), 0
    try:
        with mock.patch.object(sys, "argv", ["lmms-medtasks", *arguments]), contextlib.redirect_stdout(said):
            status = entry.load()() or 0
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return status, said.getvalue()


_NAMES = ("task", "measure", "model", "id", "question", "name")
_WORDS = ("warnings", "notes", "path", "asked", "a_replies", "b_replies")


def flattened(name: str, found: Any) -> Cells:
    """The numbers and texts in what JSON can hold, each under its path; a list's items by what they name."""
    if isinstance(found, Mapping):
        for part, each in found.items():
            if part not in _WORDS:
                yield from flattened(key(name, str(part)), each)
    elif isinstance(found, (list, tuple)):
        for place, each in enumerate(found):
            named = [str(each[part]) for part in _NAMES if part in each] if isinstance(each, Mapping) else []
            yield from flattened(key(name, "/".join(named) or str(place)), each)
    else:
        yield name, {"value": found}


def key(*parts: str) -> str:
    """The key of a cell: source, what it is of, table, row, column."""
    return plain("|".join(parts).replace("\n", " "))
