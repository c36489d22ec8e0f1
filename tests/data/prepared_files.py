"""What tests of preparing MedQ-Deg look at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

Row = Callable[..., dict[str, str]]
Write = Callable[..., Path]
CLEAN, SIMULATED = "MedQ-Robust-good-test.tsv", "MedQ-Robust-simulate-test.tsv"


def rows_of(home: Path, split: str = "clean", data: str = "sample") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(home / "medq_deg" / data / f"{split}.parquet").to_pylist()
    return rows


def files_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
