"""Draw the made-up data of the two worked examples: ``python docs/examples/make_data.py FOLDER``.

No patient is in it: ellipses on noise, drawn from fixed seeds.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from lmms_medtasks.seeding import seeded_generator

SIDE = 96
HOSPITALS = {"north": False, "south": False, "harbour": True}
"""Name -> whether its pictures are inverted, which is the shift."""


def phantom(number: int, side: str, shape: str, inverted: bool) -> Image.Image:
    """A grey phantom of SIDE x SIDE pixels: two dark fields on a bright body, a bright spot in one of them."""
    image = Image.new("L", (SIDE, SIDE), 20)
    draw = ImageDraw.Draw(image)
    draw.ellipse((8, 4, 88, 92), fill=150)
    draw.ellipse((16, 16, 44, 80), fill=60)
    draw.ellipse((52, 16, 80, 80), fill=60)
    x = 30 if side == "left" else 66
    y = 30 + 6 * (number % 6)
    box = (x - 7, y - 7, x + 7, y + 7)
    (draw.ellipse if shape == "round" else draw.rectangle)(box, fill=220)
    noise = seeded_generator("example", number).normal(0, 6, (SIDE, SIDE))
    values = np.clip(np.asarray(image) + noise, 0, 255).astype(np.uint8)
    return Image.fromarray(255 - values if inverted else values)


def chest_side(folder: Path) -> None:
    """Multiple choice; columns img, q, a, b, label."""
    rows = []
    for number in range(12):
        side = "left" if seeded_generator("chest_side", number).random() < 0.5 else "right"
        name = f"images/p{number:02}.png"
        _save(phantom(number, side, "round", False), folder / name)
        question = "On which side of the picture is the bright spot?"
        rows.append({"img": name, "q": question, "a": "left", "b": "right", "label": side, "unit": number % 3})
    _table(folder / "questions.csv", rows)


def lesion_words(folder: Path) -> None:
    """Open questions; columns photo, question, reference, hospital."""
    rows = []
    for number in range(18):
        hospital = list(HOSPITALS)[number % 3]
        drawn = seeded_generator("lesion_words", number)
        side = "left" if drawn.random() < 0.5 else "right"
        shape = "round" if drawn.random() < 0.5 else "square"
        name = f"images/w{number:02}.png"
        _save(phantom(number, side, shape, HOSPITALS[hospital]), folder / name)
        question = "Which shape has the spot, and in which field of the phantom is it?"
        reference = f"a {shape} spot in the {side} field"
        rows.append({"photo": name, "question": question, "reference": reference, "hospital": hospital})
    _table(folder / "questions.csv", rows)


def _save(image: Image.Image, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path)


def _table(path: Path, rows: list[dict]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("Usage: python docs/examples/make_data.py FOLDER")
    target = Path(sys.argv[1])
    chest_side(target / "chest_side")
    lesion_words(target / "lesion_words")
