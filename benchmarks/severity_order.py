"""Whether level 2 damages more than level 1 on real CT slices, in many windows and sizes.

    python benchmarks/severity_order.py FOLDER... [--sizes 128 256 512] [--seeds 1] [--name NAME]...

FOLDER is searched for DICOM files of CT (pydicom's own test files and those of ``pip install pydicom-data`` hold some;
compressed ones need pylibjpeg). Files with the same pixels count once; slices below 64 pixels a side are left out. A
violation is a picture whose PSNR to the clean one is higher at level 2.
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keeping
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from lmms_medtasks import degradations
from lmms_medtasks.degradations.gallery import psnr

Pixels = NDArray[np.uint8]
Slice = NDArray[np.float32]

NAMES = ("limited_angle", "sparse_view", "low_dose")
SMALLEST = 64

# Centre and width in Hounsfield units, as radiology has them, and some that no radiologist would choose.
WINDOWS = {
    "brain": (40, 80), "subdural": (75, 215), "stroke": (35, 40), "soft tissue": (50, 400), "liver": (80, 150),
    "mediastinum": (50, 350), "angiography": (300, 700), "spine": (250, 1000), "bone": (400, 1800),
    "wide bone": (600, 2800), "lung": (-600, 1500), "fat and soft tissue": (-300, 1400), "0 to 4000": (0, 4000),
}  # fmt: skip

# Of slices that are not in Hounsfield units: centre and width as shares of the range from percentile 1 to 99.5.
SHARES = ((0.5, 1), (0.25, 0.5), (0.5, 0.5), (0.75, 0.5), (0.35, 0.7), (0.6, 0.8), (0.15, 0.3), (0.5, 0.25), (0.9, 0.4))


def main() -> int:
    """Prints one line a degradation, and its worst pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--sizes", type=int, nargs="+", default=[128, 256, 512], help="longer side, resized")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--name", action="append", choices=NAMES, default=[])
    options = parser.parse_args()
    pictures = [
        (f"slice {number}, {window}", pixels)
        for number, (values, calibrated) in enumerate(slices(options.folders), 1)
        for window, pixels in windowed(values, calibrated)
    ]
    sizes = ", ".join(map(str, options.sizes))
    print(
        f"{len({name.split(',')[0] for name, _ in pictures})} slices, {len(pictures)} windowed pictures; sides {sizes}"
    )
    print(f"{'':16}{'pairs':>7}{'violations':>12}{'> 0.3 dB':>10}{'worst':>8}{'median L1':>11}{'median L2':>11}  dB")
    for name in options.name or NAMES:
        rows = [
            (picture, side, seed, *(_psnr(resized(pixels, side), name, level, seed) for level in (1, 2)))
            for picture, pixels in pictures
            for side in options.sizes
            for seed in range(options.seeds)
        ]
        _print(name, rows)
    return 0


def slices(folders: list[Path]) -> Iterator[tuple[Slice, bool]]:
    """Every distinct CT slice, and whether its values are Hounsfield units."""
    import pydicom

    seen = set()
    for path in sorted(path for folder in folders for path in folder.rglob("*") if path.is_file()):
        try:
            data: Any = pydicom.dcmread(path)
            if data.get("Modality") != "CT":
                continue
            pixels = data.pixel_array
        except Exception:  # not DICOM, no pixels, broken on purpose, or no decoder for its compression
            continue
        if data.get("SamplesPerPixel", 1) != 1 or min(pixels.shape[-2:]) < SMALLEST:
            continue
        calibrated = "RescaleIntercept" in data
        values = pixels * float(data.get("RescaleSlope") or 1) + float(data.get("RescaleIntercept") or 0)
        for one in values.astype(np.float32).reshape(-1, *pixels.shape[-2:]):
            digest = hashlib.sha256(one.tobytes()).digest()
            if digest not in seen:
                seen.add(digest)
                yield one, calibrated


def windowed(values: Slice, calibrated: bool) -> Iterator[tuple[str, Pixels]]:
    """The slice as 8-bit pictures, in each window and in its whole range."""
    low, high = (float(np.percentile(values, share)) for share in (1, 99.5))
    shares = {f"at {c} of the range": (low + c * (high - low), w * (high - low)) for c, w in SHARES}
    least, most = float(values.min()), float(values.max())
    for name, (centre, width) in (
        (WINDOWS if calibrated else shares) | {"all": ((least + most) / 2, most - least)}
    ).items():
        grey = np.clip((values - (centre - width / 2)) / max(width, 1e-6), 0, 1)
        yield name, np.rint(255 * grey).astype(np.uint8)


def resized(pixels: Pixels, side: int) -> Pixels:
    """The picture with ``side`` pixels at its longer side."""
    factor = side / max(pixels.shape)
    method = Image.Resampling.BICUBIC if factor >= 1 else Image.Resampling.LANCZOS
    height, width = (max(1, round(length * factor)) for length in pixels.shape)
    return np.asarray(Image.fromarray(pixels).resize((width, height), method))


def _psnr(clean: Pixels, name: str, level: int, seed: int) -> float:
    return psnr(clean, degradations.apply(clean, name, severity=level, seed=seed, modality="CT"))


def _print(name: str, rows: list[tuple[str, int, int, float, float]]) -> None:
    wrong = sorted((row for row in rows if row[4] > row[3]), key=lambda row: row[3] - row[4])
    excess = [row[4] - row[3] for row in wrong]
    medians = (statistics.median(row[column] for row in rows) for column in (3, 4))
    cells = f"{len(rows):7}{len(wrong):6} {len(wrong) / len(rows):5.1%}{sum(e > 0.3 for e in excess):10}"
    print(
        f"{name:16}{cells}{max(excess, default=0.0):8.2f}" + "".join(f"{median:11.1f}" for median in medians),
        flush=True,
    )
    for picture, side, seed, first, second in wrong[:5]:
        print(f"  {picture}, {side} pixels, seed {seed}: {first:.2f} dB at level 1, {second:.2f} at level 2")


if __name__ == "__main__":
    sys.exit(keeping.run(main))
