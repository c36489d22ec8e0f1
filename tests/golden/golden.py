"""The numbers before and after a move: runs of all suites on the mini data, dumped unrounded, and their differences.

``golden.json.gz`` is the dump of the code before the move to "one folder, one table"; both go when nothing of
the move is left. By hand, from the repository's root::

    python tests/golden/golden.py run RUNS [--suite medobvious]      # three models; minutes
    python tests/golden/golden.py dump RUNS DUMP.json.gz [--suite medobvious]
    python tests/golden/golden.py compare tests/golden/golden.json.gz DUMP.json.gz [--suite medobvious]

A dump is flat: one key a number or text. ``harness/…`` holds result files, ``questions/…`` the score of each question
under each metric, ``report/…`` the cells of all tables with their intervals, ``figures/…`` digests of drawings,
``compare/…``, ``gate/…``, ``board/…`` and ``submissions/…`` what those commands make, ``prompts/…`` and ``pixels/…``
digests of what a model is asked and shown.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import math
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MODELS = ("medtasks_random", "medtasks_most_frequent", "medtasks_observer")
ARGUMENTS = {"medtasks_most_frequent": ["--model_args", "train=medtasks://medq_deg/train"]}
"""So that a third model answers every suite; what its answers are worth does not matter here."""
SUITES = ("medobvious", "sure_vqa", "medq_deg", "med_cmr", "bones_joints")
JUDGED = ("sure_vqa", "med_cmr", "bones_joints")
UNJUDGED = "medtasks_random without a judge"
RESAMPLES = 200
CLEAN = {"MEDTASKS_DATA": "mini", "OMP_NUM_THREADS": "1"}


def tasks_of(suite: str) -> list[str]:
    """The suite's tasks without its groups."""
    import lmms_medtasks.task_configs

    files = (Path(lmms_medtasks.task_configs.__path__[0]) / suite).glob("*.yaml")
    tasks = [file.stem for file in files if "\ngroup:" not in "\n" + file.read_text()]
    # A report refuses the same test twice: the tasks of one side of a shift are left out.
    return sorted(name for name in tasks if not (suite == "sure_vqa" and name.endswith(("_iid", "_ood"))))


def run(folder: Path, suites: list[str]) -> None:
    """Run the three models on every task of each suite, and one of them without a judge."""
    for suite in suites:
        for model in (*MODELS, *([UNJUDGED] if suite in JUDGED else [])):
            out = folder / suite / model.replace(" ", "_")
            if out.exists():
                continue
            name = model.split()[0]
            environment = {**os.environ, **CLEAN, "MEDTASKS_HOME": str(folder / "home")}
            if suite in JUDGED and model != UNJUDGED:
                environment["MEDTASKS_JUDGE"] = "lexical"
            with tempfile.TemporaryDirectory() as empty:
                command = [sys.executable, "-m", "lmms_medtasks", "run", "--model", name]
                command += ARGUMENTS.get(name, []) if suite not in ("medq_deg", "sure_vqa") else []
                command += ["--tasks", ",".join(tasks_of(suite)), "--output_path", str(out.resolve())]
                done = subprocess.run(command, env=environment, cwd=empty, capture_output=True, text=True)
            print(suite, model, "ok" if done.returncode == 0 else done.stdout[-3000:] + done.stderr[-3000:], flush=True)


def dump(folder: Path, suites: list[str]) -> dict[str, Any]:
    """Everything that a user could read, flat."""
    found: dict[str, Any] = {}
    for suite in suites:
        runs = [folder / suite / model for model in MODELS]
        for path in sorted((folder / suite).iterdir()):
            found.update(_harness(suite, path))
            found.update(_questions(suite, path))
        found.update(_report(f"{suite}/all", runs))
        for path in (runs[0], folder / suite / UNJUDGED.replace(" ", "_")):
            if path.exists():
                found.update(_report(f"{suite}/{path.name}", [path]))
        found.update(_compare(suite, runs[0], runs[2]))
        found.update(_gate(suite, runs[2], runs[0]))
        found.update(_submission(suite, runs[2]))
        found.update(_asked(suite))
    if set(suites) == set(SUITES):
        found.update(_board([folder / suite / model for suite in suites for model in MODELS]))
    return found


