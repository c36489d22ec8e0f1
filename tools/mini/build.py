"""Draws the mini data: ``python -m tools.mini.build OUT`` writes the bundled files anew into OUT.

The same versions of NumPy, SciPy, Pillow and PyArrow give the same bytes; others may differ in the last grey level and
in how a file is packed. The bundled files are those of ``python -m tools.mini.build lmms_medtasks/data/mini/data``.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lmms_medtasks.data import mini
from lmms_medtasks.errors import UserError, unknown_name_error
from lmms_medtasks.suites import registry
from tools.mini.files import write

Splits = dict[str, dict[str, list[dict[str, Any]]]]
"""Documents by data set and split."""


def benchmarks() -> tuple[str, ...]:
    """The installed benchmarks whose mini data is drawn: those of which ``tools.mini`` has a module.

    Such a module has a function ``drawn_documents`` that makes the benchmark's :data:`Splits`.
    """
    return tuple(name for name in registry.names() if importlib.util.find_spec(f"tools.mini.{name}") is not None)


def build(folder: Path, only: Sequence[str] | None = None) -> list[Path]:
    """Write the files of the mini data into ``folder`` (made if need be) and return their paths.

    ``only``: these of :func:`benchmarks`, all unless given.

    Raises:
        UserError: an unknown benchmark, or the folder cannot be written to.
    """
    folder = Path(folder)
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in benchmarks() if only is None else only:
            if name not in benchmarks():
                raise unknown_name_error("benchmark", name, benchmarks(), "the mini data")
            drawn: Splits = importlib.import_module(f"tools.mini.{name}").drawn_documents()
            for data_set, made in drawn.items():
                written += [write(folder / mini.file_name(data_set, split), made[split], data_set) for split in made]
    except OSError as error:
        raise UserError(f"Can't write the mini data into {folder}: {error}") from error
    return written


def main(arguments: list[str]) -> int:
    """The command line: one argument, the folder to write into."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print("usage: python -m tools.mini.build OUT", file=sys.stderr)
        return 2
    for path in build(Path(arguments[0])):
        print(f"{path}  {path.stat().st_size / 1e6:.2f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
