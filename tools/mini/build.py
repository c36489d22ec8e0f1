"""Draws the mini data: ``python -m tools.mini.build OUT`` writes the bundled files anew into OUT.

The same versions of NumPy, SciPy, Pillow and PyArrow give the same bytes; others may differ in the last grey level and
in how a file is packed. The bundled files are those of ``python -m tools.mini.build lmms_medtasks/data/mini/data``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lmms_medtasks.data import mini
from lmms_medtasks.errors import UserError, unknown
from tools.mini import bones_joints, med_cmr, medobvious, medq_deg, sure_vqa
from tools.mini.files import write

Splits = dict[str, dict[str, list[dict[str, Any]]]]
"""Documents by suite and split."""

MAKERS: Mapping[str, Callable[[], Splits]] = {
    "medq_deg": lambda: {"medq_deg": medq_deg.rows()},
    "med_cmr": lambda: {"med_cmr": med_cmr.rows()},
    "medobvious": lambda: {"medobvious": {"test": medobvious.rows()}},
    "sure_vqa": sure_vqa.rows,
    "bones_joints": lambda: {"bones_joints": bones_joints.rows()},
}
"""Benchmark -> what makes its documents, by suite and split."""


def build(folder: Path, only: Sequence[str] | None = None) -> list[Path]:
    """Write the files of the mini data into ``folder`` (made if need be) and return their paths.

    ``only``: these benchmarks (keys of :data:`MAKERS`), all unless given.

    Raises:
        UserError: an unknown benchmark, or the folder cannot be written to.
    """
    folder = Path(folder)
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in MAKERS if only is None else only:
            if name not in MAKERS:
                raise unknown("benchmark", name, MAKERS, "the mini data")
            for suite, made in MAKERS[name]().items():
                written += [write(folder / mini.file_name(suite, split), made[split], suite) for split in made]
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
