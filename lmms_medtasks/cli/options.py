"""What several commands share: options, and a group of commands with a default."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from lmms_medtasks.statistics import confidence


def _know_benchmarks(paths: list[Path] | None) -> list[Path] | None:
    from lmms_medtasks.suites import registry

    registry.add_suite_folders(paths or ())
    return paths


IncludePath = Annotated[
    list[Path] | None,
    typer.Option(
        "--include_path",
        "--include-path",
        callback=_know_benchmarks,
        help="A contributed benchmark's folder, or one with several: for its own measures.py (which is executed), "
        "report.py and published rows. Repeatable.",
    ),
]
"""Folders of benchmarks that are not installed. They are known before the command runs."""


TaskFolder = Annotated[
    Path | None,
    typer.Option("--include_path", "--include-path", help="Folder with the YAMLs of tasks that are not ours."),
]
"""The harness's own ``--include_path``, for commands that score the tasks of a run again."""

JudgePrompts = Annotated[
    list[str] | None,
    typer.Option(help="A file in place of the judge's prompt: FILE, or PROTOCOL=FILE; may be given again."),
]

ReportFormat = Literal["terminal", "md", "csv", "html"]

Resamples = Annotated[
    int, typer.Option(min=0, help="Draws at most, where models are compared by drawing; 0: no intervals, no tests.")
]


def _use_level(context: typer.Context, level: float) -> float:
    context.with_resource(confidence.use_level(level))
    return level


Confidence = Annotated[
    float,
    typer.Option(
        "--confidence",
        metavar="SHARE",
        callback=_use_level,
        help="The probability with which an interval holds the true number; 1 less it is the level of the tests.",
    ),
]
"""Holds for as long as the command runs, see :func:`lmms_medtasks.statistics.confidence.use_level`."""


def group_with(default: str) -> type[TyperGroup]:
    """A group in which what names no command is an argument of the command called ``default``."""

    class Group(TyperGroup):
        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            if args and args[0] not in {*self.commands, "--help"}:
                args = [default, *args]
            return super().parse_args(ctx, args)

    return Group


def align_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table: the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows]
