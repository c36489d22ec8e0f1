"""The mini data of MedObvious: grids of phantoms made by the package's own generator, in all tiers and formats.

Pictures are drawn for this alone; no picture is in two grids. The tiers are like the paper's: modality and orientation
(T1), colour pictures of other sources (T2), larger grids (T3), broken images (T4), findings (T5).
"""

from __future__ import annotations

import functools
import io
from collections.abc import Iterator
from typing import Any, NamedTuple

from lmms_medtasks import grids
from lmms_medtasks.grids.build_grids import GridItem
from lmms_medtasks.grids.tasks import ROOT
from lmms_medtasks.pictures import stored_images
from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.task_configs.medobvious import source
from tools.mini import phantoms
from tools.mini.files import png

PANEL = 60
"""Pixels of a panel's side: enough to tell modalities, orientations and devices apart."""


class _Tier(NamedTuple):
    """How many items of which kinds and size, from how many pictures of which modalities."""

    tier: int
    items: int
    size: str
    kinds: tuple[str, ...]
    modalities: tuple[str, ...]
    pictures: int


_TIERS = (
    _Tier(1, 4, "2x2", ("category", "orientation"), ("CT", "MRI", "X-ray", "Ultrasound"), 10),
    _Tier(2, 3, "2x2", ("category",), ("Dermoscopy", "Endoscopy", "Histopathology"), 9),
    _Tier(3, 3, "3x3", ("category", "orientation"), ("CT", "MRI", "Ultrasound"), 20),
    _Tier(4, 4, "2x2", ("integrity",), ("CT", "MRI", "X-ray", "Ultrasound"), 10),
    _Tier(5, 3, "2x2", ("finding",), ("X-ray",), 24),
)
_ANATOMY = {"CT": ("abdomen", "axial"), "MRI": ("brain", "axial"), "X-ray": ("chest", "frontal"),
            "Ultrasound": ("soft tissue", ""), "Dermoscopy": ("skin", ""), "Endoscopy": ("colon", ""),
            "Histopathology": ("colon", "")}  # fmt: skip
_PLAIN = {"mark": "none", "opacity": "none", "effusion": "none", "device": "none", "tool": "none", "bleeding": "none"}
"""What every picture without a finding shows of these facts, where its modality has them."""


def drawn_documents() -> dict[str, dict[str, list[dict[str, Any]]]]:
    """The canonical documents: data set -> split -> rows; questions about one grid share the same bytes object."""
    rows = [row for tier in _TIERS for item in _items(tier) for row in _documents(item, tier.tier)]
    return {"medobvious": {"test": rows}}


def _items(tier: _Tier) -> Iterator[GridItem]:
    pictures = [picture for modality in tier.modalities for picture in _pictures(tier, modality)]
    return grids.build_items(pictures, items=tier.items, sizes=(tier.size,), kinds=tier.kinds,
                             seed=tier.tier, panel=PANEL)  # fmt: skip


def _pictures(tier: _Tier, modality: str) -> Iterator[grids.Picture]:
    anatomy, view = _ANATOMY[modality]
    for number in range(tier.pictures):
        name = f"mini-grid-t{tier.tier}-{phantoms.short_name(modality)}-{number:03d}"
        rng = seeded_generator(name)
        values = phantoms.facts_of(modality)
        facts = {fact: str(rng.choice(values[fact])) for fact in values} | {
            fact: value for fact, value in _PLAIN.items() if fact in values
        }
        finding = ""
        if "finding" in tier.kinds and number % 8 == 0:
            facts["device"], finding = "pacemaker", "a cardiac pacemaker"
        data = png(phantoms.draw(modality, facts, rng))
        yield grids.Picture(id=name, data=data, modality=modality, anatomy=anatomy, view=view, finding=finding)


def _documents(item: GridItem, tier: int) -> list[dict[str, Any]]:
    """The item's documents. Its tier is ours: the generator knows no T2."""
    images = {f"{ROOT}/{name}": _packed(data) for name, data in item.images.items()}
    outlier = next(
        (task["answer_position"] for task in item.tasks if task.get("answer_position", "none") != "none"), ""
    )
    found = []
    for task in item.tasks:
        name = f"v{tier}_{task['id'].partition('_')[2]}"
        image = stored_images([images[task["image_path"]]])
        row = source.question_document({**task, "id": name}, image, "" if task["is_negative"] else outlier)
        found.append({**row, "id": f"mini_{name}", "data": "mini"})
    return found


def _packed(data: bytes) -> bytes:
    """The same pixels in a smaller file where a picture has few colours, as a grey grid with a red box has."""
    from PIL import Image

    image = Image.open(io.BytesIO(data))
    colours = image.getcolors(256) if image.mode == "RGB" else None
    if colours is None:
        return data
    palette = sorted(colour for _, colour in colours)
    return _png_with_palette(image.tobytes(), image.size, tuple(palette))


@functools.cache
def _png_with_palette(pixels: bytes, size: tuple[int, int], palette: tuple[tuple[int, int, int], ...]) -> bytes:
    from PIL import Image

    places = {bytes(colour): number for number, colour in enumerate(palette)}
    indexed = Image.new("P", size)
    indexed.putdata([places[pixels[at : at + 3]] for at in range(0, len(pixels), 3)])
    indexed.putpalette([channel for colour in palette for channel in colour])
    buffer = io.BytesIO()
    indexed.save(buffer, "PNG", compress_level=7)
    return buffer.getvalue()
