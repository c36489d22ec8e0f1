"""What a benchmark printed last, kept in ``benchmarks/results``: ``python benchmarks/startup.py --record``.

A file a script: date, number of cores, versions, command, the printed lines. Nothing else of the machine is written, no
name and no path; numbers of two files compare only where both were made on one machine.
"""

from __future__ import annotations

import datetime
import importlib.metadata
import io
import os
import platform
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("results")
OPTION = "--record"
PACKAGES = ("lmms-medtasks", "lmms-eval", "numba", "numpy", "pillow", "pyarrow", "scipy", "torch")


class _Both(io.TextIOBase):
    """Writes to the terminal, and remembers."""

    def __init__(self, terminal: Any) -> None:
        self._terminal = terminal
        self.text = io.StringIO()

    def write(self, text: str) -> int:
        self._terminal.write(text)
        return self.text.write(text)

    def flush(self) -> None:
        self._terminal.flush()


def run(main: Callable[[], Any]) -> Any:
    """Call a script's ``main``; with ``--record`` among the arguments, which it does not see, write what it printed."""
    if OPTION not in sys.argv:
        return main()
    sys.argv.remove(OPTION)
    terminal, both = sys.stdout, _Both(sys.stdout)
    sys.stdout = both  # type: ignore[assignment]
    try:
        done = main()
    finally:
        sys.stdout = terminal
    if not done:
        write(Path(sys.argv[0]).stem, sys.argv[1:], both.text.getvalue())
    return done


def write(name: str, arguments: list[str], printed: str) -> Path:
    """Write ``results/NAME.md``. An argument that holds a path is PATH there, a line that does is left out."""
    versions = [f"Python {platform.python_version()}", *(f"{each} {_version(each)}" for each in PACKAGES)]
    shown = ["PATH" if "/" in argument or "\\" in argument else argument for argument in arguments]
    hidden = (str(Path.home()), tempfile.gettempdir())
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.md"
    lines = [
        f"# benchmarks/{name}.py",
        "",
        f"- Date: {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d}",
        f"- Machine: {os.cpu_count()} cores",
        f"- Versions: {', '.join(versions)}",
        f"- Command: `{' '.join(['python', f'benchmarks/{name}.py', *shown])}`",
        "",
        "```text",
        *(line.rstrip() for line in printed.splitlines() if not any(each in line for each in hidden)),
        "```",
        "",
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
