#!/usr/bin/env python3
"""Draw the README's picture from our own phantoms: seven modalities, a degradation each, at L0, L1 and L2.

Usage: python tools/make_overview.py [docs/overview.png]
"""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow.parquet as pq
from PIL import Image, ImageDraw, ImageFont

from lmms_medtasks import degradations, pictures
from lmms_medtasks.data import mini

SHOWN = {
    "CT": "sparse_view",
    "MRI": "undersampling_artifact",
    "X-ray": "gaussian_noise",
    "Ultrasound": "low_resolution",
    "Dermoscopy": "motion_blur",
    "Histopathology": "bubble",
    "Endoscopy": "adjust_brightness",
}
TILE, GAP, LEFT, TOP = 172, 8, 34, 44


def main() -> None:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs" / "overview.png"
    rows = pq.read_table(mini.mini_file("medq_deg", "clean"), columns=["modality", "image", "id"]).to_pylist()
    width, height = LEFT + len(SHOWN) * (TILE + GAP), TOP + 3 * (TILE + GAP)
    sheet = Image.new("RGB", (width, height), "white")
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(15)
    for column, (modality, name) in enumerate(SHOWN.items()):
        row = next(row for row in rows if row["modality"] == modality)
        clean = pictures.to_rgb8(pictures.open_image(row["image"]))
        x = LEFT + column * (TILE + GAP)
        draw.text((x + TILE / 2, 12), modality, "black", font, anchor="mm")
        draw.text((x + TILE / 2, 31), name.replace("_artifact", "").replace("_", " "), "dimgray", font, anchor="mm")
        for severity in (0, 1, 2):
            shown = degradations.apply(clean, name, severity=severity, seed=row["id"], modality=modality)
            sheet.paste(shown.resize((TILE, TILE), Image.Resampling.LANCZOS), (x, TOP + severity * (TILE + GAP)))
    for severity in (0, 1, 2):
        draw.text((LEFT / 2, TOP + severity * (TILE + GAP) + TILE / 2), f"L{severity}", "black", font, anchor="mm")
    sheet.save(target, optimize=True)
    print(target)


if __name__ == "__main__":
    main()