def _harness(suite: str, path: Path) -> Iterator[tuple[str, Any]]:
    for file in path.rglob("*_results.json"):
        content = json.loads(file.read_text())
        for task, values in content["results"].items():
            for name, value in values.items():
                yield f"harness/{suite}/{path.name}/{task}/{name}", value
        for task, counts in content["n-samples"].items():
            yield f"harness/{suite}/{path.name}/{task}/n", counts["effective"]


def _questions(suite: str, path: Path) -> Iterator[tuple[str, Any]]:
    """A digest of the scores of all questions, by task and metric."""
    for file in path.rglob("*_samples_*.jsonl"):
        task = file.name.partition("_samples_")[2].removesuffix(".jsonl")
        scores: dict[str, dict[int, float]] = {}
        for line in file.read_text().splitlines():
            row = json.loads(line)
            for name, value in row.items():
                if isinstance(value, dict) and "score" in value:
                    scores.setdefault(name, {})[row["doc_id"]] = value["score"]
        for name, by_question in scores.items():
            yield f"questions/{suite}/{path.name}/{task}/{name}", _digest(sorted(by_question.items()))


def _report(key: str, runs: list[Path]) -> Iterator[tuple[str, Any]]:
    from lmms_medtasks.report import Options, build

    document = build(runs, Options(resamples=RESAMPLES))
    for part in document.parts:
        head = f"{key}/{part.key} {part.title.partition(' [')[0]}"
        for place, flag in enumerate(part.flags):
            yield f"report/{head}/flag {place}", f"{flag.kind}: {flag.text}"
        for name, text in part.facts:
            if name != "Run":
                yield f"report/{head}/fact {name}", text
        for section in part.sections:
            for figure in section.figures:
                yield f"figures/{head}/{figure.key}", _digest(figure.svg)
            for table in section.tables:
                yield from _table(f"report/{head}/{section.key}/{table.key}", table)


def _table(head: str, table: Any) -> Iterator[tuple[str, Any]]:
    yield f"{head}/columns", [f"{each.head} .{each.digits}" for each in table.columns]
    for place, note in enumerate(table.all_notes):
        yield f"{head}/note {place}", note
    seen: Counter[str] = Counter()
    for row in table.rows:
        names = [
            str(cell.value) for cell, column in zip(row.cells, table.columns, strict=True) if column.kind == "text"
        ]
        name = f"{row.kind} {' | '.join(names)}".partition(" [")[0]
        seen[name] += 1
        for cell, column in zip(row.cells, table.columns, strict=True):
            if column.kind != "text":
                value = [cell.value, cell.low, cell.high, cell.sd, cell.mark]
                yield f"{head}/{name} #{seen[name]}/{column.head}", value


def _compare(suite: str, one: Path, other: Path) -> Iterator[tuple[str, Any]]:
    text = _said("compare", str(one), str(other), "--format", "json")
    yield from _flat(f"compare/{suite}", json.loads(text))


def _gate(suite: str, baseline: Path, candidate: Path) -> Iterator[tuple[str, Any]]:
    arguments = ("--baseline", str(baseline), "--candidate", str(candidate), "--resamples", str(RESAMPLES))
    for place, line in enumerate(_said("gate", *arguments).splitlines()):
        yield f"gate/{suite}/{place:04}", line


def _submission(suite: str, path: Path) -> Iterator[tuple[str, Any]]:
    with tempfile.TemporaryDirectory() as empty:
        file = Path(empty) / "entry.json"
        _said("pack", str(path), "-o", str(file), "--signed-off-by", "A B <a@example.org>")
        content = json.loads(file.read_text())
    for name in ("made", "environment", "sha256", "questions"):
        content.pop(name, None)
    for entry in content["entries"]:
        for name, measure in entry.get("measures", {}).items():
            yield f"submissions/{suite}/{entry['task']}/{name}", _digest(measure)
        yield f"submissions/{suite}/{entry['task']}/counts", entry.get("counts")


