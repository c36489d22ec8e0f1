"""The files of runs whose replies were read again: a run folder each, and beside the results the replies that moved."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import run_files
from lmms_medtasks.harness.rereading import Moved, RereadRun
from lmms_medtasks.report.csv_writer import csv_line
from lmms_medtasks.samples import result_files, runs
from lmms_medtasks.samples.result_files import Run
from lmms_medtasks.writing import write_bytes, write_text

MOVED = "moved.csv"
_SHOWN = 200
"""Characters of a reply in the list."""


def folder_beside(paths: Sequence[Path]) -> Path:
    """``RUN-reread`` beside the first path, or the next of that name that is not there yet."""
    first = paths[0].resolve()
    root = first if first.is_dir() else first.parent
    names = (root.with_name(f"{root.name}-reread{number or ''}") for number in itertools.count())
    return next(each for each in names if not each.exists())


def placed(paths: Sequence[Path], output: Path) -> list[tuple[Run, Path]]:
    """The runs that ``paths`` are or hold, and for each the folder below ``output`` that its new files go to.

    Below ``output`` they lie as they lie below the path; of several paths each has a folder of its name. Raises
    UserError where there is no run, two paths have one name, ``output`` holds something, or lies in a run.
    """
    if output.is_file() or (output.is_dir() and any(output.iterdir())):
        raise UserError(f"--output {output} is not empty. Give a folder that is not there yet.")
    roots = {path: (path if path.is_dir() else path.parent).resolve() for path in paths}
    found: dict[Path, tuple[Run, Path]] = {}
    named: dict[Path, Path] = {}
    for path, root in roots.items():
        if output.resolve().is_relative_to(root):
            raise UserError(f"--output {output} lies in {path}, whose runs it would be one of. Give another folder.")
        base = output / root.name if len(set(roots.values())) > 1 else output
        if named.setdefault(base, root) != root:
            raise UserError(f"{path} and {named[base]} have one name. Read them again apart, each into its own folder.")
        for run in runs.find([path]):
            found.setdefault(run.path.resolve(), (run, base / run.path.resolve().parent.relative_to(root)))
    return list(found.values())


def write(found: RereadRun, folder: Path) -> Path:
    """Write a run that was read again to ``folder``, each file whole or not at all, the results last; their path.

    The logs of tasks that stay are copied.
    """
    for each in found.tasks:
        name = found.run.samples_file(each.task).name
        write_bytes(folder / name, "".join(map(run_files.line, each.rows)).encode("utf-8", "surrogatepass"))
    for task in found.left:
        source = found.run.samples_file(task)
        if source.is_file():
            write_bytes(folder / source.name, source.read_bytes())
    alone = len(list(found.run.path.parent.glob(f"*{result_files.SUFFIX}"))) == 1
    name = MOVED if alone else f"{found.run.path.name.removesuffix(result_files.SUFFIX)}_{MOVED}"
    write_text(folder / name, moved_csv(moved for each in found.tasks for moved in each.moved))
    path = folder / found.run.path.name
    write_bytes(path, run_files.line(found.content, indent=2).encode("utf-8", "surrogatepass"))
    return path


def moved_csv(moved: Iterable[Moved]) -> str:
    """The list of replies that moved, a row a reply; no text where the terms of its data forbid it."""
    rows = ([*map(str, each[:-1]), (each.reply or "")[:_SHOWN]] for each in moved)
    return "".join(map(csv_line, [Moved._fields, *rows]))
