"""The option with the folders of contributed benchmarks, for commands that read runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

IncludePath = Annotated[
    list[Path] | None,
    typer.Option(
        "--include_path",
        "--include-path",
        help="A contributed benchmark's folder, or one with several: for its own measures.py (which is executed), "
        "report.py and published rows. Repeatable.",
    ),
]
"""The folders of benchmarks that are not installed, see :func:`lmms_medtasks.suites.registry.give`."""
