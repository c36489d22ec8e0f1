"""Small labelled pictures of made-up categories, each with a texture, tone and shape of its own."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lmms_medtasks.grids import Picture
from lmms_medtasks.seeding import seeded_generator

SIDE = 64
LOOKS = {
    "CT": (60, 40, 3.0, 0),
    "MRI": (90, 30, 8.0, 0),
    "X-ray": (140, 60, 1.0, 0),
    "Dermoscopy": (150, 30, 4.0, 60),
    "Endoscopy": (110, 40, 2.0, 80),
}
"""Modality -> mean level, amplitude of the shape, noise, difference of the red channel from the others."""


def drawn(modality: str, seed: int, size: tuple[int, int] = (SIDE, SIDE)) -> Image.Image:
    """A picture without any symmetry: a wedge, a spot somewhere, noise."""
    mean, amplitude, noise, colour = LOOKS[modality]
    rng = seeded_generator("test picture", modality, seed)
    x, y = np.meshgrid(np.linspace(-1, 1, size[0]), np.linspace(-1, 1, size[1]))
    spot = np.exp(-((x - rng.uniform(-0.6, 0.0)) ** 2 + (y + rng.uniform(0.1, 0.7)) ** 2) * 8)
    grey = mean + amplitude * (0.5 * x + 0.8 * y + spot) + noise * rng.standard_normal(x.shape)
    pixels = np.stack([grey + colour, grey, grey], axis=2)
    return Image.fromarray(np.clip(np.rint(pixels), 0, 255).astype(np.uint8))


def encoded(image: Image.Image, kind: str = "PNG", **settings: int) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **settings)
    return buffer.getvalue()


@pytest.fixture(scope="session")
def make() -> Callable[..., Picture]:
    """``make(modality, number, kind="PNG", size=(64, 64), settings={}, **labels)``."""

    def picture(
        modality: str, number: int, *, kind: str = "PNG", size=(SIDE, SIDE), settings=None, **labels
    ) -> Picture:
        data = encoded(drawn(modality, number, size), kind, **(settings or {}))
        anatomy = {"CT": "abdomen", "X-ray": "chest", "MRI": "brain"}.get(modality, "skin")
        view = {"CT": "axial", "X-ray": "PA", "MRI": "axial"}.get(modality, "close-up")
        labels = {"anatomy": anatomy, "view": view, **labels}
        tail = "".join(f"-{value}" for value in labels.values())
        return Picture(id=f"{modality}{tail}-{number:03d}", modality=modality, data=data, **labels)

    return picture


@pytest.fixture(scope="session")
def pictures(make) -> list[Picture]:
    """26 of each of CT, MRI, X-ray and Dermoscopy; 8 lateral X-rays; 6 X-rays with a fracture."""
    found = [make(modality, number) for modality in ("CT", "MRI", "X-ray", "Dermoscopy") for number in range(26)]
    found += [make("X-ray", number, view="lateral") for number in range(100, 108)]
    found += [make("X-ray", number, finding="fracture") for number in range(200, 206)]
    return found


@pytest.fixture
def folder(tmp_path: Path, pictures) -> Path:
    """The pictures as files with labels.csv."""
    place = tmp_path / "pictures"
    place.mkdir()
    lines = ["image,modality,anatomy,view,finding"]
    for number, picture in enumerate(pictures):
        (place / f"{number:03d}.png").write_bytes(picture.data)
        labels = (picture.modality, picture.anatomy, picture.view, picture.finding)
        lines.append(",".join((f"{number:03d}.png", *labels)))
    (place / "labels.csv").write_text("\n".join(lines) + "\n")
    return place