def _board(runs: list[Path]) -> Iterator[tuple[str, Any]]:
    with tempfile.TemporaryDirectory() as empty:
        site = Path(empty) / "site"
        arguments = ["--no-reports", "--no-questions", "--resamples", str(RESAMPLES)]
        _said("leaderboard", "build", *map(str, runs), "-o", str(site), *arguments)
        for file in sorted(site.rglob("*.json")):
            yield from _flat(f"board/{file.relative_to(site)}", json.loads(file.read_text()))


def _asked(suite: str) -> Iterator[tuple[str, Any]]:
    """Digests of the prompts and of the pixels of the first eight questions of each task."""
    from importlib.metadata import entry_points

    for entry in entry_points(group="lmms_eval.models", name="medtasks"):
        entry.load()()
    from lmms_eval.tasks import TaskManager

    manager = TaskManager(include_defaults=False)
    for name in tasks_of(suite):
        task = manager.load_task_or_group([name])[name]
        documents = task.eval_docs
        shown = [documents[row] for row in range(min(8, len(documents)))]
        yield f"prompts/{suite}/{name}", _digest([task.doc_to_text(doc) for doc in documents])
        pictures = [[(each.mode, each.size, hashlib.sha256(each.tobytes()).hexdigest())
                     for each in task.doc_to_visual(doc) or []] for doc in shown]  # fmt: skip
        yield f"pixels/{suite}/{name}", _digest(pictures)


def _said(*arguments: str) -> str:
    environment = {**os.environ, **CLEAN}
    command = [sys.executable, "-m", "lmms_medtasks", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout


def _flat(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _flat(f"{key}/{name}", each)
    elif isinstance(value, list) and value and isinstance(value[0], dict | list):
        for place, each in enumerate(value):
            yield from _flat(f"{key}/{place}", each)
    else:
        yield key, value


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:16]


def compare(before: dict[str, Any], after: dict[str, Any], suites: list[str]) -> int:
    """Print what differs: counts by kind first, then the differences. Returns their number."""
    if set(suites) != set(SUITES):
        before, after = (
            {key: value for key, value in each.items() if key.split("/")[1] in suites} for each in (before, after)
        )
    kinds: Counter[str] = Counter()
    lines = []
    for key in sorted({*before, *after}):
        kind = key.split("/")[0]
        if key not in before or key not in after:
            kinds[f"{kind}: only {'after' if key in after else 'before'}"] += 1
            lines.append(f"{'+' if key in after else '-'} {key}: {(after if key in after else before)[key]!r:.150}")
        elif before[key] == after[key]:
            kinds[f"{kind}: equal"] += 1
        elif _near(before[key], after[key]):
            kinds[f"{kind}: within 1e-12"] += 1
        else:
            kinds[f"{kind}: DIFFERENT"] += 1
            lines.append(f"! {key}\n    {before[key]!r:.300}\n    {after[key]!r:.300}")
    print("\n".join(lines))
    for kind, number in sorted(kinds.items()):
        print(f"{number:8,} {kind}")
    return len(lines)


def _near(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return all(a == b or _near(a, b) for a, b in zip(one, other, strict=True))
    numbers = all(isinstance(each, int | float) for each in (one, other))
    return numbers and math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-12)


def read(path: Path) -> dict[str, Any]:
    """A dump."""
    return json.loads(gzip.decompress(path.read_bytes()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("run", "dump", "compare"))
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--suite", action="append", choices=SUITES)
    given = parser.parse_args()
    suites = given.suite or list(SUITES)
    os.environ.update(CLEAN)
    if given.command == "run":
        run(given.paths[0], suites)
    elif given.command == "dump":
        text = json.dumps(dump(given.paths[0], suites), sort_keys=True, default=str)
        given.paths[1].write_bytes(gzip.compress(text.encode(), mtime=0))
    else:
        return min(1, compare(read(given.paths[0]), read(given.paths[1]), suites))
    return 0


if __name__ == "__main__":
    sys.exit(main())
