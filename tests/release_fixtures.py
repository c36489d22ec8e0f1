"""Fixtures: a data folder of a test's own, and small releases in the form of MedQ-Deg's."""

from __future__ import annotations

import base64
import csv
import dataclasses
import io
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from lmms_medtasks.data.release_counts import ExpectedCounts
from lmms_medtasks.task_configs.medq_deg import source as medq_deg

COLUMNS = (
    "index image question A B C D E answer modality degradation_type degradation_severity source capability"
).split()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data folder; no variant is asked for and the network is off limits."""
    folder = tmp_path / "home"
    monkeypatch.setenv("MEDTASKS_HOME", str(folder))
    for name in ("MEDTASKS_DATA", "MEDTASKS_ACCEPT_COUNTS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return folder


@pytest.fixture
def expecting(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes MedQ-Deg as small as the tests' tables: ``expecting(Expected(("clean",), 3))`` and so on."""

    def make(*expected: ExpectedCounts) -> None:
        monkeypatch.setattr(medq_deg, "SOURCES", (dataclasses.replace(medq_deg.MEDQ_DEG, expected=expected),))

    return make


@pytest.fixture
def png() -> Callable[..., bytes]:
    """The bytes of a PNG of one grey level: ``png(level, size=8)``."""

    def make(level: int, size: int = 8) -> bytes:
        buffer = io.BytesIO()
        Image.new("RGB", (size, size), (level % 256, 0, 0)).save(buffer, "PNG")
        return buffer.getvalue()

    return make


@pytest.fixture
def clean_row(png: Callable[..., bytes]) -> Callable[..., dict[str, str]]:
    """A good row of the clean table: ``clean_row(number, column=text ...)``."""

    def make(number: int, **changes: str) -> dict[str, str]:
        row = {
            "index": str(number),
            "image": base64.b64encode(png(number)).decode(),
            "question": f"What is shown in picture {number}?",
            "A": "a cyst",
            "B": "a stone",
            "C": "",
            "D": "",
            "E": "",
            "answer": "B",
            "modality": "CT",
            "degradation_type": "",
            "degradation_severity": "L0",
            "source": "pool",
            "capability": "Disease Diagnosis",
        }
        return {**row, **changes}

    return make


@pytest.fixture
def release_row(clean_row: Callable[..., dict[str, str]]) -> Callable[..., dict[str, str]]:
    """A good row of the table of degraded images."""

    def make(number: int, **changes: str) -> dict[str, str]:
        return clean_row(number, **{"degradation_type": "gaussian_noise", "degradation_severity": "L1", **changes})

    return make


@pytest.fixture
def table() -> Callable[..., Path]:
    """Write a table: ``table(folder, rows, name=..., columns=...)``; the path of the file."""

    def write(
        folder: Path,
        rows: Iterable[Mapping[str, Any]],
        name: str = "MedQ-Robust-good-test.tsv",
        columns: Iterable[str] = COLUMNS,
    ) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / name
        with path.open("w", newline="", encoding="utf-8") as handle:
            writer = csv.DictWriter(handle, list(columns), delimiter="\t", extrasaction="ignore")
            writer.writeheader()
            writer.writerows(rows)
        return path

    return write


@pytest.fixture
def release(
    tmp_path: Path,
    table: Callable[..., Path],
    clean_row: Callable[..., dict[str, str]],
    release_row: Callable[..., dict[str, str]],
) -> Path:
    """A folder with three clean questions and four degraded ones, all good."""
    folder = tmp_path / "release"
    table(folder, [clean_row(number) for number in range(3)])
    rows = [
        release_row(number, index=f"{number}_{level}", degradation_severity=level)
        for number in range(2)
        for level in ("L1", "L2")
    ]
    table(folder, rows, name="MedQ-Robust-simulate-test.tsv")
    return folder
