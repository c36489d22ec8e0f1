"""A picture of each degradation: phantoms of its modalities, clean and at both levels."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from lmms_medtasks import degradations, pictures

MOST = 3
"""Modalities shown of each: those that MedQ-Deg draws it for, of another degradation those that it is for."""
SIDE, GAP = 200, 6


def draw(folder: Path) -> None:
    """Write NAME.png for every degradation: a row a modality, columns L0, L1, L2."""
    phantoms = _phantoms()
    for name in degradations.names():
        drawn = [each for each in degradations.modalities() if name in degradations.drawn_for(each)]
        shown = (drawn or degradations.modalities_of(name))[:MOST]
        sheet = Image.new("RGB", (3 * (SIDE + GAP) - GAP, len(shown) * (SIDE + GAP) - GAP), "white")
        for row, modality in enumerate(shown):
            for level in (0, 1, 2):
                image = degradations.apply(phantoms[modality], name, severity=level, seed="docs", modality=modality)
                small = pictures.to_rgb8(image).resize((SIDE, SIDE), Image.Resampling.LANCZOS)
                sheet.paste(small, (level * (SIDE + GAP), row * (SIDE + GAP)))
        sheet.save(folder / f"{name}.png", optimize=True)


def _phantoms() -> dict[str, Image.Image]:
    """The first mini picture of each modality."""
    import pyarrow.parquet as parquet

    from lmms_medtasks.data import mini

    rows = parquet.read_table(mini.mini_file("medq_deg", "clean"), columns=["modality", "image"]).to_pylist()
    found: dict[str, Image.Image] = {}
    for row in rows:
        if row["modality"] not in found:
            found[row["modality"]] = pictures.open_image(row["image"])
    return found
