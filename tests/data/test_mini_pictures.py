"""The bundled pictures are whole: the harness tells Pillow to take damaged ones, so a run would not notice."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

import lmms_medtasks
from lmms_medtasks import pictures

FILES = sorted((Path(lmms_medtasks.__file__).parent / "data" / "mini" / "data").glob("*.parquet"))


def test_there_are_files() -> None:
    """The bundled data is where this test looks for it."""
    assert len(FILES) >= 20


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_bundled_picture_can_be_read_to_its_end(path: Path) -> None:
    """No picture of the mini data is truncated or damaged."""
    wanted = [name for name in ("image", "images") if name in pq.read_schema(path).names]
    for row in pq.read_table(path, columns=wanted).to_pylist():
        for column in wanted:
            found = row[column] or []
            for picture in [found] if isinstance(found, dict) else found:
                assert pictures.open_image(picture).width > 0
