"""The bundled mini data: procedurally drawn phantoms with questions, enough to run every task without a download.

Numbers on mini data say whether things work; they are no benchmark results. The files are made by ``tools/mini``; a
split's file is called ``SUITE-SPLIT.parquet``, and what is there is found by these names.
"""

from __future__ import annotations

from pathlib import Path

from lmms_medtasks.errors import unknown_name_error

__all__ = ["file_name", "list_mini_files", "mini_file"]


def file_name(suite: str, split: str) -> str:
    """The name of a split's file."""
    return f"{suite}-{split}.parquet"


def list_mini_files() -> dict[str, dict[str, Path]]:
    """Suite -> split -> the bundled file."""
    found: dict[str, dict[str, Path]] = {}
    for each in sorted((Path(__file__).parent / "data").glob("*-*.parquet")):
        suite, _, split = each.stem.partition("-")
        found.setdefault(suite, {})[split] = each
    return found


def mini_file(suite: str, split: str) -> Path:
    """The bundled parquet file of a suite's split; raises UserError for a suite or split that has no mini data."""
    there = list_mini_files()
    if suite not in there:
        raise unknown_name_error("suite", suite, there, "the mini data")
    if split not in there[suite]:
        raise unknown_name_error("split", split, there[suite], f"the mini data of {suite}")
    return there[suite][split]
