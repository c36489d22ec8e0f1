"""The README's picture."""

import sys
from pathlib import Path

import numpy as np
from PIL import Image

from tools import make_overview

SHOWN = Path(__file__).parents[2] / "docs" / "overview.png"


def test_the_picture_in_the_readme_is_what_the_degradations_draw(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["make_overview.py", str(tmp_path / "overview.png")])
    make_overview.main()
    with Image.open(SHOWN) as shown, Image.open(tmp_path / "overview.png") as drawn:
        before, now = (np.asarray(image.convert("RGB")).astype(int) for image in (shown, drawn))
    assert before.shape == now.shape
    # Single pixels may differ with other versions of the libraries; a changed degradation moves thousands of a tile.
    assert np.count_nonzero(np.abs(before - now).max(axis=2) > 8) < 500
