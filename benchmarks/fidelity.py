"""How near our degradations are to the authors': their L0 degraded by us, beside their own L1 and L2.

    python benchmarks/fidelity.py EXAMPLES [-o sheet.png] [--seeds 16] [--name NAME]...

EXAMPLES holds examples.json (a list of name, modality and images by level) and the images. PSNR and SSIM are against
L0, theirs and ours (ours: the median over the seeds), and "ours 5-95 %" is the PSNR that the seeds spread over.
"between" is the PSNR of our image against theirs, "equal" the share of samples that are the same, both of the seed
whose image is nearest to theirs.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path

import keeping
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from lmms_medtasks import degradations
from lmms_medtasks.degradations import gallery
from lmms_medtasks.degradations.gallery import GallerySection, GalleryTile, describe_distance, psnr, render_sheet, ssim

Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class Row:
    """One triple at one level."""

    triple: str
    name: str
    modality: str
    level: int
    psnr_theirs: float
    psnr_ours: float
    psnr_spread: tuple[float, float]
    ssim_theirs: float
    ssim_ours: float
    between: float
    equal: float
    ours: Pixels


def main() -> int:
    """Prints the table; the exit status is 0 whatever the numbers are."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("examples", type=Path)
    parser.add_argument("-o", "--output", type=Path, help="PNG with theirs and ours side by side")
    parser.add_argument("--seeds", type=int, default=16)
    parser.add_argument("--name", action="append", default=[], help="only this degradation (as the authors spell it)")
    options = parser.parse_args()
    triples = json.loads((options.examples / "examples.json").read_text(encoding="utf-8"))
    sections = []
    print(
        f"{'triple':28}{'level':>6}{'PSNR theirs/ours':>20}"
        f"{'ours 5-95 %':>14}"
        f"{'SSIM theirs/ours':>19}{'between':>10}{'equal':>9}"
    )
    for triple in triples:
        if options.name and triple["name"] not in options.name:
            continue
        images = {level: _pixels(options.examples / file) for level, file in triple["images"].items()}
        rows = [compare(triple["name"], triple["modality"], images, level, options.seeds) for level in (1, 2)]
        for row in rows:
            print(_line(row), flush=True)
        sections.append(_section(rows, images))
    if options.output:
        render_sheet(sections, side=250, per_line=4).save(options.output)
    return 0


def compare(triple: str, modality: str, images: dict[str, Pixels], level: int, seeds: int) -> Row:
    """Ours against theirs; the picture, "between" and "equal" are of the seed that comes nearest to theirs."""
    name = degradations.canonical_name(triple)
    clean, theirs = images["L0"], images[f"L{level}"]
    found: list[tuple[float, float]] = []
    nearest = clean
    drawn: dict[degradations.Parameters, tuple[float, float]] = {}
    for seed in range(seeds):
        record = degradations.sample(name, severity=level, seed=seed, size=clean.shape[:2], modality=modality)
        if record not in drawn:
            ours = degradations.apply_parameters(clean, name, record, modality=modality)
            if not drawn or psnr(theirs, ours) > psnr(theirs, nearest):
                nearest = ours
            drawn[record] = psnr(clean, ours), ssim(clean, ours)
        found.append(drawn[record])
    low, high = np.percentile([value for value, _ in found], [5, 95])
    return Row(
        triple=triple,
        name=name,
        modality=modality,
        level=level,
        psnr_theirs=psnr(clean, theirs),
        psnr_ours=statistics.median(value for value, _ in found),
        psnr_spread=(float(low), float(high)),
        ssim_theirs=ssim(clean, theirs),
        ssim_ours=statistics.median(value for _, value in found),
        between=psnr(theirs, nearest),
        equal=float((theirs == nearest).mean()),
        ours=nearest,
    )


def _pixels(path: Path) -> Pixels:
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))


def _line(row: Row) -> str:
    decibels = f"{row.psnr_theirs:.1f} / {row.psnr_ours:.1f}"
    likeness = f"{row.ssim_theirs:.3f} / {row.ssim_ours:.3f}"
    spread = "{:.1f}-{:.1f}".format(*row.psnr_spread)
    return f"{row.triple:28}{row.level:>6}{decibels:>20}{spread:>14}{likeness:>19}{row.between:>10.1f}{row.equal:>9.2%}"


def _section(rows: list[Row], images: dict[str, Pixels]) -> GallerySection:
    clean = Image.fromarray(images["L0"])
    tiles = []
    for row in rows:
        theirs, ours = Image.fromarray(images[f"L{row.level}"]), Image.fromarray(row.ours)
        tiles.append(GalleryTile(theirs, f"L{row.level} theirs", (describe_distance(clean, theirs),)))
        tiles.append(GalleryTile(ours, f"L{row.level} ours", (describe_distance(clean, ours),)))
    return GallerySection(
        f"{rows[0].triple} ({rows[0].modality})", GalleryTile(clean, "L0"), (gallery.GalleryRow(tuple(tiles)),)
    )


if __name__ == "__main__":
    sys.exit(keeping.run(main))
